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
    return numpy is not None and issubclass(type(argument), numpy.ndarray)


def prepared(names: Sequence[str], arguments: Sequence[Any], result: Any = None) -> tuple[list[int], int, Boards]:
    """The addresses of inputs and result, the arrays' length, and the result, a new array where none is given.

    What an array's class says of it does not count, only the array beneath; one that has a mask is refused.

    Every array is one-dimensional, of uint64 in this machine's byte order, contiguous, and of the first one's length;
    any alignment will do, and inputs may share memory. The result is writeable, and either exactly one of the inputs
    or apart from all of them. TypeError for what is no array or holds something else, ValueError for the rest.

    >>> import numpy as np
    >>> rooks, occupied = np.zeros((2, 4), np.uint64)
    >>> addresses, number, result = prepared(("rooks", "occupied"), (rooks, occupied), occupied)
    >>> result is occupied, number, addresses == [rooks.ctypes.data, occupied.ctypes.data, occupied.ctypes.data]
    (True, 4, True)
    >>> prepared(("rooks", "occupied"), (rooks, np.zeros(8, np.uint64)[::2]))
    Traceback (most recent call last):
    ...
    ValueError: occupied is not contiguous: give np.ascontiguousarray(occupied)
    """
    import numpy as np

    inputs = [_plain(name, array) for name, array in zip(names, arguments, strict=True)]
    first = inputs[0]
    for name, array in zip(names[1:], inputs[1:], strict=True):
        _check_length(name, array, names[0], first)
    if result is None:
        result = np.empty(len(first), np.uint64)
    written = _plain("result", result)
    _check_length("result", written, names[0], first)
    if not written.flags.writeable:
        raise ValueError("result is read-only: give an array that may be written, or leave it out")
    for name, array in zip(names, inputs, strict=True):
        if 0 < abs(written.ctypes.data - array.ctypes.data) < written.nbytes:
            raise ValueError(f"result overlaps {name} in part: give exactly {name}, or an array apart from it")
    return [array.ctypes.data for array in (*inputs, written)], len(first), result


def refuse_masked(name: str, argument: object) -> None:
    """TypeError for an array with a mask, for machine code would take what that hides."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(type(argument), numpy.ma.MaskedArray):
        raise TypeError(f"{name} has a mask (MaskedArray), which machine code cannot see: give {name}.filled(0)")


def _plain(name: str, array: Any) -> Boards:
    """The array beneath any class of it; TypeError or ValueError where machine code cannot take it as it lies."""
    import numpy as np

    if not is_array(array):
        kind = type(array).__name__
        raise TypeError(f"{name} is of type {kind}, not an array as the others: give np.array(..., np.uint64)")
    refuse_masked(name, array)
    plain: Boards = np.ndarray.view(array, np.ndarray)
    if plain.dtype != np.uint64:
        raise TypeError(f"{name} holds {plain.dtype}, not uint64: give {name}.astype(np.uint64)")
    if plain.ndim != 1:
        raise ValueError(f"{name} has {plain.ndim} dimensions, not one: give {name}.reshape(-1)")
    if not plain.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous: give np.ascontiguousarray({name})")
    return plain


def _check_length(name: str, array: Boards, first_name: str, first: Boards) -> None:
    if len(array) != len(first):
        raise ValueError(
            f"{name} has length {len(array)}, {first_name} has length {len(first)}: give arrays of one length"
        )
