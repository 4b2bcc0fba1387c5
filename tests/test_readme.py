"""The README's examples: Python as doctests, and each `$ setwise ...` of a console block with what it prints."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def console_examples() -> list[tuple[str, str]]:
    """The commands of the README's console blocks, each with the output that is shown under it, if any is."""
    text = README.read_text(encoding="utf-8") if README.exists() else ""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    shown = [example.partition("\n") for block in blocks for example in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    return [(command, output) for command, _, output in shown if command.startswith("setwise ") and output]


def test_python_examples() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8", optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


def test_there_are_console_examples() -> None:
    assert console_examples()


@pytest.mark.parametrize(("command", "output"), console_examples())
def test_console_example(command: str, output: str) -> None:
    program = [sys.executable, "-c", "import sys; from analysis.cli import main; sys.exit(main())"]
    done = subprocess.run(
        program + shlex.split(command)[1:], capture_output=True, text=True, encoding="utf-8", cwd=README.parent
    )
    printed = done.stdout + done.stderr
    assert doctest.OutputChecker().check_output(output, printed, FLAGS), printed
