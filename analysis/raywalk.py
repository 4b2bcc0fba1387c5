"""The specification: what sliding pieces attack, walked square by square.

It knows squares by file and rank, and a direction as one step on each; no shifted boards, no masks, no fills.
Boards are little-endian rank-file, a1 = bit 0, h1 = bit 7, h8 = bit 63. A board may be a Python integer, a NumPy array
of uint64 or a bit-vector of 64 bits: whatever a `Word` does. `empty` are the squares that a ray may pass: a slider
stops the rays of others only where its square is outside `empty`, and its own ray starts in either case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self, TypeVar

ALL = 0xFFFF_FFFF_FFFF_FFFF

Files = Literal["little", "big"]
Given = Literal["empty", "occupied"]


class Word(Protocol):
    """64 bits with the operators of an unsigned integer; integers may be given where the shifts' counts are."""

    def __and__(self, other: Any, /) -> Self: ...
    def __or__(self, other: Any, /) -> Self: ...
    def __xor__(self, other: Any, /) -> Self: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __invert__(self) -> Self: ...
    def __lshift__(self, count: Any, /) -> Self: ...
    def __rshift__(self, count: Any, /) -> Self: ...


W = TypeVar("W", bound=Word)

# (file step, rank step), in the order of dir8.
DIRECTIONS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "noEa": (1, 1),
        "east": (1, 0),
        "soEa": (1, -1),
        "sout": (0, -1),
        "soWe": (-1, -1),
        "west": (-1, 0),
        "noWe": (-1, 1),
        "nort": (0, 1),
    }
)
DIR8 = tuple(DIRECTIONS)
SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "vertical": ("sout", "nort"),
        "eastward": ("noEa", "east", "soEa"),
        "westward": ("noWe", "west", "soWe"),
        "rook": ("nort", "east", "sout", "west"),
        "bishop": ("noEa", "soEa", "soWe", "noWe"),
        "queen": DIR8,
    }
)


def directions(name: str) -> tuple[str, ...]:
    """The directions that a direction's or a set's name stands for, matched without regard to case.

    >>> directions("noea"), directions("vertical")
    (('noEa',), ('sout', 'nort'))
    """
    for single in DIR8:
        if single.lower() == name.lower():
            return (single,)
    if name.lower() in SETS:
        return SETS[name.lower()]
    raise ValueError(f"no direction {name!r}: choose one of {', '.join((*DIR8, *SETS))}")


def lines(direction: str) -> Iterator[list[int]]:
    """The lines of the board along one direction, each as its squares in walking order.

    >>> next(lines("east")), sorted(len(line) for line in lines("noEa"))[-2:]
    ([0, 1, 2, 3, 4, 5, 6, 7], [7, 8])
    """
    for start in range(64):
        file, rank = start % 8, start // 8
        file_step, rank_step = DIRECTIONS[direction]
        if 0 <= file - file_step < 8 and 0 <= rank - rank_step < 8:
            continue  # not where a line begins
        line = []
        while 0 <= file < 8 and 0 <= rank < 8:
            line.append(8 * rank + file)
            file, rank = file + file_step, rank + rank_step
        yield line


def occluded(direction: str, sliders: W, empty: W) -> W:
    """The sliders, and every empty square that one of them reaches through empty squares.

    >>> f"{occluded('east', 1 << 1, 0b11110100):08b}"
    '00000110'
    """
    return _union(_walk(single, sliders, empty, arriving=False) for single in directions(direction))


def attacks(direction: str, sliders: W, empty: W) -> W:
    """Every square that one of the sliders reaches with all squares strictly between them empty.

    >>> f"{attacks('east', 1 << 1, 0b11110100):08b}"
    '00001100'
    """
    return _union(_walk(single, sliders, empty, arriving=True) for single in directions(direction))


def _walk(direction: str, sliders: W, empty: W, arriving: bool) -> W:
    """Walks each line of the board once; the wave is one bit: does a ray arrive at, or leave, this square?"""
    found = []
    for first, *rest in lines(direction):
        leaving = _square(sliders, first)
        if not arriving:
            found.append(leaving << first)
        for square in rest:
            arrives = leaving
            leaving = _square(sliders, square) | (arrives & _square(empty, square))
            found.append((arrives if arriving else leaving) << square)
    return _clip(_union(found))


