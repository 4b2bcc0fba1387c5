"""Exploding bitboards: the attacks of one piece spread along all its rays at once, by multiplication.

Source: Exploding Bitboards, chessprogramming wiki (2018), from Harald Luessen's engine Elephant. The page numbers
squares from h1 = 0 to a8 = 63 (big-endian files). The attacks of a whole piece are the same arithmetic in either file
order, since the board is only mirrored. `direction` distinguishes left from right: its tables of files depend on the
order.

This file departs from the page in three places:
* rookAttacks shifts by `sq - 6` for squares below 6, which is undefined in C; here the count is modulo 64, as on x86.
* The switch of rookAttacks closes a brace too early. Its default case is unreachable: the table holds only 3 to 8.
* rankR is indexed by `a1a8 & 0x7e`, whose lowest bit is never set; here `>> 1` halves the table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from setwise.codegen.ir.control import Body, below, switch, table, when
from setwise.codegen.ir.values import ALL, Value, constant
from setwise.codegen.numbering import Numbering

BISHOP_STEPS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
ROOK_STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))

# For each place on a line of eight squares: the squares of the longer ray along the line, minus one.
_ON_LINE = tuple(max(place, 7 - place) - 1 for place in range(8))
# The page's tables, by square: the number of explosions. 7 (a rook on file 0) and 8 (on file 7) mean six.
BISHOP_REPEATS = tuple(min(rank, file) for rank in _ON_LINE for file in _ON_LINE)
ROOK_REPEATS = tuple(repeats for rank in _ON_LINE for repeats in (7, *(max(rank, file) for file in _ON_LINE[1:7]), 8))

RANKS_ABOVE = tuple(ALL & (ALL << 8 * (rank + 1)) for rank in range(8))
RANKS_BELOW = tuple((1 << 8 * rank) - 1 for rank in range(8))
"""The ranks above and below each rank (`dirMaskUp`, `dirMaskDown`)."""


def bishop(square: Value, free: Value) -> Value:
    """Return the attacks of a bishop (`bishopAttacks`). The switch on the number of explosions falls through."""
    # The bodies are the cases of 6, 5, 4 and 3 explosions, in this order.
    case = table([6 - repeats for repeats in BISHOP_REPEATS], square, size=1)
    return _along_diagonals(square, free, case, (1, 1, 1, 3))


def bishop_corners(square: Value, repeats: Value, free: Value) -> Value:
    """Return the attacks of a bishop, as far as the number of explosions that `repeats` encodes finds them.

    3 to 6 mean that many explosions, and 7, 8 and 9 mean 0, 1 and 2. The page names 7, 8 and 9 but gives no code for
    them. 0, 1 and 2 give no explosion. `repeats` must be below 10.
    """
    # The bodies are the cases of the numbers 6, 5, 4, 3, 9, 8 and 7, in this order.
    case = table([6, 6, 6, 3, 2, 1, 0, 6, 5, 4], repeats, size=1)
    return _along_diagonals(square, free, case, (1, 1, 1, 1, 1, 1, 0))


def _along_diagonals(square: Value, free: Value, case: Value, explosions: Sequence[int]) -> Value:
    """Return the adjacent squares and those that explosions reach, as many as the sum of `explosions[case:]`."""
    mask = table(reached(BISHOP_STEPS, 7), square)
    first = table(reached(BISHOP_STEPS, 1), square)

    def explode(attacks: Value, board: Value) -> tuple[Value, ...]:
        board >>= 9
        board *= 0x0005_0005
        board &= mask
        attacks |= board
        board &= free
        return attacks, board

    bodies = [_times(explode, number) for number in explosions]
    return switch(case, bodies, first, first & free, falls=True)[0]


def one_by_one(board: Value, free: Value, clear: Value) -> Value:
    """Return the free squares of the board that are not in `clear`, by two masks, one after the other."""
    board &= free
    board &= ~clear
    return board


def beside(board: Value, free: Value, clear: Value) -> Value:
    """Return the free squares of the board that are not in `clear`, with one operation after the board is known."""
    return board & ~(~free | clear)


Keep = Callable[[Value, Value, Value], Value]
"""A function of (board, free, clear) that keeps the free squares of an explosion that are not in `clear`."""


def rook(square: Value, free: Value, keep: Keep = one_by_one) -> Value:
    """Return the attacks of a rook (`rookAttacks`): a first explosion that depends on the square, then others."""
    # After the first explosion, table entries 6 to 8 give five more explosions, 5 gives four, 4 three, and 3 two.
    rounds = table([5 - min(r - 1, 5) for r in ROOK_REPEATS], square, size=1)
    return _with_first_rank(square, free, _along_lines(square, free, rounds, (1, 1, 1, 2), keep))


def rook_corners(square: Value, repeats: Value, free: Value, keep: Keep = one_by_one) -> Value:
    """Return the attacks of a rook, as far as the number of explosions that `repeats` encodes finds them.

    3 to 8 are as in the page's table: 3, 4, 5, or for 6 to 8 six explosions. 9, 10 and 11 mean 0, 1 and 2. The page
    names these three but gives no code for them. 0, 1 and 2 give no explosion. `repeats` must be below 12. The first
    explosion depends on `square`, as in `rook`. On the first rank, attacks along the rank are complete in any case.
    """
    # Explosions after the first: five for 6 to 8, four for 5, three for 4, two for 3, one for 11, none for 10.
    rounds = table([6, 6, 6, 3, 2, 1, 0, 0, 0, 6, 5, 4], repeats, size=1)

    def explode(_: Value) -> tuple[Value, ...]:
        return (_along_lines(square, free, rounds, (1, 1, 1, 1, 1, 0), keep),)

    (attacks,) = when(below(rounds, 6), explode, table(reached(ROOK_STEPS, 1), square))
    return _with_first_rank(square, free, attacks)


def _along_lines(square: Value, free: Value, rounds: Value, explosions: Sequence[int], keep: Keep) -> Value:
    """Return the adjacent squares and those that explosions reach: one, and the sum of `explosions[rounds:]` more."""
    mask = table(reached(ROOK_STEPS, 7), square)
    first = table(reached(ROOK_STEPS, 1), square)
    start = (first & free) >> 8

    def clear_south_west(board: Value) -> Value:
        return board & ~(constant(1) << (square - 6))

    def merge_overflow(board: Value) -> Value:
        overflow = constant(1) << (square + 3)
        board |= (board & overflow) >> 1
        return board & ~overflow

    def case(factor: int, *fixes: Callable[[Value], Value]) -> Callable[[Value], tuple[Value, ...]]:
        def body(board: Value) -> tuple[Value, ...]:
            board *= factor
            for fix in fixes:
                board = fix(board)
            return (board,)

        return body

    three = case(0x0001_0281, merge_overflow)
    cases = (
        three,
        three,
        case(0x0001_0281, merge_overflow, clear_south_west),
        case(0x0001_0281, clear_south_west),
        case(0x0001_0201),
        case(0x0001_0081),
    )
    (board,) = switch(table([r - 3 for r in ROOK_REPEATS], square, size=1), cases, start)
    board &= mask
    attacks = first | board

    def explode(attacks: Value, board: Value, clear: Value) -> tuple[Value, ...]:
        board = keep(board, free, clear)
        board >>= 8
        board *= 0x0001_0281
        board &= mask
        return attacks | board, board, attacks

    bodies = [_times(explode, number) for number in explosions]
    return switch(rounds, bodies, attacks, board, first, falls=True)[0]


def _times(explode: Callable[..., tuple[Value, ...]], number: int) -> Body:
    def body(*carried: Value) -> tuple[Value, ...]:
        for _ in range(number):
            carried = explode(*carried)
        return carried

    return body


def _with_first_rank(square: Value, free: Value, attacks: Value) -> Value:
    """Return the attacks, with those along the rank added from a table if the square is on the first rank."""

    def first_rank(attacks: Value) -> tuple[Value, ...]:
        inner = (free & 0x7E) >> 1
        return (attacks | table(rank_attacks(), (square << 6) + inner, size=1),)

    return when(below(square, 8), first_rank, attacks)[0]


def orthogonal(square: Value, white: Value, black: Value, keep: Keep = one_by_one) -> Value:
    """Return the attacks along rank and file from a square, given both sides' pieces (`orthogonal_attacks`)."""
    return rook(square, ~(white | black), keep)


