import setwise
from setwise import Board, Layout, Occupied, Word, fills, spec


@setwise.routine
def kingless(layout: Layout, rooks: Board, bishops: Board, knights: Board, pawns: Board, occupied: Occupied) -> Board:
    """Squares that Black attacks, its king left out; queens are among rooks and bishops both."""
    side = fills.sides.side_of(layout, "black", occupied, rooks=rooks, bishops=bishops, knights=knights, pawns=pawns)
    return fills.sides.union(side)[0]


@kingless.specification
def _(rooks: Word, bishops: Word, knights: Word, pawns: Word, occupied: Word) -> Word:
    no_king = knights & 0
    return spec.side("black", rooks, bishops, knights, no_king, pawns, ~occupied)


@kingless.requires
def _(rooks: Word, bishops: Word, knights: Word, pawns: Word, occupied: Word) -> Word:
    return (rooks | bishops) & ~occupied == 0