def step(direction: str, board: W) -> W:
    """Every square that lies one step from one of the board's squares.

    >>> hex(step("noWe", 0xFF)), hex(step("queen", 1))
    ('0x7f00', '0x302')
    """
    return _clip(
        _union(
            _square(board, before) << square
            for single in directions(direction)
            for line in lines(single)
            for before, square in pairwise(line)
        )
    )


def empty_fill(direction: str, sliders: W) -> W:
    """The occluded fill on an empty board."""
    return occluded(direction, sliders, _all(sliders))


def empty_attacks(direction: str, sliders: W) -> W:
    """The attacks on an empty board."""
    return attacks(direction, sliders, _all(sliders))


def union(rooks: W, bishops: W, empty: W) -> W:
    """What rooks attack along ranks and files, and bishops along diagonals; queens belong to both."""
    orthogonal, diagonal = pair(rooks, bishops, empty)
    return orthogonal | diagonal


def pair(rooks: W, bishops: W, empty: W) -> tuple[W, W]:
    """The orthogonal attacks of the rooks and the diagonal attacks of the bishops."""
    return attacks("rook", rooks, empty), attacks("bishop", bishops, empty)


def rays(rooks: W, bishops: W, empty: W) -> tuple[W, ...]:
    """The attacks of the eight directions apart, in the order of dir8."""
    return tuple(attacks(single, rooks if single in SETS["rook"] else bishops, empty) for single in DIR8)


def pieces(rooks: W, bishops: W, queens: W, occupied: W) -> tuple[W, W, W]:
    """The attacks of the rooks, of the bishops and of the queens; none of the three sets holds another's pieces."""
    empty = _clip(~occupied)
    return attacks("rook", rooks, empty), attacks("bishop", bishops, empty), attacks("queen", queens, empty)


def from_square(piece: str, square: W, free: W, files: Files = "little") -> W:
    """What a slider of these directions on one square attacks; the state of its own square does not matter.

    With `files="big"` squares and boards are numbered h1 = 0, g1 = 1, a1 = 7, h2 = 8, which tells on single directions
    only: whole pieces are symmetric. `square` is below 64.

    >>> hex(from_square("rook", 0, ALL ^ 1 << 8)), hex(from_square("rook", 0, ALL ^ 1 << 8, "big"))
    ('0x1fe', '0x1fe')
    >>> hex(from_square("bishop", 7, ALL)), hex(from_square("bishop", 7, ALL, "big"))
    ('0x102040810204000', '0x102040810204000')
    """
    if isinstance(square, int):
        return _from_one_square(piece, square, free, files)
    # Whatever the square is: exactly one of the 64 conditions holds.
    return _union(_from_one_square(piece, one, free, files) & _where(square, one, 6) for one in range(64))


