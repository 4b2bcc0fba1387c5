"""The examples of README and docs/: Python as doctests, and each `$ ...` of a console block with what it prints.

A block with other commands than setwise's own is a session: it runs in a directory of its own, from first command to
last, and `$ cat FILE` stands for the file that a reader would write. A block under `<!-- continued -->` belongs to the
session of the block before. A block under `<!-- slow -->` runs in `make check` only; so do all of a page's lines of
Python, which may need modules: `<!-- needs NAME... -->`.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from setwise.analysis import api
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.report.report_files import read
from setwise.codegen.board import DIRECTIONS
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_tool
from tests.test_layers import ORDER

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DESIGN = ROOT / "docs" / "design.md"
COURSE = ROOT / "docs" / "own-routines.md"
LESSONS = tuple(sorted((ROOT / "docs" / "course").glob("*.md")))
PAGES = (README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")), *LESSONS)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRAM = [sys.executable, "-m", "setwise"]
SLOW = (pytest.mark.slow,)

Example = tuple[str, str]
"""A command, and what is shown under it."""


@dataclass(frozen=True)
class Block:
    """A console block of a page."""

    examples: tuple[Example, ...]
    slow: bool

    @property
    def session(self) -> bool:
        return any(not command.startswith("setwise ") for command, _ in self.examples)

    @property
    def marks(self) -> tuple[pytest.MarkDecorator, ...]:
        return SLOW if self.slow else ()


def blocks(page: Path) -> list[Block]:
    """The page's console blocks."""
    marked = re.compile(r"^(?:<!-- (slow|continued) -->\n)?```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
    found: list[Block] = []
    for mark, block in marked.findall(page.read_text("utf-8")):
        examples = tuple(map(split, re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]))
        if mark == "continued":
            before = found.pop()
            found.append(Block(before.examples + examples, before.slow))
        else:
            found.append(Block(examples, mark == "slow"))
    return found


def split(example: str) -> Example:
    command, _, output = example.partition("\n")
    return command, output


BLOCKS = [(page, block) for page in PAGES for block in blocks(page)]
CONSOLE = [
    pytest.param(*example, id=f"{page.stem}: {example[0]}", marks=block.marks)
    for page, block in BLOCKS
    if not block.session
    for example in block.examples
    if example[1]
]
SESSIONS = [
    pytest.param(block.examples, id=f"{page.stem}: {block.examples[-1][0]}", marks=block.marks)
    for page, block in BLOCKS
    if block.session
]
PYTHON = [
    pytest.param(page, id=page.stem, marks=SLOW if re.search(r"<!-- slow -->\n(<!-- .* -->\n)?```python", text) else ())
    for page, text in ((page, page.read_text("utf-8")) for page in PAGES)
    if "\n>>> " in text
]


def test_there_are_examples() -> None:
    assert len(CONSOLE) > 8
    assert len(SESSIONS) > 2
    assert {page.name for page, _ in BLOCKS} > {"README.md", "literature.md", "proofs.md"}


@pytest.mark.parametrize("page", PYTHON)
def test_python_examples(page: Path) -> None:
    for modules in re.findall(r"^<!-- needs (.*) -->$", page.read_text("utf-8"), re.MULTILINE):
        for name in modules.split():
            pytest.importorskip(name, reason=f"not run: {name} missing, which setwise does not need")
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8", optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


def assert_printed(output: str, done: subprocess.CompletedProcess[str]) -> None:
    printed = done.stdout + done.stderr
    assert doctest.OutputChecker().check_output(output, printed, FLAGS), printed


def require_emulator(command: str) -> None:
    """Where a command of setwise's needs Bochs, the test does."""
    if " --on " in command or command.startswith("setwise check --object"):
        require_tool("bochs")


@pytest.mark.parametrize(("command", "output"), CONSOLE)
def test_console_example(command: str, output: str) -> None:
    require_emulator(command)
    words = PROGRAM + shlex.split(command)[1:]
    assert_printed(output, subprocess.run(words, capture_output=True, text=True, encoding="utf-8", cwd=ROOT))


@pytest.mark.parametrize("session", SESSIONS)
def test_session(session: tuple[Example, ...], tmp_path: Path) -> None:
    programs, directory = tmp_path / "programs", tmp_path / "directory"
    programs.mkdir()
    directory.mkdir()
    (programs / "setwise").write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    (programs / "setwise").chmod(0o755)
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    for command, output in session:
        program, *words = shlex.split(command)
        if program == "cat":
            (directory / words[0]).write_text(output)
            continue
        if program != "setwise":
            require_tool(program)
        require_emulator(command)
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, encoding="utf-8", cwd=directory, env=environment
        )
        if output:
            assert_printed(output, done)
        else:
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_export_of_a_page_has_its_directory(page: Path) -> None:
    places = re.findall(r"^(?:\$ | {4})?setwise export .* -o (\S+)", page.read_text("utf-8"), re.MULTILINE)
    assert len(set(places)) == len(places)


def test_files_shown_are_those_among_the_examples() -> None:
    shown = {command.removeprefix("cat "): text for _, block in BLOCKS for command, text in block.examples}
    files = (path for path in (ROOT / "tests" / "examples").iterdir() if path.is_file())
    examples = {path.name: path.read_text("utf-8") for path in files}
    assert len(shown.keys() & examples.keys()) > 3
    for name in shown.keys() & examples.keys():
        assert shown[name] == examples[name], name


