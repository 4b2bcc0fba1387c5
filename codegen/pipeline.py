"""The pipeline: from a routine's description to code, through named passes.

    trace_pass                run the description on traced parameters: the graph

    pack_lanes_pass           parts of a union that are computed alike become lanes: optional
    join_steps_pass           boards that take the same step are united before it: optional

    expand_pass               steps, runs and paths become shifts, rotates and masks

    simplify_pass             share equal values, fold constants, move, factor and drop masks
    simplify_in_place_pass    the same, but masks are not moved or factored: as a form of its own

    balance_pass              tree height reduction: optional

    select_pass               every operation becomes one that the target has an instruction for, or is refused
    chain_runs_pass           compute left shifts of a board from its shorter ones, for runs alone: optional
    chain_shifts_pass         the same for runs and other shifts: optional
    share_opposite_fill_pass  a right fill begins with the left one: optional, alone or before a chain pass
    estimate                  estimate the length of the code: only forms with the shortest estimates go on
    join_pass                 one graph of those that were lowered apart and run in turn

    stack_arguments_pass      read parameters from the stack where the convention passes them there
    code_motion_pass          assign values to blocks
    schedule_pass             schedule for the fewest copies

    split_masks_pass          split masks to save a copy: a refinement of the best form, scheduled again
    latency_schedule_pass     schedule for latency at no more copies: a refinement of the best form
    read_back_pass            unite results from memory once they are stored: a refinement, scheduled again

    spill_pass                spill where registers do not suffice
    allocate_pass             the search for the fewest moves, exact within its effort
    peephole_pass             remove tests that repeat the flags; order commuting operands alike for all assemblers
    prologue_epilogue_pass    saved registers, stack slots, return

No pass decides alone which description is best, which masks lie on a path (`Masks`), or whether an optional pass helps.
So each such form goes as far as selection, and those with the shortest estimates go on. A refinement is tried on the
best of them.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, product
from math import inf
from typing import Any

from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.lines import recorded
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, Plan
from setwise.codegen.machine.code import Register
from setwise.codegen.passes.balance import balance_pass
from setwise.codegen.passes.chain_shifts import chain_runs_pass, chain_shifts_pass
from setwise.codegen.passes.code_motion import code_motion_pass
from setwise.codegen.passes.expand import expand_pass
from setwise.codegen.passes.pack_lanes import pack_lanes_pass
from setwise.codegen.passes.peephole import peephole_pass
from setwise.codegen.passes.prologue_epilogue import prologue_epilogue_pass
from setwise.codegen.passes.read_back import MOST_RESULTS, read_back_pass
from setwise.codegen.passes.schedule import estimate, latency_schedule_pass, schedule_pass
from setwise.codegen.passes.select import join_pass, select_pass
from setwise.codegen.passes.share_opposite_fill import share_opposite_fill_pass
from setwise.codegen.passes.simplify import join_steps_pass, simplify_in_place_pass, simplify_pass
from setwise.codegen.passes.spill import spill_pass
from setwise.codegen.passes.split_masks import split_masks_pass
from setwise.codegen.passes.stack_arguments import stack_arguments_pass
from setwise.codegen.passes.state import Masks, Pass, State
from setwise.codegen.passes.trace import trace_pass
from setwise.codegen.regalloc.allocate import allocate_pass
from setwise.codegen.regalloc.machine import OutOfRegisters, TooLong
from setwise.codegen.targets.table import Refused, Target, Unplaced

ALTERNATIVES: tuple[tuple[Pass, ...], ...] = (
    (chain_runs_pass,),
    (chain_shifts_pass,),
    (share_opposite_fill_pass,),
    (share_opposite_fill_pass, chain_runs_pass),
    (share_opposite_fill_pass, chain_shifts_pass),
)
"""Groups of optional passes after selection. Each group makes a further form of each form that it changes."""

ORDER: tuple[Pass, ...] = (stack_arguments_pass, code_motion_pass, schedule_pass)
"""From a selected graph to a schedule: the first passes to depend on the convention."""

REFINEMENTS: tuple[tuple[Pass, tuple[Pass, ...], int], ...] = (
    (split_masks_pass, ORDER, 0),
    (latency_schedule_pass, (), 0),
    *[(partial(read_back_pass, keeps=at), ORDER[1:], 1) for at in range(MOST_RESULTS)],
)
"""Passes that are tried on the best of all forms.

