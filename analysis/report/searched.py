"""Kernels that `setwise shorten --record` has searched for shorter code: what it tried, and what it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import ISAS, code, table
from setwise.analysis.report.records import Record
from setwise.analysis.text import counted


class Constant(TypedDict):
    """Bits of a constant that do not matter, word by word."""

    constant: list[int]
    bits: list[int]


class Tried(TypedDict):
    """What a level tried: so many of all places; candidates, and what became of them; seconds of a processor.

    `budget` is how many seconds it had, `date` when it ended.
    """

    places: int
    all_places: int
    candidates: int
    fitting: int
    no_shorter: int
    refuted: int
    undecided: int
    seconds: float
    budget: float
    date: str


class Row(TypedDict):
    """A search of one kernel's code, of so many bytes: what each level tried, or why there was no search."""

    name: str
    isa: str
    instructions: int
    shortest: int
    refused: str
    spare: list[Constant]
    levels: dict[str, Tried]
    bytes: int
    sha256: str


STALE = " \\*"
"""What stands behind the instructions of code that is another now, as Markdown has an asterisk."""
RECORD = Record("data/shorten.json", list[Row], "setwise shorten --record")


def merged(rows: Iterable[Row], new: Sequence[Row]) -> list[Row]:
    """All rows, without those of a routine and set that a new one is of, unless of the same code.

    What was searched of one code stands together, under the set that had it first.
    """
    again, codes = {(row["name"], row["isa"]) for row in new}, {row["sha256"] for row in new}
    kept = (row for row in rows if (row["name"], row["isa"]) not in again or row["sha256"] in codes)
    searched: dict[tuple[str, str], Row] = {}
    for row in (*kept, *new):
        code_of = row["name"], row["sha256"]
        searched[code_of] = _with(searched[code_of], row) if code_of in searched else row
    # Of a direction there is one row: it takes as many instructions with any number of lanes.
    found: dict[tuple[str, str, int], Row] = {}
    for row in searched.values():
        found.setdefault((row["name"], row["isa"], row["instructions"]), row)
    return list(found.values())


def _with(before: Row, row: Row) -> Row:
    """Two searches of the same code as one; a level that both tried is the later one's."""
    return {
        **row,
        "isa": before["isa"],
        "shortest": min(before["shortest"], row["shortest"]),
        "spare": row["spare"] or before["spare"],
        "levels": {**before["levels"], **row["levels"]},
    }


def searched_table(rows: Sequence[Row], figures: Figures, least: Mapping[str, int]) -> str:
    """A row a routine and set; `least` is what a ray to the north or the south takes at least, by instruction set."""
    now = _now(figures)
    levels = sorted({level for row in rows for level in row["levels"]})
    together: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        together.setdefault((row["name"], row["isa"]), []).append(row)
    lines = []
    for (name, isa), group in sorted(together.items(), key=lambda of: (of[0][0], ISAS.index(of[0][1]))):
        stale = not any((name, isa, row["bytes"]) in now for row in group)
        tried = [[row["levels"][level] for row in group if level in row["levels"]] for level in levels]
        lines.append(
            (
                code(name),
                isa,
                ", ".join(str(row["instructions"]) for row in group) + STALE * stale,
                ", ".join(row["refused"] or str(row["shortest"]) for row in group),
                *map(_tried, tried),
                max((each["date"] for level in tried for each in level), default="-"),
                least.get(isa, "-") if name.endswith((".attacks.nort", ".attacks.sout")) else "-",
            )
        )
    return table(
        ("kernel", "isa", "instructions", "shortest", *levels, "date", "at least"),
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
    """At how many of all places a level looked, and the most seconds of a processor that it had for one kernel."""
    if not tallies:
        return "-"
    places, everywhere = sum(tally["places"] for tally in tallies), sum(tally["all_places"] for tally in tallies)
    return f"{places} of {everywhere}, {max(tally['budget'] for tally in tallies):g} s"
