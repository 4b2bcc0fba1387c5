"""Searches that are alike: what a search goes by, in numbers.

Routines of one family differ from direction to direction in counts and masks, of which the search knows nothing: one
search tells the way of them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from marshal import dumps
from typing import Any

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Value
from setwise.codegen.passes.live import in_registers
from setwise.codegen.registers.machine import Machine
from setwise.codegen.registers.points import Point

_BY_NAME = {"copy", "done", "low-half", "as-wide"} | WRITES
"""Operations that the search tells from others."""

_PLAIN = 2
"""A version of marshal that writes equal numbers alike, wherever they came from."""


def likeness(machine: Machine, points: Sequence[Point], wants: Mapping[Value, int], rest: tuple[object, ...]) -> bytes:
    """The same for two searches that go the same way: a digest of all that the search asks of points and machine.

    `rest` is what else it goes by, in plain numbers.
    """
    told: Any = machine.convention.name, machine.target.vectors, [_told(point, wants) for point in points], rest
    return sha256(dumps(told, _PLAIN)).digest()


def _told(point: Point, wants: Mapping[Value, int]) -> tuple[Any, ...]:
    """What the search asks of a point."""
    where = {value: at for at, value in enumerate(point.live)}
    wanted = [wants.get(value) for value in point.following] if wants else None
    region, kind = point.event.region, point.event.kind
    if region is None:
        value = point.value
        rows = [
            [(a.tied, a.swapped, a.counts, a.reads, _homes(point, a.value.args)) for a in row]
            for row in point.alternatives
        ]
        name = value.op if value.op in _BY_NAME else None
        args = [where[arg] for arg in in_registers(value.args)]
        return name, point.file, value.in_place, point.left, point.kept, args, rows, _homes(point, (value,)), wanted
    if kind == "enter":
        carried = [
            (phi.file, wants.get(phi), where.get(init)) for phi, init in zip(region.phis[0], region.inits, strict=True)
        ]
        decides = [where.get(value) for value in (*region.asked, *region.outside[len(region.inits) :])]
        return kind, region.kind, point.kept, carried, decides, wanted
    if kind == "leave":
        home = {value: at for at, value in enumerate(point.header)}
        stays = [(at, where[value]) for value, at in home.items() if value in point.event.after]
        return kind, stays, [(home[phi], where.get(value)) for phi, value in point.event.left]
    return kind, point.kept, wanted


def _homes(point: Point, values: Sequence[Value]) -> list[Sequence[int]] | None:
    """For these values the places in which the region around carries what they are on the way to."""
    return [point.homes.get(value, ()) for value in values] if point.homes else None
