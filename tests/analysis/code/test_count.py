import pytest

from setwise.analysis.code.count import UnclassifiedError, classify, count, tally
from setwise.analysis.code.decode import Binary, decode
from tests.analysis.listings import DUMB7, KOGGE_STONE, assemble


def test_the_classic_listings() -> None:
    dumb7 = count(Binary(assemble(DUMB7)))
    assert (dumb7.moves, dumb7.operations, dumb7.instructions) == (1, 19, 20)
    kogge_stone = count(Binary(assemble(KOGGE_STONE)))
    assert (kogge_stone.moves, kogge_stone.operations, kogge_stone.instructions) == (5, 14, 19)


CLASSES = {
    "move": "mov rax,rdx; mov eax,edx; movzx eax,cl; movsxd rax,ecx; movdqa xmm0,xmm1; vmovdqa ymm0,ymm1;"
    "vmovdqu64 zmm0,zmm1; movq xmm0,xmm1; movaps xmm1,xmm2; kmovw k1,k2; cdqe",
    "operation": "and rax,rcx; xor eax,eax; lea rax,[rdx+rcx]; shl rax,1; imul rax,rcx,3; bswap rax; cmp rax,1;"
    "test rax,rax; setz al; cmovz rax,rcx; add [rdi],rax; pext rax,rcx,rdx; andn rax,rcx,rdx; popcnt rax,rcx;"
    "pxor xmm0,xmm0; pandn xmm0,[rdi]; psllq xmm0,8; psubb xmm0,xmm1; vpternlogq zmm0,zmm1,zmm2,0xf8;"
    "vprolvq zmm0,zmm1,[rdi]; vpsrlvq ymm0,ymm1,ymm2; vpblendd ymm0,ymm1,ymm2,3; vmovdqa64 zmm0{k1},zmm1;"
    "vpblendmq zmm0{k1},zmm1,zmm2; vgf2p8affineqb zmm0,zmm1,zmm2,0; kandb k1,k2,k3; vptestmq k1,zmm0,zmm1;"
    "vpcmpeqd ymm0,ymm0,ymm0; pslldq xmm0,8; vandps ymm0,ymm1,ymm2; shrx rax,rcx,rdx; bt rax,rcx",
    "constant": "mov rax,0x7f7f7f7f7f7f7f7f; mov eax,1; mov al,3",
    "transfer": "movq xmm0,rax; movq rax,xmm0; movd xmm0,eax; kmovq k1,rax; pshufd xmm0,xmm1,0x4e;"
    "punpcklqdq xmm0,xmm1; vshufi64x2 zmm0,zmm1,zmm2,1;"
    "vpermq ymm0,ymm1,0x4e; vextracti128 xmm0,ymm1,1; vinserti128 ymm0,ymm0,xmm1,1; vpbroadcastq zmm0,rax;"
    "vpbroadcastq ymm0,xmm0; pextrq rax,xmm0,1; pinsrq xmm0,rax,1; vinserti128 ymm0,ymm0,[rdi],1; pshufb xmm0,xmm1;"
    "vpermi2q zmm0,zmm1,zmm2; valignq zmm0,zmm1,zmm2,4; vpmovmskb eax,ymm0; vpmovm2q zmm0,k1; pshufd xmm0,[rdi],0x4e;"
    "vpermq zmm0,zmm1,[rdi]; movhlps xmm0,xmm1; vpmovqb xmm0,zmm1; vmovhps xmm0,xmm1,[rdi]",
    "load": "mov rax,[rdi]; mov rax,[rsp+8]; movzx eax,byte ptr [rdi]; vmovdqu ymm0,[rdi]; movq xmm0,[rdi];"
    "vmovdqu64 zmm0{k1}{z},[rdi]; vpbroadcastq ymm0,[rdi]; vbroadcasti128 ymm0,[rdi]; kmovq k1,[rdi]; mov rax,fs:0x28;"
    "vpmovzxbq zmm0,[rdi]; movddup xmm0,[rdi]; vpgatherqq zmm0{k1},[rdi+zmm1*8]; movhps xmm0,[rdi]",
    "store": "mov [rdi],rax; mov qword ptr [rdi],1; vmovdqu [rdi],ymm0; movq [rdi],xmm0; vextracti128 [rdi],ymm0,1;"
    "kmovq [rdi],k1; pextrq [rdi],xmm0,1; vmovdqu64 [rdi]{k1},zmm0; movhps [rdi],xmm0; movnti [rdi],rax; rep stosq",
    "branch": "a: jz a; jmp a; jmp rax; jmp [rdi]; call a; call rax; ret",
    "stack": "push rbx; pop rbx; sub rsp,64; add rsp,64; lea rsp,[rsp-8]; and rsp,-32; leave; mov rsp,rbp",
    "other": "vzeroupper; endbr64; nop; xchg ax,ax; mfence; int3; prefetcht0 [rdi]",
}


@pytest.mark.parametrize("name", CLASSES)
def test_each_class(name: str) -> None:
    source = CLASSES[name].replace("xchg ax,ax", "nop word ptr [rax]")
    classes = {instruction.text(): classify(instruction) for instruction in decode(assemble(source))}
    assert classes == dict.fromkeys(classes, name)


def test_classes_sum_to_instructions() -> None:
    decoded = decode(assemble(";".join(CLASSES.values()).replace("xchg ax,ax", "nop")))
    counts = tally(decoded)
    parts = counts.as_dict()
    names = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
    assert sum(parts[name] for name in names) == counts.instructions == len(decoded)


def test_memory_operands_are_counted_besides() -> None:
    counts = count(decode(assemble("and rax,[rdi]; vpermq zmm0,zmm1,[rdi]; lea rax,[rdi+8]; mov rax,[rdi]; ret")))
    assert (counts.instructions, counts.memory_operands, counts.loads) == (4, 2, 1)


def test_only_the_last_ret_is_not_counted() -> None:
    counts = count(decode(assemble("test rdx,rdx; jz a; ret; a: xor eax,eax; ret")))
    assert (counts.instructions, counts.branches, counts.operations) == (4, 2, 2)
    counts = count(decode(assemble("b: test rdx,rdx; jz a; ret; a: jmp b")))
    assert (counts.instructions, counts.branches) == (3, 2)


def test_sizes() -> None:
    counts = count(Binary(assemble(DUMB7), bytes(16), 128))
    assert (counts.bytes, counts.data_bytes) == (68, 16)
    assert list(counts.as_dict())[:3] == ["instructions", "moves", "operations"]


def test_an_instruction_without_class_is_named() -> None:
    with pytest.raises(UnclassifiedError, match=r"'fldpi' at offset 0x1"):
        count(decode(assemble("nop; fldpi; ret")))
