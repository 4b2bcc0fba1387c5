"""Ice Lake, client and server: what it does not share with Skylake-SP.

Moves between general registers are executed: a microcode update turned their elimination off. Moves between vector
registers are eliminated still. A second unit on p1 shuffles within 128 bits, but not everything.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.intel import FUSED, RECALLED, SHARED, VECTOR_LOADS
from setwise.analysis.cost.processors.table import Access, CostRow, Processor

_SCHEDULE = "LLVM 19, X86SchedIceLake.td"
_TIMED = f"{_SCHEDULE}; timed, InstLatx64, GenuineIntel00706E5_IceLakeY"
_BOTH = "InstLatx64, GenuineIntel00606A6_ICX and GenuineIntel00706E5_IceLakeY"
_MICROCODE = "uiCA, microArchConfigs.py, ICL: no slots to eliminate moves of general registers; OSACA, icx.yml: p0156"
_ADDRESS = "timed, InstLatx64, GenuineIntel00706E5_IceLakeY: four a cycle"
_JUMPS = "Fog, Microarchitecture, as copied in MzaxnaV/handmadehero_zig, misc/llvm_mca_outputs.md: jumps on p0 and p6"

_OWN = (
    CostRow("mov", "r", "p0156", 1, _MICROCODE),
    CostRow("movzx", "rb", "p0156", 1, _MICROCODE),
    CostRow("lea", "r[b] r[bd] r[bi] r[i] r[id] r[d] r[p] r[bid]", "p0156", 1, _ADDRESS),
    CostRow("lea", "r[bs] r[s] r[sd] r[bsd]", "p15", 1, _TIMED),
    CostRow("j\\w+", "taken r", "p06", 1, _JUMPS),
    CostRow("call", "none taken", "p06", 1, f"{_JUMPS}; {RECALLED}", issue=2),
    CostRow("ret", "none taken", "p06", 1, f"{_JUMPS}; {RECALLED}"),
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]", "x", "p01 + p15", 1, f"{_TIMED}; from the count 2 cycles, left out", issue=2),
    CostRow("v?pblendw", "xi yi", "p15", 1, _TIMED),
    CostRow("v?pmov[sz]x\\w+", "x xm", "p15", 1, _TIMED),
    CostRow("v?pshuf(d|lw|hw)|v?ps[lr]ldq|v?shufp[sd]", "xi yi", "p15", 1, _TIMED),
    CostRow("v?pshufb|v?punpck[lh]\\w+", "x y", "p15", 1, _TIMED),
    CostRow("v?gf2p8affineqb", "xi yi", "p01", 3, f"timed, {_BOTH}: two a cycle; LLVM 19 says p01 as well"),
    CostRow("vgf2p8affineqb", "zi", "p0", 3, f"timed, {_BOTH}: one a cycle; LLVM 19 has p05"),
)

ICE_LAKE = Processor(
    name="ice-lake",
    title="Ice Lake",
    width=5,
    loads={"r": Access("p23", 5, f"{_SCHEDULE}; OSACA, icx.yml; uiCA: no fast pointer chasing"), **VECTOR_LOADS},
    stores={size: Access("p78 + p49", 0, _SCHEDULE) for size in "rsxyz"},
    scaled=0,
    forwards={"ss": 5, "xx": 5, "": 0},
    taken={"": 1},
    fused=FUSED,
    rows=(*_OWN, *SHARED),
    sources=(
        "LLVM 19, X86SchedIceLake.td, asked through llvm-mca: latencies, ports, operations; a test holds every row "
        "against it and names where we differ",
        "InstLatx64, GenuineIntel00706E5_IceLakeY_InstLatX64.txt: timed latencies and throughputs, looked up for "
        "general arithmetic, lea, shifts, shuffles, masks, 512 bits, and stores followed by loads (5 cycles); its "
        "microcode still eliminated moves of general registers",
        "uiCA, microArchConfigs.py: five operations issued a cycle; moves of general registers not eliminated since a "
        "microcode update, those of vector registers still; OSACA, icx.yml, agrees",
        "Recalled, not looked up: fusion, and at most one taken jump a cycle (Fog, Microarchitecture)",
        "What a general load takes from a store that is under way depends; 0 cycles keep the figure a bound",
    ),
    closed=frozenset({"p1"}),
    splits=True,
)
