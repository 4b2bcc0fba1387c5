"""The examples of routines of one's own: short, proved on every set, refuted where broken, known to every command."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.commands.main import main
from setwise.codegen.lower import lower
from setwise.codegen.own.user_files import routines_named
from setwise.codegen.targets import ALL_SETS, PACKED
from tests.analysis.listings import compiled
from tests.conftest import few, require_module

HERE = Path(__file__).parent


class Example(NamedTuple):
    """A routine of the file, how many instructions it takes at most by set, and what breaks it."""

    routine: str
    instructions: dict[str, int]
    line: str
    broken: str
    isa: str = "x86-64"
    """A set for which the broken line is taken."""

    @property
    def file(self) -> str:
        """The file."""
        return next(file for file, example in EXAMPLES.items() if example is self)


EXAMPLES = {
    "knights.py": Example(
        "knight_attacks",
        {"x86-64": 26, "bmi2": 23, "sse2": 26, "avx2": 19, "avx512": 14, "gfni": 14},
        "(WEST, SOUT)]",
        "(WEST, WEST)]",
    ),
    "pawns.py": Example(
        "pawns",
        {"x86-64": 17, "bmi2": 16, "sse2": 17, "avx2": 14, "avx512": 12, "gfni": 12},
        "white.step(NOEA) | white.step(NOWE)",
        "white.step(NOEA) | white << 7",
    ),
    "king.py": Example(
        "king_zone",
        {"x86-64": 14, "bmi2": 14, "sse2": 15, "avx2": 12, "avx512": 9, "gfni": 9},
        "zone.step(NORT, NORT)",
        "zone.step(NORT, NORT, NORT)",
    ),
    "xrays.py": Example(
        "xrays.queen",
        {"x86-64": 259, "bmi2": 220, "avx2": 69, "avx512": 31, "gfni": 29},
        "first = own & ",
        "first = ",
    ),
    "twice.py": Example(
        "attacked_twice",
        {"x86-64": 164, "bmi2": 145, "sse2": 168, "avx2": 130, "avx512": 99, "gfni": 99},
        "twice |= once & attacks",
        "twice |= once ^ attacks",
    ),
    "chain.py": Example(
        "chain",
        {"x86-64": 141, "bmi2": 130, "avx2": 56, "avx512": 39, "gfni": 36},
        "by_bishops | by_rooks)",
        "by_bishops)",
    ),
    "kingless.py": Example(
        "kingless",
        {"x86-64": 141, "bmi2": 128, "avx2": 51, "avx512": 29, "gfni": 27},
        "knights=knights, pawns=pawns",
        "knights=pawns, pawns=knights",
    ),
    "discoverers.py": Example(
        "discoverers",
        {"x86-64": 141, "bmi2": 113, "avx2": 44, "avx512": 31, "gfni": 31},
        "ray.opposite, ",
        "ray, ",
    ),
    "checkers.py": Example(
        "jumps",
        {"x86-64": 74, "bmi2": 67, "sse2": 73, "avx2": 60, "avx512": 50, "gfni": 50},
        "range(3):\n        reached |= empty",
        "range(2):\n        reached |= empty",
    ),
    "connect4.py": Example(
        "fours",
        {"x86-64": 23, "bmi2": 25, "sse2": 27, "avx2": 19, "avx512": 16, "gfni": 16},
        "(EAST, NORT, NOEA, NOWE)",
        "(EAST, NORT, NOEA)",
    ),
    "ataxx.py": Example(
        "moves",
        {"x86-64": 25, "bmi2": 22, "sse2": 27, "avx2": 21, "avx512": 16, "gfni": 16},
        "(EAST, EAST), (WEST,)",
        "(WEST,)",
    ),
    "othello.py": Example(
        "mobility",
        {"x86-64": 138, "bmi2": 122, "avx2": 40, "avx512": 32, "gfni": 32},
        "(left.run(line, 2), 2), (left.run(line, 2), 2))",
        "(left.run(line, 2), 2))",
    ),
    "othello_rays.py": Example(
        "mobility.queen",
        {"x86-64": 155, "bmi2": 129, "avx2": 43, "avx512": 22, "gfni": 21},
        "(pair, 2), (pair, 2)",
        "(pair, 2)",
    ),
    "othello_best.py": Example(
        "mobility",
        {"x86-64": 133, "bmi2": 109, "avx2": 39, "avx512": 22, "gfni": 21},
        "left.step(own) | right.step(own)",
        "left.step(own)",
        "avx2",
    ),
}
PROGRAMS = ("perft.py", "threat_loop.py")
"""Files that build and run another example."""
FILES = sorted(path.name for path in HERE.glob("*.py") if not path.name.startswith(("test_", *PROGRAMS)))

SLOW = pytest.mark.slow


def quickly(*files: str) -> pytest.MarkDecorator:
    """Each example, those that are not named in the slow tests."""
    slow = {file: () if file in files else (SLOW,) for file in EXAMPLES}
    return pytest.mark.parametrize(
        "example", [pytest.param(EXAMPLES[file], id=file, marks=slow[file]) for file in slow]
    )


each = quickly(*EXAMPLES)
a_few = quickly("knights.py", "king.py", "connect4.py", "ataxx.py", "discoverers.py", "othello.py", "othello_best.py")


@pytest.fixture(autouse=True)
def beside_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the files are."""
    monkeypatch.chdir(HERE)


