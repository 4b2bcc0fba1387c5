"""Kernels run over many cases, whatever their convention, and watched while they do."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from setwise.codegen.assemble import assemble
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code
from setwise.codegen.machine.convention import SYSV, WIN64, Convention
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.driver import (
    CASE_WORD,
    CONTEXT_WORDS,
    GENERAL,
    ArgumentSlot,
    breaches,
    by_case,
    driver,
    initial_context,
    passing,
)
from setwise.codegen.run.executable import Executable, NotRunnable, runnable
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Target

_U64 = ctypes.c_uint64


def host() -> Convention:
    """The convention of this platform's C."""
    return WIN64 if sys.platform == "win32" else SYSV


def missing(target: Target, features: frozenset[str] | None = None) -> tuple[str, ...]:
    """The features of the target that a processor with these lacks; by default this one, or `x86-64` if it is none."""
    if features is None and not runnable():
        return ("x86-64",)
    return tuple(sorted(target.features - BASELINE - (cpu.features() if features is None else features)))


def best_isa(routine: Routine, features: frozenset[str] | None = None) -> str:
    """The last of the routine's instruction sets that a processor has; they stand in the order of their age.

    Not one whose lanes are boards: for one board they do no more than a general register.
    """
    usual = [isa for isa in routine.isas if not routine.boards or is_batch(routine) or TARGETS[isa].widths == (1,)]
    return next((isa for isa in reversed(usual) if not missing(TARGETS[isa], features)), usual[0])


def is_batch(routine: Routine) -> bool:
    """Whether the routine works on arrays of boards."""
    return bool(routine.contract.elements)


def refuse_unrunnable(code: Code, target: Target | None) -> None:
    """NotRunnable where this processor lacks what code for `target` needs, or is another one altogether."""
    if lacking := missing(target) if target else () if runnable() else ("x86-64",):
        raise NotRunnable(f"this processor cannot run {code.name}: it lacks {', '.join(lacking)}")


@dataclass(frozen=True, slots=True)
class Violation:
    """What a kernel broke of its convention, and in which case."""

    case: int
    breaches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallingSequence:
    """How a kernel is called: with `lanes` each call takes so many cases; with `whole` one call takes them all, and a
    last argument, which has no column, says how many they are.
    """

    convention: Convention
    arguments: Sequence[ArgumentSlot]
    result: ArgumentSlot | None = GENERAL
    lanes: int = 1
    whole: bool = False

    @property
    def columns(self) -> int:
        """How many columns of arguments it takes."""
        return sum(slot.file != "results" for slot in self.arguments) - self.whole

    @property
    def interleaved(self) -> int:
        """How many results a call writes for several boards each, result by result; else 0."""
        written = sum(slot.words for slot in self.arguments if slot.file == "results")
        return written // self.lanes if self.lanes > 1 else 0


def calling_sequence(kernel: Kernel) -> CallingSequence:
    """How a kernel is called: a column for each input; the results have as many words a case as the kernel has."""
    contract, lanes = kernel.routine.contract, cases_a_call(kernel)
    if is_batch(kernel.routine):
        *inputs, _, _ = contract.parameters
        arrays = (*(ArgumentSlot("address") for _ in inputs), ArgumentSlot("results"), GENERAL)
        return CallingSequence(kernel.convention, arrays, None, whole=True)
    arguments, result = passing(contract, lanes)
    return CallingSequence(kernel.convention, arguments, result, lanes)


class Runner:
    """A kernel's code in executable memory, with the driver that calls it case by case.

    `image` stands for the code's bytes where they are another's; `data` of them, the last, are data. It has one
    context, so one thread at a time may run it. Raises NotRunnable where the processor lacks what `target` needs.
    """

    def __init__(
        self,
        code: Code,
        sequence: CallingSequence,
        target: Target | None = None,
        image: bytes | None = None,
        data: int = 0,
    ) -> None:
        refuse_unrunnable(code, target)
        self._sequence = sequence
        self._context = (_U64 * CONTEXT_WORDS)(*initial_context())
        avx = "avx" in cpu.features()
        at = ctypes.addressof(self._context)
        drive = driver(sequence.convention, sequence.arguments, at, host(), sequence.result, avx)
        if image is None:
            assembled = assemble(code)
            image, data = assembled.image, len(assembled.data)
        self._kernel = Executable(image, data)
        self._driver = Executable(assemble(drive).image)
        self._drive = self._driver.function(_U64, (_U64, ctypes.POINTER(_U64), _U64, _U64))

    def run(self, columns: Sequence[int], results: int, n: int) -> Violation | None:
        """Run n cases, a multiple of the lanes; `columns` and `results` are addresses of arrays of their words.

        Returns what the kernel broke, in the first case where it did; the cases behind that one are not run.
        """
        sequence = self._sequence
        if len(columns) != sequence.columns:
            raise ValueError(f"{len(columns)} columns for {sequence.columns} arguments")
        if n % sequence.lanes:
            raise ValueError(f"{n} cases are no multiple of {sequence.lanes} lanes")
        number = _U64(n)
        addresses = [*columns, ctypes.addressof(number)] if sequence.whole else columns
        calls = 1 if sequence.whole else n // sequence.lanes
        mask = int(self._drive(self._kernel.address(), (_U64 * max(1, len(addresses)))(*addresses), results, calls))
        if several := sequence.interleaved:
            written = (_U64 * (n * several)).from_address(results)
            written[:] = [*by_case(written[:], several, sequence.lanes)]
        return Violation(int(self._context[CASE_WORD]) * sequence.lanes, breaches(mask)) if mask else None

    def close(self) -> None:
        """Free the executable memory."""
        self._kernel.close()
        self._driver.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def runner(kernel: Kernel, image: bytes | None = None, data: int = 0) -> Runner:
    """The runner of a kernel; `image` are other bytes with its contract and convention, run in the place of its own.

    The last `data` bytes of that image are data.
    """
    return Runner(kernel.code, calling_sequence(kernel), kernel.target, image, data)


def cases_a_call(kernel: Kernel) -> int:
    """How many cases one call takes where lanes are boards."""
    return kernel.layout.lanes if kernel.layout.boards and not is_batch(kernel.routine) else 1
