// An adapter for engines with an array of boards by kind of piece and another by color.

#include <array>

#include "setwise_inline.h"

using Bitboard = uint64_t;

enum class Color { White, Black };
enum class Kind { Pawn, Knight, Bishop, Rook, Queen, King };

struct Position {
    std::array<Bitboard, 6> kinds;
    std::array<Bitboard, 2> colors;

    void put(Color color, Kind kind, Bitboard squares) {
        kinds[static_cast<size_t>(kind)] |= squares;
        colors[static_cast<size_t>(color)] |= squares;
    }
};

// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
inline setwise_side_threats_results threats(const Position &position, Color color) {
    const auto [pawns, knights, bishops, rooks, queens, kings] = position.kinds;
    const auto [white, black] = position.colors;
    const Bitboard own = color == Color::White ? white : black, other = color == Color::White ? black : white;
    setwise_side_threats_results results;
    setwise::side_threats_any(static_cast<uint64_t>(color), pawns & own, knights & own, bishops & own, rooks & own,
        queens & own, kings & own, (white | black) ^ (kings & other), results.boards);
    return results;
}
