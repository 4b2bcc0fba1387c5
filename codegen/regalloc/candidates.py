"""Candidates for the search: the instructions that can carry out each step, and the live values around it.

The search holds the registers of live values as a tuple, in the order of `Point.live`. A register is its number in
REGISTERS. A set of registers is an integer with a bit for each.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from marshal import dumps
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.orders import overwritable, reordered
from setwise.codegen.ir.values import Region, Value, in_register, place_of
from setwise.codegen.machine.code import Memory, Operand, Register, RegisterFile, vector
from setwise.codegen.machine.convention import WHOLE
from setwise.codegen.passes.liveness import ProgramPoint, register_operands
from setwise.codegen.targets.table import Row, Target

REGISTERS = (
    *(Register("general", number, 64) for number in range(16)),
    *(vector(number, WHOLE) for number in range(32)),
    *(Register("mask", number, 64) for number in range(8)),
)
"""All registers, in the order of their numbers in the search."""

FIRST: Mapping[RegisterFile, int] = MappingProxyType({"general": 0, "vector": 16, "mask": 48})
"""The number of the first register of each file."""

FILES: Mapping[RegisterFile, int] = MappingProxyType(
    {file: sum(1 << at for at, register in enumerate(REGISTERS) if register.file == file) for file in FIRST}
)
"""The set of registers of each file."""

RCX = 1

_BY_NAME = {"copy", "done", "low-half", "as-wide"} | WRITES
"""Operations that the search treats by name, not by their rows alone."""

_PLAIN = 2
"""A version of marshal that writes equal numbers alike, without references to objects."""

Registers = tuple[int, ...]
"""The registers of a sequence of values, one each, by number."""


def number_of(register: Register) -> int:
    """Return the number of a register in the search."""
    return FIRST[register.file] + register.number


def bitset(registers: Iterable[int]) -> int:
    """Return a set of registers, given by number, as an integer with a bit for each."""
    union = 0
    for register in registers:
        union |= 1 << register
    return union


class RowCandidate(NamedTuple):
    """An instruction that can define or store a value: a row of the target, and an order of the arguments."""

    row: Row
    value: Value
    """The value with its arguments in this order."""
    departs: bool
    """Whether the order, unlike the description's, overwrites another argument; never for an in-place operator."""
    reads: tuple[int, ...]
    """The positions in `Point.live` of the arguments that are in registers, in the order of the arguments."""
    operands: tuple[Operand | None, ...]
    """The operand of each argument: a constant, or None if it depends on registers."""
    counts: bool
    """Whether the second argument is a shift count that must be in rcx."""

    def placed(self, at: Callable[[Value], Register]) -> list[Operand]:
        """Return the operands of the arguments, if `at` returns the register of each value."""
        placed: list[Operand] = []
        for arg, operand in zip(self.value.args, self.operands, strict=True):
            if operand is not None:
                placed.append(operand)
            elif arg.op == "place":
                base, index = arg.args
                if index.op in WRITES:  # a result that was stored there
                    placed.append(Memory(64 * arg.lanes, at(base), displacement=index.count))
                else:
                    placed.append(Memory(64 * arg.lanes, at(base), at(index), 8, arg.count))
            else:
                placed.append(at(arg))
        return placed


class Point(NamedTuple):
    """A step as the search sees it: the live values before and after it, and their positions in these tuples."""

    event: ProgramPoint
    live: tuple[Value, ...]
    """The values in registers before the step."""
    header: tuple[Value, ...]
    """The values in registers at the start of the innermost region around the step, phis included."""
    following: tuple[Value, ...]
    """The values in registers after the step."""
    kept: tuple[int, ...]
    """The old positions of the values in `following`, except new ones: in `live`, for body and exit in `header`."""
    keep: Callable[[Registers], Registers]
    """The function from the registers of `live`, or of `header`, to those at the positions `kept`."""
    homes: Mapping[Value, Sequence[int]] = MappingProxyType({})
    """The positions in `header` of the carried values in which a chain of overwrites from each value may end."""
    left: int | None = None
    """The position in `live` of the left operand, if the value is the result of an in-place operator."""
    candidates: tuple[tuple[RowCandidate, ...], ...] = ()
    """The candidates that can define the value, grouped by row."""
    file: RegisterFile = "general"
    """The register file of the value that the step defines."""

    @property
    def value(self) -> Value:
        """The value that the step defines."""
        assert self.event.value is not None
        return self.event.value

    @property
    def region(self) -> Region:
        """The region that the step enters, begins or ends a body of, or exits."""
        assert self.event.region is not None
        return self.event.region


