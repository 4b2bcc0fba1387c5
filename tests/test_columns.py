"""Attack maps beside columns of positions: the same from every engine, and what the ray-walk and python-chess say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setwise
from setwise.analysis.report.columns import RECORD
from setwise.codegen.run.executable import runnable
from tests.columns import measure, random_play
from tests.conftest import require_module

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here"),
]

ROWS, GROUP = 10_000, 500
MODULES = ("chess", "pyarrow", "duckdb", "polars", "distributed")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Positions of random play."""
    require_module("pyarrow")
    path = str(tmp_path_factory.mktemp("columns") / "positions.parquet")
    random_play.write(path, ROWS, seed=17, group=GROUP)
    return path


@pytest.fixture
def target(tmp_path: Path) -> str:
    return str(tmp_path / "attacks.parquet")


def keep(path: str, **each: Any) -> None:
    """A file with these columns."""
    require_module("pyarrow.parquet").write_table(require_module("pyarrow").table(each), path)


def test_python_chess_says_so_of_every_row_and_the_ray_walk_of_200(source: str, target: str) -> None:
    require_module("chess")
    keep(target, attacks=setwise.kernel(measure.KERNEL)(*measure.boards_in(source)))
    measure.judge(source, target, ROWS, 200)


@pytest.mark.parametrize("says", ["python-chess", "the ray-walk"])
def test_one_wrong_bit_is_seen(says: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("chess")
    few, target = str(tmp_path / "positions.parquet"), str(tmp_path / "attacks.parquet")
    boards = [column[-50:] for column in measure.boards_in(source)]
    attacks = setwise.kernel(measure.KERNEL)(*boards)
    attacks[7] ^= np.uint64(1 << 35)
    keep(few, **dict(zip(measure.NAMES, boards, strict=True)))
    keep(target, attacks=attacks)
    if says == "the ray-walk":  # python-chess is wrong in the same bit
        wrong = dict(zip(zip(*(column.tolist() for column in boards), strict=True), attacks.tolist(), strict=True))
        monkeypatch.setattr(measure, "by_chess", lambda *position: wrong[position])
    with pytest.raises(SystemExit, match=f"^row 7: {says} says otherwise$"):
        measure.judge(few, target, 50, 50)


@pytest.mark.parametrize("engine", sorted(measure.ENGINES.keys() - {"dask"}))
def test_every_engine_gives_the_same(engine: str, source: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Dask with one of its workers killed when half of the tasks are done; undisturbed it runs in docs/columns.md."""
    require_module("distributed" if engine.startswith("dask") else engine)
    expected = setwise.kernel(measure.KERNEL)(*measure.boards_in(source))
    measure.alone(engine, source, target)
    np.testing.assert_array_equal(measure.attacks_in(target), expected)
    assert json.loads(capsys.readouterr().out)["sha256"] == measure.digest(expected)


def test_engines_that_differ_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODULES:
        require_module(name)

    def said(module: str, *arguments: str) -> str:
        return json.dumps({"seconds": 1.0, "memory": 1, "sha256": "killed" in str(arguments)})

    monkeypatch.setattr(measure, "_process", said)
    with pytest.raises(SystemExit, match=r"^different outputs: "):
        measure.measured(ROWS, tmp_path, 1)


@pytest.mark.long
def test_ten_million_positions_give_what_the_reports_say(tmp_path: Path) -> None:
    for name in MODULES:
        require_module(name)
    said = RECORD.read(Path(__file__).parents[1] / "reports")
    assert said is not None
    assert said.positions == 10_000_000
    again = measure.measured(said.positions, tmp_path, 1)
    if again.versions["numpy"] == said.versions["numpy"]:  # another one may draw otherwise
        assert again.sha256 == said.sha256
    assert [each.engine for each in again.through] == [each.engine for each in said.through]
