"""setwise: x86-64 machine code for set-wise sliding-piece attacks on chess bitboards.

>>> import setwise
>>> south = setwise.kernel("kogge-stone.attacks.sout")
>>> hex(south(1 << 28, 0xFFFF_FFFF_FFFF_FFFF))  # sliders on e4, all squares empty
'0x101010'

A routine of your own is a function with annotations. Its methods are the subcommands of `setwise`. On the command
line it is named by its file, as in `setwise prove mine.py:knight_attacks`, which executes that file.

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

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `X as X` tells type checkers that a name is public
    # isort: off
    from setwise.analysis.semantics.words import Word as Word
    from setwise.analysis.spec import raywalk
    from setwise.codegen import fills as fills
    from setwise.codegen.board import (
        ALL as ALL,
        BISHOP as BISHOP,
        DIR8 as DIR8,
        EAST as EAST,
        FILE_A as FILE_A,
        FILE_B as FILE_B,
        FILE_C as FILE_C,
        FILE_D as FILE_D,
        FILE_E as FILE_E,
        FILE_F as FILE_F,
        FILE_G as FILE_G,
        FILE_H as FILE_H,
        NOEA as NOEA,
        NORT as NORT,
        NOT_A as NOT_A,
        NOT_H as NOT_H,
        NOWE as NOWE,
        QUEEN as QUEEN,
        RANK_1 as RANK_1,
        RANK_2 as RANK_2,
        RANK_3 as RANK_3,
        RANK_4 as RANK_4,
        RANK_5 as RANK_5,
        RANK_6 as RANK_6,
        RANK_7 as RANK_7,
        RANK_8 as RANK_8,
        ROOK as ROOK,
        SOEA as SOEA,
        SOUT as SOUT,
        SOWE as SOWE,
        WEST as WEST,
        Direction as Direction,
        parse_board as parse_board,
    )
    from setwise.codegen.ir.control import (
        at_least as at_least,
        below as below,
        nonzero as nonzero,
        repeat as repeat,
        switch as switch,
        table as table,
        when as when,
        while_ as while_,
    )
    from setwise.codegen.ir.kinds import (
        Board as Board,
        Bound as Bound,
        Dir8 as Dir8,
        Empty as Empty,
        Number as Number,
        Occupied as Occupied,
        Square as Square,
    )
    from setwise.codegen.ir.layout import Layout as Layout, halves as halves, union as union
    from setwise.codegen.ir.ray import ray as ray
    from setwise.codegen.ir.values import Ray as Ray, Value as Value, constant as constant
    from setwise.codegen.own.definition import DescriptionError as DescriptionError
    from setwise.codegen.run.function import Function as Function
    from setwise.kernels import KernelFunction as KernelFunction
    from setwise.own import OneDirection as OneDirection, OwnRoutine as OwnRoutine, routine as routine
    from setwise.shown import Table as Table, Text as Text, show as show

    spec = raywalk

__version__: str

_MODULES = {
    "setwise.analysis.semantics.words": "Word",
    "setwise.codegen.board": (
        "ALL BISHOP DIR8 EAST FILE_A FILE_B FILE_C FILE_D FILE_E FILE_F FILE_G FILE_H NOEA NORT NOT_A NOT_H "
        "NOWE QUEEN RANK_1 RANK_2 RANK_3 RANK_4 RANK_5 RANK_6 RANK_7 RANK_8 ROOK SOEA SOUT SOWE WEST "
        "Direction parse_board"
    ),
    "setwise.codegen.ir.control": "at_least below nonzero repeat switch table when while_",
    "setwise.codegen.ir.kinds": "Board Bound Dir8 Empty Number Occupied Square",
    "setwise.codegen.ir.layout": "Layout halves union",
    "setwise.codegen.ir.ray": "ray",
    "setwise.codegen.ir.values": "Ray Value constant",
    "setwise.codegen.own.definition": "DescriptionError",
    "setwise.codegen.run.function": "Function",
    "setwise.kernels": "KernelFunction",
    "setwise.own": "OneDirection OwnRoutine routine",
    "setwise.shown": "Table Text show",
}
"""The public names by the modules that define them, which are imported on first use."""


def kernel(
    name: str,
    isa: str | None = None,
    abi: str | None = None,
    lanes: int | None = None,
    *,
    for_: str = "size",
    cpu: str | None = None,
    checked: bool = False,
) -> KernelFunction:
    """Return the routine of that name as a function on integers and on NumPy arrays of uint64.

    The function runs machine code. Boards are integers from 0 to 2**64 - 1, a1 = bit 0, h8 = bit 63, unless the
    routine numbers squares otherwise. Parameters and results are the routine's; help() of the function lists them. The
    default of `isa` is the best instruction set of this processor; that of `abi` is the convention of this platform's
    C. Neither changes the results. `for_` "latency" or "throughput" selects the fastest variant by timings and bounds,
    on `cpu` if given; without `isa`, among all instruction sets of this processor.

    The caller must meet the routine's requirements, which help() of the function lists. With `checked`, a call that
    violates them raises ValueError. Any number of threads may call the function. It can be pickled: the pickle holds
    these arguments and the variant chosen by `for_`, and unpickling compiles the function for the processor at hand.
    Raises ValueError for an unknown name, and setwise.codegen.run.executable.NotRunnable if the processor lacks an
    instruction set.
    """
    from setwise.codegen.catalogue import find
    from setwise.own import made

    return made(find(name), isa, abi, lanes, for_, cpu, checked)


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that importing the package stays fast."""
    if name == "__version__":
        from setwise.codegen.version import version

        return version()
    modules = {"fills": "setwise.codegen.fills", "spec": "setwise.analysis.spec.raywalk"}
    if name in modules:
        return import_module(modules[name])
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = sorted(("__version__", "fills", "kernel", "spec", *" ".join(_MODULES.values()).split()))


def __dir__() -> list[str]:
    return __all__
