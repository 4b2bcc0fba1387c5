"""The tables of the course, docs/course: each word means its definition, and each game has a row."""

import random
import re
from collections.abc import Iterable
from functools import reduce
from inspect import isfunction, signature
from operator import xor
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.spec import raywalk as spec
from setwise.codegen import fills
from setwise.codegen.board import ALL, EAST, WEST
from setwise.codegen.ir.bit_words import BitWords
from setwise.codegen.ir.ray import ray
from setwise.codegen.ir.values import CompassRay, Ray, constant
from tests.examples.test_games import CHECKED, FILES

COURSE = Path(__file__).parents[2] / "docs" / "course"
ROW = r"^\| (`x\..*) \| .* \| `(.*)` \|$"
CELLS = re.findall(ROW, (COURSE / "words.md").read_text("utf-8"), re.MULTILINE)
ROWS = [(word, meant) for words, meant in CELLS for word in re.findall("`x[.](.*?)`", words)]


FILLS = [
    (call, specification)
    for calls, specification in re.findall(ROW.replace("x", "fills"), (COURSE / "calls.md").read_text("utf-8"), re.M)
    for call in re.findall("`(.*?)`", calls)
]


def squares(board: int) -> list[int]:
    return [square for square in range(64) if board >> square & 1]


def signed(number: int) -> int:
    return number - (number >> 63 << 64)


def xor_of(numbers: Iterable[int]) -> int:
    return reduce(xor, numbers, 0)


def defined(definition: str, values: dict[str, int]) -> tuple[int, ...]:
    """The numbers that a definition gives, modulo 2**64; that of a reflection says where each square goes."""
    names: dict[str, Any] = {"squares": squares, "signed": signed, "xor": xor_of, **values}
    if "file" in definition:
        places = ({**names, "file": square % 8, "rank": square // 8} for square in squares(values["x"]))
        return (sum(1 << file + 8 * rank for file, rank in (eval(definition, each) for each in places)),)
    found = eval(definition, names)
    return tuple(number & ALL for number in (found if isinstance(found, tuple) else (found,)))


def inputs() -> Iterable[dict[str, int]]:
    numbers = [0, 1, 1 << 63, ALL, *(random.Random(50).getrandbits(64) for _ in range(20))]
    for x in numbers:
        for y in numbers:
            yield {"x": x, "y": y, "m": y, "n": y % 64, "c": y & 1}


@pytest.mark.parametrize(("call", "specification"), FILLS)
def test_a_fill_gives_what_its_row_specifies(call: str, specification: str) -> None:
    names = {"fills": fills, "spec": spec, "ALL": ALL, "east": ray(EAST), "west": ray(WEST)}
    chance = random.Random(call)
    for _ in range(50):
        empty = chance.getrandbits(64) | chance.getrandbits(64)
        sliders, square, board = chance.getrandbits(64) & ~empty, chance.randrange(64), chance.getrandbits(64)
        words = {"sliders": sliders, "empty": empty, "occupied": ALL ^ empty, "square": square, "board": board}
        made = eval(call, names | {name: constant(number) for name, number in words.items()})
        assert made.number == eval(specification, names | words), words


def test_every_fill_along_a_ray_is_listed() -> None:
    functions = {
        f"fills.{module.__name__.rpartition('.')[2]}.{name}"
        for module in (fills.dumb7, fills.kogge_stone, fills.push, fills.subtraction)
        for name, function in vars(module).items()
        if isfunction(function) and not name.startswith("_")
        if next(iter(signature(function).parameters.values())).annotation in (Ray, CompassRay)
    }
    assert len(functions) > 20
    assert functions <= {call.partition("(")[0] for call, _ in FILLS}


@pytest.mark.parametrize(("word", "definition"), ROWS)
def test_a_word_means_its_definition(word: str, definition: str) -> None:
    for values in inputs():
        made = eval(f"x.{word}", {**values, "x": constant(values["x"])})
        made = made if isinstance(made, tuple) else (made,)
        assert tuple(value.number for value in made) == defined(definition, values), values


def test_every_word_has_a_row() -> None:
    words = {word.partition("(")[0] for word, _ in ROWS}
    assert {name for name in dir(BitWords) if not name.startswith("_")} - {"constant"} <= words


def test_the_first_page_shows_what_new_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "zone"]) == 0
    page = (COURSE.parent / "own-routines.md").read_text("utf-8")
    assert f"$ cat zone.py\n{Path('zone.py').read_text('utf-8')}```" in page


def test_every_game_has_a_row() -> None:
    text = (COURSE / "examples.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+\.py)` \| [^|]+ \| [^|]+ \| (proved|checked) \|$", text, re.MULTILINE)
    assert rows == [(file, "checked" if file in CHECKED else "proved") for file in FILES]
