"""Every form of instruction that the targets' tables and the frame make, over all registers and kinds of address.

A line: mnemonics, then the operands of each form. r64 m32 x y z k are registers and memory of that size, b64 is one
element broadcast, i32 an immediate, u8 a vector instruction's; x y stand for all 16 registers, X Y Z for all 32.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from setwise.codegen.machine.code import Instruction, Memory, Operand, Register, general, vector

TABLES = """
add and or sub xor | r64,r64 r64,m64 r64,i32
cmp | r64,i32 r64,r64
test | r64,r64
xor | r32,r32
not neg bswap | r64
popcnt tzcnt blsi blsr blsmsk | r64,r64
shl shr sar rol | r64,u6 r64,cl
shl | r32,i6
lea | r64,m64 r32,m64
imul | r64,r64 r64,m64 r64,r64,i32
mov | r64,r64 r64,m64 m64,r64 r32,m32 r64,i64 r32,i31
movzx | r32,m8 r32,r8 r32,r16
mov | r32,r32
movsxd | r64,m32
sbb | r64,r64
andn pext pdep | r64,r64,r64 r64,r64,m64
rorx | r64,r64,u6
shlx shrx sarx | r64,r64,r64
push pop | r64
xchg | r64,r64
jmp | r64 m64
ret vzeroupper |
pand por pxor pandn paddq psubq paddb psubb | x,x x,m128
psllq psrlq | x,u6 x,x
pmuludq psadbw | x,x x,m128
psrad | x,u6
movdqa movdqu | x,x x,m128 m128,x
movq | x,r64 r64,x
punpcklqdq punpcklbw punpckhbw | x,x
pshufd pshuflw pshufhw | x,x,u8
movups vmovups | x,m128 m128,x
movhps | m64,x
vpand vpor vpxor vpandn | x,x,x x,x,m128 y,y,y y,y,m256
vpmuludq vpcmpeqq vpcmpgtq | x,x,x x,x,m128 y,y,y y,y,m256
vpblendd | x,x,x,u8 y,y,y,u8 y,y,m256,u8
vextracti128 | x,y,u1
vinserti128 | y,y,x,u1
vptest | x,x y,y
vmovdqa vmovdqu | x,x x,m128 m128,x y,y y,m256 m256,y
vpaddq vpsubq vpaddb vpsubb vpsllvq vpsrlvq vpunpcklbw vpunpckhbw vpshufb | X,X,X X,X,M128 Y,Y,Y Y,Y,M256 Z,Z,Z Z,Z,M512
vpsadbw | X,X,X X,X,M128 Y,Y,Y Y,Y,M256 Z,Z,Z Z,Z,M512
vpandq vporq vpxorq vpandnq vprolvq vpsravq vpmullq | X,X,X X,X,M128 Y,Y,Y Y,Y,M256 Z,Z,Z Z,Z,M512
vpunpcklqdq vpunpckhqdq | X,X,X Y,Y,Y Z,Z,Z
vshufi64x2 | Z,Z,Z,u8
vpsllq vpsrlq vpsraq vprolq | X,X,u6 X,M128,u6 Y,Y,u6 Y,M256,u6 Z,Z,u6 Z,M512,u6
vpternlogq | X,X,X,u8 X,X,M128,u8 Y,Y,Y,u8 Y,Y,M256,u8 Z,Z,Z,u8 Z,Z,M512,u8
vmovdqa64 vmovdqu64 | X,X X,M128 M128,X Y,Y Y,M256 M256,Y Z,Z Z,M512 M512,Z
vmovq | X,r64 r64,X
vmovlps vmovhps | M64,X
vpinsrq | X,X,r64,u1
vpextrq | r64,X,u1
vpbroadcastq | X,X Y,X Z,X X,r64 Y,r64 Z,r64
vpermq | Y,Y,u8
vpshufd | X,X,u8
vextracti64x2 | X,Y,u1
vextracti64x4 | Y,Z,u1
vpaddq vpsubq vpandq vporq vpxorq vpandnq vprolvq vpsllvq vpsrlvq vpsravq vpmullq | X,X,b64 Y,Y,b64 Z,Z,b64
vinserti64x2 | Y,Y,X,u1
vinserti64x4 | Z,Z,Y,u1
vptestmq | k,X,X k,Y,Y k,Z,Z
vpternlogq | X,X,b64,u8 Y,Y,b64,u8 Z,Z,b64,u8
vpmovqb vpmovqw | X,Z
vpmovqb | X,Y
vpopcntq | Z,Z Z,M512
vpopcntb | Z,Z
vpmultishiftqb | X,X,X Y,Y,Y Z,Z,Z Z,Z,M512
vpermb | X,X,X X,X,M128 Y,Y,Y Y,Y,M256 Z,Z,Z Z,Z,M512
vgf2p8affineqb | X,X,X,u8 X,X,M128,u8 Y,Y,Y,u8 Y,Y,M256,u8 Z,Z,Z,u8 Z,Z,M512,u8
vptestmb | k,X,X k,X,M128 k,Y,Y k,Y,M256 k,Z,Z k,Z,M512
vpcmpeqq | k,X,X k,X,M128 k,X,b64 k,Y,Y k,Y,M256 k,Y,b64 k,Z,Z k,Z,M512 k,Z,b64
vpcmpub | k,Z,Z,u8 k,Z,M512,u8
vpcmpuq vpcmpq | k,X,X,u8 k,X,M128,u8 k,X,b64,u8 k,Y,Y,u8 k,Y,M256,u8 k,Y,b64,u8 k,Z,Z,u8 k,Z,M512,u8 k,Z,b64,u8
vpmovm2q | X,k Y,k Z,k
kmovq | k,k r64,k M64,k
korq | k,k,k
kortestb | k,k
"""
_NUMBERS = {
    "i32": (0, 1, -1, 127, 128, -128, -129, 1000, 2**31 - 1, -(2**31)),
    "i31": (0, 1, 0x7F7F7F7F, 2**31 - 1),
    "i64": (2**31, 2**32 - 1, 2**63 - 1, -(2**31) - 1, -(2**63), 0x7F7F7F7F7F7F7F7F),
    "i6": (1, 2, 63 - 32),
    "u1": (0, 1),
    "u6": (1, 9),
    "u8": (0, 0x4E, 0xCA, 255),
}
_VECTORS = {"x": 128, "y": 256, "z": 512}
_GENERAL = tuple(general(Register("general", number, 64).name) for number in range(16))


def forms() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each mnemonic with the kinds of each of its forms."""
    for line in TABLES.strip().splitlines():
        mnemonics, _, kinds = line.partition("|")
        for mnemonic, form in itertools.product(mnemonics.split(), kinds.split() or [""]):
            yield mnemonic, tuple(form.split(",")) if form else ()


