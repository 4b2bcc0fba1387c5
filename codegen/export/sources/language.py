"""How a language writes what a kernel is made of: a table of templates, and a method where no template says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from setwise.codegen.export.prototypes import VECTORS
from setwise.codegen.export.sources.expression_templates import EXPRESSIONS
from setwise.codegen.ir.values import Condition, Value

INDENT = "    "


class Unsaid(ValueError):
    """A language has no words for an operation; the message names both."""


class Language:
    """One language: its templates, and what is alike in all of them."""

    NAME: ClassVar[str]
    WORD: ClassVar[str]
    """The type of a board."""
    NUMBER: ClassVar[str] = "{}"
    CONSTANT: ClassVar[str]
    VARIABLE: ClassVar[str]
    """Declarations: {name}, {type}, {text}."""
    TABLE: ClassVar[tuple[str, str]]
    """Around a table's rows: {name}, {constant} (the name in capitals), {bits} of an integer, {length}."""
    LOOP: ClassVar[str]
    LEAVE: ClassVar[tuple[str, ...]]
    """The end of a loop if a condition holds."""
    WHEN: ClassVar[str]
    RETURN: ClassVar[str] = "return {};"
    SWITCH: ClassVar[str]
    OTHERS: ClassVar[str]
    """Every number that has no body of its own."""
    ARM_END: ClassVar[str] = "}"
    IS_FIRST: ClassVar[str] = "{} <= 0"
    """Whether an index is that of the first body."""

    def number(self, value: int) -> str:
        """A 64-bit number."""
        return self.NUMBER.format(numeral(value))

    def type_of(self, lanes: int) -> str:
        """The type of so many boards."""
        return VECTORS.get(lanes, self.WORD)

    def operation(self, value: Value, operands: Sequence[str]) -> str:
        """The expression of an operation on operands that are names or numbers; for a write the whole statement.

        Unsaid for one that the language does not have.
        """
        match value.op:
            case "load" | "place":
                return self.load(operands[0], self.index(value, operands[1]), value.lanes)
            case "put":
                return self.store_result(operands[0], int(value.attr) // 8, operands[1], value.lanes)
            case "put-low":
                low = self.on_vectors(Value("to-general", value.args[1:]), operands[1:])
                return self.store_result(operands[0], int(value.attr) // 8, low, value.lanes)
            case "put-entry":
                return self.store(operands[0], self.index(value, operands[1]), operands[2], value.args[2].lanes)
            case "table":
                name, size = value.attr
                return self.entry(name, operands[0], size)
        if value.lanes == 1 and all(arg.lanes == 1 for arg in value.args):
            return self.general(value, operands)
        return self.on_vectors(value, operands)

    def index(self, value: Value, index: str) -> str:
        """Where in its array a board lies."""
        at = value.count // 8
        return f"({index} {'+' if at > 0 else '-'} {abs(at)})" if at else index

    def general(self, value: Value, operands: Sequence[str]) -> str:
        """An operation by its template."""
        a, b = (*operands, "")[:2]
        counts = value.attr if isinstance(value.attr, tuple) else (0,)
        n, m = (self.count(value.lanes, each) for each in (counts, tuple(-count % 64 for count in counts)))
        if self.NAME not in EXPRESSIONS.get(value.op, ()):
            raise Unsaid(f"{self.NAME} has no expression for '{value.op}'")
        return EXPRESSIONS[value.op][self.NAME].format(a=a, b=b, n=n, m=m, bytes=8 * value.lanes)

    def count(self, lanes: int, counts: tuple[int, ...]) -> str:
        """How far each lane is shifted."""
        return str(counts[0])

    def on_vectors(self, value: Value, operands: Sequence[str]) -> str:
        """An operation that has to do with several lanes."""
        raise NotImplementedError

    def vector(self, lanes: tuple[int, ...]) -> str:
        """The expression of a constant with a number a lane."""
        raise NotImplementedError

    def load(self, pointer: str, index: str, lanes: int) -> str:
        """Boards of an array."""
        raise NotImplementedError

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        """The statement that writes boards to an array."""
        raise NotImplementedError

    def store_result(self, pointer: str, index: int, boards: str, lanes: int) -> str:
        """The statement that writes boards to the results."""
        return self.store(pointer, str(index), boards, lanes)

    def table(self, name: str, numbers: Sequence[int], size: int) -> Iterator[str]:
        """Lines that declare a read-only table of integers of `size` bytes."""
        head, end = self.TABLE
        yield head.format(name=name, constant=name.upper(), bits=8 * size, length=len(numbers))
        width = min(16, 32 // size)
        for at in range(0, len(numbers), width):
            yield INDENT + " ".join(f"0x{n:0{2 * size}x}," for n in numbers[at : at + width])
        yield end

    def entry(self, name: str, index: str, size: int) -> str:
        """An entry of a table as a 64-bit number."""
        return f"{name}[{index}]"

    def declaration(self, name: str, lanes: int, text: str, *, carried: bool = False) -> str:
        """A name for a value; one that is carried changes later."""
        return (self.VARIABLE if carried else self.CONSTANT).format(name=name, type=self.type_of(lanes), text=text)

    def assignment(self, name: str, text: str) -> str:
        """A carried value gets its next one."""
        return f"{name} = {text};"

    def condition(self, condition: Condition, text: str, *, holds: bool) -> str:
        """The condition on a value, or its opposite."""
        if condition.kind == "nonzero":
            return f"{text} {'!=' if holds else '=='} 0"
        return f"{text} {'<' if (condition.kind == 'below') == holds else '>='} {self.number(condition.bound)}"

    def loop(self, body: Sequence[str], leave: str) -> Iterator[str]:
        """The body again and again, until the condition `leave` holds at its end."""
        yield from (self.LOOP, *indented([*body, *(line.format(leave) for line in self.LEAVE)]), "}")

    def when(self, condition: str, body: Sequence[str]) -> Iterator[str]:
        """The body if the condition holds."""
        yield from (self.WHEN.format(condition), *indented(body), "}")

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """One of the bodies, with `falls` those after it too; the last one takes every other number."""
        *firsts, last = bodies
        if falls:
            for number, body in enumerate(firsts):
                yield from self.when(f"{index} <= {number}" if number else self.IS_FIRST.format(index), body)
            yield from last
            return
        yield self.SWITCH.format(index)
        for label, body in (*enumerate(firsts), (self.OTHERS, last)):
            yield from indented([f"{label} => {{", *indented(body), self.ARM_END])
        yield "}"


def indented(lines: Iterable[str]) -> list[str]:
    """The lines, a step further in."""
    return [INDENT + line if line else line for line in lines]


def numeral(value: int) -> str:
    """A number as all languages write it: small ones in decimal, boards in sixteen digits.

    >>> numeral(63), numeral(0x2_0202), numeral(0xFF00_0000_0000_0000)
    ('63', '0x20202', '0xff00000000000000')
    """
    if value < 100:
        return str(value)
    return f"{value:#x}" if value >> 32 == 0 else f"0x{value:016x}"


def folded(lines: Iterable[str], width: int = 120) -> Iterator[str]:
    """The lines, those that are too long broken behind commas."""
    for line in lines:
        rest, lead = line, line[: len(line) - len(line.lstrip())] + INDENT
        while len(rest) > width and (at := rest.rfind(", ", len(lead), width)) > 0:
            yield rest[: at + 1]
            rest = lead + rest[at + 2 :]
        yield rest


def commented(lines: Iterable[str], mark: str = "//") -> list[str]:
    """The lines as comments, each behind a mark."""
    return [f"{mark} {line}".rstrip() for line in lines]
