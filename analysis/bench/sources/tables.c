/* Write the tables that exploding.c and lookup.c read: `tables FOLDER` makes tables.h, attacks.bin and magics.bin. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t U64;

#include "magics.h"

enum { BISHOP, ROOK };
static const int steps[2][4][2] = {{{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}, {{0, 1}, {1, 0}, {0, -1}, {-1, 0}}};

static int on_board(int file, int rank) { return file >= 0 && file < 8 && rank >= 0 && rank < 8; }

/* The squares of the rays from a square, up to `most` steps and to the first that is not empty. */
static U64 rays(int piece, int square, int most, U64 unoccupied) {
    U64 found = 0;
    for (int ray = 0; ray < 4; ray++) {
        int file = square % 8, rank = square / 8;
        for (int n = 0; n < most; n++) {
            file += steps[piece][ray][0], rank += steps[piece][ray][1];
            if (!on_board(file, rank))
                break;
            found |= 1ULL << (8 * rank + file);
            if (!(unoccupied >> (8 * rank + file) & 1))
                break;
        }
    }
    return found;
}

/* The squares whose occupancy matters: all on the rays but the last, which stops nothing. */
static U64 relevant(int piece, int square) {
    U64 found = 0;
    for (int ray = 0; ray < 4; ray++) {
        int file_step = steps[piece][ray][0], rank_step = steps[piece][ray][1];
        int file = square % 8 + file_step, rank = square / 8 + rank_step;
        for (; on_board(file + file_step, rank + rank_step); file += file_step, rank += rank_step)
            found |= 1ULL << (8 * rank + file);
    }
    return found;
}

static void boards(FILE *out, const char *name, int piece, int most) {
    fprintf(out, "static const U64 %s[64] = {", name);
    for (int square = 0; square < 64; square++)
        fprintf(out, "0x%llx,", (unsigned long long)rays(piece, square, most, ~0ULL));
    fprintf(out, "};\n");
}

/* The first rank's attacks from each of its squares, by its empty squares b1 to g1 as a number. */
static void first_rank(FILE *out) {
    fprintf(out, "static const uint8_t first_rank[512] = {");
    for (int square = 0; square < 8; square++)
        for (int inner = 0; inner < 64; inner++)
            fprintf(out, "%d,", (int)(rays(ROOK, square, 7, 2 * inner) & 0xff));
    fprintf(out, "};\n");
}

/* The attacks of a piece whose jumps have a squared length of `least` to `most`: knight 5, king 1 to 2. */
static void leaps(FILE *out, const char *name, int least, int most) {
    fprintf(out, "static const U64 %s[64] = {", name);
    for (int square = 0; square < 64; square++) {
        U64 found = 0;
        for (int file = -2; file <= 2; file++)
            for (int rank = -2; rank <= 2; rank++) {
                int squared = file * file + rank * rank;
                if (squared >= least && squared <= most && on_board(square % 8 + file, square / 8 + rank))
                    found |= 1ULL << (square + 8 * rank + file);
            }
        fprintf(out, "0x%llx,", (unsigned long long)found);
    }
    fprintf(out, "};\n");
}

/* Write for each square the squares that matter, their number, the first entry's number, and an entry for each set of
   occupied ones, in the orders of pext and of the magic. Return 1 if a magic gives two attacks one number. */
static int look_up(FILE *header, FILE *data, FILE *by_magics, const char *name, int piece, unsigned *entries) {
    const U64 *magics = piece == ROOK ? magics_of_rook : magics_of_bishop;
    fprintf(header, "static const struct { U64 relevant; unsigned first, bits; } %s[64] = {", name);
    for (int square = 0; square < 64; square++) {
        U64 mask = relevant(piece, square), occupied = 0, numbered[4096];
        int bits = __builtin_popcountll(mask);
        memset(numbered, 0, sizeof numbered);
        fprintf(header, "{0x%llx, %u, %d},", (unsigned long long)mask, *entries, bits);
        do { /* the subsets of the mask in the order in which pext numbers them */
            U64 attacks = rays(piece, square, 7, ~occupied), *there = &numbered[occupied * magics[square] >> (64 - bits)];
            if (*there && *there != attacks)
                return 1;
            *there = attacks;
            fwrite(&attacks, sizeof attacks, 1, data);
            ++*entries;
            occupied = (occupied - mask) & mask;
        } while (occupied);
        fwrite(numbered, sizeof *numbered, (size_t)1 << bits, by_magics);
    }
    fprintf(header, "};\n");
    return 0;
}

int main(int count, char **arguments) {
    char path[4096];
    unsigned entries = 0;
    if (count != 2)
        return 2;
    snprintf(path, sizeof path, "%s/tables.h", arguments[1]);
    FILE *header = fopen(path, "w");
    snprintf(path, sizeof path, "%s/attacks.bin", arguments[1]);
    FILE *data = fopen(path, "wb");
    snprintf(path, sizeof path, "%s/magics.bin", arguments[1]);
    FILE *by_magics = fopen(path, "wb");
    if (!header || !data || !by_magics)
        return 1;
    boards(header, "first_of_bishop", BISHOP, 1);
    boards(header, "first_of_rook", ROOK, 1);
    boards(header, "rays_of_bishop", BISHOP, 7);
    boards(header, "rays_of_rook", ROOK, 7);
    first_rank(header);
    leaps(header, "knight_attacks", 5, 5);
    leaps(header, "king_attacks", 1, 2);
    int failed = look_up(header, data, by_magics, "rook_squares", ROOK, &entries);
    failed |= look_up(header, data, by_magics, "bishop_squares", BISHOP, &entries);
    return fclose(header) || fclose(data) || fclose(by_magics) || failed;
}
