"""What compilers' code could do without, as `setwise report --measure waste` searched it, beside what they made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from setwise.analysis.measure.compilers import Compiled, Compiler, compile_all, installed
from setwise.analysis.report.records import Record
from setwise.analysis.run.workers import Workers
from setwise.analysis.search.forms import SearchError
from setwise.analysis.search.search import length
from setwise.analysis.search.subject import Subject
from setwise.analysis.search.waste import spared

LEVELS = ("a", "b")
BUDGET = 10.0
"""Seconds of processor time a level of a function."""

_KEPT_EVERY = 20  # functions

Key = tuple[str, str, int, str, str, str]
"""Routine, instruction set, lanes, kind of source, compiler, flags."""


@dataclass(frozen=True, slots=True)
class Waste:
    """A function of a compiler's: its instructions, the fewest found, and of each level at how many of all places it
    looked; or why it was not searched. `sha256` is that of the code."""

    routine: str
    isa: str
    lanes: int
    kind: str
    compiler: str
    flags: str
    sha256: str
    instructions: int
    fewest: int
    date: str
    budget: float
    levels: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    reason: str = ""

    @property
    def key(self) -> Key:
        """What function it is."""
        return self.routine, self.isa, self.lanes, self.kind, self.compiler, self.flags

    @property
    def wasted(self) -> int:
        """How many instructions it could do without."""
        return self.instructions - self.fewest

    @property
    def whole(self) -> bool:
        """Whether all places were looked at."""
        return all(places == everywhere for places, everywhere in self.levels.values())


RECORD = Record("data/waste.json", tuple[Waste, ...], "setwise report --measure waste")


def measure(wanted: Sequence[Key], folder: Path, progress: Callable[[str], None]) -> tuple[Waste, ...]:
    """Search these functions, if the compilers that are here make them; what is recorded of the same bytes stays.

    What is found is written into the folder now and then, so that after an interrupt the search goes on from there.
    """
    rows = {row.key: row for row in RECORD.read(folder) or ()}
    with Workers() as workers:
        making = [
            workers.submit(_made, compiler, isa, [key for key in wanted if (key[1], key[4]) == (isa, compiler.name)])
            for compiler in installed()
            for isa in dict.fromkeys(key[1] for key in wanted)
        ]
        made = {_key(function): function for future in making for function in future.result()}
        left = [made[key] for key in wanted if key in made and not _known(rows.get(key), made[key])]
        searching = [workers.submit(searched, function) for function in left]
        for number, future in enumerate(as_completed(searching), 1):
            row = future.result()
            rows[row.key] = row
            if number % _KEPT_EVERY == 0:
                RECORD.write(folder, (*rows.values(),))
            progress(f"{number}/{len(searching)} {row.routine} {row.isa} {row.compiler}")
    return tuple(rows[key] for key in wanted if key in rows)


def _made(compiler: Compiler, isa: str, keys: Sequence[Key]) -> list[Compiled]:
    """In another process: the functions of these keys."""
    made = compile_all([key[0] for key in keys], isa, using=(compiler,)) if keys else []
    return [function for function in made if _key(function) in keys and function.binary is not None]


def _key(made: Compiled) -> Key:
    return made.routine, made.isa, made.lanes, made.kind, made.compiler.name, " ".join(made.flags)


def _known(row: Waste | None, made: Compiled) -> bool:
    """Whether the very bytes were searched, as they would be now."""
    if row is None or made.binary is None or (row.sha256, row.budget) != (made.binary.image_sha256, BUDGET):
        return False
    return bool(row.reason) or (*row.levels,) == LEVELS


def searched(made: Compiled) -> Waste:
    """What the levels find of a function that was made."""
    assert made.binary is not None
    subject = Subject(made.routine, made.isa, "sysv", made.lanes if made.kind == "vectors" else 1)
    fewest, levels, reason = length(made.binary), {}, ""
    try:
        hunt = spared(subject, made.binary, LEVELS, BUDGET)
    except SearchError as error:
        reason = str(error)
    else:
        fewest, reason = hunt.after, hunt.refused
        levels = {level: (tally.places, tally.all_places) for level, tally in hunt.tallies.items()}
    return Waste(
        *_key(made),
        sha256=made.binary.image_sha256,
        instructions=length(made.binary),
        fewest=fewest,
        levels=levels,
        reason=reason,
        date=date.today().isoformat(),
        budget=BUDGET,
    )
