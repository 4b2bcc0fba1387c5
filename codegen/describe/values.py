"""Immutable 64-bit values, the operations on them, and regions: repeat, while, when, switch, table.

A fill is an ordinary function over values. Given parameters it is *traced*: every operator makes a node, and the
result is the graph. Given constants it *runs*: an operation on constants is a constant, a loop over constants is
simply gone through, so that the same description is an oracle.

>>> (constant(0x81) << 1 | 1).number
259
>>> def cycle(gen, flood):
...     return gen >> 8, flood | gen
>>> _, flood = while_(lambda gen, _: nonzero(gen), cycle, constant(1 << 16), constant(0))
>>> hex(flood.number)
'0x10101'

A value may have several lanes, each of 64 bits: then every operation works on each lane by itself, and a shift count
or a constant may differ from lane to lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Literal

from setwise.codegen.describe.operations import ALL as ALL
from setwise.codegen.describe.operations import COMMUTATIVE, WRITES, Operation, operation_named
from setwise.codegen.machine.code import RegisterFile

Lanes = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Value:
    """A 64-bit value, or several in lanes: what one operation makes of its arguments.

    `attr` is what the operation needs besides values: a constant's lanes, shift counts, a ray. `in_place` says that the
    description wrote the operation in place (`gen |= x`), so the result is the variable on its left side.
    """

    op: str
    args: tuple[Value, ...] = ()
    attr: Any = None
    lanes: int = 1
    in_place: bool = False
    region: Region | None = None

    def __repr__(self) -> str:
        below = ", ".join(arg.op for arg in self.args)
        return f"<{self.op}({below})>"

    @property
    def operation(self) -> Operation:
        """What is known of the operation."""
        return operation_named(self.op)

    @property
    def file(self) -> RegisterFile:
        """The registers that may hold it."""
        return "mask" if self.operation.mask else "vector" if self.lanes > 1 else "general"

    @property
    def count(self) -> int:
        """The operation's number: the count of all lanes (of the first), a truth table, a size."""
        return int(self.attr[0] if isinstance(self.attr, tuple) else self.attr)

    @property
    def constant(self) -> Lanes | None:
        """The lanes of a constant; None for anything that depends on a parameter."""
        return self.attr if self.op == "const" else None

    @property
    def number(self) -> int:
        """The number of a one-lane constant; TypeError for anything else."""
        if self.op != "const" or self.lanes != 1:
            raise TypeError(f"a traced '{self.op}' has no number: run the description on constants instead")
        return int(self.attr[0])

    def __bool__(self) -> bool:
        raise TypeError(
            "a traced value is not yet a number, so Python's if and while cannot ask it: use when, while_ or switch"
        )

    def on(self, args: tuple[Value, ...]) -> Value:
        """The same operation on other arguments."""
        return Value(self.op, args, self.attr, self.lanes, self.in_place, self.region)

    def copy(self) -> Value:
        """A new variable that begins as this value: the one that is moved, where a move is needed."""
        return self if self.op == "const" else Value("copy", (self,), lanes=self.lanes)

    def __and__(self, other: Value | int) -> Value:
        return make("and", self, other)

    def __or__(self, other: Value | int) -> Value:
        return make("or", self, other)

    def __xor__(self, other: Value | int) -> Value:
        return make("xor", self, other)

    def __add__(self, other: Value | int) -> Value:
        return make("add", self, other)

    def __sub__(self, other: Value | int) -> Value:
        return make("sub", self, other)

    def __mul__(self, other: Value | int) -> Value:
        return make("mul", self, other)

    def __invert__(self) -> Value:
        return make("not", self)

    def __lshift__(self, count: int | Lanes | Value) -> Value:
        return _shift("shl", self, count)

    def __rshift__(self, count: int | Lanes | Value) -> Value:
        return _shift("shr", self, count)

    def rotate(self, count: int | Lanes | Value) -> Value:
        """Rotated to the left; a negative count rotates to the right."""
        return _shift("rotl", self, count)

    def __iand__(self, other: Value | int) -> Value:
        return _in_place(self & other)

    def __ior__(self, other: Value | int) -> Value:
        return _in_place(self | other)

    def __ixor__(self, other: Value | int) -> Value:
        return _in_place(self ^ other)

    def __iadd__(self, other: Value | int) -> Value:
        return _in_place(self + other)

    def __isub__(self, other: Value | int) -> Value:
        return _in_place(self - other)

    def __ilshift__(self, count: int | Lanes | Value) -> Value:
        return _in_place(self << count)

    def __irshift__(self, count: int | Lanes | Value) -> Value:
        return _in_place(self >> count)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a region asks of a value: that it is not zero, below a bound, or not below it (unsigned)."""

    kind: Literal["nonzero", "below", "at-least"]
    value: Value
    bound: int = 0

    @property
    def decided(self) -> bool | None:
        """True or False where the value is a constant, else None."""
        if self.value.constant is None:
            return None
        if self.kind == "nonzero":
            return self.value.number != 0
        return (self.value.number < self.bound) == (self.kind == "below")


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """Control with explicit carried values: `inits` go in, each body has its own `phis` for them and makes the next.

    loop: the one body is run, then again as long as `condition` (over its next values) holds.
    when: the one body is run if `condition` (over values from outside) holds.
    switch: body number `index` is run; with `falls` the bodies after it as well, as in a C switch without break.
    What is carried at the end is the region's result. `effects` are what each body writes to memory.
    """

    kind: Literal["loop", "when", "switch"]
    inits: tuple[Value, ...]
    phis: tuple[tuple[Value, ...], ...]
    bodies: tuple[tuple[Value, ...], ...]
    effects: tuple[tuple[Value, ...], ...]
    condition: Condition | None = None
    index: Value | None = None
    falls: bool = False
    name: str = ""
    """What its labels begin with, once selection has numbered the regions."""

    @property
    def outside(self) -> tuple[Value, ...]:
        """What must be there before the region: the carried values, and the index of a switch."""
        return self.inits if self.index is None else (*self.inits, self.index)

    @property
    def asked(self) -> tuple[Value, ...]:
        """The value of the condition, if there is one: of a loop the last of its body, else one from outside."""
        return () if self.condition is None else (self.condition.value,)

    def on(self, now: Callable[[tuple[Value, ...]], tuple[Value, ...]]) -> Region:
        """The same control over other values: those that `now` gives for the old ones."""
        return replace(
            self,
            inits=now(self.inits),
            bodies=tuple(map(now, self.bodies)),
            effects=tuple(map(now, self.effects)),
            condition=self.condition and replace(self.condition, value=now(self.asked)[0]),
            index=None if self.index is None else now((self.index,))[0],
        )


def constant(number: int | Lanes, lanes: int = 1) -> Value:
    """A constant: one number for every lane, or a number a lane."""
    numbers = (number,) * lanes if isinstance(number, int) else tuple(number)
    return Value("const", attr=tuple(n & ALL for n in numbers), lanes=len(numbers))


def parameter(index: int, lanes: int = 1) -> Value:
    """The routine's parameter number `index`."""
    return Value("param", attr=index, lanes=lanes)


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


