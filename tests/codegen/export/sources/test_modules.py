"""The Rust module and the Zig file: what they choose, where they compile, and what their safe functions refuse."""

import ctypes
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.decode import decode, features
from setwise.analysis.code.objects import load
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import find
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import rust, zig
from setwise.codegen.export.sources.requirements import BITS, constant_name
from setwise.codegen.run import cpu
from setwise.codegen.run.executable import runnable
from setwise.codegen.variants import variant_named
from tests.codegen.export.exports import kernel
from tests.codegen.export.machines import natively, under_qemu, under_wine
from tests.codegen.export.sources.exported import cpuid_cases, run
from tests.conftest import require_module, require_rust

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

KERNELS = (
    *(("kogge-stone.attacks.queen", isa) for isa in ("x86-64", "bmi2", "avx2", "avx512")),
    *(("kogge-stone.attacks.nort.batch", isa) for isa in ("x86-64", "sse2", "avx2")),
    ("exploding.bishop", "x86-64"),
    ("sliders.pair", "x86-64"),
    ("kogge-stone.attacks.noEa", "avx2"),  # vectors by value
)
ATTACKED = 0x8141_2111_0905_03FE  # by a queen on a1 of an empty board


def order(*, dispatch: bool = False) -> Order:
    kernels = *(kernel(*each) for each in KERNELS), variant_named("pext", find("sliders.pair"), "bmi2")
    return Order(kernels, facts_of, "a test", dispatch=dispatch)


RUST = """\
mod setwise;
fn main() {
    let queens = [1u64, 1 << 48, 0, 0, 0];
    let empty = queens.map(|board| !board);
    let mut result = [0u64; 5];
    setwise::kogge_stone_attacks_nort_batch(&queens, &empty, &mut result);
    println!("{} {} {:?} {:?}", setwise::kogge_stone_attacks_queen(1, !1), result[0] == 0x0101010101010100,
        setwise::exploding_bishop(0, !1), setwise::sliders_pair(1, 1, 1));
}
"""
RUST_PRINTS = f"{ATTACKED} true {0x8040201008040200} [{0x1010101010101FE}, {0x8040201008040200}]\n"


def rust_program(folder: Path, source: str, *flags: str, dispatch: bool = False) -> Path:
    text = rust.module(order(dispatch=dispatch))
    (folder / "setwise.rs").write_text(text, encoding="ascii")
    (folder / "use.rs").write_text(source, encoding="ascii")
    edition = () if any("--edition" in flag for flag in flags) else ("--edition=2021",)
    run([require_rust(), "-Dwarnings", *edition, *flags, "use.rs", "-o", "use"], folder)
    return folder / "use"


@runs
@pytest.mark.parametrize("edition", ["2018", "2021", "2024"])
@pytest.mark.parametrize("how", ["compiled", "run"])
def test_rust_chooses(tmp_path: Path, edition: str, how: str) -> None:
    program = rust_program(tmp_path, RUST, f"--edition={edition}", "-O", dispatch=how == "run")
    assert run([str(program)], tmp_path) == RUST_PRINTS


def test_rust_without_its_standard_library(tmp_path: Path) -> None:
    source = "#![no_std]\npub mod setwise;\n"
    for dispatch in (False, True):
        rust_program(tmp_path, source, "--edition=2021", "--crate-type=lib", "--emit=metadata", dispatch=dispatch)


SAFE = f"""\
#![forbid(unsafe_code)]
mod setwise;
const ATTACKED: u64 = setwise::kogge_stone_attacks_queen(1, !1);
const PAIR: [u64; 2] = setwise::sliders_pair_x86_64(1, 1, 1);
const ISA: &str = setwise::sliders_pair_isa();
const _: () = assert!(ATTACKED == {ATTACKED} && PAIR[0] | PAIR[1] == ATTACKED && ISA.len() == 6);
fn main() {{
    assert_eq!(setwise::sliders_pair(1, 1, 1), PAIR);
}}
"""


@pytest.mark.parametrize("edition", ["2018", "2021", "2024"])
@pytest.mark.parametrize("dispatch", [False, True], ids=["compiled", "run"])
def test_plain_rust_is_safe_and_constant(tmp_path: Path, edition: str, dispatch: bool) -> None:
    names = ("kogge-stone.attacks.queen", "sliders.pair", "sliders.mobility", "side.pieces.white")
    plain = Order(tuple(kernel(name) for name in names), facts_of, "a test", dispatch=dispatch)
    (tmp_path / "setwise.rs").write_text(rust.module(plain), encoding="ascii")
    (tmp_path / "use.rs").write_text(SAFE, encoding="ascii")
    run([require_rust(), "-Dwarnings", f"--edition={edition}", "use.rs", "-o", "use"], tmp_path)
    if runnable():
        run([str(tmp_path / "use")], tmp_path)


