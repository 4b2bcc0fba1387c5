"""The instruction sets, the oldest first: a record each, and the names by which routines come for them."""

from __future__ import annotations

from setwise.codegen.targets.general import BMI2, X86_64
from setwise.codegen.targets.table import Target
from setwise.codegen.targets.vector import SETS

__all__ = ["ALL_SETS", "PACKED", "SCALARS", "TARGETS", "VECTORS", "in_words"]

TARGETS = {target.name: target for target in (X86_64, BMI2, *SETS)}

ALL_SETS = tuple(TARGETS)
SCALARS = tuple(name for name, target in TARGETS.items() if not target.vectors)
VECTORS = tuple(name for name, target in TARGETS.items() if target.vectors)
PACKED = tuple(name for name, target in TARGETS.items() if not target.vectors or target.spread)
"""Those for which any description of several directions comes: no lane has to be the mirror image of another."""


def in_words(names: tuple[str, ...]) -> str:
    """Instruction sets to choose from.

    >>> in_words(VECTORS[:3])
    'sse2, avx2 or avx512'
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def target_named(name: str) -> Target:
    """The instruction set of that name; ValueError where there is none."""
    if name not in TARGETS:
        raise ValueError(f"unknown instruction set '{name}': use one of {', '.join(TARGETS)}")
    return TARGETS[name]
