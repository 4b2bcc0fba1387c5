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

INLINE void threats(U64 pawns, U64 knights, U64 bishops, U64 rooks, U64 queens, U64 kings, U64 empty, int ahead,
                    U64 *results) {
    results[0] = of_pawns(pawns, ahead);
    results[1] = of_knights(knights);
    results[2] = of_bishops(bishops, empty);
    results[3] = of_rooks(rooks, empty);
    results[4] = of_queens(queens, empty);
    results[5] = of_kings(kings);
    results[6] = results[0] | results[1] | results[2] | results[3] | results[4] | results[5];
}

INLINE void nested_three(U64 pawns, U64 knights, U64 bishops, U64 rooks, U64 empty, int ahead, U64 *results) {
    results[0] = of_pawns(pawns, ahead);
    results[1] = results[0] | of_knights(knights) | of_bishops(bishops, empty);
    results[2] = results[1] | of_rooks(rooks, empty);
}

INLINE void nested_five(U64 pawns, U64 knights, U64 bishops, U64 rooks, U64 queens, U64 empty, int ahead,
                        U64 *results) {
    results[0] = of_pawns(pawns, ahead);
    results[1] = results[0] | of_knights(knights);
    results[2] = results[1] | of_bishops(bishops, empty);
    results[3] = results[2] | of_rooks(rooks, empty);
    results[4] = results[3] | of_queens(queens, empty);
}

U64 leapers_knights(U64 knights) { return of_knights(knights); }

U64 leapers_kings(U64 kings) { return of_kings(kings); }

U64 side_union_knights(U64 rooks, U64 bishops, U64 knights, U64 occupied) {
    return of_rooks(rooks, ~occupied) | of_bishops(bishops, ~occupied) | of_knights(knights);
}

#define MEN U64 rooks, U64 bishops, U64 knights, U64 kings, U64 pawns, U64 occupied
#define KINDS U64 rooks, U64 bishops, U64 queens, U64 knights, U64 kings, U64 pawns, U64 occupied, U64 *results

#define COLOR U64 color,
#define OF(color, first, ahead)                                                                                       \
    U64 side_union_##color(first MEN) {                                                                               \
        return of_rooks(rooks, ~occupied) | of_bishops(bishops, ~occupied) | of_knights(knights) | of_kings(kings) |  \
               of_pawns(pawns, ahead);                                                                                \
    }                                                                                                                 \
    void side_twice_##color(first MEN, U64 *results) {                                                                \
        twice(rooks, bishops, knights, kings, pawns, ~occupied, ahead, results);                                      \
    }                                                                                                                 \
    void side_pieces_##color(first KINDS) {                                                                           \
        pieces(rooks, bishops, queens, knights, kings, pawns, ~occupied, ahead, results);                             \
    }                                                                                                                 \
    void side_nested_##color(first KINDS) {                                                                           \
        nested(rooks, bishops, queens, knights, kings, pawns, ~occupied, ahead, results);                             \
    }                                                                                                                 \
    void side_threats_##color(first U64 pawns, U64 knights, U64 bishops, U64 rooks, U64 queens, U64 kings,            \
                              U64 occupied, U64 *results) {                                                           \
        threats(pawns, knights, bishops, rooks, queens, kings, ~occupied, ahead, results);                            \
    }                                                                                                                 \
    void side_nested_three_##color(first U64 pawns, U64 knights, U64 bishops, U64 rooks, U64 occupied,                \
                                   U64 *results) {                                                                    \
        nested_three(pawns, knights, bishops, rooks, ~occupied, ahead, results);                                      \
    }                                                                                                                 \
    void side_nested_five_##color(first U64 pawns, U64 knights, U64 bishops, U64 rooks, U64 queens,                   \
                                  U64 occupied, U64 *results) {                                                       \
        nested_five(pawns, knights, bishops, rooks, queens, ~occupied, ahead, results);                               \
    }
OF(white, , 8)
OF(black, , -8)
OF(any, COLOR, color ? -8 : 8)

void side_threats_both(U64 white_pawns, U64 white_knights, U64 white_bishops, U64 white_rooks, U64 white_queens,
                       U64 white_kings, U64 black_pawns, U64 black_knights, U64 black_bishops, U64 black_rooks,
                       U64 black_queens, U64 black_kings, U64 occupied, U64 *results) {
    threats(white_pawns, white_knights, white_bishops, white_rooks, white_queens, white_kings, ~occupied, 8, results);
    threats(black_pawns, black_knights, black_bishops, black_rooks, black_queens, black_kings, ~occupied, -8,
            results + 7);
}
