"""Named variants: at most eight, no two alike, each made again by its name, each the form that it is named after."""

from collections import Counter
from itertools import product

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen import variants
from setwise.codegen.board import DIR8, ROOK, SOEA, SOWE
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.export.listings.listing import listing
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Instruction, Label, Memory, Register
from setwise.codegen.passes.state import State
from setwise.codegen.regalloc.machine import OutOfRegisters
from setwise.codegen.targets import ALL_SETS
from setwise.codegen.targets.table import Refused
from setwise.codegen.variants import _plans, enumerate_variants, variant_named


def mnemonics(kernel: Kernel) -> list[str]:
    return [instruction.mnemonic for instruction in kernel.code.instructions]


@pytest.mark.parametrize(
    ("name", "isa"), [("push.attacks.sout", "bmi2"), ("leapers.knights", "avx2"), ("sliders.union", "gfni")]
)
def test_variants_differ_and_are_made_again_by_name(name: str, isa: str) -> None:
    kernels = list(enumerate_variants(find(name), isa))
    assert 1 < len({kernel.code for kernel in kernels}) == len({kernel.variant for kernel in kernels}) == len(kernels)
    assert kernels[0].code == lower(find(name), isa).code
    for kernel in kernels:
        again = variant_named(kernel.variant, find(name), isa)
        assert (again.code, again.variant) == (kernel.code, kernel.variant)
    assert variant_named("default", find(name), isa).code == kernels[0].code


@pytest.mark.slow
@pytest.mark.parametrize(
    "isa", [pytest.param(isa, marks=() if isa in ("bmi2", "gfni") else pytest.mark.long) for isa in ALL_SETS]
)
def test_there_are_at_most_eight(isa: str) -> None:
    """Of one direction of each form: the variants of another one are called alike."""
    for routine in {(routine.family, routine.form): routine for routine in catalogue().values()}.values():
        if isa in routine.isas:
            assert len(_plans(routine, isa, "sysv", None)) < 8, routine.name


@pytest.mark.parametrize("name", ["", "9", "hoisted", "critical-path-1", "by-ranks"])
def test_a_variant_that_there_is_not_is_one_line(name: str) -> None:
    if name:
        with pytest.raises(ValueError, match=r"has no variant '.*': use one of default, critical-path, short"):
            variant_named(name, find("push.attacks.sout"), "bmi2")
    else:
        assert variant_named(name, find("push.attacks.sout"), "bmi2").variant == ""


@pytest.mark.parametrize(("name", "switches"), [("exploding.rook", 2), ("exploding.bishop-corners", 1)])
def test_cases_are_compared_where_else_a_table_says_where_to_jump(name: str, switches: int) -> None:
    jumping, comparing = (
        mnemonics(variant_named(variant, find(name), "x86-64")) for variant in ("default", "compares")
    )
    assert [names.count("movsxd") for names in (jumping, comparing)] == [switches, 0]


@pytest.mark.slow
def test_arrays_go_rank_by_rank() -> None:
    union = find("sliders.union.batch")
    larger = variant_named("by-ranks", union, "avx2")
    assert larger.routine == union  # the same contract
    interleaving = [sum("vpunpck" in name for name in mnemonics(kernel)) for kernel in (lower(union, "avx2"), larger)]
    assert interleaving == [0, 3 * 32 + 24]  # each of three inputs four times, the result three times


def test_rooks_go_apart_from_bishops() -> None:
    kernel = variant_named("scalar-rooks", find("sliders.pair"), "avx2")
    assert kernel.layout.scalar_directions == tuple(ROOK)
    written = {
        operand.bits if operand.file == "vector" else operand.file
        for instruction in kernel.code.instructions
        for operand in instruction.operands[:1]
        if isinstance(operand, Register)
    }
    assert written == {128, "general"}  # no upper halves to clean
    assert "vzeroupper" not in mnemonics(kernel)


def test_two_directions_share_a_vector_beside_six() -> None:
    kernel = variant_named("vector-pair", find("sliders.union"), "avx512")
    assert set(DIR8) - {*kernel.layout.scalar_directions} == {SOEA, SOWE}
    assert mnemonics(kernel).count("vmovq") == 1  # the result


