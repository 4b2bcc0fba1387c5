"""Whatever stands in metadata.json, `verify` ends within seconds, in a line or in its table, and says what is wrong."""

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.exports.metadata import NAME, read
from tests.analysis.exports.fuzzing import fuzz
from tests.conftest import few, require_module


def exported(directory: Path) -> Path:
    """An export whose metadata is to be damaged."""
    with redirect_stdout(io.StringIO()):
        assert main(["export", "shift.one.nort", "--format", "nasm", "-o", str(directory)]) == 0
    return directory


def test_whatever_stands_there_verify_ends_in_a_line(tmp_path: Path) -> None:
    require_module("bitwuzla")
    fuzz(exported(tmp_path), 50)


@pytest.mark.slow
@pytest.mark.parametrize("number", [2_000, pytest.param(20_000, marks=pytest.mark.long)])
def test_whatever_stands_there_verify_ends_within_a_gibibyte(number: int, tmp_path: Path) -> None:
    require_module("bitwuzla")
    words = [sys.executable, "-m", "tests.analysis.exports.fuzzing", str(exported(tmp_path)), str(number)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("step", few([17, 1], 1))
def test_every_beginning_of_the_file_is_refused(step: int, tmp_path: Path) -> None:
    require_module("bitwuzla")
    with redirect_stdout(io.StringIO()):
        assert main(["export", "dumb7.attacks.sout", "--format", "nasm", "--unproved", "-o", str(tmp_path)]) == 0
    path = tmp_path / NAME
    content = path.read_bytes()
    for length in range(0, len(content) - 1, step):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=NAME):
            read(tmp_path)


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("{", '{\n "edition": 1,', 1), str.strip, lambda text: text + " "]
)
def test_other_words_for_the_same_are_refused(change: Callable[[str], str], tmp_path: Path) -> None:
    """A key that stands there twice, above all: readers differ in which of them they take."""
    require_module("bitwuzla")
    with redirect_stdout(io.StringIO()):
        assert main(["export", "shift.one.nort", "--format", "nasm", "--unproved", "-o", str(tmp_path)]) == 0
    path = tmp_path / NAME
    path.write_text(change(path.read_text()))
    assert main(["verify", str(tmp_path)]) == 1
