"""Two assemblers here against GNU as: branches, data and tables; instructions: tests/codegen/targets/test_tables.py."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.codegen.assemble import NotEncodable, assemble, available
from setwise.codegen.machine.code import Code, Datum, Instruction, Label, Memory, Operand, Register, general, vector
from tests.codegen.assemble.spelling import spelled
from tests.conftest import require_module, require_tool


def encoder(name: str) -> Callable[[Instruction, int], bytes]:
    require_module({"peachpy": "peachpy", "iced": "iced_x86"}[name])
    encode: Callable[[Instruction, int], bytes] = import_module(f"setwise.codegen.assemble.{name}").encode
    return encode


def gas(source: str, folder: Path) -> bytes:
    """The bytes of .text; what waits for the linker is zero."""
    path = folder / "source.s"
    path.write_text(f".intel_syntax noprefix\n.text\n{source}\n")
    subprocess.run([require_tool("as"), "-o", folder / "source.o", path], check=True)
    return text_of(folder / "source.o", folder)


def text_of(path: Path, folder: Path) -> bytes:
    subprocess.run([require_tool("objcopy"), "-O", "binary", "-j", ".text", path, folder / "text.bin"], check=True)
    return (folder / "text.bin").read_bytes()


def whole(code: Code) -> str:
    """`code` as source for GNU as, its data behind it in the same section."""
    lines = [f"{item.name}:" if isinstance(item, Label) else spelled(item) for item in code.items]
    lines.append(f".balign {max([1, *(datum.alignment for datum in code.data)])}, 0xcc")
    for datum in code.data:
        lines.append(f".balign {datum.alignment}, 0\n{datum.label}:")
        directive = {1: ".byte", 2: ".short", 4: ".long", 8: ".quad"}[datum.size]
        lines += [
            f"{directive} {f'{value.name} - {datum.label}' if isinstance(value, Label) else value}"
            for value in datum.values
        ]
    return "\n".join(lines)


RAX, RDX = general("rax"), general("rdx")
NOTHING = Instruction("add", (RAX, 1))  # 4 bytes
RET = Instruction("ret")


def jump(mnemonic: str, place: str) -> Instruction:
    return Instruction(mnemonic, (Label(place),))


@pytest.mark.parametrize("name", ["peachpy", "iced"])
@pytest.mark.parametrize("between", [0, 1, 30, 31, 32, 33, 500])
@pytest.mark.parametrize("mnemonic", ["jmp", "jnz", "jc", "call"])
def test_branches_are_short_when_they_fit(name: str, mnemonic: str, between: int, tmp_path: Path) -> None:
    encoder(name)
    filler = (NOTHING,) * between
    forward = Code("forward", (jump(mnemonic, "there"), *filler, Label("there"), RET))
    backward = Code("backward", (Label("there"), *filler, jump(mnemonic, "there"), RET))
    for code in (forward, backward):
        assert assemble(code, name).image == gas(whole(code), tmp_path)
    near = {"jmp": 5, "call": 5}.get(mnemonic, 6)
    short = near if mnemonic == "call" else 2
    assert len(assemble(forward, name).text) == (short if 4 * between <= 127 else near) + 4 * between + 1
    assert len(assemble(backward, name).text) == (short if 4 * between + 2 <= 128 else near) + 4 * between + 1


@pytest.mark.parametrize("name", ["peachpy", "iced"])
@settings(max_examples=40)
@given(steps=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 7), st.booleans()), min_size=8, max_size=8))
def test_branches_that_depend_on_each_other(
    name: str, steps: list[tuple[int, int, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    encoder(name)
    items: list[Instruction | Label] = []
    for at, (size, to, conditional) in enumerate(steps):
        items += [Label(f"L{at}"), jump("jz" if conditional else "jmp", f"L{to}"), *[NOTHING] * size]
    code = Code("web", tuple(items))
    assert assemble(code, name).image == gas(whole(code), tmp_path_factory.mktemp("web"))


def with_data() -> Code:
    """A routine that uses data in every way: constants with an offset, a table of jumps, an address in the code."""
    xmm, zmm = vector(1, 128), vector(17, 512)
    return Code(
        "data",
        (
            Label("first"),
            Instruction("mov", (RAX, Memory(64, symbol="words", displacement=8))),
            Instruction("vpaddq", (xmm, xmm, Memory(128, symbol="words", displacement=-8))),
            Instruction("vpternlogq", (zmm, zmm, Memory(64, symbol="words", broadcast=True), 0xCA)),
            Instruction("cmp", (Memory(64, symbol="words"), 1000)),
            Instruction("lea", (RDX, Memory(64, symbol="table"))),
            Instruction("movsxd", (RAX, Memory(32, RDX, RAX, 4))),
            Instruction("add", (RAX, RDX)),
            Instruction("jmp", (RAX,)),
            Label("second"),
            Instruction("lea", (RAX, Memory(64, symbol="first", displacement=3))),
            Instruction("lea", (RAX, Memory(64, symbol="last"))),
            Label("last"),
            RET,
        ),
        (
            Datum("odd", (1, 255, -128), 1, 1),
            Datum("table", tuple(map(Label, ("second", "first", "last"))), 4, 4),
            Datum("words", (-1, 2**64 - 1, 1 << 63, 7), 8, 64),
            Datum("halves", (-1, 0xFFFF), 2, 2),
        ),
    )


@pytest.mark.parametrize("name", ["peachpy", "iced"])
def test_data_and_tables_lie_where_gnu_as_puts_them(name: str, tmp_path: Path) -> None:
    encoder(name)
    assert assemble(with_data(), name).image.hex(" ") == gas(whole(with_data()), tmp_path).hex(" ")


def one(mnemonic: str, *operands: Operand) -> Code:
    return Code("one", (Instruction(mnemonic, operands),))


@pytest.mark.parametrize("name", ["peachpy", "iced"])
@pytest.mark.parametrize(
    "code",
    [
        one("frobnicate", RAX),
        one("add", RAX),
        one("add", RAX, RDX.at(32)),
        one("add", RAX, 2**31),
        one("add", RAX, 2**40),
        one("vpaddq", vector(0, 256), vector(1, 256), vector(2, 128)),
        one("vpand", vector(0, 256), vector(1, 256), vector(16, 256)),
        one("pand", vector(0, 128), vector(16, 128)),
        one("mov", RAX, Memory(64)),
        one("mov", RAX, Memory(64, RDX, symbol="nowhere")),
        one("mov", RAX, Memory(64, symbol="nowhere")),
        one("mov", RAX, Memory(64, RDX, general("rsp"), 2)),
        one("mov", RAX, Memory(32, RDX)),
        one("vpand", vector(0, 256), vector(1, 256), Memory(64, RAX, broadcast=True)),
        one("jmp", Label("nowhere")),
        Code("twice", (Label("here"), Label("here"), RET)),
        Code("both", (Label("here"), RET), (Datum("here", (1,)),)),
        Code("data", (RET,), (Datum("d", (1,)), Datum("d", (2,)))),
        Code("data", (RET,), (Datum("d", (2**64,)),)),
        Code("data", (RET,), (Datum("d", (256,), 1),)),
        Code("data", (RET,), (Datum("d", (1,), alignment=3),)),
        Code("data", (Label("here"), RET), (Datum("d", (Label("here"),), 8),)),
        Code("data", (RET,), (Datum("d", (Label("nowhere"),), 4),)),
        Code("mask", (Instruction("vpand", (vector(0, 256),) * 3, mask=Register("mask", 1, 64)),)),
    ],
)
def test_what_cannot_be_encoded_is_refused_in_one_line(name: str, code: Code) -> None:
    encoder(name)
    with pytest.raises(NotEncodable) as refusal:
        assemble(code, name)
    assert "\n" not in str(refusal.value)


def test_peachpy_names_the_instruction_it_lacks_and_the_default_turns_to_iced() -> None:
    encoder("peachpy")
    code = one("vgf2p8affineqb", *(vector(number, 512) for number in range(3)), 0)
    with pytest.raises(NotEncodable, match=r"vgf2p8affineqb.*iced"):
        assemble(code, "peachpy")
    assert assemble(code) == assemble(code, "iced")


def test_the_assemblers_have_names() -> None:
    assert "iced" in available()
    with pytest.raises(ValueError, match=r"'fasm'.*peachpy, iced"):
        assemble(Code("empty", (RET,)), "fasm")
    if available() == ("iced",):
        with pytest.raises(ValueError, match="'peachpy' is not installed"):
            assemble(Code("empty", (RET,)), "peachpy")


def test_neither_package_is_loaded_before_it_is_needed() -> None:
    source = (
        "import sys, setwise.codegen.assemble as a; a.available(); print({'peachpy', 'iced_x86'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_peachpy_leaves_an_open_function_of_the_caller_alone() -> None:
    encoder("peachpy")
    stream = require_module("peachpy.stream")
    with stream.InstructionStream() as ambient:
        encoder("peachpy")(Instruction("bswap", (RDX,)), 12345)
        assert len(ambient) == 0
        assert stream.active_stream is ambient
