"""The prover: what is right is proved, what is not is refuted by what it does, and what it cannot follow it says."""

import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.concrete_execution import confirm_by_stepping
from setwise.analysis.proof.prover import Prover, confirmed
from setwise.analysis.run.samples import samples
from setwise.analysis.spec.contracts import task_for, task_of
from setwise.analysis.spec.task import Argument, Place, Result, Task
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.numbering import BIG_ENDIAN_FILES
from tests.analysis.listings import DUMB7, KOGGE_STONE, assemble
from tests.conftest import require_module

require_module("bitwuzla")

BOARDS = (
    Argument("sliders", "board", Place("general", "rdx")),
    Argument("empty", "empty", Place("general", "rcx")),
)
SOUTH = Task(
    "attacks",
    "sout",
    BOARDS,
    (Result("attacks", Place("general", "rax")),),
    saved=("rbx", "rbp", "rsi", "rdi", "r12"),
    saved_vectors=("zmm6",),
)


@cache
def prover() -> Prover:
    return Prover()


def proof(source: str, task: Task = SOUTH, data: bytes = b"") -> Certificate:
    """The proof of some assembly; its data lies at 0x200."""
    return prover().prove(Binary(assemble(source), data, 0x200 if data else 0), task)


def kernel_proof(name: str, isa: str = "x86-64", abi: str = "sysv", lanes: int | None = None) -> Certificate:
    kernel = lower(find(name), isa, abi, lanes)
    return prover().prove(binary_of(kernel), task_of(kernel))


@pytest.mark.parametrize("source", [DUMB7, KOGGE_STONE])
def test_the_classic_listings_are_proved(source: str) -> None:
    made = proof(source)
    assert (made.status, made.reason, made.cases, made.paths) == ("proved", "", 1, 1)
    assert set(made.written(kept=False)) == {"rax", "rdx"} | ({"rcx"} if source == KOGGE_STONE else set())
    assert made.solver.startswith("bitwuzla 0.")


@pytest.mark.parametrize(
    ("name", "isa", "lanes"),
    [
        ("kogge-stone.attacks.noEa", "x86-64", None),
        ("kogge-stone.attacks.any", "bmi2", None),
        ("dumb7.occluded-rolled.west", "x86-64", None),
        ("dumb7.occluded-until-dry.soWe", "x86-64", None),
        ("push.attacks.queen", "x86-64", None),
        ("subtraction.attacks.east", "x86-64", None),
        pytest.param("bytewise.carry-loop-64", "x86-64", None, marks=pytest.mark.slow),
        ("bytewise.carry-loop-32", "bmi2", None),
        ("kogge-stone.occluded.east", "sse2", None),
        ("kogge-stone.attacks.soEa", "avx512", 8),
        ("kogge-stone.attacks.bishop", "avx2", None),
        ("sliders.pair", "avx512", None),
        ("kogge-stone.attacks.east.batch", "avx2", None),
        ("sliders.union.batch", "x86-64", None),
        ("exploding.bishop", "x86-64", None),
    ],
)
@pytest.mark.parametrize("abi", ["sysv", "win64"])
def test_kernels_of_every_sort_are_proved(name: str, isa: str, lanes: int | None, abi: str) -> None:
    made = kernel_proof(name, isa, abi, lanes)
    assert (made.status, made.reason) == ("proved", "")


def test_specifications_of_other_numberings_are_told_apart() -> None:
    """They are made once and kept, by their names among others."""
    little = task_for(find("exploding.direction").contract, SYSV)
    big, prover = replace(little, numbering=BIG_ENDIAN_FILES), Prover()
    west_of_d4 = [prover._expected(task, (28, 5, 0, 0)) for task in (little, big)]
    assert west_of_d4 == [[0x0F00_0000], [0xE000_0000]]


