/* The attacks of knights, of kings, and of a whole side. The file that includes this one defines the attacks of each
   kind of piece (of_rooks and so on), and `twice`. */

INLINE void pieces(U64 rooks, U64 bishops, U64 queens, U64 knights, U64 kings, U64 pawns, U64 empty, int ahead,
                   U64 *results) {
    results[0] = of_rooks(rooks, empty);
    results[1] = of_bishops(bishops, empty);
    results[2] = of_queens(queens, empty);
    results[3] = of_knights(knights);
    results[4] = of_kings(kings);
    results[5] = of_pawns(pawns, ahead);
}

INLINE void nested(U64 rooks, U64 bishops, U64 queens, U64 knights, U64 kings, U64 pawns, U64 empty, int ahead,
                   U64 *results) {
    results[0] = of_pawns(pawns, ahead);
    results[1] = results[0] | of_knights(knights) | of_bishops(bishops, empty);
    results[2] = results[1] | of_rooks(rooks, empty);
    results[3] = results[2] | of_queens(queens, empty) | of_kings(kings);
}

U64 leapers_knights(U64 knights) { return of_knights(knights); }

U64 leapers_kings(U64 kings) { return of_kings(kings); }

U64 side_union_knights(U64 rooks, U64 bishops, U64 knights, U64 occupied) {
    return of_rooks(rooks, ~occupied) | of_bishops(bishops, ~occupied) | of_knights(knights);
}

#define MEN U64 rooks, U64 bishops, U64 knights, U64 kings, U64 pawns, U64 occupied
#define KINDS U64 rooks, U64 bishops, U64 queens, U64 knights, U64 kings, U64 pawns, U64 occupied, U64 *results

#define OF(color, ahead)                                                                                              \
    U64 side_union_##color(MEN) {                                                                                     \
        return of_rooks(rooks, ~occupied) | of_bishops(bishops, ~occupied) | of_knights(knights) | of_kings(kings) |  \
               of_pawns(pawns, ahead);                                                                                \
    }                                                                                                                 \
    void side_twice_##color(MEN, U64 *results) {                                                                      \
        twice(rooks, bishops, knights, kings, pawns, ~occupied, ahead, results);                                      \
    }                                                                                                                 \
    void side_pieces_##color(KINDS) {                                                                                 \
        pieces(rooks, bishops, queens, knights, kings, pawns, ~occupied, ahead, results);                             \
    }                                                                                                                 \
    void side_nested_##color(KINDS) {                                                                                 \
        nested(rooks, bishops, queens, knights, kings, pawns, ~occupied, ahead, results);                             \
    }
OF(white, 8)
OF(black, -8)
