"""The quietest processor, on rows made up: which is chosen, what a quiet row takes, when what was kept is forgotten."""

import os
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import pytest

from setwise.analysis.bench import bench, core_selection
from setwise.analysis.bench.bench import run_by_turns
from setwise.analysis.bench.core_selection import QuietCore, quietest
from setwise.codegen.run.executable import runnable

CALM, BUSY = [1.0] * 20, [1.2, 1.3, 1.25, 1.4] * 5


def test_the_processor_with_most_undisturbed_rows_is_chosen() -> None:
    assert quietest({0: BUSY, 1: CALM}, 1.0) == (1, 1.0, 1.0)
    assert quietest({0: CALM, 1: BUSY}, 1.0) == (0, 1.0, 1.0)
    assert quietest({0: CALM[:8] + BUSY[:12], 1: CALM[:9] + BUSY[:11]}, 1.0) == (1, 1.0, 9 / 20)
    assert quietest({0: [inf] * 20, 1: BUSY}, 1.0)[::2] == (0, 0.0)  # no chains agreed: nothing is undisturbed
    assert quietest({0: [0.76] * 15 + [0.95] * 5, 1: [0.4] + [inf] * 19}, 1.0) == (0, 0.76, 0.75)


def test_a_core_of_more_units_must_not_lose_them_unseen() -> None:
    """Where four of six units are left, four additions still go through: on a quiet core more do."""
    six, shared = [0.76] * 20, [0.98] * 20
    assert quietest({0: shared, 1: six}, 1.0) == (1, 0.76, 1.0)
    assert quietest({0: shared}, known=0.76) == (0, 0.76, 0.0)
    assert quietest({0: shared}, known=1.0)[1] == 0.98  # nobody knows better yet


class Clock:
    """Keeps a figure a run, the limit of a quiet core."""

    def __init__(self, _: object) -> None:
        self.blocks: list[float] = []
        self.run = self.blocks.append

    @property
    def kept(self) -> int:
        return len(self.blocks)


JOBS: Any = (None, None)


def seen(monkeypatch: pytest.MonkeyPatch, looks: Sequence[float]) -> None:
    """So long rows take on every look, and every question is one."""
    rows: Iterator[float] = iter([*looks, *[looks[-1]] * 1000])
    monkeypatch.setattr(core_selection, "rows_here", lambda: [next(rows)] * 8)
    monkeypatch.setattr(core_selection, "_EVERY", 0.0)
    monkeypatch.setattr(core_selection, "_SHARE", 0)
    monkeypatch.setattr(core_selection, "processors", list)
    monkeypatch.setattr(bench, "_Clock", Clock)
    monkeypatch.setattr(bench, "_USUAL", 0)


def test_what_was_kept_beside_others_is_forgotten_when_it_gets_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    seen(monkeypatch, [1.0, 1.0, 0.76])
    kept: Any = run_by_turns(JOBS, 60, 3)
    assert kept == [[0.76] * 3] * 2


def test_a_processor_that_has_gone_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_selection, "processors", lambda: [1 << 15])
    monkeypatch.setattr(core_selection, "rows_here", lambda: [0.9] * 8)
    with QuietCore() as core:
        assert core.look()
    assert (core.row, core.undisturbed) == (0.9, 1.0)


def test_all_have_a_turn_and_patience_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen(monkeypatch, [1.0])
    kept: Any = run_by_turns(JOBS, 0, 3)
    assert kept == [[1.0], [1.0]]


@pytest.mark.skipif(not runnable() or not hasattr(os, "sched_getaffinity"), reason="no processor can be chosen here")
def test_the_thread_is_bound_and_then_free_again() -> None:
    before = os.sched_getaffinity(0)
    with QuietCore() as core:
        core.look()
        bound = os.sched_getaffinity(0)
        assert len(bound) == 1
        assert bound <= before
        assert 0 < core.row <= 1
        assert 0 <= core.undisturbed <= 1
    assert os.sched_getaffinity(0) == before
