"""Nothing talks `setwise prove` round: none of the evil objects is proved, none runs, and no right one is refuted.

Right objects that are not proved stand in known.txt beside them, each with its verdict and why; a line that is no
longer true makes a test fail until it is taken out. reports/SOUNDNESS.md says how many they are.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from setwise.codegen.run.executable import runnable
from tests.analysis.corpus import SECONDS, WAYS, Case, built, cases, compiled, ending, functions, not_proved
from tests.conftest import require_module

require_module("bitwuzla")

EVIL, BY_HAND = cases("evil"), cases("right")
FAMILIES = sorted({case.family for case in EVIL})
COMPILERS = ("gcc", "clang-19")
QUICK = [case for case in EVIL if case.family not in ("arrays", "flow")][::12]


def endings(objects: Iterable[tuple[Case, Path]]) -> dict[str, tuple[str, str]]:
    """The verdict on each and what was printed, by its label."""
    return {
        case.label: ending(case.arguments(file), float(case.keys.get("limit", 4 * SECONDS))) for case, file in objects
    }


def check_evil(folder: Path, wanted: list[Case]) -> None:
    files = built(wanted, folder)
    ends = endings((case, files[case.label]) for case in wanted)
    assert not {label: end for label, (end, _) in ends.items() if end not in ("refuted", "not proved", "refused")}


def check_right(objects: Iterable[tuple[Case, Path]]) -> None:
    ends = endings(objects)
    short = {label: end for label, (end, _) in ends.items() if end != "proved"}
    assert short == {label: end for label, (end, _) in not_proved().items() if label in ends}
    assert not [label for label in short if not_proved()[label][1] not in ends[label][1]]


def test_the_corpus_is_whole() -> None:
    assert len({case.label for case in EVIL}) == len(EVIL) >= 300
    assert len({case.label for case in BY_HAND}) == len(BY_HAND)
    assert not {label for label, (end, _) in not_proved().items() if end not in ("not proved", "refused")}


def test_the_report_says_how_many_are_proved() -> None:
    """Those that are not, by what is said of them; the tests above and below hold the list to be true."""
    made = len(COMPILERS) * len(WAYS) * sum(map(len, functions().values()))
    short = Counter(f"{end}: {why}" for end, why in not_proved().values())
    rows = [
        ("evil", len(EVIL)),
        ("right, written by hand", len(BY_HAND)),
        (f"right, made by gcc and clang in {len(WAYS)} ways each", made),
        ("of the right: proved", len(BY_HAND) + made - short.total()),
        *((f"of the right: {what}", number) for what, number in short.most_common()),
    ]
    table = ["| objects | |", "|---|---|", *(f"| {what} | {number} |" for what, number in rows)]
    report = Path(__file__).parents[2] / "reports" / "SOUNDNESS.md"
    assert "\n".join(["", *table, ""]) in report.read_text("utf-8")


def test_a_part_of_the_evil_is_not_proved(tmp_path: Path) -> None:
    check_evil(tmp_path, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_none_of_the_evil_is_proved(tmp_path: Path, family: str) -> None:
    check_evil(tmp_path, [case for case in EVIL if case.family == family])


@pytest.mark.slow
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
