"""Spot checks of the semantics against plain formulas; test_machines.py has the whole table."""

from __future__ import annotations

import iced_x86
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.analysis.code.decode import Binary, DecodeError, decode, signed
from setwise.analysis.run.steps import Machine, MemoryRanges, Start
from setwise.analysis.semantics import bits, general, permute, vector
from setwise.analysis.semantics import lanes as semantics_lanes
from setwise.analysis.semantics.domains import Bits, Integers
from setwise.analysis.semantics.parts import Meaning
from setwise.analysis.semantics.table import TABLE, SemanticsError, State, UnknownInstructionError, execute
from tests.analysis.listings import assemble

words = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 70), st.sampled_from((0, 2**64 - 1, 2**63)))
lanes = st.tuples(*[words] * 8)
ONES = 2**64 - 1


def rax(source: str, **registers: Start) -> int:
    """rax after these instructions and a ret."""
    return Machine(Binary(assemble(source + "; ret")), registers).run().registers["rax"]


@given(words, words)
def test_logic_and_arithmetic(a: int, b: int) -> None:
    assert rax("mov rax,rdx; and rax,rcx", rdx=a, rcx=b) == a & b
    assert rax("lea rax,[rdx+rcx*8-3]", rdx=a, rcx=b) == (a + 8 * b - 3) % 2**64
    assert rax("lea eax,[rdx+rdx]", rdx=a) == 2 * a % 2**32
    assert rax("xor eax,eax; sub rdx,rcx; sbb rax,rax", rdx=a, rcx=b) == (ONES if a < b else 0)
    assert rax("mov rax,rdx; add eax,ecx", rdx=a, rcx=b) == (a + b) % 2**32
    assert rax("mov rax,rdx; mov al,cl", rdx=a, rcx=b) == a & ~0xFF | b & 0xFF
    assert rax("imul rax,rdx,0x101", rdx=a) == a * 0x101 % 2**64
    assert rax("mov rax,rdx; mul rcx; mov rax,rdx", rdx=a, rcx=b) == a * b >> 64
    assert rax("andn rax,rdx,rcx", rdx=a, rcx=b) == ~a & b & ONES
    assert rax("mov rax,rdx; bswap rax", rdx=a) == int.from_bytes(a.to_bytes(8, "little"), "big")


@given(words, st.integers(0, 255))
def test_shifts_mask_their_counts(a: int, count: int) -> None:
    assert rax("mov rax,rdx; shl rax,cl", rdx=a, rcx=count) == a << count % 64 & ONES
    assert rax("mov rax,rdx; shr eax,cl", rdx=a, rcx=count) == (a & 0xFFFF_FFFF) >> count % 32
    assert rax("mov rax,rdx; sar rax,cl", rdx=a, rcx=count) == signed(a, 64) >> count % 64 & ONES
    assert rax("mov rax,rdx; rol rax,cl", rdx=a, rcx=count) == (a << count % 64 | a >> -count % 64) & ONES
    assert rax("shrx rax,rdx,rcx", rdx=a, rcx=count) == a >> count % 64


@given(words, words)
def test_bits_gathered_and_scattered(source: int, mask: int) -> None:
    places = [place for place in range(64) if mask >> place & 1]
    gathered = sum((source >> place & 1) << number for number, place in enumerate(places))
    scattered = sum((source >> number & 1) << place for number, place in enumerate(places))
    assert rax("pext rax,rdx,rcx", rdx=source, rcx=mask) == gathered
    assert rax("pdep rax,rdx,rcx", rdx=source, rcx=mask) == scattered
    assert rax("popcnt rax,rcx", rcx=mask) == len(places)
    assert rax("tzcnt rax,rcx", rcx=mask) == (places[0] if places else 64)
    assert rax("lzcnt rax,rcx", rcx=mask) == 63 - (places[-1] if places else -1)