def test_boards_go_to_all_lanes_through_memory_where_the_convention_keeps_it() -> None:
    stored = variant_named("hoisted", find("sliders.union"), "avx2")
    names = mnemonics(stored)
    assert not {"vpinsrq", "vpermq"} & {*names}
    assert names.count("vmovq") == 1  # the result
    spread = [i.operands[1] for i in stored.code.instructions if i.mnemonic == "vpbroadcastq"]
    assert sorted(o.displacement for o in spread if isinstance(o, Memory) and o.base) == [-24, -16, -8]
    assert "stack       24 bytes below the return address" in listing(stored, facts_of(stored), "nasm")
    on_windows = variant_named("hoisted", find("sliders.union"), "avx2", "win64")
    assert all(o.displacement >= 0 for i in on_windows.code.instructions for o in i.operands if isinstance(o, Memory))


def test_constants_that_are_wanted_often_are_loaded_once() -> None:
    usual, held = (variant_named(variant, find("sliders.rays"), "avx512") for variant in ("default", "hoisted"))

    def read(kernel: Kernel) -> Counter[str | None]:
        return Counter(
            o.symbol for i in kernel.code.instructions for o in i.operands if isinstance(o, Memory) and o.symbol
        )

    assert max(read(usual).values()) > 1
    assert set(read(held).values()) == {1}


def test_shifts_stand_for_rotates() -> None:
    by_rotates, by_shifts = (
        mnemonics(variant_named(name, find("sliders.union"), "bmi2")) for name in ("pext", "pext-short")
    )
    assert ["rorx" in names for names in (by_rotates, by_shifts)] == [True, False]


@pytest.mark.slow
def test_what_a_loop_loads_before_its_rounds_is_held_as_it_is() -> None:
    kernel = variant_named("by-ranks-hoisted", find("sliders.union-empty.batch"), "avx512")
    items = kernel.code.items
    first = next(at for at, item in enumerate(items) if isinstance(item, Label))
    loads = [str(i.operands[1]) for i in items[:first] if isinstance(i, Instruction) and i.mnemonic == "vpbroadcastq"]
    assert len(loads) == len({*loads}) > 0


def test_what_has_the_longest_way_to_go_comes_first() -> None:
    """Rooks in general registers do not wait for all that is in vectors."""
    files = [
        {operand.file for operand in i.operands if isinstance(operand, Register)}
        for i in variant_named("scalar-rooks", find("sliders.union"), "avx512").code.instructions
    ]
    first, last = (files.index({"general"}), max(at for at, each in enumerate(files) if "vector" in each))
    assert first < 12
    assert last > len(files) - 8  # and what comes back from there comes last


@pytest.mark.parametrize(("isa", "variant"), [("bmi2", "pext"), ("avx2", "scalar-rooks")])
def test_westward_walls_are_gathered(isa: str, variant: str) -> None:
    names = mnemonics(variant_named(variant, find("sliders.union"), isa))
    assert names.count("pext") == names.count("pdep") == 1


def test_two_lanes_take_a_board_that_was_moved() -> None:
    kernel = variant_named("scalar-rooks", find("sliders.union"), "avx512")
    spread = [i.operands[1] for i in kernel.code.instructions if i.mnemonic == "vpbroadcastq"]
    assert {o.file for o in spread if isinstance(o, Register)} == {"vector"}


def test_lanes_that_are_named_are_kept() -> None:
    for lanes, kernel in product((4, 8), enumerate_variants(find("sliders.union"), "avx512", lanes=4)):
        assert (kernel.layout.lanes == lanes) == (lanes == 4)


def test_few_forms_become_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even without registers for any of them."""
    tried = []

    def refused(_: object, state: State) -> State:
        tried.append(state)
        raise OutOfRegisters

    variants._made.cache_clear()
    monkeypatch.setattr(variants, "run_passes", refused)
    monkeypatch.setattr(variants, "MOST_FORMS", 3)
    with pytest.raises(Refused, match="has no variant 'critical-path'"):
        variant_named("critical-path", find("kogge-stone.attacks.queen"), "x86-64")
    assert len(tried) == 3
    variants._made.cache_clear()
