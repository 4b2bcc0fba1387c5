/* The routines of a whole side, from occupied and from empty squares. The file that includes this one defines them
   for empty squares, `sides` excepted. */

INLINE void sides(U64 rooks, U64 bishops, U64 other_rooks, U64 other_bishops, U64 empty, U64 *results) {
    results[0] = whole(rooks, bishops, empty);
    results[1] = whole(other_rooks, other_bishops, empty);
}

#define FROM(suffix, board, empty)                                                                                    \
    U64 sliders_union##suffix(U64 rooks, U64 bishops, U64 board) { return whole(rooks, bishops, empty); }             \
    void sliders_pair##suffix(U64 rooks, U64 bishops, U64 board, U64 *results) {                                      \
        pair(rooks, bishops, empty, results);                                                                         \
    }                                                                                                                 \
    void sliders_rays##suffix(U64 rooks, U64 bishops, U64 board, U64 *results) {                                      \
        rays(rooks, bishops, empty, results);                                                                         \
    }                                                                                                                 \
    void sliders_pieces##suffix(U64 rooks, U64 bishops, U64 queens, U64 board, U64 *results) {                        \
        pieces(rooks, bishops, queens, empty, results);                                                               \
    }                                                                                                                 \
    void sliders_sides##suffix(U64 rooks, U64 bishops, U64 other_rooks, U64 other_bishops, U64 board, U64 *results) { \
        sides(rooks, bishops, other_rooks, other_bishops, empty, results);                                            \
    }
FROM(, occupied, ~occupied)
FROM(_empty, empty, empty)
