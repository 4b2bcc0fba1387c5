"""What calls from Python take: kernels on integers and arrays, a bare foreign call, the same fill by other means."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from timeit import Timer

import numpy as np

from setwise.analysis.measure.calls import CHESS, COPY, FILL, FOREIGN, LOOP, NUMBA, OURS, OUT, Call, by_turns, timer
from setwise.analysis.measure.fills import Fill, by_chess, by_numba, by_numpy
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.run.arrays import Boards
from setwise.codegen.run.call import best_isa, host
from setwise.codegen.run.executable import Executable
from setwise.codegen.run.function import Function, function, in_memory

CALLED = ("kogge-stone.attacks.sout", "sliders.union", "sliders.pair", "sliders.rays")
"""What is called with integers: of one result, two and eight."""
UNION = "sliders.union"
"""What is given arrays."""
LENGTHS = (*(8**power for power in range(8)), 16_000_000, 8**8)
_AT_ONCE = 512
_MOST_BY_CHESS = 8**4
_DIFFERENT = 8**4  # positions; longer arrays repeat them


def measure(seconds: float, progress: Callable[[str], None]) -> tuple[list[Call], list[str]]:
    """All calls, each timed for so long, and a line on what is not installed."""
    calls = [call for name in CALLED for call in _on_integers(name, seconds, progress)]
    run = function(find(UNION))
    others, not_run = other_fills()
    for boards in LENGTHS:
        progress(f"arrays of {boards} boards")
        calls += _on_arrays(run, others, boards, seconds)
    return calls, not_run


def other_fills() -> tuple[dict[str, Fill], list[str]]:
    """The same fill by other means, and a line on what is not installed of these."""
    fills, not_run = {FILL: by_numpy}, []
    for name, make in ((NUMBA, by_numba), (CHESS, by_chess)):
        try:
            fills[name] = make()
        except ModuleNotFoundError:
            not_run.append(f"{name} is not run: pip install 'setwise[bench]'")
    return fills, not_run


def versions() -> dict[str, str]:
    """Of the packages that take part, as far as they are installed."""
    found = {}
    for name, package in {"NumPy": "numpy", NUMBA: "numba", CHESS: "chess"}.items():
        with suppress(PackageNotFoundError):
            found[name] = version(package)
    return found


def positions(number: int) -> tuple[Boards, Boards, Boards]:
    """Rooks and bishops of one side, queens among both, and all pieces: about 5 sliders among 20 pieces a board."""
    random = np.random.default_rng(1)

    def pieces(halvings: int) -> Boards:
        made: Boards = np.bitwise_and.reduce(random.integers(0, 2**64, (halvings, min(number, _DIFFERENT)), np.uint64))
        return made

    queens = pieces(6)
    rooks, bishops = pieces(5) | queens, pieces(5) | queens
    occupied = rooks | bishops | pieces(2)
    return np.resize(rooks, number), np.resize(bishops, number), np.resize(occupied, number)


def _on_integers(name: str, seconds: float, progress: Callable[[str], None]) -> Iterator[Call]:
    """A call of the kernel, and one of its bytes by ctypes, whose results lie in memory where they are several."""
    progress(f"{name} on integers")
    run = function(find(name))
    results = len(run.kernel.routine.contract.results)
    arguments = (7,) * len(run.__signature__.parameters.keys() - {"out", "threads"})
    assembled = assemble(run.kernel.code)
    block = (ctypes.c_uint64 * results)()
    given = (*arguments, ctypes.addressof(block)) if results > 1 else arguments
    with Executable(assembled.image, len(assembled.data)) as code:
        foreign = code.function(ctypes.c_uint64 if results == 1 else None, (ctypes.c_uint64,) * len(given))
        timers = {OURS: timer(run, arguments), FOREIGN: timer(foreign, given)}
        for by, (fastest, middle) in by_turns(timers, seconds).items():
            yield Call(by, name, 0, 1, fastest, middle)


def _on_arrays(run: Function, others: Mapping[str, Fill], boards: int, seconds: float) -> Iterator[Call]:
    """Calls on arrays of that length; beside 512 boards the machine code that NumPy calls, for them and for none."""
    given = positions(boards)
    out = np.zeros_like(given[0])
    timers = {}
    for by, fill in others.items():
        if by != CHESS or boards <= _MOST_BY_CHESS:
            ready = fill(*given)
            timers[by, boards, 1] = timer(ready.func, ready.args)
    for threads in sorted({1, 2, os.cpu_count() or 1}):
        shared = {"threads": threads} if threads > 1 else {}
        timers[OURS, boards, threads] = timer(run, given, **shared)
        timers[OUT, boards, threads] = timer(run, given, out=out, **shared)
    timers[COPY, boards, 1] = timer(_copied, (given[:2], (out, np.zeros_like(out))))
    if boards == _AT_ONCE:
        batch = find(f"{UNION}.batch")
        loop, kernel = in_memory(lower(batch, best_isa(batch), host().name))
        for number in (boards, 0):
            timers[LOOP, number, 1] = _of_loop(loop, kernel, (*given, out), number)
    for (by, length, threads), (fastest, middle) in by_turns(timers, seconds).items():
        yield Call(by, UNION, length, threads, fastest, middle)


def _copied(given: Sequence[Boards], into: Sequence[Boards]) -> None:
    """As many bytes read and written as a fill of three arrays to one reads and writes, half of them read."""
    for each, copy in zip(given, into, strict=True):
        np.copyto(copy, each)


def _of_loop(loop: Executable, kernel: Executable, operands: Sequence[Boards], boards: int) -> Timer:
    """Of the machine code that NumPy calls, by ctypes, on the first boards of contiguous arrays."""
    pointers = (ctypes.c_void_p * len(operands))(*(each.ctypes.data for each in operands))
    steps = (ctypes.c_ssize_t * len(operands))(*(8 for _ in operands))
    number = (ctypes.c_ssize_t * 1)(boards)
    call = loop.function(None, (ctypes.c_void_p,) * 4)
    return timer(call, (pointers, number, steps, kernel.address()))
