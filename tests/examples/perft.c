/* perft: counts the legal moves of a position to a depth, with setwise's map of all that a side attacks.
 *
 *   setwise export side.union.black sliders.rays --isa x86-64,bmi2,avx2,avx512 --format c -o attacks
 *   cc -std=c11 -O2 -march=native -Iattacks perft.c -o perft
 *   ./perft "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1" 5
 *
 * prints the legal moves of each depth, and the nanoseconds that counting them took.
 *
 * The mover always plays upward: after a move the board is turned over, so that the enemy is always Black and one
 * kernel serves both. Where the king may not go is one call, with the king taken off the board, for it shields no
 * square behind it. How many moves the own sliders have at the last depth is one more: along one direction no two of
 * them go to the same square. What one piece attacks is looked up in tables by pext. Compiled with -DTABLES, the
 * program needs no header, and looks up those sliders too, one by one. Compiled with -DTHREATS, it is the program of
 * threat_loop.c.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif
#ifndef TABLES
#include "setwise_inline.h"
#endif

typedef uint64_t Board;

/* No two kinds of sliders side by side: both would be read at once, which waits where one has just been written. */
enum { KNIGHT, ROOK, PAWN, BISHOP, KING, QUEEN, OWN, ENEMY, BOARDS };

typedef struct {
    Board boards[BOARDS]; /* pieces of both sides by kind, then by side */
    Board castling;       /* rooks that may still castle */
    Board en_passant;     /* the square that a pawn has just passed, or nothing */
} Position;

typedef struct {
    Board from, to; /* who castles goes to the own rook's square */
    int piece, becomes;
} Move;

typedef struct {
    Move moves[2048]; /* 218 in a game, but there are positions of 60 queens */
    unsigned count;
} Moves;

#define FILE_A 0x0101010101010101ULL
#define FILE_H 0x8080808080808080ULL
#define RANK_1 0x00000000000000ffULL
#define RANK_3 0x0000000000ff0000ULL
#define RANK_8 0xff00000000000000ULL
#define ALL 0xffffffffffffffffULL
#define INLINE static inline __attribute__((always_inline))

INLINE Board first_of(Board set) { return set & (0 - set); }
INLINE int several(Board set) { return (set & (set - 1)) != 0; }
INLINE int square(Board set) { return __builtin_ctzll(set); }
INLINE unsigned number(Board set) { return (unsigned)__builtin_popcountll(set); }

INLINE Board beside(Board set) { return (set & ~FILE_A) >> 1 | (set & ~FILE_H) << 1; }
INLINE Board pawn_attacks(Board pawns) { return beside(pawns << 8); }
INLINE Board pawn_attackers(Board squares) { return beside(squares >> 8); }

INLINE Board king_attacks(Board king) {
    const Board row = king | beside(king);
    return (row | row << 8 | row >> 8) & ~king;
}

INLINE Board knight_attacks(Board knights) {
    const Board west = (knights & ~FILE_A) >> 1, east = (knights & ~FILE_H) << 1;
    const Board near = west | east, wide = (west & ~FILE_A) >> 1 | (east & ~FILE_H) << 1;
    return near << 16 | near >> 16 | wide << 8 | wide >> 8;
}

/* Tables: what rooks and bishops attack by the occupied squares that matter, and the squares between two. */

typedef struct {
    const Board *attacks;
    Board mask;
} Line;

static Line rook_lines[64], bishop_lines[64];
static Board attacks_of[102400 + 5248], between[64][64], knight_table[64], king_table[64];

#ifdef __BMI2__
INLINE Board extracted(Board set, Board mask) { return _pext_u64(set, mask); }
#else
static Board extracted(Board set, Board mask) {
    Board bits = 0;
    for (Board bit = 1; mask; bit <<= 1, mask &= mask - 1) bits |= set & first_of(mask) ? bit : 0;
    return bits;
}
#endif

