"""Structured control in descriptions: loops, conditionals and switches as regions, and lookup tables.

In lanes, each has the meaning that it has for every lane alone. A loop runs until the condition has failed in all
lanes, and a lane in which it has failed keeps its values. A conditional or a switch computes all bodies, and selects by
lane. A table is read for each lane.

>>> def cycle(gen, flood):
...     return gen >> 8, flood | gen
>>> _, flood = while_(lambda gen, _: nonzero(gen), cycle, constant(1 << 16), constant(0))
>>> hex(flood.number)
'0x10101'
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextvars import ContextVar
from functools import partial
from typing import Any

from setwise.codegen.ir.bit_words import chosen
from setwise.codegen.ir.graph import Graph, cse, postorder
from setwise.codegen.ir.numbers import integer
from setwise.codegen.ir.operations import ALL, SIGN, WRITES
from setwise.codegen.ir.values import Condition, MixedLanes, Region, Value, constant, in_lanes, lifted, reshaped

Body = Callable[..., tuple[Value | int, ...]]
Test = Callable[..., Condition]

ROUNDS_DECIDED = 1 << 10
"""The most iterations over constants that run at code generation. Of more, `while_` emits the rest, `repeat` all."""

_LIVE: ContextVar[tuple[Value, ...]] = ContextVar("live", default=())
"""A mask for each traced body around, if it is in lanes: all ones in the lanes whose values the body changes."""


def nonzero(value: Value) -> Condition:
    """Return the condition that a value is not zero."""
    return at_least(value, 1)


def equal(value: Value, other: Value | int) -> Condition:
    """Return the condition that two values are equal."""
    return below(value ^ other, 1)


def below(value: Value, bound: Value | int) -> Condition:
    """Return the condition that an unsigned value is below `bound`: a value, or a number 1 to 2**31 - 1 or 2**63."""
    if isinstance(bound, Value):
        return nonzero(value.less(bound))
    return Condition("below", value, _bound(bound))


def at_least(value: Value, bound: Value | int) -> Condition:
    """Return the condition that an unsigned value is at least `bound`, a value or number as `below` takes it."""
    if isinstance(bound, Value):
        return equal(value.less(bound), 0)
    return Condition("at-least", value, _bound(bound))


def select(choice: Value | Condition, one: Value | int, other: Value | int) -> Value:
    """Return `one` where the choice is a condition that holds or a mask of ones, else `other`, without a branch."""
    return chosen(choice if isinstance(choice, Value) else mask_of(choice), one, other)


def mask_of(condition: Condition) -> Value:
    """Return all ones if the condition holds, else 0."""
    value, bound = condition.value, condition.bound
    mask = value.is_empty() if bound == 1 else value.less(bound)
    return mask if condition.kind == "below" else ~mask


def _bound(bound: int) -> int:
    if not 0 < bound < 1 << 31 and bound != SIGN:
        raise ValueError(f"a bound must be from 1 to 2**31 - 1, or 2**63, not {bound}")
    return bound


def _region(bodies: Sequence[Body], *carried: Value, test: Test | None = None, **kind: Any) -> tuple[Value, ...]:
    """Return the results of a new region, the bodies of which are traced. `test` takes the next values of the first."""
    phis = tuple(tuple(Value("phi", attr=i, lanes=value.lanes) for i, value in enumerate(carried)) for _ in bodies)
    traced = [_traced(body, values) for body, values in zip(bodies, phis, strict=True)]
    nexts, effects = tuple(zip(*traced, strict=True))
    asked = None if test is None else test(*nexts[0])
    if asked is not None and kind["kind"] == "loop" and _LIVE.get():
        asked = nonzero(_live(asked.value if asked.nonzero else mask_of(asked)))
    region = Region(inits=carried, phis=phis, bodies=nexts, effects=effects, condition=asked, **kind)
    return tuple(Value("result", attr=i, lanes=value.lanes, region=region) for i, value in enumerate(carried))


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
        if after.lanes not in (1, before.lanes):
            change = f"from {before.lanes} to {after.lanes} in this loop, when or switch"
            raise MixedLanes(f"the lanes of a value change {change}: for a constant c write board & 0 | c", after.lanes)
    return tuple(_spread(after, before.lanes) for before, after in zip(carried, nexts, strict=True)), writes


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
    return lifted(value)


# ---- In lanes


def _live(value: Value) -> Value:
    """Return a value, with 0 in lanes in which the results of a body around do not count: those may hold anything."""
    for mask in _LIVE.get():
        united = mask if mask.lanes == value.lanes else mask_of(nonzero(reshaped("unite", mask)))
        value &= _spread(united, value.lanes)
    return value


def _spread(value: Value, lanes: int) -> Value:
    """Return a value with this number of lanes. One lane is broadcast; raise ValueError for any other number."""
    return reshaped("broadcast", value, lanes) if value.lanes == 1 < lanes else in_lanes(value, lanes)


def _widened(made: Callable[..., tuple[Value, ...]], carried: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return `made` of the carried values. If that fails for want of lanes, give as many to constants of one lane."""
    try:
        return made(*carried)
    except MixedLanes as error:
        narrow, lanes = [value.constant is not None and value.lanes == 1 for value in carried], error.lanes
        if not any(narrow):
            raise
    return made(*(_spread(value, lanes) if one else value for value, one in zip(carried, narrow, strict=True)))


