"""The search finds what is known to be there, and says nothing of code that it cannot follow."""

import json
import random
import time
from functools import cache
from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, DecodeError, decode
from setwise.analysis.proof.prover import Prover
from setwise.analysis.search.forms import SearchError
from setwise.analysis.search.lift import lift
from setwise.analysis.search.lowering import binary_of_code, shortest
from setwise.analysis.search.search import (
    Improvement,
    SearchSession,
    SearchSubject,
    instruction_set,
    length,
    run_session,
    search,
)
from setwise.analysis.search.substitutes import Trials
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from tests.conftest import require_module

require_module("bitwuzla")

SOUTH = SearchSubject("kogge-stone.attacks.sout", "x86-64", "sysv")


DATA = Path(__file__).parents[2] / "data" / "superseded.json"


@cache
def superseded(routine: str, isa: str) -> tuple[SearchSubject, Binary]:
    """The kernel of a routine that was, and what it had to do."""
    (row,) = [row for row in json.loads(DATA.read_text()) if (row["routine"], row["isa"]) == (routine, isa)]
    binary = Binary(bytes.fromhex(row["text"]), bytes.fromhex(row["data"]), row["data_offset"])
    return SearchSubject(routine, isa, "sysv", row["boards"]), binary


_WHOLE = ("sliders.union", "sliders.pair")


def found(
    subject: SearchSubject, binary: Binary, level: str, first: int = 0, last: int | None = None
) -> Improvement | None:
    """The first that a level finds."""
    return search(subject, binary, level, 1000, slice(first, last))[1]


@pytest.mark.slow
def test_a_ternary_instruction_that_does_nothing_goes() -> None:
    subject, binary = superseded("sliders.pieces", "avx512")
    finding = found(subject, binary, "a", 5, 6)
    assert finding is not None
    assert (finding.before, finding.after) == (48, 47)
    assert finding.description.startswith("'vpternlogq zmm17,zmm17,[rel 0x1c0],0xf0'")
    assert Prover().prove(finding.binary, subject.task).status == "proved"


def test_one_instruction_stands_for_two() -> None:
    """What AVX2 does in two, AVX-512 has one for: any function of three values, bit by bit."""
    south = lower(find(SOUTH.routine), "avx2")
    subject = SearchSubject(SOUTH.routine, "avx512", "sysv", 4)
    finding = found(subject, binary_of(south), "b", 3, 5)
    assert finding is not None
    assert finding.after < finding.before
    assert "ternary 0x" in finding.description
    assert Prover().prove(finding.binary, subject.task).status == "proved"


@pytest.mark.slow
def test_the_first_step_to_the_right_comes_from_the_fill_to_the_left() -> None:
    """No operation fewer, but three moves: a copy is rotated where bits that come round do not matter any more."""
    subject, binary = superseded("sliders.union", "bmi2")
    for level, place, after in (("c", 62, 102), ("b", 60, 101), ("c", 19, 100)):
        finding = found(subject, binary, level, place, place + 1)
        assert finding is not None
        assert finding.after == after
        binary, description = finding.binary, finding.description
    assert description.endswith("'shr rax,8' at offset 0x4c is replaced by new1 = argument 1 rol 56")


WEST = (
    SearchSubject("push.attacks.west", "bmi2", "sysv"),
    Binary(
        bytes.fromhex(
            "4823353900000048f7d64809fec4e2c2f5ce4889ca4883e20148d1e9c4e2f3f5ce4829cf4829d7488b051a0000004821f8c3"
        ),
        bytes.fromhex(8 * "7e" + 8 * "7f"),
        64,
    ),
)
"""By hand: ...; pext rcx,rdi,rsi; mov rdx,rcx; and rdx,1; shr rcx,1; pdep rcx,rcx,rsi; sub rdi,rcx; sub rdi,rdx; ..."""


def only(code: tuple[SearchSubject, Binary], place: int, level: str, after: int, text: str) -> None:
    """Check what a level finds for an instruction, and that those before find nothing as short for it."""
    finding = found(*code, level, place, place + 1)
    assert finding is not None
    assert finding.after == after
    assert text in finding.description
    for other in "abcd".partition(level)[0]:
        first = place + (other == "b")  # after the unchanged program
        longer = found(*code, other, first, first + 1)
        assert longer is None or longer.after > after


