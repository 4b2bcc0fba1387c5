"""Zig: plain integers and @Vector; which instructions they become is the compiler's choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from setwise.codegen.describe.routine import Parameter
from setwise.codegen.describe.values import Value
from setwise.codegen.export.names import symbol
from setwise.codegen.export.prototypes import boards_a_call, returns
from setwise.codegen.export.sources.logic import expression
from setwise.codegen.export.sources.source import Language, body, folded, indented, numeral, table_rows, unused
from setwise.codegen.lower import Kernel

HEAD = """\
const std = @import("std");
const builtin = @import("builtin");"""

_BINARY = {"and": "&", "or": "|", "xor": "^", "add": "+%", "sub": "-%", "mul": "*%"}


@dataclass(frozen=True, slots=True)
class _Zig(Language):
    """How Zig writes what a kernel is made of."""

    def number(self, value: int) -> str:
        return numeral(value)

    def operation(self, value: Value, operands: Sequence[str]) -> str:
        if value.op in ("load", "place"):
            place = _place(operands[0], operands[1], value.lanes)
            return place if value.lanes == 1 else f"@as({_type(value.lanes)}, {place})"
        if value.op == "put":
            at = int(value.attr) // 8
            return f"{_place('results', str(at), value.args[1].lanes)} = {operands[1]};"
        if value.op == "put-entry":
            return f"{_place(operands[0], operands[1], value.args[2].lanes)} = {operands[2]};"
        if value.op == "table":
            return f"{value.attr[0]}[{operands[0]}]"
        if value.op in _BINARY:
            return f"{operands[0]} {_BINARY[value.op]} {operands[1]}"
        if value.op in _SHIFTS:
            return _SHIFTS[value.op](value, operands)
        return _OTHERS[value.op](value, operands)

    def vector(self, lanes: tuple[int, ...]) -> str:
        if len(set(lanes)) == 1:
            return f"@splat({self.number(lanes[0])})"
        return f".{{ {', '.join(map(self.number, lanes))} }}"

    def table(self, name: str, numbers: Sequence[int], size: int) -> Iterator[str]:
        yield f"const {name} = [{len(numbers)}]u{8 * size}{{"
        yield from table_rows(numbers, size)
        yield "};"

    def declaration(self, name: str, lanes: int, text: str, *, carried: bool = False) -> str:
        # A variable that is never read again, or never changed, is an error in Zig unless its address is taken.
        return f"{'var' if carried else 'const'} {name}: {_type(lanes)} = {text};" + (
            f" _ = &{name};" if carried else ""
        )

    def loop(self, body: Sequence[str], leave: str) -> Iterator[str]:
        yield from ("while (true) {", *indented([*body, f"if ({leave}) break;"]), "}")

    def when(self, condition: str, body: Sequence[str]) -> Iterator[str]:
        yield from (f"if ({condition}) {{", *indented(body), "}")

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """What falls through is a condition a body; the last body takes every other number."""
        if falls:
            for number, lines in enumerate(bodies[:-1]):
                yield from self.when(f"{index} <= {number}", lines)
            yield from bodies[-1]
            return
        yield f"switch ({index}) {{"
        for number, lines in enumerate(bodies):
            arm = [f"{'else' if number == len(bodies) - 1 else number} => {{", *indented(lines), "},"]
            yield from indented(arm)
        yield "}"

    def give(self, result: str) -> str:
        return f"return {result};"


def _place(pointer: str, index: str, lanes: int) -> str:
    return f"{pointer}[{index}]" if lanes == 1 else f"{pointer}[{index}..][0..{lanes}].*"


def _shifted(sign: str) -> Callable[[Value, Sequence[str]], str]:
    return lambda value, operands: f"{operands[0]} {sign} {_count(value.lanes, _counts(value))}"


def _rotated(value: Value, operands: Sequence[str]) -> str:
    left = _counts(value)
    if value.op == "loose-shr":
        left = tuple(-n % 64 for n in left)
    right = tuple(-n % 64 for n in left)
    return f"({operands[0]} << {_count(value.lanes, left)}) | ({operands[0]} >> {_count(value.lanes, right)})"


def _counts(value: Value) -> tuple[int, ...]:
    """How far each lane is shifted: by the operation's own counts, or by a constant."""
    counts: tuple[int, ...] = value.attr
    return counts


def _count(lanes: int, counts: tuple[int, ...]) -> str:
    if lanes == 1:
        return str(counts[0])
    if len(set(counts)) == 1:
        return f"@as(@Vector({lanes}, u6), @splat({counts[0]}))"
    return f"@Vector({lanes}, u6){{ {', '.join(map(str, counts))} }}"


def _variable(sign: str) -> Callable[[Value, Sequence[str]], str]:
    """A shift by a count that is known only when the code runs; the low six bits of it count."""
    return lambda _, operands: f"@as(u64, {operands[0]}) {sign} @as(u6, @truncate({operands[1]}))"


_SHIFTS: Mapping[str, Callable[[Value, Sequence[str]], str]] = {
    "shl": _shifted("<<"),
    "shr": _shifted(">>"),
    "rotl": _rotated,
    # Nobody looks at what wraps round.
    "loose-shl": _rotated,
    "loose-shr": _rotated,
    "shlv": _variable("<<"),
    "shrv": _variable(">>"),
    "rotlv": lambda _, operands: f"std.math.rotl(u64, {operands[0]}, {operands[1]})",
}


