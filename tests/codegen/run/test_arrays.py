"""Routines on arrays, from Python: the same wherever they lie, nothing touched beside them, and what is refused."""

import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import setwise
from setwise.codegen.catalogue import catalogue
from setwise.codegen.fills.batch import on_arrays
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import SYSV, WIN64
from setwise.codegen.run.call import best_isa, host, signature_of
from setwise.codegen.run.executable import runnable
from setwise.codegen.run.loop import LONG
from setwise.codegen.targets import VECTORS
from tests.codegen.run.arrays import CANARY, NORTH_EAST, Boards, at_byte, boards, cases, kernel, kernels
from tests.conftest import runs

pytestmark = runs

ROOT = Path(__file__).parents[3]
UNION = "sliders.union.batch"
ALL = tuple(kernels()) if runnable() else ()
QUICK = tuple(each for each in ALL if each[0] == NORTH_EAST)
FENCED = (*QUICK, *[each for each in ALL if each[0] == UNION][-3:-2]) if ALL else ()
EVERY = [pytest.param(*each, marks=[] if each in QUICK else pytest.mark.slow) for each in ALL]


def test_the_quick_ones_are_of_every_instruction_set() -> None:
    assert {each[1:] for each in QUICK} == {each[1:] for each in ALL}
    assert {each[0] for each in FENCED} == {NORTH_EAST, UNION}


@pytest.mark.parametrize(("name", "isa", "lanes"), EVERY)
def test_every_tail_in_a_new_array_a_given_one_and_in_place(name: str, isa: str, lanes: int) -> None:
    run = kernel(name, isa, lanes)
    for n in (*range(2 * lanes + 2), 131):
        given, expected = boards(name, n, n)
        before = [each.copy() for each in given]
        new = run(*given)
        assert new.dtype == np.uint64
        assert new.shape == (n,)
        np.testing.assert_array_equal(new, expected)
        for each, same in zip(given, before, strict=True):
            np.testing.assert_array_equal(each, same)
        for at in range(len(given)):
            arrays = [each.copy() for each in given]
            assert run(*arrays, out=arrays[at]) is arrays[at]
            np.testing.assert_array_equal(arrays[at], expected)


@pytest.mark.parametrize("beyond", [-1, 0, 1, 63])
def test_long_arrays_in_blocks(beyond: int) -> None:
    n = LONG + beyond
    given, expected = boards(NORTH_EAST, 89)
    run = kernel(NORTH_EAST, best_isa(catalogue()[NORTH_EAST]), None)
    np.testing.assert_array_equal(run(*(np.resize(each, n) for each in given)), np.resize(expected, n))


@pytest.mark.parametrize(("name", "isa", "lanes"), EVERY)
def test_any_alignment(name: str, isa: str, lanes: int) -> None:
    run = kernel(name, isa, lanes)
    n = 3 * lanes - 1
    given, expected = boards(name, n)
    count = len(given) + 1
    offsets = [8 * words for words in range(1, 8)] + [1, 3, 7, 31, 61]
    for shift, offset in enumerate(offsets):
        # Once all arrays lie alike, and once each lies otherwise.
        for places in ([offset] * count, [offsets[(shift + 2 * at) % len(offsets)] for at in range(count)]):
            placed = [at_byte(each, place) for each, place in zip([*given, expected * 0], places, strict=True)]
            *inputs, result = (each[0] for each in placed)
            run(*inputs, out=result)
            np.testing.assert_array_equal(result, expected)
            assert all(fence == CANARY for _, *fences in placed for fence in fences)


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.codegen.run.arrays", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def words(wanted: Sequence[tuple[str, str, int]]) -> list[str]:
    return [str(word) for each in wanted for word in each]


needs_mprotect = pytest.mark.skipif(sys.platform == "win32", reason="pages are fenced by mprotect")


@needs_mprotect
@pytest.mark.parametrize(
    "wanted",
    [FENCED, pytest.param(tuple(e for e in ALL if e not in FENCED), marks=pytest.mark.slow)],
    ids=["few", "others"],
)
def test_nothing_is_touched_beside_the_arrays(wanted: tuple[tuple[str, str, int], ...]) -> None:
    done = program(*words(wanted))
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr


