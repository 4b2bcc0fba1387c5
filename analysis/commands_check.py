"""`setwise check`: every kernel of the chosen routines, run and judged, with progress on a terminal."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby

from tabulate import tabulate

from analysis.cases import Cases, make_cases
from analysis.check import Mismatch, Outcome, check
from analysis.commands import boards, told
from codegen.call import missing, runner
from codegen.catalogue import find
from codegen.convention import CONVENTIONS
from codegen.lower import TARGETS, Kernel, OutOfRegisters, Refused, lower
from codegen.routine import Contract, Routine

_WORTH_PROCESSES = 12  # kernels: with fewer, starting processes takes longer than they save


Key = tuple[str, str, int, str]
"""Name, instruction set, lanes, convention."""


@dataclass(frozen=True, slots=True)
class Job:
    """A kernel that is to be made and checked."""

    routine: Routine
    isa: str
    lanes: int
    abi: str

    @property
    def key(self) -> Key:
        """Name, instruction set, lanes, convention."""
        return self.routine.name, self.isa, self.lanes, self.abi

    @property
    def title(self) -> str:
        """The key in words."""
        return " ".join(map(str, self.key))


@dataclass(frozen=True, slots=True)
class Judged:
    """A kernel and how its check ended."""

    job: Job
    outcome: Outcome


def run_checks(routines: Sequence[Routine], arguments: Namespace) -> int:
    """Check the kernels of these routines and print a table; 1 if one fails."""
    jobs = jobs_of(routines, arguments.isa, arguments.abi)
    progress = Progress(len(jobs), sys.stderr.isatty())
    try:
        judged = list(judge_side_by_side(jobs, arguments.quick, progress))
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


def jobs_of(routines: Sequence[Routine], isa: str | None, abi: str | None) -> list[Job]:
    """Every routine for one instruction set or all of its own, in one convention or all; ValueError for unknown names.

    Routines of one contract stand together, so that one set of cases is in memory at a time.
    """
    if isa is not None and isa not in TARGETS:
        raise ValueError(f"unknown instruction set '{isa}': use one of {', '.join(TARGETS)}")
    if abi is not None and abi not in CONVENTIONS:
        raise ValueError(f"unknown convention '{abi}': use one of {', '.join(CONVENTIONS)}")
    return [
        Job(routine, one_isa, lanes, one_abi)
        for routine in sorted(routines, key=lambda routine: repr(routine.contract))
        for one_isa in ([isa] if isa else routine.isas)
        for lanes in (TARGETS[one_isa].widths if one_isa in routine.isas else (1,))
        if lanes == 1 or lanes > 2 or routine.boards
        for one_abi in ([abi] if abi else CONVENTIONS)
    ]


def judge(jobs: Sequence[Job], quick: bool, progress: Progress | None = None) -> Iterator[Judged]:
    """Each kernel's outcome; kernels of one contract, which stand together, share cases and expected results.

    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """
    made_for: object = None
    cases: Cases | str = ""
    refused: Refused | None = None
    passed_over = 0
    for job in jobs:
        if progress:
            progress.show(job.title)
        try:
            kernel = lower(job.routine, job.isa, job.abi, job.lanes)
        except Refused as error:
            refused, passed_over = error, passed_over + 1
            continue
        except (ValueError, OutOfRegisters) as error:
            yield Judged(job, Outcome("failed", reason=f"cannot be made: {error!r}"))
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
    if refused and passed_over == len(jobs):
        raise refused


def judge_side_by_side(jobs: Sequence[Job], quick: bool, progress: Progress | None = None) -> Iterator[Judged]:
    """As `judge`, but in a process a core, the kernels of one contract together; for routines of the catalogue."""
    groups = [list(group) for _, group in groupby(jobs, lambda job: job.routine.contract)]
    workers = min(os.cpu_count() or 1, len(groups))
    if workers < 2 or len(jobs) < _WORTH_PROCESSES:
        yield from judge(jobs, quick, progress)
        return
    refused: Refused | None = None
    any_made = False
    # Started afresh on every system alike: what NumPy's threads hold does not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        # The largest groups first, so that no core is left with one at the end.
        groups.sort(key=len, reverse=True)
        running = {pool.submit(_judge_group, [job.key for job in group], quick): group for group in groups}
        try:
            for done in as_completed(running):
                group = running[done]
                outcomes = done.result()
                if isinstance(outcomes, Refused):
                    refused, outcomes = outcomes, {}
                for job in group:
                    if progress:
                        progress.show(job.title)
                    if job.key in outcomes:
                        any_made = True
                        yield Judged(job, outcomes[job.key])
        finally:
            pool.shutdown(cancel_futures=True)
    if refused and not any_made:
        raise refused


def _judge_group(keys: Sequence[Key], quick: bool) -> dict[Key, Outcome] | Refused:
    """In another process, which takes only what can be written down: the outcomes, or why there is none."""
    try:
        jobs = [Job(find(name), isa, lanes, abi) for name, isa, lanes, abi in keys]
        return {one.job.key: one.outcome for one in judge(jobs, quick)}
    except Refused as error:
        return error


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
    lines = [f"case {mismatch.case}"]
    drawn = []
    for name, word in mismatch.inputs:
        text = told(kinds[name], word)
        if text is None:
            drawn.append((name, word))
        else:
            lines.append(f"{name}: {text}")
    for name, expected, got in zip(contract.results, mismatch.expected, mismatch.got, strict=True):
        drawn += [(f"{name}, expected", expected), (f"{name}, got", got)]
    return "\n".join(lines) + "\n\n" + boards(drawn)


class Progress:
    """One line on a terminal that says which kernel is at work; nothing elsewhere."""

    def __init__(self, total: int, shown: bool) -> None:
        self._total, self._shown, self._done = total, shown, 0

    def show(self, name: str) -> None:
        """Say that the next kernel is at work."""
        self._done += 1
        if self._shown:
            print(f"\r\x1b[K{self._done}/{self._total} {name}"[:120], end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