def test_every_file_is_here() -> None:
    assert sorted(EXAMPLES) == FILES


@each
def test_it_imports_setwise_alone_and_is_short(example: Example) -> None:
    text = Path(example.file).read_text("utf-8")
    named = {alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert named <= {"setwise", "typing"}
    descriptions = text.count("@setwise.routine") + text.count(".description")
    assert len(text.splitlines()) < 25 * descriptions


@SLOW
def test_a_strict_type_checker_accepts_them() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", *EXAMPLES]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(HERE.parents[1])})
    assert done.returncode == 0, done.stdout


def instructions(example: Example, isa: str) -> int:
    (routine,) = routines_named(f"{example.file}:{example.routine}")
    return count(binary_of(lower(routine, isa))).instructions


@a_few
def test_its_instructions(example: Example) -> None:
    assert instructions(example, "avx2") <= example.instructions["avx2"]


@SLOW
@each
def test_its_instructions_on_every_set(example: Example) -> None:
    (routine,) = routines_named(f"{example.file}:{example.routine}")
    assert set(routine.isas) == example.instructions.keys() >= set(PACKED)
    assert {isa: instructions(example, isa) for isa in routine.isas} == example.instructions


def test_the_page_says_so() -> None:
    """The tables of docs/course/examples.md have these figures."""
    page = (HERE.parents[1] / "docs" / "course" / "examples.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+\.py)` \| [^|]* \| ([\d| -]*) \|$", page, re.MULTILINE)
    told = {file: dict(zip(ALL_SETS, map(str.strip, cells.split("|")), strict=True)) for file, cells in rows}
    figures = {file: {isa: str(made) for isa, made in one.instructions.items()} for file, one in EXAMPLES.items()}
    assert told == {file: dict.fromkeys(ALL_SETS, "-") | made for file, made in figures.items()}
    beside = re.findall(r"^\| (\S+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    ours = figures["othello.py"], figures["othello_best.py"]
    assert beside == [(isa, *(one[isa] for one in ours)) for isa in ours[0]]


@a_few
def test_it_is_proved(example: Example, capsys: pytest.CaptureFixture[str]) -> None:
    require_module("bitwuzla")
    assert main(["prove", f"{example.file}:{example.routine}", "--isa", "avx2", "--abi", "sysv", "--lanes", "4"]) == 0
    assert "avx2, 4 lanes, sysv: proved" in capsys.readouterr().out


@SLOW
@each
def test_all_of_it_is_proved(example: Example, capsys: pytest.CaptureFixture[str]) -> None:
    require_module("bitwuzla")
    convention = ["--abi", "sysv"] if "." in example.routine else []
    assert main(["prove", example.file, *convention]) == 0
    assert re.search(r"(\d+) kernels: \1 proved, 0 refuted, 0 not proved", capsys.readouterr().out)


@a_few
def test_a_broken_copy_is_refuted(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require_module("bitwuzla")
    text = Path(example.file).read_text("utf-8")
    assert text.count(example.line) == 1
    monkeypatch.chdir(tmp_path)
    Path(example.file).write_text(text.replace(example.line, example.broken), "utf-8")
    assert main(["prove", f"{example.file}:{example.routine}", "--isa", example.isa, "--abi", "sysv"]) == 1
    assert "confirmed by stepping" in capsys.readouterr().out


@pytest.mark.parametrize("optimised", few(["-O2", "-O3"], 1))
@pytest.mark.parametrize("file", few(["othello.py", "othello_best.py"], 1))
def test_the_c_of_the_rules_is_the_same(
    file: str, optimised: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What gcc makes of othello.c meets the specification that the example's kernels are proved to meet."""
    require_module("bitwuzla")
    built = str(compiled(tmp_path, Path("othello.c").read_text(), optimised))
    assert main(["prove", "--object", built, "--symbol", "mobility", "--spec", f"{file}:mobility"]) == 0
    assert f"mobility as {file}:mobility, sysv: proved" in capsys.readouterr().out


def test_c_that_breaks_the_rules_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require_module("bitwuzla")
    wraps = Path("othello.c").read_text().replace("along(own, inner, 7)", "along(own, other, 7)")
    built = str(compiled(tmp_path, wraps))
    assert main(["prove", "--object", built, "--symbol", "mobility", "--spec", "othello.py:mobility"]) == 1
    assert "refuted: mobility is wrong" in capsys.readouterr().out
