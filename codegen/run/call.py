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
from setwise.codegen.run.driver import CASE_WORD, CONTEXT_WORDS, breaches, by_case, driver, initial_context
from setwise.codegen.run.executable import Executable, NotRunnable, runnable
from setwise.codegen.run.harness import Signature, signature
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
    usual = [isa for isa in routine.isas if not routine.batched or is_batch(routine) or TARGETS[isa].widths == (1,)]
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


def signature_of(kernel: Kernel) -> Signature:
    """Return how a kernel is called: a column for each input; results have as many words a case as the kernel has."""
    vex = "avx" in kernel.target.features
    return signature(kernel.routine.contract, kernel.convention, cases_a_call(kernel), vex)


class Runner:
    """A kernel's code in executable memory, with the driver that calls it case by case.

    `image` stands for the code's bytes where they are another's; `data` of them, the last, are data. It has one
    context, so one thread at a time may run it. Raises NotRunnable where the processor lacks what `target` needs.
    """

    def __init__(
        self,
        code: Code,
        signature: Signature,
        target: Target | None = None,
        image: bytes | None = None,
        data: int = 0,
    ) -> None:
        refuse_unrunnable(code, target)
        self._signature = signature
        self._context = (_U64 * CONTEXT_WORDS)(*initial_context())
        drive = driver(signature, ctypes.addressof(self._context), host())
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
        called = self._signature
        if len(columns) != called.columns:
            raise ValueError(f"{len(columns)} columns for {called.columns} arguments")
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
    return Runner(kernel.code, signature_of(kernel), kernel.target, image, data)


def cases_a_call(kernel: Kernel) -> int:
    """How many cases one call takes where lanes are boards."""
    return kernel.layout.lanes if kernel.layout.batched and not is_batch(kernel.routine) else 1