def claims() -> list[tuple[str, str]]:
    """The table of claims: each, and the cell of the commands that check it."""
    section = DESIGN.read_text("utf-8").partition("\n## What checks it\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*) \| (`.*`) \|$", section, re.MULTILINE)
    assert len(rows) == section.count("\n|") - 2, "a row without a command"
    return rows


def assert_there(command: str) -> None:
    """The target or the subcommand exists."""
    program, *words = command.split()
    if program == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words) <= set(targets)
    elif program == "setwise":
        done = subprocess.run([*PROGRAM, words[0], "--help"], capture_output=True, text=True)
        assert done.returncode == 0
        assert all(word in done.stdout for word in words[1:])
    else:
        assert program == "pytest"  # what it runs is looked up below


def test_each_claim_names_commands_that_there_are() -> None:
    assert len(claims()) > 20
    for _, commands in claims():
        for command in re.findall(r"`([^`]*)`", commands):
            assert_there(command)


def test_the_instructions_of_a_whole_side() -> None:
    """The figures of the table of `sliders.union`: ours, the fewest of all variants, and clang's as recorded."""
    text = README.read_text(encoding="utf-8").partition("| instruction set | instructions |")[2]
    kernels = ("x86-64", None), ("bmi2", None), ("sse2", 2), ("avx2", 4), ("avx512", 4), ("avx512", 8), ("gfni", 8)
    rows = re.findall(r"^\| ([a-z0-9-]+)[^|]* \| (\d+) \| (\d+) \| ([\d-]+) \|$", text, re.MULTILINE)
    clang = {isa: str(of["sliders.union"][0]) for isa, of in read(ROOT / "reports").shortest["clang-19"].items()}
    theirs = ["-" if key in (("avx512", 4), ("gfni", 8)) else clang[key[0]] for key in kernels]
    ours, fewest = (
        [
            str(count(binary_of(api.request("sliders.union", isa, lanes=lanes, for_=which).kernel)).instructions)
            for isa, lanes in kernels
        ]
        for which in ("", "size")
    )
    assert rows == list(zip((isa for isa, _ in kernels), ours, fewest, theirs, strict=True))


def test_the_operations_of_kernels_beside_lower_bounds() -> None:
    """All instructions but moves, in the table of docs/proofs.md."""
    page = (ROOT / "docs" / "proofs.md").read_text("utf-8")
    rows = re.findall(r"\| (\d+) \| (\d+) \(`([a-z.]+)`( with AVX2)?\) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for least, operations, name, vectors in rows:
        counts = count(binary_of(lower(find(name), "avx2" if vectors else "x86-64")))
        assert int(least) <= int(operations) == counts.instructions - counts.moves


LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")


def anchors(page: Path) -> set[str]:
    """What a link may name in a page: its headings, as hosts of repositories spell them."""
    titles = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target, anchor in LINK.findall(text):
        if target.startswith(("http:", "https:")):
            continue
        other = (page.parent / target).resolve() if target else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), f"{target}#{anchor}"


def test_every_page_is_reached_from_the_readme() -> None:
    assert named(README) >= set(PAGES) - {README, *LESSONS}


def named(page: Path) -> set[Path]:
    """The files that a page links to."""
    return {(page.parent / target).resolve() for target, _ in LINK.findall(page.read_text("utf-8"))}


def test_every_page_of_the_course_is_reached_from_the_first_and_from_the_one_before() -> None:
    lessons = [COURSE.parent / path for path in re.findall(r"^\| \[\w+\]\((.*)\) \|", COURSE.read_text("utf-8"), re.M)]
    assert sorted(lessons) == [*LESSONS]
    assert all(COURSE in named(page) for page in lessons)
    for page, after in pairwise(lessons):
        assert f"next: [{title(after)}]({after.name})" in page.read_text("utf-8")
        assert f"before: [{title(page)}]({page.name})" in after.read_text("utf-8")


def title(page: Path) -> str:
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ").partition(" and ")[0]


def test_the_readme_says_little() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150


def test_the_page_lists_all_folders() -> None:
    section = DESIGN.read_text("utf-8").partition("\n## The folders\n")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^\| `([a-z_.]+)` \|", section, re.MULTILINE)) == ORDER


@pytest.mark.parametrize("page", [*PAGES, ROOT / "reports" / "SOUNDNESS.md"], ids=lambda page: page.stem)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"`((?:codegen|analysis|tests|setwise)/[\w/.]*)", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "reports" / "SOUNDNESS.md"], ids=lambda page: page.stem)
def test_tests_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"\b(tests/[\w/]+\.py)(?:::(\w+))?", page.read_text("utf-8"))
    sources = {file: (ROOT / file).read_text("utf-8") for file, _ in named}
    assert [f"{file}::{test}" for file, test in named if test and f"\ndef {test}(" not in sources[file]] == []


def test_the_directions_of_other_numberings() -> None:
    """The engine authors' table: a routine's step changes numbers as the reader's step does."""
    page = (ROOT / "docs" / "engine-authors.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w\d), (\w\d), (\w\d) \| (\w+) \| (\w+) \| (\w+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for *squares, nort, east, noea in rows:
        zero, one, eight = (complex("abcdefgh".index(file), int(rank)) for file, rank in squares)
        for name, step in ((nort, 1j), (east, 1), (noea, 1 + 1j)):
            to = DIRECTIONS[name]
            assert to.file_step * (one - zero) + to.rank_step * (eight - zero) == step, (squares, name)
