"""Fills in slow motion: the squares that each cycle adds, by the definitions of dumb7 and Kogge-Stone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from setwise.analysis.pictures.board_text import Panel, Strip
from setwise.codegen.board import ALL, DIR8, DIRECTION_SETS, DIRECTIONS, Direction
from setwise.codegen.ir.routine import Routine

SLIDERS, EMPTY = 0x0108_0000_2000_0000, 0xBE53_BDFB_D77B_98B6
"""Black's rooks and queen, and the empty squares, of the literature's example (Dumb7Fill, Some south fill cycles)."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of a fill: `source` moves by `steps` to the squares `arrives`, of which the fill keeps `kept`.

    `propagator` has the squares that Kogge-Stone may enter (None: all squares, and for dumb7). `before` is the flood
    before the cycle.
    """

    number: int
    steps: int
    source: int
    arrives: int
    propagator: int | None
    kept: int
    before: int

    @property
    def flood(self) -> int:
        """The flood after the cycle."""
        return self.before | self.kept

    @property
    def changed(self) -> bool:
        """Whether the cycle adds a square."""
        return self.flood != self.before


@dataclass(frozen=True, slots=True)
class TracedFill:
    """A whole fill in one direction; `attacks` is one step further, or None for an occluded fill."""

    family: str
    direction: str
    sliders: int
    empty: int | None
    """None for the fill of an empty board."""
    cycles: tuple[Cycle, ...] = ()
    attacks: int | None = None

    @property
    def flood(self) -> int:
        """The flood after the last cycle."""
        return self.cycles[-1].flood if self.cycles else self.sliders

    @property
    def dry(self) -> int | None:
        """The number of the first cycle after the last one that changes something; None if there is none."""
        changing = [cycle.number for cycle in self.cycles if cycle.changed]
        first = max(changing, default=0) + 1
        return first if first <= len(self.cycles) else None


def fills(routine: Routine, words: Sequence[int]) -> tuple[TracedFill, ...]:
    """Return the fill of a dumb7 or Kogge-Stone routine with these arguments, cycle by cycle, for each direction.

    The floods are the values that its x86-64 kernel computes. Raises ValueError for other routines, and on arrays.

    >>> from setwise.codegen.catalogue import find
    >>> (shown,) = fills(find("dumb7.occluded-until-dry.east"), (1, 0b1110))
    >>> [cycle.flood for cycle in shown.cycles]
    [3, 7, 15, 15]
    >>> (shown,) = fills(find("kogge-stone.occluded.east"), (1, 0b1110))
    >>> [cycle.flood for cycle in shown.cycles]
    [3, 15, 15]
    """
    contract = routine.contract
    if routine.family not in ("dumb7", "kogge-stone") or contract.elements:
        raise ValueError(f"{routine.name} has no cycles to show: take dumb7 or kogge-stone, or add --registers")
    chosen = DIR8[words[-1]].name if contract.direction == "any" else contract.direction
    directions = DIRECTION_SETS[chosen] if chosen in DIRECTION_SETS else (DIRECTIONS[chosen],)
    empty = next((word for p, word in zip(contract.parameters, words, strict=True) if p.kind == "empty"), None)
    further = str(contract.specification).endswith("attacks")

    def shown(direction: Direction) -> TracedFill:
        path = direction.reach(1) if empty is None or contract.direction == "any" else direction.reach_files(1)
        if direction.opposite in directions:
            path &= direction.opposite.reach_files(1)  # one mask for both directions: both edge files are excluded
        path &= ALL if empty is None else empty
        cycles = (*(_single if routine.family == "dumb7" else _doubled)(routine.name, direction, words[0], path),)
        traced = TracedFill(routine.family, direction.name, words[0], empty, cycles)
        return replace(traced, attacks=_step(direction, traced.flood)) if further else traced

    return tuple(map(shown, directions))


def _single(name: str, direction: Direction, gen: int, path: int) -> Iterator[Cycle]:
    """Yield dumb7's cycles on the squares of `path`: seven, six for `attacks`, or if until-dry until gen is empty."""
    flood, number, last = gen, 1, 6 if ".attacks." in name else 7
    while gen if "until-dry" in name else number <= last:
        arrives = _step(direction, gen)
        cycle = Cycle(number, 1, gen, arrives, None, arrives & path, flood)
        yield cycle
        flood, number = cycle.flood, number + 1
        gen = flood if "rolled" in name else cycle.kept


def _doubled(name: str, direction: Direction, gen: int, run: int) -> Iterator[Cycle]:
    """Yield Kogge-Stone's cycles: steps of 1, 2 and 4, each onto the ends of runs of as many squares of `run`."""
    unstopped = ".empty-" in name and not direction.file_step
    for number, steps in enumerate((1, 2, 4), 1):
        arrives = _step(direction, gen, steps)
        cycle = Cycle(number, steps, gen, arrives, None if unstopped else run, arrives & run, gen)
        yield cycle
        gen = cycle.flood
        run &= _step(direction, run, steps)


def _step(direction: Direction, squares: int, steps: int = 1) -> int:
    """Return the squares shifted by `steps` in a direction, without wraps."""
    shift = direction.shift * steps
    return (squares << shift if shift > 0 else squares >> -shift) & direction.reach(steps)


def strips(*shown: TracedFill) -> list[Strip]:
    """Return a fill as strips: its start, each cycle, and the attacks if any. Several directions are side by side."""
    first = shown[0]
    given = [Panel("flood = gen = sliders" if first.family == "dumb7" else "gen = sliders", first.sliders)]
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
    """Return a sentence that says which of the last cycles change nothing.

    >>> from setwise.codegen.catalogue import find
    >>> conclusion(*fills(find("dumb7.occluded.east"), (1, 0b1110)))
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
    """Return the number of the first cycle after the last change in any direction, or None if there is none."""
    each = [one.dry for one in shown]
    return None if None in each else max(number for number in each if number is not None)


def _panels(shown: TracedFill, cycle: Cycle) -> list[Panel]:
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
    """Return two boards of a cycle, for several directions: gen and flood, or pro and gen if it has a propagator."""
    blocked = cycle.arrives & ~cycle.kept
    if cycle.propagator is None:
        both = Panel("gen", cycle.kept, blocked), Panel("flood", cycle.flood)
    else:
        both = Panel("pro", cycle.propagator), Panel("gen", cycle.flood, blocked)
    return [replace(panel, title=f"{shown.direction}: {panel.title}") for panel in both]
