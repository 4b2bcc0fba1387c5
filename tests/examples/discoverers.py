import setwise
from setwise import BISHOP, Board, Empty, Layout, Word, fills, spec


@setwise.routine
def discoverers(layout: Layout, bishops: Board, own: Board, king: Board, empty: Empty) -> Board:
    """Own pieces that stand alone between an own bishop and the other's king."""
    found = []
    for ray in layout.rays(BISHOP):
        free = layout.board(ray, empty)
        behind = fills.kogge_stone.attacks(ray, layout.board(ray, bishops), free)
        found.append(behind & fills.kogge_stone.attacks(ray.opposite, layout.board(ray, king), free))
    return layout.union(found) & own


@discoverers.specification
def _(bishops: Word, own: Word, king: Word, empty: Word) -> Word:
    ways = ("noEa", "soWe"), ("soWe", "noEa"), ("noWe", "soEa"), ("soEa", "noWe")
    return own & setwise.union(
        spec.attacks(way, bishops, empty) & spec.attacks(back, king, empty) for way, back in ways
    )
