"""Ice Lake, client and server: no elimination of moves between general registers."""

from __future__ import annotations

from analysis.processors.table import Access, Processor, Row

_UOPS = "uops.info, Ice Lake; LLVM 19, schedule of icelake-server"
_FOG = "Fog, Instruction tables (2022), Ice Lake"
_RENAME = "Fog, Microarchitecture (2023), Ice Lake; uops.info, Ice Lake"
_ERRATUM = "Intel, erratum ICL065: a microcode update turned the elimination off (Abel 2021); uops.info, Ice Lake"
_MANUAL = "Intel Optimization Reference Manual (248966), Ice Lake Client"
_SHUFFLE = f"{_UOPS}; {_MANUAL}: a second unit, within 128 bits, on p1; taken for all that stay within 128 bits"
_WIDE = f"{_UOPS}; 512 bits on p0, which takes p1 with it, and p5: {_MANUAL}"

_GENERAL = (
    Row("xor|sub", "r=", "", 0, _RENAME, breaks=True),
    Row("mov", "r", "p0156", 1, _ERRATUM),
    Row("movzx", "rb", "p0156", 1, _ERRATUM),
    Row("mov", "ri rI bi wi b w", "p0156", 1, _UOPS),
    Row("movzx|movsxd?", "r rb rw", "p0156", 1, _UOPS),
    Row("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "p0156", 1, _UOPS),
    Row("not|neg|inc|dec", "r b w", "p0156", 1, _UOPS),
    Row("cdqe|cwde", "none", "p0156", 1, _UOPS),
    Row("cqo|cdq", "none", "p06", 1, _UOPS),
    Row("adc|sbb", "r ri", "p06", 1, _UOPS),
    Row("shl|shr|sar|rol|ror", "ri", "p06", 1, _UOPS),
    Row("shl|shr|sar|rol|ror", "rb", "2*p06", 1, f"{_FOG}; the operation for the flags is left out", issue=2),
    Row("shld|shrd", "ri", "p1", 3, _UOPS),
    Row("shlx|shrx|sarx", "r", "p06", 1, _UOPS),
    Row("rorx", "ri", "p06", 1, _UOPS),
    Row("andn|blsi|blsr|blsmsk|bzhi", "r", "p15", 1, _UOPS),
    Row("bextr", "r", "p06 + p15", 2, _UOPS, issue=2),
    Row("pext|pdep|popcnt|tzcnt|lzcnt|bsf|bsr", "r", "p1", 3, _UOPS),
    Row("imul", "r ri", "p1", 3, _UOPS),
    Row("mul|mulx", "r", "p1 + p5", 3, _UOPS, issue=2),
    Row("bt|bts|btr|btc", "r ri", "p06", 1, _UOPS),
    Row("bswap", "r", "p06 + p15", 2, _UOPS, issue=2),
    Row("cmova|cmovbe", "r", "2*p06", {"r": 1, "f": 2}, _UOPS, issue=2),
    Row("cmov\\w+", "r", "p06", 1, _UOPS),
    Row("seta|setbe", "b", "2*p06", 2, _UOPS, issue=2),
    Row("set\\w+", "b", "p06", 1, _UOPS),
    Row("xchg", "r", "3*p0156", 1, _UOPS, issue=3),
    Row("lea", "r[b] r[bd] r[bi] r[i] r[id] r[d] r[p]", "p0156", 1, f"{_MANUAL}: four units for addresses"),
    Row("lea", "r[bs] r[s] r[sd] r[bid] r[bsd]", "p15", 1, _UOPS),
)

_CONTROL = (
    Row("j\\w+", "taken r", "p06", 1, _UOPS),
    Row("j\\w+", "none", "p06", 1, _UOPS),
    Row("call", "none taken", "p06", 1, _FOG, issue=2),
    Row("ret", "none taken", "p06", 1, _FOG),
    Row("push|pop", "r i", "", 0, f"{_FOG}: the load or store alone, the stack engine keeps rsp"),
    Row("nop|endbr64", "none r w m", "", 0, _UOPS),
    Row("vzeroupper", "none", "", 0, _FOG, issue=4),
)

_MOVES = "v?mov(dq[au](8|16|32|64)?|[au]p[sd])"
_LOGIC = "v?p(and|andn|or|xor)[dq]?|v?(and|andn|or|xor)p[sd]"

_VECTOR = (
    Row(_MOVES, "v", "", 0, _RENAME),
    Row("v?pxor[dq]?|v?xorp[sd]|v?psub[bwdq]|v?pcmpgt[bwdq]", "v=", "", 0, _RENAME, breaks=True),
    Row("v?pcmpeq[bwdq]", "x= y=", "p01", 1, _RENAME, breaks=True),
    Row(_LOGIC, "x y", "p015", 1, _UOPS),
    Row(_LOGIC, "z", "p05", 1, _WIDE),
    Row("vpternlog[dq]", "xi yi", "p015", 1, _UOPS),
    Row("vpternlog[dq]", "zi", "p05", 1, _WIDE),
    Row("v?p(add|sub)[bwdq]", "x y", "p015", 1, _UOPS),
    Row("v?p(add|sub)[bwdq]", "z", "p05", 1, _WIDE),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]|vpro[lr][dq]", "xi yi", "p01", 1, _UOPS),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]|vpro[lr][dq]", "zi", "p0", 1, _WIDE),
    Row("vps[lr][la]v[dq]|vpro[lr]v[dq]", "x y", "p01", 1, _UOPS),
    Row("vps[lr][la]v[dq]|vpro[lr]v[dq]", "z", "p0", 1, _WIDE),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]", "x yx", "p01 + p5", {"x": 1}, _UOPS, issue=2),
    Row("v?ps[lr]l[wdq]|v?psra[wdq]", "zx", "p0 + p5", {"x": 1}, _WIDE, issue=2),
    Row("v?pcmpeq[bwdq]|v?pcmpgt[bwd]|v?p(min|max)[su][bwd]|v?pabs[bwd]", "x y", "p01", 1, _UOPS),
    Row("v?pcmpgtq", "x y", "p5", 3, _UOPS),
    Row("vpblendd", "xi yi", "p015", 1, _UOPS),
    Row("v?pblendw", "xi yi", "p5", 1, _UOPS),
    Row("vpblendvb", "x y", "2*p015", 2, _UOPS, issue=2),
    Row(f"{_MOVES}|vpblendm[bwdq]", "x{k} y{k}", "p015", 1, _UOPS),
    Row(f"{_MOVES}|vpblendm[bwdq]", "z{k}", "p05", 1, _WIDE),
    Row("v?pmuludq|v?pmullw", "x y", "p01", 5, _UOPS),
    Row("vpmullq", "x y", "3*p01", 15, _UOPS, issue=3),
    Row("vpmullq", "z", "3*p0", 15, _WIDE, issue=3),
)

