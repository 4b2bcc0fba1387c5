"""Kernels as Python functions, on integers and on NumPy arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from inspect import Parameter as Argument
from inspect import Signature
from typing import TYPE_CHECKING, Any, Self, cast

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
from setwise.codegen.run.integers import integer, single_call
from setwise.codegen.run.loop import inner_loop
from setwise.codegen.targets import VECTORS
from setwise.codegen.variants import variant_named

if TYPE_CHECKING:
    from setwise.codegen.run.arrays import Elementwise

LATELY = 256
"""The size of the cache of functions, which serves repeated requests and pickles."""

_NAMEABLE = ("square", "dir8", "direction9")
"""Kinds of parameters whose numbers have names."""
Recipe = tuple[str, str | None, str | None, int | None, str]
"""A routine's name, then instruction set, convention and lanes if requested, and the variant ("" is the default)."""


class Function:
    """A kernel that is called with integers or with NumPy arrays of uint64.

    Arguments are positional or named; any object with `__index__` is an integer. Boards are integers from 0 to 2**64 -
    1, a1 = bit 0, h8 = bit 63 unless help() of the function says otherwise. A square or a direction may be given by
    name, as in "d4" and "noEa". The result is an integer, or a named tuple if the routine has several results.

    Arrays broadcast against each other and against integers, and give new arrays, or those in `out`. `out` may be an
    input; it is a tuple if the routine has several results. Contiguous arrays are processed in vectors if lanes can be
    boards. Other Python threads may run meanwhile and must not access the arrays.

    Raises TypeError for a wrong number or type of arguments or `out`, and ValueError for an unknown name, a number out
    of range or another unusable `out`, each in one line. Other requirements of the routine, listed by help() of the
    function, are not checked; a call that violates them gives wrong results. `setwise.kernel(..., checked=True)`
    returns a slower function that checks them on every call.

    Any number of threads may call one function. A pickle contains the request, and the function is compiled again when
    it is loaded: for the best instruction set there, unless one was requested.

    >>> import numpy as np
    >>> north = Function.of(find("kogge-stone.attacks.nort"))
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
        refuse_unrunnable(kernel)
        self.kernel = kernel
        self.recipe = recipe or (kernel.name, kernel.target.name, kernel.convention.name, kernel.layout.lanes, "")
        contract = kernel.routine.contract
        self._parameters = contract.words
        self._names = tuple(parameter.name for parameter in self._parameters)
        self._nameable = any(parameter.kind in _NAMEABLE for parameter in self._parameters)
        self._loop, self._code = in_memory(kernel)
        self._single_call = single_call(len(self._parameters), contract.results, self._loop, self._code)
        self._on_arrays: Elementwise | None = None  # made at the first call with arrays
        taken = [Argument(name, Argument.POSITIONAL_OR_KEYWORD) for name in self._names]
        out = [] if "out" in self._names else [Argument("out", Argument.KEYWORD_ONLY, default=None)]
        self.__signature__ = Signature([*taken, *out])
        self.__name__ = kernel.name
        self.__doc__ = _docstring(kernel, self._names, self.checks)

    @classmethod
    def of(
        cls,
        routine: Routine,
        isa: str | None = None,
        abi: str | None = None,
        lanes: int | None = None,
        variant: str = "",
    ) -> Self:
        """Return the routine as a function, by default for the best instruction set and the convention here.

        `variant` is the name of a variant for that instruction set; codegen.variants lists them.
        """
        recipe = routine.name, isa, abi, lanes, variant
        hashable = cast(Any, cls)  # mypy does not treat a class as hashable
        return cast(Self, _function(hashable, routine, isa or best_isa(routine), abi or host().name, lanes, recipe))

    @classmethod
    def _named(cls, name: str, *request: Any) -> Self:
        """Return the function of the routine of that name, for a pickle. Raises ValueError if there is none."""
        return cls.of(find(name), *request)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code; the class describes the arguments."""
        out = None if "out" in self._names else named.pop("out", None)
        given = self._bound(arguments, named) if named or len(arguments) != len(self._names) else arguments
        if self._nameable and str in map(type, given):
            given = tuple(map(self._number, self._parameters, given))
        self._require(given)
        if out is not None or _any_array(given):
            if self._on_arrays is None:
                self._on_arrays = self._for_arrays()
            return self._on_arrays(given, out)
        return self._single_call(list(map(integer, self._parameters, given)))

    def _require(self, given: Sequence[Any]) -> None:
        """Check the routine's requirements; here nothing is checked."""

    def _number(self, parameter: Parameter, argument: Any) -> Any:
        """Return the number of a named square or direction; other arguments are returned unchanged."""
        if not isinstance(argument, str) or parameter.kind not in _NAMEABLE:
            return argument
        return named_number(parameter.kind, argument, self.kernel.routine.contract.numbering)

    def _bound(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return all arguments in the parameters' order. Raises TypeError for wrong names or a wrong number."""
        names, routine = self._names, self.kernel.name
        for name in named:
            if name not in names:
                raise TypeError(f"{routine} takes no {name}: it takes {', '.join(self.__signature__.parameters)}")
            if name in names[: len(arguments)]:
                raise TypeError(f"{routine} is given {name} twice, by position and by name: give it once")
        if len(arguments) + len(named) != len(names):
            number = len(arguments) + len(named)
            raise TypeError(f"{routine} takes {len(names)} arguments ({', '.join(names)}), not {number}")
        return (*arguments, *(named[name] for name in names[len(arguments) :]))

    def _for_arrays(self) -> Elementwise:
        """Return the function on arrays: in vectors of boards if isa and routine allow, else by the kernel's loop."""
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
        return self._named, self.recipe

    def __repr__(self) -> str:
        takes, required = ", ".join(self._names), "; ".join(self.kernel.routine.contract.required)
        where = f"{self.kernel.target.name}, {self.kernel.convention.name}"
        return f"<setwise kernel {self.kernel.name}({takes}) for {where}{required and f', requires {required}'}>"


@lru_cache(LATELY)
def _function(kind: Any, routine: Routine, isa: str, abi: str, lanes: int | None, recipe: Recipe) -> Function:
    made: Function = kind(variant_named(recipe[-1], routine, isa, abi, lanes), recipe)
    return made


def in_memory(kernel: Kernel) -> tuple[Executable, Executable]:
    """Return the loop of a kernel and the kernel, in executable memory."""
    loop = inner_loop(signature_of(kernel), len(kernel.routine.contract.results), host())
    assembled = assemble(kernel.code)
    return Executable(assemble(loop).image), Executable(assembled.image, len(assembled.data))


def _any_array(arguments: Sequence[Any]) -> bool:
    numpy = sys.modules.get("numpy")  # loaded, if an argument is an array
    if numpy is None:
        return False
    return numpy.ndarray in map(type, arguments) or any(isinstance(each, numpy.ndarray) for each in arguments)


def _docstring(kernel: Kernel, takes: Sequence[str], checks: str) -> str:
    """Return the docstring of a kernel's function with these parameters; `checks` is its sentence on requirements."""
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
