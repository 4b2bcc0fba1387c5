"""The object that `setwise.routine` makes of a function: what the command line does with its routine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, overload

from setwise.analysis import api
from setwise.analysis.parallel import unrefused
from setwise.codegen.ir.routine import Routine
from setwise.codegen.own.definition import Definition
from setwise.codegen.request import Request
from setwise.codegen.run.function import function_of
from setwise.codegen.targets import ALL_SETS, TARGETS
from setwise.kernels import CheckedFunction, KernelFunction, checked, costed, counted, proved, timed
from setwise.shown import Table, Text

F = TypeVar("F", bound=Callable[..., Any])


def made(
    routine: Routine, isa: str | None, abi: str | None, lanes: int | None, for_: str, cpu: str | None, checked: bool
) -> KernelFunction:
    """Return the function of a routine, as `setwise.kernel` makes it."""
    variant = ""
    if for_ != "size":
        from setwise.analysis.bench.choice import fastest

        best = fastest(routine, for_, cpu, isa, abi, lanes)
        isa, variant = best.isa, best.variant
    return function_of(CheckedFunction if checked else KernelFunction, routine, isa, abi, lanes, variant)


class Methods(ABC):
    """The methods of routines; arguments are the options of the command line, by their names.

    `listing`, `count`, `cost`, `kernel` and a call are of one routine: of several, one for each direction, take one
    first, as in fill["nort"]. The others are of all of them. `for_` is --for. Refusals are ValueError in one line.
    """

    @property
    @abstractmethod
    def routines(self) -> tuple[Routine, ...]:
        """All routines that are meant."""

    @property
    @abstractmethod
    def routine(self) -> Routine:
        """The routine; ValueError where there is one for each direction."""

    def kernel(
        self,
        isa: str | None = None,
        abi: str | None = None,
        lanes: int | None = None,
        *,
        for_: str = "size",
        cpu: str | None = None,
        checked: bool = False,
    ) -> KernelFunction:
        """The routine as a function on integers, made once: machine code, by default of the best set that runs here.

        `for_`, `cpu` and `checked` are as `setwise.kernel` has them.
        """
        kernels: dict[object, KernelFunction] = self.__dict__.setdefault("_kernels", {})
        key = isa, abi, lanes, for_, cpu, checked
        if key not in kernels:
            kernels[key] = made(self.routine, *key)
        return kernels[key]

    def _request(self, isa: str, abi: str, lanes: int | None, for_: str, cpu: str | None) -> Request:
        return api.request(self.routine, isa, abi, lanes, for_=for_, cpu=cpu)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code on integers, NumPy arrays or sequences of integers, as `setwise.Function` says."""
        return self.kernel()(*arguments, **named)

    def listing(
        self,
        isa: str = "x86-64",
        lanes: int | None = None,
        abi: str = "sysv",
        syntax: str = "nasm",
        *,
        endbr64: bool = False,
        for_: str = "size",
        cpu: str | None = None,
    ) -> Text:
        """The assembly source, as text: for nasm, gas, att, masm or go."""
        return Text(api.listing(self._request(isa, abi, lanes, for_, cpu), syntax, endbr64=endbr64))

    def count(
        self,
        isa: str = "x86-64",
        lanes: int | None = None,
        abi: str = "sysv",
        *,
        for_: str = "size",
        cpu: str | None = None,
    ) -> dict[str, Any]:
        """The instructions by class: a mapping with `instructions`, `moves`, `operations`, `bytes` and more."""
        return counted(self._request(isa, abi, lanes, for_, cpu))

    def cost(
        self,
        isa: str = "x86-64",
        lanes: int | None = None,
        abi: str = "sysv",
        cpu: str | None = None,
        *,
        for_: str = "size",
    ) -> Table:
        """Lower bounds on its cycles: a row a processor, `latency` and `bound` among its keys."""
        return costed(self._request(isa, abi, lanes, for_, cpu), cpu)

    def check(
        self, isa: str | None = None, abi: str | None = None, on: str | None = None, *, quick: bool = False
    ) -> Table:
        """Run it against its specification: a row a kernel, whose `status` is passed, failed or not run.

        By default for all instruction sets and conventions; `on` names a processor that is emulated. Needs NumPy.
        """
        return checked(api.requests(self.routines, isa, abi), on, quick)

    def prove(
        self,
        isa: str | None = None,
        lanes: int | None = None,
        abi: str | None = None,
        time_limit: float = 60.0,
    ) -> Table:
        """Prove its bytes right for all inputs: a row a kernel, whose `status` is proved, refuted or not proved.

        By default for all instruction sets and conventions. A refuted one has a `counterexample`. Needs bitwuzla.
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
        *,
        for_: str = "size",
        cpu: str | None = None,
    ) -> Table:
        """Time it on this processor, in core cycles: a row a kernel and way of calling, `median` among its keys."""
        choose = partial(api.request, abi=abi, lanes=lanes, for_=for_, cpu=cpu)
        asked = [
            (routine, own)
            for routine in self.routines
            for own in ((isa,) if isa else routine.isas)
            if isa or lanes in (None, *TARGETS[own].widths)
        ]
        return timed(list(unrefused(lambda each: choose(*each), asked)), mode, beside, boards, patience)

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
        for_: str = "size",
        cpu: str | None = None,
    ) -> str:
        """Write listings, objects or source, proved, into a folder, and say in a line what was written.

        `isa` may name several instruction sets, with commas between; `format` is one of nasm, gas, att, masm, go, elf,
        coff, macho, lib, c, rust and zig.
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
    """The routine of one direction, or of a set of them, of a function of a `Ray`."""

    def __init__(self, routine: Routine) -> None:
        self._routine = routine

    @property
    def routines(self) -> tuple[Routine, ...]:
        """That one."""
        return (self._routine,)

    @property
    def routine(self) -> Routine:
        """The routine."""
        return self._routine

    def __repr__(self) -> str:
        return f"<setwise routine {self._routine.name}>"


