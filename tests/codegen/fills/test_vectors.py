"""Kernels for vector registers: how few instructions they are, and that their bytes are what they say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from setwise.analysis import api
from setwise.analysis.code.count import Counts, classify, count
from setwise.analysis.code.decode import Decoded, Reg, decode, features
from setwise.codegen.assemble import NotEncodable, assemble, available
from setwise.codegen.board import DIR8
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import Kernel, widths
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Code, Instruction, Label, Memory
from setwise.codegen.run.call import is_batch, missing, runner
from setwise.codegen.run.function import Function
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused
from tests.analysis.semantics.test_forms import untried
from tests.codegen.assemble.test_assemble import gas, whole
from tests.codegen.run.arrays import boards
from tests.codegen.targets.tables import forms
from tests.conftest import require_module

WIDE = ("avx2", "avx512")
UNKNOWN_TO_PEACHPY = frozenset({"vgf2p8affineqb", "vpopcntb"})
NAMES = tuple(direction.name for direction in DIR8)


@cache
def made(name: str, isa: str, lanes: int | None = None, abi: str = "sysv") -> tuple[Kernel, tuple[Decoded, ...]]:
    kernel = lower(find(name), isa, abi, lanes)
    return kernel, decode(assemble(kernel.code).text)


def counts(name: str, isa: str, lanes: int | None = None) -> Counts:
    return count(made(name, isa, lanes)[1])


@pytest.mark.parametrize("isa", WIDE)
@pytest.mark.parametrize("direction", NAMES)
def test_one_direction_moves_nothing(direction: str, isa: str) -> None:
    assert counts(f"kogge-stone.attacks.{direction}", isa, 2).moves == 0


@pytest.mark.parametrize(
    "name",
    [
        "dumb7.attacks.vertical",
        "sliders.union",
        pytest.param("kogge-stone.attacks.eastward", marks=pytest.mark.slow),
        pytest.param("push.attacks.queen", marks=pytest.mark.slow),
        pytest.param("sliders.pieces", marks=pytest.mark.slow),
        pytest.param("side.union.white", marks=pytest.mark.slow),
    ],
)
def test_a_mirrored_board_in_the_second_lane_spares_instructions(name: str) -> None:
    assert counts(name, "sse2").instructions < counts(name, "x86-64").instructions
    assert "punpcklqdq" in {each.mnemonic for each in made(name, "sse2")[1]}


@pytest.mark.parametrize(("isa", "cycles"), [("avx512", 24), ("gfni", 23)])
def test_the_longest_path_of_eight_rays(isa: str, cycles: int) -> None:
    (cost,) = api.costs([api.request("sliders.union", isa)], "golden-cove")
    assert cost.rows[0]["latency"] <= cycles


def main_loop(decoded: tuple[Decoded, ...]) -> list[Decoded]:
    """The instructions of the first loop."""
    back = next(each for each in decoded if each.target is not None and each.target <= each.offset)
    return [each for each in decoded if back.target is not None and back.target <= each.offset <= back.offset]


def on_vectors(instruction: Decoded) -> bool:
    return any(isinstance(operand, Reg) and operand.file == "vector" for operand in instruction.operands)


@pytest.mark.parametrize(
    ("isa", "lanes", "most"), [("gfni", 8, 66), ("avx512", 8, 82), pytest.param("avx2", 4, 105, marks=pytest.mark.slow)]
)
def test_batches(isa: str, lanes: int, most: int) -> None:
    """Instructions of a round: but for two that count and branch they are on vectors, or fetch addresses."""
    body = main_loop(made("sliders.union.batch", isa, lanes)[1])
    assert len(body) <= most
    vectors = [each for each in body if on_vectors(each)]
    assert sum(classify(each) == "store" for each in vectors) == 1
    assert {each.mnemonic for each in body if not on_vectors(each)} <= {"mov", "sub", "jns"}


def every(name: str) -> Iterator[tuple[str, int, str]]:
    """Every kernel of a routine: instruction set, lanes, convention; of win64 those in vectors, at the usual width."""
    routine = find(name)
    for isa in routine.isas:
        usual, *others = widths(routine, TARGETS[isa])
        for lanes in (usual, *others):
            yield isa, lanes, "sysv"
        if usual > 1:
            yield isa, usual, "win64"


QUICK = [
    *((name, isa, TARGETS[isa].widths[0], "sysv") for name in ("sliders.union", "push.attacks.queen") for isa in WIDE),
    *((f"kogge-stone.attacks.{way}", isa, TARGETS[isa].widths[0], "sysv") for way in NAMES for isa in ("sse2", *WIDE)),
    *(
        (f"dumb7.attacks.{way}", isa, lanes, "sysv")
        for way in ("sout", "noEa")
        for isa, lanes in (("avx2", 2), ("avx512", 2))
    ),
    *((f"kogge-stone.attacks.noWe{end}", isa, 4, "win64") for end in ("", ".batch") for isa in WIDE),
    ("subtraction.attacks.east", "avx2", 4, "sysv"),
    ("kogge-stone.attacks.soEa.batch", "sse2", 2, "sysv"),
    ("dumb7.attacks.westward", "sse2", 2, "win64"),
    ("sliders.pair", "avx2", 4, "win64"),
    ("exploding.rook", "x86-64", 1, "sysv"),
    ("dumb7.occluded-until-dry.any", "bmi2", 1, "sysv"),
]


def assert_features_lie_within_the_targets(kernel: Kernel, decoded: Sequence[Decoded]) -> None:
    assert features(decoded) <= kernel.target.features
    if "avx" not in kernel.target.features:  # no register that needs more than its target has
        assert not {operand.bits for each in decoded for operand in each.operands if isinstance(operand, Reg)} & {
            256,
            512,
        }


def dirties(instruction: Decoded) -> bool:
    """Whether it leaves something in the upper half of a vector register that SSE code shares."""
    first = instruction.operands[0] if instruction.operands else None
    if not isinstance(first, Reg) or first.file != "vector" or first.full not in instruction.writes:
        return False
    return first.bits > 128 and int(first.name[3:]) < 16


def assert_upper_halves_are_clean_unless_the_result_is_there(
    kernel: Kernel, decoded: Sequence[Decoded], lanes: int
) -> None:
    routine = kernel.routine
    wide = routine.batched and not is_batch(routine) and lanes > 2
    dirty = [at for at, each in enumerate(decoded) if dirties(each)]
    cleaned = [at for at, each in enumerate(decoded) if each.mnemonic == "vzeroupper"]
    assert len(cleaned) == (1 if dirty and not wide else 0)
    if cleaned:
        assert cleaned[0] > dirty[-1]
        assert all(each.flow == "next" for each in decoded[cleaned[0] : -1])
        assert [each.mnemonic for each in decoded].count("ret") == 1
        assert all(each.target is None or each.target <= decoded[cleaned[0]].offset for each in decoded)


def assert_the_assemblers_agree(code: Code, folder: Path) -> None:
    image = assemble(code, "iced").image
    # Of vpopcntq it has only the form of 512 bits.
    narrow_counts = any(each.mnemonic == "vpopcntq" and "ymm" in str(each) for each in code.instructions)
    if UNKNOWN_TO_PEACHPY.isdisjoint(instruction.mnemonic for instruction in code.instructions) and not narrow_counts:
        assert assemble(code, "peachpy").image == image
    else:
        unknown = rf"PeachPy (has no instruction '({'|'.join(UNKNOWN_TO_PEACHPY)})'|cannot encode vpopcntq)"
        with pytest.raises(NotEncodable, match=unknown):
            assemble(code, "peachpy")
    assert gas(whole(code), folder) == image


def assert_its_mnemonics_are_tried_with_all_registers(code: Code) -> None:
    tried = {mnemonic for mnemonic, _ in forms()}
    used = {each.mnemonic for each in code.instructions}
    # All addresses are labels.
    branches = {"jmp", "je", "jne", "jb", "jbe", "ja", "jae", "jz", "jnz", "jc", "jnc", "js", "jns"}
    assert used - branches <= tried


def assert_bytes_are_what_they_say(name: str, isa: str, lanes: int, abi: str, folder: Path) -> None:
    require_module("peachpy")
    assert available() == ("peachpy", "iced")
    kernel, decoded = made(name, isa, lanes, abi)
    assert_features_lie_within_the_targets(kernel, decoded)
    assert_upper_halves_are_clean_unless_the_result_is_there(kernel, decoded, lanes)
    assert_its_mnemonics_are_tried_with_all_registers(kernel.code)
    assert untried(decoded) == set()
    assert_the_assemblers_agree(kernel.code, folder)


@pytest.mark.parametrize(("name", "isa", "lanes", "abi"), QUICK)
def test_bytes_are_what_they_say(name: str, isa: str, lanes: int, abi: str, tmp_path: Path) -> None:
    assert_bytes_are_what_they_say(name, isa, lanes, abi, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue())
def test_all_its_bytes_are_what_they_say(name: str, tmp_path: Path) -> None:
    """Every kernel of a routine is made once, for all that is asked of it."""
    for isa, lanes, abi in every(name):
        assert_bytes_are_what_they_say(name, isa, lanes, abi, tmp_path)


SAVING = "kogge-stone.attacks.rook.batch"


def saves(instruction: Instruction | Label, *, restores: bool) -> bool:
    """Whether it puts a vector register on the stack, or gets it from there."""
    if not isinstance(instruction, Instruction) or instruction.mnemonic not in ("movups", "vmovups"):
        return False
    return isinstance(instruction.operands[1 if restores else 0], Memory)


@pytest.mark.parametrize(("isa", "lanes"), [("sse2", 2), ("avx2", 4), ("avx2", 2)])
def test_win64_gets_its_vector_registers_back(isa: str, lanes: int) -> None:
    kernel, decoded = made(SAVING, isa, lanes, "win64")
    vectors = {f"zmm{number}" for number in range(6, 16)}
    kept = {each.full for one in decoded for each in one.operands if isinstance(each, Reg) and one.stores} & vectors
    changed = set().union(*(one.writes for one in decoded if one.mnemonic != "vzeroupper")) & vectors
    assert changed
    assert changed <= kept
    if missing(kernel.target):
        pytest.skip(f"not run: this processor lacks {missing(kernel.target)}")
    inputs, expected = boards(SAVING, 3 * lanes + 1)
    np.testing.assert_array_equal(Function(kernel)(*inputs), expected)
    # Without the way back the harness says which ones it misses.
    items = tuple(item for item in kernel.code.items if not saves(item, restores=True))
    assert len(items) < len(kernel.code.items)
    result = np.empty_like(expected)
    with runner(replace(kernel, code=replace(kernel.code, items=items))) as broken:
        violation = broken.run([each.ctypes.data for each in inputs], result.ctypes.data, len(result))
    assert violation is not None
    assert violation.breaches[0] == "xmm6 changed"


@pytest.mark.parametrize(
    ("name", "isa", "abi", "lanes", "message"),
    [
        ("kogge-stone.attacks.any", "avx512", "sysv", None, "any is not available for avx512: use one of x86-64, bmi2"),
        ("sliders.union", "avx512", "wiki", None, "wiki convention .* not for sliders.union: use sysv or win64"),
        ("sliders.union", "avx512", "sysv", 2, "sliders.union on avx512 has 8 or 4 lanes, not 2"),
        ("dumb7.attacks.sout", "sse2", "sysv", 4, "dumb7.attacks.sout on sse2 has 2 lanes, not 4"),
        ("dumb7.attacks.sout", "bmi2", "sysv", 4, "one lane: leave --lanes out, or use sse2, .*512 or gfni"),
        ("dumb7.attacks.sout", "mmx", "sysv", None, "unknown instruction set 'mmx': use one of .*sse2, avx2, avx512"),
    ],
)
def test_what_an_instruction_set_cannot_express(name: str, isa: str, abi: str, lanes: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refusal:
        lower(find(name), isa, abi, lanes)
    assert "\n" not in str(refusal.value)
    if "not available" in message or "wiki" in message:
        assert isinstance(refusal.value, Refused)