def test_the_choice_when_compiled_is_a_constant_in_rust(tmp_path: Path) -> None:
    source = "mod setwise;\nconst _: () = assert!(setwise::kogge_stone_attacks_queen_isa().len() == 4);\nfn main() {}\n"
    rust_program(tmp_path, source, "-Ctarget-feature=+avx2")


@runs
def test_what_is_safe_in_rust_refuses_what_is_not(tmp_path: Path) -> None:
    for call in (
        "setwise::exploding_bishop(64, 0)",
        "setwise::kogge_stone_attacks_nort_batch(&[1, 2], &[0, 0], &mut [0])",
        "setwise::kogge_stone_attacks_nort_batch(&[1, 2], &[0], &mut [0, 0])",
    ):
        program = rust_program(tmp_path, f"mod setwise;\nfn main() {{\n    {call};\n}}\n", "-O")
        done = subprocess.run([str(program)], capture_output=True, text=True)
        assert done.returncode == 101, call
        assert "assertion failed" in done.stderr


@runs
def test_every_bit_that_a_set_needs_is_asked_for_in_rust(tmp_path: Path) -> None:
    wanted = ("sse2", "bmi1", "bmi2", "fast-pext", "avx2", "avx512f")
    text = rust.module(order(dispatch=True))
    assert all(f"const {constant_name(each)}:" in text for each in wanted)
    lines = [
        f"    assert_eq!(setwise::features_of({a}, {b}, {c}, {state}), {features});"
        for a, b, c, state, features in cpuid_cases(wanted)
    ]
    program = rust_program(tmp_path, "\n".join(("mod setwise;", "fn main() {", *lines, "}")), "-O", dispatch=True)
    run([str(program)], tmp_path)


@runs
@pytest.mark.parametrize("dispatch", [False, True], ids=["compiled", "run"])
def test_pext_is_chosen_in_rust_only_where_it_is_fast(tmp_path: Path, dispatch: bool) -> None:
    source = 'mod setwise;\nfn main() {\n    println!("{}", setwise::sliders_pair_isa());\n}\n'
    flags = () if dispatch else ("-Ctarget-feature=+bmi1,+bmi2",)
    for more, isas in (((), ["bmi2-pext" if dispatch else "x86-64"]), (("--cfg=setwise_pext",), ["bmi2-pext"])):
        program = rust_program(tmp_path, source, "-O", *flags, *more, dispatch=dispatch)
        assert under_qemu("Haswell", program).split() == isas
        if dispatch and not more:
            assert [under_qemu(name, program) for name in ("EPYC", "EPYC-Rome")] == ["x86-64\n"] * 2


ZIG = """\
const setwise = @import("setwise.zig");
export fn queen(queens: u64, empty: u64) u64 {
    return setwise.kogge_stone_attacks_queen(queens, empty);
}
export fn north(queens: *const [5]u64, empty: *[5]u64) void {
    setwise.kogge_stone_attacks_nort_batch(queens, empty, empty);
}
export fn pair(rooks: u64, bishops: u64, results: *[2]u64) void {
    results.* = setwise.sliders_pair(rooks, bishops, rooks | bishops);
}
"""


@runs
@pytest.mark.parametrize("cpu_name", ["x86_64", "native"])
def test_zig_chooses_for_the_cpu_that_is_built_for(tmp_path: Path, cpu_name: str) -> None:
    require_module("ziglang")
    (tmp_path / "setwise.zig").write_text(zig.module(order()), encoding="ascii")
    (tmp_path / "use.zig").write_text(ZIG, encoding="ascii")
    for output, kind in (("use.so", ("build-lib", "-dynamic", "-fno-compiler-rt")), ("use.o", ("build-obj",))):
        command = [sys.executable, "-m", "ziglang", *kind, "-OReleaseFast", f"-mcpu={cpu_name}", "use.zig"]
        run([*command, f"-femit-bin={output}"], tmp_path)
    used = features(decode(load(tmp_path / "use.o", "queen").text))
    assert ("avx2" in used) == (cpu_name == "native" and "avx2" in cpu.features())
    library = ctypes.CDLL(str(tmp_path / "use.so"))
    library.queen.restype, library.queen.argtypes = ctypes.c_uint64, (ctypes.c_uint64,) * 2
    assert library.queen(1, 0xFFFF_FFFF_FFFF_FFFE) == ATTACKED
    queens, boards = (ctypes.c_uint64 * 5)(1, 1 << 48), (ctypes.c_uint64 * 5)(~1, ~(1 << 48))
    library.north(queens, boards)
    assert list(boards) == [0x0101_0101_0101_0100, 1 << 56, 0, 0, 0]
    results = (ctypes.c_uint64 * 2)()
    library.pair(ctypes.c_uint64(1), ctypes.c_uint64(1), results)
    assert list(results) == [0x0101_0101_0101_01FE, 0x8040_2010_0804_0200]


