"""Helpers of the semantics table: bits, extensions, conditions and result flags."""

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


def bit(x: Execution, a: Bits, place: int, width: int) -> Bits:
    """Return bit number `place` of a value of `width` bits."""
    return x.domain.extract(a, place, 1, width)


def extend(x: Execution, a: Bits, width: int, to: int) -> Bits:
    """Return the value zero-extended from `width` to `to` bits."""
    return a if to == width else x.domain.concat(0, a, to - width, width)


def sign_extend(x: Execution, a: Bits, width: int, to: int) -> Bits:
    """Return the value sign-extended from `width` to `to` bits."""
    if to == width:
        return a
    above = x.domain.ite(bit(x, a, width - 1, width), (1 << (to - width)) - 1, 0, to - width)
    return x.domain.concat(above, a, to - width, width)


def concat_bits(x: Execution, bits: Sequence[Bits]) -> Bits:
    """Return a value as wide as the number of `bits`, which are its bits, the lowest first."""
    result = bits[0]
    for place, higher in enumerate(bits[1:], 1):
        result = x.domain.concat(higher, result, 1, place)
    return result


def is_zero(x: Execution, a: Bits, width: int) -> Bits:
    """Return 1 if the value is 0, else 0."""
    return x.domain.eq(a, 0, width)


def zero() -> Bits:
    """Return 0, for a cleared flag."""
    return 0


def result_flags(x: Execution, result: Bits, width: int) -> dict[str, Flag | None]:
    """Return functions that compute ZF, SF and PF of a result, by the flags' names in lower case."""

    def parity() -> Bits:
        odd: Bits = 1
        for place in range(8):
            odd = x.domain.xor(odd, bit(x, result, place, width), 1)
        return odd

    return {
        "zf": lambda: is_zero(x, result, width),
        "sf": lambda: bit(x, result, width - 1, width),
        "pf": parity,
    }


def put_result(x: Execution, result: Bits, width: int, **flags: Flag | None) -> None:
    """Write the result to the first operand, set ZF, SF and PF by it, then set `flags`, which take precedence."""
    x.put(0, result)
    x.set_flags({**result_flags(x, result, width), **flags})
