"""All that one side's sliders attack, as one would have it in Python without setwise: NumPy, numba, python-chess.

A fill takes rooks, bishops and occupied squares as arrays of uint64, queens among both, as `sliders.union` does, and
gives a call that is ready to be timed. Modules are loaded when they are asked for: `pip install 'setwise[bench]'` has
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from setwise.codegen.run.arrays import Boards

Fill = Callable[..., "partial[Any]"]

_ONE, _SEVEN, _EIGHT, _NINE = map(np.uint64, (1, 7, 8, 9))
_ALL, _NOT_A, _NOT_H = map(np.uint64, (0xFFFF_FFFF_FFFF_FFFF, 0xFEFE_FEFE_FEFE_FEFE, 0x7F7F_7F7F_7F7F_7F7F))


def kogge_stone(compiled: Callable[[Any], Any] = lambda function: function) -> Any:
    """The literature's attacks by Kogge-Stone, eight rays one by one: a function on words or on arrays of them.

    `compiled` is what a compiler does to each function.
    """

    @compiled
    def up(sliders: Any, empty: Any, inner: Any, step: Any) -> Any:
        free = empty & inner
        sliders = sliders | free & sliders << step
        free = free & free << step
        sliders = sliders | free & sliders << step + step
        free = free & free << step + step
        sliders = sliders | free & sliders << step + step + step + step
        return sliders << step & inner

    @compiled
    def down(sliders: Any, empty: Any, inner: Any, step: Any) -> Any:
        free = empty & inner
        sliders = sliders | free & sliders >> step
        free = free & free >> step
        sliders = sliders | free & sliders >> step + step
        free = free & free >> step + step
        sliders = sliders | free & sliders >> step + step + step + step
        return sliders >> step & inner

    @compiled
    def union(rooks: Any, bishops: Any, occupied: Any) -> Any:
        empty = ~occupied
        attacked = up(rooks, empty, _ALL, _EIGHT) | down(rooks, empty, _ALL, _EIGHT)
        attacked = attacked | up(rooks, empty, _NOT_A, _ONE) | down(rooks, empty, _NOT_H, _ONE)
        attacked = attacked | up(bishops, empty, _NOT_A, _NINE) | down(bishops, empty, _NOT_H, _NINE)
        return attacked | up(bishops, empty, _NOT_H, _SEVEN) | down(bishops, empty, _NOT_A, _SEVEN)

    return union


def by_numpy(*given: Boards) -> partial[Any]:
    """The fill on whole arrays, an operation after the other."""
    return partial(kogge_stone(), *given)


def by_numba() -> Fill:
    """The fill board by board, compiled by numba; ModuleNotFoundError where that is not installed."""
    njit = import_module("numba").njit
    union = kogge_stone(njit)

    @njit  # type: ignore[untyped-decorator]
    def over(rooks: Any, bishops: Any, occupied: Any, attacked: Any) -> None:
        for board in range(attacked.size):
            attacked[board] = union(rooks[board], bishops[board], occupied[board])

    def on_arrays(rooks: Boards, bishops: Boards, occupied: Boards) -> Boards:
        attacked = np.empty_like(rooks)
        over(rooks, bishops, occupied, attacked)
        return attacked

    return lambda *given: partial(on_arrays, *given)


def by_chess() -> Fill:
    """A loop over the sliders of python-chess's boards; ModuleNotFoundError where that is not installed."""
    chess = import_module("chess")

    def board_of(rooks: int, bishops: int, occupied: int) -> Any:
        board = chess.BaseBoard.empty()
        board.rooks, board.bishops, board.queens = rooks & ~bishops, bishops & ~rooks, rooks & bishops
        board.occupied = occupied
        return board

    def attacked(boards: Sequence[Any]) -> list[int]:
        attacks = []
        for board in boards:
            union = 0
            for square in chess.scan_forward(board.rooks | board.bishops | board.queens):
                union |= board.attacks_mask(square)
            attacks.append(union)
        return attacks

    return lambda *given: partial(attacked, list(map(board_of, *(each.tolist() for each in given))))
