"""Rust source: functions of core::arch's intrinsics and plain expressions, for a module of any crate, also no_std."""

from collections.abc import Mapping, Sequence

from setwise.codegen.export.names import bare_symbol
from setwise.codegen.export.prototypes import VECTORS, boards_a_call, returns
from setwise.codegen.export.sources.intrinsics import LOAD, STORE, WithIntrinsics, feature_names, named
from setwise.codegen.export.sources.language import folded, indented
from setwise.codegen.export.sources.source import body, unused
from setwise.codegen.ir.routine import Parameter
from setwise.codegen.kernel import Kernel

ALLOWED = "#[allow(dead_code, unused_assignments, unsafe_op_in_unsafe_fn, clippy::too_many_arguments)]"
"""Not every function is called, last carried values are never read, and unsafe functions have unsafe bodies."""


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
    RETURN = "{}"

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
    count = len(kernel.routine.contract.results) * boards_a_call(kernel)
    lines = body(kernel, _Rust())
    if not returns(kernel) and not kernel.routine.contract.elements:
        lines = [f"let mut results = [0u64; {count}];", *lines, "results"]
    if any(name in line for line in lines for name in ("_mm", "__m")):
        lines = ["use core::arch::x86_64::*;", *lines]
    lines = [*(f"let _ = {name};" for name in unused(kernel)), *lines]
    return "\n".join(
        folded((*attributes(kernel), f"pub unsafe fn {name_of(kernel)}{signature(kernel)} {{", *indented(lines), "}"))
    )


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


def signature(kernel: Kernel) -> str:
    """Return the parameters and the result type of the kernel's function."""
    contract = kernel.routine.contract
    given = ", ".join(f"{p.name}: {_type(kernel, p)}" for p in contract.parameters if p.kind != "results")
    return f"({given}){result(kernel)}"


def result(kernel: Kernel) -> str:
    """Return the result type of the function with its arrow."""
    contract = kernel.routine.contract
    if contract.elements:
        return ""
    if not returns(kernel):
        return f" -> [u64; {len(contract.results) * boards_a_call(kernel)}]"
    lanes = boards_a_call(kernel)
    return f" -> {_vector(lanes) if lanes > 1 else 'u64'}"


def _type(kernel: Kernel, parameter: Parameter) -> str:
    if parameter.kind == "boards":
        return "*mut u64" if parameter.name == "result" else "*const u64"
    lanes = boards_a_call(kernel)
    return "u64" if parameter.scalar or lanes == 1 else _vector(lanes)


def _vector(lanes: int) -> str:
    return f"core::arch::x86_64::{VECTORS[lanes]}"


def unit(functions: Mapping[str, Kernel]) -> str:
    """Return a library of functions with these names that C can call, in the platform's convention."""
    parts = ["#![allow(improper_ctypes_definitions)]"]
    for name, kernel in functions.items():
        parts += [function(kernel), _called_from_c(kernel, name)]
    return "\n\n".join(parts) + "\n"


def _called_from_c(kernel: Kernel, name: str) -> str:
    contract = kernel.routine.contract
    given = ", ".join(
        f"{p.name}: {_type(kernel, p) if p.kind != 'results' else '*mut u64'}" for p in contract.parameters
    )
    call = f"{name_of(kernel)}({', '.join(p.name for p in contract.parameters if p.kind != 'results')})"
    several = not returns(kernel) and not contract.elements
    lines = [f"results.cast::<[u64; {len(contract.results)}]>().write({call});" if several else call]
    arrow = "" if several else result(kernel)
    target = [line for line in attributes(kernel) if line != "#[inline]"]
    head = f'pub unsafe extern "C" fn {name}({given}){arrow} {{'
    return "\n".join(folded((*target, "#[no_mangle]", head, *indented(lines), "}")))
