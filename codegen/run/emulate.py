"""Kernels over cases in an emulated machine: many in a boot, each in its own convention, watched as ever.

The driver that calls a kernel case by case is the one that runs here (setwise.codegen.run.driver).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from setwise.codegen.assemble import assemble
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.run.bochs import Processor, boot
from setwise.codegen.run.boot import Buffer, Ended, Full, Image
from setwise.codegen.run.call import CallingSequence, Violation
from setwise.codegen.run.driver import CASE_WORD, CONTEXT_WORDS, breaches, driver, initial_context

_SECONDS_TO_BOOT, _SECONDS_A_CASE = 30.0, 2e-4


@dataclass(frozen=True, slots=True)
class Ran:
    """What a task left in the results' memory, and what the kernel broke."""

    results: bytes
    violation: Violation | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A kernel's bytes with their constants, how they are called, and a run over so many cases.

    `columns` may not change. `results` is their memory as it is before; they begin `start` bytes behind its beginning.
    Where they lie `over` a column, this memory stands for it.
    """

    image: bytes
    sequence: CallingSequence
    columns: tuple[Buffer, ...]
    results: Buffer
    cases: int
    start: int = 0
    over: int | None = None


@dataclass(frozen=True, slots=True)
class _Under:
    """Where a task lies in the machine."""

    task: Task
    code: int
    context: int
    results: int


def emulate(tasks: Sequence[Task], on: Processor) -> Iterator[Ran]:
    """What each task leaves on that processor, in order; raises codegen.run.bochs.NoBochs where Bochs is missing.

    As many go into one boot as its memory holds. Raises setwise.codegen.run.boot.Full where it does not hold a single
    one.
    """
    done = 0
    while done < len(tasks):
        image, placed = _loaded(tasks[done:], on)
        seconds = _SECONDS_TO_BOOT + _SECONDS_A_CASE * sum(under.task.cases for under in placed)
        left = boot(image, on, seconds)
        for under, ended in zip(placed, left.calls, strict=True):
            task = under.task
            results = left.read(under.results, memoryview(task.results).nbytes)
            case = struct.unpack("<Q", left.read(under.context + 8 * CASE_WORD, 8))[0] * task.sequence.lanes
            what = _breaches(ended, under, seconds)
            yield Ran(results, Violation(case, what) if what else None)
            done += 1
            if not ended.ended:
                break  # those behind it were not begun: another boot has their turn


def _breaches(ended: Ended, under: _Under, seconds: float) -> tuple[str, ...]:
    if ended.fault:
        at = ended.place - under.code
        inside = 0 <= at < len(under.task.image)
        where = f"{at:#x} bytes behind the code's start" if inside else "outside the code"
        return (f"{ended.fault} {where}",)
    return (f"it has not returned after {seconds:.0f} seconds",) if not ended.ended else breaches(ended.result)


def _loaded(tasks: Sequence[Task], on: Processor) -> tuple[Image, list[_Under]]:
    """An image with as many of these tasks as go in, the first one at least."""
    image = Image()
    given: dict[int, int] = {}
    placed: list[_Under] = []
    for task in tasks:
        try:
            placed.append(_place(image, task, on, given))
        except Full:
            if not placed:
                raise
            break
    return image, placed


def _place(image: Image, task: Task, on: Processor, given: dict[int, int]) -> _Under:
    """Puts a task's code and memory into the image; columns lie there once, by `given`."""
    results = image.made(task.results)
    addresses = []
    for at, column in enumerate(task.columns):
        if at != task.over and id(column) not in given:
            given[id(column)] = image.given(column)
        addresses.append(results if at == task.over else given[id(column)])
    sequence = task.sequence
    if sequence.whole:
        addresses.append(image.given(struct.pack("<Q", task.cases)))
    columns = image.given(struct.pack(f"<{len(addresses)}Q", *addresses))
    watched = image.made(struct.pack(f"<{CONTEXT_WORDS}Q", *initial_context()))
    code = image.code(task.image)
    drive = driver(sequence.convention, sequence.arguments, watched, SYSV, sequence.result, "avx" in on.features)
    calls = 1 if sequence.whole else task.cases // sequence.lanes
    image.call(image.code(assemble(drive).image), (code, columns, results + task.start, calls))
    return _Under(task, code, watched, results)