def instructions(*, pairs: bool = False) -> Iterator[Instruction]:
    """Each form with every register in every place and every kind of address; with `pairs`, every first and second."""
    for mnemonic, kinds in forms():
        for operands in _spread(kinds, pairs=pairs):
            if mnemonic != "xchg" or operands[0] != operands[1]:  # xchg rax, rax is nop for some
                yield Instruction(mnemonic, operands)


@cache
def _choices(kind: str) -> tuple[Operand, ...]:
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    if kind == "cl":
        return (general("rcx").at(8),)
    if kind[0] == "r":
        return tuple(register.at(int(kind[1:])) for register in _GENERAL)
    if kind == "k":
        return tuple(Register("mask", number, 64) for number in range(8))
    return tuple(vector(n, _VECTORS[kind.lower()]) for n in range(32 if kind.isupper() else 16))


def _spread(kinds: tuple[str, ...], *, pairs: bool) -> Iterator[tuple[Operand, ...]]:
    # Places go through their registers at paces that have nothing in common with 32.
    paces = (1, 3, 7, 11)
    pointer = next((kind for kind in kinds if kind[0] in "mMb"), None)
    addresses = memories(int(pointer[1:]), pairs=pairs) if pointer else ()
    registers = [kind for kind in kinds if kind[0] in "rxyzXYZk"]
    most = max((len(_choices(kind)) for kind in registers), default=1)
    if pointer is None:
        steps = range(most) if pairs and len(registers) > 1 else (0, 1, 8)[: len(kinds)] or (0,)
        for step, at in itertools.product(steps, range(max([1, *(len(_choices(kind)) for kind in kinds)]))):
            places = enumerate(zip(kinds, paces, strict=False))
            yield tuple(_pick(kind, at + place * step, pace) for place, (kind, pace) in places)
        return
    for at, address in enumerate(addresses):
        yield tuple(
            replace(address, broadcast=kind[0] == "b") if kind[0] in "mMb" else _pick(kind, at + 5 * place, pace)
            for place, (kind, pace) in enumerate(zip(kinds, paces, strict=False))
        )


def _pick(kind: str, at: int, pace: int) -> Operand:
    choices = _choices(kind)
    return choices[at * pace % len(choices)] if kind[0] in "rxyzXYZk" else choices[at % len(choices)]


def memories(bits: int, *, pairs: bool) -> Iterator[Memory]:
    """Every base with each size of displacement, every base and every index with another, symbols."""
    unit = bits // 8
    ends = (0, 1, 127, 128, -128, -129, unit, -unit, 127 * unit, 128 * unit, -128 * unit, -129 * unit, 2**31 - 1)
    displacements = tuple(dict.fromkeys((*ends, -(2**31))))
    for base, displacement in itertools.product(_GENERAL, displacements):
        yield Memory(bits, base, displacement=displacement)
    indices = [register for register in _GENERAL if register.name != "rsp"]
    classes = itertools.cycle((0, unit, 128 * unit))
    scales = itertools.cycle((8, 1, 2, 4, 8))
    for step in range(len(indices)) if pairs else (0, 3):
        for at, base in enumerate(_GENERAL):
            yield Memory(bits, base, indices[(at + step) % len(indices)], next(scales), next(classes))
    for index, scale in itertools.product(indices, (2, 4, 8)):
        yield Memory(bits, index=index, scale=scale, displacement=next(classes))
    for displacement in (0, 8, -8, 1000):
        yield Memory(bits, displacement=displacement, symbol="datum")
