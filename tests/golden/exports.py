"""The SHA-256 of exported files, in exports.txt beside this file: a line a routine, instruction set and format.

`make golden` writes the file; test_exports.py compares it with new exports.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from setwise.analysis.exports.export_request import ExportRequest, files_of, kernels_of
from setwise.codegen.catalogue import find
from setwise.codegen.export.formats import FORMATS

FILE = Path(__file__).with_name("exports.txt")
HEAD = "# `make golden` writes this file: routine, instruction set, format, SHA-256 of the exported files"
ROUTINES = (
    "dumb7.occluded.sout",
    "dumb7.occluded-rolled.east",
    "dumb7.occluded-until-dry.noWe",
    "dumb7.attacks.nort",
    "dumb7.attacks-of-fill.soEa",
    "dumb7.attacks.rook",
    "dumb7.attacks-until-dry.any",
    "kogge-stone.empty-fill.west",
    "kogge-stone.empty-attacks.noEa",
    "kogge-stone.occluded.soWe",
    "kogge-stone.attacks.sout",
    "kogge-stone.attacks.vertical",
    "kogge-stone.attacks.queen",
    "kogge-stone.attacks.any",
    "push.attacks.east",
    "push.attacks.bishop",
    "shift.one.noEa",
    "shift.one.any",
    "subtraction.attacks.east",
    "subtraction.attacks-cleared.east",
    "bytewise.carry-loop-32",
    "bytewise.right-attacks",
    "exploding.bishop",
    "exploding.direction",
    "exploding.rook.big-endian",
    "sliders.union",
    "sliders.union-empty",
    "sliders.pair",
    "sliders.rays",
    "sliders.pieces",
    "sliders.sides",
    "sliders.counts",
    "sliders.mobility",
    "leapers.knights",
    "leapers.pawns.white",
    "side.union.black",
    "side.union-knights",
    "side.pieces.white",
    "side.nested.black",
    "side.twice.white",
    "sliders.union.batch",
)


class Golden(ExportRequest, frozen=True):
    """A request whose files do not name its command."""

    @property
    def command(self) -> str:
        """The same in every file."""
        return "make golden"


def lines(routines: Sequence[str] = ROUTINES) -> Iterator[str]:
    """Yield the line of each export that a format takes."""
    for name in routines:
        for isa in find(name).isas:
            for format in FORMATS:
                request = Golden(format, (name,), (isa,), FORMATS[format].abi, proved=True)
                try:
                    files = files_of(request, [*kernels_of(request)])
                except ValueError:
                    continue
                content = b"".join(b"%b\0%d\0%b" % (file.encode(), len(files[file]), files[file]) for file in files)
                yield f"{name} {isa} {format} {hashlib.sha256(content).hexdigest()}"


def recorded() -> list[str]:
    """Return the lines of the file without its head."""
    return FILE.read_text(encoding="ascii").splitlines()[1:]


if __name__ == "__main__":
    FILE.write_text("\n".join([HEAD, *lines(), ""]), encoding="ascii")
