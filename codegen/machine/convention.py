"""Calling conventions: where arguments come, where the result goes, what must survive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from setwise.codegen.machine.code import Register, general, vector


def _registers(names: str) -> tuple[Register, ...]:
    return tuple(general(name) for name in names.split())


@dataclass(frozen=True)
class Convention:
    """One calling convention; registers are tried in the order in which they stand here."""

    name: str
    arguments: tuple[Register, ...]
    scratch: tuple[Register, ...]
    """General registers that a routine may change."""
    saved: tuple[Register, ...]
    """General registers that must come back as they were."""
    vector_arguments: tuple[int, ...]
    saved_vectors: frozenset[int]
    """Numbers of the vector registers whose low 128 bits must come back as they were."""
    stack_arguments: int = 8
    """Offset from rsp, at entry, of the first argument that has no register."""
    result: Register = general("rax")
    red_zone: int = 0
    """How many bytes below rsp a routine may use."""
    home: int = 0
    """How many bytes above the return address are the routine's own."""

    def vectors(self, available: int) -> tuple[tuple[Register, ...], tuple[Register, ...]]:
        """Of the first `available` vector registers those that may change, and those whose low half must come back.

        Registers 16 and above come first: writing them leaves no dirty upper halves behind.
        """
        order = (*range(16, available), *range(min(16, available)))
        free = tuple(vector(n, WHOLE) for n in order if n not in self.saved_vectors)
        return free, tuple(vector(n, WHOLE) for n in order if n in self.saved_vectors)

    def places(self, lanes: Sequence[int]) -> tuple[Register | int, ...]:
        """Where parameters with so many lanes come: registers, or so many bytes above rsp at entry."""
        general_left, vectors_left = iter(self.arguments), iter(self.vector_arguments)
        stack = count(self.stack_arguments, 8)
        return tuple(
            vector(next(vectors_left), WHOLE) if number > 1 else next(general_left, None) or next(stack)
            for number in lanes
        )

    def result_for(self, lanes: int) -> Register:
        """Where a result goes."""
        return self.result if lanes == 1 else vector(0, WHOLE)


MASKS = tuple(Register("mask", number, 64) for number in range(1, 8))
"""The mask registers, all of which a routine may change; k0 is left out, which as a write mask means none."""

WHOLE = 512
"""A vector register's width where no value is seen in it yet."""

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
"""Microsoft x64 calling convention; behind the return address lie 32 bytes of shadow space."""

WIKI = replace(WIN64, name="wiki", arguments=_registers("rdx rcx"), vector_arguments=(2, 3), stack_arguments=8)
"""The classic comparison's registers: sliders rdx, empty rcx, result rax (Dumb7Fill); vectors as Isenberg has them."""

CONVENTIONS = {convention.name: convention for convention in (SYSV, WIN64, WIKI)}
