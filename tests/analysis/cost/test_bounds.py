"""Costs: the classic listings by hand, and what never may happen."""

import pytest
from msgspec.structs import replace

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import decode
from setwise.analysis.cost.bounds import busiest, cost, loops, round_cost
from setwise.analysis.cost.processors import PROCESSORS, processor
from setwise.analysis.cost.processors.processor import parse_ports
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

KOGGE_STONE, DUMB7 = (
    decode(binary_of(lower(find(name), "x86-64", "wiki")).text)
    for name in ("kogge-stone.attacks.sout", "dumb7.attacks.sout")
)


def test_issue_and_ports_by_hand() -> None:
    skylake = cost(KOGGE_STONE, processor("skylake-server"))
    assert skylake.issue == 19 / 4  # eliminated moves take their slot
    assert skylake.pressure.cycles == 14 / 4  # but no port
    ice_lake = cost(KOGGE_STONE, processor("ice-lake"))
    assert (ice_lake.issue, ice_lake.pressure.cycles) == (19 / 5, 19 / 4)


def test_the_critical_path_is_as_long_as_the_latency() -> None:
    found = cost(DUMB7, processor("zen4"))
    assert len(found.critical) == found.latency == found.depth == 14
    assert [found.steps[at].ready for at in found.critical] == list(range(1, 15))


@pytest.mark.parametrize("one", PROCESSORS, ids=lambda one: one.name)
def test_more_instructions_never_lower_a_bound(one: object) -> None:
    on = next(known for known in PROCESSORS if known is one)
    last = 0.0
    for length in range(1, len(DUMB7)):
        found = cost(DUMB7[:length], on)
        assert found.bound >= last
        last = found.bound


def test_busiest_ports_share_what_can_go_nowhere_else() -> None:
    found = busiest([parse_ports("p1"), parse_ports("p1"), parse_ports("p15"), parse_ports("p0156")])
    assert (found.cycles, found.ports) == (2.0, ("p1",))
    assert busiest([parse_ports("p0 + 2*p01")]).cycles == 1.5


def test_512_bits_close_port_1_on_intel() -> None:
    narrow = decode(bytes.fromhex("c5f5efc2" * 3))  # vpxor ymm0,ymm1,ymm2
    wide = decode(bytes.fromhex("62f1f548efc2"))  # vpxorq zmm0,zmm1,zmm2
    skylake = processor("skylake-server")
    assert cost(narrow, skylake).pressure.cycles == 1
    assert cost((*narrow, *wide), skylake).pressure.cycles == 2


def test_512_bits_go_twice_through_zen_4() -> None:
    assert cost(decode(bytes.fromhex("62f1f548efc2" * 2)), processor("zen4")).pressure.cycles == 1


def test_a_zero_waits_for_nothing() -> None:
    # imul rax,rax / xor eax,eax / add rax,rdi
    assert cost(decode(bytes.fromhex("480fafc031c04801f8")), processor("zen4")).latency == 1


def test_a_constant_is_loaded_before_the_arguments_come() -> None:
    # and rdi,[rip+0] / mov rax,rdi
    assert cost(decode(bytes.fromhex("48233d000000004889f8")), processor("zen4")).latency == 1


def test_a_load_behind_an_argument_counts() -> None:
    assert cost(decode(bytes.fromhex("488b07")), processor("zen4")).latency == 4  # mov rax,[rdi]


def test_a_store_hands_its_value_on() -> None:
    code = decode(bytes.fromhex("48893e488b06"))  # mov [rsi],rdi / mov rax,[rsi]
    assert cost(code, processor("skylake-server")).latency == 4
    assert cost(code, processor("zen4")).latency == 4  # the address alone


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        ("48891f 488b1f", 7),  # mov [rdi],rbx / mov rbx,[rdi]
        ("53 5b", 7),  # push rbx / pop rbx
        ("4889f9 488919 488b1f", 7),  # mov rcx,rdi / mov [rcx],rbx / mov rbx,[rdi]
        ("48891f 894704 488b5f04", 0),  # mov [rdi],rbx / mov [rdi+4],eax / mov rbx,[rdi+4]
    ],
)
def test_a_load_finds_a_store_at_the_same_place(code: str, cycles: float) -> None:
    """By whatever register they name it."""
    waits = replace(processor("zen5"), forwards={"": 7})
    assert round_cost(decode(bytes.fromhex(code)), waits).latency == cycles


def test_rounds_of_a_loop_wait_for_the_one_before() -> None:
    body = decode(bytes.fromhex("480fafc048ffc975f7"))  # imul rax,rax / dec rcx / jne
    found = round_cost(body, processor("zen4"))
    assert (found.latency, found.bound, found.limit) == (3, 3, "latency")
    assert loops(body) == (body,)


def test_a_branch_joins_the_comparison_before_it() -> None:
    apart = decode(bytes.fromhex("4801c84883c101"))
    joined = decode(bytes.fromhex("4839c87500"))
    assert cost(apart, processor("zen4")).issue == 2 / 6
    assert cost(joined, processor("zen4")).issue == 1 / 6
    signed = decode(bytes.fromhex("4883e8017900"))  # sub rax,1 / jns
    assert [cost(signed, processor(name)).issue for name in ("zen4", "skylake-server")] == [1 / 6, 2 / 4]
