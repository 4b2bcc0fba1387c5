"""The named variants of a kernel: up to eight kernels of a catalogue routine for a target.

The kernel of `lower` is the variant `default`, whose name is empty. Most of the others take one form of a plan:

critical-path   the form with the least estimated time
short           the shortest form without rotates, scheduled for latency
pext            as `critical-path`, but westward attacks by pext and pdep; `pext-short` is as `short`
pext-size       the shortest of all forms with westward attacks by pext and pdep
imul-size       the shortest of all forms where imul by a power of two may copy and shift at once
reassociated    masks that are combined before the board is known; also `reassociated-short`
compares        comparisons in place of jump tables; also `reassociated-compares`
hoisted         constants are hoisted into registers; with four directions in a register, no permute fills it
4-lanes         `hoisted`, with four directions in a register instead of eight
scalar-rooks    rook directions in general registers, the others in vectors; also `scalar-rooks-hoisted`
scalar          all directions in general registers
vector-pair     soEa and soWe share a vector, all others are in general registers
transposed      rooks on boards that GFNI transposes and mirrors, bishops in general registers
by-ranks        arrays rank by rank, eight registers at once; `mirrored-ranks` by GFNI; also `...-hoisted`

setwise.analysis.bench.choice chooses among them for a processor.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from setwise.codegen.board import DIR8, ROOK, SOEA, SOWE
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, Plan, plan, widths
from setwise.codegen.lower import lower
from setwise.codegen.passes.list_schedule import WIDTH
from setwise.codegen.passes.schedule import crossing_first_pass, estimate, latency_schedule_pass, list_schedule_pass
from setwise.codegen.passes.select import join_pass
from setwise.codegen.passes.state import State
from setwise.codegen.pipeline import CACHED, CODE, MOST_FORMS, ORDER, refine, run_passes, select_best, selected_forms
from setwise.codegen.regalloc.machine import OutOfRegisters, TooLong
from setwise.codegen.targets import target_named
from setwise.codegen.targets.general import SHIFT_COPY
from setwise.codegen.targets.table import Refused, Target
from setwise.codegen.targets.vector import SPLAT, SPLAT_RELOAD

_ROTATE, _JUMP, _PERMUTE, _BROADCAST = "rorx", "movsxd", "vpermq", "broadcast"
_PERMUTED = 4  # the number of lanes that a permute of two scalars fills


class VariantPlan(NamedTuple):
    """The plan of a variant. Its form has the least estimated time if `soonest`, else the least estimated length.

    If `fewest`, all forms become code, as for the default kernel, and the shortest is taken.
    """

    plan: Plan
    soonest: bool
    fewest: bool = False


def enumerate_variants(routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None) -> Iterator[Kernel]:
    """Yield the kernel of `lower`, whose variant is "", then the named variants that exist, without equal code.

    Without `lanes`, variants with other numbers of lanes are included. Raise the errors of `lower`.
    """
    usual = lower(routine, isa, abi, lanes)
    yield usual
    seen = {usual.code}
    for name, offer in _plans(routine, isa, abi, lanes).items():
        kernel = _made(name, offer, plan(routine, target_named(isa), abi, lanes))
        if kernel is not None and kernel.code not in seen:
            seen.add(kernel.code)
            yield kernel


def variant_named(name: str, routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """Return the kernel of a named variant. Raise Refused if there is none. "default" and "" name that of `lower`.

    >>> from setwise.codegen.catalogue import find
    >>> variant_named("short", find("push.attacks.sout"), "bmi2").variant
    'short'
    """
    if name in ("", "default"):
        return lower(routine, isa, abi, lanes)
    offers = _plans(routine, isa, abi, lanes)
    kernel = _made(name, offers[name], plan(routine, target_named(isa), abi, lanes)) if name in offers else None
    if kernel is None:
        others = ["default", *(other for other in offers if other != name)]
        raise Refused(f"{routine.name} for {isa} has no variant '{name}': use one of {', '.join(others)}")
    return kernel


def _plans(routine: Routine, isa: str, abi: str, lanes: int | None) -> dict[str, VariantPlan]:
    """Return the plans of the variants that have a form, without `default`, by name."""
    asked = plan(routine, target_named(isa), abi, lanes)
    named = (
        _in_general(asked) if not asked.target.vectors else _boards(asked) if routine.batched else _rays(asked, lanes)
    )
    return {name: offer for name, offer in named if offer is not None and _forms(offer.plan)}


Named = Iterator[tuple[str, VariantPlan | None]]


def _in_general(asked: Plan) -> Named:
    """Yield name and plan, if any, of variants without vectors: of the usual descriptions, then of each named one."""
    shifting = _without(asked, _ROTATE) or asked
    comparing = _without(asked, _JUMP) if any("distance" in form.graph.operations for form in _forms(asked)) else None
    yield "critical-path", VariantPlan(asked, soonest=True)
    yield "short", VariantPlan(shifting, soonest=False)
    yield "compares", VariantPlan(comparing, soonest=True) if comparing else None
    for way in _ways(asked):
        yield way, VariantPlan(_by_way(asked, way), soonest=True)
        yield f"{way}-short", VariantPlan(_by_way(shifting, way), soonest=False)
        yield f"{way}-compares", VariantPlan(_by_way(comparing, way), soonest=True) if comparing else None
    if "pext" in _ways(asked):
        yield "pext-size", VariantPlan(_by_way(asked, "pext"), soonest=False, fewest=True)
    if shifting is asked:
        copying = replace(asked.target, rows=(*asked.target.rows, SHIFT_COPY))
        yield "imul-size", VariantPlan(replace(asked, target=copying), soonest=False, fewest=True)


def _boards(asked: Plan) -> Named:
    """Yield name and plan of the variants whose lanes hold boards."""
    yield "critical-path", VariantPlan(asked, soonest=True)
    yield "hoisted", VariantPlan(_hoisting(asked), soonest=False)
    for way in _ways(asked):
        yield way, VariantPlan(_by_way(asked, way), soonest=True)
        yield f"{way}-hoisted", VariantPlan(_hoisting(_by_way(asked, way)), soonest=False)


def _rays(asked: Plan, lanes: int | None) -> Named:
    """Yield name and plan of the variants for one board: directions in lanes, in general registers, or some in each."""
    _, *others = widths(asked.routine, asked.target)
    yield "hoisted", VariantPlan(_side_by_side(asked), soonest=False)
    for number in others if lanes is None else ():
        other = plan(asked.routine, asked.target, asked.convention.name, number)
        yield f"{number}-lanes", VariantPlan(_side_by_side(other), soonest=False)
    apart = replace(asked, layout=replace(asked.layout, scalar_directions=tuple(ROOK)))
    spread = _without(apart, _BROADCAST)  # a move to a vector and a splat from there are as fast
    if spread is not None:
        apart = replace(spread, target=replace(spread.target, rows=(*spread.target.rows, SPLAT)))
    apart = _with_pext(apart)
    yield "scalar-rooks", VariantPlan(apart, soonest=True)
    yield "scalar-rooks-hoisted", VariantPlan(_hoisting(apart), soonest=True)
    if lanes is None:
        yield "scalar", VariantPlan(_with_pext(replace(asked, layout=Layout())), soonest=True)
        rest = tuple(direction for direction in DIR8 if direction not in (SOEA, SOWE))
        two = replace(asked, layout=replace(asked.layout, scalar_directions=rest))
        yield "vector-pair", VariantPlan(_without(two, _ROTATE) or two, soonest=True)
        if any(way == "transposed" for way, _ in asked.routine.named_descriptions):
            yield "transposed", VariantPlan(_by_way(replace(asked, layout=Layout()), "transposed"), soonest=True)


def _ways(asked: Plan) -> list[str]:
    """Return the names of the named descriptions; without "pext" if the target has no such instruction."""
    gathers = asked.target.has("gather", asked.layout.lanes if asked.layout.batched else 1)
    return [name for name, _ in asked.routine.named_descriptions if gathers or name != "pext"]


def _by_way(asked: Plan, name: str) -> Plan:
    """Return the plan with the routine's description of this name instead of its usual ones."""
    describe = dict(asked.routine.named_descriptions)[name]
    return replace(asked, routine=replace(asked.routine, descriptions=(describe,)))