def _masked(mask: Value, body: Body, carried: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return a body's next values, which count in the lanes of a mask. Raise ValueError if it writes memory."""
    token = _LIVE.set((*_LIVE.get(), mask))
    try:
        nexts, writes = _traced(body, carried)
    finally:
        _LIVE.reset(token)
    if writes:
        raise ValueError("a body in lanes cannot write memory, since not all lanes may run it: write after it")
    return nexts


def _all_chosen(mask: Value, some: Iterable[Value], others: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(chosen(mask, one, other) for one, other in zip(some, others, strict=True))


def _loop_in_lanes(condition: Test, body: Body, carried: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return the results of a loop that runs while the condition holds in some lane, and keeps those of other lanes."""

    def keeping(mask: Value, *values: Value) -> tuple[Value, ...]:
        made = _masked(mask, body, values)
        kept = map(all, zip(*(_kept(condition, body, state) for state in (carried, made)), strict=True))
        nexts = tuple(a if keeps else chosen(mask, a, b) for a, b, keeps in zip(made, values, kept, strict=True))
        return mask_of(condition(*nexts)), *nexts

    def some(mask: Value, *values: Value) -> Condition:
        asked = condition(*values)
        return asked if asked.nonzero else nonzero(mask)

    first = _spread(mask_of(condition(*carried)), carried[0].lanes)
    return _region([keeping], first, *carried, kind="loop", test=some)[1:]


def _kept(condition: Test, body: Body, state: Sequence[Value]) -> list[bool]:
    """Return for each value of a state whether the body keeps it by itself in lanes in which the condition fails.

    In such a lane a value that was asked not to be 0 is 0, and if it is a difference of two values, they are equal.
    The body is traced once more for this question. A loop inside does not ask it then: its results are new values.
    """
    if any(mask.constant is not None for mask in _LIVE.get()):
        return [False] * len(state)
    asked = condition(*state)
    *state, tested = cse(Graph((), (*state, asked.value))).results
    ended = constant(0, tested.lanes)
    equal = {tested: ended} if asked.nonzero else {}
    if equal and tested.op == "xor":
        *_, later = postorder(tested.args)
        equal[later] = tested.args[later is tested.args[0]]
    given = [equal.get(value, value) for value in state]
    shared = cse(Graph((), (*_masked(ended, body, tuple(given)), *given, *state))).results
    return [one in {*shared[at + len(state) :: len(state)]} for at, one in enumerate(shared[: len(state)])]


def _switch_in_lanes(
    index: Value, bodies: Sequence[Body], carried: tuple[Value, ...], falls: bool
) -> tuple[Value, ...]:
    """Return the values of a switch: the bodies in order, each selected in the lanes that enter it."""
    found = carried
    for number, body in enumerate(bodies):
        entered = mask_of(below(index, number + 1) if falls else equal(index, number))
        nexts = _masked(entered, body, found if falls else carried)
        always = number == (len(bodies) - 1 if falls else 0)  # no other body of a switch is in its place
        found = nexts if always else _all_chosen(entered, nexts, found)
    return found


# ---- Control for descriptions


def while_(condition: Test, body: Body, *start: Value | int) -> tuple[Value, ...]:
    """Run `body` while `condition` holds, and return the final carried values, which begin as `start`.

    Both take the carried values. The body returns a tuple of the next ones, then its stores. In lanes the body runs
    until the condition has failed in every lane, and a lane in which it has failed keeps its values. While the
    condition is constant, iterations run at code generation, at most ROUNDS_DECIDED of them.
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

    def entered(*values: Value) -> tuple[Value, ...]:
        first = condition(*values)
        if first.value.lanes > 1:
            return _loop_in_lanes(condition, body, tuple(_spread(value, first.value.lanes) for value in values))
        loop = partial(_region, [body], kind="loop", test=condition)
        return loop(*values) if first.decided else _region([loop], *values, kind="when", test=lambda *_: first)

    return _widened(entered, carried)


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

    loop = partial(_region, [counted], kind="loop", test=lambda *values: nonzero(values[-1]))
    return _widened(lambda *values: loop(*values, constant(count))[:-1], carried)


def when(condition: Condition, body: Body, *carried: Value) -> tuple[Value, ...]:
    """Return the next values, `body(*carried)`, if `condition` holds, else the carried values.

    In lanes the body always runs, and each lane selects.
    """
    carried = tuple(map(_value, carried))
    if _condition(condition).decided is not None:
        return _evaluated(body, carried) if condition.decided else carried
    lanes = condition.value.lanes
    if lanes > 1:
        carried, mask = tuple(_spread(value, lanes) for value in carried), mask_of(condition)
        return _all_chosen(mask, _masked(mask, body, carried), carried)
    return _widened(partial(_region, [body], kind="when", test=lambda *_: condition), carried)


def switch(index: Value, bodies: Sequence[Body], *carried: Value, falls: bool = False) -> tuple[Value, ...]:
    """Run body number `index` on the carried values, with `falls` also the bodies after it. Return the final values.

    The index must be below the number of bodies: a constant raises ValueError, emitted code does not check. In lanes
    all bodies run, and each lane selects.
    """
    carried = tuple(map(_value, carried))
    if not bodies:
        raise ValueError("a switch needs at least one function")
    if index.lanes > 1:
        return _switch_in_lanes(index, bodies, tuple(_spread(value, index.lanes) for value in carried), falls)
    if index.constant is not None:
        _below(index.number, len(bodies), "functions")
        for body in bodies[index.number :] if falls else bodies[index.number : index.number + 1]:
            carried = _evaluated(body, carried)
        return carried
    return _widened(partial(_region, bodies, kind="switch", index=_live(index), falls=falls), carried)


def _below(number: int, count: int, what: str) -> int:
    if number >= count:
        raise ValueError(f"there is no number {number} among {count} {what}: choose 0 to {count - 1}")
    return number


def table(values: Iterable[int], index: Value, size: int = 8) -> Value:
    """Return entry number `index`, or that of each lane, of a read-only table of unsigned integers of `size` bytes.

    The size is 1, 4 or 8. The index must be below the number of entries: a constant raises ValueError, emitted code
    does not check.
    """
    if size not in (1, 4, 8):
        raise ValueError(f"entries of a table have 1, 4 or 8 bytes, not {size}")
    if isinstance(values, Mapping | Set):
        raise TypeError(f"the entries of a table need an order, which a {type(values).__name__} lacks: give a list")
    more = ": for boards of a description use switch" if size == 8 else ": give size=8"
    entries = tuple(integer(entry, f"an entry of {size} bytes", 0, (1 << 8 * size) - 1, more) for entry in values)
    if not entries:
        raise ValueError("a table must have at least one entry")
    if index.constant is None or max(index.constant) >= len(entries):
        index = _live(index)
    if index.constant is not None:
        return constant(tuple(entries[_below(lane, len(entries), "entries")] for lane in index.constant))
    return Value("table", (index,), (entries, size), index.lanes)