INLINE Board look_up(const Line *line, Board occupied) { return line->attacks[extracted(occupied, line->mask)]; }
INLINE Board rook(int from, Board occupied) { return look_up(&rook_lines[from], occupied); }
INLINE Board bishop(int from, Board occupied) { return look_up(&bishop_lines[from], occupied); }

/* Square by square in one direction, until a piece stands there or the board ends. */
static Board walk(int from, int files, int ranks, Board occupied) {
    Board reached = 0;
    for (int file = from % 8 + files, rank = from / 8 + ranks; file >= 0 && file < 8 && rank >= 0 && rank < 8;
         file += files, rank += ranks) {
        reached |= 1ULL << (8 * rank + file);
        if (reached & occupied) break;
    }
    return reached;
}

static const int steps[8][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}};

static Board four_ways(int from, int first, Board occupied) {
    Board reached = 0;
    for (int d = first; d < first + 4; d++) reached |= walk(from, steps[d][0], steps[d][1], occupied);
    return reached;
}

/* The row of a square. The last square of a ray hides nothing, so it does not matter. */
static Board *fill(Line *line, int from, int first, Board *next) {
    const Board all = four_ways(from, first, 0);
    line->attacks = next, line->mask = 0;
    for (Board left = all; left; left &= left - 1)
        if (four_ways(from, first, first_of(left)) != all) line->mask |= first_of(left);
    Board subset = 0;
    do {
        *next++ = four_ways(from, first, subset);
        subset = (subset - line->mask) & line->mask;
    } while (subset);
    return next;
}

static void make_tables(void) {
    Board *next = attacks_of;
    for (int from = 0; from < 64; from++) {
        next = fill(&rook_lines[from], from, 0, next);
        next = fill(&bishop_lines[from], from, 4, next);
        knight_table[from] = knight_attacks(1ULL << from), king_table[from] = king_attacks(1ULL << from);
        for (int d = 0; d < 8; d++)
            for (Board ray = walk(from, steps[d][0], steps[d][1], 0); ray; ray &= ray - 1) {
                const Board whole = walk(from, steps[d][0], steps[d][1], first_of(ray));
                between[from][square(ray)] = whole & ~first_of(ray);
            }
    }
}

/* Along ranks and files, and along diagonals. */
INLINE Board rooks(const Position *p, int side) { return (p->boards[ROOK] | p->boards[QUEEN]) & p->boards[side]; }
INLINE Board bishops(const Position *p, int side) { return (p->boards[BISHOP] | p->boards[QUEEN]) & p->boards[side]; }

/* All squares that the enemy attacks when these squares are occupied. */
INLINE Board danger_to(const Position *p, Board occupied) {
    const Board enemy = p->boards[ENEMY];
    const Board knights = p->boards[KNIGHT] & enemy, king = p->boards[KING] & enemy, pawns = p->boards[PAWN] & enemy;
#ifdef TABLES
    Board danger = knight_attacks(knights) | king_table[square(king)] | pawn_attackers(pawns);
    for (Board left = rooks(p, ENEMY); left; left &= left - 1) danger |= rook(square(left), occupied);
    for (Board left = bishops(p, ENEMY); left; left &= left - 1) danger |= bishop(square(left), occupied);
    return danger;
#else
    return setwise_side_union_black(rooks(p, ENEMY), bishops(p, ENEMY), knights, king, pawns, occupied);
#endif
}

/* Moves are listed or, where there is no list, counted. */
INLINE unsigned add(Moves *list, int piece, Board from, Board targets, int becomes) {
    if (list)
        for (Board left = targets; left; left &= left - 1) {
            const Move move = {from, first_of(left), piece, becomes};
            list->moves[list->count++] = move;
        }
    return number(targets);
}

static const int promotions[4] = {KNIGHT, BISHOP, ROOK, QUEEN};

