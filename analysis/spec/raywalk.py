"""The specification: the attacks of sliding pieces, walked square by square.

Squares are given by file and rank, and a direction by one step in each; there are no shifted boards, no masks and no
fills. Boards are little-endian rank-file, a1 = bit 0, h1 = bit 7, h8 = bit 63, unless `numbers` or `grid` says
otherwise. A board may be a Python integer, a NumPy array of uint64 or a 64-bit bit-vector. A ray may pass the squares
of `empty`. A slider blocks the rays of others only if its square is not in `empty`; its own ray starts in either case.
Where a set may be named instead of a direction (`directions`), the result is the union over its directions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import accumulate, combinations, pairwise, product, zip_longest
from operator import and_, index, or_
from typing import Any, Literal, SupportsIndex

from setwise.analysis.spec import leaperwalk as leaperwalk
from setwise.analysis.spec.words import ALL as ALL
from setwise.analysis.spec.words import (
    W,
    add,
    add_32,
    bytewise_add,
    bytewise_sub,
    clip,
    equality_mask,
    full,
    joined,
    known_number,
    on,
)
from setwise.analysis.spec.words import population as population
from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering

BoardKind = Literal["empty", "occupied"]


SQUARES = tuple(range(64))
"""The number of each square, a1 first: little-endian rank-file."""

# By direction: (file step, rank step). A parameter dir8 is an index into this order.
DIRECTIONS: Mapping[str, tuple[int, int]] = {
    "noEa": (1, 1),
    "east": (1, 0),
    "soEa": (1, -1),
    "sout": (0, -1),
    "soWe": (-1, -1),
    "west": (-1, 0),
    "noWe": (-1, 1),
    "nort": (0, 1),
}
DIR8 = tuple(DIRECTIONS)
SETS: Mapping[str, tuple[str, ...]] = {
    "vertical": ("sout", "nort"),
    "eastward": ("noEa", "east", "soEa"),
    "westward": ("noWe", "west", "soWe"),
    "rook": ("nort", "east", "sout", "west"),
    "bishop": ("noEa", "soEa", "soWe", "noWe"),
    "queen": DIR8,
}

# The directions by number. Around a square, marked 0, and seen from White's side: 4 3 2 / 5 0 1 / 6 7 8.
NUMBERED: Mapping[int, str] = {1: "east", 2: "noEa", 3: "nort", 4: "noWe", 5: "west", 6: "soWe", 7: "sout", 8: "soEa"}


def directions(name: object) -> tuple[str, ...]:
    """Return the directions that a name of a direction or set denotes; case is ignored. Raises ValueError for others.

    A direction such as NORT denotes itself.

    >>> directions("noea"), directions("vertical")
    (('noEa',), ('sout', 'nort'))
    """
    lower = str(name).lower()
    for single in DIR8:
        if single.lower() == lower:
            return (single,)
    if lower in SETS:
        return SETS[lower]
    raise ValueError(f"unknown direction {name!r}: choose from {', '.join((*DIR8, *SETS))}")


def lines(direction: str, grid: Numbering = LITTLE_ENDIAN) -> Iterator[list[int]]:
    """Yield the lines of the board along one direction, each as its squares in walking order.

    A ring, on a grid that wraps, is yielded twice around, so each of its squares comes after each other.

    >>> next(lines("east")), sorted(len(line) for line in lines("noEa"))[-2:]
    ([0, 1, 2, 3, 4, 5, 6, 7], [7, 8])
    """
    file_step, rank_step = DIRECTIONS[direction]
    rings = set()
    for rank, file in product(range(grid.ranks), range(grid.files)):
        line: list[int] = []
        while (square := grid.at(file + len(line) * file_step, rank + len(line) * rank_step)) not in (-1, *line[:1]):
            line.append(square)
        if square >= 0 and square not in rings:
            rings.update(line)
            yield line * 2
        elif square < 0 and line and grid.at(file - file_step, rank - rank_step) < 0:
            yield line


def occluded(direction: str, sliders: W, empty: W, grid: Numbering = LITTLE_ENDIAN) -> W:
    """Return the sliders, and every empty square that one of them reaches through empty squares.

    >>> f"{occluded('east', 1 << 1, 0b11110100):08b}"
    '00000110'
    """
    return joined(_walk(single, sliders, empty, grid, arriving=False) for single in directions(direction))


def attacks(direction: str, sliders: W, empty: W, grid: Numbering = LITTLE_ENDIAN) -> W:
    """Return every square that a slider reaches with all squares strictly between them empty.

    >>> f"{attacks('east', 1 << 1, 0b11110100):08b}"
    '00001100'
    """
    return joined(_walk(single, sliders, empty, grid, arriving=True) for single in directions(direction))


def _walk(direction: str, sliders: W, empty: W, grid: Numbering, arriving: bool) -> W:
    """Walk each line along the direction. Return the occluded squares, or with `arriving` the attacked squares.

    The state of the walk is one bit: whether a ray arrives at, or leaves, the current square.
    """
    marks = []
    for first, *rest in _lines(direction, grid):
        leaving = on(sliders, first)
        if not arriving:
            marks.append(leaving << first)
        for square in rest:
            arrives = leaving
            leaving = on(sliders, square) | (arrives & on(empty, square))
            marks.append((arrives if arriving else leaving) << square)
    return clip(joined(marks or [sliders ^ sliders]))


@cache
def _lines(direction: str, grid: Numbering) -> list[list[int]]:
    return list(lines(direction, grid))


def step(direction: str, board: W, grid: Numbering = LITTLE_ENDIAN) -> W:
    """Return every square that is one step in the direction from a square of the board.

    >>> hex(step("noWe", 0xFF)), hex(step("queen", 1))
    ('0x7f00', '0x302')
    """
    pairs = (pair for single in directions(direction) for line in _lines(single, grid) for pair in pairwise(line))
    moved = [on(board, before) << square for before, square in dict.fromkeys(pairs)]
    return clip(joined(moved or [board ^ board]))


def empty_fill(direction: str, sliders: W) -> W:
    """Return the occluded fill if all squares are empty."""
    return occluded(direction, sliders, full(sliders))


def empty_attacks(direction: str, sliders: W) -> W:
    """Return the attacks if all squares are empty."""
    return attacks(direction, sliders, full(sliders))


def union(rooks: W, bishops: W, empty: W) -> W:
    """Return the union of the rooks' attacks and the bishops' attacks. Queens are in both `rooks` and `bishops`."""
    orthogonal, diagonal = pair(rooks, bishops, empty)
    return orthogonal | diagonal


def pair(rooks: W, bishops: W, empty: W) -> tuple[W, W]:
    """Return the orthogonal attacks of the rooks and the diagonal attacks of the bishops."""
    return attacks("rook", rooks, empty), attacks("bishop", bishops, empty)


def rays(rooks: W, bishops: W, empty: W) -> tuple[W, ...]:
    """Return the attacks of rooks or bishops in each of the eight directions, in the order of dir8."""
    return tuple(attacks(single, rooks if single in SETS["rook"] else bishops, empty) for single in DIR8)


def sides(white_rooks: W, white_bishops: W, black_rooks: W, black_bishops: W, empty: W) -> tuple[W, W]:
    """Return the squares that White's sliders attack, and those that Black's sliders attack."""
    return union(white_rooks, white_bishops, empty), union(black_rooks, black_bishops, empty)


def pieces(rooks: W, bishops: W, queens: W, empty: W) -> tuple[W, W, W]:
    """Return the attacks of the rooks, of the bishops and of the queens. A queen is only in `queens`."""
    return attacks("rook", rooks, empty), attacks("bishop", bishops, empty), attacks("queen", queens, empty)


def with_knights(rooks: W, bishops: W, knights: W, empty: W) -> W:
    """Return all squares that rooks, bishops and knights attack."""
    return union(rooks, bishops, empty) | leaperwalk.knights(knights)


def mobility(rooks: W, bishops: W, targets: W, empty: W) -> tuple[W, W]:
    """Return the numbers of rook moves and bishop moves to the targets; a move is a direction and a destination.

    >>> mobility(1, 1, ALL, ALL), mobility(0b11, 0, ALL, ALL ^ 0b11)
    ((14, 7), (22, 0))
    """

    def moves(sliders: W, piece: str) -> W:
        counts = (population(attacks(single, sliders, empty) & targets) for single in SETS[piece])
        return reduce(lambda one, other: one + other, counts)

    return moves(rooks, "rook"), moves(bishops, "bishop")


def counts(rooks: W, bishops: W, targets: W, empty: W) -> W:
    """Return the number of rook and bishop moves to the targets together."""
    straight, diagonal = mobility(rooks, bishops, targets, empty)
    return straight + diagonal


def side(color: str | W, rooks: W, bishops: W, knights: W, kings: W, pawns: W, empty: W) -> W:
    """Return all squares that one side attacks; queens are in both `rooks` and `bishops`."""
    leapers = leaperwalk.knights(knights) | leaperwalk.kings(kings) | leaperwalk.pawns(color, pawns)
    return union(rooks, bishops, empty) | leapers


def side_twice(color: str | W, rooks: W, bishops: W, knights: W, kings: W, pawns: W, empty: W) -> tuple[W, W]:
    """Return all squares that one side attacks, and those attacked twice.

    A square is attacked twice along two of the eight directions, or by a knight's jump and a direction or another jump.
    Along one direction it counts as attacked once, since pieces in line block each other.
    """
    boards = [leaperwalk.reached(knights, jump) for jump in leaperwalk.KNIGHT]
    by_color = leaperwalk.by_color(color, pawns)
    for along, step in DIRECTIONS.items():
        sliders = attacks(along, rooks if along in SETS["rook"] else bishops, empty)
        walkers = [kings, *(own for each, own in by_color.items() if step in leaperwalk.captures(each))]
        boards.append(sliders | leaperwalk.reached(joined(walkers), step))
    return joined(boards), joined(one & other for one, other in combinations(boards, 2))


def side_pieces(
    color: str | W, rooks: W, bishops: W, queens: W, knights: W, kings: W, pawns: W, empty: W
) -> tuple[W, ...]:
    """Return the attacks of each kind of one side's pieces, in the order of the parameters. Queens are separate."""
    slid = (
        attacks(piece, sliders, empty) for piece, sliders in (("rook", rooks), ("bishop", bishops), ("queen", queens))
    )
    return (*slid, leaperwalk.knights(knights), leaperwalk.kings(kings), leaperwalk.pawns(color, pawns))


