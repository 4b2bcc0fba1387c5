"""One step in one operation: what is not ruled out is proved code, and no kind rules out an operation that is of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from setwise.analysis.bounds.steps import BESIDES, EVERYWHERE, OF_VECTORS, images, in_one
from setwise.analysis.code.decode import Binary
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.contracts import task_of
from setwise.codegen.board import DIRECTIONS
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.targets import SCALARS, TARGETS, VECTORS
from tests.analysis.listings import assemble
from tests.conftest import require_module

ALL = (1 << 64) - 1
KINDS = {**EVERYWHERE, **OF_VECTORS, **BESIDES}
IN_ONE = {
    **{("nort", isa): "psllq xmm0,8" for isa in VECTORS},
    **{("sout", isa): "psrlq xmm0,8" for isa in VECTORS},
    **{("east", isa): "paddb xmm0,xmm0" for isa in VECTORS},
    **{("nort", isa): "shl rdi,8" for isa in SCALARS},
    **{("sout", isa): "shr rdi,8" for isa in SCALARS},
    ("west", "gfni"): "vgf2p8affineqb xmm0,xmm0,xmm1,0",
}
"""One operation where the board is; of west its matrix lies in xmm1."""

MATRIX = "mov rax,0x0204081020408000; vmovq xmm1,rax; vpunpcklqdq xmm1,xmm1,xmm1;"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_operation_where_nothing_rules_it_out(direction: str) -> None:
    sets = {
        isa
        for isa, target in TARGETS.items()
        if in_one(direction, bool(target.vectors), {row.op for row in target.rows})
    }
    assert sets == {isa for way, isa in IN_ONE if way == direction}


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "isa"), [("east", "sse2"), ("west", "gfni"), ("nort", "bmi2"), ("sout", "avx2")])
def test_that_operation_is_proved(direction: str, isa: str) -> None:
    require_module("bitwuzla")
    operation = IN_ONE[direction, isa]
    general = "rdi" in operation
    code = f"{MATRIX if 'xmm1' in operation else ''} {operation}; {'mov rax,rdi;' * general} ret"
    kernel = lower(find(f"shift.one.{direction}"), isa, "sysv", 1 if general else 2)
    assert Prover().prove(Binary(assemble(code)), task_of(kernel)).status == "proved"


def each(width: int, function: Callable[[int], int]) -> Callable[[int], int]:
    every = (1 << width) - 1
    return lambda board: sum((function(board >> at & every) & every) << at for at in range(0, 64, width))


def gathered(board: int, mask: int) -> int:
    squares = [square for square in range(64) if mask >> square & 1]
    return sum((board >> square & 1) << at for at, square in enumerate(squares))


def scattered(board: int, mask: int) -> int:
    squares = [square for square in range(64) if mask >> square & 1]
    return sum((board >> at & 1) << square for at, square in enumerate(squares))


OPERATIONS: dict[str, tuple[Callable[[int], int], ...]] = {
    "a function of each square": (lambda b: b & 0x00FF_0F31, lambda b: ~b & ALL, lambda b: b ^ 0x1234_5678 << 30),
    "a shift": (
        each(32, lambda b: b << 5),
        lambda b: b >> 9,
        each(16, lambda b: (b | -(b >> 15) << 16) >> 3),
        lambda b: b,
    ),
    "a sum": (lambda b: b * 0x1234_5679 + 0x8765_4321 & ALL, lambda b: -b & ALL, lambda b: 9 * b & ALL),
    "sums of parts": (each(8, lambda b: 2 * b + 3), each(16, lambda b: 0x1234 - b), each(32, lambda b: b * 77777)),
    "bytes moved": (
        lambda b: int.from_bytes(b.to_bytes(8, "big"), "little"),
        lambda b: (b >> 13 & 0xFFFF) | 0xAB << 56,
    ),
    "bytes compared": (each(8, lambda b: b + 78 >> 1), each(8, lambda b: 255 * (b > 77)), each(8, lambda b: min(b, 9))),
    "a table of four bits": (each(8, lambda b: 0 if b & 0x80 else b * b & 0xF ^ b & 1),),
    "affine": (each(8, lambda b: b * b * 7 + 5),),
    "gather": (lambda b: gathered(b, 0x00FF_FF0F_1234_5678), lambda b: b >> 9),
    "scatter": (lambda b: scattered(b, 0x00FF_FF0F_1234_5678), lambda b: b << 9 & ALL),
}


@pytest.mark.parametrize("kind", OPERATIONS)
def test_a_kind_rules_out_no_operation_that_is_of_it(kind: str) -> None:
    can = KINDS[kind]
    for operation in OPERATIONS[kind]:
        assert can({board: operation(board) for board in images("nort")})
    assert not can(images("soEa"))


def test_operations_of_every_kind_are_tried() -> None:
    assert OPERATIONS.keys() == KINDS.keys()