def lay_out(
    events: Sequence[ProgramPoint], live: tuple[Value, ...], target: Target, constant: Callable[[Value, Row], Operand]
) -> list[Point]:
    """Return the points of a routine, one for each step, if the values `live` are in registers at entry.

    `constant` returns a constant as an operand of a row.
    """
    points: list[Point] = []
    headers: list[tuple[Value, ...]] = [()]
    regions: list[Region | None] = [None]
    homes = _homes(events)
    for event in events:
        value, region = event.value, event.region
        where = {value: at for at, value in enumerate(headers[-1] if event.kind in ("body", "exit") else live)}
        if event.kind == "body" and region is not None:
            where.update(
                (phi, where[first]) for phi, first in zip(region.phis[event.body], region.phis[0], strict=True)
            )
        elif event.kind == "exit" and region is not None:
            results = sorted((v for v in event.live_after if v.region is region), key=lambda value: int(value.attr))
            where.update((result, where[region.phis[0][int(result.attr)]]) for result in results)
        following = tuple([v for v in where if v in event.live_after and event.kind != "leave"])
        kept = tuple([where[value] for value in following])
        point = Point(event, live, headers[-1], following, kept, _picking(kept))
        if value is not None:
            point = point._replace(
                following=following if value.op in WRITES else (*following, value),
                homes=homes.get(regions[-1], {}),
                left=where.get(value.args[0]) if value.in_place and value.args else None,
                candidates=_candidates(value, where, target, constant),
                file=value.file,
            )
        elif event.kind == "enter" and region is not None:
            point = point._replace(following=(*following, *region.phis[0]))
            headers.append(point.following)
            regions.append(region)
        elif event.kind == "exit":
            headers.pop()
            regions.pop()
        points.append(point)
        live = point.following
    return points


def _homes(events: Sequence[ProgramPoint]) -> dict[Region | None, dict[Value, list[int]]]:
    """Return for each region the values from which a chain of overwrites may end in carried values, with their places.

    A place is a negative position in the header of the region, which ends in the phis.
    """
    homes: dict[Region | None, dict[Value, list[int]]] = {}
    around: list[Region] = []

    def join(value: Value, places: Iterable[int]) -> None:
        known = homes[around[-1]].setdefault(value, [])
        known += [place for place in places if place not in known]

    for event in reversed(events):
        region = event.region
        if event.kind == "exit" and region is not None:
            if around:
                for result in (value for value in event.live_after if value.region is region):
                    join(region.inits[int(result.attr)], homes[around[-1]].get(result, ()))
            around.append(region)
            homes[region] = {}
        elif event.kind == "enter":
            around.pop()
        elif event.kind == "leave" and region is not None:
            for phi, value in event.phi_inputs:
                join(value, (place_of(phi, region.phis[0]) - len(region.inits),))
        elif event.value is not None and around:
            for arg in overwritable(event.value):
                join(arg, homes[around[-1]].get(event.value, ()))
    return homes


def _picking(kept: tuple[int, ...]) -> Callable[[Registers], Registers]:
    if len(kept) > 1:
        return itemgetter(*kept)
    return lambda registers: tuple([registers[at] for at in kept])


def _candidates(
    value: Value, where: Mapping[Value, int], target: Target, constant: Callable[[Value, Row], Operand]
) -> tuple[tuple[RowCandidate, ...], ...]:
    by_row = []
    for row in target.rows_for(value):
        candidates = []
        overwritten: set[tuple[Value, ...]] = set()
        for number, ordered in enumerate(reordered(value) if row.tied else (value,)):
            unread = [letter for letter, arg in zip("abc", ordered.args, strict=False) if not in_register(arg)]
            if not row.folds.issuperset(unread) or (row.tied and ordered.args[:1] in overwritten):
                continue  # orders with the same first argument are equal candidates
            overwritten.add(ordered.args[:1])
            operands = tuple([None if arg.constant is None else constant(arg, row) for arg in ordered.args])
            reads = tuple([where[arg] for arg in ordered.args if in_register(arg)])
            departs = number > 0 and not value.in_place
            candidates.append(RowCandidate(row, ordered, departs, reads, operands, "cl" in row.spellings))
        if candidates:
            by_row.append(tuple(candidates))
    return tuple(by_row)


def canonical_key(vectors: int, points: Sequence[Point], wants: Mapping[Value, int], rest: tuple[object, ...]) -> bytes:
    """Return a digest that is equal only for searches that find the same path.

    Directions of one fill differ in counts and masks, which the search does not read. `vectors`: the number of vector
    registers. `rest`: all else that the search reads, as plain data.
    """
    asked: Any = vectors, [_asked(point, wants) for point in points], rest
    return sha256(dumps(asked, _PLAIN)).digest()


def _asked(point: Point, wants: Mapping[Value, int]) -> tuple[Any, ...]:
    """Return all that the search reads of a point, as plain data."""
    where = {value: at for at, value in enumerate(point.live)}
    wanted = [wants.get(value) for value in point.following] if wants else None
    region, kind = point.event.region, point.event.kind
    if region is None:
        value = point.value
        rows = [
            [(a.row.tied, a.departs, a.counts, a.reads, _places(point, a.value.args)) for a in row]
            for row in point.candidates
        ]
        name = value.op if value.op in _BY_NAME else None
        args = [where[arg] for arg in register_operands(value.args)]
        return name, point.file, value.in_place, point.left, point.kept, args, rows, _places(point, (value,)), wanted
    if kind == "enter":
        carried = [
            (phi.file, wants.get(phi), where.get(init)) for phi, init in zip(region.phis[0], region.inits, strict=True)
        ]
        decides = [where.get(value) for value in (*region.tested, *region.outside[len(region.inits) :])]
        return kind, region.kind, point.kept, carried, decides, wanted
    if kind == "leave":
        home = {value: at for at, value in enumerate(point.header)}
        stays = [(at, where[value]) for value, at in home.items() if value in point.event.live_after]
        return kind, stays, [(home[phi], where.get(value)) for phi, value in point.event.phi_inputs]
    return kind, point.kept, wanted


def _places(point: Point, values: Sequence[Value]) -> list[Sequence[int]] | None:
    """Return the homes of each of the values at a point, or None if the point has no homes."""
    return [point.homes.get(value, ()) for value in values] if point.homes else None
