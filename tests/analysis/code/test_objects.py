"""Functions out of ELF files: what stands alone runs as in the file, what does not is refused in one line."""

import subprocess
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectError, functions, load
from setwise.analysis.run.interpreter import Interpreter
from tests.analysis.listings import assembled, compiled
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


def result(path: Path, symbol: str, *words: int) -> int:
    return Interpreter(load(path, symbol), dict(zip(("rdi", "rsi"), words, strict=False))).run().registers["rax"]


WHOLE = "-fno-reorder-blocks-and-partition"
OBJECTS = [
    ("gcc", (WHOLE,)),
    ("gcc", ("-fPIC", WHOLE)),
    ("gcc", ("-ffunction-sections", "-fdata-sections", WHOLE)),
    ("clang-19", ("-fPIC",)),
]


@pytest.mark.parametrize(("compiler", "flags"), OBJECTS)
def test_objects(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    path = compiled(tmp_path, C, *flags, compiler=compiler)
    assert {"plain", "reads", "switches", "calls"} <= set(functions(path))
    assert result(path, "plain", 5) == 16
    assert [result(path, "reads", 0x1FF, b) for b in range(8)] == [0xFE ^ n for n in range(11, 19)]
    assert [result(path, "reads_global", b) for b in range(4)] == [7, 8, 9, 10]
    expected = [5000, 1000 ^ 7, 8000, 1000 >> 9, 1000 | 5, 0]
    assert [result(path, "switches", 1000, b) for b in range(6)] == expected


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
        (
            "calls",
            "calls needs 'helper', which the file does not define: only self-contained functions can be analyzed",
        ),
        ("writes", "writes uses 'variable' in .bss, which is not constant"),
        ("plian", "no function 'plian': it has plain"),
    ],
)
def test_what_does_not_stand_alone(tmp_path: Path, symbol: str, message: str) -> None:
    path = compiled(tmp_path, C)
    with pytest.raises(ObjectError) as caught:
        load(path, symbol)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_addresses_are_refused(tmp_path: Path) -> None:
    path = compiled(tmp_path, C, "-fno-pie", "-mcmodel=medium")
    assert result(path, "plain", 5) == 16
    with pytest.raises(ObjectError, match=r"compile it with -fPIC|self-contained"):
        load(path, "switches")


def test_what_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ObjectError, match="nowhere: no such file or directory"):
        load(tmp_path / "nowhere", "f")
    (tmp_path / "text").write_text("not an object")
    with pytest.raises(ObjectError, match="text: not an ELF file: give an object"):
        load(tmp_path / "text", "f")
    other = bytearray(compiled(tmp_path, C).read_bytes())
    other[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "arm.o").write_bytes(other)
    with pytest.raises(ObjectError, match="made for AArch64, not for x86-64"):
        load(tmp_path / "arm.o", "f")
    (tmp_path / "cut.o").write_bytes(compiled(tmp_path, C).read_bytes()[:70])
    with pytest.raises(ObjectError, match=r"cut\.o: "):
        load(tmp_path / "cut.o", "plain")


def built(folder: Path, text: str, *link: str) -> Path:
    """What GNU as makes of assembly, linked where that is asked for."""
    made = assembled(folder, ".intel_syntax noprefix\n" + text)
    if not link:
        return made
    subprocess.run([require_tool("ld"), *link, str(made), "-o", str(folder / "some.elf")], check=True)
    return folder / "some.elf"


CONSTANTS = """
    .section .rodata.one,"a"
    .balign 8
10: .quad 1
    .section .rodata.two,"a"
    .balign 32
11: .quad 2
    .section .rodata.cst8,"aM",@progbits,8
    .balign 8
12: .quad 3, 4
    .text
    .balign 16
    .quad 0
    .globl f
    .type f,@function
f:  mov rax, [rip+10b]
    add rax, [rip+11b]
    add rax, [rip+12b]
    ret
    .size f,.-f
"""


