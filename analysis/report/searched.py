"""Kernels that `setwise shorten --record` has searched for shorter code: what it tried, and what it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import code, table
from setwise.analysis.report.records import Record
from setwise.analysis.text import counted


class Constant(TypedDict):
    """Bits of a constant that do not matter, word by word."""

    constant: list[int]
    bits: list[int]


class Tried(TypedDict):
    """What a level tried: so many of all places; candidates, and what became of them; seconds of a processor."""

    places: int
    all_places: int
    candidates: int
    fitting: int
    no_shorter: int
    refuted: int
    undecided: int
    seconds: float


class Row(TypedDict):
    """A search of one kernel's code, of so many bytes, with a budget in seconds of processor time for each level.

    `levels` is what each tried; or `refused` says why there was no search.
    """

    name: str
    isa: str
    instructions: int
    shortest: int
    refused: str
    spare: list[Constant]
    levels: dict[str, Tried]
    bytes: int
    sha256: str
    budget: float
    date: str


STALE = " \\*"
"""What stands behind the instructions of code that is another now, as Markdown has an asterisk."""
RECORD = Record("data/shorten.json", list[Row], "setwise shorten --record")


def merged(rows: Iterable[Row], new: Sequence[Row]) -> list[Row]:
    """All rows, without those of a routine and set that a new one is of, unless of the same code and other levels."""
    again: dict[tuple[str, str], dict[str, set[str]]] = {}
    for row in new:
        again.setdefault((row["name"], row["isa"]), {})[row["sha256"]] = {*row["levels"]}

    def stays(row: Row) -> bool:
        codes = again.get((row["name"], row["isa"]))
        return codes is None or not {*row["levels"]} <= codes.get(row["sha256"], {*row["levels"]})

    kept = [*filter(stays, rows), *new]
    # Of a direction there is one row: it takes as many instructions with any number of lanes.
    found: dict[tuple[object, ...], Row] = {}
    for row in kept:
        found.setdefault((row["name"], row["isa"], row["instructions"], *row["levels"]), row)
    return list(found.values())


def searched_table(rows: Sequence[Row], figures: Figures, least: Mapping[str, int]) -> str:
    """A row a routine and set; `least` is what a ray to the north or the south takes at least, by instruction set."""
    now = _now(figures)
    together: dict[tuple[str, str, str, tuple[str, ...], str], list[Row]] = {}
    for row in rows:
        key = (row["name"], row["isa"], f"{row['budget']:g} s, {row['date']}", tuple(row["levels"]), row["refused"])
        together.setdefault(key, []).append(row)
    lines = []
    for (name, isa, budget, levels, refused), group in together.items():
        stale = not any((name, isa, row["bytes"]) in now for row in group)
        bound = least.get(isa, "-") if name.endswith((".attacks.nort", ".attacks.sout")) else "-"
        tried = [f"{level}: {_tried([row['levels'][level] for row in group])}" for level in levels]
        numbers = [", ".join(str(row[which]) for row in group) for which in ("instructions", "shortest")]
        lines.append(
            (
                *(code(name), isa, numbers[0] + STALE * stale, numbers[1]),
                *("; ".join(tried) or refused, budget, bound),
            )
        )
    return table(
        ("kernel", "isa", "instructions", "shortest", "places, candidates", "processor time a level", "at least"),
        lines,
        left=2,
    )


def not_applied(rows: Sequence[Row], figures: Figures) -> dict[str, str]:
    """What is said of each kernel for which shorter code was found, where its code still is as it was searched."""
    now = _now(figures)
    return {
        f"{row['name']} {row['isa']}": f"was found in {row['shortest']} instructions, and takes {row['instructions']}"
        for row in rows
        if row["shortest"] < row["instructions"] and (row["name"], row["isa"], row["bytes"]) in now
    }


def _now(figures: Figures) -> set[tuple[str, str, int]]:
    """The code that there is now: routine, set, bytes."""
    return {(kernel.name, kernel.isa, kernel.code_bytes) for kernel in figures.values()}


def searched_summary(rows: Sequence[Row]) -> dict[str, object]:
    """How many kernels were searched, how many of them everywhere, and in how many shorter code was found."""
    tried = [row for row in rows if row["levels"]]
    whole = [row for row in tried if all(t["places"] == t["all_places"] for t in row["levels"].values())]
    found = sum(row["shortest"] < row["instructions"] for row in tried)
    return {"searches": counted(len(tried), "search"), "whole": len(whole), "found": found}


def _tried(tallies: Sequence[Tried]) -> str:
    places, everywhere = sum(tally["places"] for tally in tallies), sum(tally["all_places"] for tally in tallies)
    candidates = sum(tally["candidates"] for tally in tallies)
    return f"{places} of {everywhere}, {candidates:,}"