def _from_one_square(piece: str, square: int, free: W, files: Files) -> W:
    number = [place if files == "little" else 8 * (place // 8) + 7 - place % 8 for place in range(64)]
    found: W = free ^ free
    for single in directions(piece):
        for line in lines(single):
            numbered = [number[place] for place in line]
            if square not in numbered:
                continue
            arrives = (free ^ free) | 1
            for reached in numbered[numbered.index(square) + 1 :]:
                found = found | (arrives << reached)
                arrives = arrives & _square(free, reached)
    return _clip(found)


def add(x: W, y: W) -> W:
    """The sum modulo 2 to the 64th."""
    return _clip(x + y)


def bytewise_add(x: W, y: W) -> W:
    """The sums of the eight bytes, each modulo 256.

    >>> hex(bytewise_add(0x01FF, 0x0101))
    '0x200'
    """
    return _bytewise(x, y, lambda a, b: a + b)


def bytewise_sub(x: W, y: W) -> W:
    """The differences of the eight bytes, each modulo 256.

    >>> hex(bytewise_sub(0x0200, 0x0101))
    '0x1ff'
    """
    return _bytewise(x, y, lambda a, b: a - b)


def specification(name: str, direction: str = "", given: Given = "empty") -> Callable[..., tuple[Any, ...]]:
    """The specification of that name as a function from words to a tuple of words.

    Names and parameters (a direction, a set of them, or `any`, which puts dir8 behind the other parameters):

    attacks, occluded (sliders, empty); empty-fill, empty-attacks, step (sliders);
    union, pair, rays (rooks, bishops, empty); pieces (rooks, bishops, queens, empty);
    from-square, from-square-big-endian (square, free), direction rook, bishop or queen;
    add, bytewise-add, bytewise-sub (x, y).

    With given="occupied" the squares that are not empty stand in the place of `empty` or `free`. Raises ValueError for
    a name or direction that there is not.

    >>> specification("pair", given="occupied")(1, 2, 3)[1] == attacks("bishop", 2, ALL ^ 3)
    True
    """
    key = name.lower()
    if key in _DIRECTED:
        function, board = _DIRECTED[key]
        if direction.lower() == "any":
            return _tupled(_at_run_time(function), -2 if board and given == "occupied" else None)
        directions(direction)
        return _tupled(lambda *words: function(direction, *words), -1 if board and given == "occupied" else None)
    if key in _WHOLE:
        return _tupled(_WHOLE[key], -1 if (given == "occupied") != (key == "pieces") else None)
    if key in ("from-square", "from-square-big-endian"):
        directions(direction)
        files: Files = "big" if key.endswith("big-endian") else "little"
        return _tupled(
            lambda square, free: from_square(direction, square, free, files), -1 if given == "occupied" else None
        )
    if key in _ARITHMETIC:
        return _tupled(_ARITHMETIC[key], None)
    names = (*_DIRECTED, *_WHOLE, "from-square", "from-square-big-endian", *_ARITHMETIC)
    raise ValueError(f"no specification {name!r}: choose one of {', '.join(names)}")


# Name to function, and whether its last parameter is a board of empty squares.
_DIRECTED: Mapping[str, tuple[Callable[..., Any], bool]] = MappingProxyType(
    {
        "attacks": (attacks, True),
        "occluded": (occluded, True),
        "empty-fill": (empty_fill, False),
        "empty-attacks": (empty_attacks, False),
        "step": (step, False),
    }
)
_WHOLE: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"union": union, "pair": pair, "rays": rays, "pieces": pieces}
)
_ARITHMETIC: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"add": add, "bytewise-add": bytewise_add, "bytewise-sub": bytewise_sub}
)


def _tupled(function: Callable[..., Any], complemented: int | None) -> Callable[..., tuple[Any, ...]]:
    """The function with one of its arguments complemented and its result as a tuple."""

    def called(*words: Any) -> tuple[Any, ...]:
        given = list(words)
        if complemented is not None:
            given[complemented] = _clip(~given[complemented])
        result = function(*given)
        return result if isinstance(result, tuple) else (result,)

    return called


def _at_run_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a direction, with that direction as its last parameter: an index into DIR8."""

    def called(*words: Any) -> Any:
        *boards, dir8 = words
        if isinstance(dir8, int):
            return function(DIR8[dir8], *boards)
        return _union(function(single, *boards) & _where(dir8, number, 3) for number, single in enumerate(DIR8))

    return called


def _square(board: W, square: int) -> W:
    """1 where the square is in the board, else 0."""
    return (board >> square) & 1


def _clip(board: W) -> W:
    """Python's integers have no end: keep 64 bits of them."""
    return board & ALL


def _all(board: W) -> W:
    return _clip(~(board ^ board))


def _union(words: Iterable[W]) -> W:
    return reduce(lambda one, other: one | other, words)


def _where(word: W, number: int, bits: int) -> W:
    """All ones where the lowest bits of `word` are `number`, else 0."""
    same = (word ^ word) | 1
    for bit in range(bits):
        same = same & (_square(word, bit) ^ (1 - (number >> bit & 1)))
    return (word ^ word) - same


def _bytewise(x: W, y: W, operation: Callable[[W, W], W]) -> W:
    return _clip(
        _union((operation((x >> place) & 0xFF, (y >> place) & 0xFF) & 0xFF) << place for place in range(0, 64, 8))
    )
