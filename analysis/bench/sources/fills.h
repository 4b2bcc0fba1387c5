/* The literature's fills, once for all directions.

   BOARD is one board, or LANES of them side by side: operators work on each lane of GCC's vectors. A direction is a
   shift to the left by `step` (to the right if it is negative) and `into`, the squares at which a step may arrive: all
   but the file, if any, that only a wrap reaches. gen holds the sliders, pro the empty squares. */

#include <stdint.h>

typedef uint64_t U64;

#ifdef LANES
typedef U64 BOARD __attribute__((vector_size(8 * LANES)));
typedef uint8_t BYTES __attribute__((vector_size(8 * LANES)));
#else
typedef U64 BOARD;
#endif

#define ALL 0xffffffffffffffffULL
#define FILE_A 0x0101010101010101ULL
#define FILE_H 0x8080808080808080ULL
#define NOT_A (ALL ^ FILE_A)
#define NOT_H (ALL ^ FILE_H)

#define EACH_DIRECTION(DO, ...)                                                                                       \
    DO(noEa, 9, NOT_A, __VA_ARGS__)                                                                                   \
    DO(east, 1, NOT_A, __VA_ARGS__)                                                                                   \
    DO(soEa, -7, NOT_A, __VA_ARGS__)                                                                                  \
    DO(sout, -8, ALL, __VA_ARGS__)                                                                                    \
    DO(soWe, -9, NOT_H, __VA_ARGS__)                                                                                  \
    DO(west, -1, NOT_H, __VA_ARGS__)                                                                                  \
    DO(noWe, 7, NOT_H, __VA_ARGS__)                                                                                   \
    DO(nort, 8, ALL, __VA_ARGS__)

#define INLINE static inline __attribute__((always_inline))
#define FILL INLINE BOARD

FILL shifted(BOARD board, int step) { return step > 0 ? board << step : board >> -step; }

INLINE U64 rotated(U64 board, int step) { return board << (step & 63) | board >> (-step & 63); }

FILL shift_one(BOARD board, int step, U64 into) { return shifted(board, step) & into; }

/* Dumb7Fill: the flood goes one square a cycle. */

FILL dumb7_occluded(BOARD gen, BOARD pro, int step, U64 into) {
    BOARD flood = gen;
    pro &= into;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    return flood | (shifted(gen, step) & pro);
}

/* Six cycles suffice for attacks: a seventh would only reach the edge, where attacks end. */
FILL dumb7_attacks(BOARD gen, BOARD pro, int step, U64 into) {
    BOARD flood = gen;
    pro &= into;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= gen = shifted(gen, step) & pro;
    flood |= shifted(gen, step) & pro;
    return shift_one(flood, step, into);
}

FILL dumb7_attacks_of_fill(BOARD gen, BOARD pro, int step, U64 into) {
    return shift_one(dumb7_occluded(gen, pro, step, into), step, into);
}

/* Not unrolled, because that would be dumb7_occluded. */
FILL dumb7_occluded_rolled(BOARD gen, BOARD pro, int step, U64 into) {
    pro &= into;
#pragma GCC unroll 1
    for (int cycle = 0; cycle < 7; cycle++)
        gen |= pro & shifted(gen, step);
    return gen;
}

/* Kogge-Stone: the steps of each stage are twice as long as those of the one before. */

FILL kogge_stone_occluded(BOARD gen, BOARD pro, int step, U64 into) {
    pro &= into;
    gen |= pro & shifted(gen, step);
    pro &= shifted(pro, step);
    gen |= pro & shifted(gen, 2 * step);
    pro &= shifted(pro, 2 * step);
    return gen | (pro & shifted(gen, 4 * step));
}

FILL kogge_stone_attacks(BOARD gen, BOARD pro, int step, U64 into) {
    return shift_one(kogge_stone_occluded(gen, pro, step, into), step, into);
}

/* On an empty board the propagators are constants, which the compiler computes. */
FILL kogge_stone_empty_fill(BOARD gen, int step, U64 into) {
    U64 two = into & rotated(into, step), four = two & rotated(two, 2 * step);
    gen |= into & shifted(gen, step);
    gen |= two & shifted(gen, 2 * step);
    return gen | (four & shifted(gen, 4 * step));
}

