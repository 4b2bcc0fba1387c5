"""Batches of requests: their kernels made one after the other, or judged in worker processes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from itertools import chain, groupby
from typing import TypeVar

from setwise.analysis.code.binary import binary_of
from setwise.analysis.workers import Workers
from setwise.codegen.assemble import NotEncodable
from setwise.codegen.kernel import Kernel
from setwise.codegen.request import Request
from setwise.codegen.targets.table import Refused

S = TypeVar("S")
T = TypeVar("T")
WORTH_PROCESSES = 12  # kernels: with fewer, starting processes takes longer than they save

Show = Callable[[str], None]
"""A function that displays the title of the current work."""
Work = Callable[[Sequence[Request], Show], Iterable[T]]
"""A function that judges the kernels of these requests in turn, and displays the title of each."""


def silent(_: str) -> None:
    """Show nothing."""


def unrefused(work: Callable[[S], T], given: Iterable[S]) -> Iterator[T]:
    """Yield `work(item)` for each item and skip those that raise Refused. If all do, raise the first Refused."""
    refused: Refused | None = None
    any_made = False
    for each in given:
        try:
            result = work(each)
        except Refused as error:
            refused = refused or error
        else:
            any_made = True
            yield result
    if refused and not any_made:
        raise refused


def made(requests: Sequence[Request], show: Show = silent) -> Iterator[tuple[Request, Kernel | str]]:
    """Yield each request with its kernel, or with a text on why there is none. Skip refused ones as in `unrefused`."""

    def attempt(request: Request) -> tuple[Request, Kernel | str]:
        show(request.title)
        try:
            binary_of(request.kernel)
            return request, request.kernel
        except Refused:
            raise
        except NotEncodable as error:
            return request, f"cannot be assembled: {error}"
        except ValueError as error:
            return request, f"cannot be made: {str(error) or repr(error)}"

    yield from unrefused(attempt, requests)


def in_processes(
    work: Work[T],
    requests: Sequence[Request],
    processes: int,
    show: Show = silent,
    effort: Callable[[Sequence[Request]], int] = len,
) -> Iterator[T]:
    """Yield the results of `work` on groups of requests, in any order, from up to `processes` workers.

    Adjacent requests of one contract form a group, which one worker handles; that of the greatest `effort` is first.
    `work` must be a module-level function or a partial of one. Refused groups are skipped as in `unrefused`. Raises
    CannotRunHere if a worker dies. With one process, one group or few requests, `work` runs here on all of them.
    """
    groups = [list(group) for _, group in groupby(requests, lambda request: request.routine.contract)]
    processes = min(processes, len(groups))
    if processes < 2 or len(requests) < WORTH_PROCESSES:
        yield from work(requests, show)
        return

    def results(future: Future[list[T]]) -> list[T]:
        for request in running[future]:
            show(request.title)
        return future.result()

    with Workers(processes) as workers:
        # The groups of the greatest effort first, so that the workers finish at about the same time.
        groups.sort(key=effort, reverse=True)
        running = {workers.submit(_all_of, work, group): group for group in groups}
        yield from chain.from_iterable(unrefused(results, as_completed(running)))


def _all_of(work: Work[T], requests: Sequence[Request]) -> list[T]:
    """Return the results of `work` as a list, which can be sent from a worker process."""
    return list(work(requests, silent))
