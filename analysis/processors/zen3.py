"""Zen 3.

Ports: I0 to I3 the integer units, B0 the unit that only branches, A0 to A2 addresses, S0 and S1 data to be stored,
V0 and V1 loads into vector registers, F0 to F3 the vector units, F4 and F5 vector stores and moves to the general ones.
"""

from __future__ import annotations

from analysis.processors.table import Access, Processor, Row

_UOPS = "uops.info, Zen 3; LLVM 19, schedule of znver3"
_LLVM = "LLVM 19, schedule of znver3 (measured with llvm-exegesis)"
_FOG = "Fog, Instruction tables (2022), Zen 3"
_GUIDE = "AMD, Software Optimization Guide for Family 19h (56665)"
_RENAME = f"{_GUIDE}, 2.9.4; Fog, Microarchitecture (2023), Zen 3, instructions with no latency"

_GENERAL = (
    Row("mov", "r", "", 0, _RENAME),
    Row("xchg", "r", "", 0, _RENAME, issue=2),
    Row("xor|sub", "r=", "", 0, _RENAME, breaks=True),
    Row("mov", "ri rI bi wi b w", "I0123", 1, _UOPS),
    Row("movzx|movsxd?", "r rb rw", "I0123", 1, _UOPS),
    Row("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "I0123", 1, _UOPS),
    Row("not|neg|inc|dec", "r b w", "I0123", 1, _UOPS),
    Row("cdqe|cwde|cqo|cdq", "none", "I0123", 1, _UOPS),
    Row("adc|sbb", "r ri", "I0123", 1, _UOPS),
    Row("shl|shr|sar|rol|ror", "ri rb", "I12", 1, _UOPS),
    Row("shld|shrd", "ri", "3*I12", 2, _LLVM, issue=4),
    Row("shlx|shrx|sarx", "r", "I12", 1, _UOPS),
    Row("rorx", "ri", "I12", 1, _UOPS),
    Row("andn", "r", "I0123", 1, _UOPS),
    Row("blsi|blsr|blsmsk", "r", "2*I0123", 2, _UOPS, issue=2),
    Row("bzhi|bextr", "r", "I12", 1, _UOPS),
    Row("pext|pdep", "r", "I1", 3, _UOPS),
    Row("popcnt|lzcnt|bswap", "r", "I0123", 1, _UOPS),
    Row("tzcnt", "r", "I12", 2, _UOPS, issue=2),
    Row("bsf|bsr", "r", "3*I1", 3, _LLVM, issue=6),
    Row("imul", "r ri", "I1", 3, _UOPS),
    Row("mul", "r", "I1", 3, _UOPS, issue=2),
    Row("mulx", "r", "I1", 4, _UOPS, issue=2),
    Row("bt", "r ri", "I12", 1, _UOPS),
    Row("bts|btr|btc", "r ri", "2*I12", 2, _UOPS, issue=2),
    Row("cmov\\w+", "r", "I03", 1, _UOPS),
    Row("set\\w+", "b", "I03", 1, _UOPS),
    Row("lea", "r[b] r[bd] r[bi] r[bs] r[s] r[sd] r[i] r[id] r[d] r[p]", "I0123", 1, f"{_FOG}; scaled as on Zen 4"),
    Row("lea", "r[bid] r[bsd]", "I0123", 2, _UOPS),
)

_CONTROL = (
    Row("j\\w+", "taken r none", "I0B0", 1, f"{_GUIDE}: two branch units"),
    Row("call", "none taken", "I0B0", 1, _FOG, issue=2),
    Row("ret", "none taken", "I0B0", 1, _FOG),
    Row("push|pop", "r i", "", 0, f"{_FOG}: the load or store alone, the stack engine keeps rsp"),
    Row("nop|endbr64", "none r w m", "", 0, _GUIDE, issue=0.5),
    Row("vzeroupper", "none", "", 0, _FOG),
)

_MOVES = "v?mov(dq[au]|[au]p[sd])"
_LOGIC = "v?p(and|andn|or|xor)|v?(and|andn|or|xor)p[sd]"
_SHIFT = "v?ps[lr]l[wdq]|v?psra[wd]"

_VECTOR = (
    Row(_MOVES, "x y", "", 0, _RENAME),
    Row("v?pxor|v?xorp[sd]|v?psub[bwdq]|v?pcmpgt[bwdq]", "x= y=", "", 0, _RENAME, breaks=True),
    Row("v?pcmpeq[bwdq]", "x= y=", "F0123", 1, _GUIDE, breaks=True),
    Row(_LOGIC, "x y", "F0123", 1, _UOPS),
    Row("v?p(add|sub)[bwdq]", "x y", "F0123", 1, _UOPS),
    Row(_SHIFT, "xi yi x yx", "F12", 1, _UOPS),
    Row("vps[lr]lv[dq]|vpsravd", "x y", "F12", 1, _UOPS),
    Row("v?pcmp(eq|gt)[bwdq]|v?p(min|max)[su][bwd]|v?pabs[bwd]", "x y", "F0123", 1, _UOPS),
    Row("vpblendd|v?pblendw", "xi yi", "F0123", 1, _UOPS),
    Row("vpblendvb", "x y", "F03", 1, _UOPS),
    Row("v?pmuludq|v?pmullw", "x y", "F03", 3, _UOPS),
)

_LANES = (
    Row("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]|v?palignr|v?ps[lr]ldq", "xi yi", "F12", 1, _UOPS),
    Row("v?pshufb|v?p?unpck[lh]\\w+|vpermilp[sd]|v?movhlps|v?movlhps|v?movddup", "x y", "F12", 1, _UOPS),
    Row("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "F12", 1, _UOPS),
    Row("v?movq", "x", "F0123", 1, _UOPS),
    Row("vpermq|vpermpd", "yi", "F12", 6, _UOPS, issue=2),
    Row("vpermd|vpermps", "y", "F12", 5, _UOPS, issue=2),
    Row("vperm2i128|vperm2f128", "yi", "F12", 3, _UOPS),
    Row("vextract[if]128", "xyi", "F0123", 3, f"{_UOPS}: 3 to 4 cycles"),
    Row("vinsert[if]128", "yxi", "F12", 1, f"{_UOPS}: 1 to 2 cycles"),
    Row("vp?broadcast\\w+", "x", "F12", 1, _UOPS),
    Row("vp?broadcast\\w+", "yx", "F12", 1, f"{_UOPS}: 1 to 2 cycles"),
    Row("vp?broadcast\\w+", "xm ym", "", 0, f"{_UOPS}: the load alone"),
    Row("v?pmov[sz]x\\w+", "x xm", "F12", 1, _UOPS),
    Row("v?pmov[sz]x\\w+", "yx ym", "2*F12", 4, _UOPS, issue=2),
    Row("v?mov[dq]", "rx", "F45", 2, f"{_FOG}; parted as on Zen 4"),
    Row("v?mov[dq]", "xr", "F0123", 4, f"{_FOG}; parted as on Zen 4"),
    Row("v?pinsr[bwdq]", "xri", "2*F0123", {"x": 1, "r": 4}, _FOG, issue=2),
    Row("v?pextr[bwdq]", "rxi", "F45 + F12", 3, _FOG, issue=2),
    Row("v?pmovmskb|v?movmskp[sd]", "rx ry", "F45", 3, _FOG),
    Row("v?ptest", "x y", "F12 + F45", 3, _FOG, issue=2),
)

_STORE = "A012 + 2*S01 + F45"

ZEN3 = Processor(
    name="zen3",
    title="AMD Zen 3",
    width=6,
    loads={
        "r": Access("A012", 4, f"{_GUIDE}: three loads a cycle"),
        **{size: Access("A012 + V01", 7, f"{_GUIDE}: two vector loads a cycle") for size in "sxy"},
    },
    stores={
        "r": Access("A012 + S01", 0, f"{_GUIDE}: two stores a cycle"),
        **{size: Access(_STORE, 0, f"{_GUIDE}: one vector store a cycle") for size in "sxy"},
    },
    scaled=0,
    forwards={"": 0},
    taken={"": 1},
    fused="test|and|or|xor|cmp|add|sub|inc|dec",
    rows=(*_GENERAL, *_CONTROL, *_VECTOR, *_LANES),
    sources=(
        f"{_GUIDE}: six macro-operations dispatched a cycle; fusion of branches; at most one taken branch a cycle",
        "What a load takes from a store that is under way depends; 0 cycles keep the figure a bound",
    ),
    lacks="avx512",
)
