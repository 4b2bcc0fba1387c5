"""Control in a description: repeat, while, when and switch as regions with carried values, and tables.

>>> def cycle(gen, flood):
...     return gen >> 8, flood | gen
>>> _, flood = while_(lambda gen, _: nonzero(gen), cycle, constant(1 << 16), constant(0))
>>> hex(flood.number)
'0x10101'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Condition, Region, Value, constant

Body = Callable[..., tuple[Value, ...]]


def nonzero(value: Value) -> Condition:
    """The condition that a value is not zero."""
    return Condition("nonzero", value)


def below(value: Value, bound: int) -> Condition:
    """The condition that a value, unsigned, is below `bound`, which must be below 2**31."""
    if not 0 < bound < 1 << 31:
        raise ValueError(f"a bound must be above 0 and below 2**31, not {bound}")
    return Condition("below", value, bound)


def at_least(value: Value, bound: int) -> Condition:
    """The condition that a value, unsigned, is `bound` or more."""
    return Condition("at-least", value, bound)


def _results(region: Region) -> tuple[Value, ...]:
    return tuple(Value("result", attr=i, lanes=phi.lanes, region=region) for i, phi in enumerate(region.phis[0]))


def _phis(carried: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(Value("phi", attr=i, lanes=value.lanes) for i, value in enumerate(carried))


def _loop(condition: Callable[..., Condition], body: Body, carried: tuple[Value, ...]) -> tuple[Value, ...]:
    phis = _phis(carried)
    nexts, effects = _parted(body(*phis))
    return _results(Region("loop", carried, (phis,), (nexts,), (effects,), condition=condition(*nexts)))


def _parted(returned: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The next values and the writes that a body has returned."""
    return tuple(v for v in returned if v.op not in WRITES), tuple(v for v in returned if v.op in WRITES)


def while_(condition: Callable[..., Condition], body: Body, *carried: Value) -> tuple[Value, ...]:
    """Go round `body` while `condition` holds; both take the carried values, body gives the next ones."""
    decided = condition(*carried).decided
    while decided:
        following = body(*carried)
        decided = condition(*following).decided
        if decided is None:
            break
        carried = following
    if decided is False:
        return carried
    if condition(*carried).decided:
        return _loop(condition, body, carried)
    return when(condition(*carried), lambda *inner: _loop(condition, body, inner), *carried)


def repeat(count: int, body: Body, *carried: Value) -> tuple[Value, ...]:
    """Go round `body` exactly `count` times, as a loop with a counter."""
    if all(value.constant is not None for value in carried):
        for _ in range(count):
            carried = body(*carried)
        return carried

    def counted(*values: Value) -> tuple[Value, ...]:
        left = values[-1]
        left -= 1
        return (*body(*values[:-1]), left)

    return _loop(lambda *values: nonzero(values[-1]), counted, (*carried, constant(count)))[:-1]


def when(condition: Condition, body: Body, *carried: Value) -> tuple[Value, ...]:
    """The next values of the carried ones if `condition` holds, else the carried ones."""
    if condition.decided is not None:
        return body(*carried) if condition.decided else carried
    phis = _phis(carried)
    nexts, effects = _parted(body(*phis))
    return _results(Region("when", carried, (phis,), (nexts,), (effects,), condition=condition))


def switch(index: Value, bodies: Sequence[Body], *carried: Value, falls: bool = False) -> tuple[Value, ...]:
    """Run body number `index` (below their number) on the carried values; with `falls` those after it too."""
    if index.constant is not None:
        for body in bodies[index.number :] if falls else bodies[index.number : index.number + 1]:
            carried = body(*carried)
        return carried
    phis = tuple(_phis(carried) for _ in bodies)
    traced = [_parted(body(*values)) for body, values in zip(bodies, phis, strict=True)]
    nexts, effects = tuple(zip(*traced, strict=True))
    return _results(Region("switch", carried, phis, nexts, effects, index=index, falls=falls))


def table(values: Sequence[int], index: Value, size: int = 8) -> Value:
    """The entry number `index` of a read-only table of unsigned integers of `size` bytes (1, 4 or 8)."""
    if index.constant is not None:
        return constant(values[index.number])
    return Value("table", (index,), attr=(tuple(values), size))
