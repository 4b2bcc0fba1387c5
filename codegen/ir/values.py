"""Immutable 64-bit values, the operations on them, and rays.

A fill is an ordinary function over values. Called with parameters it is *traced*: an operator creates a node of the
graph, unless it can be folded. Called with constants it is *evaluated*: operations on constants are folded, so the same
description is an oracle.

>>> (constant(0x81) << 1 | 1).number, (1 << constant(3)).number
(259, 8)

A value may have several 64-bit lanes. Most operations work lane by lane; shift counts and constants may differ from
lane to lane.

A ray has one direction, or one direction per lane. `step`, `run` and `path` are operations of the graph. The pass
`expand` lowers them to shifts and masks once all rays of a routine are known, so that rays can share work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import index, is_, or_
from types import MappingProxyType
from typing import Any, Final, Literal

from setwise.codegen.board import ROOK, Direction, leap
from setwise.codegen.ir.bit_words import BitWords
from setwise.codegen.ir.numbers import integer
from setwise.codegen.ir.operations import ALL as ALL
from setwise.codegen.ir.operations import Operation, operation_named
from setwise.codegen.machine.code import Line, RegisterFile

Lanes = tuple[int, ...]


_NO_NUMBER = (
    "a traced value has no number until the code runs, so Python's if and while cannot test it: "
    "use when, while_ or switch"
)

_COMPARED = (
    "boards are compared when the code runs, so Python's == and != cannot: "
    "use when, while_ or switch, with equal(a, b) or nonzero(a ^ b), or the mask a.equals(b)"
)


NO_INDEX = (
    "a traced value has no number until the code runs, so it cannot index a list or be counted in Python: "
    "use table(numbers, index) or switch, and while_ instead of range"
)


class MixedLanes(ValueError):
    """The error of an operation on values of different numbers of lanes; `lanes` is the greater number."""

    def __init__(self, said: str, lanes: int) -> None:
        super().__init__(said)
        self.lanes = lanes


@dataclass(eq=False, slots=True, repr=False)
class Value(BitWords):
    """A 64-bit value, or a vector of them: the result of one operation.

    Only Final annotations make values immutable: a frozen dataclass takes four times as long to create. `line` may be
    set later.

    `attr` is data of the operation, such as a constant's lanes, shift counts, or a ray and its steps. `in_place` marks
    an in-place operator (`gen |= x`). `line` is the source line in the description, if codegen.ir.lines records lines.
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
        """The properties of the operation, as far as they are known."""
        return operation_named(self.op)

    @property
    def file(self) -> RegisterFile:
        """The register file that holds the value."""
        return "mask" if self.operation.mask else "vector" if self.lanes > 1 else "general"

    @property
    def count(self) -> int:
        """The number `attr`, or the first of a tuple: a truth table, a displacement, the shift count of lane 0."""
        return int(self.attr[0] if isinstance(self.attr, tuple) else self.attr)

    @property
    def constant(self) -> Lanes | None:
        """The lanes of a constant, or None for any other value."""
        return self.attr if self.op == "const" else None

    @property
    def number(self) -> int:
        """The number of a one-lane constant. Raise TypeError for any other value."""
        if self.op != "const" or self.lanes != 1:
            raise TypeError("only a constant of one lane has a number: give one, or use the board itself, as in a << b")
        return int(self.attr[0])

    def __bool__(self) -> bool:
        raise TypeError(_NO_NUMBER)

    def __index__(self) -> int:
        if self.constant is None:
            raise TypeError(NO_INDEX)
        return self.number

    def __eq__(self, other: object) -> bool:
        """Raise TypeError. Values are distinguished by `is`; boards are compared when the code runs."""
        raise TypeError(_COMPARED)

    __hash__ = object.__hash__

    def on(self, args: tuple[Value, ...]) -> Value:
        """Return a value of the same operation with the arguments `args`, not folded."""
        return Value(self.op, args, self.attr, self.lanes, self.in_place, self.region, self.line)

    def copy(self) -> Value:
        """Return a constant itself, or a new variable with this value, which gets the register copy if one is made."""
        return make("copy", self)

    def step(self, *directions: Direction) -> Value:
        """Return the squares, moved by the sum of these steps as one leap: one shift and one mask.

        Squares that would leave the board are dropped. Squares in between are ignored.

        >>> from setwise.codegen.board import EAST, NORT
        >>> hex(constant(0x81).step(NORT, NORT, EAST).number)
        '0x20000'
        """
        return CompassRay((leap(*directions),)).step(self)

    def _made(self, op: str, *others: Value | int) -> Value:
        """Return the value of an operation on this value and others, folded."""
        return make(op, self, *others)

    def _shifted(self, op: str, count: int | Lanes | Value) -> Value:
        """Return the value of a shift or rotate, folded."""
        return _shift(op, self, count)

    def _assigned(self) -> Value:
        """Return the value marked as the result of an in-place operator; itself for a constant and the like."""
        return replace(self, in_place=True) if self.args and self.region is None else self


