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
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any, TypeVar

from setwise.codegen.board import DIR8, DIRECTION_SETS
from setwise.codegen.describe.description import along, at_run_time
from setwise.codegen.describe.kinds import Bound, Kind
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Contract, Description, Parameter, Routine, Written
from setwise.codegen.describe.values import Ray, Value, constant
from setwise.codegen.targets import ALL_SETS, PACKED, SCALARS

F = TypeVar("F", bound=Callable[..., Any])


_KINDS = "Board, Occupied, Empty, Square, Dir8 or Number"
_DIR8 = Parameter("dir8", "dir8", below=8)
_RESULTS = Parameter("results", "results")


class DescriptionError(ValueError):
    """A description that cannot be traced, or says too little; the message is one line that begins with its place."""


class Definition:
    """A function that describes a routine, or one for each direction, with what it is held to.

    Raises DescriptionError for annotations that say too little.
    """

    def __init__(self, function: Callable[..., Any], isas: Sequence[str] = ALL_SETS) -> None:
        self.function = function
        self.name = f"{_module_of(function)}:{function.__qualname__}"
        self.__doc__, self.__module__, self.__qualname__ = function.__doc__, function.__module__, function.__qualname__
        self._isas = tuple(isas)
        self._others: list[Callable[..., Any]] = []
        self._specification: Written | str = ""
        self._requires: list[Written | str] = []
        hints = self._hints()
        names = [*inspect.signature(function).parameters]
        self._of_ray = bool(names) and hints.get(names[0]) is Ray
        self._of_layout = bool(names) and hints.get(names[0]) is Layout
        self.parameters = tuple(self._parameter(name, hints.get(name)) for name in names[self._shaped :])
        self.results = self._results(hints.get("return"))
        self.__signature__ = self._signature()

    @property
    def _shaped(self) -> int:
        """How many parameters say what shape the code has, and are none of the routine."""
        return int(self._of_ray or self._of_layout)

    def specification(self, given: F) -> F:
        """Hold the routine to a function of its parameters, written over words: square by square, or any way you like.

        The words have Python's operators modulo 2**64; the function is run on integers, on arrays and on bit-vectors,
        and gives a word, or a tuple of one for each result. A function of a `Ray` has one that takes the direction's
        name first. One that branches on its words can be checked by running, not proved. Or give another routine: then
        both are the same for all inputs.
        """
        self._specification = Written(self.name, given.routine if isinstance(given, Definition) else given)
        return given

    def requires(self, given: F) -> F:
        """Promise what callers keep to: a predicate, written like a specification, that proofs assume."""
        self._requires.append(given if isinstance(given, str) else Written(self.name, given, len(self._requires) + 1))
        return given

    def description(self, function: F) -> F:
        """Describe the same routine in another way; the one that makes the shortest code is taken."""
        self._others.append(function)
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
        return tuple(self._directed() if self._of_ray else (self._whole(),))

    def _whole(self) -> Routine:
        several = (_RESULTS,) if len(self.results) > 1 else ()
        descriptions = tuple(map(self._described, self._functions))
        sets = PACKED if self._of_layout else ALL_SETS
        return self._routine("", (*self.parameters, *several), descriptions, sets, boards=not self._of_layout)

    def _directed(self) -> Iterator[Routine]:
        sets = {**{d.name: (d,) for d in DIR8}, **DIRECTION_SETS}
        fills = [self._filled(function) for function in self._functions]
        for name, directions in sets.items():
            descriptions = tuple(along(fill, directions) for fill in fills)
            boards = len(directions) == 1
            yield self._routine(name, self.parameters, descriptions, ALL_SETS if boards else PACKED, boards=boards)
        yield self._routine("any", (*self.parameters, _DIR8), tuple(map(at_run_time, fills)), SCALARS, boards=False)

    def _routine(
        self,
        direction: str,
        parameters: tuple[Parameter, ...],
        descriptions: tuple[Description, ...],
        sets: Sequence[str],
        *,
        boards: bool,
    ) -> Routine:
        bounds = tuple(f"{p.name} below {p.below}" for p in parameters if p.below)
        contract = Contract(parameters, self._specification, direction, self.results, (*bounds, *self._requires))
        summary = (inspect.getdoc(self.function) or self.function.__name__).splitlines()[0].rstrip(".")
        where = f", {direction}" if direction else ""
        source = self.name.partition(":")[0]
        isas = tuple(isa for isa in self._isas if isa in sets)
        return Routine(self.name, "", direction, contract, descriptions, source, summary + where, isas, boards=boards)

    @property
    def _functions(self) -> tuple[Callable[..., Any], ...]:
        return (self.function, *self._others)

    def _described(self, function: Callable[..., Any]) -> Description:
        def describe(layout: Layout, *values: Value) -> tuple[Value, ...]:
            given = values[: len(self.parameters)]
            returned = self._called(function, (layout, *given) if self._of_layout else given)
            results = returned if isinstance(returned, tuple) else (returned,)
            if len(results) != len(self.results):
                raise self._error(f"gives {len(results)} results, its annotation says {len(self.results)}")
            return tuple(self._value(result, layout) for result in results)

        return describe

    def _filled(self, function: Callable[..., Any]) -> Callable[..., Value]:
        def fill(ray: Ray, *values: Value) -> Value:
            return self._value(self._called(function, (ray, *values)), Layout())

        return fill

    def _called(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            return function(*arguments)
        except RecursionError as error:
            raise self._error("calls itself without end: give it a case that ends", error.__traceback__) from None
        except Exception as error:
            told = str(error) if isinstance(error, TypeError | ValueError) else f"{type(error).__name__}: {error}"
            raise self._error(told, error.__traceback__) from error

    def _value(self, result: Any, layout: Layout) -> Value:
        if isinstance(result, int) and not isinstance(result, bool):
            return constant(result, layout.lanes if layout.boards else 1)
        if not isinstance(result, Value):
            raise self._error(f"gives {type(result).__name__} where a board is wanted: return what the steps made")
        return result

    def _hints(self) -> dict[str, Any]:
        try:
            return typing.get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError, SyntaxError) as error:
            raise self._error(f"an annotation means nothing ({error}): write {_KINDS}") from None

    def _parameter(self, name: str, hint: Any) -> Parameter:
        kind, bound = _kind_of(hint)
        if kind is None:
            raise self._error(f"parameter '{name}' has no kind: annotate it with {_KINDS}")
        return Parameter(name, kind.kind, bound or kind.below)

    def _results(self, hint: Any) -> tuple[str, ...]:
        if _kind_of(hint)[0] is not None:
            return (self.function.__name__,)
        fields = getattr(hint, "_fields", None)
        if isinstance(fields, tuple) and fields:
            return fields
        raise self._error("says not what it gives: write -> Board, or a NamedTuple of boards for several results")

    def _signature(self) -> inspect.Signature:
        """How it is called: with integers."""
        taken = [inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_ONLY, annotation=int) for p in self.parameters]
        return inspect.Signature(taken, return_annotation=int if len(self.results) == 1 else tuple[int, ...])

    def _error(self, what: str, traceback: TracebackType | None = None) -> DescriptionError:
        """The error of that line of the user's file that is nearest to where it happened."""
        code = self.function.__code__
        lines = [line for frame, line in walk_tb(traceback) if frame.f_code.co_filename == code.co_filename]
        place = f"{self.name.partition(':')[0]}:{lines[-1] if lines else code.co_firstlineno}"
        return DescriptionError(f"{place}: {self.function.__name__}: {what}")


def _kind_of(hint: Any) -> tuple[Kind | None, int]:
    """The kind that an annotation names, and the bound behind it."""
    marks = getattr(hint, "__metadata__", ())
    kinds = [mark for mark in marks if isinstance(mark, Kind)]
    bounds = [mark.below for mark in marks if isinstance(mark, Bound)]
    return (kinds[0] if kinds else None), (bounds[-1] if bounds else 0)


def _module_of(function: Callable[..., Any]) -> str:
    """The name by which a function's module is found again: of a program that runs, its file."""
    main = sys.modules.get("__main__")
    if function.__module__ == "__main__" and getattr(main, "__file__", None):
        return Path(str(main.__file__)).name  # type: ignore[union-attr]
    return function.__module__
