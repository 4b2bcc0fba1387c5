"""`setwise check`: every kernel of the chosen routines, run and judged, here or on an emulated processor."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tabulate import tabulate

from analysis.cases import Cases, make_cases
from analysis.check import Mismatch, Outcome, check
from analysis.commands import binary_of, boards, told
from analysis.emulated import Subject, check_emulated
from analysis.jobs import Job, jobs_of, lowered, side_by_side
from analysis.progress import Progress
from codegen.bochs import HOW_TO_GET, Processor, installed, ready, usual
from codegen.call import called, missing, runner
from codegen.cpu import BASELINE
from codegen.lower import Kernel
from codegen.routine import Contract, Routine


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

    They run here, or on an emulated processor: on the one that is asked for, or where this one lacks what they need.
    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """
    contract: Contract | None = None
    cases: Cases | str = ""
    waiting: list[tuple[Job, Kernel, Processor]] = []
    for job, kernel in lowered(jobs, progress):
        if isinstance(kernel, str):
            yield Judged(job, Outcome("failed", reason=kernel))
            continue
        place = _place(kernel, on)
        if isinstance(place, str):
            yield Judged(job, Outcome("not run", reason=place))
            continue
        if job.routine.contract != contract:
            if waiting and not isinstance(cases, str):
                yield from _emulated(waiting, cases)
            contract, waiting = job.routine.contract, []
            cases = _cases(contract, quick)
        if isinstance(cases, str):
            yield Judged(job, Outcome("failed", reason=cases))
        elif place is None:
            yield Judged(job, run(kernel, cases))
        else:
            waiting.append((job, kernel, place))
    if waiting and not isinstance(cases, str):
        yield from _emulated(waiting, cases)


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


def _emulated(waiting: Sequence[tuple[Job, Kernel, Processor]], cases: Cases) -> Iterator[Judged]:
    """The outcomes of kernels of one contract, those of one processor in one boot."""
    for on in dict.fromkeys(place for _, _, place in waiting):
        mine = [(job, kernel) for job, kernel, place in waiting if place is on]
        subjects: dict[Job, Subject] = {}
        for job, kernel in mine:
            try:
                arrays = bool(kernel.routine.contract.each)
                subjects[job] = Subject(binary_of(kernel), called(kernel), arrays)
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
        return check(running.run, cases, arrays=bool(kernel.routine.contract.each))


def _cases(contract: Contract, quick: bool) -> Cases | str:
    """The cases, or why there are none: what cannot be checked has not passed."""
    try:
        return make_cases(contract, quick)
    except ValueError as error:
        return str(error)


def _report(judged: Sequence[Judged]) -> None:
    rows = [(*one.job.key, f"{one.outcome.cases:,}", one.outcome.status, one.outcome.on) for one in judged]
    head = ("name", "isa", "lanes", "abi", "cases", "", "")
    align = ("left", "left", "right", "left", "right", "left", "left")
    print(tabulate(rows, head, tablefmt="simple", colalign=align, disable_numparse=True))
    for one in judged:
        if one.outcome.mismatch is not None:
            print(f"\n{one.job.title} failed: {one.outcome.reason}\n{_drawn(one, one.outcome.mismatch)}")
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


def _drawn(one: Judged, mismatch: Mismatch) -> str:
    contract = one.job.routine.contract
    kinds = {parameter.name: parameter for parameter in contract.each or contract.parameters}
    lines, drawn = told((name, kinds[name].kind, word) for name, word in mismatch.inputs)
    for name, expected, got in zip(contract.results, mismatch.expected, mismatch.got, strict=True):
        drawn += [(f"{name}, expected", expected), (f"{name}, got", got)]
    return "\n".join([f"case {mismatch.case}", *lines]) + "\n\n" + boards(drawn)
