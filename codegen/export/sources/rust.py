"""A Rust module: every kernel as a function, and a safe function per routine that chooses the best."""

from collections.abc import Callable, Iterator, Sequence

from setwise.codegen.export.banner import about, described, head
from setwise.codegen.export.compiler_names import RUSTC
from setwise.codegen.export.names import bare_symbol, isa_name
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import VECTORS
from setwise.codegen.export.sources.dispatch import Choice, boards, choice_basis, choices, features_of, pext_note, usage
from setwise.codegen.export.sources.intrinsics import LOAD, NOTE, STORE, WithIntrinsics, named
from setwise.codegen.export.sources.language import commented, folded, function_text, indented
from setwise.codegen.export.sources.requirements import FAST_PEXT, constant_name, lines_for, source_facts
from setwise.codegen.export.sources.source import body, runs_when_compiled
from setwise.codegen.export.sources.structures import structures
from setwise.codegen.kernel import Kernel

ALLOWED = """\
#[rustfmt::skip]
#[allow(dead_code, unused_assignments, unsafe_op_in_unsafe_fn, clippy::too_many_arguments)]"""
"""Not every function is called, last carried values are never read, and unsafe functions have unsafe bodies."""

_FEATURES_OF = """\
/// Return the usable features: those that CPUID leaves 0, 1 and 7 report and whose registers the system saves.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
#[allow(unused_variables)]
pub fn features_of(leaf0: [u32; 4], leaf1: [u32; 4], leaf7: [u32; 4], state: u64) -> u32 {"""

_SLOW_PEXT = """\
/// Return whether pext and pdep are microcode: before Zen 3, family 25, of AuthenticAMD and HygonGenuine.
#[cfg(target_arch = "x86_64")]
fn slow_pext(leaf0: [u32; 4], leaf1: [u32; 4]) -> bool {
    let family = (leaf1[0] >> 8 & 15) + (leaf1[0] >> 20 & 255);
    (leaf0[1] == 0x68747541 || leaf0[1] == 0x6F677948) && family < 25
}"""

_CHOSEN_AT_RUN_TIME = """\
/// Return the usable features. CPUID is consulted only if the compiler's flags do not enable all that are wanted.
#[inline]
#[rustfmt::skip]
fn features(wanted: u32) -> u32 {
    ENABLED | if wanted & !ENABLED == 0 { 0 } else { detected() }
}"""

_CHOSEN_WHEN_COMPILED = """\
/// Return the features that the compiler's flags enable.
#[inline]
const fn features(wanted: u32) -> u32 {
    ENABLED & wanted
}"""

