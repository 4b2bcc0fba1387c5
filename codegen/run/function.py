"""Kernels as Python functions, on integers and on NumPy arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from inspect import Parameter as Argument
from inspect import Signature
from operator import index
from typing import TYPE_CHECKING, Any, TypeVar, cast

from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.fills.batch import on_arrays
from setwise.codegen.ir.routine import Parameter, Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.numbering import named_number
from setwise.codegen.regalloc.machine import OutOfRegisters
from setwise.codegen.run.call import best_isa, host, is_batch, refuse_unrunnable, signature_of
from setwise.codegen.run.executable import Executable
from setwise.codegen.run.integers import in_range, single_call
from setwise.codegen.run.loop import inner_loop
from setwise.codegen.targets import VECTORS
from setwise.codegen.variants import variant_named

if TYPE_CHECKING:
    from setwise.codegen.run.arrays import Elementwise

F = TypeVar("F", bound="Function")
LATELY = 256
"""The size of the cache of functions, which serves repeated requests and pickles."""

_NAMEABLE = ("square", "dir8", "direction9")
"""Kinds of parameters whose numbers have names."""
Recipe = tuple[str, str | None, str | None, int | None, str]
"""A routine's name, then instruction set, convention and lanes if requested, and the variant ("" is the default)."""


class Function:
    """A kernel that is called with integers, with NumPy arrays of uint64, or with sequences of integers.

    Arguments are positional or named; any object with `__index__` is an integer. Boards are integers from 0 to 2**64 -
    1, a1 = bit 0, h8 = bit 63 unless help() of the function says otherwise. A square or a direction may be given by
    name, as in "d4" and "noEa". The result is an integer, or a named tuple if the routine has several results.

    Arrays broadcast against each other and against integers, and give new arrays, or those in `out`. `out` may be an
    input; it is a tuple if the routine has several results. Contiguous arrays are processed in vectors if lanes can be
    boards. `threads` divide long arrays along the first axis. Other Python threads run meanwhile and must not access
    the arrays. Sequences of n give a list of n results.

    Raises TypeError for a wrong number or type of arguments, and ValueError for a number out of range, each in one
    line. Other requirements of the routine, listed by help() of the function, are not checked; a call that violates
    them gives wrong results. `setwise.kernel(..., checked=True)` returns a slower function that checks them on every
    call.

    Any number of threads may call one function. A pickle contains the request, and the function is compiled again when
    it is loaded: for the best instruction set there, unless one was requested.

    >>> import numpy as np
    >>> north = function(find("kogge-stone.attacks.nort"))
    >>> hex(north(sliders=1 << 48, empty=0))
    '0x100000000000000'
    >>> rooks = np.array([1, 1 << 48], np.uint64)
    >>> north(rooks, ~rooks).tolist() == [0x0101_0101_0101_0100, 1 << 56]
    True
    >>> north(rooks, 0, out=rooks) is rooks
    True
    """

    checks = "Only ranges are checked; setwise.kernel(..., checked=True) checks the requirements on every call."
    """The sentence of the docstring on the checking of requirements."""

    def __init__(self, kernel: Kernel, recipe: Recipe | None = None) -> None:
        refuse_unrunnable(kernel.code, kernel.target)
        self.kernel = kernel
        self.recipe = recipe or (kernel.name, kernel.target.name, kernel.convention.name, kernel.layout.lanes, "")
        contract = kernel.routine.contract
        self._parameters = tuple(p for p in contract.elements or contract.parameters if p.kind != "results")
        self._names = tuple(parameter.name for parameter in self._parameters)
        self._nameable = any(parameter.kind in _NAMEABLE for parameter in self._parameters)
        self._loop, self._code = in_memory(kernel)
        self._single_call = single_call(len(self._parameters), contract.results, self._loop, self._code)
        self._on_arrays: Elementwise | None = None  # made when there are arrays
        usual = {"out": None, "threads": 1}
        self._options = {name: default for name, default in usual.items() if name not in self._names}
        self.__signature__ = _signature(self._names, self._options)
        self.__name__ = kernel.name
        self.__doc__ = _docstring(kernel, self._names, self.checks)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code; the class describes the arguments."""
        options = self._chosen(named) if named else {}
        out, threads = options.get("out"), _threads(options.get("threads", 1))
        given = self._bound(arguments, named) if named or len(arguments) != len(self._names) else arguments
        if self._nameable and str in map(type, given):
            given = tuple(map(self._number, self._parameters, given))
        if out is not None or _any_array(given):
            if self._on_arrays is None:
                self._on_arrays = self._for_arrays()
            return self._on_arrays(given, out, threads)
        columns = list(map(words_of, self._parameters, given))
        lengths = {len(words) for words in columns if not isinstance(words, int)}
        if not lengths:
            return self._single_call(columns)
        if len(lengths) > 1:
            raise ValueError(f"{self.kernel.name} takes sequences of one length, not of {sorted(lengths)}")
        (number,) = lengths
        rows = zip(*([words] * number if isinstance(words, int) else words for words in columns), strict=True)
        return list(map(self._single_call, rows))

    def _number(self, parameter: Parameter, argument: Any) -> Any:
        """Return the number of a named square or direction; other arguments are returned unchanged."""
        if not isinstance(argument, str) or parameter.kind not in _NAMEABLE:
            return argument
        return named_number(parameter.kind, argument, self.kernel.routine.contract.numbering)

    def _chosen(self, named: dict[str, Any]) -> dict[str, Any]:
        """Remove the options from the named arguments, and return them."""
        return {name: named.pop(name) for name in self._options if name in named}

    def _bound(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the arguments in the parameters' order."""
        names, routine = self._names, self.kernel.name
        for name in named:
            if name not in names:
                raise TypeError(f"{routine} takes no {name}: it takes {', '.join(self.__signature__.parameters)}")
            if name in names[: len(arguments)]:
                raise TypeError(f"{routine} takes one {name}, not one by its place and one by its name")
        if len(arguments) + len(named) != len(names):
            number = len(arguments) + len(named)
            raise TypeError(f"{routine} takes {len(names)} arguments ({', '.join(names)}), not {number}")
        return (*arguments, *(named[name] for name in names[len(arguments) :]))

    def _for_arrays(self) -> Elementwise:
        """Return the function on arrays, from the batch version of the routine if it can be lowered to vectors."""
        from setwise.codegen.run.arrays import Elementwise

        routine, (_, isa, _, lanes, _) = self.kernel.routine, self.recipe
        loop, code = self._loop, self._code
        if not is_batch(routine) and set(VECTORS) & {*routine.isas} and not any(p.scalar for p in self._parameters):
            arrays = on_arrays(routine)
            isa = isa or best_isa(arrays)
            if isa in VECTORS:
                with suppress(ValueError, OutOfRegisters):  # some descriptions cannot use lanes for boards
                    loop, code = in_memory(lower(arrays, isa, host().name, lanes if routine.batched else None))
        return Elementwise(routine.name, self._parameters, routine.contract.results, loop, code)

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[object, ...]]:
        return named, (*self.recipe, type(self))

    def __repr__(self) -> str:
        takes, required = ", ".join(self._names), "; ".join(self.kernel.routine.contract.required)
        where = f"{self.kernel.target.name}, {self.kernel.convention.name}"
        return f"<setwise kernel {self.kernel.name}({takes}) for {where}{required and f', requires {required}'}>"


