"""Kernels that are to be judged, by whatever judge: which ones, how they are made, and the work in a process a core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.progress import Progress
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.registers.machine import OutOfRegisters
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused

T = TypeVar("T")
_WORTH_PROCESSES = 12  # kernels: with fewer, starting processes takes longer than they save

KernelKey = tuple[str, str, int, str]
"""Name, instruction set, lanes, convention."""


@dataclass(frozen=True, slots=True)
class Job:
    """A kernel that is to be made and judged; to other processes its routine goes by name, so it is the catalogue's."""

    routine: Routine
    isa: str
    lanes: int
    abi: str

    @property
    def key(self) -> KernelKey:
        """Name, instruction set, lanes, convention."""
        return self.routine.name, self.isa, self.lanes, self.abi

    @property
    def title(self) -> str:
        """The key in words."""
        return " ".join(map(str, self.key))

    def __reduce__(self) -> tuple[Callable[..., Job], KernelKey]:
        return _named, self.key


def _named(name: str, isa: str, lanes: int, abi: str) -> Job:
    return Job(find(name), isa, lanes, abi)


Work = Callable[[Sequence[Job], Progress | None], Iterator[T]]
"""What a judge does with kernels of one contract, one after the other: `check_kernels` of commands.check, say."""


def jobs_of(routines: Sequence[Routine], isa: str | None, abi: str | None) -> list[Job]:
    """Every routine for one instruction set or all of its own, in one convention or all; ValueError for unknown names.

    Routines of one contract stand together: the work on them has much in common.
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


def lowered(jobs: Sequence[Job], progress: Progress | None = None) -> Iterator[tuple[Job, Kernel | str]]:
    """Each job with its kernel, or with the reason why that cannot be made.

    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """
    refused: Refused | None = None
    passed_over = 0
    for job in jobs:
        if progress:
            progress.show(job.title)
        try:
            kernel = lower(job.routine, job.isa, job.abi, job.lanes)
        except Refused as error:
            refused, passed_over = error, passed_over + 1
        except (ValueError, OutOfRegisters) as error:
            yield job, f"cannot be made: {error!r}"
        else:
            yield job, kernel
    if refused and passed_over == len(jobs):
        raise refused


def in_processes(
    work: Work[T],
    jobs: Sequence[Job],
    progress: Progress | None = None,
    effort: Callable[[Sequence[Job]], int] = len,
) -> Iterator[T]:
    """What `work` gives for the jobs, in a process a core, those of one contract together; in whatever order.

    `work` is a function of a module, or a partial of one; `effort` guesses what a group costs. A group for which it
    raises Refused is passed over; if that is all, Refused is raised. Raises CannotRunHere where a process dies.
    """
    groups = [list(group) for _, group in groupby(jobs, lambda job: job.routine.contract)]
    workers = min(os.cpu_count() or 1, len(groups))
    if workers < 2 or len(jobs) < _WORTH_PROCESSES:
        yield from work(jobs, progress)
        return
    refused: Refused | None = None
    any_made = False
    try:
        with Workers(workers) as pool:
            # The largest groups first, so that no core is left with one at the end.
            groups.sort(key=effort, reverse=True)
            running = {pool.submit(_all_of, work, group): group for group in groups}
            for done in as_completed(running):
                made = done.result()
                if progress:
                    for job in running[done]:
                        progress.show(job.title)
                if isinstance(made, Refused):
                    refused = made
                    continue
                any_made = any_made or bool(made)
                yield from made
    except BrokenProcessPool:
        raise CannotRunHere("a kernel ended the process that judged it: try them one by one") from None
    if refused and not any_made:
        raise refused


def _all_of(work: Work[T], jobs: Sequence[Job]) -> list[T] | Refused:
    """In another process: what `work` gives, or why there is nothing."""
    try:
        return list(work(jobs, None))
    except Refused as error:
        return error
