"""Every bad statement of a description or a specification is one line: the statement's line, the fault, the remedy."""

import re
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from tests.analysis.commands.running import Capture, complaint, drawings, printed
from tests.conftest import runs

HEAD = """\
import numpy
from setwise import *

@routine
def f(x: Board) -> Board:
"""
"""Five lines. A body begins on line 6."""

KEPT = "    kept = []\n    (y,) = when(nonzero(x), lambda y: (kept.append(y << 1) or y << 2,), x)\n"
BODIES = {
    f"{KEPT}    z = y | kept[0]\n    return z": "8: a value is used outside the loop, when or .* return it there",
    f"{KEPT}    return kept[0]": "7: a value is used outside the loop",
    "    return x.step(NORT, 2)": "6: f: 2 is not a direction: write NORT.* for n steps write ray.NORT.",
    "    return x.step(NOEA, 9)": "6: f: 9 is not a direction",
    "    return x.step('nort')": "6: f: 'nort' is not a direction: write NORT",
    "    return x.step(8)": "6: f: 8 is not a direction",
    "    return ray('nort').step(x)": "6: f: 'nort' is not a direction",
    "    return ray(NORT, 2).step(x)": "6: f: 2 is not a direction",
    "    return ray(NORT).step(x, x)": "6: f: the number of steps must be an integer, not a board",
    "    return fills.dumb7.attacks(ray(NORT), 3, x)": "6: f: a board is needed here, not int: .* write constant",
    "    (y,) = repeat(x, lambda y: (y << 1,), x)\n    return y": "6: f: the count of repeat .* not a board: .* while_",
    "    return table(numpy.arange(8) / 2, x & 7)": "6: f: an entry of 8 bytes must be an integer, not float64",
    "    return table([x, x], x & 1)": "6: f: an entry of 8 bytes .* not a board: .* use switch",
    "    return table({1: 2}, x & 1)": "6: f: the entries of a table need an order, which a dict lacks: give a list",
    "    return table([1, 2, 3], x & 3)": "6: the index of a table of 3 may be 3: mask it, add entries, or state",
    "    return table([1, 2, 3], x)": "6: the index of a table of 3 may be any number",
    "    return table([1, 2, 3], x)\n@f.requires\ndef _(x):\n    return x < 3": "6: the index of a table of 3 may",
    "    return table(range(64), x.popcount())": "6: the index of a table of 64 may be 64",
    "    return table(range(9), 5 + x.extract_bits(9) * 2)": "6: the index of a table of 9 may be 11",
    "    (y,) = switch(x, [lambda y: (y,)], x)\n    return y": "6: the index of a switch of 1 may be any number",
    "    (y,) = switch(x, [], x)\n    return y": "6: f: a switch needs at least one function",
    "    return union(())": "6: f: union needs at least one board: for none write 0",
    "    return [1, 2][x & 1]": "6: f: a traced value has no number .*: use table",
    "    return numpy.arange(8)[x & 1]": "6: f: a traced value has no number .*: use table",
    "    for _ in range(x):\n        x = x << 1": "6: f: a traced value has no number .* while_ instead of range",
    "    return x & 1 << 64": "6: f: a constant must be from -0x10{16} to 0xf{16}, not 0x10{16}",
    "    return -1 - (1 << 64)": "6: f: a constant must be from",
    "    return x, x": "6: f: returns 2 results",
}
FILES = {
    "def f(x): return x\n@routine\ndef f(x: Board) -> Board: return x": "4: two functions are named f .lines 2 and 4",
    "def g(x): return x\ndef g(x): return x << 1": "3: two functions are named g .lines 2 and 3.: rename one",
    "@routine\ndef f(f: Board) -> Board: return f": "3: f: parameter 'f' has the routine's own name.*: rename it",
}
SPECIFICATIONS = {
    "@f.specification\ndef _(x, y):\n    return x": "5: .*missing 1 required positional argument",
    "@f.specification\ndef _(x):\n    y = x\n    return None": "7: .*returns NoneType instead of a board: return",
    "@f.specification\ndef _(x):\n    return x, x": "6: .*returns 2 results, not 1: return 1",
    "@f.specification\ndef _(x):\n    y = x\n    return y if y & 1 else 0": "7: .*: tests a word or indexes with it",
    "@f.specification\ndef _(x):\n    return union([])": "6: .*union needs at least one board",
    "@f.specification\ndef _(x):\n    return [x, x]": "6: .*returns 2 results, not 1: return 1",
    "f.specification('nothing.such')": "4: .*unknown routine 'nothing.such': .*list all",
    "f.specification('sliders.union')": "4: .*sliders.union takes 3 parameters, not 1: name one",
    "f.specification(lambda x: x)\n@f.requires\ndef _(x):\n    x & 1": "7: the requirement of .*returns NoneType",
}


