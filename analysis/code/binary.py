"""A kernel's bytes as analysis takes them: what it judges of a kernel it reads off these."""

from __future__ import annotations

from functools import lru_cache

from setwise.analysis.code.decode import Binary
from setwise.codegen.assemble import assemble
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code


def binary_of(kernel: Kernel) -> Binary:
    """The kernel's code and data, assembled; ValueError where no assembler can."""
    return _binary(kernel.code)


@lru_cache(1)  # who makes a kernel sees whether it can be assembled, and who judges it asks next
def _binary(code: Code) -> Binary:
    assembled = assemble(code)
    image, start = assembled.image, assembled.data_offset
    return Binary(image[: len(assembled.text)], image[start:], start)
