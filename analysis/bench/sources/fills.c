/* One direction a function, on one board or on LANES boards at once. */

#include "fills.h"

#define OF_EMPTY(name, step, into, fill)                                                                              \
    BOARD fill##_##name(BOARD gen, BOARD pro) { return fill(gen, pro, step, into); }
#define OF_SLIDERS(name, step, into, fill)                                                                            \
    BOARD fill##_##name(BOARD gen) { return fill(gen, step, into); }

EACH_DIRECTION(OF_EMPTY, dumb7_occluded)
EACH_DIRECTION(OF_EMPTY, dumb7_occluded_rolled)
EACH_DIRECTION(OF_EMPTY, dumb7_attacks)
EACH_DIRECTION(OF_EMPTY, dumb7_attacks_of_fill)
EACH_DIRECTION(OF_EMPTY, kogge_stone_occluded)
EACH_DIRECTION(OF_EMPTY, kogge_stone_attacks)
EACH_DIRECTION(OF_SLIDERS, kogge_stone_empty_fill)
EACH_DIRECTION(OF_SLIDERS, kogge_stone_empty_attacks)
EACH_DIRECTION(OF_SLIDERS, shift_one)

/* Eastward, push is by addition. */
#define PUSH(name, step, into, fill)                                                                                  \
    BOARD fill##_##name(BOARD gen, BOARD pro) {                                                                       \
        return step == 1 ? east_by_addition(gen, pro) : fill(gen, pro, step, into);                                   \
    }
EACH_DIRECTION(PUSH, push_attacks)

BOARD subtraction_attacks_east(BOARD rooks, BOARD occupied) { return subtraction_attacks(rooks, occupied); }
BOARD subtraction_attacks_cleared_east(BOARD rooks, BOARD occupied) {
    return subtraction_attacks_cleared(rooks, occupied);
}