def test_sections_of_an_object_lie_apart_each_with_its_own_alignment(tmp_path: Path) -> None:
    layout = load(built(tmp_path, CONSTANTS), "f").layout
    assert layout is not None
    assert [(piece.alignment, piece.origin, piece.end - piece.start) for piece in layout.pieces] == [
        (16, 8, 22),
        (8, 0, 8),
        (32, 0, 8),
        (8, 0, 8),  # of those that are merged only the one that is meant
    ]
    assert len({piece.base for piece in layout.pieces}) == 4


def test_sections_of_a_linked_file_lie_as_they_are_loaded(tmp_path: Path) -> None:
    layout = load(built(tmp_path, CONSTANTS, "-shared"), "f").layout
    assert layout is not None
    assert {(piece.base, piece.alignment) for piece in layout.pieces} == {("code", 4096)}


def test_the_default_version_is_meant(tmp_path: Path) -> None:
    text = """
        .text
        .globl old, new
        .type old,@function
        .type new,@function
    old: mov eax, 1
        ret
        .size old,.-old
    new: mov eax, 2
        ret
        .size new,.-new
        .symver old,f@ONE
        .symver new,f@@TWO
    """
    (tmp_path / "versions").write_text("ONE { };\nTWO { } ONE;\n")
    path = built(tmp_path, text, "-shared", "--version-script", str(tmp_path / "versions"))
    assert result(path, "f") == 2


def test_two_functions_of_one_name_are_refused(tmp_path: Path) -> None:
    path = built(tmp_path, "f1: ret\nf2: nop\n ret\n.type f1,@function\n.type f2,@function\n")
    path.write_bytes(path.read_bytes().replace(b"\0f2\0", b"\0f1\0"))
    with pytest.raises(ObjectError, match="f1 names 2 different functions: give each a unique name"):
        load(path, "f1")


def test_a_name_of_several_lines_is_shown_in_one(tmp_path: Path) -> None:
    path = built(tmp_path, "one: ret\n.type one,@function\n")
    path.write_bytes(path.read_bytes().replace(b"\0one\0", b"\0o\ne\0"))
    with pytest.raises(ObjectError) as refused:
        load(path, "one")
    assert str(refused.value) == f"{path}: no function 'one': it has o\\ne"


def test_what_the_file_does_not_say_of_the_end_is_told(tmp_path: Path) -> None:
    path = built(tmp_path, "f: test edi,edi\n je 1f\n ret\n1: ret\n nop\ng: jmp rax\n ret\n h: ret\n.globl f,g,h")
    ends = {name: load(path, name).layout for name in ("f", "g")}
    assert [layout.end if layout else "" for layout in ends.values()] == [
        "assumed at offset 0x6, beyond which no branch jumps: the file gives no size",
        "assumed at offset 0x3, before the next function: the file gives no size",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f: jmp fword ptr [rdi]", "leaves the function by 'jmp"),
        (".globl g\nf: call g@PLT\n ret\ng: ret", "calls or jumps to 'g': only self-contained functions"),
        (".local g\nf: mov rax, g@GOTPCREL[rip+8]\n ret\n.data\ng: ret", "GOTPCRELX: only addresses relative to rip"),
        (".local g\nf: mov eax, offset g\n ret\ng: ret", "R_X86_64_32: compile it with -fPIC"),
        (
            "f: .reloc .+1, R_X86_64_PC32, f\n mov eax, 0\n ret",
            "has no displacement in 'mov eax,0'",
        ),
        (".weak w\nf: mov rax, [rip+w]\n ret\n.section .rodata\nw: .quad 1", "needs 'w', which is weak"),
        ('f: mov rax, [rip+w]\n ret\n.section .eh_frame,"a"\nw: .quad 1', "not a section of plain constants"),
    ],
)
def test_what_is_not_promised_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = built(tmp_path, f".globl f\n.type f,@function\n{text}\n")
    with pytest.raises(ObjectError) as refused:
        load(path, "f")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