With each are the passes that must follow it before CODE, and the fewest instructions that it must save.
"""

CODE: tuple[Pass, ...] = (spill_pass, allocate_pass, peephole_pass, prologue_epilogue_pass)
"""From a schedule to code."""

MOST_FORMS = 7
"""The maximum number of forms that become code; an eighth makes no kernel of the catalogue shorter."""

CACHED = 64  # kernels of a routine are made together, and targets and conventions share its forms
KEPT = 1 << 12  # all kernels of the catalogue, in several conventions, at about 0.1 MB each


def size(kernel: Kernel) -> tuple[int, int, int]:
    """Return a key, least for the best kernel: fewest instructions, then most register moves, then least depth."""
    copies = ("mov", kernel.target.move)
    moves = sum(i.mnemonic in copies and isinstance(i.operands[1], Register) for i in kernel.code.instructions)
    return len(kernel.code.instructions), -moves, kernel.selected.depth


@lru_cache(KEPT)
def select_best(plan: Plan) -> Kernel:
    """Return the shortest kernel of all forms and refinements. Raise OutOfRegisters if a form cannot be allocated."""
    best = min(lower_forms(plan), key=lambda state: size(state.kernel))
    for step, behind, saves in REFINEMENTS:
        for other in refine(step, behind, best, len(best.code.instructions) - saves):
            best = min(other, best, key=lambda state: size(state.kernel))
    return best.kernel


def lower_forms(plan: Plan) -> Iterator[State]:
    """Yield the forms with the shortest estimates as code, unless it is longer than that of an earlier form."""
    most = inf
    for form in _shortest(plan.routine, plan.target, plan.layout):
        with suppress(TooLong):
            made = run_passes((*ORDER, *CODE), replace(form, convention=plan.convention, most=most))
            most = min(most, len(made.code.instructions))
            yield made


def refine(step: Pass, behind: tuple[Pass, ...], state: State, limit: float = inf) -> Iterator[State]:
    """Yield the form after a refinement, if that changes it, finds registers and has at most `limit` instructions."""
    other = step(state)
    if other is not state:
        with suppress(OutOfRegisters, TooLong):
            yield run_passes((*behind, *CODE), replace(other, most=limit))


@lru_cache(CACHED)
def _shortest(routine: Routine, target: Target, layout: Layout) -> tuple[State, ...]:
    """Return at most MOST_FORMS selected forms, stages joined: those with the shortest estimates, near the best one."""
    forms = selected_forms(routine, target, layout)
    estimates = sorted((*estimate(form), at) for at, form in enumerate(forms))
    most = estimates[0][0] + 1 + estimates[0][0] // 64
    return tuple(join_pass(forms[at]) for length, _, at in estimates[:MOST_FORMS] if length <= most)


@lru_cache(CACHED)
def selected_forms(routine: Routine, target: Target, layout: Layout) -> tuple[State, ...]:
    """Return all distinct forms selected for the target, without further passes and after each of ALTERNATIVES."""
    with suppress(Unplaced):
        return _selected(routine, target, layout)
    return _selected(recorded(routine), target, layout)  # the same refusal with its place


def _selected(routine: Routine, target: Target, layout: Layout) -> tuple[State, ...]:
    selected: list[State] = []
    refused: list[Refused] = []
    for form in _every_form(routine, target, layout):
        try:
            selected.append(select_pass(replace(form, target=target)))
        except Refused as refusal:
            refused.append(refusal)
    if not selected:
        raise refused[0]
    others = (run_passes(passes, state) for passes in ALTERNATIVES for state in selected)
    return tuple(_distinct(chain(selected, others)))


def _every_form(routine: Routine, target: Target, layout: Layout) -> list[State]:
    """Return all distinct forms before selection, with masks of emptied ranks, too, if the target tries rotates."""
    masked = [_forms(routine, layout, ranks) for ranks in ((False, True) if target.tries_rotates else (False,))]
    return _distinct(
        sorted(chain(*masked), key=lambda state: (routine.descriptions.index(state.describe), state.masks))
    )


@lru_cache(CACHED)
def _forms(routine: Routine, layout: Layout, ranks: bool) -> tuple[State, ...]:
    """Return each description with each choice of `Masks` with these `ranks`, before and after tree height reduction.

    If a one-lane value is shifted, a further form leaves masks where the description has them: in vectors none is
    shorter by it. With `ranks`, leave out other descriptions: only such a shift may become a rotate.
    """
    traced = [state for state in _traced(routine, layout) if not ranks or _shifts_scalars(state)]
    masked = [replace(state, masks=Masks(inner, ranks)) for state, inner in product(traced, (False, True))]
    expanded = _distinct(map(expand_pass, masked))
    still = [simplify_in_place_pass(state) if _shifts_scalars(state) else state for state in expanded]
    simple = [simplify_pass(state) for state in still]
    return (*simple, *map(balance_pass, simple), *filter(_shifts_scalars, still))


def _shifts_scalars(state: State) -> bool:
    return any(graph.shifts_scalars for graph in state.graphs)


@lru_cache(CACHED)
def _traced(routine: Routine, layout: Layout) -> tuple[State, ...]:
    """Return each description traced, then those with lanes packed, and those with steps joined."""
    traced = [trace_pass(State(routine, layout, describe)) for describe in routine.descriptions]
    return tuple(_distinct([*traced, *map(pack_lanes_pass, traced), *map(join_steps_pass, traced)]))


def _distinct(states: Iterable[State]) -> list[State]:
    """Return the states in order, but only the first of those with equal graphs."""
    by_shape: dict[Any, State] = {}
    for state in states:
        by_shape.setdefault(state.shape, state)
    return list(by_shape.values())


def run_passes(passes: Iterable[Pass], state: State) -> State:
    """Return the state after these passes."""
    for step in passes:
        state = step(state)
    return state
