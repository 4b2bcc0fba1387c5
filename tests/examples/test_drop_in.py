"""A file in an engine's place, with the engine's signatures, attacks what the ray-walk says."""

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.spec import raywalk
from tests.conftest import require_rust, runs

HERE = Path(__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "engine-authors.md"
ALL = 2**64 - 1


def random_pieces(random: Random) -> tuple[int, int, int, int, int, int]:
    """Bishops, rooks, queens, knights and pawns of one side, and what is occupied by both."""
    squares = random.sample(range(64), random.randint(1, 40))
    boards = [0] * 6
    for square in squares:
        boards[random.randrange(6)] |= 1 << square
    return boards[0], boards[1], boards[2], boards[3], boards[4], sum(boards)


@pytest.mark.slow
@runs
def test_the_engines_functions(tmp_path: Path) -> None:
    for name in ("attacks.rs", "drop_in.rs"):
        shutil.copy(HERE / name, tmp_path)
    told = re.search(r"^\$ setwise export (.* -o kernels)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert told is not None
    names = told[1].removesuffix("kernels").split()
    assert main(("export", *names, str(tmp_path / "kernels"), "--unproved")) == 0
    flags = ("--edition", "2021", "-O", "-Ctarget-cpu=native")
    done = subprocess.run([require_rust(), *flags, "drop_in.rs"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    random = Random(20)
    for _ in range(200):
        boards = random_pieces(random)
        bishops, rooks, queens, knights, pawns, occupied = boards
        expected = [
            raywalk.union(rooks | queens, bishops | queens, occupied ^ ALL),
            raywalk.union(0, bishops, occupied ^ ALL),
            raywalk.union(rooks, 0, occupied ^ ALL),
            raywalk.union(queens, queens, occupied ^ ALL),
            raywalk.with_knights(0, 0, knights, occupied ^ ALL),
            raywalk.side("white", 0, 0, 0, 0, pawns, occupied ^ ALL),
            raywalk.side("black", 0, 0, 0, 0, pawns, occupied ^ ALL),
        ]
        words = [f"{board:x}" for board in boards]
        run = subprocess.run([tmp_path / "drop_in", *words], capture_output=True, text=True)
        assert run.stdout.splitlines() == [f"{attacked:016x}" for attacked in expected], boards
