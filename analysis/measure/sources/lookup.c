/* One table look-up a piece: the occupied squares that matter, gathered by pext, are the entry's number. Not set-wise:
   it takes as long as there are pieces, and 841 KiB of tables. */

#include "fills.h"
#include "tables.h"
#include <immintrin.h>

__asm__(".section .rodata.attacks,\"a\"\n.balign 64\n.hidden attacks\n.globl attacks\nattacks:\n"
        ".incbin \"attacks.bin\"\n.text\n");
extern const U64 attacks[] __attribute__((visibility("hidden")));

#define OF(piece)                                                                                                     \
    INLINE U64 of_##piece##s(U64 piece##s, U64 occupied) {                                                            \
        U64 found = 0;                                                                                                \
        for (; piece##s; piece##s &= piece##s - 1) {                                                                  \
            int square = __builtin_ctzll(piece##s);                                                                   \
            found |= attacks[piece##_squares[square].first + _pext_u64(occupied, piece##_squares[square].relevant)];  \
        }                                                                                                             \
        return found;                                                                                                 \
    }
OF(rook)
OF(bishop)

U64 sliders_union(U64 rooks, U64 bishops, U64 occupied) {
    return of_rooks(rooks, occupied) | of_bishops(bishops, occupied);
}

void sliders_pair(U64 rooks, U64 bishops, U64 occupied, U64 *results) {
    results[0] = of_rooks(rooks, occupied);
    results[1] = of_bishops(bishops, occupied);
}
