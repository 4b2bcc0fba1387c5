"""The first screen's choices: of one processor, measured where they were, and left out where code is another now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.cost.processors import processor
from setwise.analysis.measure.subjects import Subject
from setwise.analysis.measure.trials import Refusal, Timing
from setwise.analysis.report import choices as page
from setwise.analysis.report.choices import Choice, Choices, Need, arrays, complaints, measure
from setwise.analysis.report.findings import Finding
from setwise.codegen.catalogue import find
from setwise.codegen.offers import offered_as
from setwise.codegen.run.timer import Mode
from tests.analysis.report.recorded import assert_reads_back

SOUTH = Need("south", ("push.attacks.sout", "dumb7.attacks.sout"), ("x86-64",))
RECORDED = Choices(
    *("a processor", "zen3", "2025-01-31", "By counting."),
    choices=(
        Choice("push.attacks.sout", "x86-64", 1, "latency", "", 10.0, 10.2, "now"),
        Choice("dumb7.attacks.sout", "x86-64", 1, "throughput", "1", 5.0, None, "before"),
    ),
)


def test_variants_are_chosen_proved_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_ten(subjects: Sequence[Subject], modes: Sequence[Mode], *_: object, **__: object) -> list[Timing | Refusal]:
        (mode,) = modes
        if mode == "independent":
            return [Refusal(one.measurand(mode), "busy", 0, 9) for one in subjects]
        return [Timing(one.measurand(mode), 10.0, 10.0, 0.0, 9, 3, 9, 9) for one in subjects]

    monkeypatch.setattr(page, "bench", in_ten)
    held = measure(processor("zen3"), "this", "today", lambda _: None, 1.0, [SOUTH])
    assert [(each.objective, each.measured) for each in held.choices] == [("latency", 10.0), ("throughput", None)]
    for each in held.choices:
        assert each.name == SOUTH.routines[0]  # the other waits longer, and has more to do
        assert offered_as(each.variant, find(each.name), each.isa).variant == each.variant
        assert held.taken(SOUTH, "x86-64", each.objective) == each
    assert held.taken(SOUTH, "bmi2", "latency") is None


def test_a_choice_among_other_code_is_left_out() -> None:
    held = RECORDED.of({("push.attacks.sout", "x86-64", 1): "now"})
    assert held == replace(RECORDED, choices=RECORDED.choices[:1])


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, page.RECORD, RECORDED, "objective")


ARRAYS = Choices(
    *("a processor", "zen3", "2025-01-31", "By counting."),
    choices=(
        Choice("sliders.union.batch", "avx512", 8, "throughput", "", 3.0, 2.08, "now", 2.0),
        Choice("sliders.union.batch", "avx2", 4, "throughput", "", 5.0, 4.4, "now", 4.0),
        Choice("sliders.union.batch", "sse2", 2, "throughput", "", 9.0, None, "now", 8.0),
    ),
)


def test_arrays_beyond_their_bounds_want_a_cause() -> None:
    cause = Finding("zen3", "2025-01-31", "README.md", "Too much waits on the stack", r"sliders\.union\.batch avx2")
    (open_question,) = complaints(ARRAYS, [])
    assert open_question.startswith("sliders.union.batch avx2 is 10% above its bound: ")
    assert complaints(ARRAYS, [cause]) == []
    (stale,) = complaints(replace(ARRAYS, choices=ARRAYS.choices[:1]), [cause])
    assert "asks for nothing such: remove it" in stale
    fields = arrays(ARRAYS, [cause])
    assert fields["arrays"] == "`avx512` 2.08 of 2.00, 4% more; `avx2` 4.40 of 4.00, 10% more"
    assert fields["arrays_causes"] == "* Too much waits on the stack (2025-01-31): `sliders.union.batch avx2`."