@needs_mprotect
@pytest.mark.parametrize("where", ["beyond", "before"])
@pytest.mark.parametrize("which", [0, -1])
def test_the_fences_kill_who_touches_them(where: str, which: int) -> None:
    (first, *_, last) = [each for each in ALL if each[0] == NORTH_EAST]
    done = program(where, *words([last if which else first]))
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "")


def test_no_copies_are_made() -> None:
    run = setwise.kernel(NORTH_EAST)
    many = np.zeros((3, 100_000), np.uint64)
    run(*many[:2, :5])
    tracemalloc.start()
    try:
        run(*many[:2], out=many[2])
        run(many[0], 0, out=many[2])
        assert tracemalloc.get_traced_memory()[1] < 20_000
        run(*many[:2])
        assert tracemalloc.get_traced_memory()[1] < 820_000
    finally:
        tracemalloc.stop()
    sliders, empty = np.zeros((2, 5), np.uint64)
    empty.flags.writeable = False
    sliders[2] = 1
    out = np.empty(5, np.uint64)
    assert run(sliders, empty, out=out) is out
    assert out.tolist() == [0, 0, 1 << 9, 0, 0]
    # What is read may lie anywhere, what is written may touch what is read.
    board = np.arange(10, dtype=np.uint64)
    np.testing.assert_array_equal(run(board[1:6], board[:5]), run(board[1:6].copy(), board[:5].copy()))
    separate = run(board[:5].copy(), board[:5].copy())
    np.testing.assert_array_equal(run(board[:5], board[:5], out=board[5:]), separate)