def in_register(value: Value) -> bool:
    """Whether a value takes a register: constants and places in memory do not."""
    return value.op not in ("const", "place")


def load(pointer: Value, index: Value, lanes: int = 1) -> Value:
    """Boards number `index` and following of an array, as many as there are lanes."""
    return Value("load", (pointer, index), lanes=lanes)


def store(pointer: Value, index: Value, boards: Value) -> Value:
    """Boards written to an array from number `index` on; a body returns it behind its next values."""
    return Value("put-entry", (pointer, index, boards), lanes=boards.lanes)


def shift_signed(value: Value, counts: Lanes) -> Value:
    """Shift each lane left by its count, right where it is negative; rotate where lanes disagree on the side."""
    if all(count >= 0 for count in counts):
        return value << counts
    if all(count <= 0 for count in counts):
        return value >> tuple(-count for count in counts)
    return value.rotate(counts)


def overwritable(value: Value) -> tuple[Value, ...]:
    """The arguments whose register a two-operand instruction could overwrite, in some order of its arguments."""
    return value.args if value.op in COMMUTATIVE or value.op == "ternary" else value.args[:1]


def reordered(value: Value) -> tuple[Value, ...]:
    """The value with its arguments in each order that means the same; a constant stays last."""
    args = value.args
    if value.op in COMMUTATIVE and in_register(args[1]) and args[0] is not args[1]:
        return (value, value.on(args[::-1]))
    if value.op == "ternary":
        orders = [order for order in permutations(range(3)) if in_register(args[2]) or order[2] == 2]
        return tuple(
            replace(value, args=tuple(args[i] for i in order), attr=permuted(value.attr, order)) for order in orders
        )
    return (value,)


