"""Tables that `setwise calibrate` measured, as files: read with care, and made a processor of.

What cannot be timed, as which branches fuse, is the standing table's of the processor that it is `like`; where it is
like none, it is left out, and bounds are lower for that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import floor
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from setwise.analysis.cost.processors.table import Access, CostRow, Processor, parse_ports
from setwise.analysis.cost.processors.tuned import Cycles, Line, Tuned, by_routine
from setwise.codegen.files import told_content
from setwise.codegen.machine.processors import BASELINE

_EDITION = 1
_MOST_BYTES = 1 << 20
_MOST_UNIONS = 1 << 12
_NEAR = 0.03  # of a figure measured, to the cycle that it means

Mnemonic = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9]*\Z", max_length=20)]
Ports = Annotated[str, Meta(pattern=r"\A(([1-9]\*)?([A-Za-z][0-9]{1,8}){1,3}( \+ |\Z)){0,4}\Z", max_length=60)]
Size = Literal["r", "s", "x", "y", "z"]
Sizes = Annotated[str, Meta(pattern=r"\A[rsxyz]{2}\Z")]
Kind = Literal["r", "x", "k", "f"]


class AccessRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """Loads or stores of one size: cycles to the value, and cycles each where nothing waits."""

    latency: Cycles
    cycles: Cycles


class RowRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction form as measured.

    `latency` is by kind of operand, as in `CostRow`, least first; `cycles` are those of one alone, null where it waits
    for itself. `spread` is how far the middle half of the figures lies apart, as a part of them; `clear` says that the
    ports explain all that was measured.
    """

    mnemonics: Annotated[tuple[Mnemonic, ...], Meta(min_length=1, max_length=40)]
    form: Annotated[str, Meta(pattern=r"\A[a-zI\[\]=]{1,12}\Z")]
    latency: dict[Kind, Cycles]
    cycles: Cycles | None
    slots: Annotated[int, Meta(ge=1, le=100)]
    ports: Ports
    clear: bool
    spread: Cycles
    breaks: bool = False


class MeasuredTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A processor's table as measured on one, with its own name and the date; `width` in slots a cycle.

    `forwards` has cycles from a store's data to the load that takes it, by the sizes of both; `tuned` what `--tune`
    found.
    """

    edition: Annotated[int, Meta(ge=_EDITION, le=_EDITION)]
    machine: Line
    date: Annotated[str, Meta(pattern=r"\A\d{4}-\d{2}-\d{2}\Z")]
    like: Line
    features: tuple[Line, ...]
    width: Annotated[int, Meta(ge=1, le=32)]
    loads: dict[Size, AccessRecord]
    stores: dict[Size, AccessRecord]
    forwards: dict[Sizes, Cycles]
    rows: Annotated[tuple[RowRecord, ...], Meta(max_length=4000)]
    tuned: Annotated[tuple[Tuned, ...], Meta(max_length=4000)] = ()

    def __post_init__(self) -> None:
        if {"r", "s", "x"} - self.loads.keys() or {"r", "s", "x"} - self.stores.keys():
            raise ValueError("loads and stores of r, s and x are needed")
        _check_unions(row.ports for row in self.rows)

    @property
    def source(self) -> str:
        """Who found it."""
        return f"measured by setwise calibrate on {self.machine or 'a processor without a name'}, {self.date}"

    def encoded(self) -> bytes:
        """The file's content, a row a line."""
        built = msgspec.to_builtins(self)
        lists = ((name, ",\n".join(f"  {json.dumps(row)}" for row in built.pop(name))) for name in ("tuned", "rows"))
        parts = [f'"{name}": [\n{rows}\n]' for name, rows in lists]
        head = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in built.items())
        return ("{\n" + head + ",\n".join(parts) + "\n}\n").encode()


def bound_of(latency: float) -> float:
    """Whole cycles that a latency takes at least; half ones come of ways that differ.

    >>> bound_of(3.02), bound_of(6.57), bound_of(2.98)
    (3, 6, 3)
    """
    return floor(latency + _NEAR)


def processor_of(table: MeasuredTable, standing: Mapping[str, Processor]) -> Processor:
    """The processor that a table describes."""
    rows = tuple(_row(row, table.source) for row in table.rows)
    tuned = by_routine(table.tuned)
    title = f"{table.machine}, measured {table.date}"
    forwards = {sizes: float(bound_of(cycles)) for sizes, cycles in table.forwards.items()}
    if table.like:
        base = standing[table.like]
        forwards = {**base.forwards, **forwards}
        sources = (table.source, *base.sources)
        tuned = {**base.tuned, **tuned}
        return replace(base, title=title, forwards=forwards, rows=(*rows, *base.rows), sources=sources, tuned=tuned)
    return Processor(
        name="measured",
        title=title,
        width=table.width,
        loads={size: _access("L", access, table.source) for size, access in table.loads.items()},
        stores={size: _access("S", access, table.source) for size, access in table.stores.items()},
        scaled=0,
        forwards={**forwards, "": 0},
        taken={"": 1},
        fused="",
        rows=(*rows, *_NOT_TIMED),
        sources=(table.source,),
        features=frozenset(table.features) | BASELINE,
        tuned=tuned,
    )


_NOT_TIMED = (
    CostRow("j\\w+|call|ret|push|pop|nop|endbr64|vzeroupper", "none taken r i w m", "", 0, "not measured: issue alone"),
)


def _row(row: RowRecord, source: str) -> CostRow:
    least: dict[str, float] = {kind: bound_of(cycles) for kind, cycles in row.latency.items()}
    alike = len(set(least.values())) < 2
    latency: float | Mapping[str, float] = next(iter(least.values()), 0) if alike else least
    return CostRow("|".join(row.mnemonics), row.form, row.ports, latency, source, row.slots, row.breaks)


def _access(letter: str, access: AccessRecord, source: str) -> Access:
    """As many ports as take one each cycle, or one that takes several."""
    rate = 1 / max(access.cycles, 0.1)
    ports = f"{letter}{'0123456789'[: max(1, floor(rate + _NEAR))]}"
    count = max(1, floor(access.cycles + _NEAR))
    return Access(f"{count}*{ports}", bound_of(access.latency), source)


def _check_unions(ports: Iterable[str]) -> None:
    """ValueError for ports whose sets have more unions than anybody can go through."""
    unions: set[frozenset[str]] = set()
    for own in {ports for text in set(ports) for ports, _ in parse_ports(text)}:
        unions |= {own} | {own | union for union in unions}
        if len(unions) > _MOST_UNIONS:
            raise ValueError("too many kinds of ports")


def read(path: str | Path) -> MeasuredTable:
    """The table in a file; ValueError of one line for anything else."""
    remedy = "give a file that `setwise calibrate -o FILE` wrote"
    content = told_content(path, _MOST_BYTES, links=True, larger="any table", remedy=remedy)
    try:
        return msgspec.json.decode(content, type=MeasuredTable)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = "".join(filter(str.isprintable, str(error)))[:300]  # it may repeat what stands there
        raise ValueError(f"{path}: is no processor's table ({why}): {remedy}") from None
