"""Every form of instruction that the tests try, with operands of every class, and how other assemblers spell it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register, general, vector

# A line: mnemonics, then the operands of each form. r64 m32 x y z k are registers and memory of that size, b64 is one
# element broadcast, i8 and i32 immediates, u8 a vector instruction's immediate, {k} and {z} a mask on what is before.
CORPUS = """
add or and sub xor cmp | r64,r64 r64,m64 m64,r64 r64,i32 m64,i32 r32,r32 r32,m32 m32,r32 r32,i32 r8,r8 r8,m8 r8,i8 m8,i8
mov | r64,r64 r64,m64 m64,r64 r64,i32 r64,i64 m64,i32 r32,r32 r32,m32 m32,r32 r32,i32 r8,r8 r8,m8 m8,r8 r8,i8
test | r64,r64 m64,r64 r64,i32 r32,r32 r32,i32 r8,r8 r8,i8
not neg inc dec mul | r64 m64 r32 r8
shl shr sar rol ror | r64,i6 r64,cl m64,i6 m64,cl r32,i6 r32,cl
lea | r64,m64 r32,m64
imul | r64,r64 r64,m64 r64,r64,i32 r64,m64,i32 r32,r32 r32,r32,i32
movzx | r32,r8 r32,m8 r64,r8
movsxd | r64,r32 r64,m32
movsx | r64,r8 r64,m8 r32,r8
push pop | r64
push | i32
jmp call | r64 m64
bswap | r64 r32
xchg | r64,r64 m64,r64
popcnt tzcnt lzcnt bsf bsr | r64,r64 r64,m64
bt | r64,r64 r64,u6
andn pext pdep mulx | r64,r64,r64 r64,r64,m64 r32,r32,r32
blsi blsr blsmsk | r64,r64 r64,m64
bextr shlx shrx sarx bzhi | r64,r64,r64 r64,m64,r64 r32,r32,r32
rorx | r64,r64,u6 r64,m64,u6 r32,r32,u6
cmove cmovne cmovz cmovnz cmovc cmovnc cmova cmovbe cmovl cmovge cmovs cmovns | r64,r64 r64,m64 r32,r32
sete setne setz setnz setc setnc seta setbe setl setge sets setns | r8 m8
ret vzeroupper cpuid xgetbv rdtsc |
pand por pxor pandn paddq psubq paddb psubb psllq psrlq punpcklqdq punpckhqdq pshufb pcmpeqd pcmpeqb | x,x x,m128
punpcklbw punpckhbw | x,x x,m128
psllq psrlq pslldq psrldq | x,u6
pshufd palignr pshuflw | x,x,u8 x,m128,u8
movdqa movdqu movaps movups | x,x x,m128 m128,x
movq | x,r64 r64,x x,m64 m64,x x,x
movd | x,r32 r32,x x,m32 m32,x
movhlps movlhps | x,x
pextrq | r64,x,u1 m64,x,u1
pinsrq | x,r64,u1 x,m64,u1
vpand vpor vpxor vpandn | x,x,x x,x,m128 y,y,y y,y,m256
vpaddq vpsubq vpaddb vpsubb vpsllvq vpsrlvq vpunpcklqdq vpunpckhqdq vpshufb | X,X,X X,X,M128 Y,Y,Y Z,Z,Z Z,Z,M512
vpunpcklbw vpunpckhbw | X,X,X Y,Y,Y Y,Y,M256 Z,Z,Z Z,Z,M512
vpaddq vpsubb vpsllvq vpshufb | Y,Y,M256
vpsllq vpsrlq | X,X,u6 Y,Y,u6 Z,Z,u6 X,X,X Y,Y,X Z,Z,X Z,M512,u6 Z,b64,u6
vpbroadcastq | X,X Y,X Z,X X,M64 Y,M64 Z,M64 X,r64 Y,r64 Z,r64 Z{k}{z},r64 Z{k}{z},M64
vextracti128 | x,y,u1 m128,y,u1
vinserti128 | y,y,x,u1 y,y,m128,u1
vperm2i128 | y,y,y,u8 y,y,m256,u8
vpshufd | X,X,u8 Y,Y,u8 Y,M256,u8 Z,Z,u8
vpermq | Y,Y,u8 Y,M256,u8 Z,Z,u8 Z,Z,Z Z,Z,M512
vpblendd | x,x,x,u8 y,y,y,u8 y,y,m256,u8
vpalignr | X,X,X,u8 Y,Y,Y,u8 Y,Y,M256,u8 Z,Z,Z,u8
vmovq | X,r64 r64,X X,M64 M64,X X,X
vmovlps | M64,X
vmovd | X,r32 r32,X X,M32
vmovdqu vmovdqa | x,x x,m128 m128,x y,y y,m256 m256,y
vpextrq | r64,X,u1 M64,X,u1
vpinsrq | X,X,r64,u1 X,X,M64,u1
vptest | x,x y,y y,m256
vpmovmskb | r32,x r32,y
vpternlogq | X,X,X,u8 Y,Y,Y,u8 Z,Z,Z,u8 Y,Y,M256,u8 Z,Z,M512,u8
vpternlogq | Z,Z,b64,u8 Y,Y,b64,u8 X,X,b64,u8 Z{k},Z,Z,u8 Z{k}{z},Z,b64,u8
vprolq vprorq | X,X,u6 Y,Y,u6 Z,Z,u6 Z,M512,u6 Z,b64,u6 Z{k},Z,u6
vprolvq vprorvq vpandq vporq vpxorq vpandnq | X,X,X Y,Y,Y Z,Z,Z Z,Z,M512 Y,Y,b64 Z,Z,b64 Z{k},Z,Z Z{k},Z,M512
vpaddq vpsubq vpsllvq vpsrlvq | Z{k},Z,Z Z{k}{z},Z,b64 X{k},X,X
vmovdqu64 vmovdqa64 | X,X Y,Y Z,Z Z,M512 M512,Z Y,M256 Z{k},Z Z{k}{z},M512 M512{k},Z M256{k},Y M128{k},X
vextracti64x4 | Y,Z,u1 M256,Z,u1 Y{k}{z},Z,u1
vextracti64x2 | X,Y,u1 X,Z,u2 M128,Z,u2
vinserti64x4 | Z,Z,Y,u1 Z,Z,M256,u1
vinserti64x2 | Y,Y,X,u1 Z,Z,X,u2
vpermi2q vpermt2q | X,X,X Y,Y,Y Z,Z,Z Z,Z,M512 Z,Z,b64 Z{k}{z},Z,Z
valignq vshufi64x2 | Y,Y,Y,u2 Z,Z,Z,u2 Z,Z,M512,u2
kmovq | k,k k,r64 r64,k k,m64 m64,k
kmovd kmovw kmovb | k,k k,r32 r32,k
knotw knotb knotq kortestb kortestw | k,k
kandb korw kxorq kandnb | k,k,k
kshiftlb kshiftrw kshiftlq | k,k,u6
vpblendmq | X{k},X,X Y{k},Y,Y Z{k},Z,Z Z{k}{z},Z,M512 Z{k},Z,b64
vpcompressq vpexpandq | X{k},X Y{k}{z},Y Z{k}{z},Z
vpcompressq | M512{k},Z M256{k},Y
vpcmpuq | k,Z,Z,u2 k{k},Z,M512,u2 k,Z,b64,u2
vptestmq vptestnmq | k,Z,Z k,Y,Y k{k},Z,b64
vptestmb | k,Z,Z k,Y,M256 k{k},X,X
vpsrlw vpsllw | X,X,u6 Z,Z,u6
"""
ICED_ONLY = """
endbr64 |
vgf2p8affineqb | X,X,X,u8 Y,Y,Y,u8 Z,Z,Z,u8 Y,Y,M256,u8 Z,Z,b64,u8 Z{k}{z},Z,Z,u8
gf2p8affineqb | x,x,u8 x,m128,u8
vpermb vpmultishiftqb | Z,Z,Z Z,Z,M512
vpopcntq | Z,Z Z,M512
"""
IMMEDIATES = {
    "i8": (0, 1, -1, 127, -128),
    "i32": (0, 1, -1, 127, 128, -128, -129, 1000, 2**31 - 1, -(2**31)),
    "i64": (2**31, 2**32 - 1, 2**63 - 1, -(2**31) - 1, -(2**63), 0x7F7F7F7F7F7F7F7F),
    "i6": (1, 2, 63 - 32),
    "u1": (0, 1),
    "u2": (0, 3),
    "u6": (1, 9),
    "u8": (0, 0x4E, 0xCA, 255),
}
VECTORS = {"x": 128, "y": 256, "z": 512}
WORDS = {8: "byte", 16: "word", 32: "dword", 64: "qword", 128: "xmmword", 256: "ymmword", 512: "zmmword"}
NASM_WORDS = WORDS | {128: "oword", 256: "yword", 512: "zword"}


def memories(bits: int, *, broadcast: bool = False) -> Iterator[Memory]:
    """Addresses of every class: bases with a rule of their own, an index, each size of displacement, a symbol."""
    unit = bits // 8
    for name in ("rax", "rdi", "rbp", "rsp", "r9", "r12", "r13"):
        for displacement in (0, unit, -unit * 128):
            yield Memory(bits, general(name), displacement=displacement, broadcast=broadcast)
    for displacement in (
        1,
        127,
        128,
        -128,
        -129,
        unit * 127,
        unit * 128,
        unit * 127 + 1,
        64 * 127,
        2**31 - 1,
        -(2**31),
    ):
        yield Memory(bits, general("rsi"), displacement=displacement, broadcast=broadcast)
    for base, index, scale in (("rax", "rcx", 8), ("r13", "r14", 4), ("rsp", "rbp", 2), ("rbp", "r12", 8)):
        for displacement in (0, unit, 1000 * unit + 1):
            yield Memory(bits, general(base), general(index), scale, displacement, broadcast=broadcast)
    for displacement in (0, 64):
        yield Memory(bits, index=general("rdx"), scale=8, displacement=displacement, broadcast=broadcast)
        yield Memory(bits, displacement=displacement, symbol="datum", broadcast=broadcast)


@cache
def operands(kind: str) -> tuple[Operand, ...]:
    """What is tried for an operand of that kind; X Y Z M are the EVEX forms, with 32 registers."""
    if kind in IMMEDIATES:
        return IMMEDIATES[kind]
    if kind == "cl":
        return (general("rcx").at(8),)
    if kind[0] == "r":
        names = ("rax", "rcx", "rbp", "r8", "r13")
        return tuple(general(name).at(int(kind[1:])) for name in names)
    if kind == "k":
        return tuple(Register("mask", number, 64) for number in (1, 6))
    if kind[0] in "mMb":
        return tuple(memories(int(kind[1:]), broadcast=kind[0] == "b"))
    return tuple(vector(number, VECTORS[kind.lower()]) for number in ((0, 9, 17, 26) if kind.isupper() else (0, 3, 9)))


def combined(kinds: list[str]) -> Iterator[tuple[Operand, ...]]:
    """All registers with all registers; each address and each third operand's immediate once, the others in turn."""
    choices = [operands(kind) for kind in kinds]
    if any(kind[0] in "mMb" for kind in kinds):
        count = max(map(len, choices))
        yield from zip(*(itertools.islice(itertools.cycle(each), count) for each in choices), strict=True)
    elif len(kinds) > 2 and kinds[-1] in IMMEDIATES:
        values = itertools.cycle(choices.pop())
        yield from ((*each, value) for each, value in zip(itertools.product(*choices), values, strict=False))
    else:
        yield from itertools.product(*choices)


