"""Loops and arrays: what an invariant is tried on and must not pass over; errors that only more rounds show."""

from dataclasses import replace

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.commands.prove import certificate_text
from setwise.analysis.proof.certificate import Certificate, Confirmation
from setwise.analysis.proof.concrete_execution import confirm_by_stepping
from setwise.analysis.proof.pointers import Addresses, Base, Pointer
from setwise.analysis.proof.prover import Prover
from setwise.analysis.proof.solver import LimitError, Solver
from setwise.analysis.proofs import Proof
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Argument, Place, Result, Task
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.listings import assemble
from tests.conftest import require_module

require_module("bitwuzla")

# void step(const board *sliders, board *result, word n): sliders in rdi, result in rdx, n in rcx; one step north.
NORTH = Task(
    "step",
    "nort",
    (
        Argument("sliders", "boards", Place("general", "rdi")),
        Argument("result", "boards", Place("general", "rdx")),
        Argument("n", "count", Place("general", "rcx")),
    ),
    (Result("attacks", Place("memory")),),
    saved=("rbx",),
    elements=(Argument("sliders", "board", Place("general")),),
)
STEP = "mov r8,[rdi+rax*8]; shl r8,8; mov [rdx+rax*8],r8; inc rax; dec rcx;"

DOWN = "mov r8,[rdi+rcx*8+{0}]; shl r8,8; mov [rdx+rcx*8+{0}],r8;"


ODD = f"mov r9,rcx; and rcx,-2; and r9,1; je 1f; {DOWN.format(0)} 1:"


def proof(source: str, task: Task = NORTH) -> Certificate:
    return Prover().prove(Binary(assemble(source)), task)


def boards(made: Certificate) -> int:
    """How many boards the counterexample's arrays have."""
    assert made.status == "refuted"
    assert made.counterexample is not None
    return len(made.counterexample.inputs[0][1])


@pytest.mark.parametrize(
    "source",
    [
        f"xor eax,eax; test rcx,rcx; je 2f; 1: {STEP} jne 1b; 2: ret",
        f"xor eax,eax; 1: test rcx,rcx; je 2f; {STEP} jmp 1b; 2: ret",
        f"xor eax,eax; test rcx,rcx; 1: je 2f; {STEP} jmp 1b; 2: ret",  # the flag is that of the round before
        f"xor eax,eax; jmp 2f; 1: {STEP} 2: test rcx,rcx; jne 1b; ret",
        # One first, so that an even number is left.
        f"xor eax,eax; test rcx,1; je 1f; {STEP} 1: test rcx,rcx; je 2f; {STEP} {STEP} jmp 1b; 2: ret",
        # Pointers that walk, and an end.
        "lea rcx,[rdi+rcx*8]; 1: cmp rdi,rcx; je 2f;"
        "mov r8,[rdi]; shl r8,8; mov [rdx],r8; add rdi,8; add rdx,8; jmp 1b; 2: ret",
        # Bytes are counted.
        "mov r9,-8; 1: add r9,8; dec rcx; js 2f; mov r8,[rdi+r9]; shl r8,8; mov [rdx+r9],r8; jmp 1b; 2: ret",
        # From the last one down: two at once, then one by one.
        f"sub rcx,2; js 2f; 1: {DOWN.format(8)} {DOWN.format(0)} sub rcx,2; jns 1b;"
        f"2: inc rcx; js 4f; 3: {DOWN.format(0)} dec rcx; jns 3b; 4: ret",
        # From the last one down in pairs, then the first one, if it is left.
        f"sub rcx,2; js 2f; 1: {DOWN.format(8)} {DOWN.format(0)} sub rcx,2; jns 1b;"
        f"2: add rcx,2; je 3f; {DOWN.format(0).replace('+rcx*8+0', '')} 3: ret",
        # The last one, if n is odd, then pairs from there down.
        f"{ODD} sub rcx,2; js 2f; 1: {DOWN.format(8)} {DOWN.format(0)} sub rcx,2; jns 1b; 2: ret",
        # What is left over takes its index from n, not from the loop before.
        f"mov r10,rcx; and r10,-2; mov r11,rcx; mov rcx,r10; xor eax,eax; test r10,r10; je 2f; 1: {STEP} {STEP} jne 1b;"
        f"2: mov rax,r10; and r11,1; je 4f; mov rcx,r11; {STEP} 4: ret",
        # af is lost in a round.
        f"xor eax,eax; cmp rcx,0; je 2f; 1: {STEP} and r9,r8; test rcx,rcx; jne 1b; 2: ret",
    ],
)
def test_loops_of_every_shape_are_proved_for_all_n(source: str) -> None:
    made = proof(source)
    assert (made.status, made.reason) == ("proved", "")
    assert "a boards are done" in made.induction


