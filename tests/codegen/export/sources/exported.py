"""Exported source through its compilers, and what they make of it judged as kernels are: run, and watched."""

import ctypes
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from setwise.analysis.exports.facts import facts_of
from setwise.analysis.run.check import check
from setwise.analysis.run.inputs import Cases, make_cases
from setwise.codegen.export.names import bare_symbol, symbol
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c, rust, zig
from setwise.codegen.export.sources.language import Language
from setwise.codegen.export.sources.requirements import BITS, FAST_PEXT, requirement
from setwise.codegen.ir.routine import Contract
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import runner
from setwise.codegen.run.cpu import FEATURES
from setwise.codegen.run.executable import NotRunnable
from tests.codegen.export.exports import kernel, spread
from tests.conftest import require_module, require_rust, require_tool

Functions = Mapping[str, Kernel]

SAMPLE = (
    ("sliders.union", "x86-64", 1),
    ("sliders.union", "bmi2", 1),  # rotates, and-not
    ("sliders.union", "avx2", 4),  # insert, permute, broadcast, halves
    ("sliders.union", "avx512", 8),  # three-input logic, shifts by lane
    ("sliders.union", "avx512", 4),
    ("sliders.union", "gfni", 8),  # bytes permuted, mapped and tested
    ("sliders.sides", "avx512", 8),  # lanes put side by side, several results
    ("sliders.rays", "avx512", 8),  # eight results in one write
    ("sliders.pair", "bmi2", 1),
    ("kogge-stone.attacks.queen.batch", "avx2", 4),  # loops, loads and stores
    ("kogge-stone.attacks.west.batch", "sse2", 2),
    ("kogge-stone.attacks.west.batch", "avx512", 8),  # boards taken from memory by shifts and logic
    ("kogge-stone.attacks.any", "x86-64", 1),  # tables, rotates by a variable
    ("dumb7.occluded-until-dry.noEa", "x86-64", 1),
    ("dumb7.occluded-rolled.sout", "avx2", 4),
    ("dumb7.attacks.soWe", "avx512", 2),
    ("subtraction.attacks.east", "sse2", 2),  # bytes
    ("subtraction.attacks-cleared.east", "avx512", 8),
    ("exploding.bishop", "bmi2", 1),  # a switch that falls through
    ("exploding.direction", "x86-64", 1),  # switches in switches
    ("bytewise.carry-loop-32", "x86-64", 1),
    ("bytewise.subtract", "bmi2", 1),
    ("push.attacks.east", "x86-64", 1),  # a scaled sum
    ("push.attacks.rook", "sse2", 2),  # a board and its mirror image joined
    ("sliders.pieces", "avx2", 4),  # the lower lane in a write
    ("sliders.mobility", "avx2", 4),  # squares counted lane by lane
    ("sliders.counts", "sse2", 2),  # bytes added up
    ("sliders.counts", "gfni", 8),
    ("sliders.counts", "avx512", 4),
    ("sliders.mobility", "avx512", 8),
    ("side.union.any", "x86-64", 1),
    ("side.threats.any", "bmi2", 1),  # shifts by the color
    ("side.threats.white", "avx512", 8),  # lanes exchanged, the upper lane in a write
    ("leapers.knights", "gfni", 8),  # bits chosen for all bytes
    ("side.nested.white", "gfni", 8),  # masks united and stored
    ("side.twice.white", "gfni", 8),  # bits counted in bytes, and counts compared
)
"""Kernels that have between them every operation and region that source must write."""