def _bytes(sign: str) -> Callable[[Value, Sequence[str]], str]:
    def operation(value: Value, operands: Sequence[str]) -> str:
        whole = [f"@as(@Vector({8 * value.lanes}, u8), @bitCast({operand}))" for operand in operands]
        return f"@bitCast({whole[0]} {sign} {whole[1]})"

    return operation


def _shuffle(picks: Callable[[Value], Sequence[int]]) -> Callable[[Value, Sequence[str]], str]:
    """Lanes of the argument; those of a second one are numbered -1, -2 and so on."""

    def operation(value: Value, operands: Sequence[str]) -> str:
        wanted = picks(value)
        second = operands[1] if len(operands) > 1 else "undefined"
        return f"@shuffle(u64, {operands[0]}, {second}, [{len(wanted)}]i32{{ {', '.join(map(str, wanted))} }})"

    return operation


def _upper(value: Value) -> Sequence[int]:
    lanes = value.args[0].lanes
    return (1, 1) if lanes == 2 else range(lanes // 2, lanes)


def _ternary(value: Value, operands: Sequence[str]) -> str:
    named = dict(zip("abc", operands, strict=True))
    text = re.sub("[abc]", lambda found: named[found[0]], expression(int(value.attr)))
    return text.removeprefix("(").removesuffix(")") if text.startswith("(") else text


_OTHERS: Mapping[str, Callable[[Value, Sequence[str]], str]] = {
    "not": lambda _, operands: f"~{operands[0]}",
    "andn": lambda _, operands: f"~{operands[0]} & {operands[1]}",
    "scaled-sum": lambda value, operands: f"{operands[0]} +% ({operands[1]} << {value.attr[0]})",
    "ternary": _ternary,
    "add-bytes": _bytes("+%"),
    "sub-bytes": _bytes("-%"),
    "broadcast": lambda _, operands: f"@splat({operands[0]})",
    "splat": lambda _, operands: f"@splat({operands[0]}[0])",
    "from-general": lambda _, operands: f".{{ {operands[0]}, 0 }}",
    "insert": lambda _, operands: f".{{ {operands[0]}[0], {operands[1]} }}",
    "to-general": lambda _, operands: f"{operands[0]}[0]",
    "high-half": _shuffle(_upper),
    "low-half": _shuffle(lambda value: range(value.lanes)),
    "as-wide": _shuffle(lambda value: [lane % 2 for lane in range(value.lanes)]),
    "permute": _shuffle(lambda value: [int(value.attr) >> 2 * lane & 3 for lane in range(4)]),
    "blend": _shuffle(
        lambda value: [lane if int(value.attr) >> 2 * lane & 1 else -1 - lane for lane in range(value.lanes)]
    ),
}


def function(kernel: Kernel) -> str:
    """The kernel as a function; several results are an array, arrays are pointers and their length."""
    lines = body(kernel, _Zig())
    contract = kernel.routine.contract
    if not returns(kernel) and not contract.elements:
        lines = [f"var results: {_results(kernel)} = undefined;", *lines, "return results;"]
    lines = [*(f"_ = {name};" for name in unused(kernel)), *lines]
    head = f"pub fn {name_of(kernel)}({', '.join(_parameters(kernel))}) {result(kernel)} {{"
    return "\n".join(folded((head, *indented(lines), "}")))


def name_of(kernel: Kernel) -> str:
    """The kernel's function: its symbol without `setwise_`, which the file says."""
    return symbol(kernel).removeprefix("setwise_")


def result(kernel: Kernel) -> str:
    """The type of what the function gives."""
    if kernel.routine.contract.elements:
        return "void"
    return _type(boards_a_call(kernel)) if returns(kernel) else _results(kernel)


def _results(kernel: Kernel) -> str:
    return f"[{len(kernel.routine.contract.results) * boards_a_call(kernel)}]u64"


def _parameters(kernel: Kernel) -> Iterator[str]:
    for parameter in kernel.routine.contract.parameters:
        if parameter.kind != "results":
            yield f"{parameter.name}: {_parameter_type(kernel, parameter)}"


def _parameter_type(kernel: Kernel, parameter: Parameter) -> str:
    if parameter.kind == "boards":
        return "[*]u64" if parameter.name == "result" else "[*]const u64"
    return _type(1 if parameter.scalar else boards_a_call(kernel))


def _type(lanes: int) -> str:
    return "u64" if lanes == 1 else f"@Vector({lanes}, u64)"


def unit(functions: Mapping[str, Kernel]) -> str:
    """Source of a library with functions of these names that C can call.

    Which registers vectors come in depends on the CPU that is built for: it must have their width.
    """
    parts = [HEAD]
    for name, kernel in functions.items():
        parts += [function(kernel), _called_from_c(kernel, name)]
    return "\n\n".join(parts) + "\n"


def _called_from_c(kernel: Kernel, name: str) -> str:
    contract = kernel.routine.contract
    given = ", ".join(p.name for p in contract.parameters if p.kind != "results")
    typed = ", ".join(
        f"{p.name}: {'*' + _results(kernel) if p.kind == 'results' else _parameter_type(kernel, p)}"
        for p in contract.parameters
    )
    several = not returns(kernel) and not contract.elements
    call = f"results.* = {name_of(kernel)}({given});" if several else f"return {name_of(kernel)}({given});"
    gives = "void" if several else result(kernel)
    return "\n".join(folded((f"export fn {name}({typed}) {gives} {{", f"    {call}", "}")))
