"""Zig source: plain integers and @Vector, which the compiler lowers to instructions of its choice."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from setwise.codegen.export.names import bare_symbol
from setwise.codegen.export.prototypes import boards_a_call, returns
from setwise.codegen.export.sources.language import Language, folded, indented
from setwise.codegen.export.sources.logic import expression
from setwise.codegen.export.sources.source import body, unused
from setwise.codegen.ir.routine import Parameter
from setwise.codegen.ir.values import Value
from setwise.codegen.kernel import Kernel

HEAD = """\
const std = @import("std");
const builtin = @import("builtin");"""

_LANES: Mapping[str, Callable[[Value], Sequence[int]]] = {
    "high-half": lambda value: (1, 1) if value.args[0].lanes == 2 else range(value.lanes, 2 * value.lanes),
    "low-half": lambda value: range(value.lanes),
    "as-wide": lambda value: [lane % 2 for lane in range(value.lanes)],
    "join": lambda value: [-lane if lane % 2 else lane for lane in range(value.lanes)],
    "join-odd": lambda value: [-1 - lane if lane % 2 else lane + 1 for lane in range(value.lanes)],
    "exchange": lambda value: [lane ^ 2 for lane in range(value.lanes)],
    "repeat": lambda _: (0, 1, 0, 1, -1, -2, -1, -2),
    "permute": lambda value: [int(value.attr) >> 2 * lane & 3 for lane in range(4)],
    "blend": lambda value: [lane if int(value.attr) >> 2 * lane & 1 else -1 - lane for lane in range(value.lanes)],
}
"""The argument lanes of each lane operation. Lanes of the second argument are numbered -1, -2 and so on."""

_BYTES: Mapping[str, int] = {"interleave": 0, "interleave-high": 8}
"""The first byte of each 16-byte group that an interleaving takes from its two arguments."""


class _Zig(Language):
    """The Zig syntax of a kernel."""

    NAME = "Zig"
    WORD = "u64"
    # Zig rejects variables that are never read or never changed, unless their address is taken.
    CONSTANT, VARIABLE = "const {name}: {type} = {text};", "var {name}: {type} = {text}; _ = &{name};"
    TABLE = ("const {name} = [{length}]u{bits}{{", "};")
    LOOP, LEAVE = "while (true) {", ("if ({}) break;",)
    WHEN = "if ({}) {{"
    SWITCH, OTHERS, ARM_END = "switch ({}) {{", "else", "},"

    def type_of(self, lanes: int) -> str:
        return _type(lanes)

    def on_vectors(self, value: Value, operands: Sequence[str]) -> str:
        if value.op == "ternary":
            return _ternary(value, operands)
        if value.op in _BYTES:
            return _in_turns(_BYTES[value.op], 8 * value.lanes, operands)
        if value.op not in _LANES:
            return self.general(value, operands)
        lanes = _LANES[value.op](value)
        first, second = (*operands, "undefined")[:2]
        return f"@shuffle(u64, {first}, {second}, [{len(lanes)}]i32{{ {', '.join(map(str, lanes))} }})"

    def count(self, lanes: int, counts: tuple[int, ...]) -> str:
        if lanes == 1:
            return str(counts[0])
        if len(set(counts)) == 1:
            return f"@as(@Vector({lanes}, u6), @splat({counts[0]}))"
        return f"@Vector({lanes}, u6){{ {', '.join(map(str, counts))} }}"

    def vector(self, lanes: tuple[int, ...]) -> str:
        if len(set(lanes)) == 1:
            return f"@splat({self.number(lanes[0])})"
        return f".{{ {', '.join(map(self.number, lanes))} }}"

    def load(self, pointer: str, index: str, lanes: int) -> str:
        place = _place(pointer, index, lanes)
        return place if lanes == 1 else f"@as({_type(lanes)}, {place})"

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        return f"{_place(pointer, index, lanes)} = {boards};"

    def store_result(self, pointer: str, index: int, boards: str, lanes: int) -> str:
        """Return the statement that stores boards to the function's own array of results."""
        return self.store("results", str(index), boards, lanes)


def _place(pointer: str, index: str, lanes: int) -> str:
    return f"{pointer}[{index}]" if lanes == 1 else f"{pointer}[{index}..][0..{lanes}].*"


def _in_turns(begin: int, number: int, operands: Sequence[str]) -> str:
    parts = (byte for part in range(begin, number, 16) for byte in range(part, part + 8))
    taken = ", ".join(f"{byte}, {-1 - byte}" for byte in parts)
    first, second = (f"@as(@Vector({number}, u8), @bitCast({operand}))" for operand in operands)
    return f"@bitCast(@shuffle(u8, {first}, {second}, [{number}]i32{{ {taken} }}))"


def _ternary(value: Value, operands: Sequence[str]) -> str:
    names = dict(zip("abc", operands, strict=True))
    text = re.sub("[abc]", lambda letter: names[letter[0]], expression(int(value.attr)))
    return text.removeprefix("(").removesuffix(")") if text.startswith("(") else text


def function(kernel: Kernel) -> str:
    """Return the kernel as a function. Several results are an array; arrays are pointers and a length."""
    lines = body(kernel, _Zig())
    contract = kernel.routine.contract
    if not returns(kernel) and not contract.elements:
        lines = [f"var results: {_results(kernel)} = undefined;", *lines, "return results;"]
    lines = [*(f"_ = {name};" for name in unused(kernel)), *lines]
    head = f"pub fn {name_of(kernel)}({', '.join(_parameters(kernel))}) {result(kernel)} {{"
    return "\n".join(folded((head, *indented(lines), "}")))


def name_of(kernel: Kernel) -> str:
    """Return the name of the kernel's function: its symbol without the prefix."""
    return bare_symbol(kernel)


def result(kernel: Kernel) -> str:
    """Return the result type of the function."""
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
    """Return a library of functions with these names that C can call.

    The registers of vectors depend on the target CPU, which must support their width.
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
