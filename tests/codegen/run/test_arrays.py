"""Routines on arrays, from Python: the same wherever they lie, nothing touched beside them, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import setwise
from setwise.analysis.run.workers import in_own_process
from setwise.codegen.machine.convention import SYSV, WIN64
from setwise.codegen.run.arrays import prepared
from setwise.codegen.run.call import host
from setwise.codegen.run.executable import runnable
from tests.codegen.run.arrays import Boards, boards, kernel, kernels

pytestmark = pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here")

ROOT = Path(__file__).parents[3]
NORTH_EAST = "kogge-stone.attacks.noEa.batch"
UNION = "sliders.union.batch"
ALL = tuple(kernels()) if runnable() else ()
QUICK = tuple(each for each in ALL if each[0] == NORTH_EAST)
FENCED = (*QUICK, *[each for each in ALL if each[0] == UNION][-3:-2]) if ALL else ()
EVERY = [pytest.param(*each, marks=[] if each in QUICK else pytest.mark.slow) for each in ALL]
CANARY = np.uint64(0xDEAD_BEEF_0BAD_F00D)


def test_the_quick_ones_are_of_every_instruction_set() -> None:
    assert {each[1:] for each in QUICK} == {each[1:] for each in ALL}
    assert {each[0] for each in FENCED} == {NORTH_EAST, UNION}


@pytest.mark.parametrize(("name", "isa", "lanes"), EVERY)
def test_every_tail_in_a_new_array_a_given_one_and_in_place(name: str, isa: str, lanes: int) -> None:
    run = kernel(name, isa, lanes)
    for n in (*range(2 * lanes + 2), 10 * lanes + 1):
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
            assert run(*arrays, result=arrays[at]) is arrays[at]
            np.testing.assert_array_equal(arrays[at], expected)


def at_byte(words: Boards, offset: int) -> tuple[Boards, Boards, Boards]:
    """The words as an array that begins at that byte, and the words before and behind it."""
    memory = bytearray(8 * len(words) + 96)
    size = len(words)
    whole: Boards = np.ndarray((size + 2,), np.uint64, memory, offset)
    whole[:] = CANARY
    whole[1:-1] = words
    return whole[1:-1], whole[:1], whole[-1:]


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
            run(*inputs, result=result)
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


@pytest.mark.parametrize("abi", [SYSV.name, WIN64.name])
def test_either_convention(abi: str) -> None:
    given, expected = boards(NORTH_EAST, 21)
    run = setwise.kernel(NORTH_EAST, abi=abi)
    np.testing.assert_array_equal(run(*given), expected)
    assert run(*given, result=given[0]) is given[0]
    np.testing.assert_array_equal(given[0], expected)


def test_no_copies_are_made() -> None:
    sliders, empty = np.zeros((2, 5), np.uint64)
    addresses, _, result = prepared(("sliders", "empty"), (sliders, empty))
    assert addresses == [sliders.ctypes.data, empty.ctypes.data, result.ctypes.data]
    empty.flags.writeable = False
    sliders[2] = 1
    run = setwise.kernel(NORTH_EAST)
    out = np.empty(5, np.uint64)
    assert run(sliders, empty, result=out) is out
    assert out.tolist() == [0, 0, 1 << 9, 0, 0]
    # What is read may lie anywhere, what is written may touch what is read.
    board = np.arange(10, dtype=np.uint64)
    np.testing.assert_array_equal(run(board[1:6], board[:5]), run(board[1:6].copy(), board[:5].copy()))
    separate = run(board[:5].copy(), board[:5].copy())
    np.testing.assert_array_equal(run(board[:5], board[:5], result=board[5:]), separate)


SOME = np.arange(8, dtype=np.uint64)
FROZEN = np.zeros(8, np.uint64)
FROZEN.flags.writeable = False
SHARED = np.zeros(16, np.uint64)
BYTES = np.zeros(80, np.uint8)
Call = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f(SOME.astype(np.int64), SOME), TypeError, r"sliders holds int64.*sliders\.astype\(np\.uint64\)"),
        (lambda f: f(SOME, SOME.astype(float)), TypeError, r"empty holds float64, not uint64"),
        (lambda f: f(SOME, SOME.astype(">u8")), TypeError, r"empty holds >u8"),
        (lambda f: f(SOME, SOME, result=np.zeros(8, np.int64)), TypeError, "result holds int64"),
        (lambda f: f(SOME, list(SOME)), TypeError, r"empty is of type list.*np\.array\("),
        (lambda f: f(SOME, 0), TypeError, "empty is of type int"),
        (lambda f: f([0], [1], result=SOME), TypeError, "sliders is of type list"),
        (lambda f: f(SOME, SOME, result=[0] * 8), TypeError, "result is of type list"),
        (lambda f: f(SOME), TypeError, r"takes 2 arguments \(sliders, empty\), not 1"),
        (lambda f: f(SOME, SOME, SOME), TypeError, "not 3"),
        (lambda f: f(SOME.reshape(2, 4), SOME), ValueError, r"sliders has 2 dimensions.*reshape\(-1\)"),
        (lambda f: f(SOME, np.array(1, np.uint64)), ValueError, "empty has 0 dimensions"),
        (lambda f: f(SOME, SOME[:7]), ValueError, "empty has length 7, sliders has length 8"),
        (
            lambda f: f(SOME, SOME, result=np.empty(9, np.uint64)),
            ValueError,
            "result has length 9, sliders has length 8",
        ),
        (lambda f: f(SOME[::2], SOME[:4]), ValueError, r"sliders is not contiguous.*np\.ascontiguousarray\(sliders\)"),
        (lambda f: f(SOME[::-1], SOME), ValueError, "sliders is not contiguous"),
        (lambda f: f(SOME[:4], SOME[:4], result=SHARED[:8:2]), ValueError, "result is not contiguous"),
        (
            lambda f: f(np.ma.masked_array(SOME), SOME),
            TypeError,
            r"sliders has a mask \(MaskedArray\).*sliders\.filled",
        ),
        (lambda f: f(SOME, SOME, result=np.ma.masked_array(SOME)), TypeError, "result has a mask"),
        (lambda f: f(SOME, SOME, result=FROZEN), ValueError, "result is read-only"),
        (lambda f: f(SHARED[:8], SOME, result=SHARED[1:9]), ValueError, "result overlaps sliders in part.*apart from"),
        (lambda f: f(SOME, SHARED[7:15], result=SHARED[:8]), ValueError, "result overlaps empty in part"),
        (
            lambda f: f(SOME, BYTES[:64].view(np.uint64), result=BYTES[1:65].view(np.uint64)),
            ValueError,
            "result overlaps empty in part",
        ),
    ],
)
def test_what_is_refused(call: Call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as refusal:
        call(setwise.kernel(NORTH_EAST))
    assert "\n" not in str(refusal.value)


def test_nothing_overlaps_an_empty_array() -> None:
    run = setwise.kernel(NORTH_EAST)
    assert run(SHARED[3:3], SHARED[4:4], result=SHARED[3:3]).shape == (0,)


def test_a_routine_on_boards_takes_no_result() -> None:
    with pytest.raises(TypeError, match=r"kogge-stone\.attacks\.noEa takes no result"):
        setwise.kernel("kogge-stone.attacks.noEa")(1, 2, result=SOME)


SPINS = f"""
import sys, threading
from dataclasses import replace
import numpy as np
from setwise.codegen.run.call import Function
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Code, Instruction, Label, Memory
kernel = lower(find({NORTH_EAST!r}), abi={host().name!r})
first = Memory(64, kernel.convention.arguments[0])
wait = (Label("wait"), Instruction("cmp", (first, 0)), Instruction("je", (Label("wait"),)), Instruction("ret"))
run = Function(replace(kernel, code=Code("wait", wait)))
sliders, empty = np.zeros((2, 1), np.uint64)
inside = threading.Thread(target=run, args=(sliders, empty))
inside.start()
sliders[0] = 1  # no thread gets here while the code waits for it, unless the lock is free
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