IMPLIED = {
    "avx2": {"avx"},
    "avx512f": {"avx", "avx2"},
    **{name: {"avx", "avx2", "avx512f"} for name in ("avx512bw", "avx512vbmi", "avx512vpopcntdq", "avx512bitalg")},
    "avx512vl": {"avx", "avx2", "avx512f", "avx512dq"},
}
"""The features that compilers enable with another one, which therefore needs them too."""
ZEN_2, ZEN_3, HYGON, EXCAVATOR = (
    (0x68747541, 0x830F10),
    (0x68747541, 0xA20F10),
    (0x6F677948, 0x900F01),
    (0x68747541, 0x660F51),
)
HASWELL, ICE_LAKE = (0x756E6547, 0x306C3), (0x756E6547, 0x706E5)
"""The second word of a processor's vendor, and the first of leaf 1: its family, model and stepping."""
SLOW_PEXT = (ZEN_2, HYGON, EXCAVATOR)


def cpuid_cases(wanted: Collection[str]) -> Iterator[tuple[list[int], list[int], list[int], int, int]]:
    """CPUID leaves 0, 1 and 7, XCR0, and the bits of the usable features: all but one bit, nothing, and processors."""
    full = (1 << 32) - 1

    def usable(*but: str, state: int = full) -> int:
        lacking = {each for each in wanted if not {each, *IMPLIED.get(each, ())}.isdisjoint(but)}
        for each in {*wanted} - {FAST_PEXT, "sse2"}:
            if any(FEATURES[part][3] & ~state for part in (each, *IMPLIED.get(each, ()))):
                lacking.add(each)
        return sum(BITS[each] for each in {*wanted} - lacking)

    for feature, (leaf, register, bit, _) in FEATURES.items():
        leaves = {1: [full] * 4, 7: [full] * 4}
        leaves[leaf][register] ^= 1 << bit
        yield [full] * 4, leaves[1], leaves[7], full, usable(feature)
    for bit in range(8):
        yield [full] * 4, [full] * 4, [full] * 4, full ^ 1 << bit, usable(state=full ^ 1 << bit)
    yield [0] * 4, [0] * 4, [0] * 4, 0, BITS[FAST_PEXT] if FAST_PEXT in wanted else 0
    for vendor, signature in (*SLOW_PEXT, ZEN_3, HASWELL, ICE_LAKE):
        but = (FAST_PEXT,) if (vendor, signature) in SLOW_PEXT else ()
        yield [full, vendor, full, full], [signature, full, full, full], [full] * 4, full, usable(*but)


def needs(each: Kernel) -> tuple[str, ...]:
    """The features that the kernel's source requires."""
    return requirement(each, Order((each,), facts_of, "a test"))


def unit_of_c(functions: Functions) -> str:
    """A translation unit of functions with external linkage, in the platform's convention."""
    parts = [c.HEAD, '#if defined(__cplusplus)\nextern "C" {\n#endif']
    for name, each in functions.items():
        parts.append(re.sub(r"\bSETWISE_(INLINE|CONSTEXPR) ", "", c.function(each, name, needs(each))))
    return "\n\n".join((*parts, "#if defined(__cplusplus)\n}\n#endif", c.TAIL)) + "\n"


def unit_of_rust(functions: Functions) -> str:
    """A library of functions that C can call."""
    parts = ["#![allow(improper_ctypes_definitions)]"]
    for name, each in functions.items():
        parameters, call = _parameters(each, rust._Rust(), "*mut "), _call(each, rust.name_of(each))
        text, result = (f"results.write({call})", "") if "results:" in parameters else (call, rust.result(each))
        attributes = [line for line in rust.attributes(needs(each)) if line != "#[inline]"]
        head = f'pub unsafe extern "C" fn {name}({parameters}){result}'
        parts += [rust.function(each, needs(each)), "\n".join((*attributes, "#[no_mangle]", f"{head} {{ {text} }}"))]
    return "\n\n".join(parts) + "\n"


def unit_of_zig(functions: Functions) -> str:
    """A library of functions that C can call, for a processor with the registers of their vectors."""
    parts = [zig.HEAD]
    for name, each in functions.items():
        parameters, call = _parameters(each, zig._Zig(), "*"), _call(each, bare_symbol(each))
        several = "results:" in parameters
        result = "void" if several else zig._Zig().result_type(each) or "void"
        text = f"results.* = {call};" if several else f"return {call};"
        parts += [zig.function(each), f"export fn {name}({parameters}) {result} {{ {text} }}"]
    return "\n\n".join(parts) + "\n"


