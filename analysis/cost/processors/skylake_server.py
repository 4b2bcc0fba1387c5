"""Skylake-SP and Cascade Lake: what they do not share with Ice Lake."""

from __future__ import annotations

from setwise.analysis.cost.processors.intel import FUSED, RECALLED, SHARED, VECTOR_LOADS
from setwise.analysis.cost.processors.table import Access, CostRow, Processor

_SCHEDULE = "LLVM 19, X86SchedSkylakeServer.td"
_TIMED = f"{_SCHEDULE}; timed, InstLatx64, GenuineIntel0050654_SkylakeX"
_ELIMINATED = "uiCA, microArchConfigs.py, SKL: moves of general registers eliminated"

_OWN = (
    CostRow("mov", "r", "", 0, _ELIMINATED),
    CostRow("movzx", "rb", "", 0, _ELIMINATED),
    CostRow("lea", "r[b] r[bd] r[bi] r[bs] r[s] r[sd] r[i] r[id] r[d] r[p]", "p15", 1, _TIMED),
    CostRow("lea", "r[bid] r[bsd]", "p1", 3, "timed, InstLatx64, GenuineIntel0050654_SkylakeX: three components"),
    CostRow("j\\w+", "taken r", "p6", 1, _SCHEDULE),
    CostRow("call", "none taken", "p6", 1, RECALLED, issue=2),
    CostRow("ret", "none taken", "p6", 1, RECALLED),
    CostRow("v?ps[lr]l[wdq]|v?psra[wdq]", "x", "p01 + p5", 1, f"{_TIMED}; from the count 2 cycles, left out", issue=2),
    CostRow("v?pblendw", "xi yi", "p5", 1, _SCHEDULE),
    CostRow("v?pmov[sz]x\\w+", "x", "p5", 1, _TIMED),
)

SKYLAKE_SERVER = Processor(
    name="skylake-server",
    title="Skylake-SP, Cascade Lake",
    width=4,
    loads={
        "r": Access("p23", 4, f"4 cycles with a small displacement and no index, else 5: {RECALLED}"),
        **VECTOR_LOADS,
    },
    stores={size: Access("p237 + p4", 0, _SCHEDULE) for size in "rsxyz"},
    scaled=1,
    forwards={"ss": 5, "xx": 5, "yy": 6, "": 4},
    taken={"": 1},
    fused=FUSED,
    rows=(*_OWN, *SHARED),
    sources=(
        "LLVM 19, X86SchedSkylakeServer.td, asked through llvm-mca: latencies, ports, operations; a test holds every "
        "row against it and names where we differ",
        "InstLatx64, GenuineIntel0050654_SkylakeX_InstLatX64.txt: timed latencies and throughputs, looked up for "
        "general arithmetic, lea, shifts, masks, 512 bits, and stores followed by loads (5 cycles, 6 for 256 bits)",
        "uiCA, microArchConfigs.py: four operations issued a cycle, moves eliminated",
        "Recalled, not looked up: fusion and one taken jump a cycle (Fog, Microarchitecture), 4 cycles for a load of a "
        "general register and for a store's value (Intel, Optimization Reference Manual)",
    ),
    closed=frozenset({"p1"}),
    splits=True,
)