def test_a_flag_that_is_not_of_this_round_is_unknown() -> None:
    """Before the loop the carry is 0; in it, it is the square that was shifted out last."""
    made = proof(f"xor eax,eax; test rcx,rcx; je 2f; 1: jb 2f; {STEP} jne 1b; 2: ret")
    assert boards(made) >= 2
    made = proof(f"xor eax,eax; test rcx,rcx; je 2f; cmp rcx,0; 1: jp 1f; 1: {STEP} jne 1b; 2: ret")
    assert made.status == "proved"  # it is read before the loop alone


def test_a_flag_that_tells_of_the_rest_only_at_first_is_unknown() -> None:
    """Where a step is not empty it goes on, behind the end."""
    made = proof(f"xor eax,eax; test rcx,rcx; 1: je 2f; {STEP} test r8,r8; jmp 1b; 2: ret")
    assert boards(made) == 1


def test_an_index_that_is_not_always_at_the_same_distance_is_not_taken_for_one() -> None:
    """It is one board further where the board before it holds d1."""
    read = "mov r9,[rdi+rax*8]; and r9,8; lea r9,[r9+rax*8]; mov r8,[rdi+r9]; shl r8,8; mov [rdx+rax*8],r8;"
    made = proof(f"xor eax,eax; test rcx,rcx; je 2f; 1: {read} inc rax; dec rcx; jne 1b; 2: ret")
    assert boards(made) == 1
    assert "mov r8,[rdi+r9]" in made.reason


def elsewhere(source: str) -> str:
    """A right loop, each round of which goes through this code outside of the loop's own bytes."""
    loop = f"1: js 4f; 4: test rcx,rcx; je 2f; {STEP} lea r9,[rip+3f]; jmp r9; 5: jmp 1b; 2: ret;"
    return f"xor eax,eax; {loop} 3: {source}; lea r9,[rip+5b]; jmp r9"


def test_what_a_round_changes_elsewhere_is_not_passed_over() -> None:
    made = proof(elsewhere("test eax,eax"))
    assert (made.status, made.reason) == ("proved", "")
    made = proof(elsewhere("xor rbx,1; test eax,eax"))
    assert (made.status, made.reason, boards(made)) == ("refuted", "rbx is not restored", 1)
    made = proof(elsewhere("bt eax,1"))  # whichever way the undefined flag sends it, it comes to the same place
    assert (made.status, made.reason) == ("proved", "")
    made = proof(elsewhere("bt eax,1; js 6f; xor rcx,rcx; 6:"))
    assert made.status == "refuted"


def test_what_happens_elsewhere_before_the_ways_part_is_not_passed_over() -> None:
    """Every round and the end change rbx: where that is one change in two, it would look as if none had been."""
    loop = f"xor eax,eax; 1: lea r9,[rip+3f]; jmp r9; 4: test rcx,rcx; je 2f; {STEP} jmp 1b; 2: xor rbx,1; ret;"
    made = proof(f"{loop} 3: xor rbx,1; lea r9,[rip+4b]; jmp r9")
    assert (made.status, made.reason, boards(made)) == ("refuted", "rbx is not restored", 1)


@pytest.mark.parametrize(
    ("source", "number"),
    [
        # Only the first round and the last write.
        (
            "1: test rax,rax; je 5f; cmp rcx,1; je 5f; inc rax; dec rcx; jmp 1b;"
            f"5: {STEP} test rcx,rcx; jne 1b; 2: ret",
            3,
        ),
        # The sixth board is passed over.
        (f"1: {STEP} cmp rax,5; jne 3f; inc rax; 3: test rcx,rcx; jne 1b; 2: ret", 6),
        # Behind two boards there may be one.
        (f"cmp rcx,1; je 3f; 1: {STEP} {STEP} test rcx,rcx; jne 1b; 2: ret; 3: {STEP} ret", 3),
    ],
)
def test_what_holds_of_the_first_round_must_hold_of_all(source: str, number: int) -> None:
    made = proof(f"xor eax,eax; test rcx,rcx; je 2f; {source}")
    assert boards(made) == number


LOOP = "xor eax,eax; test rcx,rcx; je 2f; 1: {} inc rax; dec rcx; jne 1b; 2: ret"
READ, WRITE = "mov r8,[rdi+rax*8]; shl r8,8;", "mov [rdx+rax*8],r8;"


