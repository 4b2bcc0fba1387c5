"""What an export is made from: which kernels, what is known of them, and what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from setwise.codegen.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Facts:
    """A kernel's bytes in figures and names, which exporters print: read off the bytes, by whoever asks for an export.

    counts     instructions, each class by name, memory_operands, bytes (of code) and data_bytes
    features   the CPU features that the bytes need beyond x86-64
    changed    what it leaves changed for its caller: registers, halves of registers, flags
    sha256     of the code bytes, the distances to its data taken as zeros: as they are in an object file
    """

    counts: Mapping[str, int]
    features: tuple[str, ...]
    changed: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Order:
    """Kernels to export, what gives their facts, the command that asked, and what may be asked for besides the format.

    endbr64    functions begin with endbr64, for processors that check where indirect calls land
    dispatch   source chooses among instruction sets when it runs, by CPUID, not when it is compiled
    name       what files are called, and with them modules; without it they are called as symbols begin
    proved     whether each kernel's code is proved
    """

    kernels: tuple[Kernel, ...]
    facts: Callable[[Kernel], Facts]
    made_by: str
    endbr64: bool = False
    dispatch: bool = False
    name: str = ""
    proved: bool = False

    @property
    def prefix(self) -> str:
        """What all symbols begin with."""
        return self.kernels[0].prefix

    @property
    def called(self) -> str:
        """What files are called."""
        return self.name or self.prefix
