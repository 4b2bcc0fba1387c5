"""Listings: what they say, and that the assembler itself makes the same bytes of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.assemble import assemble
from codegen.board import DIRECTIONS
from codegen.catalogue import catalogue, find
from codegen.convention import CONVENTIONS
from codegen.export.listings import DIALECTS, listing, source, symbol_of
from codegen.lower import TARGETS, Kernel, Refused, lower
from codegen.machine import Code, Datum, Instruction, Label, Memory, Operand, Register, general, vector
from codegen.routine import Routine
from tests.conftest import require_tool

RAX, RCX, RDX, RSP = map(general, ("rax", "rcx", "rdx", "rsp"))
XMM, YMM, ZMM = (vector(n, bits) for n, bits in ((1, 128), (2, 256), (3, 512)))
# Those of the quick test; sets of directions are long, and in the full test.
CLASSIC = [
    routine
    for routine in catalogue().values()
    if routine.family in ("dumb7", "kogge-stone")
    and routine.form in ("attacks", "occluded")
    and routine.direction in DIRECTIONS
]


def kernels(routines: Sequence[Routine]) -> Iterator[Kernel]:
    for routine in routines:
        for isa in TARGETS:
            for abi in CONVENTIONS:
                try:
                    yield lower(routine, isa, abi)
                except Refused:
                    continue


def nasm(directory: Path, text: str) -> dict[str, bytes]:
    """The sections that nasm makes of a source, its warnings taken as errors."""
    program = require_tool("nasm")
    (directory / "code.asm").write_text(text)
    command = [program, "-f", "elf64", "-Werror", "-o", "code.o", "code.asm"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + text
    return sections((directory / "code.o").read_bytes())


def sections(elf: bytes) -> dict[str, bytes]:
    """Contents of an ELF file's sections by name."""

    def number(at: int, size: int) -> int:
        return int.from_bytes(elf[at : at + size], "little")

    table, size, count, names = number(0x28, 8), number(0x3A, 2), number(0x3C, 2), number(0x3E, 2)
    heads = [table + size * i for i in range(count)]
    contents = {head: elf[number(head + 24, 8) :][: number(head + 32, 8)] for head in heads}
    strings = contents[heads[names]]
    return {strings[number(h, 4) :].split(b"\0")[0].decode(): contents[h] for h in heads}


def assert_same_bytes(directory: Path, code: Code, text: str) -> None:
    made = assemble(code)
    found = nasm(directory, text)
    assert found[".text"].hex(" ") == made.text.hex(" "), text
    if made.data:
        data = bytearray(found[".rodata"])
        for fixup in made.data_fixups:  # the object file leaves them to the linker, as we do
            data[fixup.offset : fixup.offset + 4] = bytes(4)
        assert bytes(data).hex(" ") == made.data.hex(" "), text


@pytest.mark.parametrize("routine", CLASSIC, ids=lambda routine: str(routine.name))
def test_nasm_makes_the_same_bytes(routine: Routine, tmp_path: Path) -> None:
    several = list(kernels([routine]))
    assert several
    for kernel in several:
        assert_same_bytes(tmp_path, kernel.code, listing(kernel))


@pytest.mark.slow
def test_nasm_makes_the_same_bytes_of_the_whole_catalogue(tmp_path: Path) -> None:
    for kernel in kernels(list(catalogue().values())):
        assert_same_bytes(tmp_path, kernel.code, listing(kernel))


def i(mnemonic: str, *operands: Operand) -> Instruction:
    return Instruction(mnemonic, operands)


AWKWARD = [
    # nasm shortens these if they are written another way
    i("lea", RAX, Memory(64, RCX, RCX)),
    i("lea", RAX, Memory(64, None, RCX, 4)),
    i("lea", RAX, Memory(64, None, RCX, 8)),
    i("lea", RAX, Memory(64, RDX, RCX)),
    i("lea", RAX, Memory(64, RDX, RCX, 8, 16)),
    i("mov", RAX, 0xFEFE_FEFE_FEFE_FEFE),
    i("mov", RAX, 0x7F7F_7F7F_7F7F_7F7F),
    i("mov", RAX.at(32), 0x8000_0001),
    i("and", RAX, 127),
    i("and", RAX, -128),
    i("and", RDX, 128),
    i("and", RDX, -0x8000_0000),
    i("add", RSP, 128),
    i("sub", RSP, 8),
    i("imul", RAX, RCX, 0x0005_0005),
    i("imul", RAX, RCX, 5),
    i("shl", RAX, 1),
    i("shr", RDX, RCX.at(8)),
    i("test", RAX, RAX),
    i("rorx", RAX, RCX, 57),
    # operands in memory
    i("mov", RAX, Memory(64, RSP, displacement=8)),
    i("mov", RAX, Memory(64, general("r13"))),
    i("mov", RAX, Memory(64, general("rbp"), displacement=-128)),
    i("mov", Memory(64, RSP, displacement=256), RAX),
    i("and", Memory(64, RCX), -1),
    i("shl", Memory(64, RCX), RCX.at(8)),
    i("movzx", RAX.at(32), Memory(8, RDX, RCX)),
    i("movsxd", RAX, Memory(32, RDX, RCX, 4)),
    i("push", general("r12")),
    i("setne", RAX.at(8)),
    i("cmovne", RAX, RCX),
    # vectors
    i("pxor", XMM, XMM),
    i("movups", XMM, Memory(128, RSP, displacement=16)),
    i("movq", XMM, RAX),
    i("movq", RAX, XMM),
    i("movq", XMM, Memory(64, RSP)),
    i("vpand", YMM, YMM, Memory(256, RCX, displacement=32)),
    i("vpbroadcastq", YMM, Memory(64, RCX)),
    i("vpandq", ZMM, ZMM, Memory(512, RCX, displacement=64)),
    i("vpandq", ZMM, ZMM, Memory(64, RCX, displacement=8, broadcast=True)),
    i("vpternlogq", ZMM, ZMM, ZMM, 0xF8),
    Instruction("vpsrlq", (ZMM, ZMM, 8), mask=Register("mask", 1, 64), zeroing=True),
    Instruction("vmovdqu64", (Memory(512, RCX), ZMM), mask=Register("mask", 2, 64)),
    i("vzeroupper"),
    i("pushfq"),
    i("ret"),
]


