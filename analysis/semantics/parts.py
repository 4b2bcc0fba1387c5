"""Types, conditions and constants of the semantics table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.state import Execution, Flag, Goto

Meaning = Callable[[Execution], Goto | None]
Condition = Callable[[Execution], Bits]
BinaryOperation = Callable[[Domain, Bits, Bits, int], Bits]

UNDEFINED: Mapping[str, Flag | None] = dict.fromkeys(("cf", "of", "sf", "zf", "pf", "af"))
"""All status flags, each undefined."""


def _less(x: Execution) -> Bits:
    return x.domain.xor(x.flag("sf"), x.flag("of"), 1)


def _opposite(condition: Condition, x: Execution) -> Bits:
    return x.domain.not_(condition(x), 1)


# The suffix in mnemonics of a condition, the suffix of its opposite, and the function that computes the condition.
_CONDITIONS: Sequence[tuple[str, str, Condition]] = (
    ("o", "no", lambda x: x.flag("of")),
    ("b", "ae", lambda x: x.flag("cf")),
    ("e", "ne", lambda x: x.flag("zf")),
    ("be", "a", lambda x: x.domain.or_(x.flag("cf"), x.flag("zf"), 1)),
    ("s", "ns", lambda x: x.flag("sf")),
    ("p", "np", lambda x: x.flag("pf")),
    ("l", "ge", _less),
    ("le", "g", lambda x: x.domain.or_(x.flag("zf"), _less(x), 1)),
)
CONDITIONS: Mapping[str, Condition] = {
    **{name: condition for name, _, condition in _CONDITIONS},
    **{opposite: partial(_opposite, condition) for _, opposite, condition in _CONDITIONS},
}


def zero() -> Bits:
    """Return 0, for a cleared flag."""
    return 0
