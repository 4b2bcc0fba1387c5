"""A routine of one's own: a function whose annotations say what it takes and gives, and what it is held to.

A parameter's kind is its annotation: Board, Occupied, Empty, Square, Dir8, or a Number, which `Annotated` may bound. A
function of a `Ray` describes eight routines, one a direction, those of the sets of directions, and one whose direction
is known at run time. A function of a `Layout` is told how rays lie in registers; without one the lanes of vector
registers are boards. Several results are a NamedTuple.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from setwise.codegen.board import DIR8, DIRECTION_SETS
from setwise.codegen.files import resolved
from setwise.codegen.ir.description import along, at_run_time
from setwise.codegen.ir.kinds import Bound, Kind
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Contract, Description, Parameter, Routine, Written
from setwise.codegen.ir.values import Ray, Value, constant
from setwise.codegen.own.reserved import reserved
from setwise.codegen.own.running import Failure, running
from setwise.codegen.targets import ALL_SETS, PACKED, SCALARS

F = TypeVar("F", bound=Callable[..., Any] | str)


_KINDS = "Board, Occupied, Empty, Square, Dir8 or Number"
_DIR8 = Parameter("dir8", "dir8", below=8)
_RESULTS = Parameter("results", "results")
_MADE = "__setwise_routines__"


class DescriptionError(ValueError):
    """A description that cannot be traced, or says too little; the message is one line that begins with its place."""


class Definition:
    """A function that describes a routine, or one for each direction, with what it is held to.

    Raises DescriptionError for annotations that say too little, and for names that exports could not use.
    """

    def __init__(self, function: Callable[..., Any], isas: Sequence[str] = ALL_SETS) -> None:
        if not inspect.isfunction(function):
            raise TypeError(f"{function!r} is no function: describe a routine with def")
        self.function = function
        self.name = f"{_module_of(function)}:{function.__qualname__}"
        self.__doc__, self.__module__, self.__qualname__ = function.__doc__, function.__module__, function.__qualname__
        self._isas = self._known(isas)
        self._others: list[Callable[..., Any]] = []
        self._held_to: Any = None
        self._requires: list[Written | str] = []
        self._routines: tuple[Routine, ...] = ()
        hints = self._hints()
        names = self._names(function)
        if reserved(function.__name__):
            raise self._error("has a name that C, Go, JavaScript, Rust or Zig cannot use: give another")
        self._of_ray = bool(names) and hints.get(names[0]) is Ray
        self._of_layout = bool(names) and hints.get(names[0]) is Layout
        self.parameters = tuple(self._parameter(name, hints.get(name)) for name in names[self._shaped :])
        self.results = self._results(hints.get("return"))
        if not self.parameters:
            raise self._error(f"takes nothing: give it a parameter and annotate that with {_KINDS}")
        if self._of_ray and len(self.results) > 1:
            raise self._error("is of a Ray and gives several boards: write -> Board, or take a Layout")
        self.__signature__ = self._signature()
        made_in(function.__module__).append(self)

    @property
    def _shaped(self) -> int:
        """How many parameters say what shape the code has, and are none of the routine."""
        return int(self._of_ray or self._of_layout)

    def specification(self, given: F) -> F:
        """Hold the routine to a function of its parameters, written over words: square by square, or any way you like.

        The words have Python's operators modulo 2**64; the function is run on integers, on arrays and on bit-vectors,
        and gives a word, or a tuple of one for each result. A function of a `Ray` has one that takes the direction's
        name first. One that branches on its words can be checked by running, not proved.

        Or give another routine of your own: then this one does what that one's description says, for all inputs. Or
        name one of the catalogue ("sliders.union"): then it does what that one is held to; for a function of a `Ray`
        name a form ("kogge-stone.attacks"), each direction has its own.
        """
        if not (isinstance(given, Definition | str) or callable(given)):
            raise TypeError(f"{self.name} is held to {given!r}: give a function, a routine, or the name of one")
        self._held_to, self._routines = given, ()
        return given

    def requires(self, given: F) -> F:
        """Promise what callers keep to: a predicate, written like a specification, that proofs assume."""
        self._requires.append(given if isinstance(given, str) else Written(self.name, given, len(self._requires) + 1))
        self._routines = ()
        return given

    def description(self, function: F) -> F:
        """Describe the same routine in another way; the one that makes the shortest code is taken."""
        if not inspect.isfunction(function):
            raise TypeError(f"{function!r} is no function: describe a routine with def")
        if len(self._names(function)) != len(self.parameters) + self._shaped:
            raise self._error("describes the routine with other parameters: take those of the first", function=function)
        self._others.append(function)
        self._routines = ()
        return function

    def __reduce__(self) -> str:
        return self.__qualname__

    @property
    def routine(self) -> Routine:
        """The routine; DescriptionError where there is one for each direction."""
        first, *others = self.routines
        if others:
            raise DescriptionError(f"{self.name} is several routines: name one, such as {first.name}")
        return first

    @property
    def routines(self) -> tuple[Routine, ...]:
        """The routine, or all of them."""
        if not self._routines:
            made = self._made(self._held_to)
            self._routines = tuple(routine for routine in made if routine.isas)
            if not self._routines:
                raise self._error(f"comes for none of {', '.join(self._isas)}: add another to isas")
        return self._routines

    def _made(self, held_to: Any) -> Iterator[Routine]:
        """The routine, or all of them, held to this."""
        if self._of_ray:
            yield from self._directed(held_to)
            return
        several = (_RESULTS,) if len(self.results) > 1 else ()
        descriptions = tuple(map(self._described, self._functions))
        sets = PACKED if self._of_layout else self._of_boards
        parameters = (*self.parameters, *several)
        yield self._routine("", parameters, descriptions, sets, held_to, boards=not self._of_layout)

    def _directed(self, held_to: Any) -> Iterator[Routine]:
        sets = {**{d.name: (d,) for d in DIR8}, **DIRECTION_SETS}
        fills = [self._filled(function) for function in self._functions]
        for name, directions in sets.items():
            descriptions = tuple(along(fill, directions) for fill in fills)
            boards = len(directions) == 1
            among = self._of_boards if boards else PACKED
            yield self._routine(name, self.parameters, descriptions, among, held_to, boards=boards)
        parameters = (*self.parameters, _DIR8)
        yield self._routine("any", parameters, tuple(map(at_run_time, fills)), SCALARS, held_to, boards=False)

    def _routine(
        self,
        direction: str,
        parameters: tuple[Parameter, ...],
        descriptions: tuple[Description, ...],
        sets: Sequence[str],
        held_to: Any,
        *,
        boards: bool,
    ) -> Routine:
        bounds = tuple(f"{p.name} below {p.below}" for p in parameters if p.below)
        specification = self._written(held_to, direction)
        contract = Contract(parameters, specification, direction, self.results, (*bounds, *self._requires))
        summary = (inspect.getdoc(self.function) or self.function.__name__).splitlines()[0].rstrip(".")
        where = f", {direction}" if direction else ""
        source = self.name.rpartition(":")[0]
        isas = tuple(isa for isa in self._isas if isa in sets)
        return Routine(self.name, "", direction, contract, descriptions, source, summary + where, isas, boards=boards)

    def _written(self, held_to: Any, direction: str) -> Written | str:
        """What the routine of a direction is held to; another's routine stands there without what it is held to."""
        name = ".".join(filter(None, (self.name, direction)))
        if isinstance(held_to, Definition):
            others = {routine.direction: routine for routine in held_to._made(None)}
            other = others.get(direction) or next(iter(others.values()))
            if other.direction not in ("", direction):
                raise self._error(f"is held to {held_to.name}, which is several routines: take a Ray here, too")
            return Written(name, other)
        if isinstance(held_to, str):
            return Written(name, ".".join(filter(None, (held_to, direction))))
        return Written(name, held_to) if held_to else ""

    @property
    def _of_boards(self) -> tuple[str, ...]:
        """The instruction sets of code whose lanes are boards: no vectors beside a number for all lanes."""
        return SCALARS if any(parameter.scalar for parameter in self.parameters) else ALL_SETS

    @property
    def _functions(self) -> tuple[Callable[..., Any], ...]:
        return (self.function, *self._others)

    def _described(self, function: Callable[..., Any]) -> Description:
        def describe(layout: Layout, *values: Value) -> tuple[Value, ...]:
            given = values[: len(self.parameters)]
            returned = self._called(function, (layout, *given) if self._of_layout else given)
            results = returned if isinstance(returned, tuple) else (returned,)
            if len(results) != len(self.results):
                raise self._error(
                    f"gives {len(results)} results, its annotation says {len(self.results)}", function=function
                )
            return tuple(_of_lanes(self._value(result, layout, function), layout) for result in results)

        return describe

    def _filled(self, function: Callable[..., Any]) -> Callable[..., Value]:
        def fill(ray: Ray, *values: Value) -> Value:
            return self._value(self._called(function, (ray, *values)), Layout(), function)

        return fill

    def _called(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        def refused(failure: Failure) -> DescriptionError:
            said = failure.text if isinstance(failure.error, TypeError | ValueError) else str(failure)
            if isinstance(failure.error, RecursionError):
                said = "calls itself without end: give it a case that ends"
            if isinstance(failure.error, TypeError | AttributeError) and "'Value'" in said:
                said += ": a board has the operators & | ^ ~ + - * << >> and its methods, such as step"
            return self._error(said, failure.line, function)

        with running(function.__code__.co_filename, refused, DescriptionError):
            return function(*arguments)

    def _value(self, result: Any, layout: Layout, function: Callable[..., Any]) -> Value:
        if isinstance(result, int) and not isinstance(result, bool):
            return constant(result, layout.lanes if layout.boards else 1)
        if not isinstance(result, Value):
            given = "nothing" if result is None else type(result).__name__
            raise self._error(f"gives {given} where a board is wanted: return what the steps made", function=function)
        return result

    def _hints(self) -> dict[str, Any]:
        def refused(failure: Failure) -> DescriptionError:
            return self._error(f"an annotation means nothing ({failure.text or failure.kind}): write {_KINDS}")

        with running(self.function.__code__.co_filename, refused):
            return typing.get_type_hints(self.function, include_extras=True)

    def _known(self, isas: Sequence[str]) -> tuple[str, ...]:
        """The instruction sets, in the order of their age."""
        unknown = [isa for isa in isas if isa not in ALL_SETS]
        if isinstance(isas, str) or unknown or not isas:
            raise self._error(f'isas={isas!r}: give some of {", ".join(ALL_SETS)}, such as isas=["avx2"]')
        return tuple(isa for isa in ALL_SETS if isa in isas)

    def _names(self, function: Callable[..., Any]) -> list[str]:
        """The names of a description's parameters, which all are plain ones."""
        error = partial(self._error, function=function)
        if not function.__name__.isidentifier() or not function.__name__.isascii():
            raise error("has no name that listings and exports can use: write def and an ASCII name")
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise error("gives no board but an iterator or a coroutine: write return")
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
                raise error(f"'{parameter}' is no plain parameter: code takes each by its place")
            if parameter.default is not parameter.empty:
                raise error(f"parameter '{parameter.name}' has a default: code takes all of them")
        return [*inspect.signature(function).parameters]

    def _parameter(self, name: str, hint: Any) -> Parameter:
        kind, bound = _kind_of(hint)
        if kind is None:
            raise self._error(f"parameter '{name}' has no kind: annotate it with {_KINDS}")
        if reserved(name) or not name.isascii() or name == self.function.__name__:
            raise self._error(
                f"parameter '{name}' has a name that C, Go, JavaScript, Rust or Zig cannot use: give another"
            )
        if bound is not None and not (isinstance(bound, int) and 0 < bound <= (kind.below or 1 << 63)):
            raise self._error(f"parameter '{name}' is below {bound}: give a bound from 1 to {kind.below or '2**63'}")
        return Parameter(name, kind.kind, bound or kind.below)

    def _results(self, hint: Any) -> tuple[str, ...]:
        if _kind_of(hint)[0] is not None:
            return (self.function.__name__,)
        fields = getattr(hint, "_fields", None)
        if isinstance(fields, tuple) and fields and all(name.isascii() for name in fields):
            return fields
        raise self._error("says not what it gives: write -> Board, or a NamedTuple of boards for several results")

    def _signature(self) -> inspect.Signature:
        """How it is called: with integers."""
        taken = [inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_ONLY, annotation=int) for p in self.parameters]
        return inspect.Signature(taken, return_annotation=int if len(self.results) == 1 else tuple[int, ...])

    def _error(self, what: str, line: int = 0, function: Callable[..., Any] | None = None) -> DescriptionError:
        """The error of that line of the user's file, or of the function's first one."""
        code = (function or self.function).__code__
        file = _shortest(code.co_filename)
        return DescriptionError(f"{file}:{line or code.co_firstlineno}: {code.co_name}: {what}")


