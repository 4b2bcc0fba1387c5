"""`setwise check`: every kernel of the chosen routines, run and judged."""

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
from analysis.commands import boards, told
from analysis.jobs import Job, jobs_of, lowered, side_by_side
from analysis.progress import Progress
from codegen.call import missing, runner
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
    progress = Progress(len(jobs))
    try:
        judged = list(side_by_side(partial(judge, quick=arguments.quick), jobs, progress))
    finally:
        progress.end()
    judged.sort(key=lambda one: one.job.key)
    if arguments.json:
        rows = []
        for one in judged:
            name, isa, lanes, abi = one.job.key
            outcome = one.outcome
            row = {"name": name, "isa": isa, "lanes": lanes, "abi": abi, "status": outcome.status}
            rows.append({**row, "cases": outcome.cases, "reason": outcome.reason})
        print(json.dumps(rows, indent=2))
    else:
        _report(judged)
    return int(any(one.outcome.status == "failed" for one in judged))


def judge(jobs: Sequence[Job], progress: Progress | None = None, *, quick: bool = False) -> Iterator[Judged]:
    """Each kernel's outcome; kernels of one contract, which stand together, share cases and expected results.

    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """
    made_for: object = None
    cases: Cases | str = ""
    for job, kernel in lowered(jobs, progress):
        if isinstance(kernel, str):
            yield Judged(job, Outcome("failed", reason=kernel))
            continue
        lacking = missing(kernel.target)
        contract = job.routine.contract
        if not lacking and made_for != contract:
            made_for, cases = contract, _cases(contract, quick)
        if lacking:
            yield Judged(job, Outcome("not run", reason=f"this processor lacks {', '.join(lacking)}"))
        elif isinstance(cases, str):
            yield Judged(job, Outcome("failed", reason=cases))
        else:
            yield Judged(job, run(kernel, cases))


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
    rows = [(*one.job.key, f"{one.outcome.cases:,}", one.outcome.status) for one in judged]
    head = ("name", "isa", "lanes", "abi", "cases", "")
    align = ("left", "left", "right", "left", "right", "left")
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
    print(f"\n{len(judged)} kernels: {summary}; {total:,} calls")


def _drawn(one: Judged, mismatch: Mismatch) -> str:
    contract = one.job.routine.contract
    kinds = {parameter.name: parameter for parameter in contract.each or contract.parameters}
    lines, drawn = told((name, kinds[name].kind, word) for name, word in mismatch.inputs)
    for name, expected, got in zip(contract.results, mismatch.expected, mismatch.got, strict=True):
        drawn += [(f"{name}, expected", expected), (f"{name}, got", got)]
    return "\n".join([f"case {mismatch.case}", *lines]) + "\n\n" + boards(drawn)
