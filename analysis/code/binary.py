"""The assembled bytes of a kernel, as a `Binary`."""

from functools import lru_cache

from setwise.analysis.code.decode import Binary
from setwise.codegen.assemble import assemble
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code


def binary_of(kernel: Kernel) -> Binary:
    """Assemble a kernel and return its code and data. Raises ValueError if no installed assembler can encode it."""
    return assembled_code(kernel.code)


@lru_cache(1)  # callers often ask twice in a row for the same kernel
def assembled_code(code: Code) -> Binary:
    """Return the assembled code and its data. Raises ValueError if no installed assembler can encode it."""
    assembled = assemble(code)
    image, start = assembled.image, assembled.data_offset
    return Binary(image[: len(assembled.text)], image[start:], start)
