"""Variants that are offered: no two alike, few enough, each made again by its name."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from setwise.analysis.cost.processors import processor
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.measure.objective import forecast
from setwise.codegen.board import DIR8, ROOK, SOEA, SOWE
from setwise.codegen.catalogue import find
from setwise.codegen.export.listings.listing import listing
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Memory, Register
from setwise.codegen.offers import MOST, drawn, offered, offered_as


@pytest.mark.parametrize(("name", "isa"), [("push.attacks.sout", "bmi2"), ("leapers.knights", "avx2")])
def test_variants_differ_and_are_made_again_by_name(name: str, isa: str) -> None:
    kernels = list(offered(find(name), isa))
    assert 1 < len({kernel.code for kernel in kernels}) == len({kernel.variant for kernel in kernels}) == len(kernels)
    assert len(kernels) <= MOST
    assert (kernels[0].variant, kernels[0].code) == ("", lower(find(name), isa).code)
    for kernel in (kernels[1], kernels[-1]):
        assert offered_as(kernel.variant, find(name), isa) == kernel


@pytest.mark.parametrize(("name", "switches"), [("exploding.rook", 2), ("exploding.bishop-corners", 1)])
def test_cases_are_compared_where_else_a_table_says_where_to_jump(name: str, switches: int) -> None:
    usual, compared = (offered_as(variant, find(name), "x86-64") for variant in ("", "compared/1"))
    to_registers = [
        [i for i in kernel.code.instructions if i.mnemonic == "jmp" and isinstance(i.operands[0], Register)]
        for kernel in (usual, compared)
    ]
    assert [len(found) for found in to_registers] == [switches, 0]
    assert len(compared.code.data) == len(usual.code.data) - switches
    with pytest.raises(ValueError, match=r"has a table of jumps, .*: use another format, or --variant compared/1"):
        listing(usual, facts_of(usual), "go")
    assert "CMPQ" in listing(compared, facts_of(compared), "go")


def test_arrays_go_rank_by_rank_where_code_may_be_larger() -> None:
    union = find("sliders.union.batch")
    larger = offered_as("by-ranks/1-inner-shallowness", union, "avx2")
    usual = lower(union, "avx2")
    assert larger.routine == union  # the same contract
    interleaving, length = (
        [sum("vpunpck" in i.mnemonic for i in kernel.code.instructions) for kernel in (usual, larger)],
        [len(kernel.code.instructions) for kernel in (usual, larger)],
    )
    assert interleaving == [0, 3 * 32 + 24]  # each of three inputs four times, the result three times
    assert length[0] < length[1]


@pytest.mark.parametrize("name", ["exploding.rook", "exploding.orthogonal", "exploding.direction.big-endian"])
def test_explosions_wait_less_where_code_may_be_larger(name: str) -> None:
    usual, larger = (offered_as(variant, find(name), "bmi2") for variant in ("", "joined/1"))
    assert len(usual.code.instructions) < len(larger.code.instructions)
    cycles, fewer = (forecast(kernel, processor("zen5")).of("latency") for kernel in (usual, larger))
    assert fewer < 0.95 * cycles


def test_rooks_go_apart_from_bishops() -> None:
    kernel = offered_as("apart/1-inner", find("sliders.pair"), "avx2")
    assert kernel.layout.apart == tuple(ROOK)
    written = {
        operand.bits if operand.file == "vector" else operand.file
        for instruction in kernel.code.instructions
        for operand in instruction.operands[:1]
        if isinstance(operand, Register)
    }
    assert written == {128, "general"}  # no upper halves to clean
    assert "vzeroupper" not in {instruction.mnemonic for instruction in kernel.code.instructions}


def test_two_directions_share_a_vector_beside_six() -> None:
    kernel = offered_as("soEa-soWe/7-inner", find("sliders.union"), "avx512")
    assert set(DIR8) - {*kernel.layout.apart} == {SOEA, SOWE}
    mnemonics = [instruction.mnemonic for instruction in kernel.code.instructions]
    assert mnemonics.count("vpsrlvq") == 5
    assert mnemonics.count("vmovq") == 1  # the result


def test_divisions_divide_and_what_crosses_comes_first() -> None:
    division = re.compile("(apart|soEa-soWe|turned)/")
    divided = [kernel for kernel in offered(find("sliders.union"), "gfni") if division.match(kernel.variant)]
    assert {kernel.variant.split("/")[0] for kernel in divided} == {"apart", "soEa-soWe", "turned"}
    for kernel in divided:
        written = (i.operands[0] for i in kernel.code.instructions if i.operands)
        files = [operand.file for operand in written if isinstance(operand, Register)]
        last = max(at for at, file in enumerate(files) if file == "vector")
        if not kernel.variant.endswith("urgency"):
            assert files[:last].count("general") < 12 < files.count("general") / 3


def test_boards_go_to_all_lanes_through_memory_where_the_convention_keeps_it() -> None:
    stored = offered_as("stored/1-inner", find("sliders.union"), "avx2")
    names = [instruction.mnemonic for instruction in stored.code.instructions]
    assert names[:3] == ["mov"] * 3
    assert not {"vpinsrq", "vpermq"} & {*names}
    assert names.count("vmovq") == 1  # the result
    spread = [i.operands[1] for i in stored.code.instructions if i.mnemonic == "vpbroadcastq"]
    assert sorted(o.displacement for o in spread if isinstance(o, Memory)) == [-24, -16, -8]
    assert "stack       24 bytes below the return address" in listing(stored, facts_of(stored), "nasm")
    on_windows = offered_as("blended/1-inner", find("sliders.union"), "avx2", "win64")
    assert all(o.displacement >= 0 for i in on_windows.code.instructions for o in i.operands if isinstance(o, Memory))


def test_constants_that_are_wanted_often_are_loaded_once() -> None:
    usual, held = (offered_as(variant, find("sliders.rays"), "avx512") for variant in ("", "held/7-inner"))

    def read(kernel: Kernel) -> Counter[str | None]:
        return Counter(
            o.symbol for i in kernel.code.instructions for o in i.operands if isinstance(o, Memory) and o.symbol
        )

    often = {symbol for symbol, times in read(usual).items() if times > 1}
    assert often
    assert set(read(held).values()) == {1}
    assert len(held.code.instructions) == len(usual.code.instructions) + len(often)


def test_shifts_stand_for_rotates() -> None:
    by_rotates, by_shifts = (
        offered_as(name, find("push.attacks.sout"), "bmi2") for name in ("1-inner-ranks", "shifts/1")
    )
    assert [any(i.mnemonic == "rorx" for i in kernel.code.instructions) for kernel in (by_rotates, by_shifts)] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    "name",
    ["1-inner-ranks-", "apart/1-inner", "9", "shifts/", "1-inner/x", "1-urgency-0", "1-urgency-²", "1-hastening-2"],
)
def test_a_variant_that_there_is_not_is_one_line(name: str) -> None:
    with pytest.raises(ValueError, match=r"has no variant '.*': `setwise best push.attacks.sout` names some$"):
        offered_as(name, find("push.attacks.sout"), "bmi2")


def test_what_a_loop_loads_before_its_rounds_is_held_as_it_is() -> None:
    kernel = offered_as("by-ranks/held/1-inner-ranks", find("sliders.union-empty.batch"), "avx512")
    loads = [str(i.operands[1]) for i in kernel.code.instructions if i.mnemonic == "vpbroadcastq"]
    assert len(loads) == len({*loads}) > 0


def test_what_has_the_longest_way_to_go_comes_first() -> None:
    """Each of two results of an instruction that nobody waits long for may come late, and the crossings come early."""
    usual, urgent = (
        offered_as(name, find("sliders.union"), "avx512")
        for name in ("apart/2-inner-ranks", "apart/2-inner-ranks-urgency")
    )
    assert sorted(i.mnemonic for i in usual.code.instructions if i.mnemonic[0] == "v") == sorted(
        i.mnemonic for i in urgent.code.instructions if i.mnemonic[0] == "v"
    )
    first = [
        next(at for at, i in enumerate(kernel.code.instructions) if i.mnemonic == "rorx") for kernel in (usual, urgent)
    ]
    last = [
        max(at for at, i in enumerate(kernel.code.instructions) if i.mnemonic[0] == "v") for kernel in (usual, urgent)
    ]
    length = len(urgent.code.instructions)
    assert first[1] < first[0]  # rooks in general registers do not wait for all that is in vectors
    assert last[1] > length - 6  # and what comes back from there comes last


@pytest.mark.parametrize(("isa", "division"), [("bmi2", "gathered/1"), ("avx2", "apart/gathered/1-inner")])
def test_westward_walls_are_gathered(isa: str, division: str) -> None:
    gathered = offered_as(division, find("sliders.union"), isa)
    names = [i.mnemonic for i in gathered.code.instructions]
    assert names.count("pext") == names.count("pdep") == 1
    assert len(names) < len(
        offered_as(division.replace("gathered/1", "2"), find("sliders.union"), isa).code.instructions
    )


def test_two_lanes_take_a_board_that_was_moved() -> None:
    kernel = offered_as("apart/2-inner-ranks", find("sliders.union"), "avx512")
    spread = [i.operands[1] for i in kernel.code.instructions if i.mnemonic == "vpbroadcastq"]
    assert {o.file for o in spread if isinstance(o, Register)} == {"vector"}


def test_equals_come_as_a_lot_draws_them() -> None:
    name, union = "apart/gathered/1-inner-ranks-urgency", find("sliders.union")
    others = list(drawn(name, (1, 2), union, "avx512"))
    assert [kernel.variant for kernel in others] == [f"{name}-1", f"{name}-2"]
    usual = offered_as(name, union, "avx512")
    assert len({kernel.code for kernel in (usual, *others)}) == 3
    assert offered_as(f"{name}-2", union, "avx512") == others[1]
    in_vectors = [
        sorted(i.mnemonic for i in each.code.instructions if i.mnemonic[0] == "v") for each in (usual, *others)
    ]
    assert in_vectors[0] == in_vectors[1] == in_vectors[2]


def test_of_what_is_in_no_such_order_none_is_drawn() -> None:
    assert not list(drawn("1-inner-ranks", (1, 2), find("push.attacks.sout"), "bmi2"))
    assert not list(drawn("1-urgency", (1, 2), find("sliders.rays"), "bmi2"))  # several results