def permuted(truth: int, order: tuple[int, ...]) -> int:
    """The truth table of three inputs (bit 4a + 2b + c) when the inputs come in another order."""
    new = 0
    for row in range(8):
        bits = [row >> 2 & 1, row >> 1 & 1, row & 1]
        old = [0, 0, 0]
        for place, which in enumerate(order):
            old[which] = bits[place]
        new |= (truth >> (4 * old[0] + 2 * old[1] + old[2]) & 1) << row
    return new


def make(op: str, *operands: Value | int, attr: Any = None, in_place: bool = False) -> Value:
    """The value of an operation on values: a constant where all arguments are, an argument where it changes nothing."""
    lanes = max(operand.lanes for operand in operands if isinstance(operand, Value))
    args = tuple(operand if isinstance(operand, Value) else constant(operand, lanes) for operand in operands)
    folded = _fold(op, args, attr, lanes)
    return folded if folded is not None else Value(op, args, attr, lanes, in_place)


def _in_place(value: Value) -> Value:
    return replace(value, in_place=True) if value.args and value.region is None else value


def _shift(op: str, value: Value, count: int | Lanes | Value) -> Value:
    if isinstance(count, Value):
        if count.constant is None:
            return make(op + "v", value, count)
        count = count.number & 63
    counts = (count,) * value.lanes if isinstance(count, int) else count
    return make(op, value, attr=tuple(n % 64 for n in counts) if op == "rotl" else counts)


def _fold(op: str, args: tuple[Value, ...], attr: Any, lanes: int) -> Value | None:
    operation = operation_named(op)
    constants = [arg.constant for arg in args]
    if operation.compute is not None and all(c is not None for c in constants):
        columns = [c for c in constants if c is not None] + ([attr] if attr is not None else [])
        return constant(tuple(operation.of(*column) for column in zip(*columns, strict=True)))
    if operation.left and not any(attr):
        return args[0]
    if operation.left and not any(operation.of(ALL, n) for n in attr):
        return constant(0, lanes)
    if len(args) == 2:
        for at in (0, 1) if operation.commutes else (1,):
            if constants[at] == (operation.neutral,) * lanes:
                return args[1 - at]
            if constants[at] == (operation.absorbing,) * lanes:
                return args[at]
        if args[0] is args[1] and operation.idempotent:
            return args[0]
    if op == "not" and args[0].op == "not":
        return args[0].args[0]
    return None


def _results(region: Region) -> tuple[Value, ...]:
    return tuple(Value("result", attr=i, lanes=phi.lanes, region=region) for i, phi in enumerate(region.phis[0]))


def _phis(carried: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(Value("phi", attr=i, lanes=value.lanes) for i, value in enumerate(carried))


Body = Callable[..., tuple[Value, ...]]


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
