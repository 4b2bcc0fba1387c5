"""Zen 4. Nearly all rows are measured on the processor that this project was made on: no manual gives the ports.

`zen` names the ports. Which vector units share what was found by timing pairs; their numbers among F0 to F3 are ours
where AMD gives none. 512 bits go through a unit of 256 bits twice. Moves between the files: only their sum there and
back can be timed, 6 cycles; it is parted so that a load into a vector register takes the 7 cycles of AMD's guide.
"""

from __future__ import annotations

from collections.abc import Mapping

from setwise.analysis.cost.processors.table import Access, CostRow, Processor
from setwise.analysis.cost.processors.zen import FUSED, LOGIC, MOVES, SHIFT, integer

_TIMED = "measured, EPYC of family 25, model 17 (2025)"
_GUIDE = "AMD, Software Optimization Guide for Zen 4 (57647)"
_RENAME = f"{_TIMED}; {_GUIDE}, moves and zeroes at renaming"
_TERNARY = f"{_TIMED}: at times 2 from the second or third operand, as in nanoBench's issue 29; when, is not known"
_LOOKED_UP = "timed, InstLatx64, AuthenticAMD0A10F11_K19_Genoa_01 and AuthenticAMD0A60F12_K19_Raphael_04"
_FOG = "Fog, Instruction tables (2022), Zen 4"


def _of_all_widths(
    mnemonics: str, narrow: str, wide: str, ports: str, latency: float | Mapping[str, float], source: str = _TIMED
) -> tuple[CostRow, CostRow]:
    """A row of up to 256 bits, and one of 512, which take their units twice."""
    return (
        CostRow(mnemonics, narrow, ports, latency, source),
        CostRow(mnemonics, wide, f"2*{ports}", latency, source),
    )


_GENERAL = (
    CostRow("mov", "r", "", 0, _RENAME),
    CostRow("xchg", "r", "", 0, _RENAME, issue=2),
    CostRow("xor|sub", "r=", "", 0, _RENAME, breaks=True),
    CostRow("mov", "rI", "I0123", 1, _TIMED, issue=2),
    CostRow("movsxd?", "rm", "I0123", 1, _TIMED),
    *integer(_TIMED),
    CostRow("blsi|blsr|blsmsk|tzcnt|bsf|bsr", "r", "I0123", 1, _TIMED),
)

_CONTROL = (
    CostRow("j\\w+", "taken r none", "I0B0", 1, f"{_TIMED}; {_GUIDE}, two branch units"),
    CostRow("call", "none taken", "I0123", 1, f"{_TIMED}; {_FOG}", issue=2),
    CostRow("ret", "none taken", "I0123", 1, f"{_TIMED}; {_FOG}"),
    CostRow("push|pop", "r i", "", 0, f"{_FOG}: the load or store alone, the stack engine keeps rsp"),
    CostRow("nop|endbr64", "none r w m", "", 0, f"{_TIMED}; {_GUIDE}, pairs of nops", issue=0.5),
    CostRow("vzeroupper", "none", "", 0, _TIMED),
)

_WITHIN = "v?p?unpck[lh]\\w+|vpermilp[sd]|v?movhlps|v?movlhps|v?movddup"

_VECTOR = (
    CostRow(MOVES, "v", "", 0, _RENAME),
    CostRow("v?pxor[dq]?|v?xorp[sd]|v?psub[bwdq]|v?pcmpgt[bwdq]", "v=", "", 0, _RENAME, breaks=True),
    CostRow("v?pcmpeq[bwdq]", "x= y=", "F0123", 1, _GUIDE, breaks=True),
    *_of_all_widths(LOGIC, "x y", "z", "F0123", 1),
    *_of_all_widths("vpternlog[dq]", "xi yi", "zi", "F0123", 1, _TERNARY),
    *_of_all_widths("v?p(add|sub)[bwdq]", "x y", "z", "F0123", 1),
    *_of_all_widths(SHIFT, "xi yi", "zi", "F23", 1),
    *_of_all_widths("vps[lr][la]v[dq]", "x y", "z", "F23", 1),
    *_of_all_widths("vpro[lr][dq]", "xi yi", "zi", "F01", 2),
    *_of_all_widths("vpro[lr]v[dq]", "x y", "z", "F01", 2),
    *_of_all_widths(SHIFT, "x yx", "zx", "F01", 2),
    CostRow("v?pcmp(eq|gt)q", "x y", "F01", 2, _TIMED),
    CostRow("v?pcmp(eq|gt)[bwd]|v?p(min|max)[su][bwd]|v?pabs[bwd]", "x y", "F0123", 1, _TIMED),
    CostRow("vpblendd|v?pblendw", "xi yi", "F0123", 1, _TIMED),
    CostRow("vpblendvb", "x y", "F03", 1, _TIMED),
    *_of_all_widths(f"{MOVES}|vpblendm[bwdq]", "x{k} y{k}", "z{k}", "F0123", {"x": 1, "k": 2}),
    *_of_all_widths(
        "v?gf2p8affineqb",
        "xi yi",
        "zi",
        "F01",
        3,
        f"{_LOOKED_UP}: two a cycle, half as many of 512 bits; units assumed",
    ),
    CostRow("v?pmuludq|v?pmullw|vpmullq", "x y", "F03", 3, _TIMED),
    CostRow("vpmullq", "z", "2*F03", 3, _TIMED),
)