_DETECT = (
    f"""\
/// Return the usable features. The first call detects them; concurrent first calls get the same result.
{ALLOWED}"""
    + """
fn detected() -> u32 {
    use core::sync::atomic::{AtomicU32, Ordering};
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    let known = KNOWN.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let found = detect() | 1;
    KNOWN.store(found, Ordering::Relaxed);
    found
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> u32 {
    0
}

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
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
        features_of(leaf(0), leaf1, leaf(7), state)
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
    MASK, PLACE = "{} as u8", "{}.add({} as usize).cast()"
    CONSTANT, VARIABLE = "let {name}: {type} = {text};", "let mut {name}: {type} = {text};"
    TABLE = ("const {constant}: &[u{bits}; {length}] = &[", "];")
    LOOP, LEAVE = "loop {", ("if {} {{", "    break;", "}}")
    WHEN, IS_FIRST = "if {} {{", "{} == 0"
    SWITCH, ARM, DEFAULT = "match {} {{", "{} => {{", "_ => {"
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


def function(kernel: Kernel, needs: Sequence[str]) -> str:
    """Return the kernel as a function for these features, unsafe unless any arguments are sound on any processor.

    Several results are an array; arrays are pointers and a length.
    """
    language = _Rust()
    name, parameters = name_of(kernel), language.parameters(kernel)
    kind = "const" if is_safe(kernel) else "unsafe"
    head = (*attributes(needs), f"pub {kind} fn {name}({parameters}){result(kernel)} {{")
    return function_text(head, body(kernel, language))


def is_safe(kernel: Kernel) -> bool:
    """Return whether the kernel's function is safe, and thus for constants, too."""
    return runs_when_compiled(kernel) and not kernel.routine.contract.elements


def attributes(needs: Sequence[str]) -> list[str]:
    """Return the attributes of a kernel's function that requires these features."""
    named = ",".join(feature for feature in needs if feature != FAST_PEXT)
    lines = ['#[cfg(target_arch = "x86_64")]', f'#[target_feature(enable = "{named}")]'] if named else []
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
    """Return the result type of the function with its arrow."""
    made = _Rust().result_type(kernel)
    return f" -> {made}" if made else ""


def module(order: Order) -> str:
    """Return the module's text, for any edition from 2018 on."""
    offered = choices(order)
    parts = [
        _introduction(order, offered),
        *structures(order, "Rust"),
        *(_documented(kernel, order) for kernel in order.kernels),
    ]
    parts += [*_features(offered, order.dispatch), *(_choice(choice, order) for choice in offered)]
    return "\n\n".join(parts) + "\n"


def _introduction(order: Order, offered: Sequence[Choice]) -> str:
    newest = max((kernel.target for kernel in order.kernels), key=lambda target: RUSTC[target.name])
    needed, oldest = RUSTC[newest.name], RUSTC["x86-64"]
    how = choice_basis(order.dispatch, "-C target-cpu=native")
    lines = [
        *head(order, f"{order.called}.rs"),
        "",
        f"A module for any crate, also no_std: put it next to main.rs and write `mod {order.called};`.",
        f"It needs rustc {needed}{f', for {newest.title}' if needed > oldest else ''}.",
        boards(order.kernels),
        f"Safe functions use the newest instruction set, chosen {how}.",
        "A function with _isa at the end of its name tells which.",
        NOTE,
    ]
    lines += pext_note(offered, "--cfg setwise_pext")
    return "\n".join(commented(lines))


def _documented(kernel: Kernel, order: Order) -> str:
    facts = source_facts(kernel, order)
    safety = [] if is_safe(kernel) else ["# Safety", *_safety(kernel, facts.features)]
    lines = ["```text", *about(kernel, facts), "```", *safety]
    return "\n".join((*commented(lines, "///"), function(kernel, facts.features)))


def _safety(kernel: Kernel, needed: Sequence[str]) -> list[str]:
    contract = kernel.routine.contract
    wants = [f"- The processor has {', '.join(needed)}."] if needed else []
    wants += [f"- {p.name} is below {p.below}." for p in contract.parameters if p.below]
    if contract.elements:
        wants += ["- Every pointer is valid for n boards and aligned for u64."]
        alone = "result is the same array as one input, or overlaps none"
        wants += ["- Each result overlaps no other array." if contract.results[1:] else f"- {alone}."]
    sound = "Any arguments are sound"
    sound += "; if a requirement is violated, only the results are unspecified." if contract.required else "."
    return wants or [sound]


def _features(offered: Sequence[Choice], dispatch: bool) -> Iterator[str]:
    """Yield the definitions from which `features()` finds the usable features, if a choice needs them."""
    wanted = features_of(offered)
    if not wanted:
        return
    enabled = [f"if {_cfg(feature)} {{ {constant_name(feature)} }} else {{ 0 }}" for feature in wanted]
    lines = lines_for(wanted, "#[allow(dead_code)]\nconst {name}: u32 = {bit};")
    lines += ["/// The features that the compiler flags enable.", "#[rustfmt::skip]"]
    lines += ["#[allow(unknown_lints, unexpected_cfgs)]", f"const ENABLED: u32 = {' | '.join(enabled)};"]
    yield "\n".join(folded(lines))
    if dispatch:
        if FAST_PEXT in wanted:
            yield _SLOW_PEXT
        yield _features_of(wanted)
        yield _DETECT
    yield _CHOSEN_AT_RUN_TIME if dispatch else _CHOSEN_WHEN_COMPILED


def _cfg(feature: str) -> str:
    named = "setwise_pext" if feature == FAST_PEXT else f'target_feature = "{feature}"'
    return f'cfg!(all(target_arch = "x86_64", {named}))'


def _features_of(wanted: Sequence[str]) -> str:
    """Return a function from the results of CPUID and XGETBV to features."""
    syntax = "{word} & {mask} == {mask}", "!slow_pext(leaf0, leaf1)", " && "
    lines = lines_for(wanted, "if {test} {{\n    found |= {name};\n}}", *syntax)
    return "\n".join((_FEATURES_OF, *folded(indented(["let mut found = 0;", *lines, "found"])), "}"))


def _branching(choice: Choice, ending: Callable[[Kernel], str]) -> list[str]:
    """Return statements that end in the same way with the best kernel of a choice."""
    lines = []
    if choice.better:
        lines = [f"let _features = features({_mask(choice.features)});"]
    for kernel, needs in choice.better:
        mask = f"({_mask(needs)})" if needs[1:] else _mask(needs)
        lines += ['#[cfg(target_arch = "x86_64")]', f"if !_features & {mask} == 0 {{"]
        lines += [f"    return {ending(kernel)};", "}"]
    return [*lines, ending(choice.plain)]


def _mask(needs: Sequence[str]) -> str:
    return " | ".join(map(constant_name, needs))


def _choice(choice: Choice, order: Order) -> str:
    """Return the safe function that calls the best kernel, and the one that names that kernel."""
    plain = choice.plain
    contract = plain.routine.contract
    arrays = bool(contract.elements)
    arguments = [p.name for p in contract.parameters if p.kind != "results"]
    lines = [f"assert!({p.name} < {p.below});" for p in contract.parameters if p.below]
    if arrays:
        inputs, written = contract.arrays
        *others, last = (*inputs, *written)
        lines += [f"assert!({name}.len() == {last}.len());" for name in others]
        arguments = [f"{name}.as_{'mut_' * (name in written)}ptr()" for name in (*others, last)]
        arguments.append(f"{last}.len() as u64")
        typed = [*(f"{name}: &[u64]" for name in inputs), *(f"{name}: &mut [u64]" for name in written)]
    else:
        typed = [f"{name}: u64" for name in arguments]
    call = f"{{}}({', '.join(arguments)})"
    lines += _branching(
        choice, lambda kernel: (call if is_safe(kernel) else f"unsafe {{{{ {call} }}}}").format(name_of(kernel))
    )
    name = choice.bare.lower()
    text = described(plain.routine, f"Usage: `{usage(contract, f'{order.called}::{name}', 'let', '&mut ')}`")
    constant = "const " if is_safe(plain) and not choice.better else ""
    line = f"pub {constant}fn {name}({', '.join(typed)}){result(plain)} {{"
    chooser = function_text((*commented(text, "///"), "#[inline]", ALLOWED, line), lines)
    named = (
        f'/// Return the instruction set that `{name}` uses, such as "x86-64".',
        "#[allow(dead_code)]",
        f"pub {'' if order.dispatch and choice.better else 'const '}fn {name}_isa() -> &'static str {{",
    )
    names = _branching(choice, lambda kernel: f'"{isa_name(kernel)}"')
    return f"{chooser}\n\n{function_text(named, names)}"
