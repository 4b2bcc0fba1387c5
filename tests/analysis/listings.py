"""Assembles text for tests by GNU as, in Intel operand order."""

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