def _parameters(each: Kernel, language: Language, pointer: str) -> str:
    types = {p.name: language.parameter_type(each, p) for p in each.routine.contract.parameters}
    if "results" in types:
        types["results"] = pointer + language.result_type(each)
    return ", ".join(f"{name}: {type}" for name, type in types.items())


def _call(each: Kernel, name: str) -> str:
    return f"{name}({', '.join(p.name for p in each.routine.contract.parameters if p.kind != 'results')})"


@dataclass(frozen=True)
class Compiler:
    """A compiler: its program, what it is called with, and what prints its source."""

    name: str
    suffix: str
    unit: Callable[[Functions], str]
    options: tuple[str, ...]
    module: str = ""
    """The Python module that holds it, where no program does."""

    def command(self) -> list[str]:
        """What is called; a test without it is not run."""
        if self.module:
            require_module(self.module)
            return [sys.executable, "-m", self.module, *self.options]
        return [require_rust() if self.name == "rustc" else require_tool(self.name), *self.options]


_STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")

C = tuple(
    Compiler(name, suffix, unit_of_c, (f"-std={standard}", *_STRICT))
    for name, suffix, standard in (
        ("gcc", ".c", "c11"),
        ("clang-19", ".c", "c11"),
        ("g++", ".cpp", "c++17"),
        ("clang++-19", ".cpp", "c++17"),
    )
)
RUST = Compiler("rustc", ".rs", unit_of_rust, ("--edition=2021", "-Dwarnings", "-Cpanic=abort"))
ZIG = Compiler("zig", ".zig", unit_of_zig, (), module="ziglang")


@cache
def sample() -> Functions:
    """The kernels of `SAMPLE`, by their symbols."""
    kernels = [kernel(name, isa, lanes=lanes if lanes > 1 else None) for name, isa, lanes in SAMPLE]
    return {symbol(each): each for each in kernels}


@cache
def every_form() -> Functions:
    """Of everything all but the other directions, which take turns."""
    return {symbol(each): each for each in spread()}


def made(folder: Path, compiler: Compiler, functions: Functions, *flags: str) -> Path:
    """The source of these functions, printed and given to the compiler with these flags; what it made."""
    number = len(list(folder.iterdir()))
    source = folder / f"exported{number}{compiler.suffix}"
    source.write_text(compiler.unit(functions), encoding="ascii")
    output = folder / f"exported{number}{'.o' if '-c' in flags or '--emit=obj' in flags else '.so'}"
    run([*compiler.command(), *flags, str(source), *_to(compiler, output)], folder)
    return output


def _to(compiler: Compiler, output: Path) -> tuple[str, ...]:
    return (f"-femit-bin={output}",) if compiler.module else ("-o", str(output))


def run(command: Sequence[str], folder: Path) -> str:
    """What the command printed; AssertionError with its messages where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[-4000:]}"
    return done.stdout


@cache
def _cases(contract: Contract) -> Cases:
    return make_cases(contract, quick=True)


def judged(library: Path, functions: Functions) -> dict[str, str]:
    """For each function of the shared library `passed`, `not run` or what is wrong, by running it as its kernel is.

    The kernel's own runner calls it, so that it is held to the calling convention too; a jump takes it there.
    """
    loaded = ctypes.CDLL(str(library))
    found = {}
    for name, each in functions.items():
        address = ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value
        assert address is not None
        image = bytes.fromhex("ff2500000000") + address.to_bytes(8, "little")  # jmp [rip+0], and where to
        try:
            with runner(each, image) as running:
                outcome = check(running.run, _cases(each.routine.contract))
            found[name] = outcome.reason or outcome.status
        except NotRunnable:
            found[name] = "not run"
    return found
