"""A kernel as a builtin function of Python on integers: machine code that speaks Python's C interface.

It hands integers to a kernel's loop (setwise.codegen.run.loop), once, and makes integers of what comes back.
"""

from __future__ import annotations

import collections
import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from setwise.codegen.assemble import assemble
from setwise.codegen.describe.routine import Parameter
from setwise.codegen.machine.code import Code, Instruction, Item, Label, Register, general
from setwise.codegen.machine.convention import Convention
from setwise.codegen.run.context import move, word
from setwise.codegen.run.executable import Executable
from setwise.codegen.run.loop import KEPT, LEAVE, framed

_RAX, _R10, _RSP = map(general, ("rax", "r10", "rsp"))
_ARGUMENTS = _MADE = KEPT[0]
_OTHERS = Label("others")
_FASTCALL = 0x80


class _Definition(ctypes.Structure):
    """PyMethodDef of Python's C interface."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def builtin(
    bounds: Sequence[int], results: Sequence[str], loop: Executable, kernel: Executable, host: Convention
) -> Callable[..., Any]:
    """A function of as many integers as there are bounds: each is below its own, or below 2**64 where that is 0.

    It gives an integer, or several in a tuple of these names; NotImplemented for any other arguments. It keeps what is
    given here alive, and Python's lock, for a kernel takes less time than another thread would need to get that.
    """
    names = tuple(results)
    code = Executable(assemble(_code(bounds, names, loop.address(), kernel.address(), host)).image)
    definition = _Definition(b"kernel", code.address(), _FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = make(ctypes.addressof(definition), (code, definition, loop, kernel), None)
    return made


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


def _code(bounds: Sequence[int], results: tuple[str, ...], loop: int, kernel: int, host: Convention) -> Code:
    """`PyObject *call(PyObject *, PyObject *const *arguments, Py_ssize_t number)`."""
    taken = host.home // 8
    given = taken + len(bounds)
    operands = given + len(results)
    once = 2 * operands - taken

    def call(function: str | int, *arguments: Register | int) -> Iterator[Item]:
        for register, argument in zip(host.arguments, arguments, strict=False):
            yield Instruction("mov", (register, argument))
        yield Instruction("mov", (_RAX, _address(function) if isinstance(function, str) else function))
        yield Instruction("call", (_RAX,))

    def take() -> Iterator[Item]:
        for number, bound in enumerate(bounds):
            yield move(host.arguments[0], word(_ARGUMENTS, number))
            yield from call("PyLong_AsUnsignedLongLong")
            yield move(word(_RSP, taken + number), _RAX)
            if bound:
                yield Instruction("mov", (_R10, bound))
                yield Instruction("cmp", (_RAX, _R10))
                yield Instruction("jae", (_OTHERS,))
            else:
                good = Label(f"taken{number}")
                yield Instruction("cmp", (_RAX, -1))  # all squares, or an error
                yield Instruction("jne", (good,))
                yield from call("PyErr_Occurred")
                yield Instruction("test", (_RAX, _RAX))
                yield Instruction("jne", (_OTHERS,))
                yield good

    def run() -> Iterator[Item]:
        for number in range(operands - taken):
            yield Instruction("lea", (_RAX, word(_RSP, taken + number)))
            yield move(word(_RSP, operands + number), _RAX)
        yield Instruction("mov", (_RAX, 1))
        yield move(word(_RSP, once), _RAX)
        for register, place in zip(host.arguments, (operands, once, operands), strict=False):  # steps do not matter
            yield Instruction("lea", (register, word(_RSP, place)))
        yield Instruction("mov", (host.arguments[3], kernel))
        yield from call(loop)

    def give() -> Iterator[Item]:
        if len(results) > 1:
            yield from call("PyType_GenericAlloc", id(result_type(results)), len(results))
            yield from leave_at_an_error
            yield move(_MADE, _RAX)
        for number in range(len(results)):
            yield move(host.arguments[0], word(_RSP, given + number))
            yield from call("PyLong_FromUnsignedLongLong")
            if len(results) > 1:
                yield from leave_at_an_error
                yield from call("PyTuple_SetItem", _MADE, number, _RAX)
        if len(results) > 1:
            yield move(_RAX, _MADE)

    leave_at_an_error = (Instruction("test", (_RAX, _RAX)), Instruction("je", (LEAVE,)))
    body = (
        move(_ARGUMENTS, host.arguments[1]),
        Instruction("cmp", (host.arguments[2], len(bounds))),
        Instruction("jne", (_OTHERS,)),
        *take(),
        *run(),
        *give(),
        Instruction("jmp", (LEAVE,)),
        _OTHERS,
        *call("PyErr_Clear"),
        *call("Py_IncRef", id(NotImplemented)),
        Instruction("mov", (_RAX, id(NotImplemented))),
        LEAVE,
    )
    return Code("call", tuple(framed(once + 1, body)))


def _address(function: str) -> int:
    """Where a function of Python's C interface is."""
    return ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value or 0
