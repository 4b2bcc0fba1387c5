// Right functions, one a routine, to be compiled in many ways: four contracts, plain loops.
#include <stdint.h>

typedef uint64_t Board;
enum { STEPS = 7 };
static const Board not_a = 0xfefefefefefefefe, not_h = 0x7f7f7f7f7f7f7f7f;

static inline Board moved(Board board, int by)
{
    return by < 0 ? board >> -by : board << by;
}

static inline Board ray(Board sliders, Board empty, int by, Board inside)
{
    for (int step = 0; step < STEPS; step++)
        sliders |= empty & inside & moved(sliders, by);
    return moved(sliders, by) & inside;
}

static inline Board doubled(Board sliders, Board empty)
{
    sliders |= empty & sliders << 8, empty &= empty << 8;
    sliders |= empty & sliders << 16, empty &= empty << 16;
    return (sliders | (empty & sliders << 32)) << 8;
}

void pair(Board rooks, Board bishops, Board occupied, Board result[2])
{
    result[0] = ray(rooks, ~occupied, 8, -1) | ray(rooks, ~occupied, -8, -1);
    result[0] |= ray(rooks, ~occupied, 1, not_a) | ray(rooks, ~occupied, -1, not_h);
    result[1] = ray(bishops, ~occupied, 9, not_a) | ray(bishops, ~occupied, -7, not_a);
    result[1] |= ray(bishops, ~occupied, 7, not_h) | ray(bishops, ~occupied, -9, not_h);
}

Board one(Board sliders, Board empty)
{
    return doubled(sliders, empty);
}

void boards(const Board *sliders, const Board *empty, Board *result, uint64_t number)
{
    for (uint64_t at = 0; at < number; at++)
        result[at] = doubled(sliders[at], empty[at]);
}

Board any(Board sliders, Board empty, uint64_t direction)
{
    static const int by[] = {9, 1, -7, -8, -9, -1, 7, 8};
    static const Board inside[] = {not_a, not_a, not_a, -1, not_h, not_h, not_h, -1};
    return ray(sliders, empty, by[direction], inside[direction]);
}
