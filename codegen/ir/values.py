"""Immutable 64-bit values, the operations on them, and rays: how a fill moves.

A fill is an ordinary function over values. Given parameters it is *traced*: every operator makes a node, and the
result is the graph. Given constants it *runs*: an operation on constants is a constant, so that the same description
is an oracle.

>>> (constant(0x81) << 1 | 1).number, (1 << constant(3)).number
(259, 8)

A value may have several lanes, each of 64 bits: then every operation works on each lane by itself, and a shift count
or a constant may differ from lane to lane.

A ray stands for one direction, or for one direction a lane. `step`, `run` and `path` are operations of their own in
the graph; the pass `expand` turns them into shifts and masks when all rays of a routine are known, so that rays can
share what they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import index, is_, or_
from types import MappingProxyType
from typing import Any, Final, Literal

from setwise.codegen.board import ROOK, Direction, leap
from setwise.codegen.ir.operations import ALL as ALL
from setwise.codegen.ir.operations import Operation, operation_named
from setwise.codegen.machine.code import Line, RegisterFile

Lanes = tuple[int, ...]


_NO_NUMBER = "a traced value is not yet a number, so Python's if and while cannot ask it: use when, while_ or switch"

_COMPARED = (
    "boards are compared when the code runs, so Python's == and != cannot: "
    "use when, while_ or switch, with nonzero(a ^ b), or below(a ^ b, 1) for equal ones"
)


@dataclass(eq=False, slots=True, repr=False)
class Value:
    """A 64-bit value, or several in lanes: what one operation makes of its arguments.

    It never changes. Types say so: a frozen dataclass would too, but takes four times as long to make, and a kernel
    takes thousands.

    `attr` is what the operation needs besides values: a constant's lanes, shift counts, a ray. `in_place` says that the
    description wrote the operation in place (`gen |= x`), so the result is the variable on its left side. `line` is
    that of the description which made it, where lines are recorded (setwise.codegen.ir.lines).
    """

    op: Final[str]
    args: Final[tuple[Value, ...]] = ()
    attr: Final[Any] = None
    lanes: Final[int] = 1
    in_place: Final[bool] = False
    region: Final[Region | None] = None
    line: Final[Line | None] = None

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
        raise TypeError(_NO_NUMBER)

    def __eq__(self, other: object) -> bool:
        """Raise TypeError: values are told apart by `is`, and boards are compared when the code runs."""
        raise TypeError(_COMPARED)

    __hash__ = object.__hash__

    def on(self, args: tuple[Value, ...]) -> Value:
        """The same operation on other arguments."""
        return Value(self.op, args, self.attr, self.lanes, self.in_place, self.region, self.line)

    def copy(self) -> Value:
        """A new variable that begins as this value: the one that is moved, where a move is needed."""
        return self if self.op == "const" else Value("copy", (self,), lanes=self.lanes)

    def step(self, *directions: Direction) -> Value:
        """All squares that these steps, taken together, lead to: one shift and one mask, whatever is on the way.

        What would leave the board, or wrap, is gone; a square between may be outside it.

        >>> from setwise.codegen.board import EAST, NORT
        >>> hex(constant(0x81).step(NORT, NORT, EAST).number)
        '0x20000'
        """
        return CompassRay((leap(*directions),)).step(self)

    def popcount(self) -> Value:
        """How many squares are set, in each lane."""
        return make("popcount", self)

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

    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__

    def __rsub__(self, other: int) -> Value:
        return constant(other, self.lanes) - self

    def __invert__(self) -> Value:
        return make("not", self)

    def __lshift__(self, count: int | Lanes | Value) -> Value:
        return _shift("shl", self, count)

    def __rshift__(self, count: int | Lanes | Value) -> Value:
        return _shift("shr", self, count)

    def __rlshift__(self, other: int) -> Value:
        return constant(other) << self

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

    def __bool__(self) -> bool:
        if self.decided is None:
            raise TypeError(_NO_NUMBER)
        return self.decided


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
    addressed: bool = False
    """Whether the index has become the address of its body, as selection makes it where there are tables of jumps."""
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
            condition=None if self.condition is None else replace(self.condition, value=now(self.asked)[0]),
            index=None if self.index is None else now((self.index,))[0],
        )


def constant(number: int | Lanes, lanes: int = 1) -> Value:
    """A constant: one number for every lane, or a number a lane."""
    numbers = number if isinstance(number, tuple) else (index(number),) * lanes
    return Value("const", attr=tuple(n & ALL for n in numbers), lanes=len(numbers))


def parameter(index: int, lanes: int = 1) -> Value:
    """The routine's parameter number `index`."""
    return Value("param", attr=index, lanes=lanes)


