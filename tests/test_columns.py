"""Attack maps beside columns of positions: the same from every engine, and what the ray-walk and python-chess say."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setwise
from setwise.analysis.spec import raywalk
from setwise.codegen.run.executable import runnable
from tests.conftest import require_module

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here"),
]

ROWS, CHUNK = 4000, 250


def random_play() -> Iterator[Any]:
    """Positions of games of random moves."""
    chess, moves = require_module("chess"), random.Random(17)
    board = chess.Board()
    for _ in range(ROWS):
        if board.is_game_over() or len(board.move_stack) > 200:
            board = chess.Board()
        board.push(moves.choice([*board.legal_moves]))
        yield board


def attacked_by_chess(board: Any) -> int:
    """What rooks, bishops and queens of the side to move attack, piece by piece."""
    chess, attacked = require_module("chess"), 0
    for kind in (chess.ROOK, chess.BISHOP, chess.QUEEN):
        for square in board.pieces(kind, board.turn):
            attacked |= int(board.attacks(square))
    return attacked


@pytest.fixture(scope="module")
def table() -> Any:
    """Rooks, bishops (queens are in both), occupied squares, and what python-chess says is attacked."""
    pyarrow, rows = require_module("pyarrow"), []
    for board in random_play():
        own = board.occupied_co[board.turn]
        rooks, bishops = ((kind | board.queens) & own for kind in (board.rooks, board.bishops))
        rows.append((rooks, bishops, board.occupied, attacked_by_chess(board)))
    names = ("rooks", "bishops", "occupied", "expected")
    return pyarrow.table(
        {name: np.array(each, np.uint64) for name, each in zip(names, zip(*rows, strict=True), strict=True)}
    )


@pytest.fixture(scope="module")
def path(table: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("columns") / "positions.parquet"
    require_module("pyarrow.parquet").write_table(table, file, row_group_size=1000)
    return file


@pytest.fixture(scope="module")
def union() -> setwise.Function:
    return setwise.kernel("sliders.union")


def arrays(table: Any) -> list[Any]:
    return [column.chunk(0).to_numpy() for column in table.columns]


def test_python_chess_and_the_ray_walk_agree(table: Any, union: setwise.Function) -> None:
    *boards, expected = arrays(table)
    np.testing.assert_array_equal(union(*boards), expected)
    walk = raywalk.specification("union", board="occupied")
    for row in random.Random(5).sample(range(ROWS), 200):
        assert walk(*(int(each[row]) for each in boards)) == (int(expected[row]),)


def test_duckdb(table: Any, path: Path, union: setwise.Function) -> None:
    duckdb, pyarrow = require_module("duckdb"), require_module("pyarrow")

    def attacked(rooks: Any, bishops: Any, occupied: Any) -> Any:
        return pyarrow.array(union(rooks.to_numpy(), bishops.to_numpy(), occupied.to_numpy()))

    with duckdb.connect() as database:
        database.create_function("attacked", attacked, ["UBIGINT"] * 3, "UBIGINT", type="arrow")
        query = f"SELECT count(*) FROM '{path}' WHERE attacked(rooks, bishops, occupied) = expected"
        assert database.sql(query).fetchall() == [(ROWS,)]


def test_polars(table: Any, path: Path, union: setwise.Function) -> None:
    polars = require_module("polars")
    attacked = polars.map_batches(
        ["rooks", "bishops", "occupied"],
        lambda columns: polars.Series(union(*(column.to_numpy() for column in columns))),
        return_dtype=polars.UInt64,
    )
    frame = polars.scan_parquet(path).select(attacked.alias("attacks"), "expected").collect()
    assert frame["attacks"].equals(frame["expected"])


def test_dask_goes_on_when_a_worker_ends(table: Any, union: setwise.Function) -> None:
    distributed = require_module("distributed")
    *boards, expected = arrays(table)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        parts = [[each[start : start + CHUNK] for each in boards] for start in range(0, ROWS, CHUNK)]
        futures = client.map(union, *zip(*parts, strict=True), pure=False)
        next(iter(distributed.as_completed(futures)))
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        np.testing.assert_array_equal(np.concatenate(client.gather(futures)), expected)
