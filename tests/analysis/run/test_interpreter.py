import random

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.run.interpreter import Interpreter, executed_counts
from setwise.analysis.semantics.state import SemanticsError
from setwise.analysis.spec.raywalk import attacks
from tests.analysis.listings import DUMB7, KOGGE_STONE, assemble

# The seeds' loop: south attacks, until the flood dries up.
LOOP = "xor eax,eax; test rdx,rdx; jz b; a: or rax,rdx; shr rdx,8; and rdx,rcx; jnz a; b: shr rax,8; ret"


@pytest.mark.parametrize("source", [DUMB7, KOGGE_STONE, LOOP])
def test_routines_do_what_the_ray_walk_says(source: str) -> None:
    chance, binary = random.Random(3), Binary(assemble(source))
    for _ in range(50):
        sliders = chance.getrandbits(64) & chance.getrandbits(64) & chance.getrandbits(64)
        empty = chance.getrandbits(64) | chance.getrandbits(64)
        assert Interpreter(binary, {"rdx": sliders, "rcx": empty}).run().registers["rax"] == attacks(
            "sout", sliders, empty
        )


def test_executed_counts() -> None:
    binary = Binary(assemble(LOOP))
    none, one = (
        Interpreter(binary, {"rdx": 0, "rcx": 0}).run(),
        Interpreter(binary, {"rdx": 1 << 24, "rcx": 0x10101}).run(),
    )
    assert (executed_counts(none).instructions, executed_counts(none).branches) == (4, 1)
    counts = executed_counts(one)
    assert (counts.instructions, counts.branches, counts.operations) == (3 + 4 * 4 + 1, 5, 15)
    assert counts.bytes == len(binary.text)
    assert one.instructions[-1].mnemonic == "ret"
    straight = Interpreter(Binary(assemble(DUMB7)), {"rdx": 1, "rcx": 0}).run()
    assert executed_counts(straight).instructions == 20


def test_traces_tell_what_was_written() -> None:
    trace = Interpreter(
        Binary(assemble("mov rax,rdx; vmovq xmm1,rdx; vpbroadcastq ymm2,xmm1; kmovb k1,eax; ret")), {"rdx": 0x155}
    ).run()
    written = [[(one.name, one.lanes) for one in step.written] for step in trace.steps[:4]]
    assert written == [[("rax", (0x155,))], [("xmm1", (0x155, 0))], [("ymm2", (0x155,) * 4)], [("k1", (0x55,))]]
    assert trace.registers["k1"] == 0x55
    assert trace.vectors["zmm2"] == (0x155,) * 4 + (0,) * 4


def test_buffers_and_read_only_data() -> None:
    text = assemble("mov rax,[rip+0x19]; add rax,[rdi+8]; mov [rsi],rax; ret")
    binary = Binary(text, (1000).to_bytes(8, "little"), 32)
    memory = {"in": bytes(8) + (5).to_bytes(8, "little"), "out": bytes(8)}
    trace = Interpreter(binary, {"rdi": "in", "rsi": "out"}, memory).run()
    assert trace.registers["rax"] == 1005
    assert int.from_bytes(trace.buffers["out"], "little") == 1005
    assert trace.buffers["in"] == memory["in"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "nop; mov rax,[rdi+16]; ret",
            r"offset 0x1 reads 8 bytes at 0x10000018, .* nearest is buffer 'in': 16 bytes at 0x10000008$",
        ),
        ("mov [rdi+9],rax; ret", "writes 8 bytes at 0x10000011, which is not memory of the call"),
        ("vmovdqu ymm0,[rdi]; ret", "reads 8 bytes"),
        ("mov [rip-7],rax; ret", "writes 8 bytes at byte 0 of the code and its data, which is read-only"),
        ("push rax; ret", "where no instruction begins"),
        ("add rsp,8; ret", "no instruction begins"),
        ("sub rsp,8; jmp a; a: add rsp,8", "runs into offset 0xa, where no instruction begins"),
        ("a: jmp a", "has not returned after 1000 instructions"),
        ("mov rsp,rdi; ret", "returns|no instruction begins|outside"),
        ("pop rcx; sub rsp,8; push rcx; ret", "returns with rsp -8 bytes from where it was"),
        ("lea rax,[rip-6]; add rax,1; jmp rax", "offset 0x2, where no instruction begins"),
    ],
)
def test_code_that_runs_away(source: str, message: str) -> None:
    with pytest.raises(SemanticsError, match=message):
        Interpreter(Binary(assemble(source)), {"rdi": "in"}, {"in": bytes(16)}).run(limit=1000)


def test_registers_that_are_not_given_are_arbitrary_but_always_the_same() -> None:
    binary = Binary(assemble("mov rax,rbx; ret"))
    assert Interpreter(binary).run().registers["rax"] == Interpreter(binary).run().registers["rax"] > 1000
    trace = Interpreter(Binary(assemble("ret")), {"xmm2": 5, "ymm3": (1, 2), "zmm4": 1 << 448}).run()
    assert trace.vectors["zmm2"][:2] == (5, 0)
    assert trace.vectors["zmm2"][2] > 1000
    assert trace.vectors["zmm3"][:2] == (1, 2)
    assert trace.vectors["zmm3"][2] > 1000
    assert trace.vectors["zmm4"] == (0,) * 7 + (1,)