def corpus(text: str) -> Iterator[Instruction]:
    """The instructions that a table like CORPUS stands for."""
    for line in text.strip().splitlines():
        mnemonics, _, forms = line.partition("|")
        for mnemonic, form in itertools.product(mnemonics.split(), forms.split() or [""]):
            mask = Register("mask", 3, 64) if "{k}" in form else None
            kinds = form.replace("{k}", "").replace("{z}", "").split(",") if form else []
            for each in combined(kinds):
                yield Instruction(mnemonic, each, mask, "{z}" in form)


def spell(operand: Operand, instruction: Instruction, words: dict[int, str], *, nasm: bool) -> str:
    if not isinstance(operand, Memory):
        return str(operand.name) if isinstance(operand, Register | Label) else str(operand)
    if operand.symbol is not None:
        place = f"{'rel ' if nasm else 'rip+'}{operand.symbol}{operand.displacement:+}"
    else:
        index = None if operand.index is None else f"{operand.index}*{operand.scale}"
        place = "+".join(str(part) for part in (operand.base, index) if part is not None)
        place = f"{'nosplit ' if nasm and operand.base is None else ''}{place}{operand.displacement:+}"
    size = "" if instruction.mnemonic == "lea" or (nasm and operand.broadcast) else words[operand.bits]
    if size and not nasm:
        size += " ptr"
    lanes = ""
    if operand.broadcast:
        widest = max(each.bits for each in instruction.operands if isinstance(each, Register) and each.file == "vector")
        lanes = f"{{1to{widest // operand.bits}}}"
    return f"{size} [{place}]{lanes}"


def spelled(instruction: Instruction, *, nasm: bool = False) -> str:
    words = NASM_WORDS if nasm else WORDS
    texts = [spell(operand, instruction, words, nasm=nasm) for operand in instruction.operands]
    if instruction.mask is not None:
        texts[0] += f"{{{instruction.mask}}}" + ("{z}" if instruction.zeroing else "")
    return f"{instruction.mnemonic} {', '.join(texts)}"
