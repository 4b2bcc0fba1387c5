"""Kernels as Python functions on integers, and as runs over many cases; whatever their convention."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from codegen import cpu
from codegen.assemble import assemble
from codegen.convention import SYSV, WIN64, Convention
from codegen.harness import CASE_WORD, CONTEXT_WORDS, GENERAL, Passed, changed, context, driver
from codegen.lower import TARGETS, Kernel, lower
from codegen.machine import Code
from codegen.native import Executable, NotRunnable, runnable
from codegen.routine import Parameter, Routine
from codegen.targets.table import Target

__all__ = ["Function", "NotRunnable", "Runner", "Violation", "best_isa", "function", "host", "missing"]

_BASELINE = frozenset({"x86-64", "sse", "sse2"})
_U64 = ctypes.c_uint64


def host() -> Convention:
    """The convention of this platform's C."""
    return WIN64 if sys.platform == "win32" else SYSV


def missing(target: Target) -> tuple[str, ...]:
    """The features of the target that this processor lacks, or `x86-64` where it is of another kind."""
    if not runnable():
        return ("x86-64",)
    return tuple(sorted(target.features - _BASELINE - cpu.features()))


def best_isa(routine: Routine) -> str:
    """The last of the routine's instruction sets that this processor has; they stand in the order of their age."""
    return next((isa for isa in reversed(routine.isas) if not missing(TARGETS[isa])), routine.isas[0])


@dataclass(frozen=True, slots=True)
class Violation:
    """What a kernel broke of its convention, and in which case."""

    case: int
    what: tuple[str, ...]


class Runner:
    """A kernel's code in executable memory, with the driver that calls it case by case.

    Raises NotRunnable where the processor lacks what `target` needs.
    """

    def __init__(
        self,
        code: Code,
        convention: Convention,
        arguments: Sequence[Passed],
        result: Passed | None = GENERAL,
        target: Target | None = None,
    ) -> None:
        lacking = missing(target) if target else () if runnable() else ("x86-64",)
        if lacking:
            raise NotRunnable(f"this processor cannot run {code.name}: it lacks {', '.join(lacking)}")
        self._arguments = len(arguments)
        self._context = (_U64 * CONTEXT_WORDS)(*context())
        avx = "avx" in cpu.features()
        drive = driver(convention, arguments, ctypes.addressof(self._context), host(), result, avx)
        self._kernel = Executable(assemble(code).image)
        self._driver = Executable(assemble(drive).image)
        self._drive = self._driver.function(_U64, (_U64, ctypes.POINTER(_U64), _U64, _U64))

    def run(self, columns: Sequence[int], results: int, n: int) -> Violation | None:
        """Call the kernel for n cases; `columns` and `results` are addresses of arrays of n times their words.

        Returns what the kernel broke, in the first case where it did; the cases behind that one are not run.
        """
        if len(columns) != self._arguments:
            raise ValueError(f"{len(columns)} columns for {self._arguments} arguments")
        mask = int(self._drive(self._kernel.address(), (_U64 * max(1, len(columns)))(*columns), results, n))
        return Violation(int(self._context[CASE_WORD]), changed(mask)) if mask else None

    def close(self) -> None:
        """Free the executable memory."""
        self._kernel.close()
        self._driver.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def runner(kernel: Kernel) -> Runner:
    """The runner of a kernel; a parameter of kind `results` gets one word a result."""
    contract = kernel.routine.contract
    by_address = any(parameter.kind == "results" for parameter in contract.parameters)
    arguments = [
        Passed("address", len(contract.results)) if parameter.kind == "results" else GENERAL
        for parameter in contract.parameters
    ]
    return Runner(kernel.code, kernel.convention, arguments, None if by_address else GENERAL, kernel.target)


class Function:
    """A kernel that is called with integers; gives an integer, or a tuple where it has several results."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._runner = runner(kernel)
        contract = kernel.routine.contract
        self._parameters = tuple(parameter for parameter in contract.parameters if parameter.kind != "results")
        self._by_address = len(self._parameters) < len(contract.parameters)
        self._results = len(contract.results)
        self.__doc__ = f"{kernel.routine.summary} ({kernel.target.name})"

    def __call__(self, *arguments: int) -> int | tuple[int, ...]:
        """Run the machine code; TypeError for the wrong count, ValueError for what the contract does not take."""
        if len(arguments) != len(self._parameters):
            names = ", ".join(parameter.name for parameter in self._parameters)
            raise TypeError(
                f"{self.kernel.name} takes {len(self._parameters)} arguments ({names}), not {len(arguments)}"
            )
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            check_range(parameter, argument)
        results = (_U64 * self._results)()
        cells = [_U64(argument) for argument in arguments]
        columns = [ctypes.addressof(cell) for cell in cells]
        address = ctypes.addressof(results)
        violation = self._runner.run([*columns, address] if self._by_address else columns, address, 1)
        if violation is not None:
            raise RuntimeError(f"{self.kernel.name} breaks its convention: {', '.join(violation.what)}")
        return int(results[0]) if self._results == 1 else tuple(map(int, results))

    def __repr__(self) -> str:
        return f"<setwise kernel {self.kernel.name} for {self.kernel.target.name}, {self.kernel.convention.name}>"


def check_range(parameter: Parameter, argument: int) -> None:
    """ValueError where the argument is not within what the parameter takes."""
    bound = parameter.below or 1 << 64
    if not 0 <= argument < bound:
        raise ValueError(f"{parameter.name} is {argument}: it must be from 0 to {bound - 1:#x}")


def function(routine: Routine, isa: str | None = None, abi: str | None = None, lanes: int | None = None) -> Function:
    """The routine as a function: on the best instruction set here, in this platform's convention, unless told."""
    return Function(lower(routine, isa or best_isa(routine), abi or host().name, lanes))
