"""What cores from Zen 3 on have in common: the names of their ports, and rows of the integer units.

Ports: I0 to I3 the integer units, B0 the unit that only branches, A0 to A2 addresses, S0 and S1 data to be stored,
V0 and V1 loads into vector registers, F0 to F3 the vector units, F4 and F5 vector stores and moves to the general ones.
X0, on Zen 3 alone, is the way from one half of a vector register of 256 bits to the other.
"""

from __future__ import annotations

from setwise.analysis.cost.processors.table import CostRow

FUSED = "(test|and|or|xor|cmp|add|sub|inc|dec) .*"
"""What forms one operation with which branch."""

MOVES = "v?mov(dq[au](8|16|32|64)?|[au]p[sd])"
LOGIC = "v?p(and|andn|or|xor)[dq]?|v?(and|andn|or|xor)p[sd]"
SHIFT = "v?ps[lr]l[wdq]|v?psra[wdq]"
"""Mnemonics of vectors, AVX-512's among them."""


def integer(source: str) -> tuple[CostRow, ...]:
    """Rows that cost the same on all of them; `source` says who found it for this one."""
    return (
        CostRow("mov", "ri rI bi wi b w", "I0123", 1, source),
        CostRow("movzx|movsxd?", "r rb rw", "I0123", 1, source),
        CostRow("and|or|xor|add|sub|cmp|test", "r ri b bi w wi", "I0123", 1, source),
        CostRow("not|neg|inc|dec", "r b w", "I0123", 1, source),
        CostRow("cdqe|cwde|cqo|cdq", "none", "I0123", 1, source),
        CostRow("adc|sbb", "r ri", "I0123", 1, source),
        CostRow("shl|shr|sar|rol|ror", "ri rb", "I12", 1, source),
        CostRow("shld|shrd", "ri", "3*I12", 2, source, issue=4),
        CostRow("shlx|shrx|sarx", "r", "I12", 1, source),
        CostRow("rorx", "ri", "I12", 1, source),
        CostRow("andn|popcnt|lzcnt|bswap", "r", "I0123", 1, source),
        CostRow("bzhi|bextr", "r", "I12", 1, source),
        CostRow("pext|pdep", "r", "I1", 3, source),
        CostRow("imul", "r ri", "I1", 3, source),
        CostRow("mul", "r", "I1", 3, source, issue=2),
        CostRow("mulx", "r", "I1", 4, source, issue=2),
        CostRow("bt", "r ri", "I12", 1, source),
        CostRow("bts|btr|btc", "r ri", "2*I12", 2, source, issue=2),
        CostRow("cmov\\w+", "r", "I03", 1, source),
        CostRow("set\\w+", "b", "I03", 1, source),
        CostRow("lea", "r[b] r[bd] r[bi] r[bs] r[s] r[sd] r[i] r[id] r[d] r[p]", "I0123", 1, source),
        CostRow("lea", "r[bid] r[bsd]", "I0123", 2, f"{source}: two a cycle, on units not known"),
    )
