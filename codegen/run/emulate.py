"""Runs of kernels over many cases on an emulated machine, several kernels in one boot.

The driver that calls and checks a kernel is that of native runs (setwise.codegen.run.driver).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from setwise.codegen.assemble import assemble
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.run.bochs import EmulatedProcessor, boot
from setwise.codegen.run.boot import Buffer, Ending, Full, Image
from setwise.codegen.run.call import Violation
from setwise.codegen.run.driver import CASE_WORD, CONTEXT_WORDS, breaches, by_case, driver, initial_context
from setwise.codegen.run.harness import Signature

_SECONDS_TO_BOOT, _SECONDS_A_CASE = 30.0, 2e-4


@dataclass(frozen=True, slots=True, eq=False)
class EmulatedTask:
    """A kernel's bytes with constants, its signature, and one run over `cases` cases.

    `columns` are read-only. `results` is the initial content of the results' memory; the results begin at word `start`.
    With `over`, the results' memory replaces that column.
    """

    image: bytes
    signature: Signature
    columns: tuple[Buffer, ...]
    results: Buffer
    cases: int
    start: int = 0
    over: int | None = None


@dataclass(frozen=True, slots=True)
class _Placement:
    """The addresses of a task's parts in the machine."""

    task: EmulatedTask
    code: int
    context: int
    results: int


def emulate(tasks: Sequence[EmulatedTask], on: EmulatedProcessor) -> Iterator[tuple[bytes, Violation | None]]:
    """Yield for each task the results' memory after the run, and the kernel's violation of its convention.

    One boot runs as many tasks as its memory holds. Raises codegen.run.bochs.NoBochs if Bochs is missing or fails, and
    codegen.run.boot.Full if the memory is too small for one task.
    """
    done = 0
    while done < len(tasks):
        image, placed = _loaded(tasks[done:])
        seconds = _SECONDS_TO_BOOT + _SECONDS_A_CASE * sum(placement.task.cases for placement in placed)
        left = boot(image, on, seconds)
        for placement, ending in zip(placed, left.calls, strict=True):
            task = placement.task
            results = left.read(placement.results, memoryview(task.results).nbytes)
            case = struct.unpack("<Q", left.read(placement.context + 8 * CASE_WORD, 8))[0] * task.signature.lanes
            if several := task.signature.interleaved:
                words = struct.unpack(f"<{len(results) // 8}Q", results)
                results = struct.pack(f"<{len(words)}Q", *by_case(words, several, task.signature.lanes))
            broken = _breaches(ending, placement, seconds)
            yield results, Violation(case, broken) if broken else None
            done += 1
            if not ending.ended:
                break  # later tasks were not begun; the next boot runs them


def _breaches(ending: Ending, placement: _Placement, seconds: float) -> tuple[str, ...]:
    if ending.fault:
        at = ending.place - placement.code
        inside = 0 <= at < len(placement.task.image)
        where = f"{at:#x} bytes after the code's start" if inside else "outside the code"
        return (f"{ending.fault} {where}",)
    return (f"it has not returned after {seconds:.0f} seconds",) if not ending.ended else breaches(ending.result)


def _loaded(tasks: Sequence[EmulatedTask]) -> tuple[Image, list[_Placement]]:
    """Return an image with as many of these tasks as it can hold, but at least one."""
    image = Image()
    constants: dict[int, int] = {}
    placed: list[_Placement] = []
    for task in tasks:
        try:
            placed.append(_place(image, task, constants))
        except Full:
            if not placed:
                raise
            break
    return image, placed


def _place(image: Image, task: EmulatedTask, constants: dict[int, int]) -> _Placement:
    """Add a task's code and memory to the image; `constants` has the addresses of columns that are already there."""
    results = image.writable(task.results)
    addresses = []
    for at, column in enumerate(task.columns):
        if at != task.over and id(column) not in constants:
            constants[id(column)] = image.read_only(column)
        addresses.append(results if at == task.over else constants[id(column)])
    signature = task.signature
    if signature.whole:
        addresses.append(image.read_only(struct.pack("<Q", task.cases)))
    columns = image.read_only(struct.pack(f"<{len(addresses)}Q", *addresses))
    watched = image.writable(struct.pack(f"<{CONTEXT_WORDS}Q", *initial_context()))
    code = image.code(task.image)
    drive = driver(signature, watched, SYSV)
    calls = 1 if signature.whole else task.cases // signature.lanes
    image.call(image.code(assemble(drive).image), (code, columns, results + 8 * task.start, calls))
    return _Placement(task, code, watched, results)
