"""The domain of NumPy arrays, for specifications over many cases at once. Needs NumPy."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from setwise.analysis.semantics.domains import Bits, Domain


class Columns(Domain):
    """The domain of uint64 arrays, an element for each case, for the operations of `Word`. An integer is equal in all.

    >>> Columns().shl(np.array([1, 3], np.uint64), 63, 64).tolist() == [1 << 63, 1 << 63]
    True
    """

    def _term(self, kind: str, *operands: tuple[Bits, int], indices: tuple[int, ...] = ()) -> Bits:
        a, b = (np.uint64(value) if isinstance(value, int) else value for value, _ in operands)
        if kind == "BV_CONCAT":  # used only to extend one-bit truth values
            return a << np.uint64(operands[1][1]) | b
        return _OF_COLUMNS[kind](a, b).astype(np.uint64)


_OF_COLUMNS: Mapping[str, Callable[..., Any]] = {
    "BV_AND": np.bitwise_and,
    "BV_OR": np.bitwise_or,
    "BV_XOR": np.bitwise_xor,
    "BV_ADD": np.add,
    "BV_SUB": np.subtract,
    "BV_MUL": np.multiply,
    "BV_SHL": np.left_shift,
    "BV_SHR": np.right_shift,
    "BV_COMP": np.equal,
    "BV_ULT": np.less,
}