SOME = np.arange(8, dtype=np.uint64)
FROZEN = np.zeros(8, np.uint64)
FROZEN.flags.writeable = False
SHARED = np.zeros(16, np.uint64)
Call = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f(SOME.astype(np.int64), SOME), TypeError, r"sliders holds int64.*sliders\.astype\(np\.uint64\)"),
        (lambda f: f(SOME, SOME.astype(float)), TypeError, r"empty holds float64, not uint64"),
        (lambda f: f(SOME, SOME.astype(">u8")), TypeError, r"empty holds >u8"),
        (lambda f: f(SOME, SOME, out=np.zeros(8, np.int64)), TypeError, "out holds int64"),
        (lambda f: f(SOME, list(SOME)), TypeError, r"empty is of type list.*np\.array\("),
        (lambda f: f(SOME, -1), ValueError, "empty is -1"),
        (lambda f: f(SOME, 0.5), TypeError, "empty is of type float"),
        (lambda f: f(SOME, SOME, out=[0] * 8), TypeError, "out is of type list"),
        (lambda f: f(SOME), TypeError, r"takes 2 arguments \(sliders, empty\), not 1"),
        (lambda f: f(SOME, SOME, SOME), TypeError, "not 3"),
        (lambda f: f(SOME.reshape(2, 4), SOME), ValueError, r"could not be broadcast.*\(2,4\) \(8,\)"),
        (lambda f: f(SOME, SOME[:7]), ValueError, r"could not be broadcast.*\(8,\) \(7,\)"),
        (lambda f: f(SOME, SOME, out=np.empty(9, np.uint64)), ValueError, r"could not be broadcast.*\(9,\)"),
        (lambda f: f(SOME, SOME, out=np.empty((), np.uint64)), ValueError, "non-broadcastable output"),
        (lambda f: f(SOME, SOME.view(np.recarray)), TypeError, r"empty is of type recarray.*np\.asarray\(empty\)"),
        (lambda f: f(SOME, SOME, out=SHARED[:8].view(np.recarray)), TypeError, "out is of type recarray"),
        (
            lambda f: f(np.ma.masked_array(SOME), SOME),
            TypeError,
            r"sliders has a mask \(MaskedArray\).*sliders\.filled",
        ),
        (lambda f: f(SOME, SOME, out=np.ma.masked_array(SOME)), TypeError, "out is of type MaskedArray"),
        (lambda f: f(SOME, SOME, out=FROZEN), ValueError, "out is read-only"),
    ],
)
def test_what_is_refused(call: Call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as refusal:
        call(setwise.kernel(NORTH_EAST))
    assert "\n" not in str(refusal.value)


def columns(name: str, n: int) -> list[Boards]:
    """Boards, and numbers that select something, as the routine takes them."""
    return [column[-n:].copy() for column in cases(name).columns]


def one_by_one(run: Callable[..., Any], given: Sequence[Boards]) -> Boards:
    """A row of results for each result of single boards."""
    cases = zip(*(each.tolist() for each in given), strict=True)
    return np.array([run(*case) for case in cases], np.uint64).reshape(len(given[0]), -1).T


def results_of(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


EVERY_ROUTINE = [
    *(pytest.param(name, "x86-64", id=name) for name in [*catalogue()][::13]),
    *(pytest.param(name, None, id=f"{name}-best", marks=pytest.mark.slow) for name in [*catalogue()][::11]),
    *(pytest.param(name, None, id=f"{name}-best") for name in ("dumb7.occluded.nort", "kogge-stone.attacks.vertical")),
]


@pytest.mark.parametrize(("name", "isa"), EVERY_ROUTINE)
def test_every_routine_takes_arrays(name: str, isa: str | None) -> None:
    """Side by side, with steps and backwards, one for all, in two dimensions: what it gives board by board."""
    run, n = setwise.kernel(name, isa), 30
    given = columns(name, n)
    expected = one_by_one(run, given)
    spaced = [np.repeat(each[::-1], 3)[::-3] for each in given]
    square = [each.reshape(5, 6) for each in given]
    turned = [np.asfortranarray(each) for each in square]
    for arrays in (given, spaced, square, turned):
        made = np.array(results_of(run(*arrays)))
        np.testing.assert_array_equal(made.reshape(len(expected), n), expected)
    one = run(given[0], *(int(each[0]) for each in given[1:]))
    first = run(given[0], *(each[:1] for each in given[1:]))
    np.testing.assert_array_equal(one, first)
    assert [int(each[0]) for each in results_of(one)] == expected[:, 0].tolist()


def test_the_vectors_are_used() -> None:
    """Contiguous boards go through the code on arrays of the best instruction set, any others one by one."""
    run = setwise.kernel("dumb7.occluded.nort")
    run(SOME, SOME)
    assert run._on_arrays is not None
    assert (run._on_arrays._code[1] is not run._code) == (best_isa(on_arrays(run.kernel.routine)) in VECTORS)
    plain = setwise.kernel("dumb7.occluded.nort", isa="x86-64")
    plain(SOME, SOME)
    assert plain._on_arrays is not None
    assert plain._on_arrays._code[1] is plain._code


class Moves(NamedTuple):
    pawns: setwise.Board
    knights: setwise.Board


@setwise.routine
def moves(pawns: setwise.Board, knights: setwise.Board, empty: setwise.Board) -> Moves:
    """Squares to which pawns and knights may go, some of them."""
    return Moves(pawns.step(setwise.NORT) & empty, knights.step(setwise.SOUT, setwise.SOUT, setwise.WEST) & empty)


def test_loops_read_no_more_pointers_than_there_are() -> None:
    """NumPy gives a pointer for each input and each result, and nothing behind them."""
    routine = on_arrays(moves.routine)
    arrays = signature_of(lower(routine, "sse2", host().name)).arguments[:-1]
    assert [slot.file for slot in arrays] == ["address"] * 3 + ["results"] * 2


@pytest.mark.parametrize("isa", ["x86-64", None])
def test_several_results_into_given_arrays(isa: str | None) -> None:
    run, n = moves.kernel(isa), 37
    given = list(np.random.default_rng(1).integers(0, 2**64, (3, n), np.uint64))
    expected = run(*given)
    assert expected.pawns is expected[0]
    np.testing.assert_array_equal(expected, one_by_one(run, given))
    whole = np.zeros((2, n), np.uint64)
    made = run(*given, out=tuple(whole))
    assert [each.base is whole for each in made] == [True, True]
    np.testing.assert_array_equal(whole, expected)
    partly = run(*given, out=(None, whole[0]))
    np.testing.assert_array_equal(partly, expected)
    for order in permutations(range(3), 2):
        arrays = [each.copy() for each in given]
        run(*arrays, out=tuple(arrays[at] for at in order))
        np.testing.assert_array_equal([arrays[at] for at in order], expected)
    memory = np.zeros(4 * n, np.uint64)
    placed = [memory[at * n : at * n + n] for at in range(3)]
    for array, each in zip(placed, given, strict=True):
        array[:] = each
    run(*placed, out=(memory[1 : n + 1], memory[2 * n - 3 : 3 * n - 3]))
    np.testing.assert_array_equal([memory[1 : n + 1], memory[2 * n - 3 : 3 * n - 3]], expected)
    for out, message in (
        (whole, r"^out is no tuple of 2 arrays: give 2, one for each result, or leave it out$"),
        ((whole[0],), r"^out is no tuple of 2 arrays: give 2, one for each result, or leave it out$"),
        ((whole[0], whole[1].astype(float)), r"^knights holds float64"),
    ):
        with pytest.raises(TypeError, match=message):
            run(*given, out=out)
    with pytest.raises(ValueError, match="broadcast"):
        run(*given, out=(whole[0], np.zeros((2, n), np.uint64)))


OVERLAPPING = (
    "kogge-stone.attacks.noEa",
    "kogge-stone.attacks.noEa.batch",
    "dumb7.occluded.soWe",
    "push.attacks.nort",
    "subtraction.attacks.east",
    "kogge-stone.attacks.rook",
    "sliders.union",
    "sliders.union.batch",
    "sliders.pair",
    "exploding.rook",
)
Views = Callable[[Boards, int, int], tuple[Boards, Boards]]
OVERLAPS: dict[str, Views] = {
    "before": lambda m, n, by: (m[99 : 99 + n], m[99 - by : 99 - by + n]),
    "behind": lambda m, n, by: (m[99 : 99 + n], m[99 + by : 99 + by + n]),
    "the same": lambda m, n, _: (m[99 : 99 + n], m[99 : 99 + n]),
    "reversed": lambda m, n, by: (m[99 : 99 + n][::-1], m[99 - by : 99 - by + n]),
    "reversed result": lambda m, n, by: (m[99 : 99 + n], m[99 + by : 99 + by + n][::-1]),
    "strided": lambda m, n, by: (m[99 : 99 + 2 * n : 2], m[99 + by : 99 + by + n]),
    "strided result": lambda m, n, by: (m[99 : 99 + n], m[99 - by : 99 - by + 2 * n : 2]),
    "one board": lambda m, n, by: (m[99 + by % n : 100 + by % n], m[99 : 99 + n]),
    "turned": lambda m, n, by: (m[99 : 99 + n * n].reshape(n, n), m[99 + by : 99 + by + n * n].reshape(n, n).T),
    "a column": lambda m, n, by: (m[99 : 99 + n], m[99 + by : 99 + by + n * n].reshape(n, n)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
@pytest.mark.parametrize("views", OVERLAPS)
def test_what_overlaps_is_read_before_it_is_written(name: str, views: str) -> None:
    """As NumPy's functions have it: the results are those of arrays that lie apart."""
    run = setwise.kernel(name)
    kinds = [p.kind for p in run.kernel.routine.contract.elements or run.kernel.routine.contract.parameters]
    usual = {"occupied": 2**64 - 1, "empty": 0x0F0F, "square": 27, "results": None}
    at = kinds.index("board") if "board" in kinds else 1
    whole = np.random.default_rng(7).integers(0, 2**63, 5000, np.uint64)
    for n, by in ((n, by) for n in (1, 2, 9, 31, 64) for by in (1, 2, 8, 17, 63)):
        memory = whole.copy()
        given, out = OVERLAPS[views](memory, n, by)
        arguments: list[Any] = [usual.get(kind, 0x8100) for kind in kinds if kind != "results"]
        arguments[at] = given.copy()
        expected = results_of(run(*arguments))
        others = tuple(np.zeros(out.shape, np.uint64) for _ in expected[1:])
        arguments[at] = given
        made = results_of(run(*arguments, out=(out, *others) if others else out))
        assert made[0] is out
        for each, wanted in zip(made, expected, strict=True):
            np.testing.assert_array_equal(each, np.broadcast_to(wanted, each.shape))


def test_results_that_overlap_themselves_or_each_other_are_refused() -> None:
    run, boards = setwise.kernel(NORTH_EAST), np.arange(6, dtype=np.uint64)
    memory = np.zeros(40, np.uint64)
    for shape, strides in (((6,), (0,)), ((6,), (4,)), ((2, 3), (8, 8)), ((6,), (-7,)), ((3, 2), (8, 16))):
        out = np.lib.stride_tricks.as_strided(memory[10:], shape, strides)
        with pytest.raises(ValueError, match=r"^out overlaps itself: give an array without overlapping elements$"):
            run(boards.reshape(shape), 0, out=out)
    out = memory[:36].reshape(2, 3, 6).transpose(2, 0, 1)[::-2, :, ::2]
    assert run(boards[:3, None, None], 0, out=out) is out
    with pytest.raises(ValueError, match=r"^arrays of out overlap each other: give one of its own for each result$"):
        moves(boards, boards, boards, out=(memory[:6], memory[5:11]))
    apart = memory[:12:2], memory[1:12:2]
    assert [each is to for each, to in zip(moves(boards, boards, boards, out=apart), apart, strict=True)] == [True] * 2


def test_numbers_that_select_something_broadcast() -> None:
    run = setwise.kernel("exploding.rook")
    squares, free = np.arange(64, dtype=np.uint64), np.array([[0], [2**64 - 1], [0xF0F0]], np.uint64)
    made = run(squares, free)
    assert made.shape == (3, 64)
    assert made.tolist() == [[run(square, each) for square in range(64)] for (each,) in free.tolist()]
    assert run(9, free).tolist() == [[run(9, each)] for (each,) in free.tolist()]
    assert run(np.uint64(9), 0) == run(np.array(9, np.uint64), 0) == run(9, 0)
    directed = setwise.kernel("kogge-stone.attacks.any")
    assert directed(1 << 27, 2**64 - 1, np.arange(8, dtype=np.uint64)).tolist() == [
        directed(1 << 27, 2**64 - 1, number) for number in range(8)
    ]
    for wrong in (squares + np.uint64(1), np.array([[0, 1 << 63]], np.uint64).T):
        with pytest.raises(ValueError, match=r"^square is \d+: it must be from 0 to 0x3f$"):
            run(wrong, 0)
    assert run(squares[:0], 0).shape == (0,)


def test_there_is_no_result_to_give() -> None:
    with pytest.raises(TypeError, match=r"kogge-stone\.attacks\.noEa takes no result"):
        setwise.kernel("kogge-stone.attacks.noEa")(1, 2, result=SOME)


SPINS = f"""
import sys, threading
import setwise
from dataclasses import replace
import numpy as np
from setwise.codegen.run.function import Function
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Code, Instruction, Label, Memory
from tests.conftest import runs
kernel = lower(find({NORTH_EAST!r}), abi={host().name!r})
first = Memory(64, kernel.convention.arguments[0])
wait = (Label("wait"), Instruction("cmp", (first, 0)), Instruction("je", (Label("wait"),)), Instruction("ret"))
run = Function(replace(kernel, code=Code("wait", wait)))
run(*np.ones((2, 1), np.uint64))
sliders, empty = np.zeros((2, 1000), np.uint64)  # NumPy keeps the lock for fewer than 500
inside = threading.Thread(target=run, args=(sliders, empty))
inside.start()
sliders[:] = 1  # no thread gets here while the code waits for it, unless the lock is free
inside.join()
"""


def test_other_threads_run_meanwhile() -> None:
    """Machine code that waits for what another thread writes comes back."""
    source = "import sys; sys.setswitchinterval(1e-6)\n" + SPINS
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, timeout=60)


def test_many_threads_share_a_kernel() -> None:
    given, expected = boards(NORTH_EAST, 500)
    for abi in (SYSV.name, WIN64.name):
        run = setwise.kernel(NORTH_EAST, abi=abi)
        with ThreadPoolExecutor(4) as pool:
            for result in pool.map(lambda _, run=run: run(*given), range(64)):
                np.testing.assert_array_equal(result, expected)


def test_numpy_is_loaded_only_by_who_has_arrays() -> None:
    source = (
        "import sys, setwise\n"
        f"north_east = setwise.kernel({NORTH_EAST!r}, isa='x86-64')\n"
        "assert north_east(1, 0) == 1 << 9\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True)
