"""The simulated core: never below the bound, what is known by hand, what lies between bound and measurement."""

from __future__ import annotations

import pytest

from setwise.analysis.code.decode import decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import round_cost
from setwise.analysis.cost.processors import processor
from setwise.analysis.cost.simulate import simulate
from setwise.analysis.measure.subjects import round_stream, subject
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

ZEN4 = processor("zen4")


def test_a_chain_takes_its_latency() -> None:
    assert simulate(decode(bytes.fromhex("480fafc0" * 8)), ZEN4) == 24  # imul rax,rax


def test_independent_additions_fill_four_units() -> None:
    # add of rbx, rcx, rdx, rsi to themselves: a chain each, one cycle long
    assert simulate(decode(bytes.fromhex("4801db4801c94801d24801f6" * 4)), ZEN4) == 4


# Cycles measured: vpor ymm1,ymm1,ymm15 twice, alone 2.0, beside vprolq ymm2,ymm3,1, which nobody waits for, 2.2.
CHAIN = "c4c175ebcf" * 2
BESIDE = "62f1ed2872cb01"


def test_a_vector_port_has_one_result_a_cycle() -> None:
    alone, beside = (simulate(decode(bytes.fromhex(step * 40)), ZEN4) / 40 for step in (CHAIN, CHAIN + BESIDE))
    assert alone == 2
    assert 2.1 < beside < 2.4


def test_a_general_port_has_as_many_as_come() -> None:
    # add rbx,rcx twice, pext rdx,rsi,rdi: measured 2.0
    assert simulate(decode(bytes.fromhex(("4801cb" * 2 + "c4e2caf5d7") * 40)), ZEN4) / 40 == pytest.approx(2, abs=0.03)


@pytest.mark.parametrize(
    ("step", "least", "most"),
    [
        ("c4c175ebcf c4c16debd7", 1.0, 1.0),  # two chains of vpor with 256 bits: measured 1.0
        ("62d1f548ebcf 62d1ed48ebd7", 1.3, 1.7),  # with 512 bits: measured 1.7
        ("62d1fd48ebcf 62d1fd48ebd7 62f1f548ebc2", 2.3, 3.0),  # zmm1 and zmm2 from zmm0, and that from both: 3.0
    ],
)
def test_operations_of_512_bits_take_two_turns(step: str, least: float, most: float) -> None:
    assert least <= simulate(decode(bytes.fromhex(step * 60)), ZEN4) / 60 <= most


@pytest.mark.parametrize("mode", ["chained", "independent"])
def test_a_call_is_never_simulated_below_its_bound(mode: str) -> None:
    for name, isa in (("push.attacks.west", "bmi2"), ("kogge-stone.attacks.rook", "avx2")):
        timed = subject(lower(find(name), isa))
        stream = round_stream(timed, "chained" if mode == "chained" else "independent")
        assert simulate(stream, ZEN4) >= round_cost(stream, ZEN4).bound


def test_rays_one_behind_the_other_wait_for_ports() -> None:
    """Measured: 19.1 cycles, bound 15; the last of four rays finds the ports taken."""
    timed = subject(lower(find("kogge-stone.attacks.rook"), "x86-64"))
    stream = round_stream(timed, "chained")
    assert simulate(stream, ZEN4) > 1.1 * round_cost(stream, ZEN4).bound


def test_calls_wait_for_results_in_memory_whose_address_lies_on_the_stack() -> None:
    """Measured on Zen 5: 46.6 cycles a call, 12 without waiting."""
    timed = subject(lower(find("side.pieces.white"), "avx512"))
    waits = [
        round_cost(round_stream(each, "chained"), processor("zen5")).latency / each.calls for each in timed.waiting
    ]
    assert max(waits) > 30


def test_code_beyond_a_line_waits_to_be_fetched() -> None:
    """Measured on Zen 3: 66 bytes of rotates take 5.3 cycles a call, 64 bytes with moves and shifts 4.4."""
    by_rotates, by_shifts = (
        simulate(round_stream(subject(lower(find("kogge-stone.attacks.sout"), isa)), "independent"), processor("zen3"))
        for isa in ("bmi2", "x86-64")
    )
    assert by_rotates > 1.15 * by_shifts


@pytest.mark.parametrize(
    ("step", "cycles"),
    [
        ("4801db4801c94801d24801f6", 1.0),  # four chains of additions: measured 1.06 on six units
        ("c4c175ebcf", 2.0),  # a chain of vpor with 256 bits that has waited: measured 2.0
        ("c4c175ebcf" + "90" * 10, 11 / 8),  # beside so much that it comes just in time: 1 cycle is enough
        ("62d1f548ebcf 62d1ed48ebd7", 2.0),  # two chains with 512 bits, which take a unit once: 2.0
        ("480fafc0", 3.0),  # a chain of imul: 3.0
    ],
)
def test_zen_5_has_more_units_and_slower_vectors(step: str, cycles: float) -> None:
    assert simulate(decode(bytes.fromhex(step * 60)), processor("zen5")) / 60 == pytest.approx(cycles, abs=0.1)


@pytest.mark.parametrize(
    ("step", "cycles"),
    [
        ("4801db4801c94801d24801f6", 1.0),  # four chains of additions on five ports
        ("4883c308", 1 / 6),  # a small number is added where registers are renamed
        ("c4c175ebcf", 1.0),  # a chain of vpor with 256 bits, which never takes two cycles
        ("62d1f548ebcf", 1.0),  # with 512 bits
        ("480fafc0", 3.0),  # a chain of imul
    ],
)
def test_golden_cove_renames_much(step: str, cycles: float) -> None:
    golden_cove = processor("golden-cove")
    assert simulate(decode(bytes.fromhex(step * 60)), golden_cove) / 60 == pytest.approx(cycles, abs=0.07)


def test_golden_coves_general_and_vector_operations_wait_in_one_queue() -> None:
    """Rotates beside vector shifts: ports 0 and 6, 0 and 1; measured 0.67 for two of each."""
    mixed = bytes.fromhex("c4c3fbf0d908" + "c5f173f303" + "c443fbf0c008" + "c5e973f403")  # rorx, vpsllq, rorx, vpsllq
    golden_cove = processor("golden-cove")
    assert simulate(decode(mixed * 40), golden_cove) / 40 == pytest.approx(4 / 3, abs=0.1)


def test_other_processors_are_refused_by_name() -> None:
    code = decode(binary_of(lower(find("push.attacks.west"), "x86-64")).text)
    with pytest.raises(ValueError, match="how Ice Lake queues operations is not known: use one of golden-cove, zen3, "):
        simulate(code, processor("ice-lake"))
