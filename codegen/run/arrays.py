"""Arrays of boards for routines that work on them: NumPy's uint64 arrays, taken as they lie in memory or refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Boards = NDArray[np.uint64]


def is_array(argument: object) -> TypeGuard[Boards]:
    """Whether it is a NumPy array; NumPy is not loaded to find out, since who has an array has loaded it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(argument, numpy.ndarray)


def prepared(names: Sequence[str], arguments: Sequence[Any], result: Any = None) -> tuple[list[int], Boards]:
    """The addresses of the inputs and of the result behind them, and the result, a new array where none is given.

    Every array is one-dimensional, of uint64 in this machine's byte order, contiguous, and of the first one's length;
    any alignment will do, and inputs may share memory. The result is writeable, and either exactly one of the inputs
    or apart from all of them. TypeError for what is no array or holds something else, ValueError for the rest.

    >>> import numpy as np
    >>> rooks, occupied = np.zeros((2, 4), np.uint64)
    >>> addresses, result = prepared(("rooks", "occupied"), (rooks, occupied), occupied)
    >>> result is occupied, addresses == [rooks.ctypes.data, occupied.ctypes.data, occupied.ctypes.data]
    (True, True)
    >>> prepared(("rooks", "occupied"), (rooks, np.zeros(8, np.uint64)[::2]))
    Traceback (most recent call last):
    ...
    ValueError: occupied is not contiguous: give np.ascontiguousarray(occupied)
    """
    import numpy as np

    for name, array in zip(names, arguments, strict=True):
        _check(name, array)
    first = arguments[0]
    for name, array in zip(names[1:], arguments[1:], strict=True):
        _check_length(name, array, names[0], first)
    if result is None:
        result = np.empty(len(first), np.uint64)
    else:
        _check("result", result)
        _check_length("result", result, names[0], first)
        if not result.flags.writeable:
            raise ValueError("result is read-only: give an array that may be written, or leave it out")
        for name, array in zip(names, arguments, strict=True):
            if 0 < abs(result.ctypes.data - array.ctypes.data) < result.nbytes:
                raise ValueError(f"result overlaps {name} in part: give exactly {name}, or an array apart from it")
    return [array.ctypes.data for array in (*arguments, result)], result


def _check(name: str, array: Any) -> None:
    """TypeError or ValueError where that is no array that machine code can take as it lies."""
    import numpy as np

    if not is_array(array):
        kind = type(array).__name__
        raise TypeError(f"{name} is of type {kind}, not an array as the others: give np.array(..., np.uint64)")
    if array.dtype != np.uint64:
        raise TypeError(f"{name} holds {array.dtype}, not uint64: give {name}.astype(np.uint64)")
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions, not one: give {name}.reshape(-1)")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous: give np.ascontiguousarray({name})")


def _check_length(name: str, array: Boards, first_name: str, first: Boards) -> None:
    if len(array) != len(first):
        raise ValueError(
            f"{name} has length {len(array)}, {first_name} has length {len(first)}: give arrays of one length"
        )
