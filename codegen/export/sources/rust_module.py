"""The Rust module: every kernel as an unsafe function, and a safe function per routine that chooses the best."""

from collections.abc import Iterator, Sequence

from setwise.codegen.export.banner import about, head
from setwise.codegen.export.compiler_names import OF_SETS
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources.dispatch import (
    BITS,
    LEAVES,
    NOTE,
    Choice,
    boards,
    choice_basis,
    choices,
    comment_lines,
    constant_name,
    requirement,
    sets_of_choices,
    usage,
)
from setwise.codegen.export.sources.intrinsics import feature_names
from setwise.codegen.export.sources.language import commented, folded, indented
from setwise.codegen.export.sources.rust import ALLOWED, function, name_of, result
from setwise.codegen.export.sources.source import results_in_order
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.cpu import XSAVE
from setwise.codegen.targets.table import Target

_DETECT = f"""\
/// Return the usable instruction sets. The first call detects them; concurrent first calls get the same result.
{ALLOWED}
fn sets() -> u32 {{
    use core::sync::atomic::{{AtomicU32, Ordering}};
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    if ENABLED == ALL {{
        return ALL;
    }}
    let known = KNOWN.load(Ordering::Relaxed);
    if known != 0 {{
        return known;
    }}
    let found = detect();
    KNOWN.store(found, Ordering::Relaxed);
    found
}}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> u32 {{
    X86_64
}}

#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)]
fn detect() -> u32 {{
    use core::arch::x86_64::{{__cpuid, __cpuid_count}};
    unsafe {{
        let last = __cpuid(0).eax;
        let leaf = |n: u32| {{
            if n > last {{
                return [0; 4];
            }}
            let registers = __cpuid_count(n, 0);
            [registers.eax, registers.ebx, registers.ecx, registers.edx]
        }};
        let leaf1 = leaf({LEAVES[0]});
        // Without OSXSAVE the system saves only the SSE registers, and XGETBV is an invalid instruction.
        let state = if leaf1[{XSAVE[1]}] >> {XSAVE[2]} & 1 != 0 {{ saved_state() }} else {{ 0 }};
        sets_of(leaf1, leaf({LEAVES[1]}), state)
    }}
}}

/// Return XCR0: the register states that the operating system saves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
#[allow(unsafe_op_in_unsafe_fn)]
unsafe fn saved_state() -> u64 {{
    core::arch::x86_64::_xgetbv(0)
}}"""


def files(order: Order) -> dict[str, bytes]:
    """Return the module's file name and content."""
    return {f"{order.called}.rs": module(order).encode("ascii")}


def module(order: Order) -> str:
    """Return the module's text, for any edition from 2018 on."""
    offered = choices(order.kernels)
    parts = [_introduction(order), *(_documented(kernel, order) for kernel in order.kernels)]
    if offered:
        parts += [*_sets(sets_of_choices(offered), order.dispatch), *(_choice(choice, order) for choice in offered)]
    return "\n\n".join(parts) + "\n"


def _introduction(order: Order) -> str:
    newest = max((kernel.target for kernel in order.kernels), key=lambda target: OF_SETS[target.name].rustc)
    needed = OF_SETS[newest.name]
    how = choice_basis(order.dispatch, "-C target-cpu=native")
    lines = [
        *head(order, f"{order.called}.rs"),
        "",
        f"A module for any crate, also no_std: put it next to main.rs and write `mod {order.called};`.",
        f"It needs rustc {needed.rustc}{f', for {newest.title}' if needed.newer_rustc else ''}.",
        boards(order.kernels),
        f"Safe functions use the best instruction set, chosen {how}.",
        NOTE,
    ]
    return "\n".join(commented(lines))


def _documented(kernel: Kernel, order: Order) -> str:
    text = about(kernel, order.facts(kernel), *results_in_order(kernel), word="u64", returned=True)
    lines = ["```text", *text, "```", "# Safety", *_safety(kernel)]
    return "\n".join((*commented(lines, "///"), function(kernel)))


def _safety(kernel: Kernel) -> list[str]:
    contract = kernel.routine.contract
    needed = feature_names(kernel.target, {})
    wants = [f"- The processor has {', '.join(needed)}."] if needed else []
    wants += [f"- {p.name} is below {p.below}." for p in contract.parameters if p.below]
    if contract.elements:
        wants += ["- Every pointer is valid for n boards and aligned for u64."]
        wants += ["- result is the same array as one input, or overlaps none."]
    sound = "Any arguments are sound"
    sound += "; if a requirement is violated, only the results are unspecified." if contract.required else "."
    return wants or [sound]