def side_nested(
    color: str | W, rooks: W, bishops: W, queens: W, knights: W, kings: W, pawns: W, empty: W
) -> tuple[W, W, W, W]:
    """Return the attacks of one side's pawns; of pawns and minor pieces; of those and rooks; of all its pieces."""
    by_kind = side_pieces(color, rooks, bishops, queens, knights, kings, pawns, empty)
    by_rooks, by_bishops, by_queens, by_knights, by_kings, by_pawns = by_kind
    minors = by_pawns | by_knights | by_bishops
    return by_pawns, minors, minors | by_rooks, minors | by_rooks | by_queens | by_kings


def side_threats(
    color: str | W, pawns: W, knights: W, bishops: W, rooks: W, queens: W, kings: W, empty: W
) -> tuple[W, ...]:
    """Return the attacks of one side's pawns, knights, bishops, rooks, queens, kings, and their union."""
    by_kind = side_pieces(color, rooks, bishops, queens, knights, kings, pawns, empty)
    by_rooks, by_bishops, by_queens, by_knights, by_kings, by_pawns = by_kind
    return by_pawns, by_knights, by_bishops, by_rooks, by_queens, by_kings, joined(by_kind)


def side_threats_both(*words: W) -> tuple[W, ...]:
    """Return the threats of White, then of Black. Words are White's six kinds, Black's, and the empty squares."""
    white, black = (*words[:6], words[-1]), words[6:]
    return (*side_threats("white", *white), *side_threats("black", *black))


