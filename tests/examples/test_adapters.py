"""The adapters for engines' board layouts give the threat boards that python-chess gives, for both sides."""

import shutil
import subprocess
from functools import cache
from itertools import islice
from pathlib import Path

import chess
import pytest

from setwise.analysis.commands.main import main
from tests.conftest import require_rust, require_tool, runs
from tests.positions import random_positions

ADAPTERS = Path(__file__).parent / "adapters"
COLORS = (chess.WHITE, chess.BLACK)
CXX = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
RUST = ("--edition", "2021", "-O", "-Ctarget-cpu=native", "-D", "warnings")


def threats(board: chess.Board, color: chess.Color) -> list[int]:
    """Find the squares that each kind of a side's pieces attacks, and all of them, without the other side's king."""
    kingless = board.copy(stack=False)
    kingless.remove_piece_at(next(iter(board.pieces(chess.KING, not color))))
    boards = [0] * 7
    for kind in chess.PIECE_TYPES:
        for square in kingless.pieces(kind, color):
            boards[kind - 1] |= kingless.attacks_mask(square)
        boards[6] |= boards[kind - 1]
    return boards


@cache
def cases(number: int) -> list[tuple[list[int], list[int]]]:
    """Return the twelve boards of pieces of each position and its fourteen threat boards."""
    return [
        (
            [board.pieces_mask(kind, color) for color in COLORS for kind in chess.PIECE_TYPES],
            [attacked for color in COLORS for attacked in threats(board, color)],
        )
        for board in islice(random_positions(seed=64), number)
    ]


def build(folder: Path, layout: str, language: str) -> Path:
    """Compile the driver with an adapter and the export that it includes."""
    dispatch = ("--dispatch",) if language == "c" else ()
    exported = ("export", "side.threats.any", "--isa", "all", "--format", language, "--unproved", *dispatch)
    assert main((*exported, "-o", str(folder))) == 0
    program = folder / "program"
    if language == "c":
        included = (f"-I{folder}", "-include", str(ADAPTERS / f"{layout}.hpp"))
        command = [require_tool("g++"), *CXX, *included, str(ADAPTERS / "main.cpp"), "-o", str(program)]
    else:
        shutil.copy(ADAPTERS / f"{layout}.rs", folder / "adapter.rs")
        shutil.copy(ADAPTERS / "main.rs", folder)
        command = [require_rust(), *RUST, str(folder / "main.rs"), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return program


def check(folder: Path, layout: str, language: str, number: int) -> None:
    """Compare the threat boards of an adapter with those of python-chess."""
    flip = chess.flip_vertical if layout == "a8_first" else int
    pieces, expected = zip(*cases(number), strict=True)
    lines = "\n".join(" ".join(f"{flip(board):x}" for board in boards) for boards in pieces)
    program = build(folder, layout, language)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    found = [[flip(int(board, 16)) for board in line.split()] for line in done.stdout.splitlines()]
    assert found == list(expected)


@pytest.mark.slow
@runs
def test_an_adapter(tmp_path: Path) -> None:
    check(tmp_path, "one_array", "c", 200)


@runs
@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "rust"])
@pytest.mark.parametrize("layout", ["one_array", "by_color", "two_arrays", "a8_first"])
def test_each_adapter(tmp_path: Path, layout: str, language: str) -> None:
    check(tmp_path, layout, language, 10_000)