_LANES = (
    *_of_all_widths("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]", "xi yi", "zi", "F123", 1),
    *_of_all_widths(_WITHIN, "x y", "z", "F123", 1),
    *_of_all_widths("v?palignr|v?ps[lr]ldq", "xi yi", "zi", "F12", 2),
    *_of_all_widths("v?pshufb", "x y", "z", "F12", 2),
    CostRow("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "F123", 1, _TIMED),
    CostRow("v?movq", "x", "F0123", 1, _TIMED),
    *_of_all_widths("vpermq|vpermpd", "yi", "zi", "F12", 4),
    CostRow("vperm2i128|vperm2f128|vshuf[if](32x4|64x2)", "yi", "F12", 3, _TIMED),
    CostRow("vshuf[if](32x4|64x2)|valign[dq]", "zi", "2*F12", 4, _TIMED),
    CostRow("vperm[dq]|vperm[it]2[dq]|vpermps|vpermpd", "x y", "F12", 4, _TIMED),
    CostRow("vperm[dqb]|vperm[it]2[dq]|vpermps|vpermpd", "z", "2*F12", 5, _TIMED),
    CostRow("vpermb", "x", "F12", 2, _LOOKED_UP),
    CostRow("vpermb", "y", "F12", 4, _LOOKED_UP),
    CostRow("vextract[if](128|32x4|64x2)", "xyi", "F12", 3, _TIMED),
    CostRow("vextract[if](32x4|64x2|32x8|64x4)", "xzi yzi", "2*F12", 4, _TIMED),
    CostRow("vinsert[if](128|32x4|64x2)", "yxi", "F12", 1, _TIMED),
    CostRow("vinsert[if](32x4|64x2|32x8|64x4)", "zxi zyi", "2*F12", 1, _TIMED),
    *_of_all_widths("vp?broadcast\\w+", "x yx", "zx", "F12", 1),
    CostRow("vp?broadcast\\w+", "xr yr", "I0123 + F3 + F12", 5, _TIMED),
    CostRow("vp?broadcast\\w+", "zr", "I0123 + F3 + 2*F12", 5, _TIMED),
    CostRow("vp?broadcast\\w+", "xm ym zm", "", 0, f"{_TIMED}: the load alone"),
    CostRow("v?pmov[sz]x\\w+", "x yx xm ym", "F12", 2, _TIMED),
    CostRow("v?pmov[sz]x\\w+", "zx zy zm", "2*F12", 4, _TIMED),
    CostRow("v?mov[dq]", "rx", "I0 + I1 + I2 + I3 + F45", 2, f"{_TIMED}: stops all integer units for a cycle"),
    CostRow("v?mov[dq]", "xr", "I0123 + F3", 4, _TIMED),
    CostRow("v?pinsr[bwdq]", "xri", "I0123 + F3 + F123", {"x": 1, "r": 5}, _TIMED),
    CostRow("v?pextr[bwdq]", "rxi", "I0 + I1 + I2 + I3 + F45", 3, _TIMED),
    CostRow("v?pmovmskb|v?movmskp[sd]", "rx ry", "F45", 4, f"{_TIMED}: one a cycle"),
    CostRow("v?ptest", "x y", "F12 + F45", 3, f"{_TIMED}: one a cycle"),
    CostRow("vpcompress[dq]|vpexpand[dq]", "x{k} y{k} z{k}", "2*F12", 5, _TIMED, issue=2),
)

_MASKS = (
    CostRow("vptestn?m[bwdq]|vpcmpu?[bwdq]|vpcmp(eq|gt)u?[bwdq]", "kx ky kxi kyi", "F01", 3, _TIMED),
    CostRow("vptestn?m[bwdq]|vpcmpu?[bwdq]|vpcmp(eq|gt)u?[bwdq]", "kz kzi", "2*F01", 4, _TIMED),
    CostRow("kmov[bwdq]", "kr", "I0123 + F3", 4, _TIMED),
    CostRow("kmov[bwdq]", "rk", "F45", 4, f"{_TIMED}: one a cycle"),
    CostRow("kmov[bwdq]|k(and|andn|or|xor|xnor|not|ortest|test|shiftl|shiftr)[bwdq]", "k ki", "F23", 1, _TIMED),
)

ZEN4 = Processor(
    name="zen4",
    title="AMD Zen 4",
    width=6,
    loads={
        "r": Access("A012", 4, f"{_TIMED}; {_GUIDE}, three loads a cycle"),
        **{size: Access("A012 + V01", 7, f"{_TIMED}; {_GUIDE}, two vector loads a cycle") for size in "sxy"},
        "z": Access("A012 + 2*V01", 8, f"{_TIMED}; {_GUIDE}, one load of 512 bits a cycle"),
    },
    stores={
        "r": Access("A012 + S01", 0, f"{_TIMED}; {_GUIDE}, two stores a cycle"),
        **{size: Access("A012 + 2*S01 + F45", 0, f"{_TIMED}; {_GUIDE}, one vector store a cycle") for size in "sxy"},
        "z": Access("A012 + 4*S01 + 2*F45", 0, f"{_TIMED}; {_GUIDE}, a store of 512 bits in two cycles"),
    },
    scaled=1,
    forwards={"rr": 0, "xx": 9, "yy": 10, "zz": 12, "xr": 6, "rs": 9, "zr": 7, "": 0},
    taken={"": 1, "call": 2, "return": 2},
    fused=FUSED,
    rows=(*_GENERAL, *_CONTROL, *_VECTOR, *_LANES, *_MASKS),
    line=64,
    sources=(
        f"{_GUIDE}: six macro-operations dispatched a cycle; fusion of branches",
        f"{_TIMED}: fetching takes 2 cycles behind a call or return, 1 behind another taken jump, 1 a line of code",
    ),
)