def same(values: Sequence[object], others: Sequence[object]) -> bool:
    """Whether these are the same values, one by one."""
    return len(values) == len(others) and all(map(is_, values, others))


def place_of(value: Value, values: Sequence[Value]) -> int:
    """Return the number of the value among these; ValueError where it is not there."""
    return [each is value for each in values].index(True)


def in_register(value: Value) -> bool:
    """Whether a value takes a register: constants and places in memory do not."""
    return value.op not in ("const", "place")


def original(value: Value) -> Value:
    """The value of which it is another name, or another view."""
    while value.operation.free and len(value.args) == 1:
        (value,) = value.args
    return value


def load(pointer: Value, index: Value, lanes: int = 1) -> Value:
    """Boards number `index` and following of an array, as many as there are lanes."""
    return Value("load", (pointer, index), 0, lanes)


def store(pointer: Value, index: Value, boards: Value) -> Value:
    """Boards written to an array from number `index` on; a body returns it behind its next values."""
    return Value("put-entry", (pointer, index, boards), 0, boards.lanes)


def shift_signed(value: Value, counts: Lanes) -> Value:
    """Shift each lane left by its count, right where it is negative; rotate where lanes disagree on the side."""
    if all(count >= 0 for count in counts):
        return make("shl", value, attr=counts)
    if all(count <= 0 for count in counts):
        return make("shr", value, attr=tuple(-count for count in counts))
    return value.rotate(counts)


def make(op: str, *operands: Value | int, attr: Any = None, in_place: bool = False) -> Value:
    """The value of an operation on values: a constant where all arguments are, an argument where it changes nothing."""
    lanes = max([operand.lanes for operand in operands if isinstance(operand, Value)])
    args = tuple([_in_lanes(operand, lanes) for operand in operands])
    folded = _fold(op, args, attr, lanes)
    return folded if folded is not None else Value(op, args, attr, lanes, in_place)


def reshaped(op: str, value: Value, lanes: int = 1) -> Value:
    """Lanes repeated, parted or united: of a constant a constant."""
    number = value.constant
    return Value(op, (value,), lanes=lanes) if number is None else constant(RESHAPES[op](number, lanes))


def beside(first: Value, second: Value) -> Value:
    """Two boards, a lane each."""
    if first is second:
        return reshaped("broadcast", first, 2)
    if first.constant is not None and second.constant is not None:
        return constant((*first.constant, *second.constant))
    return Value("beside", (first, second), lanes=2)


def repeated(first: Value, second: Value) -> Value:
    """Two lanes twice, then two others twice."""
    if first.constant is not None and second.constant is not None:
        return constant((*first.constant * 2, *second.constant * 2))
    return Value("repeat", (first, second), lanes=8)


def total(value: Value) -> Value:
    """The sum of all lanes."""
    return constant(sum(value.constant)) if value.constant is not None else Value("total", (value,))


RESHAPES: Mapping[str, Callable[[Lanes, int], Lanes]] = MappingProxyType(
    {
        "broadcast": lambda numbers, lanes: numbers * lanes,
        "extended": lambda numbers, lanes: (*numbers, *(0,) * (lanes - len(numbers))),
        "exchange": lambda numbers, _: tuple(numbers[lane ^ 2] for lane in range(len(numbers))),
        "low-half": lambda numbers, lanes: numbers[:lanes],
        "high-half": lambda numbers, lanes: numbers[lanes:],
        "unite": lambda numbers, _: (reduce(or_, numbers),),
    }
)
"""What becomes of a constant's lanes where they are put together otherwise."""


def _in_lanes(operand: Value | int, lanes: int) -> Value:
    """An argument with so many lanes: a number, or a constant of one lane, is the same in each."""
    if not isinstance(operand, Value):
        return constant(operand, lanes)
    if operand.lanes == lanes:
        return operand
    if operand.constant is None or operand.lanes != 1:
        raise ValueError(f"{operand.lanes} lanes and {lanes} do not go together: spread the one board, or unite lanes")
    return constant(operand.number, lanes)


def _in_place(value: Value) -> Value:
    return replace(value, in_place=True) if value.args and value.region is None else value


