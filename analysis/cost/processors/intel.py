"""What Skylake-SP and Ice Lake have in common. Each has rows of its own besides; they come first, for the first counts.

Who found it: LLVM's schedules for both, asked through llvm-mca, hold every row but those that a test names with the
reason (`tests/analysis/cost/test_processors.py`). Skylake's came to LLVM from its architects (reviews.llvm.org/D38443).
Where it says timed, figures were looked up as well in InstLatx64's measurements of one or both of them, in its files
GenuineIntel0050654_SkylakeX and GenuineIntel00706E5_IceLakeY. What is recalled was not looked up in any document.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.table import Access, CostRow

SCHEDULES = "LLVM 19, X86SchedSkylakeServer.td and X86SchedIceLake.td"
TIMED = f"{SCHEDULES}; timed, InstLatx64"
RECALLED = "recalled from Fog's Instruction tables (2022), not looked up"
RENAMED = "timed, InstLatx64: as many a cycle as are issued; uiCA, microArchConfigs.py: eliminated"
_WIDE = f"{TIMED}: on p0, which takes p1 with it, and p5"
_THERE_AND_BACK = f"{SCHEDULES}; timed, InstLatx64: the sum there and back"

_GENERAL = (
    CostRow("xor|sub", "r=", "", 0, TIMED, breaks=True),
    CostRow("mov", "ri rI bi wi b w", "p0156", 1, SCHEDULES),
    CostRow("movzx|movsxd?", "r rb rw", "p0156", 1, SCHEDULES),
    CostRow("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "p0156", 1, TIMED),
    CostRow("not|neg|inc|dec", "r b w", "p0156", 1, TIMED),
    CostRow("cdqe|cwde", "none", "p0156", 1, SCHEDULES),
    CostRow("cqo|cdq", "none", "p06", 1, SCHEDULES),
    CostRow("adc|sbb", "r ri", "p06", 1, TIMED),
    CostRow("shl|shr|sar|rol|ror", "ri", "p06", 1, TIMED),
    CostRow("shl|shr|sar|rol|ror", "rb", "2*p06", 1, f"{TIMED}; the operation for the flags is left out", issue=2),
    CostRow("shld|shrd", "ri", "p1", 3, SCHEDULES),
    CostRow("shlx|shrx|sarx", "r", "p06", 1, SCHEDULES),
    CostRow("rorx", "ri", "p06", 1, SCHEDULES),
    CostRow("andn|blsi|blsr|blsmsk|bzhi", "r", "p15", 1, SCHEDULES),
    CostRow("bextr", "r", "p06 + p15", 2, SCHEDULES, issue=2),
    CostRow("pext|pdep|popcnt|tzcnt|lzcnt|bsf|bsr", "r", "p1", 3, SCHEDULES),
    CostRow("imul", "r ri", "p1", 3, TIMED),
    CostRow("mul|mulx", "r", "p1 + p5", 3, f"{TIMED}: the low half; the high one comes a cycle later", issue=2),
    CostRow("bt|bts|btr|btc", "r ri", "p06", 1, TIMED),
    CostRow("bswap", "r", "p06 + p15", 2, f"{TIMED}: of 64 bits", issue=2),
    CostRow("cmova|cmovbe", "r", "2*p06", {"r": 1, "f": 2}, SCHEDULES, issue=2),
    CostRow("cmov\\w+", "r", "p06", 1, SCHEDULES),
    CostRow("seta|setbe", "b", "2*p06", 2, SCHEDULES, issue=2),
    CostRow("set\\w+", "b", "p06", 1, TIMED),
    CostRow("xchg", "r", "3*p0156", 1, f"{SCHEDULES}; 1 cycle for the faster way, {RECALLED}", issue=3),
)

_CONTROL = (
    CostRow("j\\w+", "none", "p06", 1, SCHEDULES),
    CostRow("push|pop", "r i", "", 0, f"the load or store alone, the stack engine keeps rsp: {RECALLED}"),
    CostRow("nop|endbr64", "none r w m", "", 0, f"timed, InstLatx64: nops; endbr64 {RECALLED}"),
    CostRow("vzeroupper", "none", "", 0, RECALLED, issue=4),
)

MOVES = "v?mov(dq[au](8|16|32|64)?|[au]p[sd])"
_LOGIC = "v?p(and|andn|or|xor)[dq]?|v?(and|andn|or|xor)p[sd]"

_VECTOR = (
    CostRow(MOVES, "v", "", 0, RENAMED),
    CostRow("v?pxor[dq]?|v?xorp[sd]|v?psub[bwdq]|v?pcmpgt[bwdq]", "v=", "", 0, TIMED, breaks=True),
    CostRow("v?pcmpeq[bwdq]", "x= y=", "p01", 1, TIMED, breaks=True),
    CostRow(_LOGIC, "x y", "p015", 1, TIMED),
    CostRow(_LOGIC, "z", "p05", 1, _WIDE),
    CostRow("vpternlog[dq]", "xi yi", "p015", 1, TIMED),
    CostRow("vpternlog[dq]", "zi", "p05", 1, _WIDE),
    CostRow("v?p(add|sub)[bwdq]", "x y", "p015", 1, TIMED),
    CostRow("v?p(add|sub)[bwdq]", "z", "p05", 1, f"{SCHEDULES}; on the ports of 512 bits"),
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]|vpro[lr][dq]", "xi yi", "p01", 1, TIMED),
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]|vpro[lr][dq]", "zi", "p0", 1, _WIDE),
    CostRow("vps[lr][la]v[dq]|vpro[lr]v[dq]", "x y", "p01", 1, TIMED),
    CostRow("vps[lr][la]v[dq]|vpro[lr]v[dq]", "z", "p0", 1, _WIDE),
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]", "yx", "p01 + p5", 1, f"{TIMED}; from the count 4 cycles, left out", issue=2),
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]", "zx", "p0 + p5", 1, f"{_WIDE}; from the count 4 cycles, left out", issue=2),
    CostRow("v?pcmpeq[bwdq]|v?pcmpgt[bwd]|v?p(min|max)[su][bwd]|v?pabs[bwd]", "x y", "p01", 1, TIMED),
    CostRow("v?pcmpgtq", "x y", "p5", 3, TIMED),
    CostRow("vpblendd", "xi yi", "p015", 1, TIMED),
    CostRow("vpblendvb", "x y", "2*p015", 2, TIMED, issue=2),
    CostRow(f"{MOVES}|vpblendm[bwdq]", "x{k} y{k}", "p015", 1, TIMED),
    CostRow(f"{MOVES}|vpblendm[bwdq]", "z{k}", "p05", 1, _WIDE),
    CostRow("v?pmuludq|v?pmullw", "x y", "p01", 5, TIMED),
    CostRow("vpmullq", "x y", "3*p01", 15, SCHEDULES, issue=3),
    CostRow("vpmullq", "z", "3*p05", 15, f"{SCHEDULES}: with the second multiplier of the servers", issue=3),
)

_LANES = (
    CostRow("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]|v?palignr|v?ps[lr]ldq", "vi", "p5", 1, TIMED),
    CostRow("v?pshufb|v?p?unpck[lh]\\w+|vpermilp[sd]|v?movhlps|v?movlhps|v?movddup", "v", "p5", 1, TIMED),
    CostRow("valign[dq]", "xi", "p5", 1, "timed, InstLatx64"),
    CostRow("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "p5", 1, SCHEDULES),
    CostRow("v?movq", "x", "p015", 1, SCHEDULES),
    CostRow("vpermq|vpermpd|vperm2i128|vperm2f128|vshuf[if](32x4|64x2)|valign[dq]", "xi yi zi", "p5", 3, TIMED),
    CostRow("vperm[dqb]|vperm[it]2[dq]|vpermps|vpermpd", "v", "p5", 3, TIMED),
    CostRow("vpermw", "v", "2*p5", 6, SCHEDULES, issue=2),
    CostRow("v(extract|insert)[if](128|32x4|64x2|32x8|64x4)", "xyi xzi yzi yxi zxi zyi", "p5", 3, TIMED),
    CostRow("vp?broadcast\\w+", "x", "p5", 1, TIMED),
    CostRow("vp?broadcast\\w+", "yx zx xr yr zr", "p5", 3, TIMED),
    CostRow("vpbroadcast[bw]", "xm", "p5", 2, f"{SCHEDULES}: a shuffle behind the load"),
    CostRow("vpbroadcast[bw]", "ym zm", "p5", 3, f"{SCHEDULES}: a shuffle behind the load"),
    CostRow("vp?broadcast([dq]|s[sd])", "ym zm", "", 2, f"{SCHEDULES}: the load alone, as long as one of all lanes"),
    CostRow("vp?broadcast\\w+", "xm ym zm", "", 1, f"{SCHEDULES}: the load alone"),
    CostRow("v?pmov[sz]x\\w+", "yx zx zy", "p5", 3, TIMED),
    CostRow("v?pmov[sz]x\\w+", "xm ym zm", "p5", 1, SCHEDULES),
    CostRow("v?mov[dq]", "rx", "p0", 2, _THERE_AND_BACK),
    CostRow("v?mov[dq]", "xr", "p5", 2, f"{_THERE_AND_BACK} is 4"),
    CostRow("v?pinsr[bwdq]", "xri", "2*p5", {"x": 1, "r": 3}, f"{_THERE_AND_BACK} is 6", issue=2),
    CostRow("v?pextr[bwdq]", "rxi", "p0 + p5", 3, _THERE_AND_BACK, issue=2),
    CostRow("v?pmovmskb|v?movmskp[sd]", "rx ry", "p0", 2, SCHEDULES),
    CostRow("v?ptest", "x y", "p0 + p5", 3, SCHEDULES, issue=2),
    CostRow("vpcompress[dq]|vpexpand[dq]", "x{k} y{k} z{k}", "2*p5", 3, TIMED, issue=2),
)

_MASKS = (
    CostRow("vptestn?m[bwdq]|vpcmpu?[bwdq]|vpcmp(eq|gt)u?[bwdq]", "kx ky kz kxi kyi kzi", "p5", 3, f"3: {RECALLED}"),
    CostRow("kmov[bwdq]", "kr", "p5", 1, _THERE_AND_BACK),
    CostRow("kmov[bwdq]", "rk", "p0", 3, f"{_THERE_AND_BACK} is 4"),
    CostRow("k(ortest|test)[bwdq]", "k", "p0", 3, SCHEDULES),
    CostRow("kmov[bwdq]|k(and|andn|or|xor|xnor|not)[bwdq]", "k", "p0", 1, TIMED),
    CostRow("kshift[lr][bwdq]|kunpck\\w+", "k ki", "p5", 4, TIMED),
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

FUSED = "(test|and) .*|(cmp|add|sub) j(?!n?[ops]$).*|(inc|dec) j(n?[elg]|[lg]e)"
"""What forms one operation with which branch: recalled from Fog's Microarchitecture (2023), not looked up."""
