"""What timing found on a processor: of a routine's variants the fastest, which forecasts do not tell from others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

Line = Annotated[str, Meta(pattern=r"\A[ -~]*\Z", max_length=200)]
Cycles = Annotated[float, Meta(ge=0, le=1000)]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]
Objective = Literal["latency", "throughput"]

FOLDER = Path(__file__).parent / "tuned"
"""A file a processor, named as that is."""


class Tuned(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A routine's fastest variant for an objective, and its cycles; what forecasts take, where that is another.

    It is the fastest for its own instruction set, or of all `sets` where these are named. For throughput of code whose
    time depends on its arguments, cycles are the sum of independent and mixed calls. `forecast_cycles` are null where
    forecasts take the same, or where processes did not agree on them. `digest` is of the variant's code, `among` of all
    the code that was offered.
    """

    name: Line
    objective: Objective
    isa: Line
    variant: Line
    cycles: Cycles
    digest: Digest
    among: Digest
    forecast: Line = ""
    forecast_cycles: Cycles | None = None
    sets: tuple[Line, ...] = ()

    @property
    def among_sets(self) -> tuple[str, ...]:
        """The instruction sets among whose variants it is the fastest."""
        return self.sets or (self.isa,)


ByRoutine: TypeAlias = Mapping[tuple[str, str], tuple[Tuned, ...]]
"""Rows by routine and objective, the fastest first."""


class TunedTable(Struct, frozen=True, forbid_unknown_fields=True):
    """What was found: by which command, on which machine, when."""

    made_by: Line
    machine: Line
    date: Line
    rows: tuple[Tuned, ...]


def by_routine(rows: Iterable[Tuned]) -> ByRoutine:
    """The rows by routine and objective, the fastest first."""
    found: dict[tuple[str, str], tuple[Tuned, ...]] = {}
    for row in sorted(rows, key=attrgetter("cycles")):
        found[row.name, row.objective] = (*found.get((row.name, row.objective), ()), row)
    return found


def read_tuned(name: str) -> TunedTable | None:
    """What was found on the processor of that name; None where nothing was."""
    path = FOLDER / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=TunedTable) if path.exists() else None


def tuned_on(name: str) -> ByRoutine:
    """The rows of what was found on that processor."""
    table = read_tuned(name)
    return by_routine(table.rows) if table else {}
