// An adapter for engines in which a8 is bit 0, here with a board for each of the twelve pieces.

#include "setwise_inline.h"

using Bitboard = uint64_t;

enum Color { WHITE, BLACK };
enum Kind { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };

struct Position {
    Bitboard pieces[12];  // White's and Black's pawns, White's and Black's knights, and so on
    Bitboard occupied;

    void put(Color color, Kind kind, Bitboard squares) {
        pieces[2 * kind + color] |= squares;
        occupied |= squares;
    }
};

// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
// With a8 = bit 0 White's pawns move to lower bits, as Black's do in setwise. So its color is the other one.
inline setwise_side_threats_results threats(const Position &position, Color color) {
    const Bitboard *own = position.pieces + color;
    const Bitboard other_king = position.pieces[2 * KING + (color ^ 1)];
    setwise_side_threats_results results;
    setwise::side_threats_any(color ^ 1, own[2 * PAWN], own[2 * KNIGHT], own[2 * BISHOP], own[2 * ROOK],
        own[2 * QUEEN], own[2 * KING], position.occupied ^ other_king, results.boards);
    return results;
}