def function(
    routine: Routine, isa: str | None = None, abi: str | None = None, lanes: int | None = None, variant: str = ""
) -> Function:
    """Return the routine as a function, by default for the best instruction set here, in this platform's convention.

    `variant` is a name of `codegen.variants`, for a given instruction set.
    """
    return function_of(Function, routine, isa, abi, lanes, variant)


def function_of(
    kind: type[F], routine: Routine, isa: str | None, abi: str | None, lanes: int | None, variant: str
) -> F:
    """Return the result of `function` as an instance of the class `kind`."""
    recipe = routine.name, isa, abi, lanes, variant
    hashable = cast(Any, kind)  # mypy does not treat a class as hashable
    return cast(F, _function(hashable, routine, isa or best_isa(routine), abi or host().name, lanes, recipe))


@lru_cache(LATELY)
def _function(kind: Any, routine: Routine, isa: str, abi: str, lanes: int | None, recipe: Recipe) -> Function:
    made: Function = kind(variant_named(recipe[-1], routine, isa, abi, lanes), recipe)
    return made


def named(name: str, isa: str | None, abi: str | None, lanes: int | None, variant: str, kind: type[F]) -> F:
    """Return the function of the routine of that name, for a pickle. Raises ValueError if there is none."""
    return function_of(kind, find(name), isa, abi, lanes, variant)