class OwnRoutine(Definition, Methods):
    """A routine of one's own: called, it runs its machine code; its methods are the subcommands of `setwise`.

    One that is made of a function of a `Ray` is several: fill["nort"] is that of a direction (noEa east soEa sout soWe
    west noWe nort), of a set of them (vertical eastward westward rook bishop queen), or any, known when the code runs.
    """

    def __getitem__(self, direction: str) -> OneDirection:
        """The routine of a direction."""
        if not isinstance(direction, str):
            raise TypeError(f"{self.name} takes the name of a direction in brackets, such as nort")
        for routine in self.routines:
            if routine.direction and routine.direction.lower() == direction.lower():
                return OneDirection(routine)
        names = ", ".join(routine.direction for routine in self.routines if routine.direction)
        raise KeyError(f"{self.name} has no direction '{direction}': {names or 'it is no function of a Ray'}")

    def __iter__(self) -> Iterator[OneDirection]:
        """The routine, or that of each direction."""
        return map(OneDirection, self.routines)

    def __repr__(self) -> str:
        takes = ", ".join(parameter.name for parameter in self.parameters)
        return f"<setwise routine {self.name}({takes})>"


@overload
def routine(function: Callable[..., Any], /) -> OwnRoutine: ...
@overload
def routine(*, isas: Sequence[str] = ...) -> Callable[[Callable[..., Any]], OwnRoutine]: ...
def routine(
    function: Callable[..., Any] | None = None, /, *, isas: Sequence[str] = ALL_SETS
) -> OwnRoutine | Callable[[Callable[..., Any]], OwnRoutine]:
    """Make a routine of a function: its annotations say what it takes and gives, its first line what it computes.

    `isas` are the instruction sets that it comes for, by default all that have what it needs. Raises
    setwise.DescriptionError, one line with its place in the file, for annotations that say too little.

    >>> import setwise
    >>> @setwise.routine
    ... def pawn_attacks(pawns: setwise.Board) -> setwise.Board:
    ...     "Squares that White's pawns attack."
    ...     return pawns.step(setwise.NOEA) | pawns.step(setwise.NOWE)
    >>> hex(pawn_attacks(0x1000)), pawn_attacks.count()["instructions"]
    ('0x280000', 6)
    """
    if function is None:
        return lambda described: OwnRoutine(described, isas)
    return OwnRoutine(function, isas)