FORKS = """
import os, signal, sys, threading, time
import setwise
run = setwise.kernel("kogge-stone.attacks.noEa", abi="win64")
inside = threading.Event()
real = run._runner._drive
def drive(*arguments):
    inside.set()
    time.sleep(0.5)
    return real(*arguments)
run._runner._drive = drive
worker = threading.Thread(target=run, args=(1, 0))
worker.start()
inside.wait()  # the lock is held now
child = os.fork()
if not child:
    signal.alarm(20)
    os._exit(run([1, 2], 0) != [1 << 9, 2 << 9])
worker.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_while_a_thread_is_in_a_kernel_can_call_it() -> None:
    subprocess.run([sys.executable, "-c", FORKS], cwd=ROOT, check=True, timeout=60)


class Liar(np.ndarray):  # type: ignore[type-arg]
    """An array whose class says of it whatever it was told to."""

    told: ClassVar[dict[str, Any]] = {}

    def __getattribute__(self, name: str) -> Any:
        return Liar.told[name] if name in Liar.told else super().__getattribute__(name)

    def __len__(self) -> int:
        return int(Liar.told.get("length", 1 << 40))


class Pointer:
    data = 8


LIES = st.fixed_dictionaries(
    {},
    optional={
        "length": st.integers(0, 1 << 40),
        "shape": st.tuples(st.integers(0, 1 << 40)),
        "nbytes": st.integers(0, 1 << 40),
        "ctypes": st.just(Pointer),
        "dtype": st.just(np.dtype(np.uint64)),
        "ndim": st.just(1),
        "flags": st.just(np.zeros(1, np.uint64).flags),
        "view": st.just(lambda *_: np.zeros(1 << 20, np.uint64)),
        "__array_interface__": st.just({"data": (8, False)}),
    },
)


@settings(max_examples=200, deadline=None)
@given(LIES, st.integers(0, 6))
def test_what_a_class_says_of_its_arrays_does_not_count(lies: dict[str, Any], size: int) -> None:
    given_boards, expected = boards(NORTH_EAST, size)
    fenced = [at_byte(each, 8) for each in (*given_boards, expected * 0)]
    run = kernel(NORTH_EAST, "x86-64", 1)
    Liar.told = lies
    try:
        inputs = [each.view(Liar) for each, _, _ in fenced[:-1]]
        result = fenced[-1][0].view(Liar)
        in_own_process(lambda: (run(*inputs, result=result), None)[1])  # it may crash
        assert run(*inputs, result=result) is result
    finally:
        Liar.told = {}
    np.testing.assert_array_equal(fenced[-1][0], expected)
    assert all(fence == CANARY for _, *fences in fenced for fence in fences)


DTYPES = ["<u8", ">u8", "<i8", "<f8", "<u4", "u1", "O", "M8[s]", "?", "V8", "U2"]


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Boards in whatever shape, order, place and type somebody may have them, over one memory of 64 words."""
    kind = draw(st.sampled_from([*["<u8"] * 6, *DTYPES]))
    memory = SCRATCH if kind != "O" else np.zeros(64, object)
    words = memory if kind == "O" else memory.view(np.uint8)[draw(st.sampled_from([0, 0, 1])) :]
    if kind != "O":
        size = np.dtype(kind).itemsize
        words = words[: len(words) // size * size].view(kind)
    start, stop = draw(st.integers(0, 8)), draw(st.integers(0, 14))
    shaped = words[start : start + stop : draw(st.sampled_from([1, 1, 1, 2, -1]))]
    if len(shaped) and draw(st.integers(0, 9)) == 0:
        shaped = np.broadcast_to(shaped[:1], (draw(st.integers(1, 14)),))
    if draw(st.integers(0, 9)) == 0:
        shaped = shaped.reshape(1, -1)
    if draw(st.integers(0, 9)) == 0:
        shaped = shaped.view()
        shaped.flags.writeable = False
    if draw(st.integers(0, 9)) == 0:
        shaped = np.ma.masked_array(shaped)
    return shaped


def assert_one_line(error: Exception) -> None:
    assert "\n" not in str(error)


SCRATCH: Boards = np.zeros(64, np.uint64)
EXPECTED = setwise.kernel("kogge-stone.attacks.noEa") if runnable() else None


@settings(max_examples=300, deadline=None)
@given(arrays(), arrays(), st.none() | arrays())
def test_any_arrays_are_right_or_refused(sliders: Any, empty: Any, result: Any) -> None:
    """Whatever is written lies within the result, and is what a routine on single boards gives."""
    SCRATCH[:] = np.arange(64, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    run = kernel(NORTH_EAST, "x86-64", 1)
    before = SCRATCH.copy()
    try:
        given_boards = [each.tolist() for each in (sliders, empty)]
        made = run(sliders, empty, result=result)
    except (TypeError, ValueError) as error:
        assert_one_line(error)
        np.testing.assert_array_equal(SCRATCH, before)
        return
    assert EXPECTED is not None
    assert made.tolist() == EXPECTED(*given_boards)
    if result is not None:
        result.view(np.ndarray)[:] = 0
        first = (result.ctypes.data - SCRATCH.ctypes.data) if len(result) else 0
        before.view(np.uint8)[first : first + result.nbytes] = 0
    np.testing.assert_array_equal(SCRATCH, before)


SCALARS = (
    st.integers(-5, (1 << 64) + 5)
    | st.integers(0, (1 << 64) - 1).map(np.uint64)
    | st.integers(-(1 << 63), (1 << 63) - 1).map(np.int64)
    | st.floats()
    | st.floats().map(np.float64)
    | st.booleans()
    | st.booleans().map(np.bool_)
    | st.none()
    | st.text(max_size=3)
    | st.binary(max_size=3)
)
GIVEN = (
    SCALARS
    | st.lists(SCALARS, max_size=4)
    | st.lists(SCALARS, max_size=4).map(tuple)
    | st.dictionaries(SCALARS, SCALARS, max_size=2)
)


@settings(max_examples=300, deadline=None)
@given(GIVEN, GIVEN)
@example(np.ma.masked, 0)
@example([np.ma.masked], 0)
def test_any_scalars_are_right_or_refused(sliders: Any, empty: Any) -> None:
    run = setwise.kernel("kogge-stone.attacks.noEa", isa="x86-64")
    try:
        made = run(sliders, empty)
    except (TypeError, ValueError) as error:
        assert_one_line(error)
        return
    plain = [list(map(int, each)) if isinstance(each, list | tuple) else int(each) for each in (sliders, empty)]
    assert made == run(*plain)


def test_numpys_integers_are_integers() -> None:
    run = setwise.kernel("kogge-stone.attacks.noEa")
    assert run(np.uint64(1), np.int8(0)) == 1 << 9
    assert run([np.uint64(1), 2], np.zeros(2, np.int16)) == [1 << 9, 2 << 9]
    assert setwise.kernel("exploding.rook")(np.uint8(0), np.uint64(0)) == (1 << 8) + 2


def test_numpy_is_loaded_only_by_who_has_arrays() -> None:
    source = (
        "import sys, setwise\n"
        f"north_east = setwise.kernel({NORTH_EAST!r}, isa='x86-64')\n"
        "assert north_east([1, 2], [0, 0]) == [1 << 9, 2 << 9]\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True)
