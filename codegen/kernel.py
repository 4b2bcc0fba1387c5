"""Kernels and plans, with the choice of convention and layout."""

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
    """A routine with an instruction set, a calling convention and a layout."""

    routine: Routine
    target: Target
    convention: Convention
    layout: Layout


@dataclass(frozen=True)
class Kernel(Plan):
    """A plan with its code and the graphs that it came from.

    `graph` is the traced description with rays lowered to shifts and masks. `selected` is that graph in operations of
    the target, before scheduling and register allocation.
    """

    graph: Graph
    selected: Graph
    code: Code
    exact: bool
    """Whether the register search covered every allocation of the schedule."""
    prefix: str = "setwise"
    """The prefix of the kernel's symbol."""
    variant: str = ""
    """The name of the variant; "" is the default variant."""

    @property
    def name(self) -> str:
        """The routine's name."""
        return self.routine.name


def plan(routine: Routine, target: Target, abi: str, lanes: int | None) -> Plan:
    """Return the plan; `lanes` None is the default. Raise ValueError for an unknown `abi` or a bad combination."""
    convention = convention_named(abi)
    if target.name not in routine.isas:
        raise Refused(f"{routine.name} is not available for {target.name}: use one of {', '.join(routine.isas)}")
    if abi == "wiki" and [p.kind for p in routine.contract.parameters] not in _OF_WIKI:
        raise Refused(
            f"the wiki convention has registers for (sliders, empty) only, not for {routine.name}: use sysv or win64"
        )
    return Plan(routine, target, convention, _layout(routine, target, lanes))


def convention_named(abi: str) -> Convention:
    """Return the calling convention with this name. Raise ValueError for an unknown name."""
    if abi not in CONVENTIONS:
        raise ValueError(f"unknown convention '{abi}': use one of {', '.join(CONVENTIONS)}")
    return CONVENTIONS[abi]


def widths(routine: Routine, target: Target) -> tuple[int, ...]:
    """Return the possible numbers of lanes of a routine on a target, the default first.

    If lanes hold directions, two lanes are possible only on a target without wider registers.
    """
    return target.widths if routine.batched else target.direction_widths or target.widths


_OF_WIKI = (["board", "empty"], ["board", "occupied"])


def _layout(routine: Routine, target: Target, lanes: int | None) -> Layout:
    """Return the layout: lanes hold boards if the routine is `batched`, otherwise directions.

    Raise ValueError for a number of lanes that `widths` does not return. None is its first, the default.
    """
    if target.widths == (1,):
        if lanes not in (None, 1):
            raise ValueError(f"{target.name} has one lane: leave --lanes out, or use {in_words(VECTORS)}")
        return Layout()
    known = widths(routine, target)
    if lanes is not None and lanes not in known:
        raise ValueError(f"{routine.name} on {target.name} has {' or '.join(map(str, known))} lanes, not {lanes}")
    lanes = lanes or known[0]
    # With four lanes and all eight directions, left and right rays in separate registers can share runs.
    both_sides = (
        not routine.batched
        and target.has("rotl", lanes)
        and (lanes == 8 or len(DIRECTION_SETS.get(routine.direction, DIR8)) < 8)
    )
    return Layout(lanes, routine.batched, both_sides)