def _shift(op: str, value: Value, count: int | Lanes | Value) -> Value:
    if isinstance(count, Value):
        if count.constant is None:
            return make(op + "v", value, count)
        count = count.number & 63
    counts = count if isinstance(count, tuple) else (index(count),) * value.lanes
    if len(counts) != value.lanes:
        raise ValueError(f"{len(counts)} counts are given for {value.lanes} lanes: give one for each, or one for all")
    if op != "rotl" and min(counts) < 0:
        raise ValueError(
            f"a shift by {min(counts)} has no meaning: shift by {-min(counts)} to the other side, or rotate"
        )
    return make(op, value, attr=tuple(n % 64 for n in counts) if op == "rotl" else counts)


def _fold(op: str, args: tuple[Value, ...], attr: Any, lanes: int) -> Value | None:
    operation = operation_named(op)
    constants = [arg.constant for arg in args]
    if operation.compute is not None and None not in constants:
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


class Ray:
    """What a fill may ask of a ray, by 1 to 7 squares: three operations, as nodes of the graph."""

    def step(self, squares: Value, n: int = 1) -> Value:
        """All squares n steps along the ray; what would leave the board, or wrap, is gone."""
        return self._node("step", squares, _within_board(n))

    def run(self, propagator: Value, n: int) -> Value:
        """Squares that end n successive propagator squares which the ray can enter: what Kogge-Stone doubles."""
        return self._node("run", propagator, _within_board(n))

    def path(self, propagator: Value, *, attacks: bool = False) -> Value:
        """The propagator as far as the ray can enter it; `attacks` tells that edge squares need not be passed.

        Where nobody looks at the others, for attacks it becomes the squares that the ray can also leave.
        """
        return self._node("path", propagator, int(attacks))

    def _node(self, op: str, value: Value, n: int) -> Value:
        raise NotImplementedError


def _within_board(n: int) -> int:
    if not 1 <= n <= 7:
        raise ValueError(f"along a ray there are 1 to 7 steps, not {n}")
    return n


@dataclass(frozen=True)
class CompassRay(Ray):
    """A ray whose direction, or whose direction of each lane, is known when code is made.

    >>> from setwise.codegen.board import EAST, WEST
    >>> hex(CompassRay((EAST,)).step(constant(0x8040)).number)
    '0x80'
    >>> CompassRay((EAST, WEST)).step(constant(4)).constant
    (8, 2)
    """

    directions: tuple[Direction, ...]

    @property
    def straight(self) -> bool | None:
        """Whether the ray goes along ranks or files; None if only some of its lanes do."""
        straight = {direction in ROOK for direction in self.directions}
        return straight.pop() if len(straight) == 1 else None

    @property
    def opposite(self) -> CompassRay:
        """The ray the other way."""
        return CompassRay(tuple(direction.opposite for direction in self.directions))

    def shift(self, value: Value, n: int) -> Value:
        """The bare shift by n steps, wraps and all."""
        return shift_signed(value, tuple(n * d.shift for d in self.by_lane(value.lanes)))

    def mask(self, n: int, lanes: int, *, ranks: bool) -> Value:
        """The squares that n steps can arrive at: without the files (and on request ranks) that only a wrap reaches.

        A ray that goes to both sides is shifted by rotates, so its masks hold ranks too.
        """
        ranks = ranks or len({d.shift > 0 for d in self.directions}) > 1
        return constant(tuple(d.reach(n) if ranks else d.reach_files(n) for d in self.by_lane(lanes)))

    def by_lane(self, lanes: int) -> tuple[Direction, ...]:
        """The direction of each of so many lanes; ValueError where there are others."""
        if len(self.directions) not in (1, lanes):
            raise ValueError(f"a ray of {len(self.directions)} directions goes over as many lanes, not over {lanes}")
        return self.directions if len(self.directions) == lanes else self.directions * lanes

    def spread(self, board: Value) -> Value:
        """A board for every lane, where the ray has several directions and there is one board for all."""
        lanes = len(self.directions)
        return reshaped("broadcast", board, lanes) if lanes > board.lanes == 1 else board

    def _node(self, op: str, value: Value, n: int) -> Value:
        value = self.spread(value)
        self.by_lane(value.lanes)
        if value.constant is None:
            return Value(op, (value,), (self, n), value.lanes)
        if op == "step":
            return self.shift(value, n) & self.mask(n, value.lanes, ranks=True)
        propagator = value & self.mask(1, value.lanes, ranks=True)
        for _ in range(1, n):
            propagator = value & self.step(propagator)
        return propagator
