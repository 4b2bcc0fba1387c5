"""Kernels as Python functions on integers, and as runs over many cases; whatever their convention."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Contract, Parameter, Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Code
from setwise.codegen.machine.convention import SYSV, WIN64, Convention
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.arrays import is_array, prepared, refuse_masked
from setwise.codegen.run.driver import (
    CASE_WORD,
    CONTEXT_WORDS,
    GENERAL,
    ArgumentSlot,
    breaches,
    driver,
    initial_context,
    passing,
)
from setwise.codegen.run.executable import Executable, NotRunnable, runnable
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Target

if TYPE_CHECKING:
    from setwise.codegen.run.arrays import Boards

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

    `image` stands for the code's bytes where they are another's; `data` of them, the last, are data. Raises NotRunnable
    where the processor lacks what `target` needs.
    """

    def __init__(
        self,
        code: Code,
        sequence: CallingSequence,
        target: Target | None = None,
        image: bytes | None = None,
        data: int = 0,
    ) -> None:
        lacking = missing(target) if target else () if runnable() else ("x86-64",)
        if lacking:
            raise NotRunnable(f"this processor cannot run {code.name}: it lacks {', '.join(lacking)}")
        self._sequence = sequence
        self._lock = Lock()  # the context serves one call at a time
        _RUNNERS.add(self)
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
        with self._lock:
            mask = int(self._drive(self._kernel.address(), (_U64 * max(1, len(addresses)))(*addresses), results, calls))
            return Violation(int(self._context[CASE_WORD]) * sequence.lanes, breaches(mask)) if mask else None

    def direct(self) -> Callable[..., None]:
        """The kernel itself, for arrays: it takes the columns' addresses, the result's, and n.

        Only for a kernel of this platform's convention. Any number of threads may be in it at once.
        """
        return self._kernel.function(None, (_U64,) * (self._sequence.columns + 2))

    def close(self) -> None:
        """Free the executable memory."""
        self._kernel.close()
        self._driver.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_RUNNERS: WeakSet[Runner] = WeakSet()
"""All that there are, for a process that is forked while a thread holds a lock has the lock, but not the thread."""


def _unlock_all() -> None:
    for each in _RUNNERS:
        each._lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)


def runner(kernel: Kernel, image: bytes | None = None, data: int = 0) -> Runner:
    """The runner of a kernel; `image` are other bytes with its contract and convention, run in the place of its own.

    The last `data` bytes of that image are data.
    """
    return Runner(kernel.code, calling_sequence(kernel), kernel.target, image, data)


def cases_a_call(kernel: Kernel) -> int:
    """How many cases one call takes where lanes are boards."""
    return kernel.layout.lanes if kernel.layout.boards and not is_batch(kernel.routine) else 1


Argument = int | Sequence[int]

Recipe = tuple[str, str | None, str | None, int | None]
"""A routine's name, and instruction set, convention and lanes where they were asked for."""


