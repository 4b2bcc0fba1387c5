"""Listings: what they say, and that each dialect's own assembler makes the same bytes of them."""

import re
from pathlib import Path

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import catalogue
from setwise.codegen.export.listings.dialects import DIALECTS, Flavour
from setwise.codegen.export.listings.listing import listing, source
from setwise.codegen.export.names import symbol
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code, Datum, Instruction, Label, Memory, Operand, Register, general, vector
from setwise.codegen.targets import TARGETS
from tests.codegen.export.exports import apart, assembled, flavour_of, joined, kernel, sample, spread
from tests.codegen.export.relocatable import assert_holds, read

RAX, RCX, RDX = map(general, ("rax", "rcx", "rdx"))
XMM, YMM, ZMM = (vector(n, bits) for n, bits in ((1, 128), (2, 256), (3, 512)))
ASSEMBLED = tuple(DIALECTS)


def assert_same_bytes(directory: Path, kernels: list[Kernel], syntax: str) -> None:
    """The dialect's assembler makes of one source of them all the bytes that each has, and points to its data alike."""
    found = read(assembled(directory, joined(kernels, syntax), syntax, flavour_of(kernels[0])))
    for one in kernels:
        assert_holds(found, assemble(one.code), symbol(one))


def assert_code_makes_its_bytes(directory: Path, code: Code, syntax: str, flavour: Flavour = "elf") -> None:
    lines = list(source(code, "code", DIALECTS[syntax], flavour))
    found = read(assembled(directory, "\n".join(lines) + "\n", syntax, "coff" if syntax == "masm" else flavour))
    assert_holds(found, assemble(code), "code")


@pytest.mark.parametrize("syntax", ASSEMBLED)
def test_every_dialect_makes_the_same_bytes(syntax: str, tmp_path: Path) -> None:
    groups = apart(sample("sysv", "win64"))
    assert len(groups) == 2 * len(TARGETS)
    for kernels in groups:
        assert_same_bytes(tmp_path, kernels, syntax)


@pytest.mark.slow
def test_every_dialect_makes_the_same_bytes_of_every_form(tmp_path: Path) -> None:
    for kernels in apart(spread()):
        for syntax in ASSEMBLED:
            assert_same_bytes(tmp_path, kernels, syntax)


@pytest.mark.parametrize("syntax", ASSEMBLED)
def test_a_whole_listing_assembles(syntax: str, tmp_path: Path) -> None:
    for one in (kernel("exploding.rook"), kernel("kogge-stone.attacks.rook.batch", "sse2", "win64")):
        text = listing(one, facts_of(one), syntax)
        assert_holds(read(assembled(tmp_path, text, syntax, flavour_of(one))), assemble(one.code), symbol(one))


@pytest.mark.parametrize("syntax", ASSEMBLED)
def test_no_listing_pins_an_encoding(syntax: str) -> None:
    for one in sample("sysv", "win64"):
        text = "\n".join(source(one.code, symbol(one), DIALECTS[syntax], flavour_of(one)))
        assert not re.search(r"\{(evex|vex[23]?|disp\d+|load|store)\}|\bstrict\b", text)


def i(mnemonic: str, *operands: Operand) -> Instruction:
    return Instruction(mnemonic, operands)


AWKWARD = [
    # some assemblers shorten these if they are written another way
    i("lea", RAX, Memory(64, RCX, RCX)),
    i("lea", RAX, Memory(64, None, RCX, 8)),
    i("mov", RAX, 0xFEFE_FEFE_FEFE_FEFE),
    i("and", RAX, -128),
    i("and", RDX, 128),
    i("imul", RAX, RCX, 5),
    i("shl", RAX, 1),
    i("xchg", RAX, RCX),
    i("xchg", RDX, RCX),
    # operands in memory, of all sizes
    i("mov", RAX, Memory(64, general("r13"))),
    i("mov", RAX, Memory(64, general("rbp"), displacement=-128)),
    i("and", Memory(64, RCX), -1),
    i("movzx", RAX.at(32), Memory(8, RDX, RCX)),
    i("movsxd", RAX, Memory(32, RDX, RCX, 4)),
    i("jmp", general("r12")),
    i("setne", RAX.at(8)),
    # vectors
    i("movq", XMM, RAX),
    i("vmovdqa", YMM, vector(8, 256)),
    i("vmovdqa", vector(9, 256), YMM),
    i("vpandq", ZMM, ZMM, Memory(64, RCX, displacement=8, broadcast=True)),
    Instruction("vpsrlq", (ZMM, ZMM, 8), mask=Register("mask", 1, 64), zeroing=True),
    Instruction("vmovdqu64", (Memory(512, RCX), ZMM), mask=Register("mask", 2, 64)),
    i("ret"),
]


@pytest.mark.parametrize("syntax", ASSEMBLED)
def test_awkward_instructions_keep_their_encoding(syntax: str, tmp_path: Path) -> None:
    assert_code_makes_its_bytes(tmp_path, Code("code", tuple(AWKWARD)), syntax)


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


@pytest.mark.parametrize("syntax", ASSEMBLED)
@pytest.mark.parametrize("flavour", ["elf", "coff"])
def test_tables_and_labels(syntax: str, flavour: Flavour, tmp_path: Path) -> None:
    assert_code_makes_its_bytes(tmp_path, jump_table(), syntax, flavour)


def test_the_banner_speaks_of_pointers_where_there_are_some() -> None:
    arrays, one = kernel("kogge-stone.attacks.east.batch", "avx2"), kernel("sliders.union", "avx2")
    assert "result may be the same array as one input" in listing(arrays, facts_of(arrays))
    assert "alignment   none required" in listing(arrays, facts_of(arrays))
    assert "aliasing" not in listing(one, facts_of(one))


@pytest.mark.parametrize("syntax", [*ASSEMBLED, "go"])
def test_no_line_of_a_banner_is_long(syntax: str) -> None:
    for one in (kernel("sliders.rays"), kernel("kogge-stone.attacks.rook.batch", "sse2")):
        assert max(map(len, listing(one, facts_of(one), syntax).splitlines())) <= 120


def test_an_unknown_syntax_is_named() -> None:
    one = kernel("dumb7.attacks.sout")
    with pytest.raises(ValueError, match=r"unknown syntax 'intel': use one of nasm, gas, att, masm, go"):
        listing(one, facts_of(one), "intel")


def test_symbols_are_names_in_c_and_differ() -> None:
    kernels = [*sample("sysv"), kernel("kogge-stone.attacks.sout", "avx2", "sysv", 2)]
    names = [symbol(one) for one in kernels]
    assert all(re.fullmatch("[a-z][A-Za-z0-9_]*", name) for name in names)
    assert len({name.lower() for name in names}) == len(names)
    routines = {name.replace("-", "_").replace(".", "_").lower() for name in catalogue()}
    assert len(routines) == len(catalogue())
