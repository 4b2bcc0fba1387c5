"""Definitions: a user's functions as routines, with kinds from annotations, specifications and requirements.

A parameter's annotation is its kind: Board, Occupied, Empty, Square, Dir8, or Number, which `Annotated` may bound. A
function of a `Ray` defines eight routines, one per direction, further ones for the sets of directions, and one without
vectors for a direction known at run time. A function of a `Layout` takes its rays from it. In vectors, lanes hold
directions for a function of a `Layout` and for sets of directions, else boards. Several results are a NamedTuple.
"""

import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce, wraps
from operator import and_
from typing import Any, Literal, TypeVar

from setwise.codegen.board import DIR8, DIRECTION_SETS
from setwise.codegen.files import shortest
from setwise.codegen.ir.description import along, at_run_time, plain
from setwise.codegen.ir.graph import postorder
from setwise.codegen.ir.grid import Grid
from setwise.codegen.ir.kinds import Board, Bound, Kind
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Contract, Description, Parameter, Routine, Written, free_name
from setwise.codegen.ir.values import NO_INDEX, Ray, Value, constant, reshaped
from setwise.codegen.numbering import LITTLE_ENDIAN
from setwise.codegen.own.calls import traced, tracing
from setwise.codegen.own.running import Failure, first_line, last_return, running
from setwise.codegen.targets import ALL_SETS, PACKED, SCALARS
from setwise.codegen.targets.table import Refused

F = TypeVar("F", bound=Callable[..., Any] | str)


_KINDS = "Board, Occupied, Empty, Square, Dir8 or Number"
_OURS = re.compile("_|setwise", re.IGNORECASE)
"""The beginning of names in exports that are not the user's."""
_MADE = "__setwise_routines__"


class DescriptionError(Refused):
    """An error in a description that is invalid or cannot be traced, or several routines where one is required.

    The message is one line. For an error in a description it begins with the file and line.
    """


