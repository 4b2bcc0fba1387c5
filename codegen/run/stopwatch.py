"""Runs timing loops: memory for their arguments and stamps, and the loop itself in executable memory."""

import ctypes
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from setwise.codegen.run import timer
from setwise.codegen.run.executable import Executable

_U64 = ctypes.c_uint64
_LINE = 64  # bytes of a line of the cache, where every array begins
_PAGE = 4096
# Where in a page what the loop reads and writes begins. A load seems to depend on a store at the same place of another
# page, so all have places of their own, and the same in every process: the routine and its constants lie at the page's
# beginning, the stack at its end.
_CONTEXT, _ARGUMENTS = 2048, 3072
_SEED = 20050522
_MOST_APART = 100


@dataclass(frozen=True, slots=True)
class ArgumentSets:
    """What a loop's calls are given: sets of arguments one behind the other, each as the signature lays it out.

    A routine on arrays has `arrays` besides, each of the same number of boards; its one set of arguments, the
    addresses of these, of room for the result, and that number, is made where they come to lie. No two of them begin
    at the same place of a page, where a load would seem to depend on a store to another.

    With `in_set`, the words of a set, each run takes the sets in another order: a processor that meets the same
    thousands of sets again and again learns by heart how branches go that hang on them.
    """

    words: tuple[int, ...] = ()
    arrays: tuple[tuple[int, ...], ...] = ()
    in_set: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """A trial's sections in ticks of the time stamp counter: before and behind the calls, and an empty one."""

    chain_before: int
    wide_before: int
    warming: int
    calls: int
    wide_behind: int
    chain_behind: int
    nothing: int


class Stopwatch:
    """A timing loop that may be run many times; the block is freed with it.

    Raises setwise.codegen.run.executable.NotRunnable where this processor cannot run it.
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
        self._arrays, self._arguments = arrays, arguments  # addresses alone keep no memory
        self._context[timer.ARGUMENTS] = ctypes.addressof(arguments)
        self._context[timer.ARGUMENTS_END] = ctypes.addressof(arguments) + 8 * len(words)
        self._code = Executable(loop.image, loop.data)
        self._call = self._code.function(None, (_U64,))

    def run(self, rounds: int, trials: int) -> list[Record]:
        """So many trials, each of so many rounds of calls."""
        if self._in_set:
            self._reorder(self._draw.randrange(2, _MOST_APART))
        stamps = (_U64 * (timer.STAMPS * trials))()
        self._context[timer.ROUNDS], self._context[timer.TRIALS] = rounds, trials
        self._context[timer.RECORDS] = ctypes.addressof(stamps)
        self._call(ctypes.addressof(self._context))
        starts = range(0, timer.STAMPS * trials, timer.STAMPS)
        return [Record(*(b - a for a, b in pairwise(stamps[start : start + timer.STAMPS]))) for start in starts]

    def _reorder(self, apart: int) -> None:
        """Sets that were so many apart come one behind the other."""
        words = memoryview(self._arguments).cast("B").cast("Q")
        for word in range(self._in_set):
            column = array("Q", words[word :: self._in_set].tobytes())
            ordered = array("Q")
            for first in range(apart):
                ordered += column[first::apart]
            words[word :: self._in_set] = memoryview(ordered)

    def results(self, number: int) -> tuple[int, ...]:
        """The first words of the last call's result, or of what it wrote to its address for results."""
        return tuple(self._context[timer.RESULTS : timer.RESULTS + number])

    def array(self, number: int) -> tuple[int, ...]:
        """The words of an array; the result's is behind those that were given."""
        return tuple(self._arrays[number])

    def close(self) -> None:
        """Free the executable memory."""
        self._code.close()


def _aligned(words: Sequence[int], place: int = 0) -> ctypes.Array[ctypes.c_uint64]:
    """A copy of the words that begins so many bytes behind the beginning of a page."""
    buffer = ctypes.create_string_buffer(8 * len(words) + 2 * _PAGE)
    skip = -ctypes.addressof(buffer) % _PAGE + place
    copy = (_U64 * len(words)).from_buffer(buffer, skip)  # it keeps the buffer
    copy[:] = list(words)
    return copy