@given(words, words)
def test_conditions(a: int, b: int) -> None:
    expected = {
        "e": a == b, "b": a < b, "be": a <= b, "l": signed(a, 64) < signed(b, 64), "le": signed(a, 64) <= signed(b, 64),
        "s": bool((a - b) >> 63 & 1), "p": ((a - b) & 0xFF).bit_count() % 2 == 0,
        "o": not -(2**63) <= signed(a, 64) - signed(b, 64) < 2**63,
    }  # fmt: skip
    opposite = {"e": "ne", "b": "ae", "be": "a", "l": "ge", "le": "g", "s": "ns", "p": "np", "o": "no"}
    for condition, holds in expected.items():
        for name, truth in ((condition, holds), (opposite[condition], not holds)):
            assert rax(f"mov eax,0; cmp rdx,rcx; set{name} al", rdx=a, rcx=b) == truth
            assert rax(f"mov eax,1; cmp rdx,rcx; j{name} a; dec eax; a:", rdx=a, rcx=b) == truth
            assert rax(f"mov eax,0; cmp rdx,rcx; cmov{name} rax,rdx", rdx=a, rcx=b) == (a if truth else 0)


@given(lanes, lanes, lanes)
def test_vectors(a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...]) -> None:
    given = {"zmm1": a, "zmm2": b, "zmm3": c}

    def result(source: str, **more: Start) -> tuple[int, ...]:
        return Machine(Binary(assemble(source + "; ret")), {**given, **more}).run().vectors["zmm1"]

    together = tuple(x | y & z for x, y, z in zip(a, b, c, strict=True))
    assert result("vpternlogq zmm1,zmm2,zmm3,0xf8") == together
    assert result("vpaddq ymm1,ymm2,ymm3") == (
        *((x + y) % 2**64 for x, y in zip(b[:4], c[:4], strict=True)),
        0,
        0,
        0,
        0,
    )
    assert result("pandn xmm1,xmm2") == (~a[0] & b[0] & ONES, ~a[1] & b[1] & ONES, *a[2:])
    assert result("vprolq zmm1,zmm2,9") == tuple((x << 9 | x >> 55) & ONES for x in b)
    assert result("vpsrlvq zmm1,zmm2,zmm3") == tuple(x >> n if n < 64 else 0 for x, n in zip(b, c, strict=True))
    masked = result("vpsubq zmm1{k1},zmm2,zmm3", k1=0x5A)
    differences = [(x - y) % 2**64 for x, y in zip(b, c, strict=True)]
    assert masked == tuple(
        new if 0x5A >> n & 1 else old for n, (new, old) in enumerate(zip(differences, a, strict=True))
    )
    assert result("vpermq zmm1,zmm3,zmm2") == tuple(b[index % 8] for index in c)
    assert result("vpunpckhqdq zmm1,zmm2,zmm3") == (b[1], c[1], b[3], c[3], b[5], c[5], b[7], c[7])
    assert result("vextracti64x4 ymm1,zmm2,1") == (*b[4:], 0, 0, 0, 0)
    assert result("psubb xmm1,xmm2")[:2] == tuple(
        int.from_bytes(bytes((p - q) % 256 for p, q in zip(x.to_bytes(8), y.to_bytes(8), strict=True)))
        for x, y in zip(a[:2], b[:2], strict=True)
    )


@given(words)
def test_affine_bytes(word: int) -> None:
    """One matrix keeps each byte, its mirror image reverses the bits of each."""
    source = "movq xmm1,rdx; movq xmm2,rcx; gf2p8affineqb xmm1,xmm2,0; movq rax,xmm1"
    reversed_bytes = bytes(int(f"{byte:08b}"[::-1], 2) for byte in word.to_bytes(8))
    assert rax(source, rdx=word, rcx=0x0102040810204080) == word
    assert rax(source, rdx=word, rcx=0x8040201008040201) == int.from_bytes(reversed_bytes)


