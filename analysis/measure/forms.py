"""Instruction forms to be measured, and how one is written with registers of one's choice.

A form is a mnemonic and the kinds of its operands: r and e are general registers of 64 and 32 bits, b one of 8, c is
cl, x, y and z are vector registers, k is a mask register, i and I are small and 64-bit immediates, m64 is memory of so
many bits; - stands for none. For lea the address stands in brackets, as in processors' tables. Behind `=` all registers
are one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from setwise.analysis.code.decode import Decoded, Reg, decode
from setwise.analysis.cost.processors.table import forms as spelt
from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code, Instruction, Memory, Operand, Register, RegisterFile, general

_SOME = "e ne b ae s ns o no p np l ge le g"
_BOTH = "a be"  # carry and zero

FORMS = """
and or xor add sub cmp adc sbb: r,r r,i
test imul xchg bts btr btc bt mov: r,r
not neg inc dec bswap: r
bt bts btr btc: r,i
imul: r,r,i
mov: r,i r,I
movzx movsx: e,b
movsxd: r,e
shl shr sar rol ror: r,i r,c
shld shrd: r,r,i
shlx shrx sarx bzhi bextr pext pdep andn mulx: r,r,r
rorx: r,r,i
popcnt lzcnt tzcnt bsf bsr blsi blsr blsmsk: r,r
cmove cmova: r,r
sete seta: b
lea: r,[b] r,[bd] r,[bi] r,[bs] r,[s] r,[sd] r,[bid] r,[bsd]
xor sub: =e,e
pand pandn por pxor paddb paddw paddd paddq psubb psubw psubd psubq pcmpeqb pcmpeqd pcmpgtd: x,x
pcmpeqq pshufb punpcklqdq punpckhqdq punpcklbw pmuludq pminub movdqa movaps movq: x,x
psllw pslld psllq psrlw psrld psrlq psraw psrad pslldq psrldq: x,i
psllq psrlq: x,x
pshufd pshuflw palignr shufps: x,x,i
pxor psubq pcmpgtd pcmpeqd pcmpeqq: =x,x
movq: r,x x,r
nop endbr64 vzeroupper: -
pinsrq: x,r,i
movhps: x,m64
pextrq: r,x,i
pmovmskb: e,x
ptest: x,x
vpand vpandn vpor vpxor vandps vandnps vorps vxorps: x,x,x y,y,y
vpaddb vpaddw vpaddd vpaddq vpsubb vpsubw vpsubd vpsubq: x,x,x y,y,y z,z,z
vpcmpeqb vpcmpeqw vpcmpeqd vpcmpeqq vpcmpgtb vpcmpgtw vpcmpgtd vpcmpgtq: x,x,x y,y,y
vpminub vpmaxub vpminud vpmaxsd vpmuludq vpmullw: x,x,x y,y,y
vpabsb vpabsd: x,x y,y
vpxor vpsubq vpcmpgtd vpcmpeqd vpcmpeqq: =x,x,x =y,y,y
vpsllw vpslld vpsllq vpsrlw vpsrld vpsrlq vpsraw vpsrad: x,x,i y,y,i x,x,x y,y,x
vpsllvd vpsllvq vpsrlvd vpsrlvq vpsravd: x,x,x y,y,y
vpblendd vpblendw: x,x,x,i y,y,y,i
vpblendvb: x,x,x,x y,y,y,y
vpshufd vpshuflw vpshufhw vpermilps vpermilpd vpslldq vpsrldq: x,x,i y,y,i
vshufps vshufpd vpalignr: x,x,x,i y,y,y,i
vpshufb vpunpcklbw vpunpckldq vpunpcklqdq vpunpckhqdq vpermilps vpermilpd: x,x,x y,y,y
vmovhlps vmovlhps: x,x,x
vmovddup: x,x y,y
vmovdqa vmovdqu vmovaps vmovups: x,x y,y
vmovq: x,x r,x x,r
vmovd: e,x x,e
vpermq vpermpd: y,y,i
vpermd vpermps: y,y,y
vperm2i128 vperm2f128: y,y,y,i
vextracti128 vextractf128: x,y,i
vinserti128 vinsertf128: y,y,x,i
vpbroadcastb vpbroadcastw vpbroadcastd vpbroadcastq vbroadcastss: x,x y,x
vpbroadcastb: x,m8 y,m8
vpbroadcastq: x,m64 y,m64 z,m64
vpmovzxbw vpmovzxbq vpmovzxdq vpmovsxbw: x,x y,x
vpinsrq: x,x,r,i x,x,m64,i
vmovhps: x,x,m64
vpextrq: r,x,i
vpmovmskb vmovmskps vmovmskpd: e,x e,y
vptest: x,x y,y
vpandq vpandnq vporq vpxorq: x,x,x y,y,y z,z,z
vpternlogq vpternlogd: x,x,x,i y,y,y,i z,z,z,i
vprolq vprorq: x,x,i y,y,i z,z,i
vprolvq vprorvq: x,x,x y,y,y z,z,z
vpsllq vpsrlq: z,z,i z,z,x
vpsllvq vpsrlvq: z,z,z
vpmullq: x,x,x y,y,y z,z,z
vpshufb vpmuludq vpunpcklqdq vpunpckhqdq vpermb vpermq vpermt2q: z,z,z
vpermb: x,x,x y,y,y
vpshufd vpermq: z,z,i
vshufi64x2 valignq: z,z,z,i
vextracti64x2: x,y,i x,z,i
vextracti64x4: y,z,i
vinserti64x4: z,z,y,i
vmovdqa64: x,x y,y z,z
vpbroadcastq: z,x x,r y,r z,r
vgf2p8affineqb: x,x,x,i y,y,y,i z,z,z,i
vptestmb vptestmq: k,y,y k,z,z
kmovq: k,k k,r r,k
kandq korq: k,k,k
"""

ALIKE = {
    f"{prefix}{one}": tuple(f"{prefix}{condition}" for condition in conditions.split())
    for prefix in ("cmov", "set")
    for one, conditions in (("e", _SOME), ("a", _BOTH))
}
"""Of conditions one is measured for all that read the same flags."""

_BITS = {"r": 64, "e": 32, "b": 8, "x": 128, "y": 256, "z": 512, "k": 64}
POINTER = general("rdi")
"""Holds the address of some memory."""
COUNT = general("rcx")
"""Holds a small number, and no form changes it."""


@dataclass(frozen=True)
class Form:
    """A mnemonic with the kinds of its operands."""

    mnemonic: str
    kinds: tuple[str, ...]
    idiom: bool = False

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.mnemonic} {'=' * self.idiom}{','.join(self.kinds)}"

    @property
    def mnemonics(self) -> tuple[str, ...]:
        """All that the form stands for."""
        return ALIKE.get(self.mnemonic, (self.mnemonic,))

    def written(self, register: Callable[[int, RegisterFile], Register], pointer: Register = POINTER) -> Instruction:
        """The instruction, its registers asked for by place and file; memory is where `pointer` says."""
        operands: list[Operand] = []
        for place, kind in enumerate(self.kinds):
            file = file_of(kind)
            if file:
                operands.append(register(0 if self.idiom else place, file).at(_BITS[kind]))
            elif kind[0] == "[":
                operands.append(_address(kind, place, register))
            elif kind[0] == "m":
                operands.append(Memory(int(kind[1:]), pointer))
            else:
                operands.append(COUNT.at(8) if kind == "c" else 3 if kind == "i" else 0x0123_4567_89AB_CDEF)
        return Instruction(self.mnemonic, tuple(operands))

    @cached_property
    def decoded(self) -> Decoded:
        """The form as the decoder sees it, every register another one."""
        different = {"general": (3, 8, 9, 10), "vector": (0, 1, 2, 3), "mask": (1, 2, 3, 4)}
        file_register = self.written(lambda place, file: Register(file, different[file][place], 64))
        return decode(assemble(Code(self.mnemonic, (file_register,))).text)[0]

    @property
    def spelt(self) -> str:
        """As processors' tables spell the form."""
        return next(spelt(self.decoded))

    @property
    def written_places(self) -> tuple[int, ...]:
        """The operands that are written."""
        return tuple(place for place, name in self._names if name in self.decoded.writes)

    @property
    def read_places(self) -> tuple[int, ...]:
        """The operands that are read, those of an address among them."""
        return tuple(place for place, name in self._names if name in self.decoded.reads)

    @property
    def carries(self) -> bool:
        """Whether it waits for itself through flags, whatever its registers."""
        return bool(self.decoded.flags_read & self.decoded.flags_written)

    def file(self, place: int) -> RegisterFile:
        """The register file of an operand, or of a part of an address."""
        return "general" if self.mnemonic == "lea" else _FILES[self.kinds[place]]

    @property
    def files(self) -> frozenset[str]:
        """The register files that it touches; flags are the general one's."""
        flags = {"general"} if self.mnemonic == "lea" or self.decoded.flags_written else set()
        return frozenset(flags | {*filter(None, map(file_of, self.kinds))})

    @property
    def _names(self) -> list[tuple[int, str]]:
        operands = zip(self.kinds, self.decoded.operands, strict=True)
        found = [(at, one.full) for at, (kind, one) in enumerate(operands) if isinstance(one, Reg) and file_of(kind)]
        if (memory := self.decoded.memory) is not None and self.mnemonic == "lea":
            found += [(1 + at, part.full) for at, part in enumerate((memory.base, memory.index)) if part is not None]
        return found


_FILES: Mapping[str, RegisterFile] = {
    **dict.fromkeys("reb", "general"),
    **dict.fromkeys("xyz", "vector"),
    "k": "mask",
}


def file_of(kind: str) -> RegisterFile | None:
    """The register file of an operand's kind; none for what is no register."""
    return _FILES.get(kind)


def _address(kind: str, place: int, register: Callable[[int, RegisterFile], Register]) -> Memory:
    base = register(place, "general") if "b" in kind else None
    index = register(place + 1, "general") if "i" in kind or "s" in kind else None
    return Memory(64, base, index, 4 if "s" in kind else 1, 77 if "d" in kind else 0)


def forms() -> tuple[Form, ...]:
    """All of them."""
    found = []
    for line in FORMS.strip().splitlines():
        mnemonics, _, kinds = line.partition(": ")
        for mnemonic in mnemonics.split():
            for each in kinds.split():
                found.append(Form(mnemonic, tuple(re.findall(r"\[\w+\]|[^-,=]+", each)), each[0] == "="))
    return tuple(found)
