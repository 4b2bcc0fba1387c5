// Reads twelve boards a line, White's and Black's by kind, and writes the threat boards of White and of Black.
// The adapter is included by the compiler's command line.

#include <cinttypes>
#include <cstdio>

int main() {
    for (;;) {
        Position position{};
        for (int piece = 0; piece < 12; piece++) {
            uint64_t squares;
            if (std::scanf("%" SCNx64, &squares) != 1) return 0;
            position.put(Color(piece / 6), Kind(piece % 6), squares);
        }
        for (int color = 0; color < 2; color++) {
            const auto results = threats(position, Color(color));
            for (uint64_t board : results.boards) std::printf("%" PRIx64 " ", board);
        }
        std::printf("\n");
    }
}
