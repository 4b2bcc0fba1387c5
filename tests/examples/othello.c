/* Othello's mobility in the usual form: discs of the other's next to own ones, and on, direction by direction. */
#include <stdint.h>

static uint64_t shifted(uint64_t discs, int by)
{
    return by > 0 ? discs << by : discs >> -by;
}

static uint64_t along(uint64_t own, uint64_t other, int by)
{
    uint64_t turned = shifted(own, by) & other;
    for (int discs = 1; discs < 6; discs++)
        turned |= shifted(turned, by) & other;
    return shifted(turned, by);
}

uint64_t mobility(uint64_t own, uint64_t other)
{
    const uint64_t inner = other & 0x7e7e7e7e7e7e7e7e;
    const uint64_t moves = along(own, inner, 1) | along(own, inner, -1) | along(own, other, 8) | along(own, other, -8)
        | along(own, inner, 7) | along(own, inner, -7) | along(own, inner, 9) | along(own, inner, -9);
    return moves & ~(own | other);
}
