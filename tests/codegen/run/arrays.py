"""Routines on arrays, what they are tried on, and memory that ends where an array ends.

As a program it runs kernels on arrays between pages that may not be touched: `python -m tests.codegen.run.arrays NAME
ISA LANES ...`; one that reads or writes outside its arrays dies. With `beyond` or `before` in front it is given one
board more than there is, behind the arrays or before them, and must die.
"""

import ctypes
import mmap
import sys
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from setwise.analysis.run.inputs import Cases, make_cases
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.run.call import is_batch, missing
from setwise.codegen.run.function import Function
from setwise.codegen.targets import TARGETS

Boards = NDArray[np.uint64]
PAGE = mmap.PAGESIZE
NORTH_EAST = "kogge-stone.attacks.noEa.batch"
CANARY = np.uint64(0xDEAD_BEEF_0BAD_F00D)


def kernels() -> Iterator[tuple[str, str, int]]:
    """Every routine on arrays with each instruction set that this processor has, at each width."""
    for name, routine in catalogue().items():
        for isa in routine.isas if is_batch(routine) else ():
            if not missing(TARGETS[isa]):
                yield from ((name, isa, lanes) for lanes in TARGETS[isa].widths)


def at_byte(words: Boards, offset: int) -> tuple[Boards, Boards, Boards]:
    """The words as an array that begins at that byte, and the words before and behind it."""
    memory = bytearray(8 * len(words) + 96)
    size = len(words)
    whole: Boards = np.ndarray((size + 2,), np.uint64, memory, offset)
    whole[:] = CANARY
    whole[1:-1] = words
    return whole[1:-1], whole[:1], whole[-1:]


@cache
def kernel(name: str, isa: str, lanes: int | None) -> Function:
    return Function.of(find(name), isa, lanes=lanes)


@cache
def cases(name: str) -> Cases:
    return make_cases(find(name).contract, quick=True, random_boards=2000)


def boards(name: str, n: int, seed: int = 0) -> tuple[list[Boards], Boards]:
    """Inputs of n random boards, and the result."""
    made = cases(name)
    start = 1000 + 61 * seed % 900  # the random ones stand last
    picked = slice(made.number - start, made.number - start + n)
    return [column[picked].copy() for column in made.columns], made.expected[picked, 0].copy()


class Fenced:
    """A page that may be used, between two that may not."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, 3 * PAGE)
        start = np.frombuffer(self._map, np.uint8).ctypes.data
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for fence in (start, start + 2 * PAGE):
            if protect(fence, PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")

    def array(self, words: Boards, *, at_end: bool) -> Boards:
        """The words as an array that ends, or begins, at a fence."""
        offset = 2 * PAGE - words.nbytes if at_end else PAGE
        placed: Boards = np.ndarray(words.shape, np.uint64, self._map, offset)
        placed[:] = words
        return placed


def between_fences(name: str, isa: str, lanes: int) -> None:
    """Every number of boards around the tail's lengths, at both fences, into an own array and into each input."""
    run = kernel(name, isa, lanes)
    inputs, _ = boards(name, 0)
    fenced = [Fenced() for _ in range(len(inputs) + 1)]
    for n in (*range(2 * lanes + 2), 131):
        for at_end in (True, False):
            for into in range(len(inputs) + 1):
                words, expected = boards(name, n, n)
                given = [fence.array(each, at_end=at_end) for fence, each in zip(fenced, words, strict=False)]
                arrays = [*given, fenced[-1].array(np.full(n, 7, np.uint64), at_end=at_end)]
                result = run(*given, out=arrays[into])
                if not np.array_equal(result, expected):
                    raise SystemExit(f"{name} {isa} {lanes}: wrong for {n} boards into array {into}")


def one_too_many(name: str, isa: str, lanes: int, *, beyond: bool) -> None:
    run, n = kernel(name, isa, lanes), 2 * lanes
    inputs, _ = boards(name, n)
    fenced = [Fenced() for _ in range(len(inputs) + 1)]
    arrays = [fence.array(each, at_end=beyond) for fence, each in zip(fenced, [*inputs, inputs[0]], strict=True)]
    itself = run._code.function(None, [ctypes.c_uint64] * (len(arrays) + 1))
    itself(*(each.ctypes.data - (0 if beyond else 8) for each in arrays), n + 1)


def main(arguments: Sequence[str]) -> None:
    wrong = arguments[0] if arguments[0] in ("beyond", "before") else ""
    rest = arguments[1:] if wrong else arguments
    for name, isa, lanes in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if wrong:
            one_too_many(name, isa, int(lanes), beyond=wrong == "beyond")
        else:
            between_fences(name, isa, int(lanes))
    print("alive")


if __name__ == "__main__":
    main(sys.argv[1:])
