"""Kernels, and the names by which one is asked for: instruction set, convention, lanes."""

from __future__ import annotations

from dataclasses import dataclass

from setwise.codegen.board import DIR8, DIRECTION_SETS
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Routine
from setwise.codegen.machine.code import Code
from setwise.codegen.machine.convention import CONVENTIONS, Convention
from setwise.codegen.targets import VECTORS, in_words
from setwise.codegen.targets.table import Refused, Target


@dataclass(frozen=True)
class Plan:
    """What a kernel is asked to be: a routine for one instruction set, calling convention and layout."""

    routine: Routine
    target: Target
    convention: Convention
    layout: Layout


@dataclass(frozen=True)
class Kernel(Plan):
    """A plan carried out: its code, and the graph that it came from.

    `graph` is the description in shifts and masks, those that the code has; `selected` is that graph in the target's
    operations, before registers and stack are thought of.
    """

    graph: Graph
    selected: Graph
    code: Code
    exact: bool
    """Whether the search for registers weighed every allocation of its order."""
    prefix: str = "setwise"
    """What its symbol begins with."""
    variant: str = ""
    """What it is called among those that are offered for the same plan; "" for the usual one."""

    @property
    def name(self) -> str:
        """The routine's name."""
        return self.routine.name


def plan(routine: Routine, target: Target, abi: str, lanes: int | None) -> Plan:
    """What is asked for; ValueError in one line where routine, target, convention and lanes do not go together."""
    convention = convention_named(abi)
    if target.name not in routine.isas:
        raise Refused(f"{routine.name} does not come for {target.name}: use one of {', '.join(routine.isas)}")
    if abi == "wiki" and [p.kind for p in routine.contract.parameters] not in _OF_WIKI:
        raise Refused(f"the wiki convention is for (sliders, empty) alone, not for {routine.name}: use sysv or win64")
    return Plan(routine, target, convention, _layout(routine, target, lanes))


def convention_named(abi: str) -> Convention:
    """The convention of that name; ValueError where there is none."""
    if abi not in CONVENTIONS:
        raise ValueError(f"unknown convention '{abi}': use one of {', '.join(CONVENTIONS)}")
    return CONVENTIONS[abi]


def widths(routine: Routine, target: Target) -> tuple[int, ...]:
    """The numbers of lanes that the routine has there, the usual one first: two are for boards where there are more."""
    return target.widths if routine.boards else target.spread or target.widths


_OF_WIKI = (["board", "empty"], ["board", "occupied"])


def _layout(routine: Routine, target: Target, lanes: int | None) -> Layout:
    """Lanes are boards for a routine of one direction, directions for one of several.

    ValueError for a number of lanes that the target does not have.
    """
    if target.widths == (1,):
        if lanes not in (None, 1):
            raise ValueError(f"{target.name} has one lane: leave --lanes out, or use {in_words(VECTORS)}")
        return Layout()
    known = widths(routine, target)
    if lanes is not None and lanes not in known:
        raise ValueError(f"{routine.name} on {target.name} has {', '.join(map(str, known))} lanes, not {lanes}")
    lanes = lanes or known[0]
    # Four directions a register on purpose: left and right ones apart, so that they share their runs.
    mixes = (
        not routine.boards
        and target.has("rotl", lanes)
        and (lanes == 8 or len(DIRECTION_SETS.get(routine.direction, DIR8)) < 8)
    )
    return Layout(lanes, routine.boards, mixes)
