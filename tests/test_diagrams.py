"""What the literature's pages draw, list and count: printed by setwise and compared with the page.

Each row names a page and the part of it between two pieces of its text, what stands there, and what setwise prints for
it. The pages' text is a damaged copy: what is lost or wrong there is said in the row. Functions and tables in C are
compared in tests/test_printed.py.
"""

import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from operator import eq
from typing import Any

import pytest

from setwise.analysis.commands.main import main
from tests.seeds import FILES, pages

ALL = "0xffff_ffff_ffff_ffff"
EIGHT_CELLS = re.compile(r"(?<!\S)[.01](?: ?[.01]){7}(?!\S)")
Board = tuple[str, ...]


@cache
def told(*arguments: str) -> str:
    """What a command prints."""
    with redirect_stdout(StringIO()) as out:
        assert main(arguments) == 0
    return out.getvalue()


def boards(text: str) -> list[Board]:
    """The boards of a drawing, a row of them at a time from left to right; lines need not be aligned.

    A board of which lines are lost ends with the drawing.
    """
    done: list[Board] = []
    columns: dict[int, list[str]] = {}
    for line in text.splitlines():
        for found in EIGHT_CELLS.finditer(line):
            near = (column for column in columns if abs(column - found.start()) <= 4)
            columns.setdefault(next(near, found.start()), []).append(found[0].replace(" ", ""))
        if columns and all(len(rows) == 8 for rows in columns.values()):
            done += [tuple(columns[column]) for column in sorted(columns)]
            columns = {}
    return done + [tuple(columns[column]) for column in sorted(columns)]


# -- what the pages hold, and what is printed for it


def slow_motion(text: str) -> list[Board]:
    """Sliders and empty squares, then three boards for each of the cycles 1, 2, 3 and 6."""
    return [board for part in re.split(r"\d\.fill", text) for board in boards(part)]


def our_slow_motion() -> list[Board]:
    given, *cycles = re.split(r"\d\. fill", told("trace"))
    return boards(given) + [board for number in (1, 2, 3, 6) for board in boards(cycles[number - 1])]


def as_far_as_drawn(page: list[Board], ours: list[Board]) -> bool:
    """Whether boards are the same; where lines are lost, whether those with squares come in the same order."""

    def alike(one: Board, other: Board) -> bool:
        rest = iter(other)
        return one == other or (len(one) < 8 and all(line in rest for line in one if line != "........"))

    return len(page) == len(ours) and all(map(alike, page, ours))


def listings(text: str) -> tuple[list[str], list[str]]:
    """The operands of both listings, each in its column."""
    each: tuple[list[str], list[str]] = ([], [])
    for line in text.splitlines():
        if found := re.search(r"(r[a-d]x)[,.] ?(\w+)", line):
            each[found.start() > 40].append(f"{found[1]},{found[2]}")
    return each


def mnemonics(text: str) -> tuple[dict[str, int], dict[str, int]]:
    """How often each mnemonic stands in either column."""
    each: tuple[list[str], list[str]] = ([], [])
    for found in re.finditer(r"^( +)(mov|shr|and|or)\b", text, re.MULTILINE):
        each[len(found[1]) > 20].append(found[2])
    left, right = ({word: column.count(word) for word in ("mov", "shr", "and", "or")} for column in each)
    return left, right


def our_columns() -> tuple[list[str], list[str]]:
    """The listings of `setwise compare`."""
    lines = told("compare", "dumb7.attacks.sout", "kogge-stone.attacks.sout", "--abi", "wiki").splitlines()
    width = lines[0].index("kogge-stone")
    return [line[:width].strip() for line in lines], [line[width:].strip() for line in lines]


def our_listings() -> tuple[list[str], list[str]]:
    left, right = ([line.partition(" ")[2] for line in column if "," in line] for column in our_columns())
    return left, right


def our_mnemonics() -> tuple[dict[str, int], dict[str, int]]:
    left, right = (
        {word: sum(line.startswith(f"{word} ") for line in column) for word in ("mov", "shr", "and", "or")}
        for column in our_columns()
    )
    return left, right


def our_operations() -> list[int]:
    """Those of both listings, and how many more the left one has."""
    left, right = (int(re.findall(r"(\d+) operations", "\n".join(column))[0]) for column in our_columns())
    return [left, right, left - right]


def counts(text: str) -> list[str]:
    return sorted(re.findall(r"\d+ (?:moves?|operations|instructions)", text))


def network(text: str) -> list[str]:
    """The lines of a network, whatever spaces are between wires."""
    return ["".join(line.split()) for line in text.replace(";\\", ":\\").splitlines() if line.strip()]


def our_network() -> list[str]:
    return network(told("trace", "kogge-stone.occluded.nort", "--network").partition("\n")[2])


def sse2(text: str) -> list[str]:
    return [" ".join(found) for found in re.findall(r"\b(movdqa|pandn|psubb|pxor) (xmm\d), ?(xmm\d)", text)]


def our_sse2() -> str:
    return told("listing", "subtraction.attacks-cleared.east", "--isa", "sse2", "--abi", "wiki")