INLINE unsigned add_pawns(Moves *list, Board targets, int step) {
    const Board last = targets & RANK_8;
    if (list)
        for (Board left = targets; left; left &= left - 1) {
            const Board to = first_of(left), from = to >> step;
            if (!(to & RANK_8)) add(list, PAWN, from, to, PAWN);
            else
                for (int i = 0; i < 4; i++) add(list, PAWN, from, to, promotions[i]);
        }
    return number(targets) + 3 * number(last);
}

/* Of pawns that may go to these squares. */
INLINE unsigned moves_of_pawns(Moves *list, Board pawns, Board enemy, Board occupied, Board allowed) {
    const Board one = pawns << 8 & ~occupied, two = (one & RANK_3) << 8 & ~occupied;
    return add_pawns(list, one & allowed, 8) + add_pawns(list, two & allowed, 16) +
           add_pawns(list, (pawns & ~FILE_A) << 7 & enemy & allowed, 7) +
           add_pawns(list, (pawns & ~FILE_H) << 9 & enemy & allowed, 9);
}

INLINE unsigned moves_of_knights(Moves *list, Board knights, Board allowed) {
    unsigned count = 0;
    for (Board left = knights; left; left &= left - 1)
        count += add(list, KNIGHT, first_of(left), knight_table[square(left)] & allowed, KNIGHT);
    return count;
}

INLINE unsigned moves_of_sliders(Moves *list, const Position *p, Board pieces, Board occupied, Board allowed) {
    unsigned count = 0;
    for (Board left = pieces & p->boards[BISHOP]; left; left &= left - 1)
        count += add(list, BISHOP, first_of(left), bishop(square(left), occupied) & allowed, BISHOP);
    for (Board left = pieces & p->boards[ROOK]; left; left &= left - 1)
        count += add(list, ROOK, first_of(left), rook(square(left), occupied) & allowed, ROOK);
    for (Board left = pieces & p->boards[QUEEN]; left; left &= left - 1) {
        const Board targets = rook(square(left), occupied) | bishop(square(left), occupied);
        count += add(list, QUEEN, first_of(left), targets & allowed, QUEEN);
    }
    return count;
}

/* The same counted: along one direction no two sliders go to the same square. */
INLINE unsigned number_of_sliders(const Position *p, Board pieces, Board occupied, Board allowed) {
#ifdef TABLES
    return moves_of_sliders(NULL, p, pieces, occupied, allowed);
#else
    Board rays[8];
    setwise_sliders_rays(rooks(p, OWN) & pieces, bishops(p, OWN) & pieces, occupied, rays);
    return number(rays[0] & allowed) + number(rays[1] & allowed) + number(rays[2] & allowed) +
           number(rays[3] & allowed) + number(rays[4] & allowed) + number(rays[5] & allowed) +
           number(rays[6] & allowed) + number(rays[7] & allowed);
#endif
}

/* Two pawns leave a rank or a diagonal at once, so the king is looked at anew. */
static unsigned moves_en_passant(Moves *list, const Position *p, Board pawns, Board king, Board occupied) {
    const Board to = p->en_passant, taken = to >> 8;
    unsigned count = 0;
    for (Board left = pawn_attackers(to) & pawns; left; left &= left - 1) {
        const Board after = (occupied ^ first_of(left) ^ taken) | to;
        if (rook(square(king), after) & rooks(p, ENEMY) || bishop(square(king), after) & bishops(p, ENEMY)) continue;
        count += add(list, PAWN, first_of(left), to, PAWN);
    }
    return count;
}

/* The squares of the first rank from one to the other, both of them. */
INLINE Board span(Board a, Board b) { return a < b ? (b << 1) - a : (a << 1) - b; }

static unsigned castlings(Moves *list, Board castling, Board king, Board occupied, Board danger, Board pinned) {
    unsigned count = 0;
    for (Board left = castling; left; left &= left - 1) {
        const Board rook = first_of(left), king_to = rook > king ? 1ULL << 6 : 1ULL << 2;
        const Board path = span(king, king_to), rook_path = span(rook, rook > king ? 1ULL << 5 : 1ULL << 3);
        if (!((path | rook_path) & (occupied ^ king ^ rook)) && !(path & danger) && !(rook & pinned))
            count += add(list, KING, king, rook, KING);
    }
    return count;
}