def _with_pext(asked: Plan) -> Plan:
    """Return the plan with westward attacks by pext, or the plan itself if the routine or the target has none."""
    way = _by_way(asked, "pext") if "pext" in _ways(asked) else asked
    return way if _forms(way) else asked


def _hoisting(asked: Plan) -> Plan:
    """Return the plan with repeated vector constants hoisted into registers."""
    return replace(asked, target=replace(asked.target, hoist_constants=True))


def _side_by_side(asked: Plan) -> Plan:
    """Return the plan with constants hoisted and, if registers hold four directions, filled without permutes."""
    packing = asked.layout.all_in_lanes and asked.layout.directions_per_register == _PERMUTED
    blending = _without(asked, _PERMUTE) if packing else None
    if blending is None:
        return _hoisting(asked)
    target = blending.target
    if asked.convention.red_zone and target.has("splat", _PERMUTED):
        target = replace(target, rows=(*target.rows, SPLAT_RELOAD))
    return _hoisting(replace(blending, target=target))


def _without(asked: Plan, name: str) -> Plan | None:
    """Return the plan without the target's rows of this mnemonic or operation, or None if the target has none."""
    target: Target = asked.target
    rows = tuple(row for row in target.rows if name not in (row.mnemonic, row.op))
    if rows == target.rows:
        return None
    return replace(asked, target=replace(target, rows=rows, tries_rotates=target.tries_rotates and name != _ROTATE))


