"""What Skylake-SP and Ice Lake have in common. Each has rows of its own besides; they come first, for the first counts.

Who found it: LLVM's schedules for both, asked through llvm-mca, hold every row but those that a test names with the
reason (`tests/analysis/cost/test_processors.py`). Skylake's came to LLVM from its architects (reviews.llvm.org/D38443).
Where it says timed, figures were looked up as well in InstLatx64's measurements of one or both of them, in its files
GenuineIntel0050654_SkylakeX and GenuineIntel00706E5_IceLakeY. What is recalled was not looked up in any document.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.table import Access, Row

SCHEDULES = "LLVM 19, X86SchedSkylakeServer.td and X86SchedIceLake.td"
TIMED = f"{SCHEDULES}; timed, InstLatx64"
RECALLED = "recalled from Fog's Instruction tables (2022), not looked up"
RENAMED = "timed, InstLatx64: as many a cycle as are issued; uiCA, microArchConfigs.py: eliminated"
_WIDE = f"{TIMED}: on p0, which takes p1 with it, and p5"
_THERE_AND_BACK = f"{SCHEDULES}; timed, InstLatx64: the sum there and back"

_GENERAL = (
    Row("xor|sub", "r=", "", 0, TIMED, breaks=True),
    Row("mov", "ri rI bi wi b w", "p0156", 1, SCHEDULES),
    Row("movzx|movsxd?", "r rb rw", "p0156", 1, SCHEDULES),
    Row("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "p0156", 1, TIMED),
    Row("not|neg|inc|dec", "r b w", "p0156", 1, TIMED),
    Row("cdqe|cwde", "none", "p0156", 1, SCHEDULES),
    Row("cqo|cdq", "none", "p06", 1, SCHEDULES),
    Row("adc|sbb", "r ri", "p06", 1, TIMED),
    Row("shl|shr|sar|rol|ror", "ri", "p06", 1, TIMED),
    Row("shl|shr|sar|rol|ror", "rb", "2*p06", 1, f"{TIMED}; the operation for the flags is left out", issue=2),
    Row("shld|shrd", "ri", "p1", 3, SCHEDULES),
    Row("shlx|shrx|sarx", "r", "p06", 1, SCHEDULES),
    Row("rorx", "ri", "p06", 1, SCHEDULES),
    Row("andn|blsi|blsr|blsmsk|bzhi", "r", "p15", 1, SCHEDULES),
    Row("bextr", "r", "p06 + p15", 2, SCHEDULES, issue=2),
    Row("pext|pdep|popcnt|tzcnt|lzcnt|bsf|bsr", "r", "p1", 3, SCHEDULES),
    Row("imul", "r ri", "p1", 3, TIMED),
    Row("mul|mulx", "r", "p1 + p5", 3, f"{TIMED}: the low half; the high one comes a cycle later", issue=2),
    Row("bt|bts|btr|btc", "r ri", "p06", 1, TIMED),
    Row("bswap", "r", "p06 + p15", 2, f"{TIMED}: of 64 bits", issue=2),
    Row("cmova|cmovbe", "r", "2*p06", {"r": 1, "f": 2}, SCHEDULES, issue=2),
    Row("cmov\\w+", "r", "p06", 1, SCHEDULES),
    Row("seta|setbe", "b", "2*p06", 2, SCHEDULES, issue=2),
    Row("set\\w+", "b", "p06", 1, TIMED),
    Row("xchg", "r", "3*p0156", 1, f"{SCHEDULES}; 1 cycle for the faster way, {RECALLED}", issue=3),
)

_CONTROL = (
    Row("j\\w+", "none", "p06", 1, SCHEDULES),
    Row("push|pop", "r i", "", 0, f"the load or store alone, the stack engine keeps rsp: {RECALLED}"),
    Row("nop|endbr64", "none r w m", "", 0, f"timed, InstLatx64: nops; endbr64 {RECALLED}"),
    Row("vzeroupper", "none", "", 0, RECALLED, issue=4),
)

MOVES = "v?mov(dq[au](8|16|32|64)?|[au]p[sd])"
_LOGIC = "v?p(and|andn|or|xor)[dq]?|v?(and|andn|or|xor)p[sd]"

_VECTOR = (
    Row(MOVES, "v", "", 0, RENAMED),
    Row("v?pxor[dq]?|v?xorp[sd]|v?psub[bwdq]|v?pcmpgt[bwdq]", "v=", "", 0, TIMED, breaks=True),
    Row("v?pcmpeq[bwdq]", "x= y=", "p01", 1, TIMED, breaks=True),
    Row(_LOGIC, "x y", "p015", 1, TIMED),
    Row(_LOGIC, "z", "p05", 1, _WIDE),
    Row("vpternlog[dq]", "xi yi", "p015", 1, TIMED),
    Row("vpternlog[dq]", "zi", "p05", 1, _WIDE),
    Row("v?p(add|sub)[bwdq]", "x y", "p015", 1, TIMED),
    Row("v?p(add|sub)[bwdq]", "z", "p05", 1, f"{SCHEDULES}; on the ports of 512 bits"),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]|vpro[lr][dq]", "xi yi", "p01", 1, TIMED),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]|vpro[lr][dq]", "zi", "p0", 1, _WIDE),
    Row("vps[lr][la]v[dq]|vpro[lr]v[dq]", "x y", "p01", 1, TIMED),
    Row("vps[lr][la]v[dq]|vpro[lr]v[dq]", "z", "p0", 1, _WIDE),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]", "yx", "p01 + p5", 1, f"{TIMED}; from the count 4 cycles, left out", issue=2),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]", "zx", "p0 + p5", 1, f"{_WIDE}; from the count 4 cycles, left out", issue=2),
    Row("v?pcmpeq[bwdq]|v?pcmpgt[bwd]|v?p(min|max)[su][bwd]|v?pabs[bwd]", "x y", "p01", 1, TIMED),
    Row("v?pcmpgtq", "x y", "p5", 3, TIMED),
    Row("vpblendd", "xi yi", "p015", 1, TIMED),
    Row("vpblendvb", "x y", "2*p015", 2, TIMED, issue=2),
    Row(f"{MOVES}|vpblendm[bwdq]", "x{k} y{k}", "p015", 1, TIMED),
    Row(f"{MOVES}|vpblendm[bwdq]", "z{k}", "p05", 1, _WIDE),
    Row("v?pmuludq|v?pmullw", "x y", "p01", 5, TIMED),
    Row("vpmullq", "x y", "3*p01", 15, SCHEDULES, issue=3),
    Row("vpmullq", "z", "3*p05", 15, f"{SCHEDULES}: with the second multiplier of the servers", issue=3),
)

_LANES = (
    Row("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]|v?palignr|v?ps[lr]ldq", "vi", "p5", 1, TIMED),
    Row("v?pshufb|v?p?unpck[lh]\\w+|vpermilp[sd]|v?movhlps|v?movlhps|v?movddup", "v", "p5", 1, TIMED),
    Row("valign[dq]", "xi", "p5", 1, "timed, InstLatx64"),
    Row("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "p5", 1, SCHEDULES),
    Row("v?movq", "x", "p015", 1, SCHEDULES),
    Row("vpermq|vpermpd|vperm2i128|vperm2f128|vshuf[if](32x4|64x2)|valign[dq]", "xi yi zi", "p5", 3, TIMED),
    Row("vperm[dqb]|vperm[it]2[dq]|vpermps|vpermpd", "v", "p5", 3, TIMED),
    Row("vpermw", "v", "2*p5", 6, SCHEDULES, issue=2),
    Row("v(extract|insert)[if](128|32x4|64x2|32x8|64x4)", "xyi xzi yzi yxi zxi zyi", "p5", 3, TIMED),
    Row("vp?broadcast\\w+", "x", "p5", 1, TIMED),
    Row("vp?broadcast\\w+", "yx zx xr yr zr", "p5", 3, TIMED),
    Row("vpbroadcast[bw]", "xm", "p5", 2, f"{SCHEDULES}: a shuffle behind the load"),
    Row("vpbroadcast[bw]", "ym zm", "p5", 3, f"{SCHEDULES}: a shuffle behind the load"),
    Row("vp?broadcast([dq]|s[sd])", "ym zm", "", 2, f"{SCHEDULES}: the load alone, as long as one of all lanes"),
    Row("vp?broadcast\\w+", "xm ym zm", "", 1, f"{SCHEDULES}: the load alone"),
    Row("v?pmov[sz]x\\w+", "yx zx zy", "p5", 3, TIMED),
    Row("v?pmov[sz]x\\w+", "xm ym zm", "p5", 1, SCHEDULES),
    Row("v?mov[dq]", "rx", "p0", 2, _THERE_AND_BACK),
    Row("v?mov[dq]", "xr", "p5", 2, f"{_THERE_AND_BACK} is 4"),
    Row("v?pinsr[bwdq]", "xri", "2*p5", {"x": 1, "r": 3}, f"{_THERE_AND_BACK} is 6", issue=2),
    Row("v?pextr[bwdq]", "rxi", "p0 + p5", 3, _THERE_AND_BACK, issue=2),
    Row("v?pmovmskb|v?movmskp[sd]", "rx ry", "p0", 2, SCHEDULES),
    Row("v?ptest", "x y", "p0 + p5", 3, SCHEDULES, issue=2),
    Row("vpcompress[dq]|vpexpand[dq]", "x{k} y{k} z{k}", "2*p5", 3, TIMED, issue=2),
)

_MASKS = (
    Row("vptestn?m[bwdq]|vpcmpu?[bwdq]|vpcmp(eq|gt)u?[bwdq]", "kx ky kz kxi kyi kzi", "p5", 3, f"3: {RECALLED}"),
    Row("kmov[bwdq]", "kr", "p5", 1, _THERE_AND_BACK),
    Row("kmov[bwdq]", "rk", "p0", 3, f"{_THERE_AND_BACK} is 4"),
    Row("k(ortest|test)[bwdq]", "k", "p0", 3, SCHEDULES),
    Row("kmov[bwdq]|k(and|andn|or|xor|xnor|not)[bwdq]", "k", "p0", 1, TIMED),
    Row("kshift[lr][bwdq]|kunpck\\w+", "k ki", "p5", 4, TIMED),
)

SHARED = (*_GENERAL, *_CONTROL, *_VECTOR, *_LANES, *_MASKS)
"""The rows of both, to stand behind those of one."""

VECTOR_LOADS = {
    "s": Access("p23", 5, SCHEDULES),
    "x": Access("p23", 6, SCHEDULES),
    "y": Access("p23", 7, SCHEDULES),
    "z": Access("p23", 7, f"{SCHEDULES}, without the operation that they add; two a cycle, InstLatx64"),
}
"""Loads into vector registers, as `Processor.loads` has them."""

FUSED = "test|and|cmp|add|sub|inc|dec"
"""What a branch behind it joins: recalled from Fog's Microarchitecture (2023), not looked up."""
