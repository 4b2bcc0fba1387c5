"""Programs of shifts and bitwise functions, and the attacks along a line that they are to compute.

The line is a ring of squares, and a shift moves all of it by any distance. That loses nothing: a program that is right
on an endless line is right for inputs that repeat, and a ring of any size is such inputs. So what no program does on a
ring, none does on the line; nor does one with rotates or shifts of a word whose ends nothing reaches. What is outside
the model: constants, and with them masks; additions, so that east in four instructions is no such program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from string import ascii_lowercase

Offset = tuple[int, int]
"""A square of an input: which input, and how far from the square that is asked for."""


@dataclass(frozen=True, slots=True)
class Shift:
    """An earlier value, each square moved by a distance; the inputs, sliders and empty, are values 0 and 1."""

    source: int
    distance: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the bits of earlier values; its table begins with all bits 0, the last source changing fastest."""

    sources: tuple[int, ...]
    table: tuple[int, ...]


Program = tuple[Shift | Function, ...]
"""Operations, each giving the next value; the last one's is the result."""

Kinds = tuple[str, ...]
"""The kind of each operation of a program."""

KINDS = ("shift", "function")
ANY = "any"
"""In the place of a kind: either."""


def kinds_of(program: Program) -> Kinds:
    """What each of its operations is: a shift or a function."""
    return tuple("shift" if isinstance(operation, Shift) else "function" for operation in program)


@dataclass(frozen=True, slots=True)
class Model:
    """Which programs are meant, and what for: attacks of sliders that go `reach` squares at most over empty ones.

    An operation is a shift, or any function of up to `inputs` values. The ring has `ring` squares.
    """

    reach: int
    inputs: int
    ring: int

    def attacks(self, sliders: int, empty: int, reach: int | None = None) -> int:
        """The squares attacked, on the ring."""
        found, fill = 0, sliders
        for _ in range(reach or self.reach):
            step = self.shifted(fill, 1)
            found, fill = found | step, step & empty
        return found

    def shifted(self, squares: int, distance: int) -> int:
        """The squares moved around the ring."""
        distance %= self.ring
        return (squares << distance | squares >> self.ring - distance) & (1 << self.ring) - 1

    def result(self, program: Program, sliders: int, empty: int) -> int:
        """What a program gives, on the ring."""
        values = [sliders, empty]
        for operation in program:
            if isinstance(operation, Shift):
                values.append(self.shifted(values[operation.source], operation.distance))
            else:
                values.append(_applied(operation, [values[at] for at in operation.sources], (1 << self.ring) - 1))
        return values[-1]

    def all_inputs(self) -> Iterator[tuple[int, int]]:
        """Every pair of inputs, in an order that mixes them; first those whose attacks no greater reach makes more."""
        count = 1 << 2 * self.ring
        pairs = [divmod(at * 0x9E3779B1 % count, 1 << self.ring) for at in range(count)]
        yield from sorted(pairs, key=lambda pair: not self.ends(*pair))

    def looked_at(self) -> list[Offset]:
        """The squares of the inputs, counted backwards around the ring, on which it depends whether one is attacked.

        Those of which inputs show it whose attacks no greater reach makes more: so it is true of any greater reach.
        """

        def matters(which: int, square: int) -> bool:
            more = ((1 << square, 0), (0, 1 << square))[which]
            for pair in product(range(1 << self.ring), repeat=2):
                changed = pair[0] | more[0], pair[1] | more[1]
                if (self.attacks(*pair) ^ self.attacks(*changed)) & 1 and self.ends(*pair) and self.ends(*changed):
                    return True
            return False

        squares = product((0, 1), range(self.ring))
        return [(which, -square % self.ring) for which, square in squares if matters(which, square)]

    def ends(self, sliders: int, empty: int) -> bool:
        """Whether the attacks would be the same with any greater reach."""
        return self.attacks(sliders, empty) == self.attacks(sliders, empty, self.reach + self.ring)