@dataclass(frozen=True, slots=True)
class Condition:
    """A test: the value is below a bound or not below it (unsigned); a value that is not below 1 is not zero.

    In a region, one of a value of several lanes holds if some lane is not zero.
    """

    kind: Literal["below", "at-least"]
    value: Value
    bound: int

    @property
    def decided(self) -> bool | None:
        """The outcome if the value is a constant with the same outcome in all lanes, else None."""
        outcomes = {(lane < self.bound) == (self.kind == "below") for lane in self.value.constant or ()}
        return outcomes.pop() if len(outcomes) == 1 else None

    @property
    def nonzero(self) -> bool:
        """Whether the condition is that the value is not zero."""
        return self.kind == "at-least" and self.bound == 1

    def __bool__(self) -> bool:
        if self.decided is None:
            raise TypeError(_NO_NUMBER)
        return self.decided


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """Structured control with explicit carried values.

    `inits` are the initial values. Each body has its own `phis` for the carried values. `bodies` are the next values
    that each computes, `effects` the memory writes of each. The results are the carried values at the end.

    loop: the one body runs, and again as long as `condition` (over its next values) holds.
    when: the one body runs if `condition` (over values from outside) holds.
    switch: body number `index` runs, and with `falls` the bodies after it, as in a C switch without break.
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
    """Whether selection has replaced the index by the address of its body, read from a jump table."""
    name: str = ""
    """The prefix of the region's labels, set by selection."""

    @property
    def outside(self) -> tuple[Value, ...]:
        """The initial values, and the index of a switch; not the value that a `when` tests."""
        return self.inits if self.index is None else (*self.inits, self.index)

    @property
    def tested(self) -> tuple[Value, ...]:
        """The value that the condition tests, if any: in a loop from its body, otherwise from outside."""
        return () if self.condition is None else (self.condition.value,)

    def on(self, now: Callable[[tuple[Value, ...]], tuple[Value, ...]]) -> Region:
        """Return the region with `now(values)` in place of each tuple of its values, phis excepted."""
        return replace(
            self,
            inits=now(self.inits),
            bodies=tuple(map(now, self.bodies)),
            effects=tuple(map(now, self.effects)),
            condition=None if self.condition is None else replace(self.condition, value=now(self.tested)[0]),
            index=None if self.index is None else now((self.index,))[0],
        )


def constant(number: int | Lanes, lanes: int = 1) -> Value:
    """Return a constant: the same number in each of `lanes` lanes, or a tuple of one number per lane.

    A negative number, at least -2**64, is meant modulo 2**64. Raise ValueError for one beyond 64 bits.
    """
    numbers = number if isinstance(number, tuple) else (number,) * lanes
    return Value("const", attr=tuple([integer(n, "a constant") & ALL for n in numbers]), lanes=len(numbers))


def lifted(given: Value | int) -> Value:
    """Return a value as it is, and a number as a constant of one lane."""
    return given if isinstance(given, Value) else constant(given)


def parameter(index: int, lanes: int = 1, within: int = ALL) -> Value:
    """Return the routine's parameter number `index`, which has no bit outside `within`."""
    return Value("param", attr=(index, within), lanes=lanes)


def same(values: Sequence[object], others: Sequence[object]) -> bool:
    """Return whether two sequences hold the same objects in the same order."""
    return len(values) == len(others) and all(map(is_, values, others))


def place_of(value: Value, values: Sequence[Value]) -> int:
    """Return the index of the value in a sequence, compared by identity. Raise ValueError if it is missing."""
    return [each is value for each in values].index(True)


def in_register(value: Value) -> bool:
    """Return whether a value is neither a constant nor a memory operand."""
    return value.op not in ("const", "place")


def original(value: Value) -> Value:
    """Return the value before all copies and other operations of one argument that need no instruction."""
    while value.operation.free and len(value.args) == 1:
        (value,) = value.args
    return value


def load(pointer: Value, index: Value, lanes: int = 1) -> Value:
    """Return `lanes` boards, loaded from the array at `pointer`, beginning at element `index`."""
    return Value("load", (pointer, index), 0, lanes)


def store(pointer: Value, index: Value, boards: Value) -> Value:
    """Return the store of boards to an array from element `index` on. A body returns it after its next values."""
    return Value("put-entry", (pointer, index, boards), 0, boards.lanes)


