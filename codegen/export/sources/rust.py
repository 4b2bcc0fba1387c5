"""Rust: functions of core::arch's intrinsics and plain expressions, for a module of any crate, no_std too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from setwise.codegen.describe.routine import Parameter
from setwise.codegen.describe.values import Value
from setwise.codegen.export.names import symbol
from setwise.codegen.export.prototypes import VECTORS, boards_a_call, returns
from setwise.codegen.export.sources.intrinsics import LOAD, STORE, features, intrinsic, named
from setwise.codegen.export.sources.source import Language, body, folded, indented, numeral, table_rows, unused
from setwise.codegen.lower import Kernel

_BINARY = {"and": "&", "or": "|", "xor": "^"}
_WRAPPING = {"add": "wrapping_add", "sub": "wrapping_sub", "mul": "wrapping_mul"}
ALLOWED = "#[allow(dead_code, unused_assignments, unsafe_op_in_unsafe_fn, clippy::all)]"
"""Nobody calls all functions; carried values end unread; the bodies of unsafe functions are unsafe as a whole."""


@dataclass(frozen=True, slots=True)
class _Rust(Language):
    """How Rust writes what a kernel is made of."""

    def number(self, value: int) -> str:
        return numeral(value)

    def operation(self, value: Value, operands: Sequence[str]) -> str:
        if value.op in ("load", "place"):
            return _load(operands[0], operands[1], value.lanes)
        if value.op == "put":
            return self.put(int(value.attr) // 8, operands[1], value.args[1].lanes)
        if value.op == "put-entry":
            return _store(operands[0], operands[1], operands[2], value.args[2].lanes)
        if value.lanes == 1 and all(arg.lanes == 1 for arg in value.args):
            return _general(value, operands)
        call = intrinsic(value)
        immediates = f"::<{', '.join(map(str, call.immediates))}>" if call.immediates else ""
        given = [f"{operands[i]} as i64" if i in call.signed else operands[i] for i in call.arguments]
        text = f"{call.name}{immediates}({', '.join(given)})"
        return f"{text} as u64" if value.lanes == 1 else text

    def put(self, at: int, boards: str, lanes: int) -> str:
        """Boards written to the results, which are an array of the function's own."""
        if lanes == 1:
            return f"results[{at}] = {boards};"
        return f"{named(STORE, lanes)}(results[{at}..].as_mut_ptr().cast(), {boards});"

    def vector(self, lanes: tuple[int, ...]) -> str:
        made = f"core::mem::transmute::<[u64; {len(lanes)}], {VECTORS[len(lanes)]}>"
        if len(set(lanes)) == 1:
            return f"{made}([{self.number(lanes[0])}; {len(lanes)}])"
        return f"{made}([{', '.join(map(self.number, lanes))}])"

    def table(self, name: str, numbers: Sequence[int], size: int) -> Iterator[str]:
        yield f"const {name.upper()}: &[u{8 * size}; {len(numbers)}] = &["
        yield from table_rows(numbers, size)
        yield "];"

    def declaration(self, name: str, lanes: int, text: str, *, carried: bool = False) -> str:
        return f"let {'mut ' if carried else ''}{name}: {VECTORS.get(lanes, 'u64')} = {text};"

    def loop(self, body: Sequence[str], leave: str) -> Iterator[str]:
        yield from ("loop {", *indented([*body, f"if {leave} {{", "    break;", "}"]), "}")

    def when(self, condition: str, body: Sequence[str]) -> Iterator[str]:
        yield from (f"if {condition} {{", *indented(body), "}")

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """What falls through is a condition a body; the last body takes every other number."""
        if falls:
            for number, lines in enumerate(bodies[:-1]):
                yield from self.when(f"{index} <= {number}" if number else f"{index} == 0", lines)
            yield from bodies[-1]
            return
        yield f"match {index} {{"
        for number, lines in enumerate(bodies):
            arm = [f"{'_' if number == len(bodies) - 1 else number} => {{", *indented(lines), "}"]
            yield from indented(arm)
        yield "}"

    def give(self, result: str) -> str:
        return result


