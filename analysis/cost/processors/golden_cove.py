"""Golden Cove, the core of Sapphire, Emerald and (as Redwood Cove) Granite Rapids: what it shares with no older one.

Ports have Intel's numbers, but the tenth and eleventh, which are q0 and q1. Moves between registers of one file, small
numbers and what is added of them are a matter of renaming: six a cycle, which wait for nothing. Rows were measured on
a Granite Rapids; which ports share three a cycle (p1, p5, q0) is LLVM's, for timing tells only how many there are.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.intel import FUSED, SHARED
from setwise.analysis.cost.processors.table import Access, CostRow, Processor

_TIMED = "measured, Xeon of 2 MiB and 480 MiB of caches, Granite Rapids (2026-11-24)"
_SCHEDULE = "LLVM 19, X86SchedSapphireRapids.td"
_RENAMED = f"{_TIMED}: six a cycle, and none waits for the one before"
_SMALL = f"{_RENAMED}; so for numbers of a few bits, others take a port"
_THREE = f"{_TIMED}: three a cycle; {_SCHEDULE}: by these ports"
_CROSSING = f"{_TIMED}: the sum there and back"
_CALLS = "measured by setwise bench on the same processor"
_ROWS = f"{_TIMED}: rows of loads, at places of a line that differ"

_GENERAL = (
    CostRow("mov", "r ri rI", "", 0, _RENAMED),
    CostRow("movzx", "rb", "", 0, _RENAMED),
    CostRow("add|sub", "ri", "", 0, _SMALL),
    CostRow("inc|dec", "r", "", 0, _SMALL),
    CostRow("lea", "r[b] r[bd]", "", 0, _SMALL),
    CostRow("xor|sub", "r=", "", 0, _RENAMED, breaks=True),
    CostRow("lea", "r[bi] r[i] r[id] r[d] r[p] r[bid]", "p0156q0", 1, _TIMED),
    CostRow("lea", "r[bs] r[s] r[sd] r[bsd]", "p15q0", 2, _THREE),
    CostRow("mov", "bi wi b w", "p0156q0", 1, _SCHEDULE),
    CostRow("movsxd?", "r rb rw", "p15q0", 1, _THREE),
    CostRow("movzx|movsxd?", "r rw", "p0156q0", 1, _SCHEDULE),
    CostRow("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "p0156q0", 1, _TIMED),
    CostRow("not|neg|inc|dec", "r b w", "p0156q0", 1, _TIMED),
    CostRow("cdqe|cwde", "none", "p0156q0", 1, _SCHEDULE),
    CostRow("bzhi", "r", "p1", 1, _TIMED),
    CostRow("andn|blsi|blsr|blsmsk|bzhi", "r", "p15q0", 1, _THREE),
    CostRow("bt|bts|btr|btc", "r ri", "p1", 1, _TIMED),
    CostRow("bswap", "r", "p06 + p1", 2, f"{_TIMED}: of 64 bits", issue=2),
    CostRow("bextr", "r", "p06 + p1", 2, _TIMED, issue=2),
    CostRow("mulx", "r", "p1 + p5", 4, _TIMED, issue=2),
    CostRow("xchg", "r", "2*p0156q0", 1, f"{_TIMED}: one of three moves is renamed", issue=3),
    CostRow("vzeroupper", "none", "", 0, f"{_TIMED}: one a cycle", issue=6),
    CostRow("call", "none taken", "", 1, f"{_CALLS}: no port that shifts take, else six shifts took longer", issue=2),
    CostRow("j\\w+", "none taken r", "p06", 1, _SCHEDULE),
    CostRow("ret", "none taken", "p06", 1, _SCHEDULE),
)

_VECTOR = (
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]", "x", "p01 + p15", 1, f"{_TIMED}; from the count 2 cycles, left out", issue=2),
    CostRow("vpblendvb", "x y", "3*p015", 2, _TIMED, issue=3),
    CostRow("v?pblendw", "xi yi", "p15", 1, _TIMED),
    CostRow("v?pshuf(d|lw|hw)|v?ps[lr]ldq|v?shufp[sd]", "xi yi", "p15", 1, _TIMED),
    CostRow("v?pshufb|v?punpck[lh]\\w+", "x y", "p15", 1, _TIMED),
    CostRow("v?pmov[sz]x\\w+", "x xm", "p15", 1, _TIMED),
    CostRow("v?pinsr[bwdq]", "xmi", "p15", 1, _TIMED),
    CostRow("v?pinsr[bwdq]", "xri", "p5 + p15", {"x": 1, "r": 3}, _CROSSING, issue=2),
    CostRow("v?pextr[bwdq]", "rxi", "p0 + p15", 3, _CROSSING, issue=2),
    CostRow("vp?broadcast\\w+", "xr yr zr", "p5", 4, f"{_TIMED}: a cycle more than to move and spread 128 bits"),
    CostRow("v?ptest", "y", "p0 + p5", 5, _TIMED, issue=2),
    CostRow("v?gf2p8affineqb", "xi yi", "p01", 3, _TIMED),
    CostRow("vgf2p8affineqb", "zi", "p0", 3, _TIMED),
    CostRow("kmov[bwdq]", "kr", "p5", 2, f"{_CROSSING}, half of it"),
    CostRow("kmov[bwdq]", "rk", "p0", 2, f"{_CROSSING}, half of it"),
)

GOLDEN_COVE = Processor(
    name="golden-cove",
    title="Golden Cove",
    width=6,
    loads={
        "r": Access("p23q1", 5, f"{_ROWS}: three a cycle"),
        "s": Access("p23q1", 6, f"{_ROWS}: three a cycle"),
        "x": Access("p23q1", 6, f"{_ROWS}: three a cycle"),
        "y": Access("p23q1", 7, f"{_ROWS}: three a cycle"),
        "z": Access("p23", 7, f"{_ROWS}: two a cycle"),
    },
    stores={
        **{size: Access("p78 + p49", 0, f"{_TIMED}: two a cycle") for size in "rsxy"},
        "z": Access("p78 + 2*p49", 0, f"{_TIMED}: one a cycle"),
    },
    scaled=0,
    forwards={"ss": 7, "xx": 7, "yy": 8, "zz": 6, "sr": 5, "xr": 5, "yr": 4, "zr": 4, "rs": 6, "": 0},
    taken={"": 1, "call": 1.75, "return": 1.75},
    fused=FUSED,
    rows=(*_GENERAL, *_VECTOR, *SHARED),
    sources=(
        f"{_TIMED}: nearly all rows, and loads and stores. It gives itself out for model 167 and has AMX, which of "
        "Intel's family 6 only these cores have; caches and 64 KiB for instructions are Granite Rapids'",
        f"{_SCHEDULE}: which ports there are, jumps, and rows where it stands by them",
        "Rows for both of Ice Lake and Skylake-SP, where nothing else was measured",
        f"{_CALLS}: a call and its return take 3.5 cycles, however little is between",
        "What a general load takes from a store that is under way depends; 0 cycles keep the figure a bound",
    ),
    closed=frozenset({"p1"}),
    splits=True,
)
