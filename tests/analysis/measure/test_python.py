"""Calls from Python: what is timed, and that what stands beside a kernel gives what the kernel gives."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise

import pytest

import setwise
from setwise.analysis.measure import fills, python
from setwise.analysis.measure.calls import CHESS, COPY, FILL, FOREIGN, LOOP, NUMBA, OURS, OUT, by_turns, timer
from setwise.codegen.run.executable import runnable

pytestmark = pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here")
has_numba = pytest.mark.skipif(find_spec("numba") is None, reason="not run: numba is missing, the benchmark's alone")


@pytest.mark.parametrize("by", [FILL, CHESS, pytest.param(NUMBA, marks=[has_numba, pytest.mark.slow])])
def test_other_fills_give_what_the_kernel_gives(by: str) -> None:
    given = python.positions(300)
    made = python.other_fills()[0][by](*given)()
    assert list(map(int, made)) == setwise.kernel(python.UNION, "x86-64")(*given).tolist()


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(fills, "import_module", absent)
    made, not_run = python.other_fills()
    assert made.keys() == {FILL}
    assert not_run == [f"{name} is not run: pip install 'setwise[bench]'" for name in (NUMBA, CHESS)]


def test_positions_are_of_a_game() -> None:
    for rooks, bishops, occupied in zip(*(each.tolist() for each in python.positions(5000)), strict=True):
        assert (rooks | bishops) & ~occupied == 0
    assert python.positions(7)[0].tolist() == python.positions(7)[0].tolist()


@pytest.mark.slow
def test_every_call_has_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "other_fills", lambda: ({FILL: fills.by_numpy}, ["told"]))
    monkeypatch.setattr(python, "LENGTHS", (1, 512))
    monkeypatch.setattr(python.os, "cpu_count", lambda: 3)
    told: list[str] = []
    calls, not_run = python.measure(0, told.append)
    assert not_run == ["told"]
    assert told[-1] == "arrays of 512 boards"
    wanted = {(by, name, 0, 1) for by in (OURS, FOREIGN) for name in python.CALLED}
    for boards in (1, 512):
        wanted |= {(by, python.UNION, boards, threads) for by in (OURS, OUT) for threads in (1, 2, 3)}
        wanted |= {(by, python.UNION, boards, 1) for by in (FILL, COPY)}
    wanted |= {(LOOP, python.UNION, boards, 1) for boards in (0, 512)}
    assert {(call.by, call.routine, call.boards, call.threads) for call in calls} == wanted
    assert len(calls) == len(wanted)
    assert all(0 < call.fastest <= call.median for call in calls)


def test_what_is_compared_takes_turns() -> None:
    order: list[str] = []
    made = by_turns({name: timer(order.append, (name,)) for name in "ab"}, 0)
    assert made.keys() == {"a", "b"}
    assert sum(left != right for left, right in pairwise(order)) >= 7  # made, timed once, three trials each
