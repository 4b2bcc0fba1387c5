"""The semantics beside what test_machines.py tries: control, refusals, undefined flags, alignment, masks."""

import iced_x86
import pytest

from setwise.analysis.code.decode import Binary, DecodeError, decode
from setwise.analysis.run.interpreter import Interpreter, MemoryRanges, Start
from setwise.analysis.semantics import bits, general, permute, vector
from setwise.analysis.semantics import lanes as semantics_lanes
from setwise.analysis.semantics.domains import Bits, Integers
from setwise.analysis.semantics.state import MachineState, Meaning, SemanticsError, Unsupported
from setwise.analysis.semantics.table import TABLE, execute
from tests.analysis.listings import assemble


def rax(source: str, **registers: Start) -> int:
    """rax after these instructions and a ret."""
    return Interpreter(Binary(assemble(source + "; ret")), registers).run().registers["rax"]


def test_calls_and_jumps() -> None:
    assert rax("call a; add rax,1; jmp b; a: mov eax,7; ret; b:") == 8
    assert rax("push rbp; mov rbp,rsp; sub rsp,32; mov [rbp-8],rdx; mov rax,[rsp+24]; leave", rdx=77) == 77
    assert rax("push 5; pop rax; add rsp,-16; add rsp,16") == 5


def one(source: str, state: MachineState | None = None) -> None:
    execute(decode(assemble(source))[0], state or Interpreter(Binary(b"\xc3")).state)


def test_what_has_no_semantics_is_named() -> None:
    for source in ("fldpi", "mov rax,fs:0x28", "push ax", "bt [rsi],rax", "movsd", "rep stosq", "div rcx"):
        with pytest.raises(Unsupported, match=r"no semantics for '.*' at offset 0x0"):
            one(source)


@pytest.mark.parametrize(
    "raw",
    [
        "6657", "66c9", "66c3", "66eb00", "667400", "66ffe0", "666a01", "f266c3",  # the stack, or a place, in 16 bits
        "6748030500000000", "6748034500", "6790",  # addresses of 32 bits
        "664801c8", "48666601c8", "f2480fb8c1c3", "66f30f6fc0", "6666660fefc0",  # prefixes that say nothing
        "4857", "4088 08".replace(" ", ""), "c4e1f9efc0", "f34190",
        "ff2e", "48ff2e", "ff1e", "0f6fc1", "8ed8", "64480301", "f0480101",  # far, MMX, segments, lock
    ],
)  # fmt: skip
def test_an_encoding_that_is_not_followed_is_named(raw: str) -> None:
    with pytest.raises((Unsupported, DecodeError), match=r"no semantics for '.+' at|no instruction at"):
        execute(decode(bytes.fromhex(raw))[0], Interpreter(Binary(b"\xc3")).state)


class Asked(Integers):
    """Counts the undefined bits that are read, each of which is 1."""

    def __init__(self) -> None:
        self.number = 0

    def undefined(self, usual: Bits, width: int) -> Bits:
        self.number += 1
        return 1


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("imul rax,rcx; sete al", 1),
        ("imul rax,rcx; sete al; sete al", 1),  # the same bit again
        ("shl rax,2; seto al", 1),
        ("bt rax,2; sete al", 1),  # by AMD's manual
        ("bt rax,2; setb al", 0),
        ("adc rax,rax", 1),  # at the start none is set
        ("xor eax,eax; shl rdx,cl; sete al", 0),  # a shift by 0 leaves the flags
        ("stc; dec rdx; setb al", 0),
        ("imul rax,rcx", 0),
    ],
)
def test_an_undefined_flag_is_some_bit(source: str, number: int) -> None:
    machine = Interpreter(Binary(assemble(source + "; ret")), {"rcx": 0})
    machine.state.domain = domain = Asked()
    machine.run()
    assert domain.number == number


def test_alignment() -> None:
    memory = {"b": bytes(64)}
    for source in ("pand xmm0,[rdi]", "movdqa xmm0,[rdi]", "vmovdqa ymm0,[rdi+8]", "movaps [rdi],xmm0"):
        with pytest.raises(SemanticsError, match=r"needs an address that is a multiple of (16|32)"):
            Interpreter(Binary(assemble(source + "; ret")), {"rdi": "b"}, memory).run()
    for source in ("pand xmm0,[rdi+8]", "movdqu xmm0,[rdi]", "vpand ymm0,ymm0,[rdi]", "movq xmm0,[rdi]"):
        Interpreter(Binary(assemble(source + "; ret")), {"rdi": "b"}, memory).run()


def test_registers_without_a_value() -> None:
    state = MachineState(Integers(), MemoryRanges())
    with pytest.raises(SemanticsError, match="reads rcx, which has no value"):
        one("mov rax,rcx", state)
    with pytest.raises(SemanticsError, match="reads xmm1, which has no value"):
        one("movdqa xmm0,xmm1", state)
    one("xor eax,eax; ", Interpreter(Binary(b"\xc3")).state)


def test_masked_out_elements_are_not_touched() -> None:
    memory = {"b": bytes(range(1, 25))}
    code = Binary(assemble("vmovdqu64 zmm0{k1}{z},[rdi]; vmovdqu64 [rdi]{k2},zmm0; ret"))
    trace = Interpreter(code, {"rdi": "b", "k1": 0b110, "k2": 0b100}, memory).run()
    assert trace.vectors["zmm0"][:3] == (0, 0x100F0E0D0C0B0A09, 0x1817161514131211)
    with pytest.raises(SemanticsError, match="reads 8 bytes"):
        Interpreter(code, {"rdi": "b", "k1": 0b1000, "k2": 0}, memory).run()


def test_every_name_is_an_instruction() -> None:
    names = {name.lower() for name in vars(iced_x86.Mnemonic) if name.isupper()}
    assert set(TABLE) <= names
    rooms = (general, bits, vector, semantics_lanes, permute)
    tables: list[dict[str, Meaning]] = [dict(room.TABLE) for room in rooms]
    assert sum(map(len, tables)) == len(TABLE)