def side_nested_three(color: str | W, pawns: W, knights: W, bishops: W, rooks: W, empty: W) -> tuple[W, ...]:
    """Return the attacks of one side's pawns; of pawns and minor pieces; of those and rooks."""
    none = empty ^ empty
    return side_nested(color, rooks, bishops, none, knights, none, pawns, empty)[:3]


def side_nested_five(color: str | W, pawns: W, knights: W, bishops: W, rooks: W, queens: W, empty: W) -> tuple[W, ...]:
    """Return the attacks of one side's pawns; of those and knights; and bishops; and rooks; and queens."""
    by_kind = side_threats(color, pawns, knights, bishops, rooks, queens, empty ^ empty, empty)
    return tuple(accumulate(by_kind[:5], or_))


# By piece and number of repeats: the distance that a ray reaches; 1 for numbers that are absent.
FAR: Mapping[str, Mapping[int, int]] = {
    "bishop": {3: 4, 4: 5, 5: 6, 6: 7, 7: 1, 8: 2, 9: 3},
    "rook": {3: 4, 4: 5, 5: 6, 6: 7, 7: 7, 8: 7, 9: 1, 10: 2, 11: 3},
}


def from_square(
    piece: str, square: SupportsIndex, free: W, numbers: Sequence[int] = SQUARES, reaches: Sequence[W] = ()
) -> W:
    """Return the attacks of a slider on one known square; the state of that square does not matter.

    `piece` names the directions, `free` are the empty squares. `numbers` holds the number of each square, a1 first, for
    boards with another numbering. A numbering that mirrors or rotates the board may change the attacks in a single
    direction, but not those of a rook, bishop or queen. The first element of `reaches`, all ones or 0, says whether
    rays continue beyond their first square, the next beyond the second, and so on; beyond later squares they continue.

    >>> mirrored = [8 * (square // 8) + 7 - square % 8 for square in SQUARES]
    >>> hex(from_square("east", 3, ALL)), hex(from_square("east", 3, ALL, mirrored))
    ('0xf0', '0x7')
    >>> hex(from_square("bishop", 7, ALL)), hex(from_square("bishop", 7, ALL, mirrored))
    ('0x102040810204000', '0x102040810204000')
    """
    attacked: W = free ^ free
    for single in directions(piece):
        for line in _lines(single, LITTLE_ENDIAN):
            numbered = [numbers[place] for place in line]
            if index(square) not in numbered:
                continue
            arrives = (free ^ free) | 1
            for reached, reach in zip_longest(numbered[numbered.index(index(square)) + 1 :], reaches):
                if reached is None:
                    break
                attacked = attacked | (arrives << reached)
                arrives = arrives & on(free, reached)
                arrives = arrives if reach is None else arrives & reach
    return clip(attacked)


