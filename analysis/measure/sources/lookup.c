/* One table look-up a piece: the occupied squares that matter, gathered by pext, are the entry's number. Not set-wise:
   it takes as long as there are pieces, and 841 KiB of tables. */

#include "fills.h"
#include "tables.h"
#include <immintrin.h>

__asm__(".section .rodata.attacks,\"a\"\n.balign 64\n.hidden attacks\n.globl attacks\nattacks:\n"
        ".incbin \"attacks.bin\"\n.text\n");
extern const U64 attacks[] __attribute__((visibility("hidden")));

#define OF(piece)                                                                                                     \
    INLINE U64 of_first_##piece(U64 piece##s, U64 occupied) {                                                         \
        int square = __builtin_ctzll(piece##s);                                                                       \
        return attacks[piece##_squares[square].first + _pext_u64(occupied, piece##_squares[square].relevant)];        \
    }                                                                                                                 \
    INLINE U64 of_##piece##s(U64 piece##s, U64 occupied) {                                                            \
        U64 found = 0;                                                                                                \
        for (; piece##s; piece##s &= piece##s - 1)                                                                    \
            found |= of_first_##piece(piece##s, occupied);                                                            \
        return found;                                                                                                 \
    }                                                                                                                 \
    INLINE U64 moves_of_##piece##s(U64 piece##s, U64 targets, U64 occupied) {                                         \
        U64 moves = 0;                                                                                                \
        for (; piece##s; piece##s &= piece##s - 1)                                                                    \
            moves += (U64)__builtin_popcountll(of_first_##piece(piece##s, occupied) & targets);                       \
        return moves;                                                                                                 \
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

void sliders_mobility(U64 rooks, U64 bishops, U64 targets, U64 occupied, U64 *results) {
    results[0] = moves_of_rooks(rooks, targets, occupied);
    results[1] = moves_of_bishops(bishops, targets, occupied);
}

U64 sliders_counts(U64 rooks, U64 bishops, U64 targets, U64 occupied) {
    return moves_of_rooks(rooks, targets, occupied) + moves_of_bishops(bishops, targets, occupied);
}
