"""A kernel's bytes as analysis takes them: what it judges of a kernel it reads off these."""

from __future__ import annotations

from setwise.analysis.code.decode import Binary
from setwise.codegen.assemble import assemble
from setwise.codegen.kernel import Kernel


def binary_of(kernel: Kernel) -> Binary:
    """The kernel's code and data, assembled; ValueError where no assembler can."""
    assembled = assemble(kernel.code)
    image, start = assembled.image, assembled.data_offset
    return Binary(image[: len(assembled.text)], image[start:], start)
