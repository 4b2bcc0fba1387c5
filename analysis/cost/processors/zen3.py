"""Zen 3. `zen` names the ports.

Where LLVM differs and no published figure exists, the ports of a form were measured on the processor, by timing forms
beside each other. Their numbers are ours where timing cannot tell two of them apart.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.table import Access, CostRow, Processor
from setwise.analysis.cost.processors.zen import FUSED, integer

_SCHEDULE = "LLVM 19, X86ScheduleZnver3.td"
_FILE = "InstLatx64, AuthenticAMD0A20F10_K19_Vermeer2"
_TIMED = f"{_SCHEDULE}; timed, {_FILE}"
_GUIDE = "AMD, Software Optimization Guide for Family 19h (56665), as LLVM quotes it"
_RENAMED = f"{_GUIDE}, 2.9.4; timed, {_FILE}"
_MEASURED = "measured, EPYC of family 25, model 1 (2026-11-22)"
_RECALLED = "recalled from Fog's Instruction tables (2022), not looked up"
_PARTED = f"{_MEASURED}: 6 cycles there and back, one a cycle each way; parted as on Zen 4"
_THROUGH_LANES = f"{_MEASURED}: 8 cycles there and back, with a shuffle each way"
_CROSSING = f"{_MEASURED}: the units of 64-bit compares, and one a cycle between the halves"

_GENERAL = (
    CostRow("mov", "r", "", 0, _RENAMED),
    CostRow("xchg", "r", "", 0, _RENAMED, issue=2),
    CostRow("xor|sub", "r=", "", 0, _TIMED, breaks=True),
    CostRow("lea", "r[b]", "", 0, f"{_MEASURED}: as a move"),
    CostRow("lea", "r[bid] r[bsd]", "I0123 + I12", 1, f"{_MEASURED}: from the base 2, from the index 1", issue=2),
    *integer(_TIMED),
    CostRow("blsi|blsr|blsmsk", "r", "2*I0123", 2, _TIMED, issue=2),
    CostRow("tzcnt", "r", "I0123 + I12", 2, _MEASURED, issue=2),
    CostRow("bsf", "r", "3*I1", 3, _TIMED, issue=6),
    CostRow("bsr", "r", "4*I1", 4, _TIMED, issue=6),
)

_CONTROL = (
    CostRow("j\\w+", "taken r none", "I0B0", 1, f"{_SCHEDULE}; {_GUIDE}, 2.10.2: two branch units"),
    CostRow("call", "none taken", "I0B0", 1, _RECALLED, issue=2),
    CostRow("ret", "none taken", "I0B0", 1, _RECALLED),
    CostRow("push|pop", "r i", "", 0, f"the load or store alone, the stack engine keeps rsp: {_RECALLED}"),
    CostRow("nop|endbr64", "none r w m", "", 0, f"{_MEASURED}: six a cycle"),
    CostRow("vzeroupper", "none", "", 0, f"{_MEASURED}: six a cycle"),
)

_MOVES = "v?mov(dq[au]|[au]p[sd])"
_LOGIC = "v?p(and|andn|or|xor)|v?(and|andn|or|xor)p[sd]"
_SHIFT = "v?ps[lr]l[wdq]|v?psra[wd]"

_VECTOR = (
    CostRow(_MOVES, "x y", "", 0, _RENAMED),
    CostRow("vpxor|vxorp[sd]|vpsub[bwdq]|vpcmpgt[bwdq]", "x= y=", "", 0, f"{_TIMED}; {_MEASURED}", breaks=True),
    CostRow("pxor|xorp[sd]|psub[bwdq]|pcmpgt[bwdq]", "x=", "F0123", 1, f"{_MEASURED}: four a cycle", breaks=True),
    CostRow("v?pcmpeqq", "x= y=", "F01", 1, _TIMED, breaks=True),
    CostRow("v?pcmpeq[bwd]", "x= y=", "F0123", 1, _TIMED, breaks=True),
    CostRow(_LOGIC, "x y", "F0123", 1, _TIMED),
    CostRow("v?p(add|sub)[bwdq]", "x y", "F0123", 1, _TIMED),
    CostRow(_SHIFT, "xi yi x yx", "F12", 1, _TIMED),
    CostRow("vps[lr]lv[dq]|vpsravd", "x y", "F12", 1, _TIMED),
    CostRow("v?pcmpeqq", "x y", "F01", 1, _TIMED),
    CostRow("v?pcmp(eq|gt)[bwdq]|v?p(min|max)[su][bwd]", "x y", "F0123", 1, _TIMED),
    CostRow("v?pabs[bwd]", "x y", "F01", 1, _TIMED),
    CostRow("vpblendd|v?pblendw", "xi yi", "F0123", 1, _TIMED),
    CostRow("vpblendvb", "x y", "F01 + F45", 1, _MEASURED),
    CostRow("v?pmuludq|v?pmullw", "x y", "F03", 3, _TIMED),
)

_LANES = (
    CostRow("v?pshuf(d|lw|hw)|v?shufp[sd]|vpermilp[sd]|v?palignr|v?ps[lr]ldq", "xi yi", "F12", 1, _TIMED),
    CostRow("v?pshufb|v?p?unpck[lh]\\w+|v?movhlps|v?movlhps|v?movddup", "x y", "F12", 1, _TIMED),
    CostRow("vpermilp[sd]", "x y", "F01", 3, _MEASURED),
    CostRow("v?mov[hl]p[sd]|v?pinsr[bwdq]", "xm xmi", "F12", 1, f"{_MEASURED}: a shuffle behind the load"),
    CostRow("v?movq", "x", "F0123", 1, _SCHEDULE),
    CostRow("vpermq|vpermpd", "yi", "F1", 6, f"{_TIMED}: 6.5 cycles", issue=2),
    CostRow(
        "vpermd|vpermps",
        "y",
        "F12",
        3,
        f"{_MEASURED}: from the indices 3, from the lanes 8.5; 1.3 cycles each",
        issue=2,
    ),
    CostRow("vperm2i128|vperm2f128", "yi", "F01 + X0", 3, f"{_CROSSING}; 3.5 cycles"),
    CostRow("vextract[if]128", "xyi", "F01 + X0", 3, f"{_CROSSING}; 3.5 cycles"),
    CostRow("vinsert[if]128", "yxi", "F01 + X0", 1, f"{_CROSSING}; 1.9 cycles"),
    CostRow("vp?broadcast\\w+", "x", "F12", 1, _TIMED),
    CostRow("vp?broadcast\\w+", "yx", "F01 + X0", 1, f"{_CROSSING}; 1.9 to 2.1 cycles"),
    CostRow("vp?broadcast\\w+", "xm ym", "", 0, f"{_MEASURED}: the load alone"),
    CostRow("v?pmov[sz]x\\w+", "x xm", "F12", 1, _SCHEDULE),
    CostRow("v?pmov[sz]x\\w+", "yx ym", "2*F12", 4, f"{_TIMED}: 4.3 cycles", issue=2),
    CostRow("v?mov[dq]", "rx", "I2 + F5", 2, _PARTED),
    CostRow("v?mov[dq]", "xr", "I03 + F2", 4, _PARTED),
    CostRow("v?pinsr[bwdq]", "xri", "I03 + F2 + F12", {"x": 1, "r": 5}, _THROUGH_LANES, issue=2),
    CostRow("v?pextr[bwdq]", "rxi", "I2 + F5 + F12", 3, _THROUGH_LANES, issue=2),
    CostRow("v?pmovmskb", "rx", "I2 + F5", 2, _PARTED),
    CostRow("v?pmovmskb", "ry", "I2 + F5", 4, _MEASURED),
    CostRow("v?movmskp[sd]", "rx", "I0 + F45", 2, _PARTED),
    CostRow("v?movmskp[sd]", "ry", "I0 + F45", 4, _MEASURED),
    CostRow("v?ptest", "x", "I0 + F45 + F12", 3, _MEASURED, issue=2),
    CostRow("v?ptest", "y", "I0 + F45 + F12", 5, _MEASURED, issue=2),
)

_STORE = "A012 + 2*S01 + F45"

ZEN3 = Processor(
    name="zen3",
    title="AMD Zen 3",
    width=6,
    loads={
        "r": Access("A012", 4, f"{_GUIDE}, 2.12: three loads a cycle; timed, {_FILE}"),
        **{size: Access("A012 + V01", 7, f"{_GUIDE}, 2.12; timed, {_FILE}: two a cycle") for size in "sxy"},
    },
    stores={
        "r": Access("A012 + S01", 0, f"{_GUIDE}, 2.12: two stores a cycle; timed, {_FILE}"),
        **{size: Access(_STORE, 0, f"{_GUIDE}, 2.11: one vector store a cycle; timed, {_FILE}") for size in "sxy"},
    },
    scaled=0,
    forwards={"ss": 9, "xx": 9, "yy": 10, "sr": 6, "xr": 6, "yr": 7, "rs": 9, "": 0},
    taken={"": 1, "call": 2, "return": 2},
    fused=FUSED,
    rows=(*_GENERAL, *_CONTROL, *_VECTOR, *_LANES),
    line=64,
    sources=(
        "LLVM 19, X86ScheduleZnver3.td, asked through llvm-mca: latencies, ports, operations; a test holds every row "
        "against it and names where we differ",
        f"{_MEASURED}: what LLVM has otherwise, moves between files, crossings of halves, loads with a shuffle, "
        "and loads of what was just stored from or to vector registers",
        f"{_FILE}_InstLatX64.txt: timed latencies and throughputs, looked up for nearly all rows, and stores of vector "
        "registers followed by loads (9 cycles)",
        f"{_GUIDE}: six macro-operations dispatched a cycle (2.9.6), moves (2.9.4), units (2.10.2, 2.11.1), loads and "
        "stores (2.12)",
        "measured by setwise bench on the same processor: fetching takes 2 cycles behind a call or return, 1 a line of "
        "code, as on Zen 4: short routines take most of a cycle more where they are longer than 64 bytes",
        "Recalled, not looked up: fusion of branches, and at most one taken branch a cycle",
        "What a general load takes from a store that is under way depends; 0 cycles keep the figure a bound",
    ),
)