FILL kogge_stone_empty_attacks(BOARD gen, int step, U64 into) {
    return shift_one(kogge_stone_empty_fill(gen, step, into), step, into);
}

/* The masks are on the squares that are left; steps of one, one, two and three. */

FILL push_attacks(BOARD gen, BOARD pro, int step, U64 into) {
    BOARD two, three, reached = shift_one(gen, step, into);
    pro &= rotated(into, -step); /* squares from which a step does not wrap */
    two = pro & shifted(pro, -step);
    three = two & shifted(pro, -2 * step);
    reached |= shifted(reached & pro, step);
    reached |= shifted(reached & two, 2 * step);
    return reached | shifted(reached & three, 3 * step);
}

/* A carry walks eastward through the inner empty squares. No slider may stand on a square that is given as empty. */
FILL east_by_addition(BOARD gen, BOARD pro) {
    BOARD walk = pro & (NOT_A & NOT_H);
    return (walk ^ (walk + (gen << 1))) & NOT_A;
}

/* A borrow walks eastward to the next occupied square. The sliders are among the occupied squares. */

#ifdef LANES

FILL subtraction_attacks(BOARD rooks, BOARD occupied) {
    return occupied ^ (BOARD)((BYTES)occupied - ((BYTES)rooks + (BYTES)rooks));
}

FILL subtraction_attacks_cleared(BOARD rooks, BOARD occupied) {
    return occupied ^ (BOARD)((BYTES)(occupied & ~rooks) - (BYTES)rooks);
}

#else

FILL subtraction_attacks(BOARD rooks, BOARD occupied) {
    BOARD wall = occupied | FILE_H;
    return wall ^ (wall - ((rooks & NOT_H) << 1));
}

FILL subtraction_attacks_cleared(BOARD rooks, BOARD occupied) {
    BOARD wall = occupied | FILE_H;
    rooks &= NOT_H;
    return wall ^ ((wall & ~rooks) - rooks);
}

#endif

/* Several directions: the union, in every family. */

#define SETS(family)                                                                                                  \
    FILL vertical_##family(BOARD gen, BOARD pro) { return family(gen, pro, -8, ALL) | family(gen, pro, 8, ALL); }     \
    FILL eastward_##family(BOARD gen, BOARD pro) {                                                                    \
        return family(gen, pro, 9, NOT_A) | family(gen, pro, 1, NOT_A) | family(gen, pro, -7, NOT_A);                 \
    }                                                                                                                 \
    FILL westward_##family(BOARD gen, BOARD pro) {                                                                    \
        return family(gen, pro, -9, NOT_H) | family(gen, pro, -1, NOT_H) | family(gen, pro, 7, NOT_H);                \
    }                                                                                                                 \
    FILL rook_##family(BOARD gen, BOARD pro) {                                                                        \
        return vertical_##family(gen, pro) | family(gen, pro, 1, NOT_A) | family(gen, pro, -1, NOT_H);                \
    }                                                                                                                 \
    FILL bishop_##family(BOARD gen, BOARD pro) {                                                                      \
        return family(gen, pro, 9, NOT_A) | family(gen, pro, -7, NOT_A) | family(gen, pro, -9, NOT_H) |               \
               family(gen, pro, 7, NOT_H);                                                                            \
    }                                                                                                                 \
    FILL queen_##family(BOARD gen, BOARD pro) { return rook_##family(gen, pro) | bishop_##family(gen, pro); }

#define EACH_SET(DO, ...)                                                                                             \
    DO(vertical, __VA_ARGS__)                                                                                         \
    DO(eastward, __VA_ARGS__)                                                                                         \
    DO(westward, __VA_ARGS__)                                                                                         \
    DO(rook, __VA_ARGS__)                                                                                             \
    DO(bishop, __VA_ARGS__)                                                                                           \
    DO(queen, __VA_ARGS__)

SETS(dumb7_attacks)
SETS(kogge_stone_attacks)
SETS(push_attacks)

/* A whole side: rooks and bishops, queens in both. */

FILL whole(BOARD rooks, BOARD bishops, BOARD empty) {
    return rook_kogge_stone_attacks(rooks, empty) | bishop_kogge_stone_attacks(bishops, empty);
}
