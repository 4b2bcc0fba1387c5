"""Functions out of ELF files: what stands alone runs as in the file, what does not is refused in one line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectError, functions, load, load_all
from setwise.analysis.run.steps import Machine
from tests.conftest import require_tool

C = """
typedef unsigned long long U64;
static const U64 table[8] = {11, 12, 13, 14, 15, 16, 17, 18};
const U64 global[4] = {7, 8, 9, 10};
U64 variable;
U64 helper(U64 a);
U64 plain(U64 a) { return a * 3 + 1; }
U64 reads(U64 a, unsigned b) { return (a & 0xfefefefefefefefeULL) ^ table[b & 7]; }
U64 reads_global(unsigned b) { return global[b & 3]; }
U64 switches(U64 a, unsigned b) {
    switch (b) {
    case 0: return a * 5;
    case 1: return a ^ 7;
    case 2: return a << 3;
    case 3: return a >> 9;
    case 4: return a | 5;
    default: return 0;
    }
}
U64 calls(U64 a) { return helper(a) + 1; }
U64 writes(U64 a) { return variable += a; }
"""


def compiled(folder: Path, *flags: str, compiler: str = "gcc", suffix: str = "o") -> Path:
    source, made = folder / "some.c", folder / f"some.{suffix}"
    source.write_text(C)
    options = ("-O2", "-fcf-protection=none", *(("-c",) if suffix == "o" else ()), *flags)
    subprocess.run([require_tool(compiler), *options, str(source), "-o", str(made)], check=True)
    return made


def result(path: Path, symbol: str, *words: int) -> int:
    return Machine(load(path, symbol), dict(zip(("rdi", "rsi"), words, strict=False))).run().registers["rax"]


WHOLE = "-fno-reorder-blocks-and-partition"
OBJECTS = [
    ("gcc", (WHOLE,)),
    ("gcc", ("-fPIC", WHOLE)),
    ("gcc", ("-ffunction-sections", "-fdata-sections", WHOLE)),
    ("clang-19", ("-fPIC",)),
]


@pytest.mark.parametrize(("compiler", "flags"), OBJECTS)
def test_objects(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    path = compiled(tmp_path, *flags, compiler=compiler)
    assert {"plain", "reads", "switches", "calls"} <= set(functions(path))
    assert result(path, "plain", 5) == 16
    assert [result(path, "reads", 0x1FF, b) for b in range(8)] == [0xFE ^ n for n in range(11, 19)]
    assert [result(path, "reads_global", b) for b in range(4)] == [7, 8, 9, 10]
    expected = [5000, 1000 ^ 7, 8000, 1000 >> 9, 1000 | 5, 0]
    assert [result(path, "switches", 1000, b) for b in range(6)] == expected


def test_several_at_once_are_those_that_come_one_by_one(tmp_path: Path) -> None:
    made = compiled(tmp_path, "-fPIC", WHOLE)
    several = load_all(made, {"plain", "reads", "calls", "nowhere"})
    assert set(several) == {"plain", "reads", "calls"}
    assert several["plain"] == load(made, "plain")
    assert several["reads"] == load(made, "reads")
    with pytest.raises(ObjectError) as refused:
        load(made, "calls")
    assert f"{made}: {several['calls']}" == str(refused.value)


def test_the_function_alone_is_taken(tmp_path: Path) -> None:
    binary = load(compiled(tmp_path), "plain")
    assert len(binary.text) < 12
    assert binary.text[-1:] == b"\xc3"
    assert binary.data == b""


def test_shared_libraries(tmp_path: Path) -> None:
    path = compiled(tmp_path, "-shared", "-fPIC", WHOLE, suffix="so")
    assert result(path, "plain", 5) == 16
    assert [result(path, "reads", 0x1FF, b) for b in range(8)] == [0xFE ^ n for n in range(11, 19)]
    assert [result(path, "switches", 1000, b) for b in range(3)] == [5000, 1000 ^ 7, 8000]


def test_assembly_without_sizes(tmp_path: Path) -> None:
    source, made = tmp_path / "a.asm", tmp_path / "a.o"
    source.write_text(
        "global first, second\nsection .text\n"
        "first: mov rax,[rel constant]\n test rdi,rdi\n je .zero\n ret\n.zero: xor eax,eax\n ret\n"
        "inside: dq 0x1234\nsecond: mov rax,[rel inside]\n ret\n"
        "section .rodata\n dq 5\nconstant: dq 77\n"
    )
    subprocess.run([require_tool("nasm"), "-felf64", str(source), "-o", str(made)], check=True)
    assert set(functions(made)) == {"first", "second"}
    assert (result(made, "first", 1), result(made, "first", 0)) == (77, 0)
    assert len(load(made, "first").text) == 16
    assert result(made, "second", 0) == 0x1234


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("calls", "calls needs 'helper', which the file does not define: only code that stands alone is judged"),
        ("writes", "writes uses 'variable' in .bss, which is not constant"),
        ("plian", "no function 'plian': it has plain"),
    ],
)
def test_what_does_not_stand_alone(tmp_path: Path, symbol: str, message: str) -> None:
    path = compiled(tmp_path)
    with pytest.raises(ObjectError) as caught:
        load(path, symbol)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_addresses_are_refused(tmp_path: Path) -> None:
    path = compiled(tmp_path, "-fno-pie", "-mcmodel=medium")
    assert result(path, "plain", 5) == 16
    with pytest.raises(ObjectError, match=r"with -fPIC|compile it with -fPIC|stands alone"):
        load(path, "switches")


def test_what_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ObjectError, match="nowhere: no such file or directory"):
        load(tmp_path / "nowhere", "f")
    (tmp_path / "text").write_text("not an object")
    with pytest.raises(ObjectError, match="text: not an ELF file: give an object"):
        load(tmp_path / "text", "f")
    other = bytearray(compiled(tmp_path).read_bytes())
    other[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "arm.o").write_bytes(other)
    with pytest.raises(ObjectError, match="made for AArch64, not for x86-64"):
        load(tmp_path / "arm.o", "f")
    (tmp_path / "cut.o").write_bytes(compiled(tmp_path).read_bytes()[:70])
    with pytest.raises(ObjectError, match=r"cut\.o: "):
        load(tmp_path / "cut.o", "plain")
