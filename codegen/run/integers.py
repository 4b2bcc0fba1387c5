"""Calls of a kernel with Python integers, through its loop over boards (setwise.codegen.run.loop) and ctypes."""

import collections
import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import Any

from setwise.codegen.ir.routine import Parameter
from setwise.codegen.run.executable import Executable


def single_call(
    takes: int, results: Sequence[str], loop: Executable, kernel: Executable
) -> Callable[[Sequence[Any]], Any]:
    """Return a thread-safe function from a sequence of `takes` integers, each within its range, to the results.

    It returns an integer, or several as a named tuple of `results`. It keeps the loop alive, but not the kernel.
    """
    words = takes + len(results)
    run, address = loop.function(None, (ctypes.c_void_p,) * 4), kernel.address()
    one, steps, room = array("Q", [1]), array("Q", [0] * words), (0,) * len(results)
    made = result_type(tuple(results))

    def call(arguments: Sequence[Any]) -> Any:
        case = array("Q", (*arguments, *room))
        start, _ = case.buffer_info()
        pointers = array("Q", range(start, start + 8 * words, 8))
        run(*(each.buffer_info()[0] for each in (pointers, one, steps)), address)
        found = case[takes:]
        return made(*found) if room[1:] else found[0]

    return call


def integer(parameter: Parameter, argument: Any) -> int:
    """Return an argument as an int. Raises TypeError unless it has `__index__`, ValueError if it is out of range."""
    try:
        return in_range(parameter, index(argument))
    except TypeError:
        kind = type(argument).__name__
        raise TypeError(f"{parameter.name} is of type {kind}: give an integer, or np.array(..., np.uint64)") from None


def in_range(parameter: Parameter, number: int) -> int:
    """Return the number. Raises ValueError if it is out of the parameter's range."""
    bound = parameter.below or 1 << 64
    if not 0 <= number < bound:
        raise ValueError(f"{parameter.name} is {number}: it must be from 0 to {bound - 1:#x}")
    return number


@cache
def result_type(names: tuple[str, ...]) -> type:
    """Return a named tuple type of these names with instances that can be pickled."""
    make: Any = collections.namedtuple
    members = {"__slots__": (), "__reduce__": lambda results: (_again, (names, tuple(results)))}
    return type("Results", (make("Results", names, rename=True),), members)


def _again(names: tuple[str, ...], results: tuple[int, ...]) -> Any:
    return tuple.__new__(result_type(names), results)
