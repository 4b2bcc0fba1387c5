"""Whatever is damaged in an ELF file, that is said in one line, or what is left is judged; nothing hangs or grows."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.code.objects import ObjectError, functions, load, load_all
from tests.analysis.corpus import SECONDS
from tests.analysis.fuzzing import SYMBOL, VERDICTS, build, changed, changes
from tests.conftest import require_module, require_tool

NAMES = ("object", "library", "program")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("damaged")
    build(made)
    return made


def read(path: Path) -> None:
    """All ways to read a file: each gives a result, or a complaint of one line."""
    for way in (lambda: functions(path), lambda: load(path, SYMBOL), lambda: load_all(path, {SYMBOL, "batch"})):
        assert "\n" not in complaint(way)


def complaint(way: Callable[[], object]) -> str:
    try:
        way()
    except ObjectError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_any_fields_are_changed(folder: Path, name: str) -> None:
    content, path = (folder / f"{name}.elf").read_bytes(), folder / f"{name}.changed"
    single = [*changes(content)]

    @settings(max_examples=60)
    @given(st.lists(st.sampled_from(single), min_size=1, max_size=4), st.integers(0, 3 * len(content)))
    def try_all(each: list[tuple[int, bytes]], cut: int) -> None:
        path.write_bytes(changed(content, *each)[:cut])
        read(path)

    try_all()


def test_a_mistaken_name_among_many_is_answered_at_once(tmp_path: Path) -> None:
    lines = [f".globl shift_{number}\nshift_{number}: ret\n" for number in range(30_000)]
    (tmp_path / "many.s").write_text("".join(lines))
    made = tmp_path / "many.o"
    subprocess.run([require_tool("as"), str(tmp_path / "many.s"), "-o", str(made)], check=True)
    start = time.process_time()
    with pytest.raises(ObjectError, match=r"no function 'shift-7': it has shift_\d"):
        load(made, "shift-7")
    assert time.process_time() - start < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("number", [2_000, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_end_in_a_verdict_or_a_line(folder: Path, name: str, number: int) -> None:
    require_module("bitwuzla")
    words = [sys.executable, "-m", "tests.analysis.fuzzing", str(folder / f"{name}.elf"), str(-(-number // len(NAMES)))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stderr) == (0, "")
    ends = json.loads(done.stdout)
    assert ends.keys() <= VERDICTS
    assert 3 * sum(ends.values()) >= number
    assert min(ends["proved"], ends["refused"]) > sum(ends.values()) // 5  # what is damaged is told from what is not
