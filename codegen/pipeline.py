"""The pipeline: from a routine's description to code, through named passes.

    trace        run the description on traced parameters: the graph

    expansion    steps, runs and paths become shifts and masks

    algebra      simplify: share equal values, fold constants, move, factor and drop masks

    shallowness  tree height reduction: optional

    selection    every operation becomes one that the target has an instruction for, or is refused
    further      strength reduction of shifts through chains: optional, for runs alone or for all shifts
    back         a fill begins with the opposite one: optional, also before the former
    promise      estimate the length of the code: the shortest forms go on
    joining      one graph of those that were lowered apart and run in turn

    arguments    read parameters from the stack where the convention passes them there
    placement    code motion: assign values to blocks
    scheduling   schedule for the fewest copies

    meeting      split masks to save a copy: a refinement of the best form, scheduled anew
    hastening    schedule for latency at no more copies: a refinement of the best form

    spilling     spill where registers do not suffice
    allocation   the exact search for the fewest moves
    flags        remove tests that repeat what the flags say already
    operands     bring commuting operands in the order that every assembler encodes alike
    framing      prologue and epilogue: saved registers, stack slots, return

No pass decides alone which description is best, which masks lie on a path (`Masks`), or whether an optional pass helps.
So each such form goes as far as selection, and those with the shortest estimates go on. A refinement is tried on the
best of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, product
from math import inf
from typing import Any

from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, Plan
from setwise.codegen.machine.code import Register
from setwise.codegen.passes.arguments import arguments
from setwise.codegen.passes.back import back
from setwise.codegen.passes.expand import expansion
from setwise.codegen.passes.flags import flags
from setwise.codegen.passes.frame import framing
from setwise.codegen.passes.further import further, runs_further
from setwise.codegen.passes.meeting import meeting
from setwise.codegen.passes.operands import operands
from setwise.codegen.passes.place import placement
from setwise.codegen.passes.schedule import hastening, promise, scheduling
from setwise.codegen.passes.select import joining, selection
from setwise.codegen.passes.shallow import shallowness
from setwise.codegen.passes.simplify import algebra
from setwise.codegen.passes.spill import spilling
from setwise.codegen.passes.trace import trace
from setwise.codegen.passes.unit import Masks, Most, Pass, Unit
from setwise.codegen.registers.allocate import allocation
from setwise.codegen.registers.machine import OutOfRegisters, TooLong
from setwise.codegen.targets.table import Refused, Target

ALTERNATIVES: tuple[tuple[Pass, ...], ...] = (
    (runs_further,),
    (further,),
    (back,),
    (back, runs_further),
    (back, further),
)
"""Groups of optional passes behind selection; a form that a group does not change is no form of its own."""

ORDER: tuple[Pass, ...] = (arguments, placement, scheduling)
"""From a selected graph to a schedule: the first passes to depend on the convention."""

REFINEMENTS: tuple[tuple[Pass, tuple[Pass, ...]], ...] = ((meeting, ORDER), (hastening, ()))
"""Passes that are tried on the best of all forms, each with those that follow it up to the code."""

CODE: tuple[Pass, ...] = (spilling, allocation, flags, operands, framing)
"""From a schedule to code."""

MOST_FORMS = 5
"""The most forms that go on; a sixth makes no kernel of the catalogue shorter."""

CACHED = 64  # a set asks for the forms of the set that it extends; kernels of a routine are made together

Limit = Callable[[Unit], Most]
"""The size limit of a form's code."""


def size(kernel: Kernel) -> tuple[int, int, int]:
    """Return the objective: fewer instructions are better, then more moves, which cost least, then less depth."""
    copies = ("mov", kernel.target.move)
    moves = sum(i.mnemonic in copies and isinstance(i.operands[1], Register) for i in kernel.code.instructions)
    return len(kernel.code.instructions), -moves, kernel.selected.depth


def select_best(plan: Plan) -> Kernel:
    """Return the shortest kernel of all forms and refinements.

    If an instruction set adds nothing for the routine to the one that it extends, the kernel is that one's. Raises
    OutOfRegisters if a form finds no registers.
    """
    target = plan.target
    while target.extends and _adds_nothing(plan, target, target.extends):
        target = target.extends
    return replace(_select_best(replace(plan, target=target)), target=plan.target)


def _adds_nothing(plan: Plan, target: Target, older: Target) -> bool:
    """Return whether the routine has the same forms on both targets.

    One form of each description tells: the others differ in masks and in the order of unions, for which both have the
    same instructions.
    """
    try:
        shapes = {unit.shape for unit in selected_forms(plan.routine, older, plan.layout)}
    except Refused:
        return False
    some = {form.describe: form for form in _every_form(plan.routine, target, plan.layout)}
    return all(selection(replace(form, target=target)).shape in shapes for form in some.values())


