"""C11 and C++17: functions of intrinsics and plain expressions, each with its own target attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from setwise.codegen.describe.values import Value
from setwise.codegen.export.prototypes import VECTORS, prototype
from setwise.codegen.export.sources.intrinsics import LOAD, STORE, features, intrinsic, named
from setwise.codegen.export.sources.source import Language, body, folded, indented, numeral, table_rows, unused
from setwise.codegen.lower import Kernel
from setwise.codegen.targets.table import Target

HEAD = """\
#include <stdint.h>

#if defined(__x86_64__) || defined(_M_X64)
#define SETWISE_X86_64
#include <immintrin.h>
#endif

/* Each function says which instructions it needs, so no flags are needed; MSVC takes all intrinsics anywhere. */
#if defined(__GNUC__) || defined(__clang__)
#define SETWISE_TARGET(features) __attribute__((target(features)))
#else
#define SETWISE_TARGET(features)
#endif

/* Inlined, GCC 12's own header of AVX-512 makes it warn of what is not there (its bug 105593). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif"""

TAIL = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif"""

BINARY = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "mul": "*"}
_TYPES = {1: "uint8_t", 4: "uint32_t", 8: "uint64_t"}
_SPREAD = {2: "_mm_set1_epi64x", 4: "_mm256_set1_epi64x", 8: "_mm512_set1_epi64"}
_BESIDE = {2: "_mm_set_epi64x", 4: "_mm256_set_epi64x", 8: "_mm512_set_epi64"}


@dataclass(frozen=True, slots=True)
class _C(Language):
    """How C writes what a kernel is made of."""

    def number(self, value: int) -> str:
        return f"{numeral(value)}ULL"

    def operation(self, value: Value, operands: Sequence[str]) -> str:
        if value.op in ("load", "place"):
            return _load(operands[0], operands[1], value.lanes)
        if value.op == "put":
            return _store(operands[0], str(int(value.attr) // 8), operands[1], value.args[1].lanes)
        if value.op == "put-entry":
            return _store(operands[0], operands[1], operands[2], value.args[2].lanes)
        if value.lanes == 1 and all(arg.lanes == 1 for arg in value.args):
            return _general(value, operands)
        call = intrinsic(value)
        given = [f"(long long){operands[i]}" if i in call.signed else operands[i] for i in call.arguments]
        text = f"{call.name}({', '.join([*given, *(str(n) for n in call.immediates)])})"
        return f"(uint64_t){text}" if value.lanes == 1 else text

    def vector(self, lanes: tuple[int, ...]) -> str:
        numbers = [f"(long long){self.number(lane)}" if lane >> 31 else str(lane) for lane in lanes]
        if len(set(numbers)) == 1:
            return f"{_SPREAD[len(lanes)]}({numbers[0]})"
        return f"{_BESIDE[len(lanes)]}({', '.join(reversed(numbers))})"

    def table(self, name: str, numbers: Sequence[int], size: int) -> Iterator[str]:
        yield f"static const {_TYPES[size]} {name}[{len(numbers)}] = {{"
        yield from table_rows(numbers, size)
        yield "};"

    def declaration(self, name: str, lanes: int, text: str, *, carried: bool = False) -> str:
        return f"{'' if carried else 'const '}{VECTORS.get(lanes, 'uint64_t')} {name} = {text};"

    def loop(self, body: Sequence[str], leave: str) -> Iterator[str]:
        yield "for (;;) {"
        yield from indented([*body, f"if ({leave}) break;"])
        yield "}"

    def when(self, condition: str, body: Sequence[str]) -> Iterator[str]:
        yield f"if ({condition}) {{"
        yield from indented(body)
        yield "}"

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """The last body takes every other number, so that nothing is undefined."""
        yield f"switch ({index}) {{"
        for number, lines in enumerate(bodies):
            last = number == len(bodies) - 1
            yield "default: {" if last else f"case {number}: {{"
            yield from indented(lines)
            yield "} break;" if last or not falls else "} /* fall through */"
        yield "}"

    def give(self, result: str) -> str:
        return f"return {result};"


def _general(value: Value, operands: Sequence[str]) -> str:
    """An operation on general registers as an expression; KeyError for one that C does not have."""
    a, *more = operands
    b = more[0] if more else ""
    if value.op in BINARY:
        return f"{a} {BINARY[value.op]} {b}"
    if value.op == "table":
        return f"{value.attr[0]}[{a}]"
    n = int(value.attr[0]) if value.attr is not None else 0
    return {
        "not": f"~{a}",
        "andn": f"~{a} & {b}",
        "scaled-sum": f"{a} + ({b} << {n})",
        "shl": f"{a} << {n}",
        "shr": f"{a} >> {n}",
        # Nobody looks at what wraps round: a rotate is one instruction that leaves its argument alone.
        "loose-shl": f"{a} << {n} | {a} >> {64 - n}",
        "loose-shr": f"{a} >> {n} | {a} << {64 - n}",
        "rotl": f"{a} << {n} | {a} >> {64 - n}",
        "shlv": f"{a} << ({b} & 63)",
        "shrv": f"{a} >> ({b} & 63)",
        "rotlv": f"{a} << ({b} & 63) | {a} >> ((64 - {b}) & 63)",
        "gather": f"_pext_u64({a}, {b})",
        "scatter": f"_pdep_u64({a}, {b})",
    }[value.op]


def function(kernel: Kernel, name: str, linkage: str = "static inline ") -> str:
    """The kernel as one function of that name."""
    lines = [*(f"(void){parameter};" for parameter in unused(kernel)), *body(kernel, _C())]
    said = attribute(kernel.target)
    head = f"{linkage}{prototype(kernel, name)} {{"
    return "\n".join(folded([*([said] if said else []), head, *indented(lines), "}"]))


def attribute(target: Target) -> str:
    """What a function of the target says in front of it; nothing on plain x86-64."""
    needed = features(target, {"bmi1": "bmi"})
    return f'SETWISE_TARGET("{",".join(needed)}")' if needed else ""


def unit(functions: Mapping[str, Kernel]) -> str:
    """A translation unit with external functions of these names, in the platform's convention."""
    parts = [HEAD, '#if defined(__cplusplus)\nextern "C" {\n#endif']
    for name, kernel in functions.items():
        declared = (attribute(kernel.target), f"{prototype(kernel, name)};")
        parts += ["\n".join(filter(None, declared)), function(kernel, name, linkage="")]
    return "\n\n".join((*parts, "#if defined(__cplusplus)\n}\n#endif", TAIL)) + "\n"


def _load(pointer: str, index: str, lanes: int) -> str:
    if lanes == 1:
        return f"{pointer}[{index}]"
    return f"{named(LOAD, lanes)}((const {VECTORS[lanes]} *)(const void *)({pointer} + {index}))"


def _store(pointer: str, index: str, boards: str, lanes: int) -> str:
    if lanes == 1:
        return f"{pointer}[{index}] = {boards};"
    return f"{named(STORE, lanes)}(({VECTORS[lanes]} *)(void *)({pointer} + {index}), {boards});"