def test_loops_are_unrolled_until_another_round_is_impossible() -> None:
    made = kernel_proof("dumb7.occluded-until-dry.nort")
    assert made.status == "proved"
    assert made.rounds == 7
    assert made.induction == ""


@pytest.mark.slow
def test_loops_without_such_a_bound_are_proved_by_induction() -> None:
    assert kernel_proof("bytewise.carry-loop-64").rounds == 63
    assert "a boards are done" in kernel_proof("kogge-stone.attacks.east.batch", "avx2").induction


WRONG = {
    "a wrong shift": (DUMB7.replace("shr rax,8", "shr rax,9"), "attacks is wrong"),
    "rbx changed": ("xor ebx,ebx;" + DUMB7, "rbx is not restored"),
    "rbx changed where nothing slides": ("test rdx,rdx; cmove rbx,rcx;" + DUMB7, "rbx is not restored"),
    "xmm6 changed": ("pxor xmm6,xmm6;" + DUMB7, "xmm6 is not restored"),
    "a stack that is not emptied": ("push rdx;" + DUMB7, "returns to an address that is not its caller's"),
    "a stack emptied too far": (DUMB7.replace("ret", "ret 8"), "raises the stack pointer into its caller's frame"),
    "below the stack": ("mov [rsp-8],rdx;" + DUMB7, "writes 8 bytes at rsp-8 (rsp as at entry)"),
    "above the stack": ("mov r8,[rsp+8];" + DUMB7, "reads 8 bytes at rsp+8 (rsp as at entry)"),
    "the return address": ("mov [rsp],rdx;" + DUMB7, "returns to an address that is not its caller's"),
    "a board as an address": ("mov r8,[rdx];" + DUMB7, "at an address that derives from no known one"),
    "a fixed address": ("movabs rax,[0x1234567812345678];" + DUMB7, "at the fixed address 0x1234567812345678"),
    "its own code": ("mov [rip],rdx;" + DUMB7, "which are read-only"),
    "behind the code": ("mov r8,[rip+0x1000];" + DUMB7, "of the code and its data, which have"),
    "a table's end": ("and edx,7; lea r8,[rip]; mov r8,[r8+rdx*8+0x20];" + DUMB7, "outside of the code"),
    "flags that nobody set": ("jb 1f;" + DUMB7 + "; 1: ret", "attacks is wrong"),
    "a jump out": ("jmp .+0x1000", "leaves its code"),
    "a jump to a board": ("jmp rdx", "returns to an address that is not its caller's"),
    "a lost stack": ("mov r8,rsp; mov rsp,rdx; mov rsp,r8;" + DUMB7, "moves rsp outside the stack"),
    "an unaligned load": ("movdqa xmm0,[rsp-16];" + DUMB7, "needs an address that is a multiple of 16"),
    "no end": ("1: jmp 1b", "never returns"),
    "no end for some": ("1: test rdx,rdx; jne 1b;" + DUMB7, "never returns"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_refuted(what: str) -> None:
    source, reason = WRONG[what]
    task = replace(SOUTH, red_zone=32) if what == "an unaligned load" else SOUTH
    made = proof(source, task)
    assert made.status == "refuted"
    assert reason in made.reason
    assert made.counterexample is not None
    assert made.counterexample.runs == reason.endswith((" is wrong", " is not restored"))


def test_a_counterexample_is_the_plainest_there_is() -> None:
    """As few pieces as may be on the lowest squares that show it; whatever the solver would choose."""
    a2, a3, everywhere = 1 << 8, 1 << 16, (1 << 64) - 1
    for old, new, sliders, empty in (
        ("and rdx,rcx", "or rdx,rcx", 0, everywhere),
        ("shr rax,8", "shr rax,9", a2, everywhere ^ a2),
        ("and rdx,rcx; or rax,rdx", "or rax,rdx; and rdx,rcx", a3, everywhere ^ a3 ^ a2),
        ("or rax,rdx", "xor rax,rdx", a2 | a3, everywhere),
    ):
        made = proof(DUMB7.replace(old, new, 1))
        assert made.counterexample is not None
        assert dict(made.counterexample.words) == {"sliders": sliders, "empty": empty}


def test_what_is_allowed_is_allowed() -> None:
    saved = "push rbx; sub rsp,16; movdqu [rsp],xmm6; mov rbx,rdx; pxor xmm6,xmm6;"
    back = "movdqu xmm6,[rsp]; add rsp,16; pop rbx; ret"
    assert proof(saved + DUMB7.replace("ret", back)).status == "proved"
    assert proof("mov [rsp-16],rdx; mov rdx,[rsp-16];" + DUMB7, replace(SOUTH, red_zone=128)).status == "proved"
    assert proof("mov [rsp+8],rdx; mov rdx,[rsp+8];" + DUMB7, replace(SOUTH, home=32)).status == "proved"
    aligned = "mov r8,rsp; and rsp,-64; movdqa [rsp-64],xmm0; mov rsp,r8;"
    assert proof(aligned + DUMB7, replace(SOUTH, red_zone=128)).status == "proved"


def test_what_was_popped_is_lost_without_a_red_zone() -> None:
    source = "push rdx; pop r8; sub rsp,8; mov rdx,[rsp]; add rsp,8;" + DUMB7
    assert proof(source, replace(SOUTH, red_zone=128)).status == "proved"
    made = proof(source)
    assert (made.status, made.reason) == ("refuted", "attacks is wrong")


def test_an_instruction_without_semantics_is_refused_by_name() -> None:
    made = proof("push rbx; cpuid; pop rbx;" + DUMB7)
    assert (made.status, made.reason) == ("not proved", "no semantics for 'cpuid' at offset 0x1")
    made = proof("std;" + DUMB7)
    assert (made.status, made.reason) == ("not proved", "no semantics for 'std' at offset 0x0")


def test_a_path_that_cannot_be_taken_does_no_harm() -> None:
    assert proof("mov r8,rdx; and r8,1; cmp r8,2; jb 1f; cpuid; 1:" + DUMB7).status == "proved"
    assert proof("mov r8,rdx; and r8,1; cmp r8,1; jb 1f; cpuid; 1:" + DUMB7).status == "not proved"


def test_bytes_that_are_no_instruction_are_not_proved() -> None:
    made = prover().prove(Binary(b"\x06"), SOUTH)
    reason = "has no instruction at offset 0x0 (data in the code?): bytes 06"
    assert (made.status, made.reason) == ("not proved", reason)


def test_a_time_out_is_not_a_proof() -> None:
    kernel = lower(find("dumb7.attacks.queen"), "x86-64", "sysv")
    for limit in (0.0, 0.02):
        made = Prover().prove(binary_of(kernel), task_of(kernel), limit)
        assert (made.status, made.reason) == (
            "not proved",
            "the time limit was reached: allow more by --time-limit, or run setwise check",
        )


@pytest.mark.parametrize(
    "task",
    [
        replace(SOUTH, requires=("sliders are few",)),
        replace(SOUTH, requires=("sliders within occupied",)),
        replace(SOUTH, specification="attakcs"),
        replace(SOUTH, direction="up"),
        replace(SOUTH, arguments=(*BOARDS, Argument("x", "riddle", Place("general", "r8")))),
    ],
)
def test_a_contract_that_nobody_knows_is_not_proved(task: Task) -> None:
    made = proof(DUMB7, task)
    assert made.status == "not proved"
    assert made.reason


def test_what_the_contract_requires_is_assumed_and_no_more() -> None:
    kernel = lower(find("push.attacks.east"), "x86-64", "sysv")
    task = task_of(kernel)
    assert prover().prove(binary_of(kernel), task).status == "proved"
    made = prover().prove(binary_of(kernel), replace(task, requires=()))
    assert made.status == "refuted"
    found = made.counterexample
    assert found is not None
    words = dict(found.words)
    assert words["sliders"] & words["empty"]  # what the contract rules out


def test_equal_bytes_are_proved_once() -> None:
    mine = Prover()
    kernel = lower(find("kogge-stone.attacks.sout"), "x86-64", "sysv")
    first, second = (mine.prove(binary_of(kernel), task_of(kernel)) for _ in range(2))
    assert first.questions > 0
    assert second.questions == 0
    assert replace(second, questions=first.questions, seconds=first.seconds) == first
    other = mine.prove(binary_of(kernel), replace(task_of(kernel), direction="nort"))
    assert other.status == "refuted"


def test_jumps_through_a_table_go_everywhere() -> None:
    """A table of four distances; three lead to the right code, the last one to the wrong one."""
    source = "lea r8,[rip+0x1f9]; mov eax,edx; and eax,3; movsxd rax,[r8+rax*4]; add rax,r8; jmp rax; {}; {}"
    code = assemble(source.format(DUMB7, "xor eax,eax; ret"))
    right = assemble(source.format("", "")).__len__()
    wrong = right + len(assemble(DUMB7))
    for last, status in ((right, "proved"), (wrong, "refuted")):
        data = b"".join((place - 0x200).to_bytes(4, "little", signed=True) for place in (right, right, right, last))
        made = prover().prove(Binary(code, data, 0x200), SOUTH)
        assert made.status == status
        assert made.paths == 1 + (last == wrong)  # equal entries are one way
    assert made.counterexample is not None
    assert dict(made.counterexample.words)["sliders"] & 3 == 3


def test_a_table_looked_up_at_an_unknown_place_gives_each_of_its_entries() -> None:
    task = Task(
        "step",
        "nort",
        (Argument("sliders", "board", Place("general", "rdi"), 8),),
        (Result("attacks", Place("general", "rax")),),
    )
    data = b"".join((number << 8).to_bytes(8, "little") for number in range(8))
    source = "lea rdx,[rip+0x1f9]; and edi,7; mov rax,[rdx+rdi*8]; ret"
    assert prover().prove(Binary(assemble(source), data, 0x200), task).status == "proved"
    broken = data[:40] + b"\x01" + data[41:]
    made = prover().prove(Binary(assemble(source), broken, 0x200), task)
    assert made.status == "refuted"
    assert made.counterexample is not None
    assert made.counterexample.words == (("sliders", 5),)


def broken(name: str, isa: str, old: bytes, new: bytes) -> Certificate:
    """The proof of a kernel with some of its bytes replaced."""
    kernel = lower(find(name), isa, "sysv")
    binary = binary_of(kernel)
    assert binary.text.count(old) >= 1
    changed = replace(binary, text=binary.text.replace(old, new))
    return prover().prove(changed, task_of(kernel))


def test_a_broken_tail_of_an_array_is_refuted() -> None:
    name = "kogge-stone.attacks.nort.batch"
    sub_one = assemble("sub rcx,1")
    assert broken(name, "x86-64", sub_one, assemble("sub rcx,2")).status == "refuted"
    assert broken(name, "x86-64", sub_one, assemble("cmp rcx,1")).status == "refuted"
    assert broken(name, "avx2", assemble("sub rcx,4"), assemble("sub rcx,3")).status == "refuted"
    assert broken(name, "avx2", assemble("add rcx,3"), assemble("add rcx,2")).status == "refuted"
    made = broken(name, "avx2", assemble("add rcx,3"), assemble("add rcx,4"))
    assert made.status == "refuted"
    assert "writes" in made.reason or "reads" in made.reason


@pytest.mark.slow
def test_a_mask_of_the_last_boards_that_is_wrong_by_one_bit_is_refuted() -> None:
    """Of the numbers that it compares, the predicate, the number of those boards, and the accesses under it."""
    kernel = lower(find("kogge-stone.attacks.nort.batch"), "avx512", "sysv")
    binary = binary_of(kernel)
    code = decode(binary.text)
    compare = next(each for each in code if each.mnemonic == "vpcmpuq")
    masked = [each for each in code if each.mnemonic == "vmovdqu64" and each.mask]
    counts = [each for each in code if each.mnemonic == "and"]
    assert (len(masked), len(counts)) == (3, 2)
    text, data = binary.text, binary.data
    changes = [(at, text[at] ^ bit) for each in counts for at, bit in ((each.end - 1, 4), (each.end - 1, 8))]
    changes += [(compare.end - 1, text[compare.end - 1] ^ bit) for bit in (1, 2, 4)]
    changes += [(each.offset + 3, text[each.offset + 3] & 0x78) for each in masked]  # neither mask nor zeroing
    broken = [replace(binary, text=text[:at] + bytes([byte]) + text[at + 1 :]) for at, byte in changes]
    for at in range(0, len(data), 8):
        broken.append(replace(binary, data=data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]))
    assert len({binary, *broken}) == 1 + 4 + 3 + 3 + 8
    for each in broken:
        assert prover().prove(each, task_of(kernel)).status == "refuted"


def test_counts_are_proved_and_broken_ones_refuted() -> None:
    kernel, prover = lower(find("sliders.counts"), "bmi2"), Prover()
    binary, task = binary_of(kernel), task_of(kernel)
    certificate = prover.prove(binary, task)
    assert certificate.status == "proved"
    adds = [each for each in certificate.instructions if each.mnemonic == "add"]
    for broken in adds[0], adds[-1]:
        text = bytearray(binary.text)
        text[broken.offset : broken.offset + broken.length] = b"\x90" * broken.length
        refuted = prover.prove(replace(binary, text=bytes(text)), task)
        assert (refuted.status, refuted.reason) == ("refuted", "moves is wrong")
        assert refuted.counterexample is not None
        assert refuted.counterexample.expected != refuted.counterexample.got
        assert tuple(word for _, word in refuted.counterexample.words) in set(samples(task))  # known numbers


def test_a_carry_loop_that_stops_early_is_refuted() -> None:
    short = "mov rax,rdi; xor rax,rsi; and rdi,rsi; mov edx,5; 1: test rdi,rdi; je 2f; shl rdi,1;"
    short += "mov rcx,rax; xor rcx,rdi; and rdi,rax; mov rax,rcx; dec edx; jne 1b; 2: ret"
    kernel = lower(find("bytewise.carry-loop-64"), "x86-64", "sysv")
    made = prover().prove(Binary(assemble(short)), task_of(kernel))
    assert (made.status, made.reason) == ("refuted", "sum is wrong")


def test_counterexamples_are_confirmed_or_the_prover_is_wrong() -> None:
    kernel = lower(find("kogge-stone.attacks.east"), "x86-64", "sysv")
    made = broken("kogge-stone.attacks.east", "x86-64", assemble("shl rax,4"), assemble("shl rax,5"))
    assert made.status == "refuted"
    assert made.counterexample is not None
    assert made.confirmation is not None
    assert made.confirmation.got == made.counterexample.got != made.counterexample.expected
    lie = replace(made, binary=binary_of(kernel))  # refuted, they say; but these bytes are right
    assert confirm_by_stepping(lie).status == "disagrees"
    assert confirmed(lie).status == "not proved"


def test_the_prover_leaves_without_a_crash() -> None:
    """Terms that outlive their manager would end the process in a segmentation fault."""
    program = (
        "from tests.analysis.proof import test_prover as t\n"
        "t.kernel_proof('kogge-stone.attacks.east.batch', 'avx2'); t.kernel_proof('dumb7.occluded-until-dry.nort')\n"
        "t.prover.cache_clear(); raise KeyError('as planned')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "as planned" in done.stderr