def right_on_line(program: Program, reach: int) -> bool:
    """Whether a program gives the attacks on an endless line: one square's, for all that it looks at."""
    looked_at = sorted(
        _looked_at(program, len(program) + 1, 0)
        | {(0, -step) for step in range(1, reach + 1)}
        | {(1, -step) for step in range(1, reach)}
    )
    rows = 1 << len(looked_at)
    # A column of a truth table with a row for every way that those squares can be.
    column = {square: sum((row >> at & 1) << row for row in range(rows)) for at, square in enumerate(looked_at)}
    every = (1 << rows) - 1

    @cache
    def value(number: int, square: int) -> int:
        if number < 2:
            return column[number, square]
        operation = program[number - 2]
        if isinstance(operation, Shift):
            return value(operation.source, square - operation.distance)
        return _applied(operation, [value(source, square) for source in operation.sources], every)

    wanted, path = 0, every
    for step in range(1, reach + 1):
        wanted |= column[0, -step] & path
        path &= column.get((1, -step), 0)
    return value(len(program) + 1, 0) == wanted


def on_line(program: Program, model: Model) -> Program | None:
    """The program with distances for an endless line, right there for all inputs; None where there is none.

    A distance around the ring is one of two on the line: the short way, or the other way round.
    """
    shifts = [at for at, operation in enumerate(program) if isinstance(operation, Shift)]
    for turns in product((0, model.ring), repeat=len(shifts)):
        turned = dict(zip(shifts, turns, strict=True))
        lifted = tuple(
            Shift(operation.source, operation.distance - turned[at]) if isinstance(operation, Shift) else operation
            for at, operation in enumerate(program)
        )
        if right_on_line(lifted, model.reach):
            return lifted
    return None


def _looked_at(program: Program, number: int, square: int) -> set[Offset]:
    """The squares of the inputs that a square of a value is made from."""
    if number < 2:
        return {(number, square)}
    operation = program[number - 2]
    if isinstance(operation, Shift):
        return _looked_at(program, operation.source, square - operation.distance)
    return set().union(*(_looked_at(program, source, square) for source in operation.sources))


def _applied(function: Function, arguments: Sequence[int], every: int) -> int:
    """The function of each bit; `every` has all bits set."""
    found = 0
    for bits, result in zip(product((0, 1), repeat=len(arguments)), function.table, strict=True):
        if result:
            row = every
            for bit, argument in zip(bits, arguments, strict=True):
                row &= argument if bit else ~argument
            found |= row
    return found


_TWO: dict[tuple[int, ...], str] = {(0, 0, 0, 1): "{} & {}", (0, 1, 1, 1): "{} | {}", (0, 1, 1, 0): "{} ^ {}"}
_TWO |= {(0, 0, 1, 0): "{} & ~{}", (0, 1, 0, 0): "~{} & {}"}


def text(program: Program) -> str:
    """The program on a line of its own; a function of three as vpternlogq has it, by the byte of its table.

    >>> text((Shift(0, 1), Function((1, 2), (0, 0, 0, 1)), Function((0, 2, 3), (0, 1, 1, 1, 1, 1, 1, 1))))
    'a = sliders << 1; b = empty & a; c = ternary 0xfe (sliders, a, b)'
    """
    names = ["sliders", "empty"]
    lines = []
    for operation, name in zip(program, ascii_lowercase, strict=False):
        if isinstance(operation, Shift):
            way = "<<" if operation.distance > 0 else ">>"
            lines.append(f"{name} = {names[operation.source]} {way} {abs(operation.distance)}")
        else:
            sources = [names[source] for source in operation.sources]
            if len(sources) == 2:
                lines.append(f"{name} = {_TWO[operation.table].format(*sources)}")
            else:
                byte = sum(bit << row for row, bit in enumerate(operation.table))
                lines.append(f"{name} = ternary {byte:#04x} ({', '.join(sources)})")
        names.append(name)
    return "; ".join(lines)