@pytest.mark.parametrize(("body", "wanted"), BODIES.items())
def test_a_bad_statement(body: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"{HEAD}{body}\n")
    assert re.search(f"^setwise count: mine.py:({wanted})", complaint(capsys, "count", "mine.py:f", "--isa", "x86-64"))


@pytest.mark.parametrize(("text", "wanted"), FILES.items())
def test_a_bad_function(text: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"from setwise import *\n{text}\n")
    assert re.search(f"^setwise count: mine.py:{wanted}", complaint(capsys, "count", "mine.py", "--isa", "avx2"))


@pytest.mark.parametrize(("text", "wanted"), SPECIFICATIONS.items())
def test_a_bad_specification(text: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"from setwise import *\n@routine\ndef f(x: Board) -> Board: return x\n{text}\n")
    out = printed(capsys, "prove", "mine.py:f", "--isa", "x86-64", "--abi", "sysv", status=1)
    assert re.search(f"not proved: mine.py:{wanted}", out)


FINE = {
    "    return table(numpy.arange(8), x & 7)": "numpy",
    "    return x & -(1 << 63) | ~FILE_H & x | -1": "negative",
    "    return [x]\n@f.specification\ndef _(x):\n    return [x]": "a list of results",
    "    return fills.kogge_stone.attacks(ray(EAST), x, ALL)": "a number as a board",
    "    return ray(x.popcount() & 7).run(NOT_A, 2)": "a number as a board",
    "    return table(range(65), x.popcount())": "the bound of a popcount",
}


@pytest.mark.parametrize("body", FINE)
def test_a_good_statement_stays_good(body: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"{HEAD}{body}\n")
    assert "mine.py:f" in printed(capsys, "count", "mine.py:f", "--isa", "x86-64")
    if "specification" in body:
        assert "2 proved" in printed(capsys, "prove", "mine.py:f", "--isa", "x86-64")


COUNTED = """\
from typing import NamedTuple
from setwise import *
class Both(NamedTuple):
    board: Board
    count: Number
@routine
def counted(x: Board, n: Number) -> Both:
    return Both(x, n + 1)
@counted.specification
def _(x, n):
    return x, n + 2
"""


@runs
def test_numbers_are_printed_and_boards_are_drawn(mine: Path, capsys: Capture) -> None:
    mine.write_text(COUNTED)
    out = printed(capsys, "run", "mine.py", "a1", "0xffff", "--isa", "x86-64")
    assert "\nn: 65535\n" in out
    assert out.endswith("\n\ncount: 65536 (0x10000)\n")
    assert drawings(out).keys() == {"x", "board"}
    for command in ("prove", "check"):
        assert main([command, "mine.py", "--isa", "x86-64", "--abi", "sysv"]) == 1
        out = capsys.readouterr().out
        words = {name: int(word) for name, word in re.findall(r"^(\w.*): (\d+)\b", out, re.MULTILINE)}
        n, expected, got = (words[name] for name in ("n", "count, expected", "count, got"))
        assert expected == (n + 2) % 2**64
        assert got == (n + 1) % 2**64
        assert drawings(out).keys() == {"x", "board, expected", "board, got"}
