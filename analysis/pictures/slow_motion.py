"""Fills in slow motion: what each cycle adds, from the values that the kernel computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, Literal

from setwise.analysis.pictures.drawing import Panel, Strip
from setwise.analysis.spec.evaluator import Scope, evaluate
from setwise.codegen.board import DIR8, DIRECTION_SETS, DIRECTIONS, Direction
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.routine import Routine
from setwise.codegen.ir.values import Value
from setwise.codegen.lower import lower

Family = Literal["dumb7", "kogge-stone"]

SLIDERS, EMPTY = 0x0108_0000_2000_0000, 0xBE53_BDFB_D77B_98B6
"""The position of the literature's slow motion (Dumb7Fill, Some south fill cycles): black rooks and queen."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of a fill: `source` goes `steps` steps, onto the squares `arrives`, of which `kept` are let through.

    `propagator` lets through (None: all squares); `flood` is what the cycle leaves, and `changed` whether that differs
    from before.
    """

    number: int
    steps: int
    source: int
    arrives: int
    propagator: int | None
    kept: int
    flood: int
    changed: bool


@dataclass(frozen=True, slots=True)
class TracedFill:
    """A whole fill in one direction, and one step more where attacks are asked for."""

    family: Family
    direction: str
    sliders: int
    empty: int | None
    """None for the fill of an empty board."""
    cycles: tuple[Cycle, ...] = ()
    attacks: int | None = None

    @property
    def flood(self) -> int:
        """What the fill leaves."""
        return self.cycles[-1].flood if self.cycles else self.sliders

    @property
    def dry(self) -> int | None:
        """The number of the first cycle from which nothing changes any more; None if the last one changes something."""
        changing = [cycle.number for cycle in self.cycles if cycle.changed]
        first = max(changing, default=0) + 1
        return first if first <= len(self.cycles) else None


def fills(routine: Routine, words: Sequence[int]) -> tuple[TracedFill, ...]:
    """The cycles of one of the literature's fills, for each of its directions, as its x86-64 kernel computes them.

    ValueError for routines without cycles.

    >>> from setwise.codegen.catalogue import find
    >>> (shown,) = fills(find("dumb7.occluded-until-dry.east"), (1, 0b1110))
    >>> [cycle.flood for cycle in shown.cycles]
    [3, 7, 15, 15]
    >>> (shown,) = fills(find("kogge-stone.occluded.east"), (1, 0b1110))
    >>> [cycle.flood for cycle in shown.cycles]
    [3, 15, 15]
    """
    family, contract = routine.family, routine.contract
    if family not in ("dumb7", "kogge-stone") or contract.elements:
        raise ValueError(f"{routine.name} has no cycles to show: take dumb7 or kogge-stone, or add --registers")
    chosen = DIR8[words[-1]].name if contract.direction == "any" else contract.direction
    directions = DIRECTION_SETS[chosen] if chosen in DIRECTION_SETS else (DIRECTIONS[chosen],)
    empty = next((word for p, word in zip(contract.parameters, words, strict=True) if p.kind == "empty"), None)
    graph = lower(routine).graph
    seen = _Seen(graph, directions, empty is not None)
    evaluate(graph, tuple(words), seen=seen.made)
    attacks = seen.attacks() if str(contract.specification).endswith("attacks") else {}
    return tuple(
        TracedFill(
            "dumb7" if family == "dumb7" else "kogge-stone",
            direction.name,
            words[0],
            empty,
            tuple(_numbered(seen.cycles[direction], words[0])),
            attacks.get(direction),
        )
        for direction in directions
    )


def fill(routine: Routine, words: Sequence[int]) -> TracedFill:
    """The cycles of a fill in one direction; ValueError for several."""
    named = routine.contract.direction
    if named in DIRECTION_SETS:
        raise ValueError(f"{named} means {len(DIRECTION_SETS[named])} directions: a fill goes in one")
    (shown,) = fills(routine, words)
    return shown


def _numbered(cycles: Sequence[Cycle], flood: int) -> Iterator[Cycle]:
    for number, cycle in enumerate(cycles, 1):
        before, flood = flood, flood | cycle.kept
        yield replace(cycle, number=number, flood=flood, changed=flood != before)


@dataclass(frozen=True, slots=True)
class _Moved:
    """Squares of the flood, and where a shift took them."""

    direction: Direction
    steps: int
    source: int
    squares: int


class _Seen:
    """What is seen of a kernel's values: a flood that is moved, then meets the squares that let it through."""

    def __init__(self, graph: Graph, directions: Sequence[Direction], blocked: bool) -> None:
        """`blocked` tells that the second parameter lets through; else constants do, or nothing stops the flood."""
        self.directions, self.results = directions, graph.results
        self.flooded = _following(graph, graph.parameters[0])
        self.passable = _following(graph, graph.parameters[1]) if blocked else None
        self.moved: dict[Value, _Moved] = {}
        self.cycles: dict[Direction, list[Cycle]] = {direction: [] for direction in directions}

    def made(self, value: Value, scope: Scope) -> None:
        """A value, with what is known by then."""
        words = [scope[arg][0] for arg in value.args]
        if value.op in _DISTANCE and value.args[0] in self.flooded:
            self.moved[value] = self._moved(_DISTANCE[value.op](value.attr, words), words[0], scope[value][0])
        for at in (0, 1) if len(words) == 2 else ():
            moved, other = value.args[at], value.args[1 - at]
            if moved not in self.moved:
                continue
            if value.op == "and" and self._lets_through(other) and value not in {*self.results}:
                self._add(self.moved.pop(moved), scope[value][0], words[1 - at])
            elif value.op == "or" and self.passable is None and other is moved.args[0]:
                self._add(self.moved.pop(moved), words[at], None)

    def attacks(self) -> dict[Direction, int]:
        """Where the flood arrives by the step after the last cycle."""
        return {moved.direction: moved.squares for moved in self.moved.values()}

    def _lets_through(self, value: Value) -> bool:
        if self.passable is None:
            return value.constant is not None
        return value in self.passable and value not in self.flooded

    def _moved(self, distance: int, source: int, squares: int) -> _Moved:
        lengths = [(direction, steps) for direction in self.directions for steps in (1, 2, 4)]
        exact = (pair for pair in lengths if pair[0].shift * pair[1] == distance)
        turned = (pair for pair in lengths if (pair[0].shift * pair[1] - distance) % 64 == 0)
        direction, steps = next(exact, None) or next(turned)
        return _Moved(direction, steps, source, squares & direction.reach(steps))

    def _add(self, moved: _Moved, kept: int, propagator: int | None) -> None:
        cycle = Cycle(0, moved.steps, moved.source, moved.squares, propagator, kept, kept, True)
        self.cycles[moved.direction].append(cycle)