def made_in(module: str) -> list[Definition]:
    """Return the routines that a module has made since it began to run, in their order; what a name leads to."""
    names: dict[str, Any] = getattr(sys.modules.get(module), "__dict__", {})
    made: list[Definition]
    run, made = names.get(_MADE, (None, []))
    if run is not names.get("__spec__"):  # loaded again, in the same namespace
        made = []
    names[_MADE] = names.get("__spec__"), made
    return made


def _of_lanes(value: Value, layout: Layout) -> Value:
    """A result for every lane, where lanes are boards and it follows from numbers alone."""
    alone = layout.boards and value.lanes == 1 < layout.lanes
    return Value("broadcast", (value,), lanes=layout.lanes) if alone else value


def _kind_of(hint: Any) -> tuple[Kind | None, int | None]:
    """The kind that an annotation names, and the bound behind it, if there is one."""
    marks = getattr(hint, "__metadata__", ())
    kinds = [mark for mark in marks if isinstance(mark, Kind)]
    bounds = [mark.below for mark in marks if isinstance(mark, Bound)]
    return (kinds[0] if kinds else None), (bounds[-1] if bounds else None)


def _module_of(function: Callable[..., Any]) -> str:
    """The name by which a function's module is found again: of a program that runs, its file."""
    main = sys.modules.get("__main__")
    if function.__module__ == "__main__" and getattr(main, "__file__", None):
        return _shortest(str(main.__file__))  # type: ignore[union-attr]
    return function.__module__


def _shortest(file: str) -> str:
    """A file's path as it is found from here."""
    here = resolved(".")
    path = here / file
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
