"""`setwise check`: every kernel of the chosen routines, run and judged, here or on an emulated processor."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby

from tabulate import tabulate

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.boards import boards, input_lines
from setwise.analysis.commands.jobs import Job, jobs_of, lowered, side_by_side
from setwise.analysis.commands.progress import Progress
from setwise.analysis.run.cases import Cases, make_cases
from setwise.analysis.run.check import Mismatch, Outcome, check
from setwise.analysis.run.emulation import EmulatedCode, check_emulated
from setwise.codegen.describe.routine import Contract, Routine
from setwise.codegen.lower import Kernel
from setwise.codegen.run.bochs import HOW_TO_GET, Processor, installed, ready, usual
from setwise.codegen.run.call import calling_sequence, missing, runner
from setwise.codegen.run.cpu import BASELINE


@dataclass(frozen=True, slots=True)
class Judged:
    """A kernel and how its check ended."""

    job: Job
    outcome: Outcome


def run_checks(routines: Sequence[Routine], arguments: Namespace) -> int:
    """Check the kernels of these routines and print a table; 1 if one fails."""
    jobs = jobs_of(routines, arguments.isa, arguments.abi)
    on = None if arguments.on is None else ready(arguments.on)
    progress = Progress(len(jobs))
    try:
        judged = list(side_by_side(partial(judge, quick=arguments.quick, on=on), jobs, progress))
    finally:
        progress.end()
    judged.sort(key=lambda one: one.job.key)
    if arguments.json:
        rows = []
        for one in judged:
            name, isa, lanes, abi = one.job.key
            outcome = one.outcome
            row = {"name": name, "isa": isa, "lanes": lanes, "abi": abi, "status": outcome.status, "on": outcome.on}
            rows.append({**row, "cases": outcome.cases, "reason": outcome.reason})
        print(json.dumps(rows, indent=2))
    else:
        _report(judged)
    return int(any(one.outcome.status == "failed" for one in judged))


def judge(
    jobs: Sequence[Job], progress: Progress | None = None, *, quick: bool = False, on: Processor | None = None
) -> Iterator[Judged]:
    """Each kernel's outcome; kernels of one contract, which stand together, share cases and expected results.

    They run here, or on an emulated processor: on the one that is asked for, or where this one lacks what they need;
    there over the cases of `quick`, for it takes a hundred times as long.
    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """
    for _, group in groupby(lowered(jobs, progress), lambda made: made[0].routine.contract):
        yield from _judged(list(group), quick, on)


def _judged(made: Sequence[tuple[Job, Kernel | str]], quick: bool, on: Processor | None) -> Iterator[Judged]:
    """The outcomes of kernels of one contract; those that one emulated processor runs go into its boots together."""
    here: list[tuple[Job, Kernel]] = []
    elsewhere: dict[Processor, list[tuple[Job, Kernel]]] = {}
    for job, kernel in made:
        if isinstance(kernel, str):
            yield Judged(job, Outcome("failed", reason=kernel))
            continue
        place = _place(kernel, on)
        if isinstance(place, str):
            yield Judged(job, Outcome("not run", reason=place))
        else:
            (here if place is None else elsewhere.setdefault(place, [])).append((job, kernel))
    contract = made[0][0].routine.contract
    try:
        cases = make_cases(contract, quick) if here else None
        fewer = make_cases(contract, quick=True) if elsewhere else None
    except ValueError as error:  # what cannot be checked has not passed
        yield from (Judged(job, Outcome("failed", reason=str(error))) for job, _ in chain(here, *elsewhere.values()))
        return
    if cases is not None:
        yield from (Judged(job, run(kernel, cases)) for job, kernel in here)
    if fewer is not None:
        for processor, kernels in elsewhere.items():
            yield from _emulated(kernels, fewer, processor)


def _place(kernel: Kernel, on: Processor | None) -> Processor | str | None:
    """The emulated processor that a kernel runs on, None for this one, or why there is none."""
    needed = kernel.target.features - BASELINE
    if on is not None:
        lacking = needed - on.features
        return f"{on.title} lacks {', '.join(sorted(lacking))}" if lacking else on
    lacking = frozenset(missing(kernel.target))
    if not lacking:
        return None
    found = usual(needed)
    if found is None or installed():
        return found or f"this processor lacks {', '.join(sorted(lacking))}, and Bochs has none that has them"
    return f"this processor lacks {', '.join(sorted(lacking))}; Bochs has {found.title}: {HOW_TO_GET}"


def _emulated(kernels: Sequence[tuple[Job, Kernel]], cases: Cases, on: Processor) -> Iterator[Judged]:
    subjects: dict[Job, EmulatedCode] = {}
    for job, kernel in kernels:
        try:
            subjects[job] = EmulatedCode(
                binary_of(kernel), calling_sequence(kernel), arrays=bool(kernel.routine.contract.elements)
            )
        except ValueError as error:
            yield Judged(job, Outcome("failed", reason=f"cannot be assembled: {error}"))
    yield from map(Judged, subjects, check_emulated(list(subjects.values()), cases, on))


def run(kernel: Kernel, cases: Cases) -> Outcome:
    """One kernel over all cases."""
    try:
        running = runner(kernel)
    except ValueError as error:
        return Outcome("failed", reason=f"cannot be assembled: {error}")
    with running:
        return check(running.run, cases, arrays=bool(kernel.routine.contract.elements))


def _report(judged: Sequence[Judged]) -> None:
    rows = [(*one.job.key, f"{one.outcome.cases:,}", one.outcome.status, one.outcome.on) for one in judged]
    head = ("name", "isa", "lanes", "abi", "cases", "", "")
    align = ("left", "left", "right", "left", "right", "left", "left")
    print(tabulate(rows, head, tablefmt="simple", colalign=align, disable_numparse=True))
    for one in judged:
        if one.outcome.mismatch is not None:
            boards_of_it = drawn(one.job.routine.contract, one.outcome.mismatch)
            print(f"\n{one.job.title} failed: {one.outcome.reason}\n{boards_of_it}")
    # Kernels that never came to a case, gathered by the reason.
    why = Counter((o.status, o.reason) for o in (one.outcome for one in judged) if o.reason and o.mismatch is None)
    for (status, reason), number in why.items():
        print(f"\n{number} {status}: {reason}")
    statuses = Counter(one.outcome.status for one in judged)
    total = sum(one.outcome.cases for one in judged)
    summary = ", ".join(f"{statuses[status]} {status}" for status in ("passed", "failed", "not run"))
    places = Counter(one.outcome.on or "natively" for one in judged if one.outcome.status != "not run")
    ran = ", ".join(f"{number} {place if place == 'natively' else 'on ' + place}" for place, number in places.items())
    print(f"\n{len(judged)} kernels: {summary}; {total:,} calls" + (f"\nran: {ran}" if ran else ""))


def drawn(contract: Contract, mismatch: Mismatch) -> str:
    """A case that went wrong, as boards."""
    kinds = {parameter.name: parameter for parameter in contract.elements or contract.parameters}
    lines, shown = input_lines((name, kinds[name].kind, word) for name, word in mismatch.inputs)
    for name, expected, got in zip(contract.results, mismatch.expected, mismatch.got, strict=True):
        shown += [(f"{name}, expected", expected), (f"{name}, got", got)]
    return "\n".join([f"case {mismatch.case}", *lines]) + "\n\n" + boards(shown)