_DISTANCE: Mapping[str, Callable[[Any, Sequence[int]], int]] = {
    "shl": lambda attr, _: attr[0],
    "shr": lambda attr, _: -attr[0],
    "rotl": lambda attr, _: attr[0],
    "rotlv": lambda _, words: words[1],
}
"""By how many bits to the left an operation moves its first argument."""


def _following(graph: Graph, parameter: Value) -> set[Value]:
    """The values that depend on a parameter."""
    before: dict[Value, Value] = {}  # what a body begins with, by the name that it has there
    for region in dict.fromkeys(value.region for value in graph.order if value.region is not None):
        for phis in region.phis:
            before.update(zip(phis, region.inits, strict=True))
    found = {parameter}
    for value in graph.order:
        args = value.args
        if value.region is not None:
            args = tuple(carried[value.attr] for carried in (value.region.inits, *value.region.bodies))
        if found.intersection(args) or before.get(value) in found:
            found.add(value)
    return found


def strips(*shown: TracedFill) -> list[Strip]:
    """A fill as the literature draws its slow motion, a strip a cycle; several directions side by side."""
    first = shown[0]
    given = [Panel("flood = gen = sliders", first.sliders)]
    if first.empty is not None:
        given.append(Panel("empty", first.empty))
    drawn = [Strip("", tuple(given))]
    dry = _dry(shown)
    for number in range(1, _last(shown) + 1):
        cycles = [(one, one.cycles[number - 1]) for one in shown if number <= len(one.cycles)]
        panels = _panels(*cycles[0]) if len(shown) == 1 else [two for pair in cycles for two in _two(*pair)]
        changed = any(cycle.changed for _, cycle in cycles)
        note = "" if changed else "nothing changes" + (" any more" if dry == number else "")
        drawn.append(Strip(f"{number}. fill", tuple(panels), note))
    if first.attacks is not None and len(shown) == 1:
        drawn.append(Strip("attacks", (Panel("flood", first.flood), Panel("one step further", first.attacks))))
    elif first.attacks is not None:
        further = [Panel(one.direction, one.attacks or 0) for one in shown]
        union = Panel("all of them", reduce(or_, (panel.board for panel in further)))
        drawn += [Strip("attacks: one step further", tuple(further)), Strip("", (union,))]
    return drawn


def conclusion(*shown: TracedFill) -> str:
    """Where the fill stood still, in a sentence.

    >>> from setwise.codegen.catalogue import find
    >>> conclusion(fill(find("dumb7.occluded.east"), (1, 0b1110)))
    'Cycles 4 to 7 change nothing: the flood stopped.'
    """
    last, dry = _last(shown), _dry(shown)
    if not last:
        return "There is nothing to flood."
    if dry is None:
        return f"Cycle {last}, the last one, still changes something."
    if dry == last:
        return f"Cycle {last} changes nothing: the flood stopped."
    which = f"Cycles {dry} {'and' if dry == last - 1 else 'to'} {last} change"
    return f"{which} nothing: the flood stopped."


def _last(shown: Sequence[TracedFill]) -> int:
    return max(len(one.cycles) for one in shown)


def _dry(shown: Sequence[TracedFill]) -> int | None:
    """The first cycle from which nothing changes any more in any direction."""
    each = [one.dry for one in shown]
    return None if None in each else max(number for number in each if number is not None)


def _panels(shown: TracedFill, cycle: Cycle) -> list[Panel]:
    """The boards of a cycle."""
    blocked = cycle.arrives & ~cycle.kept
    if shown.family == "dumb7":
        return [
            Panel("gen", cycle.source),
            Panel("gen = step(gen) & empty", cycle.kept, blocked),
            Panel("flood |= gen", cycle.flood),
        ]
    arrives = "step(gen)" if cycle.steps == 1 else f"step(gen, {cycle.steps})"
    if cycle.propagator is None:
        return [Panel(arrives, cycle.kept), Panel("gen |= ...", cycle.flood)]
    what = "pro" if cycle.steps == 1 else f"pro, runs of {cycle.steps}"
    kept = Panel(f"{arrives} & pro", cycle.kept, blocked)
    return [Panel(what, cycle.propagator), kept, Panel("gen |= ...", cycle.flood)]


def _two(shown: TracedFill, cycle: Cycle) -> list[Panel]:
    """The boards of a cycle in one of several directions: what changes beside the sliders and empty squares."""
    blocked = cycle.arrives & ~cycle.kept
    if shown.family == "dumb7" or cycle.propagator is None:
        both = Panel("gen", cycle.kept, blocked), Panel("flood", cycle.flood)
    else:
        both = Panel("pro", cycle.propagator), Panel("gen", cycle.flood, blocked)
    return [replace(panel, title=f"{shown.direction}: {panel.title}") for panel in both]
