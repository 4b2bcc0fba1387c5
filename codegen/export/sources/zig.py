"""Writer of a Zig file: a function per kernel, and one per routine that calls the best kernel for the target CPU.

Zig's compiler lowers plain integers and @Vector to instructions of its choice.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

from setwise.codegen.export.banner import about, described, head
from setwise.codegen.export.listings.dialects import ATT, Scaffold
from setwise.codegen.export.listings.listing import source
from setwise.codegen.export.names import bare_symbol, isa_name, symbol
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources.dispatch import Choice, boards, choices, features_of, usage
from setwise.codegen.export.sources.language import Language, commented, function_text, indented
from setwise.codegen.export.sources.requirements import FAST_PEXT, bytes_requirement, lines_for, source_facts
from setwise.codegen.export.sources.source import body
from setwise.codegen.export.sources.structures import structures
from setwise.codegen.ir.values import Condition, Value
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.processors import BASELINE

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
    "concatenate": lambda value: (*range(value.lanes // 2), *range(-1, -1 - value.lanes // 2, -1)),
    "permute": lambda value: [int(value.attr) >> 2 * lane & 3 for lane in range(4)],
    "blend": lambda value: [lane if int(value.attr) >> 2 * lane & 1 else -1 - lane for lane in range(value.lanes)],
}
"""The argument lane for each lane of the result, by operation. Lanes of the second argument are -1, -2 and so on."""

_BYTES: Mapping[str, int] = {"interleave": 0, "interleave-high": 8}
"""The first byte of each 16-byte group that an interleaving takes from its two arguments."""

_PEXT = """\
/// Whether kernels with pext and pdep may be used: your root file says so, for they are slow before Zen 3.
const fast_pext = @hasDecl(@import("root"), "setwise_pext") and @import("root").setwise_pext;"""

_HAS = """\
/// Return whether the target CPU has all these features.
fn has(comptime wanted: []const std.Target.x86.Feature) bool {
    if (builtin.cpu.arch != .x86_64) return false;
    for (wanted) |feature| {
        if (!std.Target.x86.featureSetHas(builtin.cpu.features, feature)) return false;
    }
    return true;
}"""


_DISPATCH = (
    "If the processor has a better one, found by CPUID at the first call, they call assembly in this file (Zig 0.14 or",
    "later). On macOS, and where LLVM does not compile, as in Debug builds without -fllvm, only -mcpu counts.",
)
_DETECT = """\
/// Whether the assembly in this file is used: LLVM assembles it; Zig's own backend cannot.
const assembles = builtin.cpu.arch == .x86_64 and builtin.zig_backend == .stage2_llvm and
    builtin.object_format != .macho;

/// Return eax, ebx, ecx and edx of a CPUID leaf.
fn cpuid(leaf: u32) [4]u32 {
    var b: u32, var c: u32, var d: u32 = .{ 0, 0, 0 };
    const a = asm volatile ("cpuid"
        : [_] "={eax}" (-> u32), [_] "={ebx}" (b), [_] "={ecx}" (c), [_] "={edx}" (d)
        : [_] "{eax}" (leaf), [_] "{ecx}" (@as(u32, 0)));
    return .{ a, b, c, d };
}

var known: u32 = 0;

/// Return the usable features. The first call detects them; concurrent first calls get the same result.
fn detected() u32 {
    const features = @atomicLoad(u32, &known, .monotonic);
    if (features != 0) return features;
    const leaf0, const leaf1 = .{ cpuid(0), cpuid(1) };
    const leaf7 = if (leaf0[0] < 7) .{ 0, 0, 0, 0 } else cpuid(7);
    var high: u32 = 0;
    // Without OSXSAVE there is no XGETBV, and the system saves no AVX registers.
    const state = if (leaf1[2] >> 27 & 1 == 0) 0 else asm volatile ("xgetbv"
        : [_] "={eax}" (-> u32), [_] "={edx}" (high) : [_] "{ecx}" (@as(u32, 0)));
    const found = features_of(leaf0, leaf1, leaf7, state) | 1;
    @atomicStore(u32, &known, found, .monotonic);
    return found;
}

