"""Native runs of kernels over many cases, with checks of their calling convention."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from setwise.codegen.assemble import assemble
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.convention import SYSV, WIN64, Convention
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.driver import CASE_WORD, CONTEXT_WORDS, breaches, by_case, driver, initial_context
from setwise.codegen.run.executable import Executable, NotRunnable, runnable
from setwise.codegen.run.harness import Signature, signature
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Target

_U64 = ctypes.c_uint64


def host() -> Convention:
    """Return the C calling convention of this platform."""
    return WIN64 if sys.platform == "win32" else SYSV


def missing(target: Target, features: frozenset[str] | None = None) -> tuple[str, ...]:
    """Return the target's features that are missing from `features`, by default those of this processor, sorted.

    Baseline features are never missing. Without `features`, a processor that is not x86-64 misses `x86-64` alone.
    """
    if features is None and not runnable():
        return ("x86-64",)
    return tuple(sorted(target.features - BASELINE - (cpu.features() if features is None else features)))


def best_isa(routine: Routine, features: frozenset[str] | None = None) -> str:
    """Return the routine's newest instruction set within `features`, by default those of this processor.

    If there is none, return the oldest. Vectors of boards are excluded unless the routine works on arrays, because one
    board gains nothing from them.
    """
    usual = [isa for isa in routine.isas if not routine.batched or is_batch(routine) or TARGETS[isa].widths == (1,)]
    return next((isa for isa in reversed(usual) if not missing(TARGETS[isa], features)), usual[0])


def is_batch(routine: Routine) -> bool:
    """Return whether the routine works on arrays of boards."""
    return bool(routine.contract.elements)


def refuse_unrunnable(kernel: Kernel) -> None:
    """Raise NotRunnable if this processor lacks a feature of the kernel's instruction set, or is not x86-64."""
    if lacking := missing(kernel.target):
        raise NotRunnable(f"this processor cannot run {kernel.name}: it lacks {', '.join(lacking)}; choose another isa")


@dataclass(frozen=True, slots=True)
class Violation:
    """The violations of the calling convention in one call, as text, and the number of the call's first case."""

    case: int
    breaches: tuple[str, ...]


def signature_of(kernel: Kernel) -> Signature:
    """Return the signature of a kernel, by which the driver and the loops call it."""
    vex = "avx" in kernel.target.features
    lanes = kernel.layout.lanes if kernel.layout.batched and not is_batch(kernel.routine) else 1
    return signature(kernel.routine.contract, kernel.convention, lanes, vex)


class Runner(ExitStack):
    """Code in executable memory, with the driver that calls it; `close` or the end of `with` frees the memory.

    The last `data` bytes of `image` are data. Only one thread at a time may use a runner. Raises NotRunnable if the
    processor is not x86-64.
    """

    def __init__(self, image: bytes, data: int, signature: Signature) -> None:
        super().__init__()
        self._signature = signature
        self._context = (_U64 * CONTEXT_WORDS)(*initial_context())
        drive = driver(signature, ctypes.addressof(self._context), host())
        self._kernel = self.enter_context(Executable(image, data))
        self._drive = self.enter_context(Executable(assemble(drive).image)).function(
            _U64, (_U64, ctypes.POINTER(_U64), _U64, _U64)
        )

    def run(self, columns: Sequence[int], results: int, n: int) -> Violation | None:
        """Run `n` cases, a multiple of the lanes. Return the violation that ended the run, or None.

        `columns` holds the address of each input's words. All results are written to address `results`, case by case,
        but those of arrays one array after the other.
        """
        called = self._signature
        if len(columns) != called.columns:
            raise ValueError(f"{len(columns)} columns for {called.columns} arguments: give one for each")
        if n % called.lanes:
            raise ValueError(f"{n} cases are no multiple of {called.lanes} lanes")
        number = _U64(n)
        addresses = [*columns, ctypes.addressof(number)] if called.whole else columns
        calls = 1 if called.whole else n // called.lanes
        mask = int(self._drive(self._kernel.address(), (_U64 * max(1, len(addresses)))(*addresses), results, calls))
        if called.interleaved:
            written = (_U64 * (n * called.interleaved)).from_address(results)
            written[:] = [*by_case(written[:], called.interleaved, called.lanes)]
        return Violation(int(self._context[CASE_WORD]) * called.lanes, breaches(mask)) if mask else None


def runner(kernel: Kernel, image: bytes | None = None, data: int = 0) -> Runner:
    """Return a runner for a kernel, or for the bytes `image`, which are called as the kernel is.

    The last `data` bytes of `image` are data. Raises the errors of `refuse_unrunnable`.
    """
    refuse_unrunnable(kernel)
    if image is None:
        assembled = assemble(kernel.code)
        image, data = assembled.image, len(assembled.data)
    return Runner(image, data, signature_of(kernel))
