"""Boards that are not 8 by 8: their squares, steps and rays against walks by file and rank, their text and errors."""

import pickle
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from setwise import fills, spec
from setwise.analysis.commands.main import main
from setwise.codegen.board import DIR8, EAST, NORT, Direction
from setwise.codegen.ir.grid import Grid
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.values import constant
from setwise.codegen.own.user_files import routines_named
from tests.analysis.commands.running import Capture, complaint
from tests.conftest import require_module

GRIDS = [
    Grid(7, 6, gap=1),
    Grid(7, 6, 1, by_files=True),
    Grid(7, 7),
    Grid(5, 5, gap=3),
    Grid(1, 64),
    Grid(16, 4),
    *(Grid(8, 8, wrap=wrap) for wrap in ("", "files", "ranks", "both")),
    Grid(6, 7, wrap="both", by_files=True),
    Grid(3, 3, wrap="both"),
    Grid(8, 8, dark=True),
    Grid(10, 10, gap=1, dark=True),
    Grid(8, 6, wrap="both", dark=True),
]
LEAPS = [*((direction,) for direction in DIR8), (NORT, NORT, EAST), (EAST,) * 5]
each = pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.name)


def boards(grid: Grid) -> list[int]:
    chance = random.Random(grid.name)
    return [grid.all, *(chance.getrandbits(64) & grid.all for _ in range(20))]


def moved(grid: Grid, board: int, steps: tuple[Direction, ...]) -> int:
    """Walk from every square, by file and rank."""
    files, ranks = sum(step.file_step for step in steps), sum(step.rank_step for step in steps)
    reached = 0
    for rank, file in product(range(grid.ranks), range(grid.files)):
        start, end = grid.at(file, rank), grid.at(file + files, rank + ranks)
        reached |= (min(start, end) >= 0 and board >> start & 1) << max(end, 0)
    return reached


@each
@pytest.mark.parametrize("steps", LEAPS, ids=str)
def test_a_step_moves_each_square(grid: Grid, steps: tuple[Direction, ...]) -> None:
    for board in boards(grid):
        assert grid.step(constant(board), *steps).number == moved(grid, board, steps)
        if len(steps) == 1:
            assert spec.step(steps[0].name, board, grid) == moved(grid, board, steps)


@each
@pytest.mark.parametrize("direction", DIR8, ids=str)
def test_fills_follow_its_rays(grid: Grid, direction: Direction) -> None:
    """Fills of both kinds agree with the walk along lines; rays that are too long for them are refused."""
    longest = max(
        [len(set(line)) + (line[1:] != [] and line[0] in line[1:]) for line in spec.lines(direction.name, grid)]
    )
    if longest > 8:
        with pytest.raises(ValueError, match="more than 7 steps: write a loop of grid"):
            grid.ray(direction)
        return
    ray = grid.ray(direction)
    for sliders, empty in zip(boards(grid), boards(grid)[::-1], strict=True):
        given = constant(sliders), constant(empty)
        walked = spec.attacks(direction.name, sliders, empty, grid)
        assert fills.kogge_stone.attacks(ray, *given).number == fills.dumb7.attacks(ray, *given).number == walked
        assert fills.kogge_stone.occluded(ray, *given).number == spec.occluded(direction.name, sliders, empty, grid)
        run = path = ray.path(given[1]).number
        assert path == empty & moved(grid, grid.all, (direction,))
        for n in range(2, 8):
            run = path & moved(grid, run, (direction,))
            assert ray.run(given[1], n).number == run
        assert ray.opposite.step(given[0]).number == moved(grid, sliders, (direction.opposite,))