def load_some(pointer: Value, index: Value, mask: Value) -> Value:
    """Return boards as `load` does, but 0 in lanes in which `mask`, all ones or 0, is 0: their boards are not read."""
    return Value("load-some", (pointer, index, mask), 0, mask.lanes)


def store_some(pointer: Value, index: Value, boards: Value, mask: Value) -> Value:
    """Return the store of boards as by `store`, but only in lanes in which `mask`, all ones or 0, is not 0."""
    return Value("put-some", (pointer, index, boards, mask), 0, boards.lanes)


def shift_signed(value: Value, counts: Lanes) -> Value:
    """Shift each lane left by its count, or right by a negative one. Rotate all lanes if both signs occur."""
    if all(count >= 0 for count in counts):
        return make("shl", value, attr=counts)
    if all(count <= 0 for count in counts):
        return make("shr", value, attr=tuple(-count for count in counts))
    return value.rotate(counts)


def make(op: str, *operands: Value | int, attr: Any = None, in_place: bool = False) -> Value:
    """Return the value of an operation, or a constant or earlier value that `_fold` finds equal to it."""
    lanes = max([operand.lanes for operand in operands if isinstance(operand, Value)])
    args = tuple([in_lanes(operand, lanes) for operand in operands])
    folded = _fold(op, args, attr, lanes)
    return folded if folded is not None else Value(op, args, attr, lanes, in_place)


def reshaped(op: str, value: Value, lanes: int = 1) -> Value:
    """Return a value, rearranged to `lanes` lanes by an operation of RESHAPES. A constant is folded."""
    number = value.constant
    return Value(op, (value,), lanes=lanes) if number is None else constant(RESHAPES[op](number, lanes))


def beside(first: Value, second: Value) -> Value:
    """Return two lanes: `first` and `second`, which have one lane each."""
    if first is second:
        return reshaped("broadcast", first, 2)
    if first.constant is not None and second.constant is not None:
        return constant((*first.constant, *second.constant))
    return Value("beside", (first, second), lanes=2)


