"""Whatever somebody hands to a kernel as boards, arrays or numbers: it is right, or refused in one line."""

from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import setwise
from setwise.codegen.run.executable import runnable
from tests.codegen.run.arrays import NORTH_EAST, Boards, kernel
from tests.conftest import runs

pytestmark = runs


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
        given_boards = [each.copy() for each in (sliders, empty)]
        made = run(sliders, empty, out=result)
    except (TypeError, ValueError) as error:
        assert_one_line(error)
        np.testing.assert_array_equal(SCRATCH, before)
        return
    assert EXPECTED is not None
    shape = made.shape
    pairs = zip(*(np.broadcast_to(each, shape).ravel().tolist() for each in given_boards), strict=True)
    assert made.ravel().tolist() == [EXPECTED(*pair) for pair in pairs]
    if result is not None:
        assert made is result
        if result.size:
            start = result.ctypes.data - SCRATCH.ctypes.data
            np.ndarray(shape, np.uint64, before, start, result.strides)[...] = made
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
GIVEN = SCALARS | st.lists(SCALARS, max_size=4)


@settings(max_examples=300, deadline=None)
@given(GIVEN, GIVEN)
@example(np.ma.masked, 0)
def test_any_scalars_are_right_or_refused(sliders: Any, empty: Any) -> None:
    run = setwise.kernel("kogge-stone.attacks.noEa", isa="x86-64")
    try:
        made = run(sliders, empty)
    except (TypeError, ValueError) as error:
        assert_one_line(error)
        return
    assert made == run(int(sliders), int(empty))
