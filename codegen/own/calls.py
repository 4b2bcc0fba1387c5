"""Calls of routines in descriptions: the first description of the called routine is traced in place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any

from setwise.codegen.ir.layout import Layout, lanes
from setwise.codegen.ir.routine import Parameter, Routine
from setwise.codegen.ir.values import Ray, Value, constant

_CALLERS: ContextVar[tuple[tuple[object, Layout], ...]] = ContextVar("callers", default=((None, Layout()),))
"""The own definitions that are being traced, each with its layout, the innermost last, behind the layout of none."""


@contextmanager
def tracing(definition: object, name: str, layout: Layout) -> Iterator[None]:
    """Trace an own definition in a `with` block. Raise ValueError if it is being traced already."""
    if any(definition is caller for caller, _ in _CALLERS.get()):
        raise ValueError(f"{name} calls itself: repeat steps with Python's for, repeat or while_")
    token = _CALLERS.set((*_CALLERS.get(), (definition, layout)))
    try:
        yield
    finally:
        _CALLERS.reset(token)


def is_traced(arguments: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Return whether a call is part of a description: an argument is a traced value, a ray or a layout."""
    return any(isinstance(argument, Value | Ray | Layout) for argument in (*arguments, *named.values()))


def traced(routine: Routine, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Value]:
    """Return the results of a routine's first description on these arguments, traced in place.

    Arguments with several lanes are boards of their own, lane by lane. Arguments of one lane share the caller's layout
    if the routine takes a layout. Raise TypeError or ValueError for arguments that the routine does not take, and for
    results that are not one board each.
    """
    contract, name = routine.contract, routine.name
    if contract.elements:
        raise TypeError(f"{name} works on arrays: call the routine without .batch")
    taken = contract.words
    each = [Argument(parameter.name, Argument.POSITIONAL_OR_KEYWORD) for parameter in taken]
    try:
        given = Signature(each).bind(*arguments, **named).args
    except TypeError as error:
        takes = ", ".join(parameter.name for parameter in taken)
        raise TypeError(f"{name} takes {len(taken)} arguments ({takes}), not these: {error}") from None
    values = [_value(name, *pair) for pair in zip(taken, given, strict=True)]
    width = max(value.lanes for value in values)
    _, layout = _CALLERS.get()[-1]
    if routine.batched or layout.batched or width > 1:
        layout = Layout(width, batched=width > 1)
    values = [
        constant(value.number, width) if value.constant and value.lanes == 1 and not parameter.scalar else value
        for parameter, value in zip(taken, values, strict=True)
    ]
    results = [*routine.descriptions[0](layout, *values)]
    if not layout.batched:
        results = [lane for result in results for lane in lanes(result)]
    if len(results) != len(contract.results) or any(result.lanes not in (1, width) for result in results):
        raise ValueError(f"{name} returns parts of boards where lanes hold boards: call it with boards of one lane")
    return results


def _value(name: str, parameter: Parameter, argument: Any) -> Value:
    """Return an argument as a value. Raise TypeError for another kind, ValueError for a number beyond the bound."""
    if isinstance(argument, int) and not isinstance(argument, bool):
        argument = constant(argument)
    if not isinstance(argument, Value):
        kind, remedy = type(argument).__name__, "a layout is passed on by itself, and a ray comes first"
        raise TypeError(f"{parameter.name} of {name} is a {kind}: give a board or a number ({remedy})")
    if parameter.below and argument.constant and max(argument.constant) >= parameter.below:
        raise ValueError(f"{parameter.name} of {name} is {max(argument.constant)}: it is below {parameter.below}")
    return argument