def test_a_mask_cuts_off_what_a_rotate_brings_round() -> None:
    only(superseded("leapers.pawns.black", "bmi2"), 1, "d", 5, "argument 1 rol 57; new2 = new1 & 0xfefefefefefefe")


def test_a_product_shifts_a_copy() -> None:
    only(superseded("leapers.knights", "bmi2"), 10, "d", 18, "new1 = mul of ('or rcx,rax'), 0x10000")


@pytest.mark.slow
def test_bytes_of_a_lane_begin_anywhere() -> None:
    only(superseded("leapers.knights", "gfni"), 2, "d", 7, "multishift of 0x3a2a36261810211f")


def test_a_difference_takes_the_carry_of_a_shift() -> None:
    only(WEST, 8, "d", 9, "sbb of argument 1, ('pdep rcx,rcx,rsi') and the carry of 'shr rcx,1'")


BEHIND = """
import setwise
from setwise import Board, Word


@setwise.routine
def behind(board: Board) -> Board:
    board |= board >> 8
    return board | board >> 16


@behind.specification
def _(board: Word) -> Word:
    return board | board >> 8 | board >> 16 | board >> 24
"""


def test_four_instructions_are_found_at_once(tmp_path: Path) -> None:
    """No value of the flipped board is of use for the board itself."""
    own = tmp_path / "behind.py"
    own.write_text(BEHIND)
    flipped = Binary(bytes.fromhex("480fcf 4889f9 48c1e108 4809f9 4889c8 48c1e010 4809c8 480fc8 c3"))
    subject = SearchSubject(f"{own}:behind", "x86-64", "sysv")
    only((subject, flipped), 5, "e", 6, "new3 = new2 >> 16; new4 = new3 | new2")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "isa", "after"),
    [
        ("leapers.pawns.white", "bmi2", 5),
        ("leapers.pawns.black", "bmi2", 5),
        ("leapers.knights", "bmi2", 17),
        ("leapers.knights", "x86-64", 17),
        ("leapers.knights", "gfni", 7),
        ("leapers.kings", "gfni", 7),
        pytest.param("sliders.union", "x86-64", 103, marks=pytest.mark.long),
    ],
)
def test_new_constants_shorten_kernels_that_were(name: str, isa: str, after: int) -> None:
    """As the table in reports/optimality.md says, or further with more time."""
    subject, binary = superseded(name, isa)
    session = run_session(SearchSession("", subject, binary, binary), ("d",), 1000)
    assert length(session.binary) <= after


def test_a_carry_is_followed_from_its_operation() -> None:
    """Code that comes back reads the same carry; a replacement that takes the operation away gives no code."""
    subject, binary = WEST
    finding = found(subject, binary, "d", 8, 9)
    assert finding is not None
    program = lift(finding.binary, subject.task, subject.plan.target)
    code = shortest(program, subject.plan)
    assert code is not None
    assert binary_of_code(code) == finding.binary
    (setter,) = [step.number for step in program.steps if step.description.startswith("'shr")]
    assert shortest(program.with_instead(setter, 0), subject.plan) is None


@pytest.mark.slow
def test_a_value_may_be_narrower_than_who_reads_it() -> None:
    """Two boards in the lower lanes of a register whose upper lanes are then zeros."""
    kernel = lower(find("sliders.union"), "avx512", "sysv", 8)
    subject = SearchSubject("sliders.union", "avx512", "sysv")
    assert found(subject, binary_of(kernel), "b", 1, 3) is None


@pytest.mark.parametrize(
    ("name", "isa"),
    [
        ("kogge-stone.attacks.noWe", "bmi2"),
        ("push.attacks.soEa", "sse2"),
        ("sliders.rays", "gfni"),
        *(pytest.param(name, isa, marks=pytest.mark.slow) for name in _WHOLE for isa in find(name).isas),
    ],
)
def test_code_comes_back_as_short_as_it_was(name: str, isa: str) -> None:
    kernel = lower(find(name), isa)
    binary = binary_of(kernel)
    code = shortest(lift(binary, task_of(kernel), kernel.target), kernel)
    again = binary_of_code(code) if code else None
    assert again is not None
    assert length(again) <= length(binary)
    assert Prover().prove(again, task_of(kernel)).status == "proved"


