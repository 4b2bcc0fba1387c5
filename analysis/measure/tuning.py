"""Which of a routine's variants is the fastest on this processor, by timing: what no forecast tells.

All that are offered are timed, those of each instruction set by themselves, for most programs ask for one. Of the
quickest whose order has the longest way first, other such orders are drawn by lot, for they lie up to a tenth apart.
The best are timed again at length; what forecasts take stays unless another is faster by more than a hundredth, or
processes do not agree how long it takes, which they do of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.cost.processors.tuned import Objective, Tuned
from setwise.analysis.measure.fields import (
    SHORTLY,
    Field,
    all_made,
    field_of,
    label_of,
    set_and_variant,
    sets_here,
    timed,
)
from setwise.analysis.measure.kept import Kept
from setwise.analysis.measure.objective import digest_of, objectives
from setwise.analysis.measure.subjects import Subject, subject
from setwise.analysis.measure.trials import OURS, PROCESSES
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import find
from setwise.codegen.offers import drawn
from setwise.codegen.run.timer import Mode

_LOTS = range(1, 17)
_LEVEL = 0.01  # of its cycles: what is faster by no more is as fast
_DRAWN = 3  # variants of which other orders are drawn
_FINALISTS = 3  # of those, and of all others
_APART = 0.1  # of what is taken, which a process may time so far off
_AT_LENGTH = {"processes": PROCESSES, "wanted": 12}  # a loop may run in another rhythm in another process


def tune(
    names: Sequence[str],
    on: Processor,
    before: Iterable[Tuned],
    keep: Callable[[Sequence[Tuned]], None],
    progress: Callable[[str], None],
    patience: float,
) -> list[Tuned]:
    """A row a routine, objective and instruction set; those of `before` that were found among the same code stay.

    `keep` is given all rows now and then; `patience` is in seconds a process and routine. What found no undisturbed
    moment has no row.
    """
    kept = Kept(names, before, keep)
    with Workers() as workers:
        asked = [(name, replace(on, tuned={}), (isa,)) for name in names for isa in sets_here(name)]
        making = [workers.submit(field_of, *each) for each in asked]
        fields = [*all_made(making, progress)]  # before anything is timed, for that takes all cores
        among = {field.digest for field in fields}
        for number, field in enumerate(fields, 1):
            known = {row.objective: row for row in kept[field.name] if row.among == field.digest}
            asked_for = objectives(find(field.name))
            if len(known) < len(asked_for):
                progress(f"{number}/{len(fields)} {field.name}")
                rows = (known.get(each) or _tuned(field, each, workers, patience) for each in asked_for)
                others = (row for row in kept[field.name] if row.among in among - {field.digest})
                kept[field.name] = [*others, *(row for row in rows if row is not None)]
    return kept.rows


def _tuned(field: Field, objective: Objective, workers: Workers, patience: float) -> Tuned | None:
    everyone = {each.maker: each for each in field.ours}
    modes = _modes(field, objective)

    def ranked(makers: Iterable[str], **how: int) -> dict[str, float]:
        """Cycles by maker, the fastest first, of those that have a figure in each way to call them."""
        subjects = [everyone[maker] for maker in dict.fromkeys(makers)]
        first, *others = (timed(subjects, mode, patience, **how) for mode in modes)
        sums = {
            maker: taken.cycles + sum(each[maker].cycles for each in others)
            for maker, taken in first.items()
            if all(maker in each for each in others)
        }
        return dict(sorted(sums.items(), key=lambda pair: pair[1]))

    shortly = ranked(everyone, **SHORTLY)
    urgent = islice((maker for maker in shortly if maker.endswith("urgency")), _DRAWN)
    drawing = [workers.submit(_drawn, field.name, *set_and_variant(maker)) for maker in urgent]
    by_lot = {one.maker: one for each in drawing for one in each.result()}
    everyone |= by_lot
    lots = ranked(by_lot, **SHORTLY) if by_lot else {}
    taken = field.taken[objective]
    final = ranked((taken, *islice(shortly, _FINALISTS), *islice(lots, _FINALISTS)), **_AT_LENGTH)
    first = next(iter(final), taken)
    if taken in final and final[taken] <= (1 + _LEVEL) * final[first]:
        first = taken
    if first not in final or (taken in shortly and final[first] > (1 + _APART) * shortly[taken]):
        return None
    return Tuned(
        *(field.name, objective, *set_and_variant(first), round(final[first], 3)),
        digest=digest_of(everyone[first].binary),
        among=field.digest,
        forecast="" if first == taken else taken.removeprefix(f"{OURS} "),
        forecast_cycles=round(final[taken], 3) if taken in final and first != taken else None,
    )


def _modes(field: Field, objective: Objective) -> tuple[Mode, ...]:
    """The ways to call them that the objective is about."""
    if objective == "latency" and "chained" in field.modes:
        return ("chained",)
    return ("independent", "mixed") if "mixed" in field.modes else ("independent",)


def _drawn(name: str, isa: str, variant: str) -> list[Subject]:
    """In another process: other orders of the variant."""
    return [subject(kernel, maker=label_of(kernel)) for kernel in drawn(variant, _LOTS, find(name), isa)]