_LANES = (
    Row("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]|v?palignr|v?ps[lr]ldq", "xi yi", "p15", 1, _SHUFFLE),
    Row("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]|v?palignr|v?ps[lr]ldq", "zi", "p5", 1, _SHUFFLE),
    Row("v?pshufb|v?p?unpck[lh]\\w+|vpermilp[sd]|v?movhlps|v?movlhps|v?movddup", "x y", "p15", 1, _SHUFFLE),
    Row("v?pshufb|v?p?unpck[lh]\\w+|vpermilp[sd]|v?movddup", "z", "p5", 1, _SHUFFLE),
    Row("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "p5", 1, _UOPS),
    Row("v?movq", "x", "p015", 1, _UOPS),
    Row("vpermq|vpermpd|vperm2i128|vperm2f128|vshuf[if](32x4|64x2)|valign[dq]", "xi yi zi", "p5", 3, _UOPS),
    Row("vperm[dqbw]|vperm[it]2[dq]|vpermps|vpermpd", "v", "p5", 3, _UOPS),
    Row("v(extract|insert)[if](128|32x4|64x2|32x8|64x4)", "xyi xzi yzi yxi zxi zyi", "p5", 3, _UOPS),
    Row("vp?broadcast\\w+", "x", "p5", 1, _UOPS),
    Row("vp?broadcast\\w+", "yx zx xr yr zr", "p5", 3, _UOPS),
    Row("vp?broadcast\\w+", "xm ym zm", "", 1, f"{_UOPS}: the load alone"),
    Row("v?pmov[sz]x\\w+", "x", "p5", 1, _UOPS),
    Row("v?pmov[sz]x\\w+", "yx zx zy", "p5", 3, _UOPS),
    Row("v?pmov[sz]x\\w+", "xm ym zm", "p5", 1, _UOPS),
    Row("v?mov[dq]", "rx", "p0", 2, _FOG),
    Row("v?mov[dq]", "xr", "p5", 2, _FOG),
    Row("v?pinsr[bwdq]", "xri", "2*p5", {"x": 1, "r": 3}, _UOPS, issue=2),
    Row("v?pextr[bwdq]", "rxi", "p0 + p5", 3, _UOPS, issue=2),
    Row("v?pmovmskb|v?movmskp[sd]", "rx ry", "p0", 2, _UOPS),
    Row("v?ptest", "x y", "p0 + p5", 3, _UOPS, issue=2),
    Row("vpcompress[dq]|vpexpand[dq]", "x{k} y{k} z{k}", "2*p5", 3, _UOPS, issue=2),
)

_MASKS = (
    Row("vptestn?m[bwdq]|vpcmpu?[bwdq]|vpcmp(eq|gt)u?[bwdq]", "kx ky kz kxi kyi kzi", "p5", 3, _UOPS),
    Row("kmov[bwdq]", "kr", "p5", 1, _UOPS),
    Row("kmov[bwdq]", "rk", "p0", 2, _UOPS),
    Row("kmov[bwdq]|k(and|andn|or|xor|xnor|not|ortest|test)[bwdq]", "k", "p0", 1, _UOPS),
    Row("kshift[lr][bwdq]|kunpck\\w+", "k ki", "p5", 4, _UOPS),
)

ICE_LAKE = Processor(
    name="ice-lake",
    title="Ice Lake",
    width=5,
    loads={
        "r": Access("p23", 5, f"{_MANUAL}, level 1 data cache"),
        "s": Access("p23", 5, _UOPS),
        "x": Access("p23", 6, _UOPS),
        "y": Access("p23", 7, _UOPS),
        "z": Access("p23", 7, _UOPS),
    },
    stores={size: Access("p78 + p49", 0, f"{_MANUAL}, store address and data") for size in "rsxyz"},
    scaled=0,
    forwards={"": 0},
    taken={"": 1},
    fused="test|and|cmp|add|sub|inc|dec",
    rows=(*_GENERAL, *_CONTROL, *_VECTOR, *_LANES, *_MASKS),
    sources=(
        f"{_MANUAL}: five operations renamed a cycle",
        "Fog, Microarchitecture (2023), Ice Lake: fusion, at most one taken jump a cycle",
        "What a load takes from a store that is under way depends; 0 cycles keep the figure a bound",
    ),
    closed=frozenset({"p1"}),
    splits=True,
)
