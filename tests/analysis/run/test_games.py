"""Kernels, run natively, against python-chess on every position of some famous games."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from setwise.codegen.board import ALL
from setwise.codegen.catalogue import catalogue
from setwise.codegen.ir.routine import Routine
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.run.call import best_isa, missing
from setwise.codegen.run.executable import runnable
from setwise.codegen.run.function import Function
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused
from tests.conftest import require_module

GAMES = Path(__file__).parents[2] / "data" / "games.pgn"
STEPS = {
    "noEa": (1, 1), "east": (1, 0), "soEa": (1, -1), "sout": (0, -1),
    "soWe": (-1, -1), "west": (-1, 0), "noWe": (-1, 1), "nort": (0, 1),
}  # fmt: skip
DIRECTED = [
    routine
    for routine in catalogue().values()
    if routine.direction in STEPS
    and routine.contract.specification in ("attacks", "occluded")
    and [parameter.kind for parameter in routine.contract.parameters] == ["board", "empty"]
]
pytestmark = pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here")


@dataclass(frozen=True)
class Seen:
    """The board as one side sees it: all pieces; by direction the sliders that go that way, and what they attack."""

    occupied: int
    sliders: Mapping[str, int]
    attacks: Mapping[str, int]


@cache
def seen() -> tuple[Seen, ...]:
    """Each side's view of each position."""
    return tuple(_seen())


def _seen() -> Iterator[Seen]:
    chess, pgn = require_module("chess"), require_module("chess.pgn")
    text = io.StringIO(GAMES.read_text(encoding="utf-8"))
    while (game := pgn.read_game(text)) is not None:
        assert not game.errors
        board = game.board()
        for move in [None, *game.mainline_moves()]:
            if move is not None:
                board.push(move)
            for side in chess.COLORS:
                own = board.occupied_co[side]
                sliders = {
                    name: own & (board.queens | (board.rooks if 0 in step else board.bishops))
                    for name, step in STEPS.items()
                }
                attacks = {name: _attacks(chess, board, sliders[name], step) for name, step in STEPS.items()}
                yield Seen(board.occupied, sliders, attacks)


def _attacks(chess: Any, board: Any, sliders: int, step: tuple[int, int]) -> int:
    """What these sliders attack that way, by python-chess' own attack tables."""
    attacked = 0
    for square in chess.scan_forward(sliders):
        for target in chess.scan_forward(board.attacks_mask(square)):
            files = chess.square_file(target) - chess.square_file(square)
            ranks = chess.square_rank(target) - chess.square_rank(square)
            if ((files > 0) - (files < 0), (ranks > 0) - (ranks < 0)) == step:
                attacked |= 1 << target
    return attacked


def test_the_games_are_all_there() -> None:
    assert len(seen()) > 600
    for name in STEPS:
        assert sum(view.attacks[name] != 0 for view in seen()) > 300


@pytest.mark.parametrize("routine", DIRECTED, ids=lambda routine: str(routine.name))
def test_attacks_in_games(routine: Routine) -> None:
    function = Function(lower(routine, best_isa(routine), "sysv"))
    compare_with_chess(routine, function)


@pytest.mark.slow
@pytest.mark.parametrize("routine", DIRECTED, ids=lambda routine: str(routine.name))
def test_every_kernels_attacks_in_games(routine: Routine) -> None:
    for isa in routine.isas:
        for abi in CONVENTIONS:
            if missing(TARGETS[isa]):
                continue
            try:
                kernel = lower(routine, isa, abi)
            except Refused:
                continue
            compare_with_chess(routine, Function(kernel))


def compare_with_chess(routine: Routine, function: Function) -> None:
    for view in seen():
        sliders, attacks = view.sliders[routine.direction], view.attacks[routine.direction]
        empty = ALL ^ view.occupied
        expected = attacks if routine.contract.specification == "attacks" else sliders | attacks & empty
        assert function(sliders, empty) == expected
