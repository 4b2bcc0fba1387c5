"""Right programs are never refuted, wrong ones never proved: random ones, judged by what they do on this processor.

`make long` takes 20,000 of each kind, or $SETWISE_PROGRAMS of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.analysis.proof.native import Judged, judge
from tests.analysis.proof.programs import program
from tests.conftest import require_module

require_module("bitwuzla")

QUICK, SLOW, LONG = 30, 2_000, int(os.environ.get("SETWISE_PROGRAMS", "20000"))
STEP = 250  # programs in one item
KINDS = ("right", "wrong")
slow, long = (pytest.mark.slow,), (pytest.mark.slow, pytest.mark.long)
ranges = [pytest.param(range(QUICK), id="first")]
ranges += [
    pytest.param(range(start, start + STEP), id=str(start), marks=slow if start < SLOW else long)
    for start in range(0, max(SLOW, LONG), STEP)
]


def judged(kind: str, numbers: range) -> list[Judged]:
    with TemporaryDirectory() as folder:
        return [
            one
            for start in range(numbers.start, numbers.stop, 50)
            for one in judge([program(kind, number) for number in range(start, min(start + 50, numbers.stop))], Path(folder))
        ]


@pytest.mark.parametrize("numbers", ranges)
@pytest.mark.parametrize("kind", KINDS)
def test_proved_means_right_and_refuted_means_wrong(kind: str, numbers: range) -> None:
    made = judged(kind, numbers)
    complaints = [one.complaint for one in made if one.complaint]
    assert not complaints, "\n".join(complaints)
