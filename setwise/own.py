"""The object that `setwise.routine` makes of a function: what the command line does with its routine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from setwise.codegen.describe.routine import Routine
from setwise.codegen.own.definition import Definition
from setwise.codegen.targets import ALL_SETS
from setwise.shown import Table, Text

if TYPE_CHECKING:
    from setwise.codegen.run.function import Function

F = TypeVar("F", bound=Callable[..., Any])


def made(
    routine: Routine, isa: str | None, abi: str | None, lanes: int | None, for_: str, cpu: str | None, checked: bool
) -> Function:
    """Return the function of a routine, as `setwise.kernel` makes it."""
    from setwise.codegen.run.function import function

    variant = ""
    if for_ != "size":
        from setwise.analysis.commands.kernels import fastest

        best = fastest(routine, for_, cpu, isa, abi, lanes)
        isa, variant = best.target.name, best.variant
    plain = function(routine, isa, abi, lanes, variant)
    if not checked:
        return plain
    from setwise.checked import Checked

    return Checked(plain.kernel, plain.recipe)


def _options(arguments: dict[str, Any], **others: Any) -> Namespace:
    """Return the options of a command, from the arguments of a method, by their names; `for_` is --for."""
    options = Namespace(objective=arguments["for_"], variant=None, **others)
    vars(options).update(arguments)
    return options


class Commands(ABC):
    """What the subcommands of `setwise` do, with routines at hand; arguments are the options, by their names.

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
    ) -> Function:
        """The routine as a function on integers, made once: machine code, by default of the best set that runs here.

        `for_`, `cpu` and `checked` are as `setwise.kernel` has them.
        """
        kernels: dict[object, Function] = self.__dict__.setdefault("_kernels", {})
        key = isa, abi, lanes, for_, cpu, checked
        if key not in kernels:
            kernels[key] = made(self.routine, *key)
        return kernels[key]

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
        given = _options(locals(), prefix=None)
        from setwise.analysis.commands.listing import listed

        return Text(listed(self.routine, given))

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
        given = _options(locals())
        from setwise.analysis.commands.code import of_routines
        from setwise.analysis.commands.count import count_row

        (row,) = of_routines((self.routine,), given, count_row)
        return row

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
        given = _options(locals())
        from setwise.analysis.commands.code import of_routines
        from setwise.analysis.commands.cost import costed

        (code,) = of_routines((self.routine,), given, lambda code: costed(code, cpu))
        return Table(code.rows, ("name", "isa", "cpu", "latency", "bound", "limit", "depth", "bytes", "registers"))

    def check(
        self, isa: str | None = None, abi: str | None = None, on: str | None = None, *, quick: bool = False
    ) -> Table:
        """Run it against its specification: a row a kernel, whose `status` is passed, failed or not run.

        By default for all instruction sets and conventions; `on` names a processor that is emulated. Needs NumPy.
        """
        from setwise.analysis.commands.check import check_kernels, check_row
        from setwise.analysis.commands.jobs import jobs_of
        from setwise.codegen.run.bochs import ready

        processor = None if on is None else ready(on)
        judged = check_kernels(jobs_of(self.routines, isa, abi), quick=quick, on=processor)
        rows = [check_row(kernel.key, kernel.outcome) for kernel in judged]
        return Table(rows, ("name", "isa", "lanes", "abi", "cases", "status", "on", "reason"))

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
        from setwise.analysis.commands.prove import jobs_with, proof_row, prove_all

        proofs = prove_all(jobs_with(self.routines, isa, lanes, abi), time_limit=time_limit)
        return Table(map(proof_row, proofs), ("name", "isa", "lanes", "abi", "status", "seconds", "reason"))

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
        given = _options(locals(), variants=False)
        from setwise.analysis.commands.bench import rows_of, timed

        timings, _ = timed(given, self.routines)
        return Table(rows_of(timings), ("name", "isa", "maker", "mode", "unit", "median", "p10"))

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
        given = _options(locals(), names=[routine.name for routine in self.routines])
        from setwise.analysis.commands.export import written

        return written(given, self.routines)


class OneDirection(Commands):
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


class OwnRoutine(Definition, Commands):
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
