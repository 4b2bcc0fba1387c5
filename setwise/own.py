"""The object that `setwise.routine` returns, with methods that have the names of subcommands of `setwise`."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, overload

from setwise.analysis import api
from setwise.analysis.parallel import unrefused
from setwise.codegen.catalogue import find
from setwise.codegen.ir.grid import Grid
from setwise.codegen.ir.routine import Routine
from setwise.codegen.own.calls import is_traced, traced
from setwise.codegen.own.definition import Definition, DescriptionError, refusing
from setwise.codegen.own.user_files import LOADED
from setwise.codegen.request import Request
from setwise.codegen.run.integers import result_type
from setwise.codegen.targets import ALL_SETS
from setwise.kernels import KernelFunction, checked, costed, made, proved, timed
from setwise.shown import Table, Text


class Methods(ABC):
    """The methods of routines. Most arguments are options of the command line by name; `for_` is --for.

    `listing`, `count`, `cost`, `kernel` and a call work on one routine. If there are several, by direction, select one
    first, as in fill["nort"]. The other methods work on all of them. kernel(for_="latency").count() counts the variant
    that `for_` selects. A request that cannot be met raises ValueError with a message of one line.
    """

    @property
    @abstractmethod
    def routines(self) -> tuple[Routine, ...]:
        """All routines of the object."""

    @property
    def routine(self) -> Routine:
        """The only routine. Raises DescriptionError if there are several, for directions and sets of them."""
        first, *others = self.routines
        if others:
            name = f"{first.name.rpartition(':')[2].rpartition('.')[0]}[{first.direction!r}]"
            raise DescriptionError(f"this function names {len(others) + 1} routines: choose one, such as {name}")
        return first

    def kernel(
        self,
        isa: str | None = None,
        abi: str | None = None,
        lanes: int | None = None,
        *,
        for_: str = "",
        cpu: str | None = None,
        checked: bool = False,
    ) -> KernelFunction:
        """Return the routine as a function of machine code, by default for the best instruction set of this processor.

        Equal arguments return the same object again. `for_`, `cpu` and `checked` are those of `setwise.kernel`.
        """
        kernels: dict[object, KernelFunction] = self.__dict__.setdefault("_kernels", {})
        key = isa, abi, lanes, for_, cpu, checked
        if key not in kernels:
            kernels[key] = made(self.routine, *key)
        return kernels[key]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code on integers or NumPy arrays, as `setwise.Function` describes.

        In a description, with boards that are not known yet, the routine becomes part of that description: its first
        description is traced in place, with the caller's layout. Its requirements are then the caller's business.
        """
        return self._traced(arguments, named) if is_traced(arguments, named) else self.kernel()(*arguments, **named)

    def _traced(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        results = traced(self.routine, arguments, named)
        return result_type(self.routine.contract.results)(*results) if results[1:] else results[0]

    def listing(
        self,
        isa: str = "x86-64",
        lanes: int | None = None,
        abi: str = "sysv",
        syntax: str = "nasm",
        *,
        endbr64: bool = False,
    ) -> Text:
        """Return the source in the syntax nasm, gas, att, masm or go. With `endbr64` the kernel begins with it."""
        return Text(api.listing(Request(self.routine, isa, abi, lanes), syntax, endbr64=endbr64))

    def count(self, isa: str = "x86-64", lanes: int | None = None, abi: str = "sysv") -> dict[str, Any]:
        """Return name, isa, lanes, abi, `instructions` in all and by class, `memory_operands`, and sizes in bytes."""
        return api.counts([Request(self.routine, isa, abi, lanes)])[0]

    def cost(self, isa: str = "x86-64", lanes: int | None = None, abi: str = "sysv", cpu: str | None = None) -> Table:
        """Return lower bounds in cycles, `latency` and `bound` on throughput, one row a processor, or one for `cpu`."""
        return costed(Request(self.routine, isa, abi, lanes), cpu)

    def check(
        self, isa: str | None = None, abi: str | None = None, on: str | None = None, *, quick: bool = False
    ) -> Table:
        """Run the kernels and compare results with the specification. A row's `status` is passed, failed or not run.

        By default it covers all instruction sets and conventions, and all lanes. `on` names a processor to emulate.
        `quick` takes fewer inputs. Needs NumPy.
        """
        return checked(api.requests(self.routines, isa, abi), on, quick)

    def prove(
        self, isa: str | None = None, lanes: int | None = None, abi: str | None = None, time_limit: float = 60.0
    ) -> Table:
        """Try to prove the kernels' bytes right for all inputs. A row's `status` is proved, refuted or not proved.

        By default it covers all instruction sets, lanes and conventions. A refuted row has a `counterexample`.
        `time_limit` is in seconds for each kernel. Needs bitwuzla.
        """
        return proved(api.requests(self.routines, isa, abi, lanes), time_limit)

    def bench(
        self,
        isa: str | None = None,
        lanes: int | None = None,
        abi: str = "sysv",
        mode: str | None = None,
        beside: str | None = None,
        boards: int = 512,
        patience: float = 30.0,
    ) -> Table:
        """Time the kernels, by default of all instruction sets, as `setwise.KernelFunction.bench` describes."""
        chosen = api.with_sets(self.routines, isa, lanes)
        requests = list(unrefused(lambda each: Request(*each, abi, lanes), chosen))
        return timed(requests, mode, beside, boards, patience)

    def export(
        self,
        output: str,
        format: str,
        isa: str = "x86-64",
        lanes: int | None = None,
        abi: str | None = None,
        *,
        endbr64: bool = False,
        dispatch: bool = False,
        name: str | None = None,
        prefix: str | None = None,
        force: bool = False,
        unproved: bool = False,
        time_limit: float = 60.0,
        for_: str = "",
        cpu: str | None = None,
    ) -> str:
        """Write listings, objects or source into the folder `output`, and return a one-line summary.

        If bitwuzla is installed, kernels that are not proved are left out, and if none is proved, nothing is written.
        With `unproved` no proof is tried, and all kernels are written. `isa` is "all" or a comma-separated list of
        instruction sets. `format` is nasm, gas, att, masm, go, elf, coff, macho, lib, c, rust, zig or javascript.
        """
        return api.export(
            self.routines,
            output,
            format,
            [*ALL_SETS] if isa == "all" else isa.split(","),
            abi,
            lanes,
            for_=for_,
            cpu=cpu,
            endbr64=endbr64,
            dispatch=dispatch,
            name=name or "",
            prefix=prefix or "",
            force=force,
            unproved=unproved,
            time_limit=time_limit,
        ).summary


class OneDirection(Methods):
    """The routine that a function of a `Ray` yields for one direction, for a set of directions, or for `any`."""

    def __init__(self, routine: Routine) -> None:
        self._routine = routine

    @property
    def routines(self) -> tuple[Routine, ...]:
        """The routine as a tuple."""
        return (self._routine,)

    def __repr__(self) -> str:
        return f"<setwise routine {self._routine.name}>"


class OwnRoutine(Definition, Methods):
    """A user's own routine. A call runs its machine code; most methods have the names of subcommands of `setwise`.

    A function of a `Ray` yields several routines. fill["nort"] is the one for a direction (noEa east soEa sout soWe
    west noWe nort), for a set of them (vertical eastward westward rook bishop queen), or for `any`, a direction known
    at run time.
    """

    def __getitem__(self, direction: str) -> OneDirection:
        """Return the routine for a direction's name, in any case of letters. Raises KeyError if there is none."""
        if not isinstance(direction, str):
            raise TypeError(f"{self.name} takes a direction's name in brackets, such as 'nort'")
        for routine in self.routines:
            if routine.direction and routine.direction.lower() == direction.lower():
                return OneDirection(routine)
        names = ", ".join(routine.direction for routine in self.routines if routine.direction)
        raise KeyError(f"{self.name} has no direction '{direction}': {names or 'it is not a function of a Ray'}")

    def __iter__(self) -> Iterator[OneDirection]:
        """Iterate over the routines: one, or for a function of a `Ray` one for each direction, set and `any`."""
        return map(OneDirection, self.routines)

    def __repr__(self) -> str:
        takes = ", ".join(parameter.name for parameter in self.parameters)
        return f"<setwise routine {self.name}({takes})>"


def call(name: str, /, *arguments: Any, **named: Any) -> Any:
    """Trace the routine of this name in place, in a description, and return its board, or a named tuple of boards.

    `name` is one of the catalogue, such as "sliders.union", or of a file. The requirements of the routine are not
    checked. Raises ValueError for an unknown name, and TypeError or ValueError for arguments that it does not take.

    >>> import setwise
    >>> hex(setwise.call("leapers.knights", setwise.constant(1)).number)
    '0x20400'
    """
    return OneDirection(find(name))._traced(arguments, named)


@overload
def routine(function: Callable[..., Any], /, *, isas: Sequence[str] = ..., grid: Grid | None = ...) -> OwnRoutine: ...
@overload
def routine(*, isas: Sequence[str] = ..., grid: Grid | None = ...) -> Callable[[Callable[..., Any]], OwnRoutine]: ...
def routine(
    function: Callable[..., Any] | None = None, /, *, isas: Sequence[str] = ALL_SETS, grid: Grid | None = None
) -> OwnRoutine | Callable[[Callable[..., Any]], OwnRoutine]:
    """Make a routine from a function. Its annotations declare the interface, its docstring's first line describes it.

    `isas` are the instruction sets to support, by default all. `grid` is the board of all parameters and results, by
    default that of chess; the routine then requires that boards have only bits that are squares of it. Raises
    setwise.DescriptionError, a one-line message with file and line, for a function that cannot be a routine, for
    instance without annotations. In a file that a command runs, bad annotations are an error where the routine is used.

    >>> import setwise
    >>> @setwise.routine
    ... def pawn_attacks(pawns: setwise.Board) -> setwise.Board:
    ...     "Squares that White's pawns attack."
    ...     return pawns.step(setwise.NOEA) | pawns.step(setwise.NOWE)
    >>> hex(pawn_attacks(0x1000)), pawn_attacks.count()["instructions"]
    ('0x280000', 6)
    """
    if function is None:
        return lambda described: routine(described, isas=isas, grid=grid)
    try:
        return OwnRoutine(function, isas, grid)
    except DescriptionError as error:
        if hasattr(sys.modules.get(function.__module__), LOADED):
            with suppress(DescriptionError):
                return OwnRoutine(refusing(function, error), isas, grid)
        raise
