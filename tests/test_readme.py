"""The README's examples: Python as doctests, and each `$ ...` of a console block with what it prints.

A block with other commands than setwise's own is a session: it runs in a directory of its own, from first command to
last, and `$ cat FILE` stands for the file that a reader would write.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.kernel import binary_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_tool

README = Path(__file__).parents[1] / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRAM = [sys.executable, "-c", "import sys; from setwise.analysis.commands.main import main; sys.exit(main())"]

Example = tuple[str, str]
"""A command, and what is shown under it."""


def blocks() -> list[list[Example]]:
    """The README's console blocks."""
    text = README.read_text(encoding="utf-8") if README.exists() else ""
    found = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [[split(example) for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]] for block in found]


def split(example: str) -> Example:
    command, _, output = example.partition("\n")
    return command, output


def is_session(block: list[Example]) -> bool:
    return any(not command.startswith("setwise ") for command, _ in block)


def console_examples() -> list[Example]:
    """The commands of all blocks that are no sessions, with what they print."""
    return [each for block in blocks() if not is_session(block) for each in block if each[1]]


def sessions() -> list[list[Example]]:
    return [block for block in blocks() if is_session(block)]


def test_python_examples() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8", optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


def test_there_are_console_examples() -> None:
    assert console_examples()


def assert_printed(output: str, done: subprocess.CompletedProcess[str]) -> None:
    printed = done.stdout + done.stderr
    assert doctest.OutputChecker().check_output(output, printed, FLAGS), printed


@pytest.mark.parametrize(("command", "output"), console_examples())
def test_console_example(command: str, output: str) -> None:
    words = PROGRAM + shlex.split(command)[1:]
    assert_printed(output, subprocess.run(words, capture_output=True, text=True, encoding="utf-8", cwd=README.parent))


@pytest.mark.parametrize("session", sessions(), ids=lambda session: session[-1][0])
def test_session(session: list[Example], tmp_path: Path) -> None:
    programs, directory = tmp_path / "programs", tmp_path / "directory"
    programs.mkdir()
    directory.mkdir()
    (programs / "setwise").write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    (programs / "setwise").chmod(0o755)
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(README.parent)}
    for command, output in session:
        program, *words = shlex.split(command)
        if program == "cat":
            (directory / words[0]).write_text(output)
            continue
        if program != "setwise":
            require_tool(program)
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, encoding="utf-8", cwd=directory, env=environment
        )
        if output:
            assert_printed(output, done)
        else:
            assert done.returncode == 0, done.stderr


def claims() -> list[tuple[str, str]]:
    """The table of claims: each, and the cell of the commands that check it."""
    section = README.read_text(encoding="utf-8").partition("\n## What checks it\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*) \| (`.*`) \|$", section, re.MULTILINE)
    assert len(rows) == section.count("\n|") - 2, "a row without a command"
    return rows


def assert_there(command: str) -> None:
    """The target, the test or the subcommand exists."""
    program, *words = command.split()
    if program == "make":
        targets = re.findall(r"^(\w+):", (README.parent / "Makefile").read_text(), re.MULTILINE)
        assert set(words) <= set(targets)
    elif program == "setwise":
        assert words[0] in {
            example.split()[0] for example in re.findall(r"^    setwise (.*)", README.read_text(), re.M)
        }
        done = subprocess.run([*PROGRAM, words[0], "--help"], capture_output=True, text=True)
        assert done.returncode == 0
        assert all(word in done.stdout for word in words[1:])
    else:
        assert program == "pytest"
        for word in words:
            path, _, name = word.partition("::")
            text = (README.parent / path).read_text()
            assert re.search(rf"^def {name or 'test_'}", text, re.MULTILINE), word


def test_each_claim_names_commands_that_there_are() -> None:
    assert len(claims()) > 20
    for _, commands in claims():
        for command in re.findall(r"`([^`]*)`", commands):
            assert_there(command)


def test_the_instructions_of_a_whole_side() -> None:
    """What the first table of `sliders.union` says of our own code."""
    text = README.read_text(encoding="utf-8").partition("| instruction set | instructions | best known elsewhere |")[2]
    kernels = ("x86-64", None), ("bmi2", None), ("avx2", 4), ("avx512", 4), ("avx512", 8)
    rows = re.findall(r"^\| ([a-z0-9-]+)[^|]* \| (\d+) \|", text, re.MULTILINE)[: len(kernels)]
    made = [binary_of(lower(find("sliders.union"), isa, lanes=lanes)) for isa, lanes in kernels]
    assert rows == [(isa, str(count(one).instructions)) for (isa, _), one in zip(kernels, made, strict=True)]