/* The legal moves: their number, and the list of them if one is given. */
INLINE unsigned generate(const Position *p, Moves *list) {
    const Board own = p->boards[OWN], enemy = p->boards[ENEMY], occupied = own | enemy;
    const Board king = p->boards[KING] & own, pawns = p->boards[PAWN] & own;
    const int at = square(king);
    const Board danger = danger_to(p, occupied ^ king);
    unsigned count = add(list, KING, king, king_table[at] & ~own & ~danger, KING);

    /* Sliders that would see the king were the own pieces not there: they give check, or pin the one between. */
    Board checkers = king & danger ? (knight_table[at] & p->boards[KNIGHT] & enemy) |
                                         (pawn_attacks(king) & p->boards[PAWN] & enemy) : 0;
    Board pinned = 0, pinners = 0, allowed = ALL;
    for (Board left = (rook(at, enemy) & rooks(p, ENEMY)) | (bishop(at, enemy) & bishops(p, ENEMY)); left;
         left &= left - 1) {
        const Board way = between[at][square(left)], shields = way & own;
        if (!shields) checkers |= first_of(left);
        else if (!several(shields)) pinned |= shields, pinners |= first_of(left);
    }
    if (checkers) {
        if (several(checkers)) return count;
        allowed = between[at][square(checkers)] | checkers;
    } else if (p->castling & own) {
        count += castlings(list, p->castling & own, king, occupied, danger, pinned);
    }
    allowed &= ~own;

    count += moves_of_pawns(list, pawns & ~pinned, enemy, occupied, allowed);
    count += moves_of_knights(list, p->boards[KNIGHT] & own & ~pinned, allowed);
    count += list ? moves_of_sliders(list, p, own & ~pinned, occupied, allowed)
                  : number_of_sliders(p, own & ~pinned, occupied, allowed);
    for (; pinners; pinners &= pinners - 1) {
        const Board line = between[at][square(pinners)] | first_of(pinners), piece = line & own;
        count += moves_of_pawns(list, piece & pawns, enemy, occupied, allowed & line);
        count += moves_of_sliders(list, p, piece, occupied, allowed & line);
    }
    if (pawn_attackers(p->en_passant) & pawns) count += moves_en_passant(list, p, pawns, king, occupied);
    return count;
}

INLINE Board turned(Board set) { return __builtin_bswap64(set); }

/* Makes a move, and turns the board over for the other side. In place: a copy would wait for what was written. */
INLINE void make(const Position *p, Move move, Position *next) {
    const Board from = move.from, to = move.to;
    const int pawn = move.piece == PAWN, castles = (to & p->boards[OWN]) != 0, right = to > from;
    const Board gone = from | to | (pawn && to == p->en_passant ? to >> 8 : 0);
    const Board reached = turned(castles ? 1ULL << (right ? 6 : 2) : to);
    for (int i = 0; i < BOARDS; i++) next->boards[i] = turned(p->boards[i] & ~gone);
    const Board own = next->boards[OWN];
    next->boards[move.becomes] |= reached;
    next->boards[OWN] = next->boards[ENEMY], next->boards[ENEMY] = own | reached;
    if (castles) {
        const Board rook = turned(1ULL << (right ? 5 : 3));
        next->boards[ROOK] |= rook, next->boards[ENEMY] |= rook;
    }
    next->castling = turned(p->castling & ~gone & (move.piece == KING ? ~RANK_1 : ALL));
    next->en_passant = pawn && to == from << 16 ? turned(from << 8) : 0;
}