def of_piece(text: str) -> list[Board]:
    """Boards around a square, which is marked."""
    return boards(re.sub(r"\bs\b", ".", text.replace("sq", " .")))


def tabled(name: str) -> list[Board]:
    """A table's board of d4, which has number 28."""
    return [boards(told("table", name))[28]]


def explosion(piece: str) -> list[Board]:
    """All boards that an explosion's registers hold."""
    return boards(told("trace", f"exploding.{piece}.big-endian", "d4", ALL, "--registers"))


@dataclass(frozen=True)
class Row:
    """A part of a page, up to and without `end`: what stands there, and the same from what setwise prints."""

    page: str
    what: str
    start: str
    end: str
    read: Callable[[str], Any]
    ours: Callable[[], Any]
    damage: str = ""
    """What is lost or wrong on the page; then `same` says what can still be compared."""
    same: Callable[[Any, Any], bool] = eq

    def part(self, text: str) -> tuple[int, int]:
        """Where it begins and ends."""
        first = text.index(self.start)
        return first, text.index(self.end, first + len(self.start))


AROUND = (6, 7, 0, 5, 1, 4, 3, 2)
"""The directions' numbers as a compass rose has them, line by line."""
ROWS = (
    Row(
        "dumb7",
        "slow motion",
        "Some south fill cycles",
        "The flood already stopped",
        slow_motion,
        our_slow_motion,
        damage="lines are lost",
        same=as_far_as_drawn,
    ),
    Row("dumb7", "the comparison's operands", "; dumb7fill", "  1 move", listings, our_listings),
    Row(
        "dumb7",
        "the comparison's mnemonics",
        "; dumb7fill",
        "Thus, dumb7fill",
        mnemonics,
        our_mnemonics,
        damage="on the right two and, and two or, are lost",
        same=lambda page, ours: page[0] == ours[0] and page[1] | {"and": 5, "or": 3} == ours[1],
    ),
    Row(
        "dumb7",
        "the comparison's counts",
        "  shr\n       rax. 8",
        "Thus, dumb7fill",
        counts,
        lambda: counts("\n".join(line for column in our_columns() for line in column)),
    ),
    *(
        Row(
            page,
            "operations in prose",
            "That takes",
            "Kogge-Stone needs more",
            lambda text: [int(number) for number in re.findall(r"\d+", text)],
            our_operations,
        )
        for page in ("dumb7", "dumb7-prose")
    ),
    Row(
        "dumb7",
        "the avoidWrap masks drawn",
        "6 == noWe",
        "Unrolled Attacks",
        lambda text: [board for part in re.split(r"^\d ==", text, flags=re.MULTILINE) for board in boards(part)],
        lambda: [boards(told("table", "avoidWrap"))[at] for at in AROUND],
        damage="lines are lost",
        same=as_far_as_drawn,
    ),
    Row("kogge-stone", "the network", "x1 x2", "</pre>", network, our_network),
    Row("isenberg", "the SSE2 listing", "movdqa", "I like to emulate", sse2, lambda: sse2(our_sse2())),
    *(
        Row("exploding", f"a {piece}'s {what}", f"{start} {piece}", "*/", of_piece, partial(tabled, name + letter))
        for piece, letter in (("bishop", "B"), ("rook", "R"))
        for what, start, name in (
            ("first step", "First expanding step (explosion) for a", "init"),
            ("rays", "Mask for", "mask"),
        )
    ),
    Row(
        "exploding",
        "a bishop's explosion",
        "= init               >>= 9",
        "*/",
        of_piece,
        lambda: explosion("bishop"),
        same=lambda page, ours: len(page) == 5 and {*page} <= {*ours},
    ),
    Row(
        "exploding",
        "a rook's explosion",
        "= init               >>= 8",
        "*/",
        of_piece,
        lambda: explosion("rook"),
        damage="the product and what is masked of it are drawn without what its sums carry",
        same=lambda page, ours: {page[at] for at in (0, 1, 4)} <= {*ours},
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.page}: {row.what}")
def test_what_the_page_shows_is_what_setwise_prints(row: Row) -> None:
    text = pages()[row.page]
    first, end = row.part(text)
    page, ours = row.read(text[first:end]), row.ours()
    assert page
    assert row.same(page, ours), (page, ours)
    assert row.same is not eq or (page == ours and not row.damage)


SHOWN = {
    "a board": EIGHT_CELLS,
    "an instruction": re.compile(r"^\s*(?:mov|movdqa|p\w+|shr|and|or)\s+\w+[,.] ?\w+", re.MULTILINE),
    "a count": re.compile(r"\d+ (?:moves?|operations|instructions)"),
    "a network": re.compile(r"\|\\ *\|"),
}


@pytest.mark.parametrize("page", FILES)
def test_nothing_that_a_page_shows_is_left_out(page: str) -> None:
    rest = text = pages()[page]
    parts = [text[slice(*row.part(text))] for row in ROWS if row.page == page]
    for part in sorted(parts, key=len, reverse=True):
        rest = rest.replace(part, "\n")
    left = {what: found[0] for what, sought in SHOWN.items() if (found := sought.search(rest))}
    assert not left
