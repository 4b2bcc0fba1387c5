"""Writer of a Rust module: an unsafe function per kernel, and a safe one per routine that calls the best kernel."""

from collections.abc import Iterator, Sequence

from setwise.codegen.export.banner import about, head
from setwise.codegen.export.compiler_names import OF_SETS
from setwise.codegen.export.names import bare_symbol
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import VECTORS
from setwise.codegen.export.sources.dispatch import (
    BITS,
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
from setwise.codegen.export.sources.intrinsics import LOAD, STORE, WithIntrinsics, feature_names, named
from setwise.codegen.export.sources.language import commented, folded, function_text, indented
from setwise.codegen.export.sources.source import body, results_in_order
from setwise.codegen.kernel import Kernel
from setwise.codegen.targets.table import Target

ALLOWED = "#[allow(dead_code, unused_assignments, unsafe_op_in_unsafe_fn, clippy::too_many_arguments)]"
"""Reasons: not every function is called, last carried values are never read, unsafe functions have unsafe bodies."""

_SETS_OF = """\
/// Return the instruction sets that CPUID leaves 1 and 7 report and whose registers the system saves.
#[cfg(target_arch = "x86_64")]
#[allow(unused_variables)]
pub fn sets_of(leaf1: [u32; 4], leaf7: [u32; 4], state: u64) -> u32 {"""

_DETECT = (
    f"""\
/// Return the usable instruction sets. The first call detects them; concurrent first calls get the same result.
{ALLOWED}"""
    + """
fn sets() -> u32 {
    use core::sync::atomic::{AtomicU32, Ordering};
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    if ENABLED == ALL {
        return ALL;
    }
    let known = KNOWN.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let found = detect();
    KNOWN.store(found, Ordering::Relaxed);
    found
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> u32 {
    X86_64
}

#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)]
fn detect() -> u32 {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    unsafe {
        let last = __cpuid(0).eax;
        let leaf = |n: u32| {
            if n > last {
                return [0; 4];
            }
            let registers = __cpuid_count(n, 0);
            [registers.eax, registers.ebx, registers.ecx, registers.edx]
        };
        let leaf1 = leaf(1);
        // Without OSXSAVE the system saves only the SSE registers, and XGETBV is an invalid instruction.
        let state = if leaf1[2] >> 27 & 1 != 0 { saved_state() } else { 0 };
        sets_of(leaf1, leaf(7), state)
    }
}

/// Return XCR0: the register states that the operating system saves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
#[allow(unsafe_op_in_unsafe_fn)]
unsafe fn saved_state() -> u64 {
    core::arch::x86_64::_xgetbv(0)
}"""
)


class _Rust(WithIntrinsics):
    """The Rust syntax of a kernel."""

    NAME = "Rust"
    WORD = "u64"
    SIGNED, UNSIGNED = "{} as i64", "{} as u64"
    CONSTANT, VARIABLE = "let {name}: {type} = {text};", "let mut {name}: {type} = {text};"
    TABLE = ("const {constant}: &[u{bits}; {length}] = &[", "];")
    LOOP, LEAVE = "loop {", ("if {} {{", "    break;", "}}")
    WHEN, IS_FIRST = "if {} {{", "{} == 0"
    SWITCH, OTHERS = "match {} {{", "_"
    RETURN, UNUSED, IMPORT = "{}", "let _ = {};", "use core::arch::x86_64::*;"
    RESULTS, ARRAY = ("let mut results = [0u64; {}];", "results"), "[u64; {}]"
    POINTERS = "*const u64", "*mut u64"

    def passed_type(self, lanes: int) -> str:
        return f"core::arch::x86_64::{VECTORS[lanes]}" if lanes > 1 else "u64"

    def call(self, name: str, arguments: Sequence[str], immediates: Sequence[str]) -> str:
        constants = f"::<{', '.join(immediates)}>" if immediates else ""
        return f"{name}{constants}({', '.join(arguments)})"

    def vector(self, lanes: tuple[int, ...]) -> str:
        cast = f"core::mem::transmute::<[u64; {len(lanes)}], {VECTORS[len(lanes)]}>"
        if len(set(lanes)) == 1:
            return f"{cast}([{self.number(lanes[0])}; {len(lanes)}])"
        return f"{cast}([{', '.join(map(self.number, lanes))}])"

    def entry(self, name: str, index: str, size: int) -> str:
        return f"*{name.upper()}.get_unchecked({index} as usize)" + (" as u64" if size < 8 else "")

    def load(self, pointer: str, index: str, lanes: int) -> str:
        place = f"{pointer}.add({index} as usize)"
        return f"*{place}" if lanes == 1 else f"{named(LOAD, lanes)}({place}.cast())"

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        place = f"{pointer}.add({index} as usize)"
        return f"*{place} = {boards};" if lanes == 1 else f"{named(STORE, lanes)}({place}.cast(), {boards});"

    def store_result(self, pointer: str, index: int, boards: str, lanes: int) -> str:
        """Return the statement that stores boards to the function's own array of results."""
        if lanes == 1:
            return f"results[{index}] = {boards};"
        return f"{named(STORE, lanes)}(results[{index}..].as_mut_ptr().cast(), {boards});"


def function(kernel: Kernel) -> str:
    """Return the kernel as an unsafe function. Several results are an array; arrays are pointers and a length."""
    language = _Rust()
    name, parameters = name_of(kernel), language.parameters(kernel)
    head = (*attributes(kernel), f"pub unsafe fn {name}({parameters}){result(kernel)} {{")
    return function_text(head, body(kernel, language))


def attributes(kernel: Kernel) -> list[str]:
    """Return the attributes of a kernel's function."""
    needed = feature_names(kernel.target, {})
    lines = ['#[cfg(target_arch = "x86_64")]', f'#[target_feature(enable = "{",".join(needed)}")]'] if needed else []
    return [*lines, "#[inline]", ALLOWED]


def name_of(kernel: Kernel) -> str:
    """Return the name of the kernel's function: its lower-case symbol without the prefix.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> name_of(lower(find("kogge-stone.attacks.noEa"), "bmi2"))
    'kogge_stone_attacks_noea_bmi2'
    """
    return bare_symbol(kernel).lower()


def result(kernel: Kernel) -> str:
    """Return the result type of the kernel's function with its arrow, or '' if it returns nothing."""
    made = _Rust().result_type(kernel)
    return f" -> {made}" if made else ""


def module(order: Order) -> str:
    """Return the module's text, for any edition from 2018 on."""
    offered = choices(order.kernels)
    parts = [_introduction(order), *(_documented(kernel, order) for kernel in order.kernels)]
    if offered:
        parts += [*_sets(sets_of_choices(offered), order.dispatch), *(_choice(choice, order) for choice in offered)]
    return "\n\n".join(parts) + "\n"


def _introduction(order: Order) -> str:
    newest = max((kernel.target for kernel in order.kernels), key=lambda target: OF_SETS[target.name].rustc)
    needed, oldest = OF_SETS[newest.name].rustc, OF_SETS["x86-64"].rustc
    how = choice_basis(order.dispatch, "-C target-cpu=native")
    lines = [
        *head(order, f"{order.called}.rs"),
        "",
        f"A module for any crate, also no_std: put it next to main.rs and write `mod {order.called};`.",
        f"It needs rustc {needed}{f', for {newest.title}' if needed > oldest else ''}.",
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
    """Yield the Rust text of `sets()`, which returns the usable instruction sets, and of all that it uses."""
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
    """Return the text of a Rust function from the results of CPUID and XGETBV to bits of instruction sets."""
    lines = ["let mut sets = X86_64;"]
    for target in targets:
        tests = [f"{word} & {mask} == {mask}" for word, mask in requirement(target).items()]
        flag = f"sets |= {constant_name(target)};"
        lines += [f"if {' && '.join(tests)} {{", f"    {flag}", "}"] if tests else [flag]
    return "\n".join((_SETS_OF, *indented([*lines, "sets"]), "}"))


def _branching(choice: Choice, arguments: Sequence[str]) -> list[str]:
    """Return statements that test at each call which instruction sets are usable, and call the best kernel."""
    *better, plain = choice.kernels
    lines = ["let _sets = sets();"]
    for kernel in better:
        call = f"unsafe {{ {name_of(kernel)}({', '.join(arguments)}) }}"
        lines += ['#[cfg(target_arch = "x86_64")]', f"if _sets & {constant_name(kernel.target)} != 0 {{"]
        lines += [f"    return {call};", "}"]
    return [*lines, f"unsafe {{ {name_of(plain)}({', '.join(arguments)}) }}"]


def _choice(choice: Choice, order: Order) -> str:
    """Return the text, with its comment, of the safe function that calls the best usable kernel."""
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
    return function_text((*commented(text, "///"), "#[inline]", ALLOWED, line), lines)
