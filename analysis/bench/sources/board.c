/* Routines on a single board: fills until dry, sets of directions, directions known at run time, sums by logic. */

#include "fills.h"

/* Fills that end when a step reaches no square. */

FILL dumb7_occluded_until_dry(BOARD gen, BOARD pro, int step, U64 into) {
    BOARD flood = 0;
    pro &= into;
    while (gen) {
        flood |= gen;
        gen = shifted(gen, step) & pro;
    }
    return flood;
}

FILL dumb7_attacks_until_dry(BOARD gen, BOARD pro, int step, U64 into) {
    return shift_one(dumb7_occluded_until_dry(gen, pro, step, into), step, into);
}

#define ONE_RAY(name, step, into, fill)                                                                               \
    BOARD fill##_##name(BOARD gen, BOARD pro) { return fill(gen, pro, step, into); }
EACH_DIRECTION(ONE_RAY, dumb7_occluded_until_dry)
EACH_DIRECTION(ONE_RAY, dumb7_attacks_until_dry)

#define SET(name, fill)                                                                                               \
    BOARD fill##_##name(BOARD gen, BOARD pro) { return name##_##fill(gen, pro); }
EACH_SET(SET, dumb7_attacks)
EACH_SET(SET, kogge_stone_attacks)
EACH_SET(SET, push_attacks)

/* The direction is a number: noEa east soEa sout soWe west noWe nort. Masks exclude ranks that only rotates reach. */

static const int8_t turns[8] = {9, 1, -7, -8, -9, -1, 7, 8};
static const U64 avoid_wrap[8] = {
    0xfefefefefefefe00, 0xfefefefefefefefe, 0x00fefefefefefefe, 0x00ffffffffffffff,
    0x007f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f00, 0xffffffffffffff00,
};

BOARD shift_one_any(BOARD board, U64 dir8) { return rotated(board, turns[dir8]) & avoid_wrap[dir8]; }

INLINE BOARD dumb7_turned_until_dry(BOARD gen, BOARD pro, int turn, U64 into) {
    BOARD flood = 0;
    pro &= into;
    while (gen) {
        flood |= gen;
        gen = rotated(gen, turn) & pro;
    }
    return flood;
}

BOARD dumb7_occluded_until_dry_any(BOARD gen, BOARD pro, U64 dir8) {
    return dumb7_turned_until_dry(gen, pro, turns[dir8], avoid_wrap[dir8]);
}

BOARD dumb7_attacks_until_dry_any(BOARD gen, BOARD pro, U64 dir8) {
    BOARD into = avoid_wrap[dir8];
    int turn = turns[dir8];
    return rotated(dumb7_turned_until_dry(gen, pro, turn, into), turn) & into;
}

BOARD dumb7_attacks_any(BOARD gen, BOARD pro, U64 dir8) {
    BOARD flood = gen, into = avoid_wrap[dir8];
    int turn = turns[dir8];
    pro &= into;
    flood |= gen = rotated(gen, turn) & pro;
    flood |= gen = rotated(gen, turn) & pro;
    flood |= gen = rotated(gen, turn) & pro;
    flood |= gen = rotated(gen, turn) & pro;
    flood |= gen = rotated(gen, turn) & pro;
    flood |= rotated(gen, turn) & pro;
    return rotated(flood, turn) & into;
}

INLINE BOARD kogge_stone_turned(BOARD gen, BOARD pro, int turn, U64 into) {
    pro &= into;
    gen |= pro & rotated(gen, turn);
    pro &= rotated(pro, turn);
    gen |= pro & rotated(gen, 2 * turn);
    pro &= rotated(pro, 2 * turn);
    return gen | (pro & rotated(gen, 4 * turn));
}

BOARD kogge_stone_occluded_any(BOARD gen, BOARD pro, U64 dir8) {
    return kogge_stone_turned(gen, pro, turns[dir8], avoid_wrap[dir8]);
}

BOARD kogge_stone_attacks_any(BOARD gen, BOARD pro, U64 dir8) {
    return rotated(kogge_stone_turned(gen, pro, turns[dir8], avoid_wrap[dir8]), turns[dir8]) & avoid_wrap[dir8];
}

/* Sums and differences by logic and shifts: of words by a loop, of bytes by Kogge-Stone. */

#define CARRY_LOOP(bits)                                                                                              \
    BOARD bytewise_carry_loop_##bits(BOARD x, BOARD y) {                                                              \
        uint##bits##_t sum = (uint##bits##_t)(x ^ y), carries = (uint##bits##_t)(x & y);                              \
        while (carries) {                                                                                             \
            carries <<= 1;                                                                                            \
            uint##bits##_t next = sum & carries;                                                                      \
            sum ^= carries;                                                                                           \
            carries = next;                                                                                           \
        }                                                                                                             \
        return sum;                                                                                                   \
    }
CARRY_LOOP(64)
CARRY_LOOP(32)

INLINE BOARD carried(BOARD makes, BOARD passes) {
    passes &= NOT_A;
    makes |= makes << 1 & passes;
    passes &= passes << 1;
    makes |= makes << 2 & passes;
    passes &= passes << 2;
    makes |= makes << 4 & passes;
    return makes << 1 & NOT_A;
}

BOARD bytewise_add(BOARD x, BOARD y) { return carried(x & y, x ^ y) ^ x ^ y; }

BOARD bytewise_subtract(BOARD x, BOARD y) { return carried(~x & y, ~(x ^ y)) ^ x ^ y; }

BOARD bytewise_right_attacks(BOARD unoccupied, BOARD rooks) { return carried(rooks, unoccupied); }
