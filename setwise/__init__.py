"""setwise: x86-64 machine code for set-wise sliding-piece attacks on chess bitboards.

>>> import setwise
>>> south = setwise.kernel("kogge-stone.attacks.sout")
>>> hex(south(1 << 28, 0xFFFF_FFFF_FFFF_FFFF))  # sliders on e4, all squares empty
'0x101010'

A routine of your own is a function with annotations. Most of its methods have the names of subcommands of `setwise`. On
the command line it is named by file and function, as in `setwise prove mine.py:knight_attacks`, which runs that file.

>>> from setwise import EAST, NORT, SOUT, WEST, Board
>>> @setwise.routine
... def pawn_attacks(pawns: Board) -> Board:
...     "Squares that White's pawns attack."
...     return pawns.step(NORT, EAST) | pawns.step(NORT, WEST)
>>> @pawn_attacks.specification
... def _(pawns):
...     return (pawns & ~setwise.FILE_H) << 9 | (pawns & ~setwise.FILE_A) << 7
>>> pawn_attacks.count("avx2")["instructions"], pawn_attacks.prove("avx2").fine
(5, True)
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__: str

if TYPE_CHECKING:
    from setwise.public import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """Return a public name from modules that are imported on first use, so that the command starts fast."""
        if name == "__version__":
            return import_module("setwise.codegen.version").version()
        return __dir__() if name == "__all__" else getattr(import_module("setwise.public"), name)

    def __dir__() -> list[str]:
        return [name for name in vars(import_module("setwise.public")) if not name.startswith("_")]
