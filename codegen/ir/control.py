"""Structured control in descriptions: loops, conditionals and switches as regions, and lookup tables.

>>> def cycle(gen, flood):
...     return gen >> 8, flood | gen
>>> _, flood = while_(lambda gen, _: nonzero(gen), cycle, constant(1 << 16), constant(0))
>>> hex(flood.number)
'0x10101'
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Literal

from setwise.codegen.ir.bit_words import chosen
from setwise.codegen.ir.numbers import integer
from setwise.codegen.ir.operations import ALL, WRITES
from setwise.codegen.ir.values import Condition, Region, Value, constant

Body = Callable[..., tuple[Value | int, ...]]

ROUNDS_DECIDED = 1 << 10
"""The most iterations over constants that run at code generation. Of more, `while_` emits the rest, `repeat` all."""

_ONE_LANE = 'unite directions by layout.union, or for boards write @setwise.routine(isas=["x86-64", "bmi2"])'

SIGN = 1 << 63
"""The bound below which an unsigned number is non-negative as a signed one."""


def nonzero(value: Value) -> Condition:
    """Return the condition that a value is not zero."""
    return _condition_on("nonzero", value)


def equal(value: Value, other: Value | int) -> Condition:
    """Return the condition that two values are equal."""
    return below(value ^ other, 1)


def below(value: Value, bound: Value | int) -> Condition:
    """Return the condition that an unsigned value is below `bound`: a value, or a number 1 to 2**31 - 1 or 2**63."""
    if isinstance(bound, Value):
        return nonzero(value.less(bound))
    return _condition_on("below", value, _bound(bound))


def at_least(value: Value, bound: Value | int) -> Condition:
    """Return the condition that an unsigned value is at least `bound`, a value or number as `below` takes it."""
    if isinstance(bound, Value):
        return equal(value.less(bound), 0)
    return _condition_on("at-least", value, _bound(bound))


def select(choice: Value | Condition, one: Value | int, other: Value | int) -> Value:
    """Return `one` where the choice is a condition that holds or a mask of ones, else `other`, without a branch."""
    return chosen(choice if isinstance(choice, Value) else mask_of(choice), one, other)


def mask_of(condition: Condition) -> Value:
    """Return all ones if the condition holds, else 0."""
    value, bound = condition.value, condition.bound
    mask = value.is_empty() if condition.kind == "nonzero" or bound == 1 else value.less(bound)
    return mask if condition.kind == "below" else ~mask


def _bound(bound: int) -> int:
    if not 0 < bound < 1 << 31 and bound != SIGN:
        raise ValueError(f"a bound must be from 1 to 2**31 - 1, or 2**63, not {bound}")
    return bound


def _condition_on(kind: Literal["nonzero", "below", "at-least"], value: Value, bound: int = 0) -> Condition:
    if value.lanes != 1:
        raise ValueError(f"a condition tests one lane, not {value.lanes}: unite the lanes first, by layout.union")
    return Condition(kind, value, bound)


def _results(region: Region) -> tuple[Value, ...]:
    return tuple(Value("result", attr=i, lanes=phi.lanes, region=region) for i, phi in enumerate(region.phis[0]))


def _phis(carried: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(Value("phi", attr=i, lanes=value.lanes) for i, value in enumerate(carried))


def _loop(condition: Callable[..., Condition], body: Body, carried: tuple[Value, ...]) -> tuple[Value, ...]:
    phis = _phis(carried)
    nexts, effects = _traced(body, phis)
    return _results(Region("loop", carried, (phis,), (nexts,), (effects,), condition=condition(*nexts)))


def _traced(body: Body, carried: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Trace a body and return its next values and its writes.

    Raise ValueError unless the body returns a tuple whose next values match the carried ones in number and lanes.
    """
    returned = body(*carried)
    if not isinstance(returned, tuple):
        raise ValueError("repeat, while_, when and switch take functions that return tuples: write `return (gen,)`")
    values = tuple(map(_value, returned))
    writes = tuple(value for value in values if value.op in WRITES)
    nexts = tuple(value for value in values if value.op not in WRITES)
    if len(nexts) != len(carried):
        raise ValueError(f"return {len(carried)} values from this loop, when or switch, not {len(nexts)}")
    for before, after in zip(carried, nexts, strict=True):
        if before.lanes != after.lanes:
            change = f"from {before.lanes} to {after.lanes} in this loop, when or switch"
            raise ValueError(f"the lanes of a value change {change}: for a constant c write board & 0 | c")
    return nexts, writes


def _evaluated(body: Body, carried: tuple[Value, ...]) -> tuple[Value, ...]:
    """Run a body at code generation and return its next values. Raise ValueError if it writes memory."""
    nexts, writes = _traced(body, carried)
    if writes:
        raise ValueError("arrays are written only when the code runs: let condition, index or start use a parameter")
    return nexts


