"""A kernel called with Python's integers, by its loop over boards (setwise.codegen.run.loop) and ctypes."""

import collections
import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from setwise.codegen.ir.routine import Parameter
from setwise.codegen.run.executable import Executable


def single_call(
    takes: int, results: Sequence[str], loop: Executable, kernel: Executable
) -> Callable[[Sequence[Any]], Any]:
    """Return a function of one case's integers, each in its range, that any number of threads may call.

    It returns an integer, or several in a tuple of these names, and keeps loop and kernel alive.
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


def in_range(parameter: Parameter, number: int) -> int:
    """The number; ValueError where it is not within what the parameter takes."""
    bound = parameter.below or 1 << 64
    if not 0 <= number < bound:
        raise ValueError(f"{parameter.name} is {number}: it must be from 0 to {bound - 1:#x}")
    return number


@cache
def result_type(names: tuple[str, ...]) -> type:
    """A named tuple of these names, of which processes may send each other instances."""
    make: Any = collections.namedtuple
    members = {"__slots__": (), "__reduce__": lambda results: (_again, (names, tuple(results)))}
    return type("Results", (make("Results", names, rename=True),), members)


def _again(names: tuple[str, ...], results: tuple[int, ...]) -> Any:
    return tuple.__new__(result_type(names), results)
