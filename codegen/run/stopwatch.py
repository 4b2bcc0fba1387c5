"""Runs of timing loops: memory for their arguments and time stamps, and the loop in executable memory."""

import ctypes
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from setwise.codegen.run import timer
from setwise.codegen.run.executable import Executable

_U64 = ctypes.c_uint64
_LINE = 64  # bytes of a cache line; every array begins at the start of one
_PAGE = 4096
# Page offsets of the context and the arguments. A load is delayed by an earlier store at the same offset of another
# page (4K aliasing), so these begin at different offsets, the same in every process. The routine's constants, or the
# routine if it has none, begin at offset 0. The stack ends at the end of a page.
_CONTEXT, _ARGUMENTS = 2048, 3072
_SEED = 20050522
_MOST_APART = 100


@dataclass(frozen=True, slots=True)
class ArgumentSets:
    """The arguments of a loop's calls: `words` are consecutive sets of arguments, each as `timer.offsets` arranges it.

    A routine on arrays has input `arrays` of equal length instead. Its one set of arguments is generated: the addresses
    of these arrays and of an array for the result, and the length. The arrays begin at different page offsets, to avoid
    4K aliasing.

    Unless `in_set`, the number of words in a set, is 0, each run permutes the sets, so that branch predictors cannot
    memorize them.
    """

    words: tuple[int, ...] = ()
    arrays: tuple[tuple[int, ...], ...] = ()
    in_set: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """The ticks of the time stamp counter in each section of a trial, in order; `nothing` is the empty section."""

    chain_before: int
    wide_before: int
    warming: int
    calls: int
    wide_behind: int
    chain_behind: int
    nothing: int


class Stopwatch:
    """A timing loop that can be run repeatedly.

    Raises NotRunnable if the processor is not x86-64. Whether it has the routine's CPU features is not checked.
    """

    def __init__(self, loop: timer.Timer, sets: ArgumentSets) -> None:
        words, arrays = sets.words, []
        if sets.arrays:
            number = len(sets.arrays[0])
            apart = _PAGE // (len(sets.arrays) + 1) // _LINE * _LINE
            arrays = [_aligned(boards, apart * at) for at, boards in enumerate((*sets.arrays, (0,) * number))]
            words = (*map(ctypes.addressof, arrays), number)
        arguments = _aligned(words, _ARGUMENTS)
        self._in_set, self._draw = sets.in_set, random.Random(_SEED)
        self._context = _aligned((0,) * timer.CONTEXT_WORDS, _CONTEXT)
        self._arrays, self._arguments = arrays, arguments  # raw addresses do not keep memory alive
        self._context[timer.ARGUMENTS] = ctypes.addressof(arguments)
        self._context[timer.ARGUMENTS_END] = ctypes.addressof(arguments) + 8 * len(words)
        self._code = Executable(loop.image, loop.data)
        self._call = self._code.function(None, (_U64,))

    def run(self, rounds: int, trials: int) -> list[Record]:
        """Return the records of `trials` trials, each of `rounds` rounds of calls."""
        if self._in_set:
            self._reorder(self._draw.randrange(2, _MOST_APART))
        stamps = (_U64 * (timer.STAMPS * trials))()
        self._context[timer.ROUNDS], self._context[timer.TRIALS] = rounds, trials
        self._context[timer.RECORDS] = ctypes.addressof(stamps)
        self._call(ctypes.addressof(self._context))
        starts = range(0, timer.STAMPS * trials, timer.STAMPS)
        return [Record(*(b - a for a, b in pairwise(stamps[start : start + timer.STAMPS]))) for start in starts]

    def _reorder(self, apart: int) -> None:
        """Permute the sets: first every set number `apart` * n, then every number `apart` * n + 1, and so on."""
        words = memoryview(self._arguments).cast("B").cast("Q")
        for word in range(self._in_set):
            column = array("Q", words[word :: self._in_set].tobytes())
            ordered = array("Q")
            for first in range(apart):
                ordered += column[first::apart]
            words[word :: self._in_set] = memoryview(ordered)


def _aligned(words: Sequence[int], place: int = 0) -> ctypes.Array[ctypes.c_uint64]:
    """Return a copy of the words that begins `place` bytes behind the start of a page."""
    buffer = ctypes.create_string_buffer(8 * len(words) + 2 * _PAGE)
    skip = -ctypes.addressof(buffer) % _PAGE + place
    copy = (_U64 * len(words)).from_buffer(buffer, skip)  # the copy keeps the buffer alive
    copy[:] = list(words)
    return copy