@pytest.mark.parametrize(
    ("source", "reason", "number"),
    [
        (LOOP.format("mov r9,[rdi+rax*8+8];" + READ + WRITE), "reads 8 bytes at byte 8 of 'sliders'", 1),
        (LOOP.format("mov r9,[rdi+rax*8-8];" + READ + WRITE), "reads 8 bytes at byte -8 of 'sliders'", 1),
        (LOOP.format("mov r9,[rdi+rax*8+4];" + READ + WRITE), "reads 8 bytes at byte 4 of 'sliders'", 1),
        (LOOP.format(READ + WRITE + "mov [rdx+rax*8+8],r8;"), "writes 8 bytes at byte 8 of 'result'", 1),
        (LOOP.format(READ + WRITE + "mov [rdi+rax*8],r8;"), "sliders is changed", 1),
        (LOOP.format(READ + WRITE).replace("je 2f;", "je 2f; dec rcx; je 2f;"), "attacks is wrong", 1),
        # The second of three boards is left out.
        (
            f"xor eax,eax; 1: cmp rcx,3; jb 3f; {READ + WRITE} mov r8,[rdi+rax*8+16]; shl r8,8; mov [rdx+rax*8+16],r8;"
            f"add rax,2; sub rcx,2; jmp 1b; 3: test rcx,rcx; je 2f; {STEP} jmp 3b; 2: ret",
            "attacks is wrong for board 1",
            3,
        ),
    ],
)
def test_what_a_loop_must_not_do_to_arrays_is_refuted(source: str, reason: str, number: int) -> None:
    made = proof(source)
    assert boards(made) == number
    assert reason in made.reason


def test_boards_of_both_ends_are_not_counted_together() -> None:
    """By turns one from the start, one from the end, as many as there are: of two boards the first is done twice."""
    turned = "mov r9,rax; test al,1; je 3f; sub r9,rcx; not r9; 3:"
    at_turned = (READ + WRITE).replace("rax", "r9")
    made = proof(f"xor eax,eax; 1: cmp rax,rcx; je 2f; {turned} {at_turned} inc rax; jmp 1b; 2: ret")
    assert boards(made) == 2


def test_boards_in_the_middle_are_not_taken_for_the_last_ones() -> None:
    """The one behind the middle is done first, then those before it; of two boards the last is left out."""
    middle = ODD.replace("and rcx,-2; and r9,1;", "shr rcx,1; test r9,r9;")
    made = proof(f"{middle} sub rcx,1; js 2f; 1: {DOWN.format(0)} sub rcx,1; jns 1b; 2: ret")
    assert boards(made) == 3
    made = proof(f"{ODD.replace('-2', '-4')} sub rcx,1; js 2f; 1: {DOWN.format(0)} sub rcx,1; jns 1b; 2: ret")
    assert boards(made) >= 2


def test_what_the_result_held_may_be_read_and_is_unknown() -> None:
    assert proof(LOOP.format("mov r9,[rdx+rax*8];" + READ + WRITE)).status == "proved"
    assert proof(LOOP.format("mov r9,[rdx+rax*8];" + READ + "or r8,r9;" + WRITE)).status == "refuted"


def test_a_result_that_is_written_before_the_input_is_read_is_refuted_in_its_place() -> None:
    """It is right where the result has a place of its own."""
    made = proof(LOOP.format("mov r8,[rdi+rax*8]; mov [rdx+rax*8],rax;" + READ + WRITE))
    assert made.status == "refuted"
    assert made.counterexample is not None
    assert made.counterexample.alias == 0


def test_an_input_that_is_changed_is_seen() -> None:
    """The results are right all the same."""
    cycles = "shl r8,8; and r8,r9; or r10,r8;" * 6
    fill = f"mov r8,[rdi+rax*8]; mov r9,[rsi+rax*8]; mov r10,r8; {cycles} shl r10,8; mov [rdx+rax*8],r10;"
    kernel = lower(find("kogge-stone.attacks.nort.batch"), "x86-64", "sysv")
    for more, status in (("", "proved"), ("mov [rsi+rax*8],r10;", "refuted")):
        made = Prover().prove(Binary(assemble(LOOP.format(fill + more))), task_of(kernel))
        assert made.status == status
    assert made.confirmation is not None
    assert made.confirmation.description == "confirmed by stepping"


def test_a_loop_that_stands_still_is_refuted() -> None:
    made = proof("xor eax,eax; 1: mov rax,rax; mov rcx,rcx; test rcx,rcx; jne 1b; ret")
    assert (made.status, made.reason) == ("refuted", "never returns")
    assert boards(made) == 1


def test_a_loop_that_nothing_comes_back_to_is_none() -> None:
    """Behind pairs of boards there is one at most: where its branch back goes makes no difference."""
    kernel = lower(find("kogge-stone.attacks.nort.batch"), "sse2", "sysv")
    binary = binary_of(kernel)
    code = decode(binary.text)
    number, back = [(at, one) for at, one in enumerate(code) if one.mnemonic == "jns"][-1]
    assert back.length == 2
    for target in code[number - 6 : number]:
        changed = bytearray(binary.text)
        changed[back.end - 1] = (target.offset - back.end) % 256
        made = Prover().prove(replace(binary, text=bytes(changed)), task_of(kernel))
        assert (made.status, made.reason) == ("proved", "")


