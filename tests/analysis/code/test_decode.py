import pytest

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, Imm, Mem, Reg, decode, features
from tests.analysis.listings import DUMB7, assemble


def one(source: str) -> Decoded:
    (instruction,) = decode(assemble(source))
    return instruction


def test_operands_and_texts() -> None:
    shift = one("shr rdx,16")
    assert shift.mnemonic == "shr"
    assert shift.length == 4
    assert shift.operands == (Reg("rdx", 64, "general", "rdx"), Imm(16))
    assert shift.text() == "shr rdx,16"
    assert one("and eax,-1").operands[1] == Imm(0xFFFF_FFFF_FFFF_FFFF)
    assert one("mov rax,0x7f7f7f7f7f7f7f7f").text() == "mov rax,0x7f7f7f7f7f7f7f7f"


def test_memory_operands() -> None:
    instruction = one("vpandq zmm20{k3}{z},zmm3,[rax+r9*8-72]{1to8}")
    memory = instruction.memory
    assert memory is not None
    assert memory.base is not None
    assert memory.index is not None
    assert (memory.bits, memory.base.name, memory.index.name, memory.scale) == (64, "rax", "r9", 8)
    assert memory.displacement == -72
    assert memory.broadcast
    assert memory.target is None
    assert instruction.mask is not None
    assert instruction.mask.name == "k3"
    assert instruction.zeroing
    assert instruction.loads
    assert not instruction.stores
    relative = decode(assemble("nop; add rax,[rip+0x10]"))[1]
    assert relative.memory == Mem(64, target=relative.end + 0x10)
    assert decode(assemble("nop; mov rax,[rip-0x20]"))[1].memory == Mem(64, target=8 - 0x20)


@pytest.mark.parametrize(
    ("source", "reads", "writes"),
    [
        ("mov eax,edx", {"rdx"}, {"rax"}),
        ("mov al,dl", {"rax", "rdx"}, {"rax"}),
        ("or rax,rdx", {"rax", "rdx"}, {"rax"}),
        ("xor eax,eax", set(), {"rax"}),
        ("cmovz rax,rcx", {"rax", "rcx"}, {"rax"}),
        ("mov [rdi+rsi],rax", {"rdi", "rsi", "rax"}, set()),
        ("vpand ymm0,ymm1,ymm2", {"zmm1", "zmm2"}, {"zmm0"}),
        ("pand xmm0,xmm1", {"zmm0", "zmm1"}, {"zmm0"}),
        ("vpaddq xmm0{k1},xmm1,xmm2", {"zmm0", "zmm1", "zmm2", "k1"}, {"zmm0"}),
        ("vpaddq xmm0{k1}{z},xmm1,xmm2", {"zmm1", "zmm2", "k1"}, {"zmm0"}),
        ("push rbx", {"rbx", "rsp"}, {"rsp"}),
        ("mul rcx", {"rax", "rcx"}, {"rax", "rdx"}),
    ],
)
def test_registers_read_and_written(source: str, reads: set[str], writes: set[str]) -> None:
    instruction = one(source)
    assert instruction.reads == reads
    assert instruction.writes == writes


def test_flags() -> None:
    assert one("jbe .").flags_read == {"cf", "zf"}
    assert one("and rax,rcx").flags_written == {"of", "sf", "zf", "cf", "pf"}
    assert one("and rax,rcx").flags_undefined == {"af"}
    assert one("shlx rax,rcx,rdx").flags_written == frozenset()


def test_flow_and_targets() -> None:
    decoded = decode(assemble("a: test rdx,rdx; jnz a; jmp a; jmp rax; call a; ret"))
    assert [instruction.flow for instruction in decoded] == ["next", "branch", "jump", "indirect", "call", "return"]
    assert [instruction.target for instruction in decoded] == [None, 0, 0, None, 0, None]
    assert decoded[1].operands == ()
    assert decoded[1].offset == 3
    assert decoded[1].end == decoded[2].offset


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (DUMB7, {"x86-64"}),
        ("cmovz rax,rcx; endbr64", {"x86-64"}),
        ("pand xmm0,xmm1; movaps xmm0,xmm1", {"sse2"}),
        ("pextrq rax,xmm0,1", {"sse4.1"}),
        ("andn rax,rcx,rdx; pext rax,rcx,rdx; popcnt rax,rcx; lzcnt rax,rcx", {"bmi1", "bmi2", "popcnt", "lzcnt"}),
        ("vpand xmm0,xmm1,xmm2", {"avx"}),
        ("vpand ymm0,ymm1,ymm2", {"avx2"}),
        ("vpternlogq ymm0,ymm1,ymm2,1", {"avx512f", "avx512vl"}),
        ("kmovb k1,eax; kmovq k1,rax", {"avx512dq", "avx512bw"}),
        ("vpermb zmm0,zmm1,zmm2", {"avx512vbmi"}),
        ("vgf2p8affineqb zmm0,zmm1,zmm2,0", {"avx512f", "gfni"}),
    ],
)
def test_features(source: str, expected: set[str]) -> None:
    assert features(decode(assemble(source))) == expected


def test_prefixes_that_change_the_instruction_are_in_its_name() -> None:
    assert one("lock add [rdi],rax").mnemonic == "lock add"
    assert one("rep stosq").mnemonic == "rep stosq"


def test_bytes_that_are_no_instruction() -> None:
    with pytest.raises(DecodeError, match=r"offset 0x1 .*: bytes 06 c3"):
        decode(b"\x90\x06\xc3")
    with pytest.raises(DecodeError, match="offset 0x0"):
        decode(b"\x48")


def test_image() -> None:
    assert Binary(b"\xc3").image == b"\xc3"
    assert Binary(b"\xc3", b"\x01\x02", 4).image == b"\xc3\xcc\xcc\xcc\x01\x02"
    with pytest.raises(ValueError, match="overlaps"):
        _ = Binary(b"\x90\xc3", b"\x01", 1).image