def exploded(piece: str, square: SupportsIndex, repeats: W, free: W, numbers: Sequence[int] = SQUARES) -> W:
    """Return the attacks of a slider on one square, limited to a distance: `FAR[piece][repeats]`, by default 1.

    `repeats` is below 16. A rook on the first rank has all its attacks along that rank.

    >>> hex(exploded("bishop", 0, 8, ALL)), hex(exploded("rook", 0, 10, ALL))
    ('0x40200', '0x101fe')
    """
    chosen = {number: equality_mask(repeats, number, 4) for number in FAR[piece]}
    reaches = [joined(chosen[number] for number, far in FAR[piece].items() if far > at) for at in range(1, 7)]
    along = ("east", "west") if piece == "rook" and index(square) in numbers[:8] else ()
    ranks = (from_square(way, square, free, numbers) for way in along)
    return joined([from_square(piece, square, free, numbers, reaches), *ranks])


def of_pieces(piece: str, square: SupportsIndex, white: W, black: W, numbers: Sequence[int] = SQUARES) -> W:
    """Return the attacks of a slider on one square among the pieces of both sides."""
    return from_square(piece, square, clip(~(white | black)), numbers)


def in_direction(square: SupportsIndex, number: W, white: W, black: W, numbers: Sequence[int] = SQUARES) -> W:
    """Return the attacks of a slider on one square in one direction of `NUMBERED`; for any other number, none.

    >>> hex(in_direction(0, 1, 1 << 2, 1)), in_direction(0, 1 << 63, 0, 0)
    ('0x6', 0)
    """
    free = clip(~(white | black))
    known = known_number(number)
    if known is not None:
        return from_square(NUMBERED[known], square, free, numbers) if known in NUMBERED else free ^ free
    return joined(
        from_square(direction, square, free, numbers) & equality_mask(number, numbered, 64)
        for numbered, direction in NUMBERED.items()
    )


