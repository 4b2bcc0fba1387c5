"""Linked files (programs and shared libraries of Linux, Windows and macOS) as memory, so that their code can run here.

What is in them is position-independent: it runs wherever it lies, and Win64 code runs on Linux behind the driver that
calls kernels of any convention.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise.analysis.code.decode import Binary
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.check import Outcome, check
from setwise.analysis.run.inputs import make_cases
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.assemble import assemble
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import runner
from setwise.codegen.run.executable import NotRunnable
from tests.conftest import require_module

_PAGE = 4096
_STRICTEST = 64


@dataclass(frozen=True)
class Memory:
    """The bytes of a file's read-only parts as they would be loaded, from address `start` on, and where symbols are."""

    start: int
    content: bytes
    symbols: Mapping[str, int]

    def at(self, symbol: str) -> int:
        """Where a symbol is in `content`; Mach-O's has an underscore before it."""
        address = self.symbols.get(symbol, self.symbols.get(f"_{symbol}"))
        assert address is not None, f"{symbol} is not among {', '.join(self.symbols)}"
        return address - self.start

    def binary(self, symbol: str, size: int) -> Binary:
        """A function of so many bytes and all that lies behind it, at the distances that they have.

        It begins at a multiple of 64, as far as the strictest constants can tell; a jump leads on to the function.
        """
        at = self.at(symbol)
        lead = at % _STRICTEST
        jump = b"\xe9" + (lead - 5).to_bytes(4, "little") if lead else b""
        text = jump.ljust(lead, b"\xcc") + self.content[at : at + size]
        return Binary(text, self.content[at + size :], len(text))

    def image(self, symbol: str) -> bytes:
        """What runs the function when its first byte, at a multiple of 64, is called."""
        return self.binary(symbol, 0).image


def load(path: Path) -> Memory:
    """A linked file as LIEF sees it."""
    lief: Any = require_module("lief")
    magic = path.read_bytes()[:2]
    if magic == b"\x7fE":
        file = lief.ELF.parse(str(path))
        parts = [(one.virtual_address, bytes(one.content)) for one in file.segments if "LOAD" in str(one.type)]
        return _memory(parts, {one.name: one.value for one in file.symbols if one.value})
    if magic == b"MZ":
        file = lief.PE.parse(str(path))
        parts = [(one.virtual_address, bytes(one.content)) for one in file.sections]
        return _memory(parts, {one.name: one.address for one in file.exported_functions})
    file = lief.MachO.parse(str(path)).at(0)
    parts = [(one.virtual_address, bytes(one.content)) for one in file.segments if one.name == "__TEXT"]
    return _memory(parts, {one.name: one.value for one in file.symbols if one.value})


def _memory(parts: list[tuple[int, bytes]], symbols: dict[str, int]) -> Memory:
    start = min(address for address, _ in parts) // _PAGE * _PAGE
    content = bytearray(max(address + len(part) for address, part in parts) - start)
    for address, part in parts:
        content[address - start : address - start + len(part)] = part
    return Memory(start, bytes(content), symbols)


def assert_proves(memory: Memory, kernel: Kernel, symbol: str, prover: Prover) -> None:
    """The linked bytes do what the kernel's routine promises."""
    made = prover.prove(memory.binary(symbol, len(assemble(kernel.code).text)), task_of(kernel))
    assert made.status == "proved", f"{symbol}: {made.reason}"


def run(memory: Memory, kernel: Kernel, symbol: str) -> Outcome:
    """The linked code run on this processor against the ray-walk, in its own convention."""
    try:
        with runner(kernel, memory.image(symbol)) as running:
            return check(running.run, make_cases(kernel.routine.contract, quick=True))
    except NotRunnable as error:
        return Outcome("not run", reason=str(error))
