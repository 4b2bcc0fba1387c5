"""The base of all source languages: templates, and methods for constructs without a template."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from setwise.codegen.export.prototypes import VECTORS, boards_a_call, returns
from setwise.codegen.export.sources.expression_templates import EXPRESSIONS
from setwise.codegen.ir.routine import Parameter
from setwise.codegen.ir.values import Condition, Value
from setwise.codegen.kernel import Kernel

INDENT = "    "
_KINDS = {"type": "u64", "signed": "i64", "small": "u6"}


class Inexpressible(ValueError):
    """An operation that the language cannot express. The message names both."""


class Language:
    """A source language: its templates, and the constructs that all languages share."""

    NAME: ClassVar[str]
    WORD: ClassVar[str]
    """The type of a board."""
    NUMBER: ClassVar[str] = "{}"
    CONSTANT: ClassVar[str]
    VARIABLE: ClassVar[str]
    """Declarations, with {name}, {type} and {text}."""
    TABLE: ClassVar[tuple[str, str]]
    """The lines around a table's rows, with {name}, {constant} (the upper-case name), {bits} of an entry and
    {length}."""
    LOOP: ClassVar[str]
    LEAVE: ClassVar[tuple[str, ...]]
    """The last lines of a loop body, with the exit condition."""
    WHEN: ClassVar[str]
    RETURN: ClassVar[str] = "return {};"
    SWITCH: ClassVar[str]
    ARM: ClassVar[str]
    """The first line of an arm of a switch, with the index."""
    DEFAULT: ClassVar[str]
    """The first line of the last arm, which is the default."""
    ARM_ENDS: ClassVar[tuple[str, str, str]] = ("}", "", "}")
    """The last lines of an arm, of one that continues into the next, if the language has that, and of the last arm."""
    INDENTED_ARMS: ClassVar[bool] = True
    IS_FIRST: ClassVar[str] = "{} <= 0"
    """The test for the index of the first body."""
    UNUSED: ClassVar[str] = ""
    """The statement that marks a parameter as used, if compilers warn of others."""
    NESTED_LANES: ClassVar[int] = 8
    """The most lanes of an expression that is an operand of another one; 0 if each value is a statement."""
    IMPORT: ClassVar[str] = ""
    """The first statement of a function with vectors."""
    RESULTS: ClassVar[tuple[str, str]] = ("", "")
    """The first and last statement of a function that returns several results: an array of {} boards."""
    ARRAY: ClassVar[str] = ""
    """The type of that array."""
    POINTERS: ClassVar[tuple[str, str]] = ("", "")
    """The types of parameters that point to boards to read, and to boards to write."""

    def number(self, value: int) -> str:
        """Return the text of a 64-bit number."""
        return self.NUMBER.format(numeral(value))

    def type_of(self, lanes: int) -> str:
        """Return the type of a vector with this many boards."""
        return VECTORS.get(lanes, self.WORD)

    def parameter_type(self, kernel: Kernel, parameter: Parameter) -> str:
        """Return the type of a parameter of a kernel's function."""
        if parameter.kind == "boards":
            return self.POINTERS[parameter.name in kernel.routine.contract.arrays[1]]
        return self.passed_type(1 if parameter.scalar else boards_a_call(kernel))

    def parameters(self, kernel: Kernel) -> str:
        """Return the parameters of a kernel's function, which returns all results by value."""
        given = [p for p in kernel.routine.contract.parameters if p.kind != "results"]
        return ", ".join(f"{p.name}: {self.parameter_type(kernel, p)}" for p in given)

    def result_type(self, kernel: Kernel) -> str:
        """Return the result type of a kernel's function, empty if it writes to an array of its caller."""
        contract, lanes = kernel.routine.contract, boards_a_call(kernel)
        if contract.elements:
            return ""
        return self.passed_type(lanes) if returns(kernel) else self.ARRAY.format(len(contract.results) * lanes)

    def passed_type(self, lanes: int) -> str:
        """Return the type of a parameter or result with this many boards."""
        return self.type_of(lanes)

    def operation(self, value: Value, operands: Sequence[str]) -> str:
        """Return the expression of an operation on operands; the whole statement for a write.

        Raise Inexpressible if the language cannot express the operation.
        """
        match value.op:
            case "load" | "place":
                return self.load(operands[0], self.index(value, operands[1]), value.lanes)
            case "put" | "put-mask":
                return self.store_result(operands[0], int(value.attr) // 8, operands[1], value.lanes)
            case "put-low" | "put-odd":
                taken = "to-general" if value.op == "put-low" else "odd-to-general"
                lane = self.on_vectors(Value(taken, value.args[1:]), operands[1:])
                return self.store_result(operands[0], int(value.attr) // 8, lane, value.lanes)
            case "put-entry":
                return self.store(operands[0], self.index(value, operands[1]), operands[2], value.args[2].lanes)
            case "put-some":
                return self.on_vectors(value, operands) + ";"
            case "table":
                name, size = value.attr
                return self.entry(name, operands[0], size)
        if value.lanes == 1 and all(arg.lanes == 1 for arg in value.args):
            return self.general(value, operands)
        return self.on_vectors(value, operands)

    def index(self, value: Value, index: str) -> str:
        """Return the index of a board in its array."""
        at = value.count // 8
        return f"({index} {'+' if at > 0 else '-'} {abs(at)})" if at else index

    def general(self, value: Value, operands: Sequence[str]) -> str:
        """Return the expression of an operation from its template."""
        given = dict(zip("abcd", (*operands, "", ""), strict=False))
        counts = value.attr if isinstance(value.attr, tuple) else (0,)
        n, m = (self.count(value.lanes, each) for each in (counts, tuple(-count % 64 for count in counts)))
        said, lanes = EXPRESSIONS.get(value.op, {}), max(value.lanes, *(arg.lanes for arg in value.args), 1)
        text = (said.get(f"{self.NAME} lanes") if lanes > 1 else None) or said.get(self.NAME)
        if text is None:
            raise Inexpressible(f"{self.NAME} has no expression for '{value.op}'")
        kinds = {key: self.type_of(lanes).replace("u64", of) for key, of in _KINDS.items()}
        return filled(text, **given, n=n, m=m, bytes=str(8 * lanes), lanes=str(lanes), **kinds)

    def count(self, lanes: int, counts: tuple[int, ...]) -> str:
        """Return the shift count of each lane."""
        return str(counts[0])

    def on_vectors(self, value: Value, operands: Sequence[str]) -> str:
        """Return the expression of an operation on vectors. Raise Inexpressible if there is none."""
        raise Inexpressible(f"{self.NAME} has no vectors for '{value.op}'")

    def vector(self, lanes: tuple[int, ...]) -> str:
        """Return the expression of a vector constant."""
        raise NotImplementedError

    def load(self, pointer: str, index: str, lanes: int) -> str:
        """Return the expression that loads boards from an array."""
        return f"{pointer}[{index}]"

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        """Return the statement that stores boards to an array."""
        return f"{pointer}[{index}] = {boards};"

    def store_result(self, pointer: str, index: int, boards: str, lanes: int) -> str:
        """Return the statement that stores boards to the results."""
        return self.store(pointer, str(index), boards, lanes)

    def table(self, name: str, numbers: Sequence[int], size: int) -> Iterator[str]:
        """Yield lines that declare a read-only table of integers of `size` bytes."""
        head, end = self.TABLE
        yield head.format(name=name, constant=name.upper(), bits=8 * size, length=len(numbers))
        width = min(16, 32 // size)
        for at in range(0, len(numbers), width):
            yield INDENT + " ".join(f"0x{n:0{2 * size}x}," for n in numbers[at : at + width])
        yield end

    def entry(self, name: str, index: str, size: int) -> str:
        """Return the expression of a table entry as a 64-bit number."""
        return f"{name}[{index}]"

    def declaration(self, name: str, lanes: int, text: str, *, carried: bool = False) -> str:
        """Return the declaration of a value; a carried value is a variable."""
        return (self.VARIABLE if carried else self.CONSTANT).format(name=name, type=self.type_of(lanes), text=text)

    def assignment(self, name: str, text: str) -> str:
        """Return the assignment of the next value to a carried variable."""
        return f"{name} = {text};"

    def condition(self, condition: Condition, text: str, *, holds: bool) -> str:
        """Return the expression of a condition, or of its negation."""
        below = (condition.kind == "below") == holds
        if condition.bound == 1:
            return f"{text} {'==' if below else '!='} 0"
        return f"{text} {'<' if below else '>='} {self.number(condition.bound)}"

    def loop(self, body: Sequence[str], leave: str) -> Iterator[str]:
        """Yield a loop that ends if `leave` holds after the body."""
        yield from (self.LOOP, *indented([*body, *(line.format(leave) for line in self.LEAVE)]), "}")

    def when(self, condition: str, body: Sequence[str]) -> Iterator[str]:
        """Yield a conditional body."""
        yield from (self.WHEN.format(condition), *indented(body), "}")

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """Yield a switch over bodies; with `falls` the selected body continues into the next.

        The last body is the default.
        """
        *firsts, last = bodies
        end, falling, last_end = self.ARM_ENDS
        if falls and not falling:
            for number, body in enumerate(firsts):
                yield from self.when(f"{index} <= {number}" if number else self.IS_FIRST.format(index), body)
            yield from last
            return
        yield self.SWITCH.format(index)
        arms = [(self.ARM.format(number), body, falling if falls else end) for number, body in enumerate(firsts)]
        for first_line, body, last_line in (*arms, (self.DEFAULT, last, last_end)):
            arm = [first_line, *indented(body), *filter(None, [last_line])]
            yield from indented(arm) if self.INDENTED_ARMS else arm
        yield "}"


def filled(template: str, **words: str) -> str:
    """Return the template with its words, in parentheses where they are neither names, calls nor arguments of calls.

    >>> filled("{a} & {b}", a="x << 1", b="f(g(x))"), filled("f({a}, {b})", a="x << 1", b="y")
    ('(x << 1) & f(g(x))', 'f(x << 1, y)')
    >>> filled("{a} | {b}", a="x | y", b="z")
    'x | y | z'
    """
    sign = re.fullmatch(r"\{a\} ([&|^]) \{b\}", template)

    def alone(key: str) -> bool:
        uses = re.findall(rf"(.?.?)\{{{key}\}}(.?)", template)
        return all(
            (before.endswith(("(", ", ")) and after in (")", ",")) or before + after == "" for before, after in uses
        )

    def bare(key: str, text: str) -> bool:
        signs = {*re.findall(r"<<|>>|\S", re.sub(r"[\w.:]+", "", _outside(text).replace(" as ", "@")))}
        return alone(key) or not signs or (sign is not None and signs == {sign[1]})

    return template.format(**{key: text if bare(key, text) else f"({text})" for key, text in words.items()})


def _outside(text: str) -> str:
    """Return an expression without its parentheses and all that is inside."""
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text


def function_text(head: Iterable[str], body: Iterable[str]) -> str:
    """Return a function with this head, which ends with an opening brace, and with this body."""
    return "\n".join(folded((*head, *indented(body), "}")))


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines, indented by one step."""
    return [INDENT + line if line else line for line in lines]


def numeral(value: int) -> str:
    """Return a number as all languages write it: decimal below 100, boards with sixteen hexadecimal digits.

    >>> numeral(63), numeral(0x2_0202), numeral(0xFF00_0000_0000_0000)
    ('63', '0x20202', '0xff00000000000000')
    """
    if value < 100:
        return str(value)
    return f"{value:#x}" if value >> 32 == 0 else f"0x{value:016x}"


def folded(lines: Iterable[str], width: int = 120) -> Iterator[str]:
    """Yield the lines, with long ones broken after commas, or after operators if there is none."""
    for line in lines:
        rest, lead = line, line[: len(line) - len(line.lstrip())] + INDENT
        while len(rest) > width and not rest.lstrip().startswith("//") and (breaks := _breaks(rest[len(lead) : width])):
            at = len(lead) + breaks[-1]
            yield rest[:at].rstrip()
            rest = lead + rest[at:]
        yield rest


def _breaks(text: str) -> list[int]:
    return next(filter(None, ([each.end() for each in re.finditer(sign, text)] for sign in (", ", r" (&&|\|) "))), [])


def commented(lines: Iterable[str], mark: str = "//") -> list[str]:
    """Return the lines as comments after a mark."""
    return [f"{mark} {line}".rstrip() for line in lines]