def test_values_are_those_that_code_gives() -> None:
    """Every step, left as it is, stands in for itself; turned round it does not."""
    kernel = lower(find(SOUTH.routine))
    program = lift(binary_of(kernel), task_of(kernel), kernel.target)
    trials = Trials(kernel.routine.contract, task_of(kernel), program, kernel.target)
    domain = trials.few
    for step in trials.program.steps:
        (lane,) = trials.lanes(step.number)
        lanes = [(lane,), (domain.not_(lane, 64),)]
        assert list(trials.standing_in(step.number, lanes)) == [0], step.description


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("4839f7 480f42f7 4889f0 c3", "reads flags"),
        ("4889f0 7400 c3", "jumps and calls"),
        ("0fc8 c3", ""),
        ("488b07 c3", "this memory operand"),
        ("88f0 c3", "a part of a register"),
        ("48f7e6 c3", "several results"),
        ("5b c3", "the stack"),
        ("4889f3 4889f0 c3", "rbx is not restored"),
        ("90", "ends in ret"),
    ],
)
def test_what_is_not_followed_is_refused(code: str, why: str) -> None:
    binary = Binary(bytes.fromhex(code))
    target = SOUTH.plan.target
    if why:
        with pytest.raises(SearchError, match=why):
            lift(binary, SOUTH.task, target)
    else:
        assert lift(binary, SOUTH.task, target).steps


@pytest.mark.slow
def test_any_instruction_is_followed_or_refused() -> None:
    """In front of a kernel, so that registers and memory are what they are at the entry of any function."""
    chance = random.Random(1)
    kernel = binary_of(lower(find(SOUTH.routine)))
    followed = refused = 0
    for _ in range(2000):
        begin = chance.choice((b"", b"\x48", b"\x0f", b"\x62", b"\xc4", b"\xc5", b"\x66\x0f", b"\xf3\x0f"))
        try:
            (first, *_) = decode(begin + chance.randbytes(15) + b"\x90" * 15)
        except DecodeError:
            continue
        try:
            lift(Binary(first.raw + kernel.text, kernel.data), SOUTH.task, TARGETS["gfni"])
            followed += 1
        except SearchError:
            refused += 1
    assert followed > 25
    assert refused > 250


def test_code_that_is_wrong_is_not_searched() -> None:
    with pytest.raises(SearchError, match="setwise prove"):
        search(SOUTH, Binary(bytes.fromhex("4889f8c3")), "a", 1000)


@pytest.mark.slow
def test_a_session_goes_on_from_each_improvement() -> None:
    subject, binary = superseded("push.attacks.east", "sse2")
    found = run_session(SearchSession("", subject, binary, binary), ("c",), 1000)
    assert [(each.before, each.after) for each in found.findings] == [(5, 4), (4, 3)]
    assert length(found.binary) == 3
    assert found.tallies["c"].places == found.tallies["c"].all_places


def test_code_with_jumps_is_refused() -> None:
    subject, binary = superseded("exploding.bishop", "x86-64")
    assert "jumps" in run_session(SearchSession("", subject, binary, binary), ("a",), 1000).refused


def test_a_budget_is_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = lower(find("push.attacks.sout"), "x86-64")
    subject, binary = SearchSubject(kernel.name, "x86-64", "sysv", 1), binary_of(kernel)
    number = 14
    monkeypatch.setattr("setwise.analysis.search.search._Search.look", lambda *_: time.sleep(0.01))
    for budget, places in ((0.005 * number, number), (0, 0)):
        tally, _ = search(subject, binary, "a", budget)
        assert (tally.places, tally.all_places) == (places, number)


def test_the_instruction_set_is_the_first_that_has_all() -> None:
    assert instruction_set(Binary(bytes.fromhex("4889f8c3"))) == "x86-64"
    assert instruction_set(superseded("sliders.pieces", "avx512")[1]) == "avx512"
    assert instruction_set(superseded("push.attacks.east", "sse2")[1]) == "sse2"
