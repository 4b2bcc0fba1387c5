"""Random descriptions exported: assemblers make the same bytes of them, compilers code that gives the same."""

import ctypes
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from setwise.codegen.assemble import NotEncodable, assemble
from setwise.codegen.export.names import symbol
from setwise.codegen.export.prototypes import boards_a_call
from setwise.codegen.ir.control import repeat
from setwise.codegen.ir.values import Value, constant
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.targets.table import Refused
from tests.codegen.descriptions import RandomDescription, described
from tests.codegen.export.sources.exported import RUST, ZIG, C, Compiler, made
from tests.codegen.judging import assert_right, on_this_processor
from tests.codegen.programs import routine
from tests.conftest import few, require_module, runs

FEW, MANY = range(0, 72, 2), range(2000, 2100)


@cache
def sample(seeds: range) -> dict[str, tuple[RandomDescription, Kernel]]:
    """The kernels of these descriptions in System V's convention, by their symbols; the refused ones left out."""
    kernels = {}
    for description, isa, _ in map(described, seeds):
        with suppress(Refused):
            kernel = lower(description.routine, isa)
            kernels[symbol(kernel)] = description, kernel
    assert len(kernels) >= 0.95 * len(seeds)
    return kernels


few_and_many = pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=str)


@few_and_many
def test_both_assemblers_make_the_same_bytes(seeds: range) -> None:
    for module in ("peachpy", "iced_x86"):
        require_module(module)
    both = 0
    for _, kernel in sample(seeds).values():
        try:
            first = assemble(kernel.code, "peachpy")
        except NotEncodable:
            continue
        assert first == assemble(kernel.code, "iced")
        both += 1
    assert both > len(seeds) // 2


FLAGS = {"rustc": ("--crate-type=cdylib",), "zig": ("build-lib", "-dynamic", "-ODebug", "-fllvm")}


def _dead(a: Value, b: Value) -> tuple[Value, ...]:
    return (repeat(3, lambda x, y, z: (x << 1, y + x, z), a, b, constant(4))[0],)


BY_HAND: Mapping[str, Callable[..., tuple[Value, ...]]] = {
    "constant": lambda a, b: (constant(5),),
    "rotated": lambda a, b: (constant(5).rotate(a) ^ constant(3) << b,),
    "unread": lambda a, b: (b,),
    "dead": _dead,
}
"""What a compiler warned of, or did not take."""


@pytest.mark.parametrize("compiler", few([C[0], RUST, ZIG], 1))
def test_source_has_nothing_to_warn_of(compiler: Compiler, tmp_path: Path) -> None:
    functions = {name: lower(replace(routine(describe, 2), form=name)) for name, describe in BY_HAND.items()}
    lanes = replace(routine(lambda a, b: (constant(5, 4),), 2), form="lanes", isas=("avx2",), batched=True)
    flags = ("-mavx2",) if compiler is C[0] else ()
    made(tmp_path, compiler, functions | {"lanes": lower(lanes, "avx2")}, *FLAGS.get(compiler.name, ("-c",)), *flags)


@runs
@pytest.mark.parametrize(
    ("compiler", "seeds"),
    [
        (C[0], FEW),
        pytest.param(C[0], MANY, marks=pytest.mark.slow),
        pytest.param(RUST, FEW, marks=pytest.mark.slow),
        pytest.param(ZIG, FEW, marks=pytest.mark.slow),
    ],
)
def test_compiled_source_gives_what_the_evaluator_gives(compiler: Compiler, seeds: range, tmp_path: Path) -> None:
    # Vectors by value want flags of their own: those are another test's.
    functions = {name: both for name, both in sample(seeds).items() if boards_a_call(both[1]) == 1}
    flags = FLAGS.get(compiler.name, ("-shared", "-fPIC", "-O1"))
    library = ctypes.CDLL(
        str(made(tmp_path, compiler, {name: kernel for name, (_, kernel) in functions.items()}, *flags))
    )
    for name, (description, kernel) in functions.items():
        if not missing(kernel.target):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            jump = bytes.fromhex("ff2500000000") + address.to_bytes(8, "little")  # jmp [rip+0], and where to
            assert_right(on_this_processor(description, kernel, Random(description.seed), jump))
