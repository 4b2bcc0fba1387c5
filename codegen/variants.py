"""Variants of a routine for one target, and the best of them by a given objective.

What no pass decides alone is tried: descriptions, the masks that lie on a path (`Masks`), graphs with less waiting.
Every form goes as far as selection, and those that promise the shortest code go on. Of the best something else is tried
once more, such as an order that ends sooner, and the better of the two stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, product
from math import inf
from typing import Any, NamedTuple

from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, Plan
from setwise.codegen.machine.code import Register
from setwise.codegen.passes.unit import Masks, Most, Pass, Unit
from setwise.codegen.registers.machine import OutOfRegisters, TooLong
from setwise.codegen.targets.table import Refused, Target

MOST_FORMS = 5
"""How many forms go on at most; a sixth makes no kernel of the catalogue shorter."""

LATELY = 64
"""How many results are kept for a set that extends the one they are for; kernels of a routine are made together."""

Objective = Callable[[Kernel], Any]
"""What of a kernel is compared: the least is best."""

Allowed = Callable[[Unit], Most]
"""How large the code of a form may be."""


class Pipeline(NamedTuple):
    """The passes, in the groups between which variants part."""

    trace: tuple[Pass, ...]
    """From a description to a graph, whatever its masks."""
    expansion: tuple[Pass, ...]
    """The graph with the masks that it wants."""
    algebra: tuple[Pass, ...]
    shallow: tuple[Pass, ...]
    """The same graph with less waiting, which is tried besides."""
    selection: tuple[Pass, ...]
    """The first to ask for the target."""
    otherwise: tuple[tuple[Pass, ...], ...]
    """The same in other operations by each group of these, tried besides; alike where there is nothing to change."""
    promise: Callable[[Unit, float], tuple[int, int]]
    """About how long the code of a selected graph becomes, and how deep that is: the least go on.

    What is surely longer than a given length need not be told how long: any greater number will do.
    """
    joining: tuple[Pass, ...]
    """One graph of all that run in turn."""
    order: tuple[Pass, ...]
    """The first to ask for the convention; then values have their order."""
    again: tuple[tuple[Pass, tuple[Pass, ...]], ...]
    """What tries something else of the best of all forms, in order, the same unit where there is nothing; and behind
    each the passes up to those of the code."""
    code: tuple[Pass, ...]


def size(kernel: Kernel) -> tuple[int, int, int]:
    """Fewer instructions are better; then more of them moves, which cost least; then less waiting."""
    copies = ("mov", kernel.target.move)
    moves = sum(i.mnemonic in copies and isinstance(i.operands[1], Register) for i in kernel.code.instructions)
    return len(kernel.code.instructions), -moves, kernel.selected.depth


def best(pipeline: Pipeline, plan: Plan, objective: Objective) -> Kernel:
    """The kernel of the best form in the best of its orders; OutOfRegisters where a form's own order finds none.

    Where an instruction set adds nothing for the routine to the one that it extends, the kernel is that one's.
    """
    target = plan.target
    while target.extends and _adds_nothing(pipeline, plan, target, target.extends):
        target = target.extends
    return replace(_best(pipeline, replace(plan, target=target), objective), target=plan.target)


def _adds_nothing(pipeline: Pipeline, plan: Plan, target: Target, older: Target) -> bool:
    """Whether the routine comes out alike for both.

    One form of each description tells: the others differ in masks and in the order of unions, for which both have the
    same instructions.
    """
    try:
        shapes = {unit.shape for unit in selected_forms(pipeline, plan.routine, older, plan.layout)}
    except Refused:
        return False
    some = {form.describe: form for form in _every_form(pipeline, plan.routine, target, plan.layout)}
    own = (through(pipeline.selection, replace(form, target=target)) for form in some.values())
    return all(unit.shape in shapes for unit in own)


@lru_cache(LATELY)
def _best(pipeline: Pipeline, plan: Plan, objective: Objective) -> Kernel:
    best: Unit | None = None

    def figure(unit: Unit) -> Any:
        return objective(unit.kernel)

    def most(form: Unit, *, of_equals: bool = False) -> Most:
        return _most(form, best.kernel, of_equals=of_equals) if best and objective is size else Most()

    for form in variants(pipeline, plan, most):
        best = form if best is None else min(best, form, key=figure)
    assert best is not None
    for way in pipeline.again:
        for other in again(pipeline, way, best, partial(most, of_equals=True)):
            best = min(other, best, key=figure)
    return best.kernel


def _most(form: Unit, best: Kernel, *, of_equals: bool) -> Most:
    """How large a form may be and of less size than the best so far, or of the same.

    With as many instructions it needs as many moves, or more where there is as much waiting.
    """
    length, moves, depth = size(best)
    behind = form.selected.depth - depth - of_equals
    return Most(length, -moves + (behind >= 0))


def variants(pipeline: Pipeline, plan: Plan, most: Allowed = lambda _: Most()) -> Iterator[Unit]:
    """The forms that promise the shortest code, as code, each in the order with the fewest moves.

    Those are left out whose code is larger than `most` allows them by then.
    """
    for form in _shortest(pipeline, plan.routine, plan.target, plan.layout):
        with suppress(TooLong):
            yield through((*pipeline.order, *pipeline.code), replace(form, convention=plan.convention, most=most(form)))


def again(
    pipeline: Pipeline, way: tuple[Pass, tuple[Pass, ...]], unit: Unit, most: Allowed = lambda _: Most()
) -> Iterator[Unit]:
    """The same form after one more pass, where that changes it, finds registers and is not too long."""
    step, behind = way
    other = _besides((step,), unit)
    if other is not unit:
        with suppress(OutOfRegisters, TooLong):
            yield through((*behind, *pipeline.code), replace(other, most=most(other)))


@lru_cache(LATELY)
def _shortest(pipeline: Pipeline, routine: Routine, target: Target, layout: Layout) -> tuple[Unit, ...]:
    """The forms that promise the shortest code, selected but not yet in order."""
    forms = selected_forms(pipeline, routine, target, layout)
    promises: list[tuple[tuple[int, int], int]] = []
    most = inf
    # Those with few values first: what is surely longer is told by less.
    for at in sorted(range(len(forms)), key=lambda at: forms[at].values):
        promised = pipeline.promise(forms[at], most)
        promises.append((promised, at))
        most = min(most, promised[0] + 1 + promised[0] // 64)
    shortest = [forms[at] for (length, _), at in sorted(promises) if length <= most][:MOST_FORMS]
    return tuple(through(pipeline.joining, unit) for unit in shortest)


@lru_cache(LATELY)
def selected_forms(pipeline: Pipeline, routine: Routine, target: Target, layout: Layout) -> tuple[Unit, ...]:
    """All forms in the operations of the target."""
    forms = _every_form(pipeline, routine, target, layout)
    selected = [through(pipeline.selection, replace(form, target=target)) for form in forms]
    others = (_besides(other, unit) for other in pipeline.otherwise for unit in selected)
    return tuple(_different([*selected, *others]))


def _every_form(pipeline: Pipeline, routine: Routine, target: Target, layout: Layout) -> list[Unit]:
    """All forms that are worth trying for the target."""
    masked = [_forms(pipeline, routine, layout, ranks) for ranks in ((False, True) if target.rotates else (False,))]
    return _different(sorted(chain(*masked), key=lambda unit: (routine.descriptions.index(unit.describe), unit.masks)))


@lru_cache(LATELY)
def _forms(pipeline: Pipeline, routine: Routine, layout: Layout, ranks: bool) -> tuple[Unit, ...]:
    """Descriptions and masks, with ranks or without, and the same with less waiting, before any target is asked.

    With ranks there are those in which something moves in one lane: only there a rotate may stand for a shift.
    """
    traced = [
        unit for unit in _traced(pipeline, routine, layout) if not ranks or any(g.moves_alone for g in unit.graphs)
    ]
    choices = product(traced, (False, True))
    masked = [replace(unit, masks=Masks(inner, ranks)) for unit, inner in choices]
    expanded = _different([through(pipeline.expansion, unit) for unit in masked])
    simple = [through(pipeline.algebra, unit) for unit in expanded]
    return (*simple, *(_besides(pipeline.shallow, unit) for unit in simple))


@lru_cache(LATELY)
def _traced(pipeline: Pipeline, routine: Routine, layout: Layout) -> tuple[Unit, ...]:
    """The descriptions as graphs."""
    return tuple(through(pipeline.trace, Unit(routine, layout, describe)) for describe in routine.descriptions)


def _different(units: Sequence[Unit]) -> list[Unit]:
    """Of units with graphs alike the first."""
    by_shape: dict[Any, Unit] = {}
    for unit in units:
        by_shape.setdefault(unit.shape, unit)
    return list(by_shape.values())


def _besides(passes: Sequence[Pass], unit: Unit) -> Unit:
    """The unit after passes that are tried besides, told by their names; itself where they change nothing."""
    changed = through(passes, unit)
    return unit if changed is unit else replace(changed, besides=(*unit.besides, *(step.__name__ for step in passes)))


def through(passes: Iterable[Pass], unit: Unit) -> Unit:
    """The unit after these passes."""
    for step in passes:
        unit = step(unit)
    return unit
