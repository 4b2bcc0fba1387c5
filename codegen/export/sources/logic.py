"""Three-input logic as expressions of and, or, xor and not, for languages without such an instruction."""

from collections.abc import Mapping
from functools import cache

_INPUTS = {0xF0: "a", 0xCC: "b", 0xAA: "c"}
"""The truth tables of the three inputs: bit 4a + 2b + c."""


def expression(truth: int) -> str:
    """Return a short, fully parenthesized expression of a, b and c with this truth table.

    >>> expression(0xF8), expression(0xE4), expression(0x10)
    ('(a | (b & c))', '(b ^ (c & (a ^ b)))', '(a & ~(b | c))')
    """
    return _expressions()[truth]


@cache
def _expressions() -> Mapping[int, str]:
    """Return an expression for each of the 256 truth tables, found by increasing number of operations."""
    expressions = dict(_INPUTS)
    levels: list[dict[int, str]] = [dict(_INPUTS)]
    while len(expressions) < 256:
        level: dict[int, str] = {}
        for truth, text in levels[-1].items():
            level.setdefault(~truth & 0xFF, f"~{text}")
        for at, lefts in enumerate(levels):
            for left, first in lefts.items():
                for right, second in levels[len(levels) - 1 - at].items():
                    for sign, truth in (("&", left & right), ("|", left | right), ("^", left ^ right)):
                        level.setdefault(truth, f"({first} {sign} {second})")
        levels.append({truth: text for truth, text in level.items() if truth not in expressions})
        expressions.update(levels[-1])
    return expressions
