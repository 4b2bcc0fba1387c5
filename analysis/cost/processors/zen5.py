"""Zen 5, as servers and desktops have it: 512 bits take every unit once. Nearly all rows are measured on one.

`zen` names the ports; there are more of them here: I0 to I5, A0 to A3. Which units share what was found by timing
pairs. The vector units are numbered as LLVM has them, the integer units as far as it tells them apart:
I0 to I2 multiply, I3 to I5 branch; timing shows that shifts share one unit with multiplications. Of vector moves and
zeroes six a cycle are renamed, which rows cannot say. Moves between the files: only their sum there and back can be
timed, 7 cycles; it is parted so that a load into a vector register takes the 7 cycles of AMD's guide.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.table import Access, CostRow, Processor
from setwise.analysis.cost.processors.zen import FUSED, LOGIC, MOVES, SHIFT

_TIMED = "measured, EPYC of family 26, model 2 (2026-11-23)"
_SCHEDULE = "LLVM (main, 2025), X86ScheduleZnver5.td"
_GUIDE = "AMD, Software Optimization Guide for Zen 5 (58455), as LLVM quotes it"
_ASSUMED = "taken over from Zen 4, not measured"
_RENAMED = f"{_TIMED}: as many as are dispatched"
_SIX = f"{_TIMED}: six a cycle"
_PAIRS = f"{_TIMED}: multiplications beside shifts, and with moves from general registers, that shifts do not meet"
_ONE = f"{_TIMED}; 1, and 2 where it has waited for its operands"
_MERGES = f"{_TIMED}: AVX's, and an operation that keeps the rest of the register"
_TERNARY = f"{_ONE}; then mostly 3 from the second or third operand"
_CROSSING = f"{_TIMED}: with a shuffle beside the move, which takes 2 where it has waited, else 1"

_GENERAL = (
    CostRow("mov", "r", "", 0, _RENAMED),
    CostRow("xchg", "r", "", 0, _RENAMED, issue=2),
    CostRow("xor|sub", "r=", "", 0, _RENAMED, breaks=True),
    CostRow("lea", "r[b]", "", 0, f"{_RENAMED}: as a move"),
    CostRow("lea", "r[bid] r[bsd]", "3*I012345", 1, f"{_TIMED}: two a cycle; from the base 2, from the index 1"),
    CostRow("lea", "r[bd] r[bi] r[bs] r[s] r[sd] r[i] r[id] r[d] r[p]", "I012345", 1, _TIMED),
    CostRow("mov", "rI", "I234", 1, _TIMED, issue=2),
    CostRow("mov", "ri rI bi wi b w", "I012345", 1, _TIMED),
    CostRow("movsxd?", "rm", "I012345", 1, _ASSUMED),
    CostRow("movzx|movsxd?", "r rb rw", "I012345", 1, _TIMED),
    CostRow("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "I012345", 1, _TIMED),
    CostRow("not|neg|inc|dec", "r b w", "I012345", 1, _TIMED),
    CostRow("cdqe|cwde|cqo|cdq", "none", "I012345", 1, _SCHEDULE),
    CostRow("adc|sbb", "r ri", "I012345", 1, _TIMED),
    CostRow("shl|shr|sar|rol|ror", "ri rb", "I234", 1, _PAIRS),
    CostRow("shld|shrd", "ri", "3*I234", 2, _TIMED, issue=3),
    CostRow("shlx|shrx|sarx", "r", "I234", 1, _PAIRS),
    CostRow("rorx", "ri", "I234", 1, _PAIRS),
    CostRow("andn|popcnt|lzcnt|bswap", "r", "I012345", 1, _TIMED),
    CostRow("tzcnt|bsf|bsr|blsi|blsr|blsmsk", "r", "I234", 1, _TIMED),
    CostRow("bzhi|bextr", "r", "I234", 1, _TIMED),
    CostRow("pext|pdep", "r", "I234", 3, f"{_TIMED}: beside shifts slower than by units alone"),
    CostRow("imul", "r ri", "I012", 3, _PAIRS),
    CostRow("mul", "r", "I012", 3, _SCHEDULE, issue=2),
    CostRow("mulx", "r", "2*I012", 4, _TIMED, issue=2),
    CostRow("bt", "r ri", "I234", 1, _TIMED),
    CostRow("bts|btr|btc", "r ri", "2*I34", 2, f"{_TIMED}: one a cycle, and none less beside multiplications", issue=2),
    CostRow("cmovn?be|cmova", "r", "I012 + I234", {"r": 1, "f": 2}, _TIMED),
    CostRow("cmov\\w+", "r", "I012345", 1, _TIMED),
    CostRow("set\\w+", "b", "I012345", 1, _TIMED),
)

_CONTROL = (
    CostRow("j\\w+", "taken r none", "I345", 1, f"{_GUIDE}, 2.10.2: three branch units"),
    CostRow("call", "none taken", "I345", 1, _ASSUMED, issue=2),
    CostRow("ret", "none taken", "I345", 1, _ASSUMED),
    CostRow("push|pop", "r i", "", 0, f"the load or store alone, the stack engine keeps rsp: {_ASSUMED}"),
    CostRow("nop|endbr64", "none r w m", "", 0, _RENAMED),
    CostRow("vzeroupper", "none", "X0", 0, f"{_TIMED}: one a cycle, by what is not known"),
)

_WITHIN = "v?p?unpck[lh]\\w+|v?movhlps|v?movlhps|v?movddup"

_VECTOR = (
    CostRow(MOVES, "v", "", 0, _SIX),
    CostRow("v?pxor[dq]?|v?xorp[sd]|v?psub[bwdq]|v?pcmpgt[bwdq]", "v=", "", 0, _SIX, breaks=True),
    CostRow("v?pcmpeq[bwd]", "x= y=", "F0123", 1, _ONE, breaks=True),
    CostRow("v?pcmpeqq", "x= y=", "F03", 2, _TIMED, breaks=True),
    CostRow(LOGIC, "v", "F0123", 1, _ONE),
    CostRow("vpternlog[dq]", "vi", "F0123", 1, _TERNARY),
    CostRow("v?p(add|sub)[bwdq]", "v", "F0123", 1, _ONE),
    CostRow(SHIFT, "vi", "F23", 1, _ONE),
    CostRow("vps[lr][la]v[dq]", "v", "F23", 1, _ONE),
    CostRow("vpro[lr][dq]", "vi", "F01", 2, _TIMED),
    CostRow("vpro[lr]v[dq]", "v", "F01", 2, _TIMED),
    CostRow(SHIFT, "x yx zx", "F01", 2, _TIMED),
    CostRow("v?pcmp(eq|gt)q|v?pabs[bwdq]", "x y", "F03", 2, _TIMED),
    CostRow("v?pcmp(eq|gt)[bwd]|v?p(min|max)[su][bwd]", "x y", "F0123", 1, _ONE),
    CostRow("vpblendd|v?pblendw", "xi yi", "F0123", 1, _ONE),
    CostRow("vpblendvb", "x y", "F12 + F45", 1, _ONE),
    CostRow(f"{MOVES}|vpblendm[bwdq]", "v{k}", "F0123", 1, _ONE),
    CostRow("v?gf2p8affineqb", "vi", "F12", 3, _TIMED),
    CostRow("v?pmuludq|v?pmullw|vpmullq", "v", "F01", 3, _TIMED),
)

_LANES = (
    CostRow("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]", "vi", "F0123", 1, _ONE),
    CostRow(_WITHIN, "v", "F0123", 1, _ONE),
    CostRow("v?palignr|v?ps[lr]ldq", "vi", "F12", 2, _TIMED),
    CostRow("v?pshufb|vpermilp[sd]", "v", "F12", 2, _TIMED),
    CostRow("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "F0123", 1, _ONE),
    CostRow("v?movq", "x", "F0123", 1, _ONE),
    CostRow("vpermq|vpermpd", "yi zi", "F12", 4, _TIMED),
    CostRow("vperm2i128|vperm2f128|vshuf[if](32x4|64x2)", "yi", "F12", 3, _TIMED),
    CostRow("vshuf[if](32x4|64x2)", "zi", "F12", 5, _TIMED),
    CostRow("valignq", "xi", "F12", 2, _TIMED),
    CostRow("valign[dq]", "yi", "F12", 3, _TIMED),
    CostRow("valign[dq]", "zi", "F12", 5, _TIMED),
    CostRow("vperm[bw]", "x", "F12", 2, _TIMED),
    CostRow("vperm[it]2[bwdq]", "x", "F12", 3, _TIMED),
    CostRow("vperm[bwdq]|vperm[it]2[bwdq]|vpermps|vpermpd", "y", "F12", 4, _TIMED),
    CostRow("vperm[bwdq]|vperm[it]2[bwdq]|vpermps|vpermpd", "z", "F12", 5, _TIMED),
    CostRow("vextract[if](128|32x4|64x2)", "xyi", "F12", 3, _TIMED),
    CostRow("vextract[if](32x8|64x4)", "yzi", "F12", 4, _TIMED),
    CostRow("vextract[if](32x4|64x2)", "xzi", "F12", 5, _TIMED),
    CostRow("vinsert[if](128|32x4|64x2|32x8|64x4)", "yxi zxi zyi", "F12", 1, _ONE),
    CostRow("vp?broadcast\\w+", "x", "F0123", 1, _ONE),
    CostRow("vp?broadcast\\w+", "yx zx", "F12", 1, _ONE),
    CostRow("vp?broadcast\\w+", "xr yr zr", "I0 + F12", 6, _CROSSING, issue=2),
    CostRow("vp?broadcast\\w+", "xm ym zm", "", 0, f"{_TIMED}: the load alone"),
    CostRow("v?pmov[sz]x\\w+", "x yx xm ym", "F12", 2, _TIMED),
    CostRow("v?pmov[sz]x\\w+", "zx zy zm", "F12", 4, _TIMED),
    CostRow("v?mov[dq]", "rx", "I012345 + F45", 2, _TIMED),
    CostRow("vmov[dq]", "xr", "I0", 5, _PAIRS),
    CostRow("mov[dq]", "xr", "I0 + F0123", 6, _MERGES, issue=2),
    CostRow("v?pinsr[bwdq]", "xri", "I0 + F12", {"x": 1, "r": 6}, _CROSSING, issue=2),
    CostRow("v?pextr[bwdq]", "rxi", "I012345 + F45 + F12", 3, _CROSSING, issue=2),
    CostRow("v?pmovmskb|v?movmskp[sd]", "rx", "I012345 + F45", 2, _TIMED),
    CostRow("v?pmovmskb|v?movmskp[sd]", "ry", "I012345 + F45", 4, _TIMED),
    CostRow("v?ptest", "x", "I012345 + F12 + F45", 3, _CROSSING, issue=2),
    CostRow("v?ptest", "y", "I012345 + F12 + F45", 5, _CROSSING, issue=2),
    CostRow("vpcompress[dq]|vpexpand[dq]", "x{k}", "2*F12", {"x": 2, "k": 6}, _TIMED, issue=2),
    CostRow("vpcompress[dq]|vpexpand[dq]", "y{k}", "2*F12", {"x": 4, "k": 8}, _TIMED, issue=2),
    CostRow("vpcompress[dq]|vpexpand[dq]", "z{k}", "2*F12", {"x": 5, "k": 9}, _TIMED, issue=2),
)

_COMPARED = "vptestn?m[bwdq]|vpcmpu?[bwdq]|vpcmp(eq|gt)u?[bwdq]"
_THERE = f"{_TIMED}: to a mask, on to a general register, and back"

_MASKS = (
    CostRow(_COMPARED, "kx kxi", "F12", 3, _THERE),
    CostRow(_COMPARED, "ky kyi", "F12", 4, _THERE),
    CostRow(_COMPARED, "kz kzi", "F12", 6, _THERE),
    CostRow("kmov[bwdq]", "kr", "I0 + F12", 6, _CROSSING, issue=2),
    CostRow("kmov[bwdq]", "rk", "I012345 + F45", 2, _TIMED),
    CostRow("kmov[bwdq]|k(and|andn|or|xor|xnor|not|ortest|test|shiftl|shiftr)[bwdq]", "k ki", "F03", 1, _TIMED),
)

ZEN5 = Processor(
    name="zen5",
    title="AMD Zen 5",
    width=8,
    loads={
        "r": Access("A0123", 4, f"{_TIMED}: four a cycle"),
        **{size: Access("A0123 + V01", 7, f"{_TIMED}; {_GUIDE}: two vector loads a cycle") for size in "sxyz"},
    },
    stores={
        "r": Access("A0123 + S01", 0, f"{_TIMED}: two a cycle"),
        **{size: Access("A0123 + S01 + F45", 0, f"{_TIMED}: two a cycle") for size in "sxy"},
        "z": Access("A0123 + 2*S01 + 2*F45", 0, f"{_TIMED}: one a cycle"),
    },
    scaled=1,
    forwards={"rr": 0, "ss": 9, "xx": 9, "yy": 9, "zz": 11, "sr": 6, "xr": 6, "yr": 6, "zr": 8, "rs": 10, "": 0},
    taken={"": 0.5, "indirect": 1, "call": 2, "return": 2},
    fused=FUSED,
    rows=(*_GENERAL, *_CONTROL, *_VECTOR, *_LANES, *_MASKS),
    sources=(
        f"{_TIMED}: nearly all rows",
        f"{_SCHEDULE}: names of the vector units, and rows where it stands by them",
        f"{_GUIDE}: eight macro-operations dispatched a cycle (2.9.7), six integer units (2.10.2), four vector units",
        "measured by setwise bench on the same processor: a call and its return take 4 cycles, as on Zen 4, lines of "
        "code none of their own: routines of 100 bytes take no longer than empty ones",
        "measured by rows of jumps on the same processor: two taken jumps a cycle, one by a register",
        "measured by rows of stores and loads on the same processor: a general load that is foretold to meet a store "
        "under way takes no time behind its data; else, in rows that differ in little, 7. Between calls of routines "
        "with several results none was seen",
    ),
)
