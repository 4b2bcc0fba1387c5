/* Exploding bitboards: one piece's attacks spread from its square on all its rays at once, by multiplication.

   A board times 2^a + 2^b + ... holds its shifts by a, b, ...; shifted right first, it spreads both ways. A mask clears
   the bits beside the rays. The arithmetic is the same whether bit 0 is a1 or h1: the board is only mirrored.
   `unoccupied` are the empty squares. */

#include "fills.h"
#include "tables.h"

/* The number of times that the wave spreads; a rook's 7 and 8 mean 6 times, with a first factor of their own. */
static const uint8_t steps_of_bishop[64] = {
    6, 5, 4, 3, 3, 4, 5, 6, 5, 5, 4, 3, 3, 4, 5, 5, 4, 4, 4, 3, 3, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 3, 3, 4, 4, 4, 5, 5, 4, 3, 3, 4, 5, 5, 6, 5, 4, 3, 3, 4, 5, 6,
};
static const uint8_t steps_of_rook[64] = {
    7, 6, 6, 6, 6, 6, 6, 8, 7, 5, 5, 5, 5, 5, 5, 8, 7, 5, 4, 4, 4, 4, 5, 8, 7, 5, 4, 3, 3, 4, 5, 8,
    7, 5, 4, 3, 3, 4, 5, 8, 7, 5, 4, 4, 4, 4, 5, 8, 7, 5, 5, 5, 5, 5, 5, 8, 7, 6, 6, 6, 6, 6, 6, 8,
};

INLINE U64 bishop(U64 square, U64 unoccupied) {
    U64 mask = rays_of_bishop[square], attacks = first_of_bishop[square], wave = attacks & unoccupied;
    switch (steps_of_bishop[square]) {
    case 6:
        wave = (wave >> 9) * 0x50005 & mask, attacks |= wave, wave &= unoccupied; /* fall through */
    case 5:
        wave = (wave >> 9) * 0x50005 & mask, attacks |= wave, wave &= unoccupied; /* fall through */
    case 4:
        wave = (wave >> 9) * 0x50005 & mask, attacks |= wave, wave &= unoccupied; /* fall through */
    case 3:
        wave = (wave >> 9) * 0x50005 & mask, attacks |= wave, wave &= unoccupied;
        wave = (wave >> 9) * 0x50005 & mask, attacks |= wave, wave &= unoccupied;
        wave = (wave >> 9) * 0x50005 & mask, attacks |= wave;
    }
    return attacks;
}

/* Move the bit on the overflow square to the next lower square. */
INLINE U64 merged(U64 wave, U64 square) {
    U64 overflow = 1ULL << ((square + 3) & 63);
    wave |= (wave & overflow) >> 1;
    return wave & ~overflow;
}

/* Clear the bit that has wrapped to the other side, six below the square. */
INLINE U64 unwrapped(U64 wave, U64 square) { return wave & ~(1ULL << ((square - 6) & 63)); }

INLINE U64 rook(U64 square, U64 unoccupied) {
    U64 mask = rays_of_rook[square], attacks = first_of_rook[square], clear = attacks;
    U64 wave = (attacks & unoccupied) >> 8;
    int left = 5;
    switch (steps_of_rook[square]) {
    case 8:
        wave *= 0x10081;
        break;
    case 7:
        wave *= 0x10201;
        break;
    case 6:
        wave = unwrapped(wave * 0x10281, square);
        break;
    case 5:
        wave = unwrapped(merged(wave * 0x10281, square), square);
        left = 4;
        break;
    case 4:
        wave = merged(wave * 0x10281, square);
        left = 3;
        break;
    default:
        wave = merged(wave * 0x10281, square);
        left = 2;
    }
    wave &= mask;
    attacks |= wave;
    while (left-- > 0) {
        wave &= unoccupied & ~clear;
        clear = attacks;
        wave = (wave >> 8) * 0x10281 & mask;
        attacks |= wave;
    }
    if (square < 8)
        attacks |= first_rank[(square << 6) + ((unoccupied & 0x7e) >> 1)];
    return attacks;
}

/* Directions are numbered 4 3 2 / 5 0 1 / 6 7 8, seen from White's side. If bit 0 is h1, files to the right have lower
   numbers. */
INLINE U64 direction(U64 square, U64 number, U64 unoccupied, int from_h1) {
    U64 file = square & 7, rank = square >> 3;
    U64 higher = FILE_A * (0xfe << file & 0xff), lower = FILE_A * (0xff >> (8 - file));
    U64 right = from_h1 ? lower : higher, left = from_h1 ? higher : lower;
    U64 up = ALL << 8 * rank << 8, down = (1ULL << 8 * rank) - 1;
    switch (number) {
    case 1:
        return rook(square, unoccupied) & right;
    case 5:
        return rook(square, unoccupied) & left;
    case 7:
        return rook(square, unoccupied) & down;
    case 3:
        return rook(square, unoccupied) & up;
    case 8:
        return bishop(square, unoccupied) & right & down;
    case 4:
        return bishop(square, unoccupied) & left & up;
    case 2:
        return bishop(square, unoccupied) & right & up;
    case 6:
        return bishop(square, unoccupied) & left & down;
    }
    return 0;
}

#define IN(suffix, from_h1)                                                                                           \
    U64 exploding_bishop##suffix(U64 square, U64 unoccupied) { return bishop(square, unoccupied); }                   \
    U64 exploding_rook##suffix(U64 square, U64 unoccupied) { return rook(square, unoccupied); }                       \
    U64 exploding_orthogonal##suffix(U64 square, U64 white, U64 black) { return rook(square, ~(white | black)); }     \
    U64 exploding_diagonal##suffix(U64 square, U64 white, U64 black) { return bishop(square, ~(white | black)); }     \
    U64 exploding_direction##suffix(U64 square, U64 number, U64 white, U64 black) {                                   \
        return direction(square, number, ~(white | black), from_h1);                                                  \
    }
IN(, 0)
IN(_big_endian, 1)