def diagonal(square: Value, white: Value, black: Value) -> Value:
    """Return the attacks along diagonals from a square, given both sides' pieces (`diagonal_attacks`)."""
    return bishop(square, ~(white | black))


def direction(
    square: Value, number: Value, white: Value, black: Value, keep: Keep = one_by_one, *, numbering: Numbering
) -> Value:
    """Return the attacks of a queen in one direction only (`direction_attacks`).

    `number` is 1 to 8 in the order 4 3 2 / 5 - 1 / 6 7 8, north on top, in either `numbering`. Others have no attacks.
    """
    free = ~(white | black)
    file, rank = square & 7, square >> 3
    right = table(files_beyond(numbering, right=True), file)
    left = table(files_beyond(numbering, right=False), file)
    up, down = table(RANKS_ABOVE, rank), table(RANKS_BELOW, rank)
    sides = {1: (right,), 5: (left,), 7: (down,), 3: (up,)}
    corners = {8: (right, down), 4: (left, up), 2: (right, up), 6: (left, down)}

    def narrowed(*masks: Value) -> Callable[[Value], tuple[Value, ...]]:
        def body(attacks: Value) -> tuple[Value, ...]:
            for mask in masks:
                attacks &= mask
            return (attacks,)

        return body

    def of(piece: Callable[[Value, Value], Value], cases: Mapping[int, tuple[Value, ...]]) -> tuple[Value, ...]:
        bodies = [narrowed(*cases[n]) for n in sorted(cases)]
        return switch((number - min(cases)) >> 1, bodies, piece(square, free))

    def named(attacks: Value) -> tuple[Value, ...]:
        even, odd = lambda _: of(bishop, corners), lambda _: of(partial(rook, keep=keep), sides)
        return switch(number & 1, (even, odd), attacks)

    return when(below(number - 1, 8), named, constant(0))[0]


