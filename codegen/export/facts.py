"""What exporters print about a kernel and cannot know themselves: it is read off the bytes, by whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """A kernel's bytes in figures and names.

    counts     instructions, each class by name, memory_operands, bytes (of code) and data_bytes
    features   the CPU features that the bytes need beyond x86-64
    changed    what it leaves changed for its caller: registers, halves of registers, flags
    sha256     of the code bytes, the distances to its data taken as zeros: as they are in an object file
    """

    counts: Mapping[str, int]
    features: tuple[str, ...]
    changed: tuple[str, ...]
    sha256: str