def concatenated(values: Sequence[Value]) -> Value:
    """Return the lanes of these values, which have equally many lanes, as one value."""
    if len(values) == 1:
        return values[0]
    low, high = concatenated(values[: len(values) // 2]), concatenated(values[len(values) // 2 :])
    if low.op == high.op == "broadcast" and low.args[0] is high.args[0]:
        return reshaped("broadcast", low.args[0], 2 * low.lanes)
    return beside(low, high) if low.lanes == 1 else Value("concatenate", (low, high), lanes=2 * low.lanes)


def repeated(first: Value, second: Value) -> Value:
    """Return eight lanes: the two lanes of the first value twice, then those of the second twice."""
    if first.constant is not None and second.constant is not None:
        return constant((*first.constant * 2, *second.constant * 2))
    return Value("repeat", (first, second), lanes=8)


def total(value: Value) -> Value:
    """Return the sum of all lanes modulo 2**64, as one lane."""
    return constant(sum(value.constant)) if value.constant is not None else Value("total", (value,))


RESHAPES: Mapping[str, Callable[[Lanes, int], Lanes]] = MappingProxyType(
    {
        "broadcast": lambda numbers, lanes: numbers * lanes,
        "extended": lambda numbers, lanes: (*numbers, *(numbers[0] ^ numbers[0],) * (lanes - len(numbers))),
        "exchange": lambda numbers, _: tuple(numbers[lane ^ 2] for lane in range(len(numbers))),
        "low-half": lambda numbers, lanes: numbers[:lanes],
        "high-half": lambda numbers, lanes: numbers[lanes:],
        "unite": lambda numbers, _: (reduce(or_, numbers),),
    }
)
"""Operations that move or unite lanes: functions from a constant's lanes and their new number to the new lanes."""


def in_lanes(operand: Value | int, lanes: int) -> Value:
    """Return an operand with this number of lanes, a number or one-lane constant repeated; else raise ValueError."""
    if not isinstance(operand, Value):
        return constant(operand, lanes)
    if operand.lanes == lanes:
        return operand
    if operand.constant is None or operand.lanes != 1:
        remedy = "widen one by layout.board, or unite lanes by layout.union"
        raise MixedLanes(f"operands of {operand.lanes} and {lanes} lanes: {remedy}", lanes)
    return constant(operand.number, lanes)


def _shift(op: str, value: Value, count: int | Lanes | Value) -> Value:
    if isinstance(count, Value):
        if count.constant is None:
            return make(op + "v", value, count)
        value = in_lanes(value, max(value.lanes, count.lanes)) if value.constant else value
        counts_by_lane = tuple(n & 63 for n in count.constant)
        count = counts_by_lane if count.lanes > 1 else counts_by_lane[0]
    counts = count if isinstance(count, tuple) else (index(count),) * value.lanes
    if len(counts) != value.lanes:
        raise ValueError(f"{len(counts)} shift counts for {value.lanes} lanes: give one per lane, or one for all")
    if op != "rotl" and min(counts) < 0:
        raise ValueError(f"cannot shift by {min(counts)}: shift by {-min(counts)} in the other direction, or rotate")
    within: dict[str, Callable[[int], int]] = {"rotl": lambda n: n % 64, "sar": lambda n: min(n, 63)}
    return make(op, value, attr=tuple(map(within[op], counts)) if op in within else counts)


def _fold(op: str, args: tuple[Value, ...], attr: Any, lanes: int) -> Value | None:
    operation = operation_named(op)
    constants = [arg.constant for arg in args]
    if operation.compute is not None and None not in constants:
        columns = [c for c in constants if c is not None] + ([attr] if attr is not None else [])
        return constant(tuple(operation.of(*column) for column in zip(*columns, strict=True)))
    if (operation.left or op == "sar") and not any(attr):
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
    """The operations of a fill along a ray. They return nodes of the graph; a CompassRay folds them on constants."""

    @property
    def opposite(self) -> Ray:
        """The ray in the opposite direction."""
        raise NotImplementedError

    def step(self, squares: Value | int, n: int = 1) -> Value:
        """Return the squares, moved n steps along the ray, 1 to 7. Squares that would leave the board are dropped."""
        return self._node("step", lifted(squares), _within_board(n))

    def run(self, propagator: Value | int, n: int) -> Value:
        """Return the last squares of n propagators in a row along the ray, 1 to 7, each of which the ray can enter."""
        return self._node("run", lifted(propagator), _within_board(n))

    def path(self, propagator: Value | int, *, attacks: bool = False) -> Value:
        """Return the propagators that the ray can enter.

        `attacks` states that only the squares after them matter: propagators from which the ray leaves the board may be
        cleared.
        """
        return self._node("path", lifted(propagator), int(attacks))

    def _node(self, op: str, value: Value, n: int) -> Value:
        raise NotImplementedError


def _within_board(n: int) -> int:
    return integer(n, "the number of steps", 1, 7)


@dataclass(frozen=True)
class DirectedRay(Ray):
    """A ray whose direction, or direction per lane, is known at code generation."""

    directions: tuple[Direction, ...]

    def by_lane(self, lanes: int) -> tuple[Direction, ...]:
        """Return the direction of each lane of a value. Raise ValueError unless the ray has one or as many."""
        if len(self.directions) not in (1, lanes):
            of = f"a ray of {len(self.directions)} directions takes a value of as many lanes"
            raise ValueError(f"{of}, not {lanes}: give layout.board(ray, board)")
        return self.directions if len(self.directions) == lanes else self.directions * lanes

    def spread(self, board: Value) -> Value:
        """Return the board, broadcast if it has one lane and the ray has several directions."""
        lanes = len(self.directions)
        return reshaped("broadcast", board, lanes) if lanes > board.lanes == 1 else board


@dataclass(frozen=True)
class CompassRay(DirectedRay):
    """A directed ray of the chess board.

    >>> from setwise.codegen.board import EAST, WEST
    >>> hex(CompassRay((EAST,)).step(constant(0x8040)).number)
    '0x80'
    >>> CompassRay((EAST, WEST)).step(constant(4)).constant
    (8, 2)
    """

    @property
    def straight(self) -> bool | None:
        """Whether the ray follows ranks or files; None if only some of its lanes do."""
        straight = {direction in ROOK for direction in self.directions}
        return straight.pop() if len(straight) == 1 else None

    @property
    def opposite(self) -> CompassRay:
        """The ray in the opposite direction."""
        return CompassRay(tuple(direction.opposite for direction in self.directions))

    def shift(self, value: Value, n: int) -> Value:
        """Return the value shifted by n steps, without a mask against wraps; see `shift_signed` for the rotates."""
        return shift_signed(value, tuple(n * d.shift for d in self.by_lane(value.lanes)))

    def mask(self, n: int, lanes: int, *, ranks: bool) -> Value:
        """Return, by lane, the files that n steps can reach, or with `ranks` the squares that they can reach.

        A ray with directions that shift left and right always gets the squares, since it uses rotates.
        """
        ranks = ranks or len({d.shift > 0 for d in self.directions}) > 1
        return constant(tuple(d.reach(n) if ranks else d.reach_files(n) for d in self.by_lane(lanes)))

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
