"""The table of operations: what is derived from `compute` holds, and every language says each or refuses in a line."""

import random

import pytest

from setwise.codegen.export.sources.c import _C
from setwise.codegen.export.sources.expression_templates import EXPRESSIONS
from setwise.codegen.export.sources.language import Inexpressible, Language
from setwise.codegen.export.sources.rust import _Rust
from setwise.codegen.export.sources.zig import _Zig
from setwise.codegen.ir.operations import ALL, OPERATIONS, Operation
from setwise.codegen.targets import TARGETS
from tests.codegen.targets.rows import values

COMPUTED = [one for one in OPERATIONS.values() if one.compute is not None]
FOLLOWED = [one for one in COMPUTED if one.bitwise or one.left]
ZIG_LACKS = (
    *("permute-bytes", "multishift", "affine", "popcount-bytes"),
    *("nonzero-bytes-mask", "not-less-bytes-mask", "from-mask", "or-masks"),
)
MACHINE_ALONE = frozenset(
    {"store", "reload", "argument", "load-constant", "entry", "address", "distance", "sub-borrow"},
)
"""Operations that only machine code needs: spills, stack arguments, tables, flags. Source has no templates for them."""


def arguments(operation: Operation) -> list[list[int]]:
    """Numbers for each of its arguments, and a count where it has one."""
    rng = random.Random(operation.name)
    assert operation.compute is not None
    names = operation.compute.__code__.co_varnames[: operation.compute.__code__.co_argcount]
    counts = [0, 1, 7, 63]
    words = [0, 1, ALL, 0xFF00, *(rng.getrandbits(64) for _ in range(4))]
    return [[rng.choice(counts) if name in ("n", "count") else rng.choice(words) for name in names] for _ in range(200)]


@pytest.mark.parametrize("operation", FOLLOWED, ids=lambda one: one.name)
def test_what_is_known_of_bits_follows_from_what_is_computed(operation: Operation) -> None:
    rng = random.Random(operation.name)
    for numbers in arguments(operation):
        args, count = (numbers[:1], numbers[1]) if operation.left else (numbers, 0)
        counts = [count] if operation.left else []
        zeros = tuple(rng.getrandbits(64) & ~number & ALL for number in args)
        result, wanted = operation.of(*args, *counts), rng.getrandbits(64)
        assert result & operation.zeros(zeros, count, loose=False) == 0
        if not operation.left:
            assert operation.zeros(zeros, count, loose=True) == operation.zeros(zeros, count, loose=False)
        for at, number in enumerate(args):
            unseen = ALL & ~operation.demanded(wanted, at, zeros, count)
            other = [*args[:at], number ^ unseen & rng.getrandbits(64), *args[at + 1 :]]
            assert (operation.of(*other, *counts) ^ result) & wanted == 0


def test_masks_and_shifts_are_seen_through() -> None:
    assert OPERATIONS["and"].zeros((0xF0, 0x0F), 0, loose=False) == 0xFF
    assert OPERATIONS["andn"].zeros((0xF0, 0x0F), 0, loose=False) == 0x0F
    assert OPERATIONS["and"].demanded(0xFF, 0, (0, 0x0F), 0) == 0xF0
    assert OPERATIONS["shl"].zeros((1 << 63,), 8, loose=False) == 0x80 | (0x80 ^ 0xFF)
    assert OPERATIONS["shl"].zeros((1 << 63,), 8, loose=True) == 0x80
    assert OPERATIONS["shr"].demanded(0xFF, 0, (0,), 8) == 0xFF00


@pytest.mark.parametrize("operation", COMPUTED, ids=lambda one: one.name)
def test_what_is_said_of_arguments_is_so(operation: Operation) -> None:
    for numbers in arguments(operation):
        result = operation.of(*numbers)
        if operation.commutes:
            assert operation.of(*numbers[::-1]) == result
        for constant, made in ((operation.neutral, numbers[0]), (operation.absorbing, operation.absorbing)):
            if constant is not None:
                assert operation.of(numbers[0], constant) == made
        if operation.idempotent:
            assert operation.of(numbers[0], numbers[0]) == numbers[0]


@pytest.mark.parametrize(
    "operation", [one for one in COMPUTED if "C" in EXPRESSIONS.get(one.name, ())], ids=lambda one: one.name
)
def test_the_text_of_c_computes_it(operation: Operation) -> None:
    """C's operators on unsigned numbers are Python's, up to the bits above; so are these calls."""
    calls = {
        "SETWISE_CAST": lambda kind, value: kind(value),
        "uint64_t": lambda number: number & ALL,
        "int64_t": lambda number: number - (number >> 63 << 64),
        "_tzcnt_u64": lambda number: f"{1 << 64 | number:b}"[::-1].index("1"),
        "_mm_popcnt_u64": int.bit_count,
        "_pext_u64": _digits_kept,
        "_pdep_u64": _digits_laid,
    }
    assert operation.compute is not None
    for numbers in arguments(operation):
        count = numbers[-1] if operation.compute.__code__.co_varnames[len(numbers) - 1] in ("n", "count") else 0
        text = EXPRESSIONS[operation.name]["C"].format(
            a=numbers[0],
            b=numbers[min(1, len(numbers) - 1)],
            c=numbers[min(2, len(numbers) - 1)],
            n=count,
            m=-count % 64,
        )
        assert eval(text, calls) & ALL == operation.of(*numbers), text


def _digits_kept(number: int, mask: int) -> int:
    """Of binary digits those where the mask has a one."""
    return int(
        "0" + "".join(digit for digit, one in zip(f"{number:064b}", f"{mask:064b}", strict=True) if one == "1"), 2
    )


def _digits_laid(number: int, mask: int) -> int:
    """The last binary digits in turn where the mask has a one."""
    digits = [*f"{number:064b}"]
    return int("".join([digits.pop() if one == "1" else "0" for one in f"{mask:064b}"[::-1]][::-1]), 2)


def test_every_operation_of_rows_is_in_the_table() -> None:
    rows = {row.op for target in TARGETS.values() for row in target.rows}
    assert rows <= OPERATIONS.keys()


@pytest.mark.parametrize("language", [_C(), _Rust(), _Zig()], ids=["c", "rust", "zig"])
def test_every_language_says_what_rows_make_or_refuses_it_in_a_line(language: Language) -> None:
    refused = set()
    for target in TARGETS.values():
        for row in target.rows:
            for value in values(target, row) if row.op not in MACHINE_ALONE else ():
                try:
                    assert language.operation(value, ("x", "y", "z")[: len(value.args)])
                except Inexpressible as error:
                    refused.add(str(error))
    known = {f"Zig has no expression for '{op}'" for op in ZIG_LACKS}
    assert refused == (known if language.NAME == "Zig" else set())
