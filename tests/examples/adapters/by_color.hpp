// An adapter for engines with a board for each color and kind of piece.

#include "setwise_inline.h"

using Bitboard = uint64_t;

enum Color { WHITE, BLACK };
enum Kind { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };

struct Position {
    Bitboard pieces[2][6];  // by color and kind
    Bitboard occupied;

    void put(Color color, Kind kind, Bitboard squares) {
        pieces[color][kind] |= squares;
        occupied |= squares;
    }
};

// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
inline setwise_side_threats_results threats(const Position &position, Color color) {
    const Bitboard *own = position.pieces[color], *other = position.pieces[color ^ 1];
    setwise_side_threats_results results;
    setwise::side_threats_any(color, own[PAWN], own[KNIGHT], own[BISHOP], own[ROOK], own[QUEEN], own[KING],
        position.occupied ^ other[KING], results.boards);
    return results;
}
