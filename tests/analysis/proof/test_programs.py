"""Right programs are never refuted, wrong ones never proved: random ones, judged by what they do on this processor.

`make long` takes 20,000 of each kind, or $SETWISE_PROGRAMS of them.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.analysis.proof.native import judge
from tests.analysis.proof.programs import program
from tests.conftest import require_module

require_module("bitwuzla")

QUICK, SLOW, LONG = 30, 2000, int(os.environ.get("SETWISE_PROGRAMS", "20000"))
STEP = 250  # programs in one item
TOGETHER = 50  # in one object
LEAST = 5  # right ones of ten that are proved in the time that they have
KINDS = ("right", "wrong")
slow, long = (pytest.mark.slow,), (pytest.mark.slow, pytest.mark.long)
ranges = [pytest.param(range(QUICK), id="first")]
ranges += [
    pytest.param(range(start, start + STEP), id=str(start), marks=slow if start < SLOW else long)
    for start in range(0, max(SLOW, LONG), STEP)
]


@pytest.mark.parametrize("numbers", ranges)
@pytest.mark.parametrize("kind", KINDS)
def test_proved_means_right_and_refuted_means_wrong(kind: str, numbers: range) -> None:
    ends, complaints = Counter[tuple[str, str]](), list[str]()
    for start in range(numbers.start, numbers.stop, TOGETHER):
        programs = [program(kind, number) for number in range(start, min(start + TOGETHER, numbers.stop))]
        with TemporaryDirectory() as folder:
            for one in judge(programs, Path(folder)):
                ran = "not run" if one.native is None else "goes wrong" if one.native else "is fine"
                ends[one.certificate.status, ran] += 1
                complaints += [one.complaint] if one.complaint else []
    print(", ".join(f"{status} {ran}: {count}" for (status, ran), count in sorted(ends.items())))
    assert not complaints, "\n".join(complaints)
    if kind == "right":
        assert not any(ran == "goes wrong" for _, ran in ends), "the generator is wrong"
        assert 10 * sum(count for (status, _), count in ends.items() if status == "proved") >= LEAST * ends.total()
