/* perft: counts the legal moves of a position to a depth, with setwise's attack maps.
 *
 *   setwise export sliders.union sliders.rays --isa x86-64,bmi2,avx2,avx512 --format c --dispatch -o attacks
 *   cc -std=c11 -O2 -Iattacks perft.c -o perft
 *   ./perft "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1" 4
 *
 * Two maps do the work. setwise_sliders_union gives all squares that the enemy's sliders attack, the own king taken
 * off the board, for he shields no square behind him. setwise_sliders_rays gives the eight rays that start at the
 * king: what stands at their ends gives check, is pinned, or may be stepped beside.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "setwise_inline.h"

typedef uint64_t Board;

enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, PIECES };
enum { WHITE, BLACK };

typedef struct {
    Board pieces[2][PIECES];
    Board castling;   /* rooks that may still castle */
    Board en_passant; /* the square that a pawn has just passed, or nothing */
    int mover;
} Position;

typedef struct {
    Board from, to;
    int becomes; /* the piece that stands on `to` afterwards */
} Move;

typedef struct {
    Move moves[256];
    int count;
} Moves;

#define FILE_A 0x0101010101010101ULL
#define FILE_H 0x8080808080808080ULL
#define RANK_1 0x00000000000000ffULL
#define RANK_8 0xff00000000000000ULL
#define ALL 0xffffffffffffffffULL

static Board first_of(Board set) { return set & (0 - set); }
static int several(Board set) { return (set & (set - 1)) != 0; }

static Board up(Board set, int color) { return color == WHITE ? set << 8 : set >> 8; }
static Board beside(Board set) { return (set & ~FILE_A) >> 1 | (set & ~FILE_H) << 1; }

static Board side(const Position *p, int color) {
    Board all = 0;
    for (int piece = PAWN; piece < PIECES; piece++) all |= p->pieces[color][piece];
    return all;
}

/* Along ranks and files, and along diagonals. */
static Board rooks(const Position *p, int color) { return p->pieces[color][ROOK] | p->pieces[color][QUEEN]; }
static Board bishops(const Position *p, int color) { return p->pieces[color][BISHOP] | p->pieces[color][QUEEN]; }

static Board pawn_attacks(Board pawns, int color) { return beside(up(pawns, color)); }

static Board king_attacks(Board kings) {
    const Board row = kings | beside(kings);
    return (row | row << 8 | row >> 8) & ~kings;
}

static Board knight_attacks(Board knights) {
    const Board west = (knights & ~FILE_A) >> 1, east = (knights & ~FILE_H) << 1;
    const Board near = west | east, wide = (west & ~FILE_A) >> 1 | (east & ~FILE_H) << 1;
    return near << 16 | near >> 16 | wide << 8 | wide >> 8;
}

/* All squares that a side attacks when these squares are occupied. */
static Board attacks_of(const Position *p, int color, Board occupied) {
    const Board *own = p->pieces[color];
    return setwise_sliders_union(rooks(p, color) & occupied, bishops(p, color) & occupied, occupied) |
           pawn_attacks(own[PAWN] & occupied, color) | knight_attacks(own[KNIGHT] & occupied) |
           king_attacks(own[KING]);
}

static void add(Moves *list, Board from, Board targets, int becomes) {
    for (; targets; targets &= targets - 1) {
        Move *move = &list->moves[list->count++];
        move->from = from, move->to = first_of(targets), move->becomes = becomes;
    }
}

static void add_pawn(Moves *list, Board from, Board targets) {
    const Board last = targets & (RANK_1 | RANK_8);
    add(list, from, targets & ~last, PAWN);
    for (int piece = KNIGHT; piece <= QUEEN; piece++) add(list, from, last, piece);
}

static Position after(const Position *p, Move move) {
    Position next = *p;
    const int us = p->mover, them = !us;
    Board *own = next.pieces[us], *enemy = next.pieces[them];
    const int king = (own[KING] & move.from) != 0, pawn = (own[PAWN] & move.from) != 0;
    for (int piece = PAWN; piece < PIECES; piece++) own[piece] &= ~move.from, enemy[piece] &= ~move.to;
    own[move.becomes] |= move.to;
    if (pawn && move.to == p->en_passant) enemy[PAWN] &= ~up(move.to, them);
    if (king && move.to == move.from << 2) own[ROOK] ^= move.from << 3 | move.from << 1;
    if (king && move.to == move.from >> 2) own[ROOK] ^= move.from >> 4 | move.from >> 1;
    next.castling &= ~(move.from | move.to);
    if (king) next.castling &= us == WHITE ? ~RANK_1 : ~RANK_8;
    next.en_passant = pawn && move.to == up(up(move.from, us), us) ? up(move.from, us) : 0;
    next.mover = them;
    return next;
}

/* Whether the mover's king is safe after the move: asked only of en passant, where two pawns leave a rank at once. */
static int is_safe(const Position *p, Move move) {
    const Position next = after(p, move);
    const Board occupied = side(&next, WHITE) | side(&next, BLACK);
    return !(attacks_of(&next, next.mover, occupied) & next.pieces[p->mover][KING]);
}