/// Return the usable features: those that CPUID leaves 0, 1 and 7 report and whose registers the system saves.
pub fn features_of(leaf0: [4]u32, leaf1: [4]u32, leaf7: [4]u32, state: u32) u32 {
    // pext and pdep are microcode before Zen 3, family 25, of AuthenticAMD and HygonGenuine.
    const family = (leaf1[0] >> 8 & 15) + (leaf1[0] >> 20 & 255);
    const slow_pext = (leaf0[1] == 0x68747541 or leaf0[1] == 0x6F677948) and family < 25;
    _ = .{ slow_pext, leaf7, state };
    var found: u32 = 0;"""
_WITHIN = Scaffold((".text", ".p2align 4", "{symbol}:"), data=(".balign {alignment}",))
"""The lines around assembly within a Zig file. Its data is beside the code, which suits ELF and COFF."""


class _Zig(Language):
    """The Zig syntax of a kernel."""

    NAME = "Zig"
    WORD = "u64"
    # Zig rejects variables that are never read or never changed, unless their address is taken.
    CONSTANT, VARIABLE = "const {name}: {type} = {text};", "var {name}: {type} = {text}; _ = &{name};"
    TABLE = ("const {name} = [{length}]u{bits}{{", "};")
    LOOP, LEAVE = "while (true) {", ("if ({}) break;",)
    WHEN = "if ({}) {{"
    NESTED_LANES = 1  # the type of an expression of a vector depends on its place
    SWITCH, ARM, DEFAULT, ARM_ENDS = "switch ({}) {{", "{} => {{", "else => {", ("},", "", "},")
    UNUSED = "_ = {};"
    RESULTS, ARRAY = ("var results: [{}]u64 = undefined;", "return results;"), "[{}]u64"
    POINTERS = "[*]const u64", "[*]u64"

    def type_of(self, lanes: int) -> str:
        return "u64" if lanes == 1 else f"@Vector({lanes}, u64)"

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

    def condition(self, condition: Condition, text: str, *, holds: bool) -> str:
        united = f"@reduce(.Or, {text})" if condition.value.lanes > 1 else text
        return super().condition(condition, united, holds=holds)

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
        return place if lanes == 1 else f"@as({self.type_of(lanes)}, {place})"

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        return f"{_place(pointer, index, lanes)} = {boards};"


def _place(pointer: str, index: str, lanes: int) -> str:
    return f"{pointer}[{index}]" if lanes == 1 else f"{pointer}[{index}..][0..{lanes}].*"


def _in_turns(begin: int, number: int, operands: Sequence[str]) -> str:
    parts = (byte for part in range(begin, number, 16) for byte in range(part, part + 8))
    taken = ", ".join(f"{byte}, {-1 - byte}" for byte in parts)
    first, second = (f"@as(@Vector({number}, u8), @bitCast({operand}))" for operand in operands)
    return f"@bitCast(@shuffle(u8, {first}, {second}, [{number}]i32{{ {taken} }}))"


def _ternary(value: Value, operands: Sequence[str]) -> str:
    names = dict(zip("abc", operands, strict=True))
    text = re.sub("[abc]", lambda letter: names[letter[0]], three_input_logic(int(value.attr)))
    return text.removeprefix("(").removesuffix(")") if text.startswith("(") else text


def three_input_logic(truth: int) -> str:
    """Return a short, fully parenthesized expression of a, b and c with this truth table.

    >>> three_input_logic(0xF8), three_input_logic(0xE4), three_input_logic(0x10)
    ('(a | (b & c))', '(b ^ (c & (a ^ b)))', '(a & ~(b | c))')
    """
    return _expressions()[truth]


@cache
def _expressions() -> Mapping[int, str]:
    """Return an expression for each of the 256 truth tables, found by increasing number of operations.

    The three inputs have truth tables, too: bit 4a + 2b + c of a table is the value for a, b and c.
    """
    levels: list[dict[int, str]] = [{0xF0: "a", 0xCC: "b", 0xAA: "c"}]
    expressions = dict(levels[0])
    while len(expressions) < 256:
        level = {~truth & 0xFF: f"~{text}" for truth, text in levels[-1].items()}
        for lefts, rights in zip(levels, reversed(levels), strict=True):
            for (left, first), (right, second) in product(lefts.items(), rights.items()):
                for sign, truth in (("&", left & right), ("|", left | right), ("^", left ^ right)):
                    level.setdefault(truth, f"({first} {sign} {second})")
        levels.append({truth: text for truth, text in level.items() if truth not in expressions})
        expressions.update(levels[-1])
    return expressions


def function(kernel: Kernel, functions: Iterable[str] = ()) -> str:
    """Return the kernel as a function. Several results are an array; arrays are pointers and a length.

    `functions` are the names of the file's functions, which locals cannot have in Zig.
    """
    language = _Zig()
    head = f"pub fn {bare_symbol(kernel)}({language.parameters(kernel)}) {_result(kernel)} {{"
    return function_text([head], body(kernel, language, functions))


def _result(kernel: Kernel) -> str:
    return _Zig().result_type(kernel) or "void"


def module(order: Order) -> str:
    """Return the text of the file."""
    offered = choices(order)
    functions = {*map(bare_symbol, order.kernels), *(choice.bare for choice in offered)}
    parts = [_introduction(order, offered), HEAD, *structures(order, "Zig")]
    parts += [_documented(each, order, functions) for each in order.kernels]
    if any(choice.features for choice in offered):
        parts.append(_HAS)
    if FAST_PEXT in features_of(offered):
        parts.append(_PEXT)
    asked = [kernel for choice in offered for kernel, _ in choice.better if _asked(kernel, order)]
    if asked:
        parts += [_detection(asked, order), *map(_assembly, asked)]
    return "\n\n".join((*parts, *(_choice(choice, order) for choice in offered))) + "\n"


def _asked(kernel: Kernel, order: Order) -> list[str]:
    """Return the features for which a program asks the processor before it calls the kernel's assembly, if it may."""
    return [feature for feature in bytes_requirement(kernel, order) if order.dispatch and feature not in BASELINE]


def _detection(kernels: Sequence[Kernel], order: Order) -> str:
    """Return the definitions that find out which of these kernels a processor can execute."""
    needed = {feature for kernel in kernels for feature in _asked(kernel, order)}
    syntax = "{word} & {mask} == {mask}", "!slow_pext", " and "
    tests = lines_for(needed, "    if ({test})\n        found |= {name};", *syntax)
    return "\n".join((*lines_for(needed, "const {name} = {bit};"), "", _DETECT, *tests, "    return found;", "}"))


def _assembly(kernel: Kernel) -> str:
    """Return the assembly of a kernel, and the declaration of its function in the System V convention."""
    name, parameters, made = symbol(kernel), _Zig().parameters(kernel), _result(kernel)
    if made.startswith("["):
        parameters, made = f"{parameters}, results: *{made}", "void"
    lines = "\n".join(source(kernel.code, name, replace(ATT, scaffolds={"elf": _WITHIN}))).splitlines()
    text = "\n".join(f"        \\\\{line}" for line in lines)
    declared = f"extern fn {name}({parameters}) callconv(.{{ .x86_64_sysv = .{{}} }}) {made};"
    return f"{declared}\ncomptime {{\n    if (assembles) asm (\n{text}\n    );\n}}"


def _introduction(order: Order, offered: Sequence[Choice]) -> str:
    lines = [
        *head(order, f"{order.called}.zig"),
        "",
        f'Use it with `const {order.called} = @import("{order.called}.zig");`.',
        boards(order.kernels),
        "Functions without an instruction set in their name use the best one of the target CPU (-mcpu).",
        *(_DISPATCH if order.dispatch else ()),
        "A function with _isa at the end of its name tells which.",
        "Zig has no intrinsics: setwise selects the operations, your compiler the instructions.",
    ]
    if FAST_PEXT in features_of(offered):
        lines.append("Kernels with pext and pdep, which are slow before Zen 3, are used only if your root file has")
        lines.append(f"`pub const setwise_pext = true;`{', or with --dispatch where they are fast' * order.dispatch}.")
    return "\n".join(commented(lines))


def _documented(kernel: Kernel, order: Order, functions: Iterable[str]) -> str:
    lines = about(kernel, source_facts(kernel, order))
    return "\n".join((*commented(lines, "///"), function(kernel, functions)))


def _choice(choice: Choice, order: Order) -> str:
    plain = choice.plain
    contract = plain.routine.contract
    arguments = [p.name for p in contract.parameters if p.kind != "results"]
    typed = [f"{name}: u64" for name in arguments]
    lines = []
    if contract.elements:
        inputs, written = contract.arrays
        *others, last = (*inputs, *written)
        lines += [f"std.debug.assert({name}.len == {last}.len);" for name in others]
        arguments = [*(f"{name}.ptr" for name in (*others, last)), f"{last}.len"]
        typed = [*(f"{name}: []const u64" for name in inputs), *(f"{name}: []u64" for name in written)]
    line = f"pub fn {choice.bare}({', '.join(typed)}) {_result(plain)} {{"
    text = described(plain.routine, f"Usage: `{usage(contract, f'{order.called}.{choice.bare}', 'const', '')}`")
    made, given = _result(plain), ", ".join(arguments)
    assembled = called = f"return {{}}({given});"
    if made.startswith("["):
        assembled = f"var results: {made} = undefined;\n{{}}({given}, &results);\nreturn results;"
    calls = _branching(
        choice, order, lambda kernel: (called.format(bare_symbol(kernel)), assembled.format(symbol(kernel)))
    )
    names = _branching(choice, order, lambda kernel: (f'return "{isa_name(kernel)}";',) * 2)
    named = (
        f'/// Return the instruction set that {choice.bare}() uses, such as "x86-64".',
        f"pub fn {choice.bare}_isa() []const u8 {{",
    )
    return "\n\n".join((function_text((*commented(text, "///"), line), [*lines, *calls]), function_text(named, names)))


def _branching(choice: Choice, order: Order, endings: Callable[[Kernel], tuple[str, str]]) -> Iterator[str]:
    """Yield statements that end with the best kernel of a choice: in its source or, with dispatch, in its assembly."""
    for kernel, needs in choice.better:
        in_source, in_assembly = endings(kernel)
        wanted = ", ".join(f".{feature.replace('bmi1', 'bmi')}" for feature in needs if feature != FAST_PEXT)
        allowed = " and fast_pext" if FAST_PEXT in needs else ""
        yield f"if (comptime has(&.{{ {wanted} }}){allowed}) {in_source}"
        if asked := " | ".join(lines_for(_asked(kernel, order), "{name}")):
            test = f"if (assembles and ~detected() & ({asked}) == 0) {{"
            yield from (test, *indented(in_assembly.splitlines()), "}")
    yield endings(choice.plain)[0]