@each
def test_lanes_hold_directions(grid: Grid) -> None:
    directions = [d for d in DIR8 if max(len(line) for line in spec.lines(d.name, grid)) <= 7]
    layout = Layout(8, both_sides=True)
    for ray in grid.rays(layout, directions) if directions else ():
        for board in boards(grid)[:3]:
            stepped = ray.step(layout.board(ray, constant(board)), 2)
            lanes = layout.directions(ray) * (stepped.lanes // len(ray.directions))
            assert stepped.constant == tuple(moved(grid, board, (direction,) * 2) for direction in lanes)


@each
def test_text_and_numbers_of_its_squares(grid: Grid) -> None:
    names = [grid.square_name(number) for number in grid.numbers if number >= 0]
    assert [grid.square(name) for name in names] == [number for number in grid.numbers if number >= 0]
    assert len(set(names)) == grid.all.bit_count()
    assert grid.parse_board(" ".join(names)) == grid.all
    assert pickle.loads(pickle.dumps(grid)) == grid
    files = [grid.file("abcdefghijklmnop"[file]) for file in range(grid.files)]
    assert sum(files) == sum(grid.rank(rank + 1) for rank in range(grid.ranks)) == grid.all


def test_numbers_of_squares() -> None:
    """Connect-4 both ways, and the 32 squares of checkers, densely and with steps of 4 and 5 alone."""
    assert [Grid(7, 6, gap=1).square(name) for name in ("a1", "g1", "a2", "g6")] == [0, 6, 8, 46]
    assert [Grid(7, 6, gap=1, by_files=True).square(name) for name in ("a1", "a6", "b1", "g6")] == [0, 5, 7, 47]
    assert [Grid(8, 8, dark=True).square(name) for name in ("a1", "g1", "b2", "h8")] == [0, 3, 4, 31]
    padded = Grid(8, 8, gap=1, dark=True)
    assert [padded.square(name) for name in ("a1", "b2", "a3", "h8")] == [0, 5, 9, 35]


WRONG: dict[str, tuple[Any, ...]] = {
    r"Grid\(0, 3\): give 1 to 26 files, 1 to 64 ranks": (0, 3),
    r"Grid\(9, 9\) takes 81 bits: a board has 64": (9, 9),
    r"Grid\(7, 6, gap=-1\): give .* a gap of 0 or more": (7, 6, -1),
    r"Grid\(7.0, 6\): give whole numbers": (7.0, 6),
    r"Grid\('7', 6\): give whole numbers": ("7", 6),
    r"Grid\(8, 8, wrap=True\): write wrap=\"files\", \"ranks\" or \"both\"": (8, 8, 0, True),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_grid_that_cannot_be_is_refused(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Grid(*WRONG[message])


def test_what_a_grid_does_not_have() -> None:
    grid, dark = Grid(7, 6, gap=1), Grid(8, 8, dark=True)
    for ask, message in (
        (lambda: grid.square("h1"), "no square 'h1': write a file a to g and a rank 1 to 6, as in e4"),
        (lambda: grid.square("a7"), "no square 'a7'"),
        (lambda: dark.square("b1"), "no square b1: squares are Grid"),
        (lambda: grid.square_name(7), "no square 7: squares are Grid"),
        (lambda: grid.file("h"), "no file 'h': files are a to g"),
        (lambda: grid.rank(0), "no rank 0: ranks are 1 to 6"),
        (lambda: grid.parse_board("0x80"), "0x0000_0000_0000_0080 has bits without a square"),
        (lambda: dark.parse_board("b1"), "no square b1"),
        (lambda: Grid(7, 7, wrap="files", dark=True), "wrap only around an even number"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


FILE = """\
import setwise
from setwise import EAST, Board, Empty, Grid, Number, Ray, Square, fills, spec

GRID = Grid(6, 5, gap=1)

@setwise.routine(grid=GRID)
def slide(ray: Ray, own: Board, empty: Empty) -> Board:
    return fills.kogge_stone.attacks(ray, own, empty)

@slide.specification
def _(direction, own, empty):
    return spec.attacks(direction, own, empty, GRID)

@setwise.routine(grid=GRID)
def beside(own: Board, square: Square) -> Board:
    return GRID.step(own, EAST) | 1 << square

@beside.specification
def _(own, square):
    return spec.step("east", own, GRID) | 1 << square

@setwise.routine(grid=GRID)
def plus(own: Board, number: Number) -> Board:
    return own + number
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(FILE, "utf-8")
    return path


def test_commands_draw_and_take_its_squares(file: Path, capsys: Capture) -> None:
    assert main(["run", "mine.py:beside", "a1,f5", "c2", "--isa", "x86-64", "--coordinates"]) == 0
    out = capsys.readouterr().out
    assert "squares: Grid(6, 5, gap=1): a1 = 0, f1 = 5, a5 = 28, f5 = 33\nsquare: c2 (9)" in out
    assert f"5  . . . . . 1{' ' * 11}5  . . . . . .\n" in out
    assert f"1  1 . . . . .{' ' * 11}1  . 1 . . . .\n   a b c d e f" in out
    drawing = "\n".join([". . . . . 1", *[". . . . . ."] * 3, "1 . . . . ."])
    assert main(["run", "mine.py:beside", drawing, "9", "--isa", "x86-64", "--coordinates"]) == 0
    assert capsys.readouterr().out == out


def test_a_number_may_have_other_bits(file: Path, capsys: Capture) -> None:
    assert main(["run", "mine.py:plus", "a1", "0xff", "--isa", "x86-64"]) == 0
    out = capsys.readouterr().out
    assert "number: 255" in out
    assert "0x0000_0000_0000_0001    0x0000_0000_0000_0100" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["g1", "c2"], "squares as in a1,f5, or 5 drawn lines"),
        (["0x40", "c2"], "has bits without a square"),
        (["a1", "6"], "requires all squares within Grid(6, 5, gap=1)"),
        (["c2", "--fen", "startpos"], "--fen describes 8 files and 8 ranks, not Grid"),
    ],
)
def test_squares_outside_are_refused(arguments: list[str], message: str, file: Path, capsys: Capture) -> None:
    assert message in complaint(capsys, "run", "mine.py:beside", *arguments)


def test_it_is_proved_and_checked(file: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    require_module("numpy")
    for command in ("prove", "check"):
        for name in ("slide.noEa", "slide.rook", "beside"):
            assert main([command, f"mine.py:{name}", "--isa", "x86-64", "--abi", "sysv"]) == 0
    assert [routine.direction for routine in routines_named("mine.py:slide")][-2:] == ["bishop", "queen"]
    (required,) = routines_named("mine.py:slide.rook")[0].contract.required
    assert required == "all squares within Grid(6, 5, gap=1): a1 = 0, f1 = 5, a5 = 28, f5 = 33"


def test_a_wrong_step_is_refuted(file: Path, capsys: Capture) -> None:
    """A shift past the edge of a grid without a gap; the picture has the grid's squares."""
    require_module("bitwuzla")
    text = FILE.replace("GRID.step(own, EAST)", "own << 1").replace("gap=1", "gap=0")
    file.write_text(text, "utf-8")
    assert main(["prove", "mine.py:beside", "--isa", "x86-64", "--abi", "sysv"]) == 1
    out = capsys.readouterr().out
    assert "confirmed by stepping" in out
    assert "\n. . . . . . " in out
    assert ". . . . . . ." not in out


def test_steps_of_the_chess_board_are_refused(file: Path, capsys: Capture) -> None:
    file.write_text(FILE.replace("GRID.step(own, EAST)", "own.step(EAST)"), "utf-8")
    assert "write grid.step(board, EAST)" in complaint(capsys, "count", "mine.py:beside")


def test_a_grid_is_a_grid(file: Path, capsys: Capture) -> None:
    file.write_text(FILE.replace("(grid=GRID)", "(grid=8)"), "utf-8")
    assert "grid=8 is not a grid: give a setwise.Grid" in complaint(capsys, "count", "mine.py:beside")
