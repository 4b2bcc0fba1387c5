import setwise
from setwise import BISHOP, EAST, NORT, ROOK, SOUT, WEST, Board, Empty, Number, Word, fills, ray, spec


@setwise.routine
def king_attack(king: Board, knights: Board, rooks: Board, bishops: Board, empty: Empty) -> Number:
    """Attacks on squares around a king, weighted: three for each that rooks attack, two for bishops and knights."""
    zone = king | king.step(EAST) | king.step(WEST)
    zone |= zone.step(NORT) | zone.step(SOUT)
    by_knights = fills.leapers.knights(knights)
    by_rooks = setwise.union(fills.kogge_stone.attacks(ray(direction), rooks, empty) for direction in ROOK)
    by_bishops = setwise.union(fills.kogge_stone.attacks(ray(direction), bishops, empty) for direction in BISHOP)
    weighted = ((by_knights, 2), (by_rooks, 3), (by_bishops, 2))
    return sum(((zone & by).popcount() * weight for by, weight in weighted), start=setwise.constant(0))


@king_attack.specification
def _(king: Word, knights: Word, rooks: Word, bishops: Word, empty: Word) -> Word:
    zone, by_knights = king | spec.step("queen", king), king & 0
    for s in range(64):
        jumps = (t for t in range(64) if abs(s % 8 - t % 8) * abs(s // 8 - t // 8) == 2)
        by_knights |= setwise.union((knights >> s & 1) << t for t in jumps)
    by_rooks, by_bishops = spec.attacks("rook", rooks, empty), spec.attacks("bishop", bishops, empty)
    counts = [spec.population(zone & by) for by in (by_knights, by_rooks, by_bishops)]
    return counts[0] * 2 + counts[1] * 3 + counts[2] * 2