ZIG_MAIN = """\
const std = @import("std");
const setwise = @import("setwise.zig");
pub fn main() void {
    const queens = [5]u64{ 1, 1 << 48, 0, 0, 0 };
    var boards = [5]u64{ ~queens[0], ~queens[1], 0, 0, 0 };
    setwise.kogge_stone_attacks_nort_batch(&queens, &boards, &boards);
    const pair = setwise.sliders_pair(1, 1, 1);
    if (setwise.kogge_stone_attacks_queen(1, ~queens[0]) != %(attacked)d) std.process.exit(1);
    if (boards[0] != 0x0101010101010100 or boards[1] != 1 << 56 or boards[2] != 0) std.process.exit(2);
    if (pair[0] != 0x01010101010101FE or pair[1] != 0x8040201008040200) std.process.exit(3);
    %(more)s
}
"""
PRINTED = '    _ = std.c.printf("%.*s\\n", @as(c_int, @intCast(setwise.{0}_isa().len)), setwise.{0}_isa().ptr);\n'


def zig_program(folder: Path, *flags: str, more: str = "") -> Path:
    """The program of the Zig file with dispatch, for processors with SSE2 alone or for another target."""
    require_module("ziglang")
    (folder / "setwise.zig").write_text(zig.module(order(dispatch=True)), encoding="ascii")
    (folder / "use.zig").write_text(ZIG_MAIN % {"attacked": ATTACKED, "more": more}, encoding="ascii")
    run([sys.executable, "-m", "ziglang", "build-exe", "use.zig", *flags, "-femit-bin=use"], folder)
    return folder / "use"


def test_zig_chooses_when_it_runs(tmp_path: Path) -> None:
    """On each processor; what it finds in words of CPUID, too."""
    text = zig.module(order(dispatch=True))
    wanted = [each for each in BITS if f"const {constant_name(each)} = " in text]
    assert wanted == ["bmi1", "bmi2", "fast-pext", "avx2", "avx512vl"]
    more = "".join(map(PRINTED.format, ("kogge_stone_attacks_queen", "kogge_stone_attacks_nort_batch", "sliders_pair")))
    for at, (*leaves, state, found) in enumerate(cpuid_cases(wanted), 4):
        words = ", ".join(f".{{ {', '.join(map(str, leaf))} }}" for leaf in leaves)
        more += f"    if (setwise.features_of({words}, {state}) != {found}) std.process.exit({at});\n"
    program = zig_program(tmp_path, "-OReleaseFast", "-mcpu=x86_64", "-lc", more=more)
    assert under_qemu("Nehalem", program).split() == ["x86-64", "sse2", "x86-64"]
    assert under_qemu("Haswell", program).split() == ["avx2", "avx2", "bmi2-pext"]
    assert under_qemu("EPYC", program).split() == ["avx2", "avx2", "x86-64"]
    assert under_qemu("Haswell,-xsave", program).split() == ["bmi2", "sse2", "bmi2-pext"]
    assert natively(program).split()[0] == ("avx512" if "avx512vl" in cpu.features() else "avx2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags", ["-target x86_64-windows -OReleaseSafe", "-target aarch64-linux", "-ODebug", "-fllvm"]
)
def test_zig_dispatches_or_not_on_all_platforms(tmp_path: Path, flags: str) -> None:
    """Zig's own backend, which is the default of Debug builds, and other processors have the plain kernels."""
    program = zig_program(tmp_path, *flags.split())
    if "windows" in flags:
        under_wine(program)
    elif "aarch64" in flags:
        under_qemu("max", program, machine="aarch64")
    else:
        natively(program)


def test_a_zig_file_names_the_switch_for_pext_where_it_has_such_kernels() -> None:
    switch = "`pub const setwise_pext = true;`"
    assert switch in zig.module(order())
    assert switch not in zig.module(replace(order(), kernels=(kernel("sliders.pair"),)))


def test_a_long_sentence_stays_in_its_comment() -> None:
    one = kernel("leapers.kings", "x86-64")
    long = replace(one, routine=replace(one.routine, summary="squares, " * 40))
    for text in (
        rust.module(replace(order(), kernels=(long,))),
        zig.module(replace(order(), kernels=(long,))),
    ):
        lines = [line for line in text.splitlines() if "squares, squares" in line]
        assert len(lines) > 2
        assert all(line.lstrip().startswith("//") for line in lines)
