"""Kernels on NumPy arrays: a kernel's loop becomes a ufunc through NumPy's C interface.

So shapes broadcast, any strides and alignment are accepted, and results may overwrite inputs. NumPy releases Python's
lock during long calls. This module requires NumPy.
"""

import ctypes
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setwise.codegen.ir.routine import Parameter
from setwise.codegen.run.executable import Executable
from setwise.codegen.run.integers import in_range, integer, result_type

Boards = NDArray[np.uint64]

_BOARD = np.dtype(np.uint64)
_FROM_FUNC_AND_DATA, _NO_IDENTITY = 1, -1  # of NumPy's C interface: an index in its table, a constant


class Elementwise:
    """A kernel's loop on broadcast arrays of uint64 and integers; it keeps loop and kernel alive."""

    def __init__(
        self, name: str, parameters: Sequence[Parameter], results: Sequence[str], loop: Executable, kernel: Executable
    ) -> None:
        self._parameters, self._results = parameters, tuple(results)
        self._made = result_type(self._results)
        self._bounded = tuple(pair for pair in enumerate(parameters) if pair[1].below)
        self._code = loop, kernel
        # NumPy keeps pointers to these.
        self._loops, self._kernels = (ctypes.c_void_p * 1)(loop.address()), (ctypes.c_void_p * 1)(kernel.address())
        self._types = bytes([_BOARD.num]) * (len(parameters) + len(results))
        self._name = name.encode()
        pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
        signature = (pointer, pointer, text, number, number, number, number, text, text, number)
        make = ctypes.PYFUNCTYPE(ctypes.py_object, *signature)(_interface()[_FROM_FUNC_AND_DATA])
        counts = (1, len(parameters), len(results), _NO_IDENTITY)
        self._ufunc: np.ufunc = make(self._loops, self._kernels, self._types, *counts, self._name, None, 0)

    def __call__(self, arguments: Sequence[Any], out: Any) -> Any:
        """Return the result, or a named tuple of several, in new arrays or in `out`. Refuse unusable arguments."""
        operands = self._operands(arguments)
        several = len(self._results) > 1
        given = out if several and out is not None else (out,) * len(self._results)
        if not isinstance(given, tuple) or len(given) != len(self._results):
            number = len(self._results)
            raise TypeError(f"out is no tuple of {number} arrays: give {number}, one for each result, or leave it out")
        to = tuple(map(_written, self._results if several else ("out",), given))
        written = [each for each in to if each is not None]
        if written:
            _refuse_overlap(written)
            operands = [_apart(each, written, in_place=not several) for each in operands]
        made = self._ufunc(*operands, *to)
        return self._made(*made) if several else made

    def _operands(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments as the ufunc takes them. Raises the errors of `_operand`."""
        for each in arguments:
            # For few boards the checks take as long as the call, so the usual case comes first.
            if type(each) is not np.ndarray or each.dtype is not _BOARD:
                break
        else:
            for at, parameter in self._bounded:
                _refuse_beyond(parameter, arguments[at])
            return arguments
        return list(map(_operand, self._parameters, arguments))


def _refuse_overlap(written: Sequence[Boards]) -> None:
    """Raise ValueError if elements of an output array may overlap, or two output arrays overlap each other."""
    for each in written:
        reach = each.itemsize
        for stride, length in sorted(
            (abs(stride), length) for stride, length in zip(each.strides, each.shape, strict=True)
        ):
            if stride < reach and length > 1 and each.size:
                raise ValueError("out overlaps itself: give an array without overlapping elements")
            reach += stride * (length - 1)
    for one, other in combinations(written, 2):
        if np.shares_memory(one, other):
            raise ValueError("arrays of out overlap each other: give one of its own for each result")


def _apart(operand: Any, written: Sequence[Boards], *, in_place: bool) -> Any:
    """Return the operand, or a copy if it may overlap an output. `in_place` permits outputs of exactly its elements."""
    if not isinstance(operand, np.ndarray):
        return operand
    over = [to for to in written if np.may_share_memory(operand, to)]
    same = in_place and all(operand.__array_interface__ == to.__array_interface__ for to in over)
    return operand.copy() if over and not same else operand


def _interface() -> Any:
    """Return the function table of NumPy's C interface to ufuncs."""
    core = np._core if hasattr(np, "_core") else np.core
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.POINTER(ctypes.c_void_p), (ctypes.py_object, ctypes.c_char_p)
    return pointer(core._multiarray_umath._UFUNC_API, None)


def _operand(parameter: Parameter, argument: Any) -> Any:
    """Return an array, or an integer for all boards, as a ufunc takes it.

    Raises TypeError for an argument of another type, for subclasses of arrays and for other element types, and
    ValueError for numbers out of range.
    """
    if not isinstance(argument, np.ndarray):
        return np.uint64(integer(parameter, argument))
    _refuse_other(parameter.name, argument)
    _refuse_beyond(parameter, argument)
    return argument


def _refuse_beyond(parameter: Parameter, array: Boards) -> None:
    """Raise ValueError if a number is out of the parameter's range."""
    if parameter.below and array.size:
        in_range(parameter, int(array.max()))


def _refuse_other(name: str, array: NDArray[Any]) -> None:
    """Raise TypeError for a subclass of NumPy's array, and for elements other than uint64."""
    if type(array) is not np.ndarray:
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{name} has a mask (MaskedArray), which machine code cannot see: give {name}.filled(0)")
        raise TypeError(f"{name} is of type {type(array).__name__}, not a plain array: give np.asarray({name})")
    if array.dtype != _BOARD:
        raise TypeError(f"{name} holds {array.dtype}, not uint64: give {name}.astype(np.uint64)")


def _written(name: str, argument: Any) -> Boards | None:
    """Return an output array, or None for a new one. Raises TypeError for anything else, ValueError if read-only."""
    if argument is None:
        return None
    if type(argument) is not np.ndarray or argument.dtype != _BOARD:
        kind = type(argument)
        what = f"holds {argument.dtype}" if kind is np.ndarray else f"is of type {kind.__name__}"
        raise TypeError(f"{name} {what}: give a plain array of uint64, or leave it out")
    if not argument.flags.writeable:
        raise ValueError(f"{name} is read-only: give an array that may be written, or leave it out")
    return argument