@lru_cache(CACHED)
def _select_best(plan: Plan) -> Kernel:
    best: Unit | None = None

    def figure(unit: Unit) -> tuple[int, int, int]:
        return size(unit.kernel)

    def limit(form: Unit, *, of_equals: bool = False) -> Most:
        return size_limit(form, best.kernel, of_equals=of_equals) if best else Most()

    for form in variants(plan, limit):
        best = form if best is None else min(best, form, key=figure)
    assert best is not None
    for refinement in REFINEMENTS:
        for other in refine(refinement, best, partial(limit, of_equals=True)):
            best = min(other, best, key=figure)
    return best.kernel


def size_limit(form: Unit, best: Kernel, *, of_equals: bool) -> Most:
    """Return the size limit of a form that is better than the best kernel so far, or as good.

    With as many instructions it needs as many moves, or more if it is as deep.
    """
    length, moves, depth = size(best)
    behind = form.selected.depth - depth - of_equals
    return Most(length, -moves + (behind >= 0))


def variants(plan: Plan, limit: Limit = lambda _: Most()) -> Iterator[Unit]:
    """Yield the forms with the shortest estimates as code, without those above the limit."""
    for form in _shortest(plan.routine, plan.target, plan.layout):
        with suppress(TooLong):
            yield through((*ORDER, *CODE), replace(form, convention=plan.convention, most=limit(form)))


def refine(refinement: tuple[Pass, tuple[Pass, ...]], unit: Unit, limit: Limit = lambda _: Most()) -> Iterator[Unit]:
    """Yield the form after a refinement, if that changes it, finds registers and is within the limit."""
    step, behind = refinement
    other = step(unit)
    if other is not unit:
        with suppress(OutOfRegisters, TooLong):
            yield through((*behind, *CODE), replace(other, most=limit(other)))


@lru_cache(CACHED)
def _shortest(routine: Routine, target: Target, layout: Layout) -> tuple[Unit, ...]:
    """Return the selected forms with the shortest estimates."""
    forms = selected_forms(routine, target, layout)
    promises: list[tuple[tuple[int, int], int]] = []
    most = inf
    # Forms with few values first: a lower bound rules out more of the others.
    for at in sorted(range(len(forms)), key=lambda at: forms[at].values):
        promised = promise(forms[at], most)
        promises.append((promised, at))
        most = min(most, promised[0] + 1 + promised[0] // 64)
    shortest = [forms[at] for (length, _), at in sorted(promises) if length <= most][:MOST_FORMS]
    return tuple(map(joining, shortest))


@lru_cache(CACHED)
def selected_forms(routine: Routine, target: Target, layout: Layout) -> tuple[Unit, ...]:
    """Return all forms in the operations of the target."""
    selected = [selection(replace(form, target=target)) for form in _every_form(routine, target, layout)]
    others = (through(passes, unit) for passes in ALTERNATIVES for unit in selected)
    return tuple(_distinct(chain(selected, others)))


def _every_form(routine: Routine, target: Target, layout: Layout) -> list[Unit]:
    """Return all forms that are worth trying for the target."""
    masked = [_forms(routine, layout, ranks) for ranks in ((False, True) if target.rotates else (False,))]
    return _distinct(sorted(chain(*masked), key=lambda unit: (routine.descriptions.index(unit.describe), unit.masks)))


@lru_cache(CACHED)
def _forms(routine: Routine, layout: Layout, ranks: bool) -> tuple[Unit, ...]:
    """Return each description with each choice of masks, before and after tree height reduction.

    With ranks only descriptions in which something moves in one lane: only there a rotate may stand for a shift.
    """
    traced = [unit for unit in _traced(routine, layout) if not ranks or any(g.moves_alone for g in unit.graphs)]
    masked = [replace(unit, masks=Masks(inner, ranks)) for unit, inner in product(traced, (False, True))]
    simple = [algebra(unit) for unit in _distinct(map(expansion, masked))]
    return (*simple, *map(shallowness, simple))


@lru_cache(CACHED)
def _traced(routine: Routine, layout: Layout) -> tuple[Unit, ...]:
    """Return the descriptions as graphs."""
    return tuple(trace(Unit(routine, layout, describe)) for describe in routine.descriptions)


def _distinct(units: Iterable[Unit]) -> list[Unit]:
    """Return the first of all units with equal graphs."""
    by_shape: dict[Any, Unit] = {}
    for unit in units:
        by_shape.setdefault(unit.shape, unit)
    return list(by_shape.values())


def through(passes: Iterable[Pass], unit: Unit) -> Unit:
    """Return the unit after these passes."""
    for step in passes:
        unit = step(unit)
    return unit