def specification(
    name: str, direction: str = "", board: BoardKind = "empty", numbers: Sequence[int] = SQUARES
) -> Callable[..., tuple[Any, ...]]:
    """Return the specification of that name as a function from words to a tuple of words.

    Names and parameters:

    attacks, occluded (sliders, empty), empty-fill, empty-attacks, step (sliders), direction as in `directions`, or any,
    which appends a parameter dir8;
    union, pair, rays (rooks, bishops, empty); pieces (rooks, bishops, queens, empty);
    sides (white's rooks, bishops, black's rooks, bishops, empty); counts, mobility (rooks, bishops, targets, empty);
    knights, kings (leapers); pawns (leapers), pushes, double-pushes (leapers, empty), direction white or black;
    side-union-knights (rooks, bishops, knights, empty); side-threats-both (six kinds of each side, empty);
    of one side, direction white or black:
    side-union, side-twice (rooks, bishops, knights, kings, pawns, empty),
    side-pieces, side-nested (rooks, bishops, queens, knights, kings, pawns, empty),
    side-threats (pawns, knights, bishops, rooks, queens, kings, empty), side-nested-five, without kings,
    side-nested-three, without queens and kings; direction any prepends a parameter color, 0 or 1;
    from-square (square, free), from-square-of-pieces (square, white, black), direction rook, bishop or queen;
    exploded-from-square (square, repeats, free), direction rook or bishop;
    direction-from-square (square, number, white, black), whose `number` is a key of `NUMBERED`; it ignores `direction`,
    which must be a known one; each of these four may have another numbering of the squares, `numbers`;
    right-attacks (free, rooks): attacks eastward; add, add-32, bytewise-add, bytewise-sub (x, y).

    With board="occupied" the parameter `empty` or `free` holds the occupied squares instead; boards of pieces mean the
    same in either case. Raises ValueError for an unknown name or direction, and for any `numbers` but `SQUARES` for
    other names. Whether `numbers` are a numbering, and whether the direction suits the four, is not checked.

    >>> specification("pair", board="occupied")(1, 2, 3)[1] == attacks("bishop", 2, ALL ^ 3)
    True
    """
    if name.lower() not in _SPECIFICATIONS:
        raise ValueError(f"unknown specification {name!r}: choose from {', '.join(_SPECIFICATIONS)}")
    function, of, empty = _SPECIFICATIONS[name.lower()]
    if of != "square" and tuple(numbers) != SQUARES:
        raise ValueError(f"the specification {name!r} requires the square numbering a1 = 0, h1 = 7, h8 = 63")
    if of == "color" and direction not in (*leaperwalk.COLORS, "any"):
        raise ValueError(f"unknown color {direction!r}: choose from {', '.join(leaperwalk.COLORS)}, any")
    if of == "direction" and direction.lower() == "any":
        function, empty = at_run_time(function), empty and empty - 1
    elif of and not (of == "color" and direction == "any"):
        if of != "color":
            directions(direction)  # raises ValueError for an unknown one
        function = partial(function, direction, **({"numbers": numbers} if of == "square" else {}))
    return _tupled(function, empty if board == "occupied" else None)