def _condition(condition: Condition) -> Condition:
    if not isinstance(condition, Condition):
        given = type(condition).__name__
        raise ValueError(
            f"a condition must come from nonzero, equal, below or at_least, not {given}: write nonzero(board)"
        )
    return condition


def _value(value: Value | int) -> Value:
    if isinstance(value, tuple) and any(isinstance(one, Value) for one in value):
        raise TypeError("loops, when and switch take values one by one, as in when(test, body, a, b), not in a tuple")
    return value if isinstance(value, Value) else constant(value)


def while_(condition: Callable[..., Condition], body: Body, *start: Value | int) -> tuple[Value, ...]:
    """Run `body` while `condition` holds, and return the final carried values, which begin as `start`.

    Both take the carried values. The body returns a tuple of the next ones, then its stores. While the condition is
    constant, iterations run at code generation, at most ROUNDS_DECIDED of them.
    """
    carried = tuple(map(_value, start))
    decided = _condition(condition(*carried)).decided
    for _ in range(ROUNDS_DECIDED):
        if not decided:
            break
        following = _evaluated(body, carried)
        decided = condition(*following).decided
        if decided is None:
            break
        carried = following
    if decided is False:
        return carried
    if condition(*carried).decided:
        return _loop(condition, body, carried)
    return when(condition(*carried), lambda *inner: _loop(condition, body, inner), *carried)


def repeat(count: int, body: Body, *start: Value | int) -> tuple[Value, ...]:
    """Run `body` exactly `count` times, as a loop with a counter. Start values, body and results are as for `while_`.

    If all start values are constant and `count` is at most ROUNDS_DECIDED, the loop runs at code generation.
    """
    count = integer(count, "the count of repeat", 0, ALL, ": for a count that a board gives use while_")
    carried = tuple(map(_value, start))
    if count == 0 or (count <= ROUNDS_DECIDED and all(value.constant is not None for value in carried)):
        for _ in range(count):
            carried = _evaluated(body, carried)
        return carried

    def counted(*values: Value) -> tuple[Value, ...]:
        left = values[-1]
        left -= 1
        nexts, writes = _traced(body, values[:-1])
        return (*nexts, left, *writes)

    return _loop(lambda *values: nonzero(values[-1]), counted, (*carried, constant(count)))[:-1]


def when(condition: Condition, body: Body, *carried: Value) -> tuple[Value, ...]:
    """Return the next values, `body(*carried)`, if `condition` holds, else the carried values."""
    carried = tuple(map(_value, carried))
    if _condition(condition).decided is not None:
        return _evaluated(body, carried) if condition.decided else carried
    phis = _phis(carried)
    nexts, effects = _traced(body, phis)
    return _results(Region("when", carried, (phis,), (nexts,), (effects,), condition=condition))


def switch(index: Value, bodies: Sequence[Body], *carried: Value, falls: bool = False) -> tuple[Value, ...]:
    """Run body number `index` on the carried values, with `falls` also the bodies after it. Return the final values.

    The index must be below the number of bodies: a constant raises ValueError, emitted code does not check.
    """
    carried = tuple(map(_value, carried))
    if index.lanes != 1:
        raise ValueError(f"the index of a switch must have one lane, not {index.lanes}: {_ONE_LANE}")
    if index.constant is not None:
        _below(index.number, len(bodies), "functions")
        for body in bodies[index.number :] if falls else bodies[index.number : index.number + 1]:
            carried = _evaluated(body, carried)
        return carried
    if not bodies:
        raise ValueError("a switch needs at least one function")
    phis = tuple(_phis(carried) for _ in bodies)
    traced = [_traced(body, values) for body, values in zip(bodies, phis, strict=True)]
    nexts, effects = tuple(zip(*traced, strict=True))
    return _results(Region("switch", carried, phis, nexts, effects, index=index, falls=falls))


def _below(number: int, count: int, what: str) -> int:
    if number >= count:
        raise ValueError(f"there is no number {number} among {count} {what}: choose 0 to {count - 1}")
    return number


def table(values: Iterable[int], index: Value, size: int = 8) -> Value:
    """Return entry number `index` of a read-only table of unsigned integers of `size` bytes (1, 4 or 8).

    The index must be below the number of entries: a constant raises ValueError, emitted code does not check.
    """
    if size not in (1, 4, 8):
        raise ValueError(f"entries of a table have 1, 4 or 8 bytes, not {size}")
    if isinstance(values, Mapping | Set):
        raise TypeError(f"the entries of a table need an order, which a {type(values).__name__} lacks: give a list")
    more = ": for boards of a description use switch" if size == 8 else ": give size=8"
    entries = tuple(integer(entry, f"an entry of {size} bytes", 0, (1 << 8 * size) - 1, more) for entry in values)
    if not entries:
        raise ValueError("a table must have at least one entry")
    if index.lanes != 1:
        raise ValueError(f"the index of a table must have one lane, not {index.lanes}: {_ONE_LANE}")
    if index.constant is not None:
        return constant(entries[_below(index.number, len(entries), "entries")])
    return Value("table", (index,), attr=(entries, size))