@pytest.mark.parametrize("instruction", AWKWARD, ids=lambda one: f"{one.mnemonic} {one.operands}")
def test_nasm_keeps_the_encoding(instruction: Instruction, tmp_path: Path) -> None:
    code = Code("one", (instruction,))
    assert_same_bytes(tmp_path, code, "\n".join(source(code, DIALECTS["nasm"])) + "\n")


def jump_table() -> Code:
    """A switch of three cases with a loop, a table of bytes and one of words."""
    labels = [Label(f"case{n}") for n in range(3)]
    return Code(
        "with.jump-table",
        (
            i("lea", RDX, Memory(64, symbol="table")),
            i("movsxd", RAX, Memory(32, RDX, RCX, 4)),
            i("add", RAX, RDX),
            i("jmp", RAX),
            *(part for label in labels for part in (label, i("xor", RAX, Memory(64, symbol="words", displacement=8)))),
            i("sub", RCX, 1),
            i("jne", labels[0]),
            i("ret"),
        ),
        (
            Datum("words", (1, -1, 0xFEFE_FEFE_FEFE_FEFE, 4, 5)),
            Datum("bytes", tuple(range(70)), 1, 1),
            Datum("table", tuple(labels), 4, 4),
            Datum("lanes", (9, 7, -7, -9), 8, 32),
        ),
    )


def test_tables_and_labels(tmp_path: Path) -> None:
    code = jump_table()
    text = "\n".join(source(code, DIALECTS["nasm"])) + "\n"
    assert_same_bytes(tmp_path, code, text)
    assert "section .rodata align=32" in text
    assert "dd with_jump_table.case0 - with_jump_table_table, " in text


def test_tables_reach_their_places_once_linked(tmp_path: Path) -> None:
    """The linker fills in what our image has: the object is linked and its image compared."""
    code = jump_table()
    nasm(tmp_path, "\n".join(source(code, DIALECTS["nasm"])) + "\n")
    script = "SECTIONS { .all : SUBALIGN(1) { *(.text) . = ALIGN(32); *(.rodata) } }"
    (tmp_path / "script").write_text(script)
    command = [require_tool("ld"), "--oformat", "binary", "-T", "script", "-e", "0", "-o", "image", "code.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    made = assemble(code)
    image = (tmp_path / "image").read_bytes()
    assert image[: len(made.text)] == made.image[: len(made.text)]
    assert image[made.data_offset :] == made.image[made.data_offset :]


def test_several_listings_go_into_one_file(tmp_path: Path) -> None:
    several = [lower(find(f"kogge-stone.attacks.{name}"), "x86-64", "sysv") for name in ("east", "noWe", "sout")]
    found = nasm(tmp_path, "".join(map(listing, several)) + "\n".join(source(jump_table(), DIALECTS["nasm"])))
    assert found[".text"].count(b"\xc3") >= 3
    for kernel in several:
        # Up to where the first distance to the data stands.
        made = assemble(kernel.code)
        start = made.text[: made.text_fixups[0].offset] if made.text_fixups else made.text
        assert start in found[".text"]


def test_the_listing_says_what_it_is() -> None:
    text = listing(lower(find("kogge-stone.attacks.noEa"), "x86-64", "win64"))
    first, second = text.splitlines()[:2]
    assert first == "; kogge-stone.attacks.noEa for x86-64, win64: sliders rcx, empty rdx, result rax"
    assert "Kogge-Stone" in second
    assert "global kogge_stone_attacks_noEa\n" in text
    assert text.endswith("\n")
    assert text.isascii()
    assert not re.search("[ \t]$", text, re.MULTILINE)


def test_the_classic_listing() -> None:
    text = listing(lower(find("dumb7.attacks.sout"), "x86-64", "wiki"))
    body = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    assert body == ["mov rax, rdx", *["shr rdx, 8", "and rdx, rcx", "or rax, rdx"] * 6, "shr rax, 8", "ret"]


def test_an_unknown_syntax_is_named() -> None:
    kernel = lower(find("dumb7.attacks.sout"))
    with pytest.raises(ValueError, match=r"unknown syntax 'intel': use one of nasm"):
        listing(kernel, "intel")


def test_symbols_are_names_in_c() -> None:
    names = [symbol_of(name) for name in catalogue()]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) for name in names)
    assert len(set(names)) == len(names)


def test_the_name_is_the_kernels_own() -> None:
    code = replace(lower(find("dumb7.attacks.east")).code, name="other")
    assert list(source(code, DIALECTS["nasm"]))[1] == "global other"
