"""The instruction sets, oldest first, and groups of their names."""

from setwise.codegen.targets.general import BMI2, X86_64
from setwise.codegen.targets.table import Target
from setwise.codegen.targets.vector import SETS

TARGETS = {target.name: target for target in (X86_64, BMI2, *SETS)}

ALL_SETS = tuple(TARGETS)
SCALARS = tuple(name for name, target in TARGETS.items() if not target.vectors)
VECTORS = tuple(name for name, target in TARGETS.items() if target.vectors)
PACKED = tuple(name for name, target in TARGETS.items() if not target.vectors or target.direction_widths)
"""The sets without vectors, or with room for more than two directions in a register, so that no lane is mirrored."""


def in_words(names: tuple[str, ...]) -> str:
    """Join names of instruction sets with commas and "or".

    >>> in_words(VECTORS[:3])
    'sse2, avx2 or avx512'
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def target_named(name: str) -> Target:
    """Return the instruction set with this name. Raise ValueError for an unknown name."""
    if name not in TARGETS:
        raise ValueError(f"unknown instruction set '{name}': use one of {', '.join(TARGETS)}")
    return TARGETS[name]
