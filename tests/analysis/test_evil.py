"""Nothing talks `setwise prove` round: none of the evil objects is proved, none runs, and no right one is refuted.

What is not so today stands in known.txt beside the objects, case by case with its verdict; a line that is no longer
true makes a test fail until it is taken out. Of right objects all that are not proved stand there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from setwise.codegen.run.executable import runnable
from tests.analysis.corpus import SECONDS, Case, built, cases, compiled, known, verdict
from tests.conftest import require_module

require_module("bitwuzla")

EVIL, BY_HAND = cases("evil"), cases("right")
FAMILIES = sorted({case.family for case in EVIL})
COMPILERS = ("gcc", "clang-19")
QUICK = [case for case in EVIL if case.family not in ("arrays", "flow")][::12]


def verdicts(objects: Iterable[tuple[Case, Path]]) -> dict[str, str]:
    """How each ends, by its label."""
    return {
        case.label: verdict(case.arguments(file), float(case.keys.get("limit", 4 * SECONDS))) for case, file in objects
    }


def of_these(lines: Mapping[str, str], labels: Iterable[str]) -> dict[str, str]:
    return {label: lines[label] for label in labels if label in lines}


def check_evil(folder: Path, wanted: list[Case]) -> None:
    files = built(wanted, folder)
    ends = verdicts((case, files[case.label]) for case in wanted)
    passed = {label: end for label, end in ends.items() if end not in ("refuted", "not proved", "refused")}
    assert passed == of_these(known("evil"), ends)


def check_right(objects: Iterable[tuple[Case, Path]]) -> None:
    ends = verdicts(objects)
    assert {label: end for label, end in ends.items() if end != "proved"} == of_these(known("right"), ends)


def test_the_corpus_is_whole() -> None:
    labels = {case.label for case in EVIL}
    assert len(labels) == len(EVIL) >= 300
    assert known("evil").keys() <= labels
    assert len(BY_HAND) == len({case.label for case in BY_HAND})


def test_a_part_of_the_evil_is_not_proved(tmp_path: Path) -> None:
    check_evil(tmp_path, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_none_of_the_evil_is_proved(tmp_path: Path, family: str) -> None:
    check_evil(tmp_path, [case for case in EVIL if case.family == family])


def test_what_is_right_by_hand_is_not_refuted(tmp_path: Path) -> None:
    files = built(BY_HAND, tmp_path)
    check_right((case, files[case.label]) for case in BY_HAND)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_compilers_make_of_right_functions_is_not_refuted(tmp_path: Path, compiler: str) -> None:
    objects = compiled(tmp_path, compiler)
    assert 2 * len(objects) >= 100
    check_right(objects.values())


def test_no_payload_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_evil(tmp_path, [case for case in EVIL if case.family == "payload"])
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(not runnable(), reason="not run: another processor or system")
def test_a_payload_that_runs_leaves_its_trace(tmp_path: Path) -> None:
    (wanted,) = (case for case in EVIL if case.label == "payload/constructor")
    file = built([wanted], tmp_path)[wanted.label]
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    subprocess.run([sys.executable, "-c", load, str(file)], cwd=tmp_path, check=True)
    assert (tmp_path / "trace").is_dir()
