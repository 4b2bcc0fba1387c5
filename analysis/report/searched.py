"""Kernels that `setwise shorten --record` has searched for shorter code: what it tried, and what it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from setwise.analysis.report.files import as_json, from_json
from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import code, table

PATH = "data/shorten.json"
COMMAND = "setwise shorten --record"

Row = dict[str, Any]
"""Name, isa, SHA-256 of the code, instructions, shortest; date, seconds a level, levels with what each tried."""


def recorded(folder: Path) -> list[Row]:
    """What is recorded in that reports' folder, empty if there is nothing; ValueError where it is damaged."""
    return from_json(folder / PATH, _read, f"make it anew by {COMMAND}") or []


def _read(held: dict[str, Any]) -> list[Row]:
    rows: list[Row] = held["rows"]
    searched_table(rows, Figures(), {})  # it has all that the page wants
    return rows


def merged(rows: Iterable[Row], new: Sequence[Row]) -> list[Row]:
    """All rows, without those that are of the routines and instruction sets of new ones."""
    again = {(row["name"], row["isa"]) for row in new}
    kept = [*(row for row in rows if (row["name"], row["isa"]) not in again), *new]
    # Of a direction there is one row: it takes as many instructions with any number of lanes.
    return list({(row["name"], row["isa"], row["instructions"], row["shortest"]): row for row in kept}.values())


def searched_json(rows: Sequence[Row]) -> str:
    """The file that holds them."""
    return as_json(rows, f"{COMMAND}; setwise report shows it")


def searched_table(rows: Sequence[Row], figures: Figures, least: Mapping[str, int]) -> str:
    """A row a kernel; `least` is what a ray to the north or the south takes at least, by instruction set."""
    now = {(kernel.name, kernel.isa, kernel.counts.instructions) for kernel in figures.values()}
    lines = []
    for row in rows:
        changed = "" if (row["name"], row["isa"], row["instructions"]) in now else " (changed since)"
        tried = [f"{level}: {_tried(tally)}" for level, tally in row["levels"].items()]
        bound = least.get(row["isa"], "-") if row["name"].endswith((".attacks.nort", ".attacks.sout")) else "-"
        lines.append(
            (
                *(code(row["name"]), row["isa"], f"{row['instructions']}{changed}", row["shortest"]),
                *("; ".join(tried) or row["refused"], f"{row['budget']:g} s, {row['date']}", bound),
            )
        )
    return table(("kernel", "isa", "instructions", "shortest", "levels", "budget a level", "at least"), lines, left=2)


def _tried(tally: Mapping[str, Any]) -> str:
    places, everywhere = tally["places"], tally["all_places"]
    return f"{'all' if places == everywhere else f'{places} of'} {everywhere} places, {tally['candidates']:,} tried"
