"""The input of an export: kernels, facts about their bytes, and options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from setwise.codegen.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a kernel's bytes, which exporters print. The caller computes them from the bytes.

    counts     the number of instructions in total and by class, memory_operands, bytes of code, data_bytes
    features   the CPU features that the bytes need beyond x86-64
    changed    the clobbered registers, parts of registers, and flags
    sha256     the digest of the code bytes, with the distances to data as zeros, as in an object file
    """

    counts: Mapping[str, int]
    features: tuple[str, ...]
    changed: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Order:
    """An export: the kernels, the function that returns their facts, the command, and options.

    endbr64    functions begin with endbr64, for processors that check the targets of indirect calls
    dispatch   exported source chooses an instruction set at run time, by CPUID, instead of at compile time
    name       the name of files and modules; the default is the prefix of symbols
    proved     whether the code of the kernels has been proved
    functions  the names of routines' functions, by the names of routines, where a language reserves the usual ones
    """

    kernels: tuple[Kernel, ...]
    facts: Callable[[Kernel], Facts]
    made_by: str
    endbr64: bool = False
    dispatch: bool = False
    name: str = ""
    proved: bool = False
    functions: Mapping[str, str] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """The prefix of all symbols."""
        return self.kernels[0].prefix

    @property
    def called(self) -> str:
        """The name of files and modules."""
        return self.name or self.prefix
