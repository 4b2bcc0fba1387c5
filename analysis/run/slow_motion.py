"""Fills in slow motion: what each cycle adds, walked by the specification's single steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from setwise.analysis.run.drawing import Panel, Strip
from setwise.analysis.spec import raywalk

Family = Literal["dumb7", "kogge-stone"]

SLIDERS, EMPTY = 0x0108_0000_2000_0000, 0xBE53_BDFB_D77B_98B6
"""The position of the literature's slow motion (Dumb7Fill, Some south fill cycles): black rooks and queen."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle of a fill: `source` goes `steps` steps, onto the squares `arrives`, of which `kept` are let through.

    `propagator` lets through; `flood` is what the cycle leaves, and `changed` whether that differs from before.
    """

    number: int
    steps: int
    source: int
    arrives: int
    propagator: int
    kept: int
    flood: int
    changed: bool


@dataclass(frozen=True, slots=True)
class TracedFill:
    """A whole fill, and one step more where attacks are asked for."""

    family: Family
    direction: str
    sliders: int
    empty: int
    cycles: tuple[Cycle, ...]
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


def fill(
    family: Family,
    direction: str,
    sliders: int,
    empty: int,
    rounds: int = 7,
    until_dry: bool = False,
    attacks: bool = False,
) -> TracedFill:
    """The cycles of a fill in one direction.

    dumb7 goes one step a cycle, for so many rounds or, with `until_dry`, until a cycle finds nothing to flood;
    kogge-stone goes 1, 2 and 4 steps, its propagator the runs of empty squares that long.

    >>> [cycle.flood for cycle in fill("dumb7", "east", 1, 0b1110, until_dry=True).cycles]
    [3, 7, 15, 15]
    >>> [cycle.flood for cycle in fill("kogge-stone", "east", 1, 0b1110).cycles]
    [3, 15, 15]
    """
    directions = raywalk.directions(direction)
    if len(directions) > 1:
        raise ValueError(f"{direction} means {len(directions)} directions: a fill goes in one")
    doubles = family == "kogge-stone"
    lengths = (1, 2, 4) if doubles else (1,) * (8 if until_dry else rounds)
    cycles: list[Cycle] = []
    gen, flood, pro = sliders, sliders, empty
    for number, steps in enumerate(lengths, 1):
        arrives = stepped(direction, gen, steps)
        kept = arrives & pro
        cycles.append(Cycle(number, steps, gen, arrives, pro, kept, flood | kept, kept & ~flood != 0))
        flood |= kept
        gen = flood if doubles else kept
        if doubles:
            pro &= stepped(direction, pro, steps)
        elif until_dry and not kept:
            break
    beyond = raywalk.step(direction, flood) if attacks else None
    return TracedFill(family, directions[0], sliders, empty, tuple(cycles), beyond)


def stepped(direction: str, board: int, steps: int) -> int:
    """The squares that lie so many steps from one of the board's."""
    for _ in range(steps):
        board = raywalk.step(direction, board)
    return board


def strips(shown: TracedFill) -> list[Strip]:
    """A fill as the literature draws its slow motion, a strip a cycle."""
    drawn = [Strip("", (Panel("flood = gen = sliders", shown.sliders), Panel("empty", shown.empty)))]
    drawn += [_strip(shown, cycle) for cycle in shown.cycles]
    if shown.attacks is not None:
        drawn.append(Strip("attacks", (Panel("flood", shown.flood), Panel("one step further", shown.attacks))))
    return drawn


def conclusion(shown: TracedFill) -> str:
    """Where the fill stood still, in a sentence.

    >>> conclusion(fill("dumb7", "east", 1, 0b1110))
    'Cycles 4 to 7 change nothing: the flood stopped.'
    """
    last = len(shown.cycles)
    if shown.dry is None:
        return f"Cycle {last}, the last one, still changes something."
    if shown.dry == last:
        return f"Cycle {last} changes nothing: the flood stopped."
    which = f"Cycles {shown.dry} {'and' if shown.dry == last - 1 else 'to'} {last} change"
    return f"{which} nothing: the flood stopped."


def _strip(shown: TracedFill, cycle: Cycle) -> Strip:
    blocked = cycle.arrives & ~cycle.kept
    if shown.family == "dumb7":
        panels = [
            Panel("gen", cycle.source),
            Panel("gen = step(gen) & empty", cycle.kept, blocked),
            Panel("flood |= gen", cycle.flood),
        ]
    else:
        what = "pro" if cycle.steps == 1 else f"pro, runs of {cycle.steps}"
        arrives = "step(gen) & pro" if cycle.steps == 1 else f"step(gen, {cycle.steps}) & pro"
        panels = [Panel(what, cycle.propagator), Panel(arrives, cycle.kept, blocked), Panel("gen |= ...", cycle.flood)]
    note = "" if cycle.changed else "nothing changes" + (" any more" if shown.dry == cycle.number else "")
    return Strip(f"{cycle.number}. fill", tuple(panels), note)
