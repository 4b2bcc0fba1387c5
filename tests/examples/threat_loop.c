/* The threat loop: makes the moves of games, and finds at each node the threat boards of the side that does not move.
 * It is a part of perft.c, in place of perft:
 *
 *   setwise export side.union.black sliders.rays side.threats.any --isa x86-64,avx2,avx512 --format c -o attacks
 *   cc -std=c11 -O3 -march=native -DTHREATS -Iattacks perft.c -o threat_loop
 *   ./threat_loop "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" 10000
 *
 * plays as many games by random moves, and prints the number of their positions, the nanoseconds that replaying them
 * took, and a checksum of all threat boards. With -DTABLES it looks up piece by piece, as engines do.
 */

enum { PLIES = 200 };

typedef Move Game[PLIES]; /* after the last move all is zero */

/* Plays a game of random moves, and returns their number. */
static unsigned play(Position position, Move *game) {
    static uint64_t random = 1;
    static Moves list;
    for (unsigned ply = 0; ply < PLIES; ply++) {
        list.count = 0;
        if (!generate(&position, &list)) return ply;
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        game[ply] = list.moves[(random >> 33) % list.count];
        const Position before = position;
        make(&before, game[ply], &position);
    }
    return PLIES;
}

/* The squares that the enemy's pawns, knights, bishops, rooks, queens and king attack, and all of them. */
INLINE void find_threats(const Position *p, Board occupied, Board *threats) {
    const Board enemy = p->boards[ENEMY];
#ifdef TABLES
    const Board pawns = pawn_attackers(p->boards[PAWN] & enemy), king = king_table[square(p->boards[KING] & enemy)];
    Board knights = 0, bishops = 0, rooks = 0, queens = 0;
    for (Board left = p->boards[KNIGHT] & enemy; left; left &= left - 1) knights |= knight_table[square(left)];
    for (Board left = p->boards[BISHOP] & enemy; left; left &= left - 1) bishops |= bishop(square(left), occupied);
    for (Board left = p->boards[ROOK] & enemy; left; left &= left - 1) rooks |= rook(square(left), occupied);
    for (Board left = p->boards[QUEEN] & enemy; left; left &= left - 1)
        queens |= rook(square(left), occupied) | bishop(square(left), occupied);
    threats[0] = pawns, threats[1] = knights, threats[2] = bishops, threats[3] = rooks, threats[4] = queens;
    threats[5] = king, threats[6] = pawns | knights | bishops | rooks | queens | king;
#else
    setwise_side_threats_any(1, p->boards[PAWN] & enemy, p->boards[KNIGHT] & enemy, p->boards[BISHOP] & enemy,
                             p->boards[ROOK] & enemy, p->boards[QUEEN] & enemy, p->boards[KING] & enemy, occupied,
                             threats);
#endif
}

/* Adds the threat boards of a game's positions to the checksum. The mover's king does not stop a ray. */
static uint64_t replay(const Position *start, const Move *game, uint64_t checksum) {
    Position positions[2] = {*start, *start};
    for (int ply = 0; ply < PLIES && game[ply].from; ply++) {
        Position *next = &positions[(ply + 1) % 2];
        make(&positions[ply % 2], game[ply], next);
        Board threats[7];
        const Board own = next->boards[OWN], occupied = own | next->boards[ENEMY];
        find_threats(next, occupied ^ (next->boards[KING] & own), threats);
        for (int i = 0; i < 7; i++) checksum = 3 * checksum + threats[i];
    }
    return checksum;
}

int main(int count, char **arguments) {
    Position start;
    const int number = count == 3 ? atoi(arguments[2]) : 0;
    make_tables();
    if (number < 1 || !parse(arguments[1], &start)) {
        fprintf(stderr, "usage: threat_loop FEN GAMES\n");
        return 2;
    }
    Game *games = (Game *)calloc((size_t)number, sizeof(Game));
    unsigned long long positions = 0, checksum = 0;
    for (int i = 0; i < number; i++) positions += play(start, games[i]);
    const unsigned long long began = now();
    for (int i = 0; i < number; i++) checksum = replay(&start, games[i], checksum);
    printf("%llu %llu %016llx\n", positions, now() - began, checksum);
    free(games);
    return 0;
}
