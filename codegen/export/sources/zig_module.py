"""The Zig file: every kernel as a function, and a function a routine that takes the best for the CPU built for."""

from __future__ import annotations

from setwise.codegen.export.banner import about
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources.dispatch import Choice, boards, choices, documentation
from setwise.codegen.export.sources.intrinsics import feature_names
from setwise.codegen.export.sources.language import commented, folded, indented
from setwise.codegen.export.sources.source import results_in_order
from setwise.codegen.export.sources.zig import HEAD, function, name_of, result
from setwise.codegen.kernel import Kernel
from setwise.codegen.targets.table import Target

NAME = "setwise.zig"

_HAS = """\
/// Whether code is built for a CPU with all these features.
fn has(comptime wanted: []const std.Target.x86.Feature) bool {
    if (builtin.cpu.arch != .x86_64) return false;
    for (wanted) |feature| {
        if (!std.Target.x86.featureSetHas(builtin.cpu.features, feature)) return false;
    }
    return true;
}"""


def files(order: Order) -> dict[str, bytes]:
    """The file's name and its bytes."""
    if order.dispatch:
        raise ValueError("--dispatch is for C and Rust: Zig builds a function for one CPU, which -mcpu names")
    return {NAME: module(order).encode("ascii")}


def module(order: Order) -> str:
    """The file, to be imported."""
    offered = choices(order.kernels)
    functions = {*map(name_of, order.kernels), *(choice.name.removeprefix("setwise_") for choice in offered)}
    for kernel in order.kernels:
        if taken := functions & {parameter.name for parameter in kernel.routine.contract.parameters}:
            what = f"{kernel.name}: parameter '{min(taken)}' is called as a routine of the same file"
            raise ValueError(f"{what}, which Zig refuses: export them one by one")
    parts = [_introduction(order), HEAD, *(_documented(kernel, order) for kernel in order.kernels)]
    if any(len(choice.kernels) > 1 for choice in offered):
        parts.append(_HAS)
    return "\n\n".join((*parts, *map(_choice, offered))) + "\n"


def _introduction(order: Order) -> str:
    lines = [
        f"{NAME}, made by {order.made_by}",
        "",
        'Use it with `const setwise = @import("setwise.zig");`.',
        boards(order.kernels),
        "Functions without an instruction set in their name take what suits the CPU that is built for (-mcpu).",
        "Zig has no intrinsics: the operations are setwise's choice, the instructions your compiler's.",
    ]
    return "\n".join(commented(lines))


def _documented(kernel: Kernel, order: Order) -> str:
    lines = about(kernel, order.facts(kernel), *results_in_order(kernel), word="u64", returned=True)
    return "\n".join((*commented(lines, "///"), function(kernel)))


def _choice(choice: Choice) -> str:
    *better, plain = choice.kernels
    contract = plain.routine.contract
    arguments = [p.name for p in contract.parameters if p.kind != "results"]
    typed = [f"{name}: u64" for name in arguments]
    lines = []
    if contract.elements:
        *inputs, written = [p.name for p in contract.parameters if p.kind == "boards"]
        lines += [f"std.debug.assert({name}.len == {written}.len);" for name in inputs]
        arguments = [*(f"{name}.ptr" for name in (*inputs, written)), f"{written}.len"]
        typed = [*(f"{name}: []const u64" for name in inputs), f"{written}: []u64"]
    for kernel in better:
        lines.append(
            f"if (comptime has(&.{{ {_wanted(kernel.target)} }})) return {name_of(kernel)}({', '.join(arguments)});"
        )
    lines.append(f"return {name_of(plain)}({', '.join(arguments)});")
    head = f"pub fn {choice.name.removeprefix('setwise_')}({', '.join(typed)}) {result(plain)} {{"
    return "\n".join(folded((*commented(documentation(choice), "///"), head, *indented(lines), "}")))


def _wanted(target: Target) -> str:
    return ", ".join(f".{feature}" for feature in feature_names(target, {"bmi1": "bmi"}))
