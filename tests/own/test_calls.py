"""A routine that calls another in its description: own ones and the catalogue's, in every kind of lanes."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import setwise
from setwise import EAST, NORT, NOT_A, NOT_H, ROOK, WEST, Board, Empty, Layout, Ray, Word
from setwise.analysis.commands.main import main
from setwise.codegen.targets import ALL_SETS, PACKED
from tests.analysis.commands.running import Capture, complaint


class Sides(NamedTuple):
    west: Board
    east: Board


@setwise.routine
def captures(pawns: Board) -> Sides:
    """Squares that White's pawns attack, to either side."""
    return Sides(pawns.step(NORT, WEST), pawns.step(NORT, EAST))


@setwise.routine
def flood(ray: Ray, gen: Board, pro: Empty) -> Board:
    """Fill one square further."""
    return gen | ray.step(gen) & pro


@setwise.routine
def neighbours(layout: Layout, pieces: Board) -> Board:
    """Squares beside pieces, along ranks and files."""
    rays = layout.rays(ROOK)
    return layout.union(ray.step(layout.board(ray, pieces)) for ray in rays)


def beside(pieces: Word) -> Word:
    return (pieces & NOT_H) << 1 | (pieces & NOT_A) >> 1 | pieces << 8 | pieces >> 8


@setwise.routine
def plain(pieces: Board, empty: Empty) -> Board:
    """Calls each kind of routine, with boards in lanes."""
    both = captures(pawns=pieces)
    assert isinstance(both, Sides)
    north = flood["nort"](pieces, empty) ^ flood(setwise.ray(NORT, NORT), pieces, empty)
    found: Board = both.west & neighbours(both.east) | north | flood(setwise.ray(WEST), 1 << 7, empty)
    return found


@plain.specification
def _(pieces: Word, empty: Word) -> Word:
    west, east = (pieces & NOT_A) << 7, (pieces & NOT_H) << 9
    north = (pieces | pieces << 8 & empty) ^ (pieces | pieces << 16 & empty)
    return west & beside(east) | north | 1 << 7 | 1 << 6 & empty


@setwise.routine
def two_far(layout: Layout, pieces: Board) -> Board:
    """Calls with boards of one lane, which share the layout, and with directions in lanes, each a board of its own."""
    far = (neighbours(ray.step(layout.board(ray, pieces))) for ray in layout.rays(ROOK))
    found: Board = layout.union(far) ^ neighbours(neighbours(pieces)) | setwise.call("leapers.knights", pieces)
    return found


@two_far.specification
def _(pieces: Word) -> Word:
    step, across = setwise.spec.step, {"nort": ("east", "west"), "sout": ("east", "west")}
    across |= {"east": ("nort", "sout"), "west": ("nort", "sout")}
    return setwise.union(step(a, step(a, step(b, pieces))) for a, sides in across.items() for b in sides)


@setwise.routine
def turned(ray: Ray, gen: Board, pro: Empty) -> Board:
    """Calls with directions in lanes."""
    found: Board = flood(ray, captures(gen).west, pro) & ~neighbours(gen)
    return found


@turned.specification
def _(direction: str, gen: Word, pro: Word) -> Word:
    west = (gen & NOT_A) << 7
    return (west | setwise.spec.step(direction, west) & pro) & ~beside(gen)


def all_proved(routine: setwise.OwnRoutine | setwise.OneDirection, isa: str) -> None:
    table = routine.prove(isa, abi="sysv")
    assert {row["status"] for row in table} == {"proved"}, [row["reason"] for row in table]


@pytest.mark.parametrize("isa", ALL_SETS)
def test_boards_in_lanes(isa: str) -> None:
    all_proved(plain, isa)
    all_proved(turned["soEa"], isa)


@pytest.mark.parametrize("isa", PACKED)
def test_directions_in_lanes(isa: str) -> None:
    all_proved(two_far, isa)
    all_proved(turned["rook"], isa)


def test_a_direction_known_at_run_time() -> None:
    all_proved(turned["any"], "x86-64")


def test_integers_and_constants() -> None:
    assert captures(1 << 9) == (1 << 16, 1 << 18)
    assert captures(setwise.constant(1 << 9)).east.number == 1 << 18
    both = setwise.call("sliders.pair", rooks=setwise.constant(1), bishops=0, occupied=0x101)
    assert both.orthogonal.number == 0x1FE
    assert both.diagonal.number == 0


HEAD = """\
import setwise
from setwise import Board, Dir8, EAST, Layout, Ray, Square

@setwise.routine
def h(layout: Layout, x: Board) -> Board:
    return layout.halves(x)[0] if layout.lanes > 1 else x

@setwise.routine
def g(x: Board, square: Square) -> Board:
    return x << square

@setwise.routine
def r(ray: Ray, x: Board) -> Board:
    return ray.step(x)

@setwise.routine
def again(x: Board) -> Board:
    return f(x)

@setwise.routine
def f(x: Board) -> Board:
"""
WRONG = {
    "return g(x)": r"f: mine.py:g takes 2 arguments \(x, square\), not these: missing a required argument: 'square'",
    "return g(x, 1, 2)": r"f: mine.py:g takes 2 arguments \(x, square\), not these: too many positional arguments",
    "return g(x, y=3)": "f: mine.py:g takes 2 arguments .* missing",
    "return g(x, 64)": "f: square of mine.py:g is 64: it is below 64",
    "return g(x, 'a1')": "f: square of mine.py:g is a str: give a board or a number",
    "return g(x, [3])": "f: square of mine.py:g is a list: give a board or a number",
    "return r(x)": "f: mine.py:r takes a ray first, such as ray.EAST., or a direction in brackets",
    "return r['up'](x)": "f: KeyError: .*has no direction 'up'",
    "return h(setwise.Layout(), x)": "f: mine.py:h takes 1 arguments .*too many",
    "return f(x)": "f: mine.py:f calls itself: repeat steps",
    "return again(x)": "again: mine.py:f calls itself: repeat steps",
    "return setwise.call('sliders.unions', x)": "f: unknown routine 'sliders.unions': the nearest names are",
    "return setwise.call('sliders.union.batch', x)": "f: sliders.union.batch works on arrays: call the routine without",
    "return setwise.call('sliders', x)": "f: sliders names 14 routines: choose one",
}


@pytest.mark.parametrize(("body", "wanted"), WRONG.items())
def test_a_wrong_call_is_one_line(body: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"{HEAD}    {body}\n")
    line = 18 if "again:" in wanted else 22
    assert re.search(rf"^setwise count: mine.py:{line}: {wanted}", complaint(capsys, "count", "mine.py:f"))


def test_what_parts_lanes_is_refused_where_lanes_hold_boards(mine: Path, capsys: Capture) -> None:
    mine.write_text(f"{HEAD}    return h(x)\n")
    assert "mine.py:6: h: lanes that hold boards have no halves" in complaint(
        capsys, "count", "mine.py:f", "--isa", "avx2"
    )
    assert main(["count", "mine.py:f"]) == 0
