"""Kernels as functions on integers: what they take and refuse, whatever the kernel's convention."""

import ctypes
import gc
import inspect
import pickle
import tracemalloc
from collections.abc import Callable
from functools import cache
from itertools import product
from operator import index
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setwise
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import CONVENTIONS, SYSV, WIN64, Convention
from setwise.codegen.run.call import Runner, best_isa, host, missing, runner, signature_of
from setwise.codegen.run.executable import Executable, runnable
from setwise.codegen.run.function import Function
from setwise.codegen.run.harness import GENERAL, Signature
from setwise.codegen.run.loop import inner_loop
from setwise.codegen.targets import TARGETS
from tests.conftest import require_module, runs

pytestmark = runs

ALL = (1 << 64) - 1
WORDS = st.integers(0, ALL) | st.sampled_from([0, 1, ALL - 1, ALL, 1 << 63])
_U64 = ctypes.c_uint64

CALLED = ("kogge-stone.empty-fill.east", "push.attacks.soWe", "exploding.direction", "sliders.pair")


made = cache(setwise.kernel)


def test_whatever_has_an_index_is_an_integer() -> None:
    chess = require_module("chess")
    south, empty = made("kogge-stone.attacks.sout"), 0x00FF_FFFF_FFFF_FF00

    class Four:
        def __index__(self) -> int:
            return 4 << 40

    for sliders in (chess.SquareSet([42]), Four(), np.uint64(4 << 40), np.int64(4 << 40)):
        assert south(sliders, empty) == south(sliders, chess.SquareSet(empty)) == south(index(sliders), empty)
    assert south(True, 0) == south(1, 0)
    for wrong in (1.0, "1", b"1", None, 1j, {1}, [1]):
        with pytest.raises(TypeError, match=r"^sliders is of type \w+: give an integer, or np.array"):
            south(wrong, 0)


def test_arguments_go_by_name() -> None:
    union = made("sliders.union")
    assert union(occupied=5, rooks=1, bishops=4) == union(1, occupied=5, bishops=4) == union(1, 4, 5)
    refusals: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: union(1, 4, squares=5), "takes no squares: it takes rooks, bishops, occupied, out"),
        (lambda: union(1, 4, bishops=5), "is given bishops twice, by position and by name: give it once"),
        (lambda: union(1, occupied=5), r"takes 3 arguments \(rooks, bishops, occupied\), not 2"),
        (lambda: union(1, 4, 5, 6), "takes 3 arguments .*, not 4"),
        (lambda: union(), "takes 3 arguments .*, not 0"),
    )
    for wrong, message in refusals:
        with pytest.raises(TypeError, match=f"^sliders.union {message}$"):
            wrong()


def test_the_signature_is_true() -> None:
    union = made("sliders.union")
    assert str(inspect.signature(union)) == "(rooks, bishops, occupied, *, out=None)"
    assert inspect.signature(union).bind(1, occupied=2, bishops=3).args == (1, 3, 2)

    @setwise.routine
    def united(out: setwise.Board, others: setwise.Board) -> setwise.Board:
        """A parameter may have any name."""
        return out | others

    run = united.kernel()
    assert str(inspect.signature(run)) == "(out, others)"
    assert run(out=1, others=2) == run(1, others=2) == 3
    assert run(np.ones(2, np.uint64), others=6).tolist() == [7, 7]


def test_several_results_have_names_and_travel() -> None:
    pair = made("sliders.pair")(1, 2, 3)
    assert (pair.orthogonal, pair.diagonal) == pair
    again = pickle.loads(pickle.dumps(pair))
    assert again == pair
    assert type(again) is type(pair)
    assert [again for again, _ in [pair]] == [pair.orthogonal]


def conventional() -> list[Any]:
    """Kernels of every convention with one parameter to four, several results, and boards for lanes."""
    kernels: list[Any] = []
    for name, abi in product(CALLED, CONVENTIONS):
        routine = find(name)
        of_wiki = len(routine.contract.parameters) == 2 and routine.batched
        for isa in dict.fromkeys(("x86-64", best_isa(routine), *(routine.isas if routine.batched else ()))):
            if not missing(TARGETS[isa]) and (abi != "wiki" or of_wiki):
                kernels.append(pytest.param(name, isa, abi, id=f"{name}-{isa}-{abi}"))
    return kernels


