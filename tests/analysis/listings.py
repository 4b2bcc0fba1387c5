"""Assembly and C for tests: listings in Intel operand order, and what GNU as and compilers make of text."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests.conftest import require_tool

DUMB7 = "mov rax,rdx;" + "shr rdx,8; and rdx,rcx; or rax,rdx;" * 6 + "shr rax,8; ret"
KOGGE_STONE = """
    mov rax,rdx; shr rax,8; and rax,rcx; or rdx,rax; mov rax,rcx; shr rax,8; and rcx,rax; mov rax,rdx; shr rax,16;
    and rax,rcx; or rdx,rax; mov rax,rcx; shr rax,16; and rcx,rax; mov rax,rdx; shr rax,32; and rax,rcx; or rax,rdx;
    shr rax,8; ret"""


@cache
def assemble(source: str) -> bytes:
    """The bytes of the text section of `source`, instructions parted by semicolons or lines."""
    assembler, objcopy = require_tool("as"), require_tool("objcopy")
    with tempfile.TemporaryDirectory() as folder:
        file, output = Path(folder, "a.o"), Path(folder, "a.bin")
        text = ".intel_syntax noprefix\n.text\n" + source + "\n"
        subprocess.run([assembler, "--64", "-o", str(file), "-"], input=text, text=True, check=True)
        subprocess.run([objcopy, "-O", "binary", "-j", ".text", str(file), str(output)], check=True)
        return output.read_bytes()


def assembled(folder: Path, text: str) -> Path:
    """The object that GNU as makes of a file's text."""
    made = folder / "some.o"
    subprocess.run([require_tool("as"), "--64", "-o", str(made)], input=text, text=True, check=True)
    return made


def compiled(folder: Path, text: str, *flags: str, compiler: str = "gcc") -> Path:
    """The object that a compiler makes of C."""
    source, made = folder / "some.c", folder / "some.o"
    source.write_text(text)
    options = ("-O2", "-fcf-protection=none", "-c", *flags, str(source), "-o", str(made))
    subprocess.run([require_tool(compiler), *options], check=True)
    return made
