"""What is timed for a routine, and whose figures come out, without timing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.cost.processors import processor
from setwise.analysis.measure import fastest, fields
from setwise.analysis.measure.fastest import Row, measure
from setwise.analysis.measure.fields import Field, field_of
from setwise.analysis.measure.subjects import Subject
from setwise.analysis.measure.trials import Timing
from setwise.codegen.run.call import missing
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS

pytestmark = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
NAME = "kogge-stone.attacks.sout"


def as_long_as_code(subjects: Sequence[Subject], modes: Sequence[Any], *_: object, **__: object) -> list[Timing]:
    """A cycle a byte, and one more for each argument in front of the last that is chained: by all, as bench does."""
    return [
        Timing(one.measurand(mode), len(one.binary.text) + max(one.chainable, default=0), 0, 0.0, 9, 3, 9, 9)
        for one in subjects
        for mode in one.modes
        if mode in modes
    ]


def test_the_fastest_of_the_right_ones_stands_beside_what_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    field = field_of(NAME, processor("zen3"))
    assert {"setwise x86-64", "setwise bmi2"} <= {one.maker for one in field.ours}
    assert len({one.binary.image for one in field.ours}) == len(field.ours)
    taken = next(one for one in field.ours if one.maker == field.taken["latency"])
    right = replace(taken.binary, text=taken.binary.text + b"\x90")
    shown: list[Sequence[Row]] = []
    theirs = {NAME: {b"wrong": ("gcc wrong", Binary(b"\xc3")), b"right": ("gcc right", right)}}
    monkeypatch.setattr(fastest, "_fields", lambda *_: fastest._joined([_Done(field)], theirs, lambda _: None))
    monkeypatch.setattr(fields, "bench", as_long_as_code)
    rows = measure([NAME], processor("zen3"), [], shown.append, lambda _: None, 1.0)
    assert [row.mode for row in rows] == ["chained", "independent"]
    chained = rows[0]
    assert chained.theirs is not None
    assert chained.theirs.maker == "gcc right"
    assert chained.ours.maker == field.taken["latency"]
    assert chained.ours.cycles == len(taken.binary.text) + 1  # by the second argument
    assert chained.other is not None
    assert chained.other.cycles == 1 + min(len(one.binary.text) for one in field.ours if one is not taken)
    assert shown == [rows]
    monkeypatch.setattr(fields, "bench", None)  # the same code is not timed again
    assert measure([NAME], processor("zen3"), rows, shown.append, lambda _: None, 1.0) == rows


class _Done:
    """What a worker has made."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def result(self) -> Field:
        return self.field


@pytest.mark.slow
def test_every_set_of_this_processor_is_there_if_it_adds_something() -> None:
    makers = {each.maker.split()[1] for each in field_of("sliders.union", processor("zen5")).ours}
    assert makers == {name for name, target in TARGETS.items() if not missing(target)}
