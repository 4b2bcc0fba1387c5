"""`setwise new`: write a starter file with a routine of the user's own."""

from argparse import ArgumentParser, Namespace
from keyword import iskeyword
from pathlib import Path

from setwise.codegen.export.reserved import RESERVED, reserved

EXAMPLES = ("setwise new zone", "setwise new fills/zone.py")

STARTER = '''\
"""Routines of my own: `setwise prove {file}` runs this file and proves them."""

import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Word


@setwise.routine
def {name}(kings: Board) -> Board:
    """Squares that kings attack."""
    sides = kings.step(EAST) | kings.step(WEST)
    ranks = kings | sides
    return sides | ranks.step(NORT) | ranks.step(SOUT)


@{name}.specification
def _(kings: Word) -> Word:
    """every square next to a king's"""
    found = kings & 0
    for square in range(64):
        king = kings >> square & 1
        for file, rank in ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)):
            file, rank = square % 8 + file, square // 8 + rank
            if 0 <= file < 8 and 0 <= rank < 8:
                found = found | king << (8 * rank + file)
    return found
'''


def add_arguments(parser: ArgumentParser) -> None:
    """Add NAME."""
    parser.add_argument("name", metavar="NAME", help="the name of the routine or of its file")


def run(arguments: Namespace) -> int:
    """Write the file. An existing file is never overwritten."""
    file = Path(arguments.name if arguments.name.endswith(".py") else f"{arguments.name}.py")
    name = file.stem
    imported = ["EAST", "NORT", "SOUT", "WEST", "Board", "Word"]
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(
            f"'{name}' cannot name a routine: use ASCII letters, digits and _, no digit first, as in king_zone"
        )
    if iskeyword(name) or name in imported or reserved(name):
        raise ValueError(f"'{name}' is a name of Python or setwise, or reserved ({RESERVED}): choose another")
    try:
        with file.open("x", encoding="utf-8") as created:
            created.write(STARTER.format(file=file, name=name))
    except FileExistsError:
        raise ValueError(f"{file} exists already: give another name") from None
    except OSError as error:
        raise ValueError(f"cannot write {file}: {(error.strerror or str(error)).lower()}") from None
    print(f"{file}: a starter routine; now try: setwise prove {file}")
    return 0