static void generate(const Position *p, Moves *list) {
    const int us = p->mover, them = !us;
    const Board *mine = p->pieces[us], *theirs = p->pieces[them];
    const Board own = side(p, us), enemy = side(p, them), occupied = own | enemy, king = mine[KING];
    const Board danger = attacks_of(p, them, occupied ^ king);
    list->count = 0;
    add(list, king, king_attacks(king) & ~own & ~danger, KING);

    /* From the king to the first piece of each ray, and beyond the first own piece to the next one. */
    Board rays[8], beyond[8], shields = 0, pinned = 0;
    setwise_sliders_rays(king, king, occupied, rays);
    for (int d = 0; d < 8; d++) shields |= rays[d] & own;
    setwise_sliders_rays(king, king, occupied ^ shields, beyond);

    Board checkers = (knight_attacks(king) & theirs[KNIGHT]) | (pawn_attacks(king, us) & theirs[PAWN]);
    Board allowed = checkers ? checkers : ALL; /* squares that a piece must go to */
    for (int d = 0; d < 8; d++) {
        const Board sliders = d & 1 ? rooks(p, them) : bishops(p, them); /* noEa east soEa sout soWe west noWe nort */
        if (rays[d] & sliders) {
            checkers |= rays[d] & sliders;
            allowed &= rays[d];
        } else if (beyond[d] & sliders) {
            pinned |= rays[d] & own;
        }
    }
    if (several(checkers)) return;

    for (int piece = PAWN; piece < KING; piece++) {
        for (Board left = mine[piece]; left; left &= left - 1) {
            const Board from = first_of(left);
            Board free = allowed; /* and where a pin lets it go */
            if (from & pinned)
                for (int d = 0; d < 8; d++)
                    if (rays[d] & from) free &= beyond[d];
            if (piece == PAWN) {
                const Board one = up(from, us) & ~occupied;
                const Board two = up(one, us) & ~occupied & (us == WHITE ? RANK_1 << 24 : RANK_8 >> 24);
                add_pawn(list, from, (one | two | (pawn_attacks(from, us) & enemy)) & free);
                const Move passing = {from, p->en_passant, PAWN};
                if (pawn_attacks(from, us) & p->en_passant && is_safe(p, passing)) add(list, from, passing.to, PAWN);
            } else if (piece == KNIGHT) {
                add(list, from, knight_attacks(from) & ~own & free, piece);
            } else {
                const Board straight = piece == BISHOP ? 0 : from, diagonal = piece == ROOK ? 0 : from;
                add(list, from, setwise_sliders_union(straight, diagonal, occupied) & ~own & free, piece);
            }
        }
    }

    for (Board left = checkers ? 0 : p->castling & own; left; left &= left - 1) {
        const int short_side = first_of(left) > king;
        const Board path = short_side ? king << 1 | king << 2 : king >> 1 | king >> 2;
        const Board between = short_side ? path : path | king >> 3;
        if (!(between & occupied) && !(path & danger)) add(list, king, short_side ? king << 2 : king >> 2, KING);
    }
}

static uint64_t perft(const Position *p, int depth) {
    if (depth == 0) return 1;
    Moves list;
    generate(p, &list);
    if (depth == 1) return (uint64_t)list.count;
    uint64_t total = 0;
    for (int i = 0; i < list.count; i++) {
        const Position next = after(p, list.moves[i]);
        total += perft(&next, depth - 1);
    }
    return total;
}

static int parse(const char *fen, Position *p) {
    static const char letters[] = "pnbrqk";
    memset(p, 0, sizeof *p);
    int rank = 7, file = 0;
    for (; *fen && *fen != ' '; fen++) {
        const char lower = (char)(*fen | 32), *found = strchr(letters, lower);
        if (*fen == '/') {
            rank--, file = 0;
        } else if (*fen >= '1' && *fen <= '8') {
            file += *fen - '0';
        } else if (found && rank >= 0 && file < 8) {
            p->pieces[*fen == lower ? BLACK : WHITE][found - letters] |= 1ULL << (8 * rank + file++);
        } else {
            return 0;
        }
    }
    char mover = 0, castling[8] = "", passed[8] = "";
    if (sscanf(fen, " %c %7s %7s", &mover, castling, passed) != 3 || (mover != 'w' && mover != 'b')) return 0;
    p->mover = mover == 'w' ? WHITE : BLACK;
    for (const char *right = castling; *right; right++)
        p->castling |= *right == 'K' ? 1ULL << 7 : *right == 'Q' ? 1ULL : *right == 'k' ? 1ULL << 63
                     : *right == 'q' ? 1ULL << 56 : 0;
    if (passed[0] >= 'a' && passed[0] <= 'h' && passed[1] >= '1' && passed[1] <= '8')
        p->en_passant = 1ULL << (8 * (passed[1] - '1') + passed[0] - 'a');
    return p->pieces[WHITE][KING] && p->pieces[BLACK][KING];
}

int main(int count, char **arguments) {
    Position position;
    if (count != 3 || !parse(arguments[1], &position)) {
        fprintf(stderr, "usage: perft FEN DEPTH\n");
        return 2;
    }
    for (int depth = 1; depth <= atoi(arguments[2]); depth++) {
        const unsigned long long moves = perft(&position, depth);
        printf("%d %llu\n", depth, moves);
    }
    return 0;
}
