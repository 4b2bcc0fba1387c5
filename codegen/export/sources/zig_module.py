"""The Zig file: every kernel as a function, and a function per routine that chooses the best for the target CPU."""

from setwise.codegen.export.banner import about, head
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources.dispatch import Choice, boards, choices, comment_lines, usage
from setwise.codegen.export.sources.intrinsics import feature_names
from setwise.codegen.export.sources.language import commented, folded, indented
from setwise.codegen.export.sources.source import results_in_order
from setwise.codegen.export.sources.zig import HEAD, function, name_of, result
from setwise.codegen.kernel import Kernel
from setwise.codegen.targets.table import Target

_HAS = """\
/// Return whether the target CPU has all these features.
fn has(comptime wanted: []const std.Target.x86.Feature) bool {
    if (builtin.cpu.arch != .x86_64) return false;
    for (wanted) |feature| {
        if (!std.Target.x86.featureSetHas(builtin.cpu.features, feature)) return false;
    }
    return true;
}"""


def files(order: Order) -> dict[str, bytes]:
    """Return the file's name and content."""
    if order.dispatch:
        raise ValueError("--dispatch is for C and Rust only: Zig code targets one CPU (-mcpu)")
    return {f"{order.called}.zig": module(order).encode("ascii")}


def module(order: Order) -> str:
    """Return the text of the file."""
    offered = choices(order.kernels)
    functions = {*map(name_of, order.kernels), *(choice.bare for choice in offered)}
    for kernel in order.kernels:
        if taken := functions & {parameter.name for parameter in kernel.routine.contract.parameters}:
            what = f"{kernel.name}: parameter '{min(taken)}' has the name of a routine in the same file"
            raise ValueError(f"{what}, which Zig rejects: export them separately")
    parts = [_introduction(order), HEAD, *(_documented(kernel, order) for kernel in order.kernels)]
    if any(len(choice.kernels) > 1 for choice in offered):
        parts.append(_HAS)
    return "\n\n".join((*parts, *(_choice(choice, order.called) for choice in offered))) + "\n"


def _introduction(order: Order) -> str:
    lines = [
        *head(order, f"{order.called}.zig"),
        "",
        f'Use it with `const {order.called} = @import("{order.called}.zig");`.',
        boards(order.kernels),
        "Functions without an instruction set in their name use the best one of the target CPU (-mcpu).",
        "Zig has no intrinsics: setwise selects the operations, your compiler the instructions.",
    ]
    return "\n".join(commented(lines))


def _documented(kernel: Kernel, order: Order) -> str:
    lines = about(kernel, order.facts(kernel), *results_in_order(kernel), word="u64", returned=True)
    return "\n".join((*commented(lines, "///"), function(kernel)))


def _choice(choice: Choice, file: str) -> str:
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
    line = f"pub fn {choice.bare}({', '.join(typed)}) {result(plain)} {{"
    text = [*comment_lines(choice), f"Usage: `{usage(plain.routine.contract, f'{file}.{choice.bare}', 'const', '')}`"]
    return "\n".join(folded((*commented(text, "///"), line, *indented(lines), "}")))


def _wanted(target: Target) -> str:
    return ", ".join(f".{feature}" for feature in feature_names(target, {"bmi1": "bmi"}))
