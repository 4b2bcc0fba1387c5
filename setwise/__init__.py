"""setwise: x86-64 machine code for set-wise sliding-piece attacks on chess bitboards.

>>> import setwise
>>> south = setwise.kernel("kogge-stone.attacks.sout")
>>> hex(south(1 << 28, 0xFFFF_FFFF_FFFF_FFFF))  # sliders on e4, all squares empty
'0x101010'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setwise.codegen.run.call import Function

__all__ = ["Function", "__version__", "kernel"]

__version__: str


def kernel(name: str, isa: str | None = None, abi: str | None = None, lanes: int | None = None) -> Function:
    """The routine of that name as a function on integers, made and run as machine code of this processor.

    A routine on arrays, such as sliders.union.batch, takes NumPy's arrays of uint64 as well.

    Boards are integers from 0 to 2**64 - 1, a1 = bit 0, h8 = bit 63; parameters and results are the routine's, and
    help() of the function names them. Without `isa` it is the best instruction set that this processor has, without
    `abi` the convention of this platform's C; both give the same results. Any number of threads may call the function.
    It can be pickled: the pickle holds these arguments, and who reads it makes the function anew for his processor.
    Raises ValueError for names that there are not, setwise.codegen.run.executable.NotRunnable where the processor lacks
    what the code needs.
    """
    from setwise.codegen.run.call import named

    return named(name, isa, abi, lanes)


def __getattr__(name: str) -> object:
    """What is asked for by that name: who imports one module of the package waits for no other."""
    if name == "Function":
        from setwise.codegen.run.call import Function

        return Function
    if name == "__version__":
        from setwise.codegen.version import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