def _sets(targets: Sequence[Target], dispatch: bool) -> Iterator[str]:
    """Yield the definitions from which `sets()` finds the usable instruction sets."""
    names = ["X86_64", *(constant_name(target) for target in targets)]
    bits = [1, *(BITS[target.name] for target in targets)]
    constants = [f"#[allow(dead_code)]\nconst {name}: u32 = {bit};" for name, bit in zip(names, bits, strict=True)]
    chosen = [
        "const ENABLED: u32 = X86_64",
        *(f"    | if {_cfg(target)} {{ {constant_name(target)} }} else {{ 0 }}" for target in targets),
    ]
    yield "\n".join(
        (
            *constants,
            f"#[allow(dead_code)]\nconst ALL: u32 = {' | '.join(names)};",
            "/// The instruction sets that the compiler flags enable.",
            "#[rustfmt::skip]",
            *folded((*chosen[:-1], chosen[-1] + ";")),
        )
    )
    if dispatch and targets:
        yield _sets_of(targets)
        yield _DETECT
    else:
        yield "fn sets() -> u32 {\n    ENABLED\n}"


def _cfg(target: Target) -> str:
    wanted = ", ".join(f'target_feature = "{feature}"' for feature in feature_names(target, {}))
    return f'cfg!(all(target_arch = "x86_64", {wanted}))'


def _sets_of(targets: Sequence[Target]) -> str:
    """Return a function from the results of CPUID and XGETBV to instruction sets."""
    lines = ["let mut sets = X86_64;"]
    for target in targets:
        tests = [f"{word} & {mask} == {mask}" for word, mask in requirement(target).tests]
        flag = f"sets |= {constant_name(target)};"
        lines += [f"if {' && '.join(tests)} {{", f"    {flag}", "}"] if tests else [flag]
    return "\n".join(
        (
            "/// Return the instruction sets that CPUID leaves 1 and 7 report and whose registers the system saves.",
            '#[cfg(target_arch = "x86_64")]',
            "#[allow(unused_variables)]",
            "pub fn sets_of(leaf1: [u32; 4], leaf7: [u32; 4], state: u64) -> u32 {",
            *indented([*lines, "sets"]),
            "}",
        )
    )


def _branching(choice: Choice, arguments: Sequence[str]) -> list[str]:
    """Return statements that call the best kernel, chosen at each call."""
    *better, plain = choice.kernels
    lines = ["let _sets = sets();"]
    for kernel in better:
        call = f"unsafe {{ {name_of(kernel)}({', '.join(arguments)}) }}"
        lines += ['#[cfg(target_arch = "x86_64")]', f"if _sets & {constant_name(kernel.target)} != 0 {{"]
        lines += [f"    return {call};", "}"]
    return [*lines, f"unsafe {{ {name_of(plain)}({', '.join(arguments)}) }}"]


def _choice(choice: Choice, order: Order) -> str:
    """Return the safe function that calls the best kernel."""
    plain = choice.kernels[-1]
    contract = plain.routine.contract
    arrays = bool(contract.elements)
    arguments = [p.name for p in contract.parameters if p.kind != "results"]
    lines = [f"assert!({p.name} < {p.below});" for p in contract.parameters if p.below]
    if arrays:
        *inputs, written = [p.name for p in contract.parameters if p.kind == "boards"]
        lines += [f"assert!({name}.len() == {written}.len());" for name in inputs]
        arguments = [*(f"{name}.as_ptr()" for name in inputs), f"{written}.as_mut_ptr()", f"{written}.len() as u64"]
        typed = [*(f"{name}: &[u64]" for name in inputs), f"{written}: &mut [u64]"]
    else:
        typed = [f"{name}: u64" for name in arguments]
    lines += _branching(choice, arguments)
    text = comment_lines(choice)
    if not arrays and len(contract.results) > 1:
        text.append(f"Returns {', '.join(contract.results)}.")
    name = choice.bare.lower()
    text.append(f"Usage: `{usage(contract, f'{order.called}::{name}', 'let', '&mut ')}`")
    line = f"pub fn {name}({', '.join(typed)}){result(plain)} {{"
    return "\n".join(folded((*commented(text, "///"), "#[inline]", ALLOWED, line, *indented(lines), "}")))
