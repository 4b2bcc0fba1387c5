"""Processors, a table each: latency, execution ports and issue slots of instructions, with the source of each row."""

from __future__ import annotations

from setwise.analysis.cost.processors.golden_cove import GOLDEN_COVE
from setwise.analysis.cost.processors.ice_lake import ICE_LAKE
from setwise.analysis.cost.processors.skylake_server import SKYLAKE_SERVER
from setwise.analysis.cost.processors.table import CostRow, Processor, UnknownCost
from setwise.analysis.cost.processors.zen3 import ZEN3
from setwise.analysis.cost.processors.zen4 import ZEN4
from setwise.analysis.cost.processors.zen5 import ZEN5

__all__ = ["PROCESSORS", "CostRow", "Processor", "UnknownCost", "processor"]

PROCESSORS = (SKYLAKE_SERVER, ICE_LAKE, GOLDEN_COVE, ZEN3, ZEN4, ZEN5)


def processor(name: str) -> Processor:
    """The processor of that name; ValueError for any other.

    >>> processor("zen4").title
    'AMD Zen 4'
    """
    known = {one.name: one for one in PROCESSORS}
    if name not in known:
        raise ValueError(f"no processor '{name}': use one of {', '.join(known)}")
    return known[name]
