"""Calling conventions: the places of arguments and results, and the callee-saved registers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from setwise.codegen.machine.code import Register, general, vector


def _registers(names: str) -> tuple[Register, ...]:
    return tuple(general(name) for name in names.split())


@dataclass(frozen=True)
class Convention:
    """A calling convention. Argument registers are in the order of parameters, others in that of allocation."""

    name: str
    arguments: tuple[Register, ...]
    scratch: tuple[Register, ...]
    """General registers that the callee may clobber."""
    saved: tuple[Register, ...]
    """Callee-saved general registers."""
    vector_arguments: tuple[int, ...]
    saved_vectors: frozenset[int]
    """Numbers of the vector registers whose low 128 bits are callee-saved."""
    stack_arguments: int = 8
    """Offset in bytes from rsp, at entry, of the first argument that is passed on the stack."""
    result: Register = general("rax")
    red_zone: int = 0
    """The number of bytes below rsp that the callee may use."""
    home: int = 0
    """The number of bytes above the return address that the callee may use: the shadow space."""

    def vectors(self, available: int) -> tuple[tuple[Register, ...], tuple[Register, ...]]:
        """Return the vector registers that may be clobbered, and those whose low 128 bits are callee-saved.

        Only the first `available` registers exist. Registers 16 and above come first: writing them leaves no dirty
        upper halves behind.
        """
        order = (*range(16, available), *range(min(16, available)))
        free = tuple(vector(n, WHOLE) for n in order if n not in self.saved_vectors)
        return free, tuple(vector(n, WHOLE) for n in order if n in self.saved_vectors)

    def places(self, lanes: Sequence[int]) -> tuple[Register | int, ...]:
        """Return the place of each parameter, given their numbers of lanes: a register, or bytes from rsp at entry."""
        general_left, vectors_left = iter(self.arguments), iter(self.vector_arguments)
        stack = count(self.stack_arguments, 8)
        return tuple(
            vector(next(vectors_left), WHOLE) if number > 1 else next(general_left, None) or next(stack)
            for number in lanes
        )

    def result_for(self, lanes: int) -> Register:
        """Return the register of a result with this number of lanes."""
        return self.result if lanes == 1 else vector(0, WHOLE)


MASKS = tuple(Register("mask", number, 64) for number in range(1, 8))
"""The mask registers, all caller-saved. k0 is missing: as a write mask it means no mask."""

WHOLE = 512
"""The bits of a vector register before an operand size is chosen."""

SYSV = Convention(
    "sysv",
    arguments=_registers("rdi rsi rdx rcx r8 r9"),
    scratch=_registers("rax rcx rdx rsi rdi r8 r9 r10 r11"),
    saved=_registers("rbx rbp r12 r13 r14 r15"),
    vector_arguments=(0, 1, 2, 3, 4, 5, 6, 7),
    saved_vectors=frozenset(),
    red_zone=128,
)
"""System V AMD64 ABI, section 3.2 (Matz, Hubicka, Jaeger, Mitchell)."""

WIN64 = Convention(
    "win64",
    arguments=_registers("rcx rdx r8 r9"),
    scratch=_registers("rax rcx rdx r8 r9 r10 r11"),
    saved=_registers("rbx rbp rsi rdi r12 r13 r14 r15"),
    vector_arguments=(0, 1, 2, 3),
    saved_vectors=frozenset(range(6, 16)),
    stack_arguments=40,
    home=32,
)
"""The Microsoft x64 calling convention with 32 bytes of shadow space, but vectors are passed in registers 0 to 3."""

WIKI = replace(WIN64, name="wiki", arguments=_registers("rdx rcx"), vector_arguments=(2, 3), stack_arguments=8)
"""The registers of the literature: sliders rdx, empty rcx, result rax (Dumb7Fill); sliders xmm2, occupied xmm3,
result xmm0 (Isenberg)."""

CONVENTIONS = {convention.name: convention for convention in (SYSV, WIN64, WIKI)}