def _general(value: Value, operands: Sequence[str]) -> str:
    """An operation on general registers as an expression; KeyError for one that Rust does not have."""
    a, *more = operands
    b = more[0] if more else ""
    if value.op in _BINARY:
        return f"{a} {_BINARY[value.op]} {b}"
    if value.op in _WRAPPING:
        return f"u64::{_WRAPPING[value.op]}({a}, {b})"
    if value.op == "table":
        name, size = value.attr
        return f"*{name.upper()}.get_unchecked({a} as usize)" + (" as u64" if size < 8 else "")
    n = int(value.attr[0]) if value.attr is not None else 0
    return {
        "not": f"!{a}",
        "andn": f"!{a} & {b}",
        "scaled-sum": f"u64::wrapping_add({a}, {b} << {n})",
        "shl": f"{a} << {n}",
        "shr": f"{a} >> {n}",
        # Nobody looks at what wraps round: a rotate is one instruction that leaves its argument alone.
        "loose-shl": f"{a}.rotate_left({n})",
        "loose-shr": f"{a}.rotate_right({n})",
        "rotl": f"{a}.rotate_left({n})",
        "shlv": f"{a} << ({b} & 63)",
        "shrv": f"{a} >> ({b} & 63)",
        "rotlv": f"{a}.rotate_left({b} as u32 & 63)",
        "gather": f"core::arch::x86_64::_pext_u64({a}, {b})",
        "scatter": f"core::arch::x86_64::_pdep_u64({a}, {b})",
    }[value.op]


def function(kernel: Kernel) -> str:
    """The kernel as an unsafe function; several results are an array, arrays are pointers and their length."""
    count = len(kernel.routine.contract.results) * boards_a_call(kernel)
    lines = body(kernel, _Rust())
    if not returns(kernel) and not kernel.routine.contract.elements:
        lines = [f"let mut results = [0u64; {count}];", *lines, "results"]
    if any("_mm" in line for line in lines):
        lines = ["use core::arch::x86_64::*;", *lines]
    lines = [*(f"let _ = {name};" for name in unused(kernel)), *lines]
    return "\n".join(
        folded((*attributes(kernel), f"pub unsafe fn {name_of(kernel)}{signature(kernel)} {{", *indented(lines), "}"))
    )


def attributes(kernel: Kernel) -> list[str]:
    """What stands in front of a kernel's function."""
    needed = features(kernel.target, {})
    lines = ['#[cfg(target_arch = "x86_64")]', f'#[target_feature(enable = "{",".join(needed)}")]'] if needed else []
    return [*lines, "#[inline]", ALLOWED]


def name_of(kernel: Kernel) -> str:
    """The kernel's function: its symbol as Rust writes names, and without `setwise_`, which the module says.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> name_of(lower(find("kogge-stone.attacks.noEa"), "bmi2"))
    'kogge_stone_attacks_noea_bmi2'
    """
    return symbol(kernel).removeprefix("setwise_").lower()


def signature(kernel: Kernel) -> str:
    """Parameters and result of the kernel's function."""
    contract = kernel.routine.contract
    given = ", ".join(f"{p.name}: {_type(kernel, p)}" for p in contract.parameters if p.kind != "results")
    return f"({given}){result(kernel)}"


def result(kernel: Kernel) -> str:
    """What the function gives, with its arrow."""
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
    """Source of a library with functions of these names that C can call, in the platform's convention."""
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


def _load(pointer: str, index: str, lanes: int) -> str:
    place = f"{pointer}.add({index} as usize)"
    return f"*{place}" if lanes == 1 else f"{named(LOAD, lanes)}({place}.cast())"


def _store(pointer: str, index: str, boards: str, lanes: int) -> str:
    place = f"{pointer}.add({index} as usize)"
    return f"*{place} = {boards};" if lanes == 1 else f"{named(STORE, lanes)}({place}.cast(), {boards});"
