// An adapter for engines with eight boards in one array: the pieces of each kind, then those of each color.

#include "setwise_inline.h"

using Bitboard = uint64_t;

enum Color { WHITE, BLACK };
enum Kind { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, KINDS };

class Position {
    Bitboard boards[KINDS + 2] = {};

public:
    void put(Color color, Kind kind, Bitboard squares) {
        boards[kind] |= squares;
        boards[KINDS + color] |= squares;
    }

    Bitboard pieces(Kind kind) const { return boards[kind]; }
    Bitboard pieces(Color color) const { return boards[KINDS + color]; }
};

// The squares that this color attacks, by kind of piece and in all. The other side's king does not stop a ray.
inline setwise_side_threats_results threats(const Position &position, Color color) {
    const Bitboard own = position.pieces(color), occupied = position.pieces(WHITE) | position.pieces(BLACK);
    setwise_side_threats_results results;
    setwise::side_threats_any(color, own & position.pieces(PAWN), own & position.pieces(KNIGHT),
        own & position.pieces(BISHOP), own & position.pieces(ROOK), own & position.pieces(QUEEN),
        own & position.pieces(KING), occupied ^ (position.pieces(KING) & ~own), results.boards);
    return results;
}