def test_calls_and_jumps() -> None:
    assert rax("call a; add rax,1; jmp b; a: mov eax,7; ret; b:") == 8
    assert rax("push rbp; mov rbp,rsp; sub rsp,32; mov [rbp-8],rdx; mov rax,[rsp+24]; leave", rdx=77) == 77
    assert rax("push 5; pop rax; add rsp,-16; add rsp,16") == 5


@pytest.mark.parametrize(("place", "result"), [(0, 5), (1, 6)])
def test_jump_tables(place: int, result: int) -> None:
    text = assemble("lea rdx,[rip+57]; movsxd rax,[rdx+rcx*4]; add rax,rdx; jmp rax; mov eax,5; ret; mov eax,6; ret")
    starts = [instruction.offset for instruction in decode(text) if instruction.mnemonic == "mov"]
    data = b"".join((start - 64).to_bytes(4, "little", signed=True) for start in starts)
    assert Machine(Binary(text, data, 64), {"rcx": place}).run().registers["rax"] == result


def one(source: str, state: State | None = None) -> None:
    execute(decode(assemble(source))[0], state or Machine(Binary(b"\xc3")).state)


def test_what_has_no_semantics_is_named() -> None:
    for source in ("fldpi", "mov rax,fs:0x28", "push ax", "bt [rsi],rax", "movsd", "rep stosq", "div rcx"):
        with pytest.raises(UnknownInstructionError, match=r"no semantics for '.*' at offset 0x0"):
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
    with pytest.raises((UnknownInstructionError, DecodeError), match=r"no semantics for '.+' at|no instruction at"):
        execute(decode(bytes.fromhex(raw))[0], Machine(Binary(b"\xc3")).state)


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
    machine = Machine(Binary(assemble(source + "; ret")), {"rcx": 0})
    machine.state.domain = domain = Asked()
    machine.run()
    assert domain.number == number


def test_alignment() -> None:
    memory = {"b": bytes(64)}
    for source in ("pand xmm0,[rdi]", "movdqa xmm0,[rdi]", "vmovdqa ymm0,[rdi+8]", "movaps [rdi],xmm0"):
        with pytest.raises(SemanticsError, match=r"needs an address that is a multiple of (16|32)"):
            Machine(Binary(assemble(source + "; ret")), {"rdi": "b"}, memory).run()
    for source in ("pand xmm0,[rdi+8]", "movdqu xmm0,[rdi]", "vpand ymm0,ymm0,[rdi]", "movq xmm0,[rdi]"):
        Machine(Binary(assemble(source + "; ret")), {"rdi": "b"}, memory).run()


def test_registers_without_a_value() -> None:
    state = State(Integers(), MemoryRanges())
    with pytest.raises(SemanticsError, match="reads rcx, which has no value"):
        one("mov rax,rcx", state)
    with pytest.raises(SemanticsError, match="reads xmm1, which has no value"):
        one("movdqa xmm0,xmm1", state)
    one("xor eax,eax; ", Machine(Binary(b"\xc3")).state)


def test_masked_out_elements_are_not_touched() -> None:
    memory = {"b": bytes(range(1, 25))}
    code = Binary(assemble("vmovdqu64 zmm0{k1}{z},[rdi]; vmovdqu64 [rdi]{k2},zmm0; ret"))
    trace = Machine(code, {"rdi": "b", "k1": 0b110, "k2": 0b100}, memory).run()
    assert trace.vectors["zmm0"][:3] == (0, 0x100F0E0D0C0B0A09, 0x1817161514131211)
    with pytest.raises(SemanticsError, match="reads 8 bytes"):
        Machine(code, {"rdi": "b", "k1": 0b1000, "k2": 0}, memory).run()


def test_every_name_is_an_instruction() -> None:
    names = {name.lower() for name in vars(iced_x86.Mnemonic) if name.isupper()}
    assert set(TABLE) <= names
    rooms = (general, bits, vector, semantics_lanes, permute)
    tables: list[dict[str, Meaning]] = [dict(room.TABLE) for room in rooms]
    assert sum(map(len, tables)) == len(TABLE)
