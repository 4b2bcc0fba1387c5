"""Kernels that are to be judged, by whatever judge: which ones, how they are made, and who does the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from typing import TypeVar

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.progress import Progress
from setwise.analysis.workers import Workers
from setwise.codegen.assemble import NotEncodable
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, convention_named, unrefused, widths
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.offers import offered_as
from setwise.codegen.targets import TARGETS, target_named
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
    variant: str = ""

    @property
    def key(self) -> KernelKey:
        """Name, instruction set, lanes, convention."""
        return self.routine.name, self.isa, self.lanes, self.abi

    @property
    def title(self) -> str:
        """The key in words."""
        return " ".join(map(str, self.key))

    def __reduce__(self) -> tuple[Callable[..., Job], tuple[str, str, int, str, str]]:
        return _named, (*self.key, self.variant)


def _named(name: str, isa: str, lanes: int, abi: str, variant: str) -> Job:
    return Job(find(name), isa, lanes, abi, variant)


Work = Callable[[Sequence[Job], Progress | None], Iterator[T]]
"""What a judge does with kernels of one contract, one after the other: `check_kernels` of commands.check, say."""


def jobs_of(routines: Sequence[Routine], isa: str | None, abi: str | None, variant: str | None = None) -> list[Job]:
    """Every routine for one instruction set or all of its own, in one convention or all; ValueError for unknown names.

    A variant is one of an instruction set, and has its lanes by its name. Routines of one contract stand together: the
    work on them has much in common.
    """
    if variant and not isa:
        raise ValueError("a variant is one of an instruction set: add --isa")
    targets = TARGETS if isa is None else {isa: target_named(isa)}
    conventions = CONVENTIONS if abi is None else {abi: convention_named(abi)}
    return [
        Job(routine, target, lanes, convention, variant or "")
        for routine in sorted(routines, key=lambda routine: repr(routine.contract))
        for target in (routine.isas if isa is None else targets)
        for lanes in (widths(routine, targets[target])[: 1 if variant else None] if target in routine.isas else (1,))
        for convention in conventions
    ]


def lowered(jobs: Sequence[Job], progress: Progress | None = None) -> Iterator[tuple[Job, Kernel | str]]:
    """Each job with its kernel, or with the reason why that cannot be made.

    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """

    def attempt(job: Job) -> tuple[Job, Kernel | str]:
        if progress:
            progress.show(job.title)
        try:
            kernel = offered_as(job.variant, job.routine, job.isa, job.abi, None if job.variant else job.lanes)
            binary_of(kernel)
            return job, kernel
        except Refused:
            raise
        except NotEncodable as error:
            return job, f"cannot be assembled: {error}"
        except ValueError as error:
            return job, f"cannot be made: {str(error) or repr(error)}"

    yield from unrefused(attempt, jobs)


def judged(
    work: Work[T],
    jobs: Sequence[Job],
    effort: Callable[[Sequence[Job]], int] = len,
) -> list[T]:
    """What `work` gives for the jobs, told on the terminal meanwhile, in the order of its `key`, the kernels'.

    Raises what `in_processes` does.
    """
    with Progress(len(jobs)) as progress:
        return sorted(in_processes(work, jobs, progress, effort), key=attrgetter("key"))


def in_processes(
    work: Work[T],
    jobs: Sequence[Job],
    progress: Progress | None = None,
    effort: Callable[[Sequence[Job]], int] = len,
) -> Iterator[T]:
    """Yield the results of `work` for the jobs in any order, by a process a core; jobs of one contract go together.

    `work` is a function of a module, or a partial of one; `effort` guesses what a group costs. A group for which it
    raises Refused is passed over; if that is all, Refused is raised. Raises CannotRunHere where a process dies.
    """
    groups = [list(group) for _, group in groupby(jobs, lambda job: job.routine.contract)]
    workers = min(os.cpu_count() or 1, len(groups))
    if workers < 2 or len(jobs) < _WORTH_PROCESSES:
        yield from work(jobs, progress)
        return

    def results(future: Future[list[T]]) -> list[T]:
        if progress:
            for job in running[future]:
                progress.show(job.title)
        return future.result()

    try:
        with Workers(workers) as pool:
            # The largest groups first, so that no core is left with one at the end.
            groups.sort(key=effort, reverse=True)
            running = {pool.submit(_all_of, work, group): group for group in groups}
            yield from chain.from_iterable(unrefused(results, as_completed(running)))
    except BrokenProcessPool:
        raise CannotRunHere("a kernel ended the process that judged it: try them one by one") from None


def _all_of(work: Work[T], jobs: Sequence[Job]) -> list[T]:
    """In another process: what `work` gives."""
    return list(work(jobs, None))