@pytest.mark.parametrize(("name", "isa", "abi"), conventional() if runnable() else [])
def test_every_convention_gives_what_the_watched_kernel_gives(name: str, isa: str, abi: str) -> None:
    kernel = lower(find(name), isa, abi)
    run, n = Function(kernel), 8
    boards = np.random.default_rng(5).integers(0, ALL, (len(run.__signature__.parameters) - 1, n), np.uint64)
    for parameter, row in zip(kernel.routine.contract.parameters, boards, strict=False):
        row %= np.uint64(parameter.below or ALL)
    expected = np.zeros((n, len(kernel.routine.contract.results)), np.uint64)
    with runner(kernel) as watched:
        assert watched.run([row.ctypes.data for row in boards], expected.ctypes.data, n) is None
    for case, results in zip(boards.T.tolist(), expected.tolist(), strict=True):
        assert run(*case) == (tuple(results) if len(results) > 1 else results[0])


@pytest.mark.parametrize("platform", [SYSV, WIN64], ids=lambda convention: str(convention.name))
@pytest.mark.parametrize(("name", "isa", "abi"), conventional()[::3] if runnable() else [])
def test_the_loop_keeps_to_the_platforms_convention(name: str, isa: str, abi: str, platform: Convention) -> None:
    kernel = lower(find(name), isa, abi)
    contract, n = kernel.routine.contract, 5
    inputs = [p for p in contract.parameters if p.kind != "results"]
    operands = np.ones((len(inputs) + len(contract.results), 2 * n), np.uint64)
    assert loop_of(kernel, platform, operands[:, ::2]) is None
    results = Function(kernel)(*[1] * len(inputs))
    expected = results if isinstance(results, tuple) else (results,)
    assert operands[len(inputs) :].tolist() == [[board, 1] * n for board in expected]


def loop_of(kernel: Kernel, platform: Convention, operands: Any) -> Any:
    """Run a kernel's loop for another platform, watched."""
    assembled = assemble(kernel.code)
    loop = inner_loop(signature_of(kernel), len(kernel.routine.contract.results), platform)
    with (
        Executable(assembled.image, len(assembled.data)) as code,
        Runner(assemble(loop).image, 0, Signature(platform, (GENERAL,) * 4, None)) as watched,
    ):
        pointers = (_U64 * len(operands))(*(each.ctypes.data for each in operands))
        steps = (_U64 * len(operands))(*(each.strides[0] for each in operands))
        number = _U64(operands.shape[1])
        words = (_U64 * 4)(*map(ctypes.addressof, (pointers, number, steps)), code.address())
        return watched.run([ctypes.addressof(words) + 8 * at for at in range(4)], 0, 1)


@settings(max_examples=200, deadline=None)
@given(WORDS, WORDS, WORDS)
def test_any_words(rooks: int, bishops: int, occupied: int) -> None:
    run, number = made("bytewise.add"), made("exploding.bishop")
    assert run(rooks, bishops) == sum(
        ((rooks >> at & 0xFF) + (bishops >> at & 0xFF) & 0xFF) << at for at in range(0, 64, 8)
    )
    if rooks < 64:
        assert number(rooks, occupied) == number(square=rooks, free=occupied)
    else:
        with pytest.raises(ValueError, match=f"^square is {rooks}: it must be from 0 to 0x3f$"):
            number(rooks, occupied)


def test_a_call_leaves_nothing_behind() -> None:
    one, several = made("kogge-stone.attacks.sout"), made("sliders.pair")

    def calls() -> None:
        for _ in range(1000):
            one(ALL, 1 << 40)
            several(1 << 40, 1 << 50, ALL)
            for wrong in ((-1, 0), (1.5, 0), (1,)):
                with pytest.raises((TypeError, ValueError)):
                    one(*wrong)

    calls()
    gc.collect()
    tracemalloc.start()
    try:
        calls()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()


def test_it_is_in_the_platforms_convention() -> None:
    assert made("sliders.union").kernel.convention == host()