def reached(steps: tuple[tuple[int, int], ...], farthest: int) -> list[int]:
    """Return for each square the squares 1 to `farthest` repetitions of one of `steps` away (`initB` 1, `maskB` 7)."""
    return [sum(1 << at for step in steps for at in _walk(square, *step, farthest)) for square in range(64)]


def _walk(square: int, rank_step: int, file_step: int, farthest: int) -> Iterator[int]:
    for n in range(1, farthest + 1):
        rank, file = square // 8 + n * rank_step, square % 8 + n * file_step
        if 0 <= rank <= 7 and 0 <= file <= 7:
            yield 8 * rank + file


def rank_attacks() -> list[int]:
    """Return the attacks along the first rank at index 64 * file + (free squares of the six inner files >> 1)."""
    entries = []
    for square in range(8):
        for inner in range(64):
            free = inner << 1
            attacks = 0
            for path in (range(square - 1, -1, -1), range(square + 1, 8)):
                for reached in path:
                    attacks |= 1 << reached
                    if not free >> reached & 1:
                        break
            entries.append(attacks)
    return entries


def files_beyond(numbering: Numbering, *, right: bool) -> list[int]:
    """Return for each file number the board of all files east of it (`dirMaskRight`), or if not `right` west of it."""
    higher = right == (numbering.numbers[0] < numbering.numbers[1])
    beyond = [range(f + 1, 8) if higher else range(f) for f in range(8)]
    return [sum(0x0101_0101_0101_0101 << file for file in row) for row in beyond]
