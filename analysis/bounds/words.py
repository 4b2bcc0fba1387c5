"""Programs of whole words of 64 bits: sums carry from square to square, and constants are any words.

Along a line, operations move nothing but whole lines (`programs`). Here a word is what registers hold, and east is an
addition. A formula says that a program, of which the kind of each operation is given, is right in a few cases. Each
kind is wider than the instructions that are of it, so what no program does here, none of those instructions does.

Not every program is asked for. Take the shortest ones; of these, one that takes values from as early as can be and
leaves complements to whoever takes a value; and its operations in the order whose kinds, and then first arguments, come
first. Of that program all this holds, since each change named here would shorten it or lead to what is taken first:

* Everything is used, and the last value is the result. No shift is by 0.
* Arguments that can change places are in order.
* An operation that does not use the one before it comes after it by its kind and its first argument.
* In registers of one width nothing is a constant's function of such a one, a turn of a turn, or an offset of an offset
  in equal parts.
* At the first place a function is 0 where its arguments are, and a sum or offset has its first argument as it is,
  unless it is last or goes into a shift, a turn, or a sum as the second: others can take the complement instead.

So where sequences of all kinds are ruled out, with all of fewer operations, there is no program of so many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise, product
from random import Random
from types import MappingProxyType

from setwise.analysis.bounds.certificate import check
from setwise.analysis.bounds.formula import Formula
from setwise.analysis.bounds.programs import Kinds
from setwise.analysis.spec import raywalk

Case = tuple[tuple[int, ...], int]
"""What the inputs are, and what the result must then be."""

Bit = int | bool
"""A variable, or a bit that is known."""

_PLACES = range(64)
_CASES = (2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Words:
    """Registers, and what their operations are.

    * function: of `inputs` values, bit by bit, the same at all places; where `constants`, at each place any one.
    * constant: any function of a value and a constant, bit by bit.
    * shift: of a value, left, right or around, by any distance.
    * turn: the bytes of a value in the opposite order.
    * sum: in parts of so many bits as one of `widths`, of two values, each as it is or its complement, the second
      shifted to the left by one of `scales` before; and 1 more or not. So differences are among them.
    * offset: the same of a value and a constant.
    """

    name: str
    inputs: int
    constants: bool
    widths: tuple[int, ...]
    scales: tuple[int, ...]


GENERAL = Words("general", 2, False, (64,), (0, 1, 2, 3))
"""All that general registers have but products, shifts by a value, and what gathers or scatters bits."""

VECTORS = Words("vector", 3, True, (8, 16, 32, 64), (0,))
"""A board in each lane: all but products, shifts of parts of a word, what compares, and what moves bytes otherwise."""

REGISTERS = (GENERAL, VECTORS)
KINDS = ("function", "constant", "shift", "turn", "sum", "offset")


def eastward() -> Iterator[Case]:
    """Sliders on squares that are not empty, the empty squares; the attacks to the east."""
    chance = Random(1)
    while True:
        occupied = chance.getrandbits(64)
        sliders, empty = occupied & chance.getrandbits(64), occupied ^ (1 << 64) - 1
        yield (sliders, empty), raywalk.attacks("east", sliders, empty)


def byte_sums() -> Iterator[Case]:
    """Two words; the sums of their bytes, each modulo 256."""
    return _of_bytes(lambda x, y: x + y)


def byte_differences() -> Iterator[Case]:
    """Two words; the differences of their bytes, each modulo 256."""
    return _of_bytes(lambda x, y: x - y)


def _of_bytes(function: Callable[[int, int], int]) -> Iterator[Case]:
    chance = Random(1)
    while True:
        x, y = chance.randbytes(8), chance.randbytes(8)
        result = bytes(function(*pair) & 0xFF for pair in zip(x, y, strict=True))
        yield (int.from_bytes(x, "little"), int.from_bytes(y, "little")), int.from_bytes(result, "little")


GOALS: Mapping[str, Callable[[], Iterator[Case]]] = MappingProxyType(
    {"east": eastward, "byte-sums": byte_sums, "byte-differences": byte_differences}
)


@dataclass(frozen=True, slots=True)
class Ruled:
    """That no program of these kinds is right in the first so many cases of a goal: a checked certificate says so."""

    kinds: Kinds
    cases: int
    formula: Formula
    certificate: str
    derived: int


def ruled_out(words: Words, goal: str, kinds: Kinds) -> Ruled | None:
    """None where a program of these kinds is right in all the cases that are tried.

    Raises BrokenCertificate where the solver cannot be believed, ModuleNotFoundError without python-sat.
    """
    from pysat.solvers import Solver

    for number in _CASES:
        formula = right_for(words, kinds, islice(GOALS[goal](), number))
        with Solver(name="glucose4", bootstrap_with=formula.clauses, with_proof=True) as solver:
            if not solver.solve():
                certificate = solver.get_proof()
                derived = check(formula.clauses, certificate)
                return Ruled(kinds, number, formula, "\n".join(certificate) + "\n", derived)
    return None


def right_for(words: Words, kinds: Kinds, cases: Iterable[Case]) -> Formula:
    """The formula that holds if some program of these kinds, all of it used, is right in these cases."""
    formula = Formula()
    operations: list[_Operation] = []
    for inputs, wanted in cases:
        values: list[Sequence[Bit]] = [_known(word) for word in inputs]
        for at, kind in enumerate(kinds):
            if at == len(operations):
                operations.append(_Operation(formula, words, kind, len(values)))
            values.append(operations[at].value(values))
        for bit, made in zip(_known(wanted), values[-1], strict=True):
            formula.add(made if bit else -made)
    for value in range(operations[-1].number):
        formula.add(*(picks[value] for each in operations for picks in each.arguments if value < each.number))
    for each, following in pairwise(operations):
        _in_order(formula, each, following)
    for at, each in enumerate(operations[:-1]):
        _as_it_is(formula, each, operations[at + 1 :])
        for other in operations[at + 1 :]:
            if each.kind == other.kind in ("constant", "turn", "offset") and len(words.widths) == 1:
                formula.add(-other.arguments[0][each.number])
    return formula


def _in_order(formula: Formula, each: _Operation, following: _Operation) -> None:
    """An operation that does not use the one before it comes after it by its kind and its first argument."""
    using = [picks[each.number] for picks in following.arguments]
    if KINDS.index(each.kind) > KINDS.index(following.kind):
        formula.add(*using)
    if each.kind == following.kind:
        for one, other in combinations(range(each.number), 2):
            formula.add(*using, -each.arguments[0][other], -following.arguments[0][one])


def _as_it_is(formula: Formula, each: _Operation, later: Sequence[_Operation]) -> None:
    """A value is no complement unless one takes it that cannot take the complement instead."""
    asking = [other.arguments[-1][each.number] for other in later if other.kind in ("shift", "turn", "sum")]
    if each.kind == "function":
        formula.add(*asking, -each.tables[0][(0,) * each.words.inputs])
    if each.kind in ("sum", "offset"):
        formula.add(*asking, -each.complements[0])


class _Operation:
    """What one operation picks: its arguments among so many values before it, and its numbers."""

    def __init__(self, formula: Formula, words: Words, kind: str, number: int) -> None:
        self.formula, self.words, self.kind, self.number = formula, words, kind, number
        self.arguments = [self._one_of(number) for _ in range({"function": words.inputs, "sum": 2}.get(kind, 1))]
        if kind == "function":
            for first, second in pairwise(self.arguments):
                self._ordered(first, second)
        if kind in ("function", "constant"):
            rows = [*product((0, 1), repeat=len(self.arguments))]
            alike = kind == "function" and not words.constants
            tables = [{row: formula.new() for row in rows} for _ in (range(1) if alike else _PLACES)]
            self.tables = tables * (len(_PLACES) // len(tables))
        if kind == "shift":
            self.distance = [formula.new() for _ in range(6)]  # to the left, around the word, in binary
            formula.add(*self.distance)
            self.left, self.right, self.around = self._one_of(3)
            self.reached = [formula.new() for _ in _PLACES]  # those to which a shift to the left brings something
            for distance, (place, reached) in product(_PLACES, enumerate(self.reached)):
                others = [-bit if distance >> at & 1 else bit for at, bit in enumerate(self.distance)]
                formula.add(*others, reached if place >= distance else -reached)
        if kind in ("sum", "offset"):
            self.constant = [formula.new() for _ in _PLACES]
            self.scales = self._one_of(len(words.scales))
            self.widths = self._one_of(len(words.widths))
            self.complements, self.carry = (formula.new(), formula.new()), formula.new()
        if kind == "sum":
            self._ordered(self.arguments[0], self.arguments[1], -self.scales[words.scales.index(0)])
        if kind == "offset":  # any constant says that
            formula.add(-self.complements[1])
            formula.add(-self.carry)

    def value(self, values: Sequence[Sequence[Bit]]) -> list[int]:
        """What it gives in one case, where the values before it are these."""
        arguments = [self._picked(picks, values) for picks in self.arguments]
        if self.kind in ("function", "constant"):
            return self._function(arguments)
        if self.kind == "shift":
            return self._shifted(arguments[0])
        if self.kind == "turn":
            return [arguments[0][place ^ 56] for place in _PLACES]
        if self.kind == "offset":
            return self._sum(arguments[0], self.constant)
        shifted = [[False] * by + [*arguments[1][: 64 - by]] for by in self.words.scales]
        return self._sum(arguments[0], self._picked(self.scales, shifted))

    def _function(self, arguments: Sequence[Sequence[int]]) -> list[int]:
        value = self._new()
        for place, table in enumerate(self.tables):
            for row, result in table.items():
                off = [
                    -argument[place] if bit else argument[place] for argument, bit in zip(arguments, row, strict=True)
                ]
                self._same(off, value[place], result)
        return value

    def _shifted(self, argument: Sequence[int]) -> list[int]:
        moved, value = argument, self._new()
        for at, bit in enumerate(self.distance):
            moved = self._picked((bit, -bit), [[moved[place - (1 << at)] for place in _PLACES], moved])
        for place, reached in enumerate(self.reached):
            self._same([-self.around], value[place], moved[place])
            for way, kept in ((self.left, reached), (self.right, -reached)):
                self._same([-way, -kept], value[place], moved[place])
                self.formula.add(-way, kept, -value[place])
        return value

    def _sum(self, first: Sequence[int], second: Sequence[int]) -> list[int]:
        one, other = (
            [self._unlike(bit, complement) for bit in summand]
            for summand, complement in zip((first, second), self.complements, strict=True)
        )
        carry, out, total = self._new(), self._new(), self._new()
        for place in _PLACES:
            for width, pick in zip(self.words.widths, self.widths, strict=True):
                self._same([-pick], carry[place], out[place - 1] if place % width else self.carry)
            bits = one[place], other[place], carry[place]
            for on in product((0, 1), repeat=3):
                off = [-bit if is_on else bit for bit, is_on in zip(bits, on, strict=True)]
                self.formula.add(*off, out[place] if sum(on) >= 2 else -out[place])
                self.formula.add(*off, total[place] if sum(on) % 2 else -total[place])
        return total

    def _ordered(self, first: Sequence[int], second: Sequence[int], unless: int | None = None) -> None:
        """Two arguments can change places, so they are in order."""
        for one, other in combinations(range(self.number), 2):
            self.formula.add(*([] if unless is None else [unless]), -first[other], -second[one])

    def _new(self) -> list[int]:
        return [self.formula.new() for _ in _PLACES]

    def _one_of(self, count: int) -> list[int]:
        variables = [self.formula.new() for _ in range(count)]
        self.formula.add(*variables)
        self.formula.at_most_one(variables)
        return variables

    def _picked(self, picks: Sequence[int], values: Sequence[Sequence[Bit]]) -> list[int]:
        """The value that is picked."""
        found = self._new()
        for pick, value in zip(picks, values, strict=True):
            for one, other in zip(found, value, strict=True):
                self._same([-pick], one, other)
        return found

    def _unlike(self, one: int, other: int) -> int:
        """Whether two bits differ."""
        differ = self.formula.new()
        for signs in product((1, -1), repeat=2):
            self.formula.add(signs[0] * one, signs[1] * other, -differ if signs[0] == signs[1] else differ)
        return differ

    def _same(self, unless: Sequence[int], one: int, other: Bit) -> None:
        """Two bits are the same, unless one of those holds."""
        if isinstance(other, bool):
            self.formula.add(*unless, one if other else -one)
        else:
            self.formula.add(*unless, one, -other)
            self.formula.add(*unless, -one, other)


def _known(word: int) -> list[Bit]:
    return [bool(word >> place & 1) for place in _PLACES]