class Definition:
    """A user's function as the description of one routine, or of several if it is a function of a `Ray`.

    Raise TypeError unless it is a function, and DescriptionError for missing or invalid annotations or parameters, for
    names that an export language cannot use, and for unknown instruction sets or none.
    """

    def __init__(self, function: Callable[..., Any], isas: Sequence[str] = ALL_SETS, grid: Grid | None = None) -> None:
        if not inspect.isfunction(function):
            raise TypeError(f"{function!r} is not a function: define a routine with def, without other decorators")
        self.function = function
        self.name = f"{_module_of(function)}:{function.__qualname__}"
        self.__doc__, self.__module__, self.__qualname__ = function.__doc__, function.__module__, function.__qualname__
        self._isas = self._known(isas)
        self._functions = [function]
        self._held_to: Any = None
        self._held_at = ""
        self._requires: list[Written | str] = []
        self._routines: tuple[Routine, ...] = ()
        hints = self._hints(function)
        names = self._names(function)
        if _OURS.match(function.__name__):
            raise self._error("this name begins as names of exports do, with _ or setwise: choose another")
        self._of_ray = bool(names) and hints.get(names[0]) is Ray
        self._of_layout = bool(names) and hints.get(names[0]) is Layout
        self._shaped = int(self._of_ray or self._of_layout)  # the first parameters that the routine does not have
        self.parameters = tuple(self._parameter(name, hints.get(name)) for name in names[self._shaped :])
        returned = self._results(hints.get("return"))
        self.results = tuple(returned)
        kinds = {name: _kind_of(hint)[0] for name, hint in returned.items()}
        self._counts = tuple(name for name, kind in kinds.items() if kind and kind.kind in ("square", "dir8", "number"))
        self._several: Any = None if len(self.results) == 1 else hints["return"]
        if not self.parameters:
            raise self._error(f"a routine needs a parameter: add one, annotated with {_KINDS}")
        if self._of_ray and len(self.results) > 1:
            raise self._error("a function of a Ray returns one board: write -> Board, or take a Layout")
        taken = [inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_ONLY, annotation=int) for p in self.parameters]
        gives = int if len(self.results) == 1 else tuple[int, ...]
        self.__signature__ = inspect.Signature(taken, return_annotation=gives)  # that of calls with integers
        if not isinstance(grid, Grid | None):
            raise self._error(f"grid={grid!r} is not a grid: give a setwise.Grid")
        self._grid = grid
        if grid:
            self.requires(_within(grid, self.parameters))
        made_in(function.__module__).append(self)

    def specification(self, given: F) -> F:
        """Set the specification of the routine: a function, another routine, or the name of a routine.

        A function takes the routine's parameters as words, with Python's operators modulo 2**64. It returns a word, or
        a tuple of one word per result. It is run on integers, arrays and bit-vectors. If the routine is a function of a
        `Ray`, the specification's first argument is the name of one direction; a set unites its results. A function
        that branches on its words can be checked by running, but not proved.

        Another routine of your own means: both compute the same for all inputs. A name from the catalogue
        ("sliders.union") means the specification of that routine. If the routine is a function of a `Ray`, the name is
        a form ("kogge-stone.attacks"), and each direction uses its own specification. Return the argument.
        """
        if not (isinstance(given, Definition | str) or callable(given)):
            raise TypeError(
                f"{given!r} is not a specification of {self.name}: give a function, a routine, or the name of one"
            )
        self._held_to, self._routines, self._held_at = given, (), _place_of(given)
        return given

    def requires(self, given: F) -> F:
        """Add a requirement on the inputs, as text or as a predicate written like a specification, and return it."""
        number, place = len(self._requires) + 1, _place_of(given)
        self._requires.append(given if isinstance(given, str) else Written(self.name, given, number, place))
        self._routines = ()
        return given

    def description(self, function: F) -> F:
        """Add an equivalent description of the routine, and return it. The one with the shortest code is used."""
        if not inspect.isfunction(function):
            raise TypeError(f"{function!r} is not a description: give a function made by def, without @routine")
        if len(self._names(function)) != len(self.parameters) + self._shaped:
            raise self._error(
                "this description takes another number of parameters than the first: take the same", function=function
            )
        self._functions.append(function)
        self._routines = ()
        return function

    def __reduce__(self) -> str:
        return self.__qualname__

    @property
    def routines(self) -> tuple[Routine, ...]:
        """The routines with an instruction set: one, or one for each direction, each set, and a run-time direction."""
        if not self._routines:
            made = self._made(self._held_to)
            self._routines = tuple(routine for routine in made if routine.isas)
            if not self._routines:
                raise self._error(f"not available for {', '.join(self._isas)}: add x86-64 to isas")
        return self._routines

    def _traced(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Trace the first description in place, as a call in another description does, and return its results.

        That of a function of a `Ray` takes the ray first. Raise TypeError or ValueError as `calls.traced` does.
        """
        routine = next(self._made(None))
        if self._of_ray:
            if not arguments or not isinstance(arguments[0], Ray):
                raise TypeError(f"{self.name} takes a ray first, such as ray(EAST), or a direction in brackets")
            describe = plain(partial(self._filled(self._functions[0]), arguments[0]))
            routine = self._routine("", self.parameters, (describe,), None)
        results = traced(routine, arguments[self._of_ray :], named)
        return results[0] if self._several is None else self._several(*results)

    def _made(self, held_to: Any) -> Iterator[Routine]:
        """Yield all routines, with `held_to` as their specification."""
        if self._of_ray:
            yield from self._directed(held_to)
            return
        parameters = self._and("results") if len(self.results) > 1 else self.parameters
        descriptions = tuple(map(self._described, self._functions))
        yield self._routine("", parameters, descriptions, held_to, PACKED if self._of_layout else None)

    def _directed(self, held_to: Any) -> Iterator[Routine]:
        sets = {**{d.name: (d,) for d in DIR8}, **DIRECTION_SETS}
        fills = [self._filled(function) for function in self._functions]
        for name, directions in sets.items():
            descriptions = tuple(along(fill, directions, self._grid) for fill in fills)
            yield self._routine(name, self.parameters, descriptions, held_to, PACKED if directions[1:] else None)
        if not self._grid:
            yield self._routine("any", self._and("dir8", 8), tuple(map(at_run_time, fills)), held_to, SCALARS)

    def _and(self, kind: Literal["results", "dir8"], below: int = 0) -> tuple[Parameter, ...]:
        """Return the parameters and one more, which has the name of its kind unless another has it."""
        return (*self.parameters, Parameter(free_name(kind, [p.name for p in self.parameters]), kind, below))

    def _routine(
        self,
        direction: str,
        parameters: tuple[Parameter, ...],
        descriptions: tuple[Description, ...],
        held_to: Any,
        sets: Sequence[str] | None = None,
    ) -> Routine:
        """Return the routine of a direction for the `sets` of instructions; None if its lanes hold boards."""
        bounds = tuple(f"{p.name} below {p.below}" for p in parameters if p.below)
        specification = self._written(held_to, direction)
        numbering, requires = self._grid or LITTLE_ENDIAN, (*bounds, *self._requires)
        contract = Contract(parameters, specification, direction, self.results, requires, (), numbering, self._counts)
        summary = (inspect.getdoc(self.function) or self.function.__name__).splitlines()[0].rstrip(".")
        where = f", {direction}" if direction else ""
        source = self.name.rpartition(":")[0]
        isas = tuple(isa for isa in self._isas if isa in (self._of_boards if sets is None else sets))
        inside = tuple(partial(self._within, describe) for describe in descriptions)
        return Routine(self.name, "", direction, contract, inside, source, summary + where, isas, batched=sets is None)

    def _within(self, describe: Description, layout: Layout, *values: Value) -> tuple[Value, ...]:
        with tracing(self, self.name, layout):
            return describe(layout, *values)

    def _written(self, held_to: Any, direction: str) -> Written | str:
        """Return the specification `held_to` for the routine of a direction, "" for none.

        Another definition becomes its routine of the same direction, or its only one, without its own specification.
        """
        name = ".".join(filter(None, (self.name, direction)))
        if isinstance(held_to, Definition):
            others = {routine.direction: routine for routine in held_to._made(None)}
            other = others.get(direction) or next(iter(others.values()))
            if other.direction not in ("", direction):
                raise self._error(f"the specification {held_to.name} has several directions: take a Ray here, too")
            return Written(name, other, place=self._held_at)
        if isinstance(held_to, str):
            return Written(name, ".".join(filter(None, (held_to, direction))), place=self._held_at)
        return Written(name, held_to, place=self._held_at) if held_to else ""

    @property
    def _of_boards(self) -> tuple[str, ...]:
        """The instruction sets for routines whose lanes hold boards: none with vectors if a parameter is scalar."""
        return SCALARS if any(parameter.scalar for parameter in self.parameters) else ALL_SETS

    def _described(self, function: Callable[..., Any]) -> Description:
        def describe(layout: Layout, *values: Value) -> tuple[Value, ...]:
            given = values[: len(self.parameters)]
            returned = self._values(function, (layout, *given) if self._of_layout else given)
            wide = layout.lanes if layout.batched else 1  # a result of constants has one lane
            values = tuple(reshaped("broadcast", each, wide) if 1 == each.lanes < wide else each for each in returned)
            if self._grid and any(value.op in ("step", "run", "path") for value in postorder(values)):
                raise self._error(
                    "steps and rays of the chess board: write grid.step(board, EAST) and grid.ray(EAST)",
                    function=function,
                )
            return values

        return describe

    def _filled(self, function: Callable[..., Any]) -> Callable[..., Value]:
        def fill(ray: Ray, *values: Value) -> Value:
            (result,) = self._values(function, (ray, *values))
            return result

        return fill

    def _values(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Value, ...]:
        """Return the results of a description. An error in one of them has the line of its `return`."""
        returned = self._called(function, arguments)
        results = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
        try:
            if len(results) != len(self.results):
                raise ValueError(f"returns {len(results)} results, but is annotated with {len(self.results)}")
            return tuple(map(self._value, results))
        except ValueError as error:
            line = last_return(function.__code__, partial(function, *arguments))
            raise self._error(str(error), line, function) from None

    def _called(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        def refused(failure: Failure) -> DescriptionError:
            error = failure.error
            said = failure.text if isinstance(error, TypeError | ValueError) else str(failure)
            if isinstance(error, RecursionError):
                said = "infinite recursion: add a case that ends it"
            if isinstance(error, IndexError) and "valid indices" in said:  # NumPy's, of an index without a number
                said = NO_INDEX
            if isinstance(error, TypeError | AttributeError) and "'Value'" in said:
                said += ": a board has the operators & | ^ ~ + - * << >> and its methods, such as step"
            elif isinstance(error, AttributeError) and hasattr(Value, str(error.name)):
                said = f"a board is needed here, not {type(error.obj).__name__}: for a number n write constant(n)"
            return self._error(said, failure.line, function)

        with running(function.__code__.co_filename, refused, DescriptionError):
            return function(*arguments)

    def _value(self, result: Any) -> Value:
        if isinstance(result, int) and not isinstance(result, bool):
            return constant(result)
        if not isinstance(result, Value):
            given = "nothing" if result is None else type(result).__name__
            wanted = "a board" if len(self.results) == 1 else "a tuple of boards"
            raise ValueError(f"returns {given} instead of a board: return {wanted}")
        return result

    def _hints(self, annotated: Any) -> dict[str, Any]:
        def refused(failure: Failure) -> DescriptionError:
            return self._error(f"invalid annotation ({failure.text or failure.kind}): write {_KINDS}")

        with running(self.function.__code__.co_filename, refused):
            return typing.get_type_hints(annotated, include_extras=True)

    def _known(self, isas: Sequence[str]) -> tuple[str, ...]:
        """Return these instruction sets, oldest first. Raise DescriptionError if one is unknown, or for none."""
        unknown = [isa for isa in isas if isa not in ALL_SETS]
        if isinstance(isas, str) or unknown or not isas:
            raise self._error(f'isas={isas!r}: list some of {", ".join(ALL_SETS)}, such as isas=["avx2"]')
        return tuple(isa for isa in ALL_SETS if isa in isas)

    def _names(self, function: Callable[..., Any]) -> list[str]:
        """Return a description's parameter names. Raise DescriptionError if it cannot be one."""
        error = partial(self._error, function=function)
        if not function.__name__.isidentifier() or not function.__name__.isascii():
            raise error("listings and exports cannot use this name: write def and an ASCII name")
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise error("a generator or coroutine returns no board: use def with return")
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
                raise error(f"parameter '{parameter.name}' is not positional: a routine has only positional ones")
            if parameter.default is not parameter.empty:
                raise error(f"parameter '{parameter.name}' has a default: a routine needs every argument")
        return [*inspect.signature(function).parameters]

    def _parameter(self, name: str, hint: Any) -> Parameter:
        kind, bound = _kind_of(hint)
        if kind is None:
            first = "only the first can be a Ray or a Layout"
            raise self._error(f"parameter '{name}' has no kind: annotate it with {_KINDS}; {first}")
        if name == self.function.__name__:
            raise self._error(f"parameter '{name}' has the routine's own name, which C cannot tell apart: rename it")
        if _OURS.match(name) or not name.isascii():
            raise self._error(f"parameter '{name}' begins with _ or setwise or is not ASCII: choose another name")
        if bound is not None and not (isinstance(bound, int) and 0 < bound <= (kind.below or 1 << 63)):
            raise self._error(
                f"parameter '{name}' has the bound {bound}: give a bound from 1 to {kind.below or '2**63'}"
            )
        return Parameter(name, kind.kind, bound or kind.below)

    def _results(self, hint: Any) -> dict[str, Any]:
        """Return the annotation of each result by its name, None for a field of a NamedTuple without one."""
        if _kind_of(hint)[0] is not None:
            return {self.function.__name__: hint}
        fields = getattr(hint, "_fields", None)
        if isinstance(fields, tuple) and fields and all(name.isascii() for name in fields):
            return dict.fromkeys(fields) | self._hints(hint)
        raise self._error(
            "the return annotation is missing or no board: write -> Board, -> Number or a NamedTuple in ASCII"
        )

    def _error(self, what: str, line: int = 0, function: Callable[..., Any] | None = None) -> DescriptionError:
        """Return the error for a line of the user's file, or without a line for that of the function's `def`."""
        code = (function or self.function).__code__
        return DescriptionError(f"{shortest(code.co_filename)}:{line or first_line(code)}: {code.co_name}: {what}")


def refusing(function: Callable[..., Any], error: DescriptionError) -> Callable[..., Value]:
    """Return a description in place of a function with bad annotations: it raises the error when it is traced."""

    @wraps(function)
    def describe(*_: Value) -> Value:
        raise error

    describe.__annotations__ = dict.fromkeys([*inspect.signature(function).parameters, "return"], Board)
    return describe


def _within(grid: Grid, parameters: Sequence[Parameter]) -> Callable[..., Any]:
    """Return the requirement that the bits of boards, and the numbers of squares, are squares of a grid."""

    def within(*words: Any) -> Any:
        kept = [
            (word & ~grid.all) == 0 if parameter.on_squares else grid.all >> word & 1
            for parameter, word in zip(parameters, words[-len(parameters) :], strict=True)
            if parameter.on_squares or parameter.kind == "square"
        ]
        return reduce(and_, kept, 1)

    within.__doc__ = f"all squares within {grid}"
    return within


def made_in(module: str) -> list[Definition]:
    """Return the list of definitions that a module has created since its last load. The module holds the list."""
    names: dict[str, Any] = getattr(sys.modules.get(module), "__dict__", {})
    made: list[Definition]
    run, made = names.get(_MADE, (None, []))
    if run is not names.get("__spec__"):  # the module was reloaded into the same namespace
        made = []
    names[_MADE] = names.get("__spec__"), made
    return made


def _place_of(given: object) -> str:
    """Return the file and line of a function's `def`, or of the statement that gives anything else to a method here."""
    if inspect.isfunction(given):
        return f"{shortest(given.__code__.co_filename)}:{first_line(given.__code__)}"
    caller = sys._getframe(2)
    return f"{shortest(caller.f_code.co_filename)}:{caller.f_lineno}"


def _kind_of(hint: Any) -> tuple[Kind | None, int | None]:
    """Return the kind and the bound in an annotation, each None if missing."""
    marks = getattr(hint, "__metadata__", ())
    kinds = [mark for mark in marks if isinstance(mark, Kind)]
    bounds = [mark.below for mark in marks if isinstance(mark, Bound)]
    return (kinds[0] if kinds else None), (bounds[-1] if bounds else None)


def _module_of(function: Callable[..., Any]) -> str:
    """Return the importable name of a function's module, or the file of the running program for a function in it."""
    main = sys.modules.get("__main__")
    if function.__module__ == "__main__" and getattr(main, "__file__", None):
        return shortest(str(main.__file__))  # type: ignore[union-attr]
    return function.__module__