def _forms(asked: Plan) -> Sequence[State]:
    """Return all forms of a plan, or none if the target refuses it.

    If some directions use general registers, return only forms that have others in vectors, and none if a description
    combines rays of both kinds lane by lane.
    """
    try:
        forms = selected_forms(asked.routine, asked.target, asked.layout)
    except Refused:
        return ()
    except ValueError:
        if asked.layout.scalar_directions:
            return ()
        raise
    return [form for form in forms if not asked.layout.scalar_directions or form.in_vectors]


@lru_cache(CACHED)
def _made(name: str, offer: VariantPlan, asked: Plan) -> Kernel | None:
    """Return the kernel of the best form that finds registers, or None. Its routine and target are those of `asked`."""
    if offer.fewest:
        with suppress(OutOfRegisters):
            return replace(select_best(offer.plan), routine=asked.routine, target=asked.target, variant=name)
        return None
    for state in _ranked(offer)[:MOST_FORMS]:
        with suppress(OutOfRegisters, TooLong):
            made = run_passes((join_pass, *ORDER, crossing_first_pass, *CODE), state)
            single = len(asked.routine.contract.results) == 1 and not (
                state.layout.batched or state.layout.all_in_lanes
            )
            order = list_schedule_pass if offer.soonest and single else latency_schedule_pass
            made = next(refine(order, (), made), made)
            return replace(made.kernel, routine=asked.routine, target=asked.target, variant=name)
    return None


def _ranked(offer: VariantPlan) -> list[State]:
    """Return the forms of a plan, best first: by estimated time if `soonest`, else by estimated length."""

    def rank(form: State) -> tuple[float, int, int]:
        length, depth = estimate(form)
        return length / WIDTH + depth if offer.soonest else 0.0, length, depth

    return sorted([replace(state, convention=offer.plan.convention) for state in _forms(offer.plan)], key=rank)