def test_an_error_of_the_second_round_of_eight_boards_is_found() -> None:
    """The branch back leaves out the loads: the first round is right."""
    kernel = lower(find("kogge-stone.attacks.soWe.batch"), "avx512", "sysv")
    binary = binary_of(kernel)
    code = decode(binary.text)
    back = next(one for one in code if one.mnemonic == "jns")
    late = next(one for one in code if one.mnemonic == "vporq" and one.offset > (back.target or 0))
    changed = bytearray(binary.text)
    assert back.length == 2
    changed[back.end - 1] = (late.offset - back.end) % 256
    made = Prover().prove(replace(binary, text=bytes(changed)), task_of(kernel))
    assert boards(made) == 16
    assert made.reason.startswith("attacks is wrong for board ")


def test_loops_that_go_through_each_other_are_not_followed_for_ever() -> None:
    """It is right, and has two heads."""
    loops = f"1: {STEP} je 2f; 3: {STEP} je 2f; test al,4; jne 1b; jmp 3b; 2: ret"
    made = proof(f"xor eax,eax; test rcx,rcx; je 2f; {loops}")
    assert made.status == "not proved"
    assert "again from an outer loop" in made.reason


@pytest.mark.slow
def test_a_loop_without_end_is_not_followed_for_ever() -> None:
    """It comes back by a jump, without a branch that would part the ways."""
    made = proof("xor eax,eax; 1: jmp 1b")
    assert (made.status, made.reason) == ("refuted", "never returns")
    assert boards(made) == 0
    assert proof("xor eax,eax; 1: inc rax; jmp 1b").status == "not proved"  # no state comes again


def test_a_refutation_on_no_boards_is_told() -> None:
    made = proof("mov r8,[rdi]; ret")
    assert boards(made) == 0
    said = confirm_by_stepping(made)
    assert said.status == "confirmed"
    text = certificate_text(Proof(("f", None, 1, "sysv"), made, said))
    assert text.endswith("; confirmed by stepping\narrays of no boards")


def test_a_refutation_tells_the_length_and_where_the_result_lies() -> None:
    twice = STEP.replace("inc rax;", "mov r8,[rdi+rax*8]; shl r8,8; mov [rdx+rax*8],r8; inc rax;")
    made = proof(f"xor eax,eax; test rcx,rcx; je 2f; 1: {twice} jne 1b; 2: ret")
    assert made.status == "refuted"
    text = certificate_text(Proof(("f", None, 1, "sysv"), made, Confirmation("confirmed", "so it is")))
    assert "so it is\narrays of 1 board, the result in place of sliders\n" in text


def test_distances_are_added_up() -> None:
    domain = Addresses()
    a, b = (domain.variable(name, 64) for name in "ab")
    more = domain.shl(domain.add(domain.add(a, 2, 64), b, 64), 3, 64)
    assert domain.distance(more, domain.shl(domain.add(b, a, 64), 3, 64)) == 16
    assert domain.distance(domain.sub(more, 24, 64), domain.shl(domain.add(b, a, 64), 3, 64)) == (1 << 64) - 8
    assert domain.distance(more, domain.shl(a, 3, 64)) is None
    assert domain.distance(a, domain.and_(a, 7, 64)) is None
    assert domain.distance(domain.shl(a, 3, 64), domain.shr(a, 3, 64)) is None
    assert domain.distance(Pointer(Base("one", 8), 24), Pointer(Base("one", 8), 8)) == 16
    assert domain.distance(5, 3) == 2
    rounded = domain.concat(domain.extract(a, 3, 61, 64), 0, 61, 3)
    assert domain.distance(rounded, domain.shl(a, 3, 64)) is None


def test_names_are_exchanged_at_once() -> None:
    """One after the other would make them one name, and any two lanes alike."""
    domain = Addresses()
    a, b = (domain.variable(name, 64) for name in "ab")
    difference = domain.sub(a, domain.shl(b, 1, 64), 64)
    assert domain.renamed(difference, {a: b, b: a}, 64) == domain.sub(b, domain.shl(a, 1, 64), 64)


def test_after_the_time_limit_nothing_is_answered() -> None:
    """Not even what is known: a loop over known answers would go on and on."""
    domain = Addresses()
    solver = Solver(domain)
    question = domain.eq(domain.variable("a", 64), 5, 64)
    assert solver.possible([question])
    solver.limit(-1.0)
    for ask in (solver.possible, solver.model, lambda conditions: solver.pleasing(conditions, [])):
        with pytest.raises(LimitError):
            ask([question])