# By name: the function; the kind of its argument before the words ("": none; "square": the name of a piece, and the
# function takes `numbers` too); the index of the board of empty squares among the words, or None.
_SPECIFICATIONS: Mapping[str, tuple[Callable[..., Any], Literal["direction", "color", "square", ""], int | None]] = {
    "attacks": (attacks, "direction", -1),
    "occluded": (occluded, "direction", -1),
    "empty-fill": (empty_fill, "direction", None),
    "empty-attacks": (empty_attacks, "direction", None),
    "step": (step, "direction", None),
    "pawns": (leaperwalk.pawns, "color", None),
    "pushes": (leaperwalk.pushes, "color", -1),
    "double-pushes": (leaperwalk.double_pushes, "color", -1),
    "side-union": (side, "color", -1),
    "side-twice": (side_twice, "color", -1),
    "side-pieces": (side_pieces, "color", -1),
    "side-nested": (side_nested, "color", -1),
    "side-threats": (side_threats, "color", -1),
    "side-threats-both": (side_threats_both, "", -1),
    "side-nested-three": (side_nested_three, "color", -1),
    "side-nested-five": (side_nested_five, "color", -1),
    "knights": (leaperwalk.knights, "", None),
    "kings": (leaperwalk.kings, "", None),
    "union": (union, "", -1),
    "pair": (pair, "", -1),
    "rays": (rays, "", -1),
    "pieces": (pieces, "", -1),
    "sides": (sides, "", -1),
    "counts": (counts, "", -1),
    "mobility": (mobility, "", -1),
    "side-union-knights": (with_knights, "", -1),
    "from-square": (from_square, "square", -1),
    "from-square-of-pieces": (of_pieces, "square", None),
    "exploded-from-square": (exploded, "square", -1),
    "direction-from-square": (lambda _, *words, **numbers: in_direction(*words, **numbers), "square", None),
    "right-attacks": (lambda free, rooks: attacks("east", rooks, free), "", 0),
    "add": (add, "", None),
    "add-32": (add_32, "", None),
    "bytewise-add": (bytewise_add, "", None),
    "bytewise-sub": (bytewise_sub, "", None),
}


def _tupled(function: Callable[..., Any], complemented: int | None) -> Callable[..., tuple[Any, ...]]:
    """Return the function with the argument at index `complemented`, if any, inverted, and its result as a tuple."""

    def called(*words: Any) -> tuple[Any, ...]:
        arguments = list(words)
        if complemented is not None:
            arguments[complemented] = clip(~arguments[complemented])
        result = function(*arguments)
        return result if isinstance(result, tuple) else (result,)

    return called


def in_directions(function: Callable[..., Any], direction: str) -> Callable[..., Any]:
    """Return the union of a function over the directions that a name denotes, as a function of the words."""
    return lambda *words: joined(function(single, *words) for single in directions(direction))


def in_all_directions(function: Callable[..., Any], direction: str) -> Callable[..., Any]:
    """Return whether a function is not 0 for any of the directions that a name denotes, as a function of the words."""
    return lambda *words: reduce(and_, (function(single, *words) != 0 for single in directions(direction)))


def at_run_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with its first parameter, a direction, as the last one instead: an index into DIR8."""
    return lambda *words: function(DIR8[words[-1]], *words[:-1])