class Function:
    """A kernel that is called with integers, or with sequences of them for many cases in one go; NumPy's count as such.

    Any number of threads may call one function. A pickle of it holds what was asked for, the routine's name first, and
    where it is read the function is made anew: of the best instruction set there, unless one was named.

    A case's result is an integer, or a tuple where the routine has several; sequences of n give a list of n of those.

    A routine on arrays (`.batch`) takes NumPy's arrays besides, without copying them, and gives an array: a new one, or
    `result`, which may be exactly one of the inputs. setwise.codegen.run.arrays.prepared says what is refused. Other
    threads run meanwhile; they must leave the arrays alone.

    >>> import numpy as np
    >>> from setwise.codegen.catalogue import find
    >>> north = function(find("kogge-stone.attacks.nort.batch"))
    >>> rooks = np.array([1, 1 << 48], np.uint64)
    >>> north(rooks, ~rooks).tolist() == [0x0101_0101_0101_0100, 1 << 56]
    True
    >>> north(rooks, ~rooks, result=rooks) is rooks
    True
    """

    def __init__(self, kernel: Kernel, recipe: Recipe | None = None) -> None:
        self.kernel = kernel
        self._recipe = recipe or (kernel.name, kernel.target.name, kernel.convention.name, kernel.layout.lanes)
        self._runner = runner(kernel)
        contract = kernel.routine.contract
        self._parameters = _inputs(contract)
        self._results = len(contract.results)
        self._lanes = cases_a_call(kernel)
        self._batch = is_batch(kernel.routine)
        self._direct = self._runner.direct() if self._batch and kernel.convention == host() else None
        self.__name__ = kernel.name
        self.__doc__ = _docstring(kernel)

    def __call__(self, *arguments: Argument | Boards, result: Boards | None = None) -> Any:
        """Run the machine code; TypeError for a wrong count or type, ValueError for what the contract does not take."""
        if len(arguments) != len(self._parameters):
            names = ", ".join(parameter.name for parameter in self._parameters)
            raise TypeError(
                f"{self.kernel.name} takes {len(self._parameters)} arguments ({names}), not {len(arguments)}"
            )
        if result is not None and not self._batch:
            raise TypeError(f"{self.kernel.name} takes no result: routines on arrays, named .batch, do")
        if self._batch and (result is not None or any(map(is_array, arguments))):
            return self._on_arrays(arguments, result)
        return self._on_integers(arguments)

    def _on_arrays(self, arguments: Sequence[Any], result: Boards | None) -> Boards:
        addresses, number, boards = prepared([p.name for p in self._parameters], arguments, result)
        if self._direct is not None:
            self._direct(*addresses, number)
        elif (violation := self._runner.run(addresses[:-1], addresses[-1], number)) is not None:
            raise _violated(self.kernel, violation)
        return boards

    def _on_integers(self, arguments: Sequence[Any]) -> Any:
        given = [_words(parameter, argument) for parameter, argument in zip(self._parameters, arguments, strict=True)]
        lengths = {len(words) for words in given if not isinstance(words, int)}
        if len(lengths) > 1:
            raise ValueError(f"{self.kernel.name} takes sequences of one length, not of {sorted(lengths)}")
        number = max(lengths, default=1)
        rows = self._run([[words] * number if isinstance(words, int) else words for words in given], number)
        results = [row[0] for row in rows] if self._results == 1 else rows
        return results if lengths else results[0]

    def _run(self, columns: Sequence[Sequence[int]], number: int) -> list[tuple[int, ...]]:
        for parameter, column in zip(self._parameters, columns, strict=True):
            for word in column:
                check_range(parameter, word)
        padded = -(-number // self._lanes) * self._lanes
        arrays = [(_U64 * padded)(*column) for column in columns]
        results = (_U64 * (padded * self._results))()
        violation = self._runner.run(list(map(ctypes.addressof, arrays)), ctypes.addressof(results), padded)
        if violation is not None:
            raise _violated(self.kernel, violation)
        return [tuple(results[at : at + self._results]) for at in range(0, number * self._results, self._results)]

    def __reduce__(self) -> tuple[Callable[..., Function], Recipe]:
        return named, self._recipe

    def __repr__(self) -> str:
        return f"<setwise kernel {self.kernel.name} for {self.kernel.target.name}, {self.kernel.convention.name}>"


def _violated(kernel: Kernel, violation: Violation) -> RuntimeError:
    return RuntimeError(f"{kernel.name} breaks its convention: {', '.join(violation.breaches)}")


def _words(parameter: Parameter, argument: Any) -> int | list[int]:
    """An integer, or those of a sequence, as Python's own; TypeError for anything else."""
    refuse_masked(parameter.name, argument)
    try:
        return index(argument)
    except TypeError:
        pass
    sized = hasattr(argument, "__getitem__") and hasattr(argument, "__len__")
    if sized and not isinstance(argument, Mapping | str | bytes | bytearray):
        try:
            return list(map(index, argument))
        except TypeError as error:
            raise TypeError(f"{parameter.name} holds what is no integer: {error}") from None
    raise TypeError(f"{parameter.name} is of type {type(argument).__name__}: give an integer, or a sequence of them")


def check_range(parameter: Parameter, argument: int) -> None:
    """ValueError where the argument is not within what the parameter takes."""
    bound = parameter.below or 1 << 64
    if not 0 <= argument < bound:
        raise ValueError(f"{parameter.name} is {argument}: it must be from 0 to {bound - 1:#x}")


def function(routine: Routine, isa: str | None = None, abi: str | None = None, lanes: int | None = None) -> Function:
    """The routine as a function: on the best instruction set here, in this platform's convention, unless told."""
    kernel = lower(routine, isa or best_isa(routine), abi or host().name, lanes)
    return Function(kernel, (routine.name, isa, abi, lanes))


def named(name: str, isa: str | None = None, abi: str | None = None, lanes: int | None = None) -> Function:
    """The function of the routine of that name; ValueError where there is none."""
    return function(find(name), isa, abi, lanes)


def _inputs(contract: Contract) -> tuple[Parameter, ...]:
    """What a caller gives: for arrays what one board of each input stands for."""
    return tuple(p for p in contract.elements or contract.parameters if p.kind != "results")


def _docstring(kernel: Kernel) -> str:
    """What a function says of itself."""
    contract = kernel.routine.contract
    takes = ", ".join(parameter.name for parameter in _inputs(contract))
    summary = kernel.routine.summary
    lines = (
        f"{summary[:1].upper()}{summary[1:]} ({kernel.target.name}).",
        "",
        f"Takes {takes}; gives {', '.join(contract.results)}.",
        *(f"Requires {requirement}." for requirement in contract.required),
        f"After {kernel.routine.source}.",
    )
    return "\n".join(lines)
