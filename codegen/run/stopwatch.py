"""Runs timing loops: memory for their arguments and stamps, and the loop itself in executable memory."""

from __future__ import annotations

import ctypes
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


@dataclass(frozen=True, slots=True)
class Given:
    """What a loop's calls are given: sets of arguments one behind the other, each as the signature lays it out.

    A routine on arrays has `arrays` besides, each of the same number of boards; its one set of arguments, the
    addresses of these, of room for the result, and that number, is made where they come to lie. No two of them begin
    at the same place of a page, where a load would seem to depend on a store to another.
    """

    words: tuple[int, ...] = ()
    arrays: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A trial's sections in ticks of the time stamp counter: before and behind the calls, and an empty one."""

    chain_before: int
    wide_before: int
    calls: int
    wide_behind: int
    chain_behind: int
    nothing: int


class Stopwatch:
    """A timing loop that may be run many times; the block is freed with it.

    Raises setwise.codegen.run.executable.NotRunnable where this processor cannot run it.
    """

    def __init__(self, image: bytes, given: Given) -> None:
        words, arrays = given.words, []
        if given.arrays:
            number = len(given.arrays[0])
            apart = _PAGE // (len(given.arrays) + 1) // _LINE * _LINE
            arrays = [_aligned(each, apart * at) for at, each in enumerate((*given.arrays, (0,) * number))]
            words = (*(array.address for array in arrays), number)
        arguments = _aligned(words, _ARGUMENTS)
        self._context = _aligned((0,) * timer.CONTEXT_WORDS, _CONTEXT)
        self._arrays, self._arguments = arrays, arguments  # addresses alone keep no memory
        self._set(timer.ARGUMENTS, arguments.address)
        self._set(timer.ARGUMENTS_END, arguments.address + 8 * len(words))
        self._code = Executable(image)
        self._call = self._code.function(None, (_U64,))

    def run(self, rounds: int, trials: int) -> list[Record]:
        """So many trials, each of so many rounds of calls."""
        stamps = (_U64 * (timer.STAMPS * trials))()
        self._set(timer.ROUNDS, rounds)
        self._set(timer.TRIALS, trials)
        self._set(timer.RECORDS, ctypes.addressof(stamps))
        self._call(self._context.address)
        starts = range(0, timer.STAMPS * trials, timer.STAMPS)
        return [Record(*(b - a for a, b in pairwise(stamps[start : start + timer.STAMPS]))) for start in starts]

    def results(self, number: int) -> tuple[int, ...]:
        """The first words of the last call's result, or of what it wrote to its address for results."""
        return tuple(self._context.words[timer.RESULTS : timer.RESULTS + number])

    def array(self, number: int) -> tuple[int, ...]:
        """The words of an array; the result's is behind those that were given."""
        return tuple(self._arrays[number].words)

    def close(self) -> None:
        """Free the executable memory."""
        self._code.close()

    def _set(self, place: int, value: int) -> None:
        self._context.words[place] = value


@dataclass(frozen=True, slots=True)
class _Memory:
    """Words in memory that stay where they are as long as this lives."""

    words: ctypes.Array[ctypes.c_uint64]
    buffer: ctypes.Array[ctypes.c_char]

    @property
    def address(self) -> int:
        return ctypes.addressof(self.words)


def _aligned(words: Sequence[int], place: int = 0) -> _Memory:
    """A copy of the words that begins so many bytes behind the beginning of a page."""
    buffer = ctypes.create_string_buffer(8 * len(words) + 2 * _PAGE)
    skip = -ctypes.addressof(buffer) % _PAGE + place
    copy = (_U64 * len(words)).from_buffer(buffer, skip)
    copy[:] = list(words)
    return _Memory(copy, buffer)
