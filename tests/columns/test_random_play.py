"""Random play as python-chess knows it: every move is legal, every legal move is played, each as often as any other."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from setwise.codegen.run.executable import runnable
from tests.columns.random_play import DRAWS, LONGEST, START, Boards, columns, play
from tests.conftest import require_module

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here")]

POSITIONS = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w - - 0 1",
    "4k3/8/8/8/7b/8/3R1n2/4K3 w - - 0 1",
)


def seen(board: Any) -> Boards:
    """A position as the side to move sees it."""
    upright = board if board.turn else board.mirror()
    own, theirs = upright.occupied_co[True], upright.occupied_co[False]
    bishops, rooks = upright.bishops | upright.queens, upright.rooks | upright.queens
    return np.array([own, theirs, upright.pawns, upright.knights, bishops, rooks, upright.kings], np.uint64)


def position(boards: Boards) -> Any:
    """The position again, with whoever is to move as White."""
    chess = require_module("chess")
    own, theirs, pawns, knights, bishops, rooks, kings = map(int, boards)
    board = chess.Board(None)
    board.occupied, board.occupied_co = own | theirs, [theirs, own]
    board.pawns, board.knights, board.kings = pawns, knights, kings
    board.bishops, board.rooks, board.queens = bishops & ~rooks, rooks & ~bishops, bishops & rooks
    return board


def after(board: Any) -> set[tuple[int, ...]]:
    """The positions after all its legal moves."""
    reached = set()
    for move in board.legal_moves:
        board.push(move)
        reached.add(tuple(seen(board).tolist()))
        board.pop()
    return reached


def test_games_begin_as_those_of_chess() -> None:
    assert (seen(require_module("chess").Board()) == START).all()


@pytest.mark.parametrize("fen", POSITIONS)
def test_every_legal_move_is_played_as_often_as_any_other(fen: str) -> None:
    """A pawn's four promotions share what another move gets."""
    board = require_module("chess").Board(fen)
    [(boards, black, legal)] = islice(play(20_000, 1, seen(board)), 1)
    assert black.tolist() == legal.tolist()
    assert {tuple(start) for start in boards[:, ~legal].T.tolist()} <= {tuple(seen(board).tolist())}
    played, often = np.unique(boards[:, legal], axis=1, return_counts=True)
    assert set(map(tuple, played.T.tolist())) == after(board)
    promotions = sum(move.promotion is not None for move in board.legal_moves)
    usual = legal.sum() / (board.legal_moves.count() - promotions * 3 / 4)
    expected = np.sort([usual / 4] * promotions + [usual] * (len(often) - promotions))
    assert (abs(np.sort(often) - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize(
    ("fen", "half_moves", "ends"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", LONGEST + 50, {"length"}),
        ("7k/7p/5Q2/8/8/8/6QP/7K w - - 0 1", 2 * LONGEST, {"length", "no legal move"}),
    ],
    ids=["from the start", "two queens"],
)
def test_games_from_beginning_to_end(fen: str, half_moves: int, ends: set[str]) -> None:
    """Every move is legal, and a game that has ended begins anew."""
    start, games = seen(require_module("chess").Board(fen)), 5
    ended, befores, lengths, draws = set(), [start] * games, [0] * games, [0] * games
    for boards, black, legal in islice(play(games, 2, start), half_moves):
        for game, (before, now) in enumerate(zip(befores, boards.T, strict=True)):
            if lengths[game] == LONGEST or draws[game] == DRAWS:
                ended.add("length" if lengths[game] == LONGEST else "no legal move")
                before, lengths[game], draws[game] = start, 0, 0
            assert tuple(now.tolist()) in (after(position(before)) if legal[game] else {tuple(before.tolist())})
            lengths[game], draws[game] = (lengths[game] + 1, 0) if legal[game] else (lengths[game], draws[game] + 1)
            assert black[game] == lengths[game] % 2
            befores[game] = now
    assert ended == ends


def test_columns_are_the_same_for_the_same_seed_and_of_so_many_rows() -> None:
    first, again, other = (np.concatenate([*columns(5000, seed)], axis=1) for seed in (3, 3, 4))
    assert first.shape == (3, 5000)
    assert (first == again).all()
    assert (first != other).any()
    rooks, bishops, occupied = first
    assert ((rooks | bishops) & ~occupied == 0).all()