/* Rights as in FEN: KQkq are the outermost rooks, letters of files those that stand there. */
static Board castling_rook(const Position *p, char right) {
    const int side = right >= 'a' ? ENEMY : OWN; /* White's and Black's, before the board is turned over */
    const Board row = right >= 'a' ? RANK_8 : RANK_1, king = p->boards[KING] & p->boards[side] & row;
    const Board candidates = p->boards[ROOK] & p->boards[side] & row;
    const char letter = (char)(right | 32);
    if (!king) return 0;
    if (letter >= 'a' && letter <= 'h') return candidates & (FILE_A << (letter - 'a'));
    const Board here = letter == 'k' ? candidates & (0 - king) : letter == 'q' ? candidates & (king - 1) : 0;
    if (!here) return 0;
    return letter == 'q' ? first_of(here) : 1ULL << (63 - __builtin_clzll(here));
}

/* The same position, the other side to move, turned over for it. */
static Position for_the_other(const Position *p) {
    Position other = {{0}, turned(p->castling), turned(p->en_passant)};
    for (int i = 0; i < OWN; i++) other.boards[i] = turned(p->boards[i]);
    other.boards[OWN] = turned(p->boards[ENEMY]), other.boards[ENEMY] = turned(p->boards[OWN]);
    return other;
}

/* Whether that is a position, in which the mover cannot take the king. */
static int parse(const char *fen, Position *p) {
    static const char letters[] = "nrpbkq";
    memset(p, 0, sizeof *p);
    int rank = 7, file = 0;
    for (; *fen && *fen != ' '; fen++) {
        const char lower = (char)(*fen | 32), *found = strchr(letters, lower);
        if (*fen == '/') {
            rank--, file = 0;
        } else if (*fen >= '1' && *fen <= '8') {
            file += *fen - '0';
        } else if (found && rank >= 0 && file < 8) {
            const Board here = 1ULL << (8 * rank + file++);
            p->boards[found - letters] |= here, p->boards[*fen == lower ? ENEMY : OWN] |= here;
        } else {
            return 0;
        }
    }
    char mover = 0, castling[8] = "", passed[8] = "";
    if (sscanf(fen, " %c %7s %7s", &mover, castling, passed) != 3 || (mover != 'w' && mover != 'b')) return 0;
    for (int side = OWN; side <= ENEMY; side++)
        if (number(p->boards[KING] & p->boards[side]) != 1) return 0;
    for (const char *right = castling; *right && *right != '-'; right++) p->castling |= castling_rook(p, *right);
    if (passed[0] >= 'a' && passed[0] <= 'h' && passed[1] >= '1' && passed[1] <= '8')
        p->en_passant = 1ULL << (8 * (passed[1] - '1') + passed[0] - 'a');
    if (mover == 'b') *p = for_the_other(p);
    const Board occupied = p->boards[OWN] | p->boards[ENEMY];
    if (occupied & p->en_passant || !(p->en_passant >> 8 & p->boards[PAWN] & p->boards[ENEMY])) p->en_passant = 0;
    const Position other = for_the_other(p);
    return !(danger_to(&other, turned(occupied)) & other.boards[KING] & other.boards[OWN]);
}

static unsigned long long now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return time.tv_sec * 1000000000ULL + (unsigned long long)time.tv_nsec;
}

#ifdef THREATS
#include "threat_loop.c"
#else
static uint64_t perft(const Position *p, int depth) {
    if (depth <= 1) return depth ? generate(p, NULL) : 1;
    Moves list;
    list.count = 0;
    generate(p, &list);
    Position next;
    uint64_t total = 0;
    for (unsigned i = 0; i < list.count; i++) {
        make(p, list.moves[i], &next);
        total += perft(&next, depth - 1);
    }
    return total;
}

int main(int count, char **arguments) {
    Position position;
    const int deepest = count == 3 ? atoi(arguments[2]) : 0;
    make_tables();
    if (deepest < 1 || deepest > 99 || !parse(arguments[1], &position)) {
        fprintf(stderr, "usage: perft FEN DEPTH\n");
        return 2;
    }
    for (int depth = 1; depth <= deepest; depth++) {
        const unsigned long long start = now(), moves = perft(&position, depth);
        printf("%d %llu %llu\n", depth, moves, now() - start);
    }
    return 0;
}
#endif
