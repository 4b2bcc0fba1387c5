"""Variants of a kernel for a judge to choose among: ordinary kernels, each with a name by which it is made again.

Beside the forms that promise the shortest code stand such as wait less, ways that a routine names, and other divisions
of the work: all boards in general registers, or some directions there and others side by side in vector registers, so
that each file has less to do; constants held in registers; shifts where rotates spare moves; and comparisons where
cases are jumped to by a table. What leads from one file to another comes first, for it takes longest, or else all comes
by how long its way is. Who knows processors ranks variants: setwise.analysis.measure.objective.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, zip_longest
from math import inf

from setwise.codegen.board import DIR8, ROOK, SOEA, SOWE
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, Plan, plan, widths
from setwise.codegen.lower import PIPELINE, lower
from setwise.codegen.passes.schedule import WIDTH, crossing, urgency, urgency_by
from setwise.codegen.passes.unit import Unit
from setwise.codegen.registers.machine import OutOfRegisters, TooLong
from setwise.codegen.targets import target_named
from setwise.codegen.targets.table import Refused, Target
from setwise.codegen.targets.vector import SPLAT, SPLAT_RELOAD
from setwise.codegen.variants import again, selected_forms, through

MOST = 32
"""How many variants of a kernel are offered."""
BY_LOT = re.compile(rf".*{urgency.__name__}-([1-9][0-9]{{0,5}})")
"""The names of variants in whose order a lot puts equals."""

_ROTATE = "rorx"
_JUMP = "movsxd"
_PERMUTE = "vpermq"
_BROADCAST = "broadcast"
_IN_GENERAL = ("apart/", "general/", "soEa-soWe/")
_PERMUTED = 4  # lanes of what is put side by side and permuted


def offered(routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None) -> Iterator[Kernel]:
    """The usual kernel, whose variant has no name, then others, no two of the same code, MOST in all.

    Without lanes other numbers of them are among these. Raises what `lower` does.
    """
    usual = lower(routine, isa, abi, lanes)
    yield usual
    seen = {usual.code}
    for name, unit in _in_turns(_divisions(routine, isa, abi, lanes)):
        with suppress(OutOfRegisters, TooLong):
            for kernel in _foremost(_orders(name, unit, usual)):
                if kernel.code not in seen:
                    seen.add(kernel.code)
                    yield kernel
                if len(seen) == MOST:
                    return


def offered_as(name: str, routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """The variant of that name, "" the usual one, also one of those `drawn`; Refused where there is none.

    >>> from setwise.codegen.catalogue import find
    >>> offered_as("shifts/1", find("push.attacks.sout"), "bmi2").variant
    'shifts/1'
    """
    if not name:
        return lower(routine, isa, abi, lanes)
    lot = BY_LOT.fullmatch(name)
    for kernel in _named(name, routine, isa, abi, lanes, (int(lot[1]),) if lot else ()):
        if kernel.variant == name:
            return kernel
    raise Refused(f"{routine.name} for {isa} has no variant '{name}': `setwise best {routine.name}` names some")


def drawn(
    name: str, lots: Sequence[int], routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None
) -> Iterator[Kernel]:
    """The variant of that name in other orders, one a lot, all of them with the longest way first; none of others.

    No rule tells the best of them: who tries some on a processor may find it.

    >>> from setwise.codegen.catalogue import find
    >>> [kernel.variant for kernel in drawn("1-urgency", (7, 8), find("push.attacks.east"), "x86-64")]
    ['1-urgency-7', '1-urgency-8']
    """
    wanted = {f"{name}-{lot}" for lot in lots}
    return (each for each in _named(name, routine, isa, abi, lanes, lots) if each.variant in wanted)


def _named(name: str, routine: Routine, isa: str, abi: str, lanes: int | None, lots: Sequence[int]) -> Iterator[Kernel]:
    """Those whose division and form the name begins with, in all orders, of those by lot these."""
    usual = plan(routine, target_named(isa), abi, lanes)
    for division, asked in _divisions(routine, isa, abi, lanes).items():
        if name.startswith(division):
            for unit in _forms(asked):
                if f"{name}-".startswith(f"{division}{unit.variant}-"):
                    yield from _orders(division, unit, usual, lots)


def _divisions(routine: Routine, isa: str, abi: str, lanes: int | None) -> dict[str, Plan]:
    """How boards and directions lie in registers, and which instructions there are, by what variants' names begin with.

    apart: directions of rooks in general registers, others in vectors; general: all there; soEa-soWe: all but these,
    which share a vector; the routine's ways by their names, one direction a value or as apart; shifts: without rotates;
    blended: boards are spread each by itself and blended, not put side by side and permuted; stored: so they are, from
    memory, where the convention keeps what lies below the stack pointer; held: vectors of constants that are wanted
    more than once are loaded once; compared: the number of a case is compared with the cases' numbers, where else jumps
    are in a table.
    """
    asked = plan(routine, target_named(isa), abi, lanes)
    plans = {"": asked} | _by_ways("", asked if routine.boards else replace(asked, layout=Layout()))
    if asked.target.vectors and not routine.boards:
        usual, *others = widths(routine, asked.target)
        del plans[""]
        for number in (usual, *others) if lanes is None else (lanes,):
            one = asked if lanes else plan(routine, asked.target, abi, number)
            head = "" if number == usual else f"{number}-"
            plans[head and f"{head}lanes/"] = one
            plans[f"{head}apart/"] = apart = replace(one, layout=replace(one.layout, apart=tuple(ROOK)))
            plans |= _by_ways(f"{head}apart/", apart)
        if lanes is None:
            rest = tuple(direction for direction in DIR8 if direction not in (SOEA, SOWE))
            plans["general/"] = replace(asked, layout=Layout())
            plans["soEa-soWe/"] = replace(asked, layout=replace(asked.layout, apart=rest))
    spreading = _without(asked.target, _BROADCAST)
    if spreading is not None:  # to move a board and spread it over two lanes takes no longer than both at once, or less
        target = replace(spreading, rows=(*spreading.rows, SPLAT))
        plans |= {name: replace(one, target=target) for name, one in plans.items() if "apart/" in name}
    blending = _without(asked.target, _PERMUTE)
    if blending is not None:
        packing = [name for name, one in plans.items() if one.layout.abreast and one.layout.packed == _PERMUTED]
        kind = "blended/"
        if asked.convention.red_zone and blending.has("splat", _PERMUTED):
            kind, blending = "stored/", replace(blending, rows=(*blending.rows, SPLAT_RELOAD))
        plans |= {f"{name}{kind}": replace(plans[name], target=blending) for name in packing}
    plans |= {
        f"{name}held/": replace(one, target=replace(one.target, holds=True))
        for name, one in [*plans.items()]
        if one.layout.lanes > 1 and name != "soEa-soWe/"
    }
    shifting = _without(asked.target, _ROTATE)
    in_general = (name for name in [*plans] if not asked.target.vectors or name.endswith(_IN_GENERAL))
    if shifting is not None:
        plans |= {f"{name}shifts/": replace(plans[name], target=shifting) for name in in_general}
    if not asked.target.vectors and any("distance" in form.graph.operations for form in _forms(asked)):
        comparing = {name: _without(one.target, _JUMP) for name, one in plans.items()}
        plans |= {
            f"{name}compared/": replace(plans[name], target=target) for name, target in comparing.items() if target
        }
    return plans


def _by_ways(division: str, asked: Plan) -> dict[str, Plan]:
    """The division with each of the ways that the routine names."""
    routine = asked.routine
    return {
        f"{division}{way}/": replace(asked, routine=replace(routine, descriptions=(describe,)))
        for way, describe in routine.ways
    }


def _without(target: Target, name: str) -> Target | None:
    """The target without an instruction, or an operation; None where it has none."""
    rows = tuple(row for row in target.rows if name not in (row.mnemonic, row.op))
    return None if rows == target.rows else replace(target, rows=rows, rotates=target.rotates and name != _ROTATE)


def _forms(asked: Plan) -> Sequence[Unit]:
    """All forms of a division; none where a description joins rays lane by lane that lie in registers of two files.

    Where directions lie apart, only those that put others in vectors.
    """
    try:
        forms = selected_forms(PIPELINE, asked.routine, asked.target, asked.layout)
    except Refused:
        return ()
    except ValueError:
        if asked.layout.apart:
            return ()
        raise
    return [form for form in forms if not asked.layout.apart or form.in_vectors]


def _in_turns(divisions: dict[str, Plan]) -> Iterator[tuple[str, Unit]]:
    """The forms of each division, those soonest done and the shortest by turns, and the divisions by turns."""
    ranked = []
    for name, asked in divisions.items():
        forms = [replace(unit, convention=asked.convention) for unit in _forms(asked)]
        promised = [PIPELINE.promise(unit, inf) for unit in forms]
        soonest = sorted(range(len(forms)), key=[_soon(*each) for each in promised].__getitem__)
        shortest = sorted(range(len(forms)), key=promised.__getitem__)
        by_turns = dict.fromkeys(chain.from_iterable(zip(soonest, shortest, strict=True)))
        ranked.append([(name, forms[at]) for at in by_turns])
    return (pair for pair in chain.from_iterable(zip_longest(*ranked)) if pair is not None)


def _soon(length: int, depth: int) -> float:
    """About how many cycles code takes: its operations as many at once as there are units, and its longest way."""
    return length / WIDTH + depth


def _orders(division: str, unit: Unit, asked: Plan, lots: Sequence[int] = ()) -> list[Kernel]:
    """The form as code, and what else is tried of it, for what is asked.

    Where one result is waited for, that is an order in which what has the longest way to go comes first, and the same
    by each lot, but not where all rays lie in lanes.
    """
    made = through((*PIPELINE.joining, *PIPELINE.order, crossing, *PIPELINE.code), unit)
    urgent = len(asked.routine.contract.results) == 1 and not (unit.layout.boards or unit.layout.abreast)
    by_lot = ((urgency_by(lot), ()) for lot in lots)
    ways = (*PIPELINE.again[:-1], (urgency, ()), *by_lot) if urgent else PIPELINE.again
    others = chain.from_iterable(again(PIPELINE, way, made) for way in ways)
    return [
        replace(each.kernel, routine=asked.routine, target=asked.target, variant=f"{division}{each.variant}")
        for each in (made, *others)
    ]


def _foremost(orders: Sequence[Kernel]) -> Sequence[Kernel]:
    """Those worth a judge's time: with vectors the best by the longest way was first or level, on Golden Cove."""
    urgent = [kernel for kernel in orders if kernel.variant.endswith(urgency.__name__)]
    return urgent if urgent and orders[0].target.vectors else orders