def in_memory(kernel: Kernel) -> tuple[Executable, Executable]:
    """Return the loop of a kernel and the kernel, in executable memory."""
    loop = inner_loop(signature_of(kernel), len(kernel.routine.contract.results), host())
    assembled = assemble(kernel.code)
    return Executable(assemble(loop).image), Executable(assembled.image, len(assembled.data))


def _signature(names: Sequence[str], options: Mapping[str, Any]) -> Signature:
    """Return the call signature for `inspect`; options are keyword-only."""
    by_name = [Argument(name, Argument.KEYWORD_ONLY, default=usual) for name, usual in options.items()]
    return Signature([*(Argument(name, Argument.POSITIONAL_OR_KEYWORD) for name in names), *by_name])


def _any_array(arguments: Sequence[Any]) -> bool:
    numpy = sys.modules.get("numpy")  # loaded, if an argument is an array
    if numpy is None:
        return False
    return numpy.ndarray in map(type, arguments) or any(isinstance(each, numpy.ndarray) for each in arguments)


def _threads(number: Any) -> int:
    try:
        threads = index(number)
    except TypeError:
        raise TypeError(f"threads is of type {type(number).__name__}: give an integer") from None
    if threads < 1:
        raise ValueError(f"threads is {threads}: it must be 1 or more")
    return threads


def words_of(parameter: Parameter, argument: Any) -> int | list[int]:
    """Return an integer, or the integers of a sequence.

    Raises TypeError for other types, and ValueError for an integer out of range.
    """
    try:
        return in_range(parameter, index(argument))
    except TypeError:
        pass
    sized = hasattr(argument, "__getitem__") and hasattr(argument, "__len__")
    if sized and not isinstance(argument, Mapping | str | bytes | bytearray):
        try:
            return [in_range(parameter, index(each)) for each in argument]
        except TypeError as error:
            raise TypeError(f"{parameter.name} contains an item that is not an integer: {error}") from None
    raise TypeError(f"{parameter.name} is of type {type(argument).__name__}: give an integer, or a sequence of them")


def _docstring(kernel: Kernel, takes: Sequence[str], checks: str) -> str:
    """Return the docstring of a function."""
    contract = kernel.routine.contract
    summary = kernel.routine.summary
    lines = (
        f"{summary[:1].upper()}{summary[1:]} ({kernel.target.name}).",
        "",
        f"Takes {', '.join(takes)}; gives {', '.join(contract.results)}.",
        f"Each is an integer or a NumPy array of uint64; boards have {contract.numbering.bits}. Arrays broadcast.",
        *(f"Numbers of {title}: {text}." for title, text in contract.numbers),
        *(f"Requires {requirement}." for requirement in contract.required),
        *([checks] if contract.required else []),
        "Raises TypeError or ValueError, of one line, for other types and for numbers out of range.",
        f"After {kernel.routine.source}.",
    )
    return "\n".join(lines)
