"""`setwise report`: the files of reports/, made anew from kernels."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from setwise.analysis.commands.arguments import place
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.progress import Progress
from setwise.analysis.measure.compilers import CompilerError
from setwise.analysis.report.contents import files
from setwise.analysis.report.data import gather
from setwise.analysis.report.files import differences, write

EXAMPLES = (
    "setwise report --check",
    "setwise report -o /tmp/reports",
)


def add_arguments(parser: ArgumentParser) -> None:
    """The folder, and whether it is written or compared."""
    parser.add_argument(
        "-o", "--output", default="reports", type=place, metavar="DIR", help="the folder (default: reports)"
    )
    parser.add_argument("--check", action="store_true", help="make all anew, and name what differs from the files")


def run(arguments: Namespace) -> int:
    """Write the reports, or compare them with what is there; 1 if anything differs."""
    folder = Path(arguments.output)
    if arguments.check and not folder.is_dir():
        raise ValueError(f"no folder {folder}: setwise report -o {folder} makes it")
    with Progress() as progress:
        try:
            data = gather(folder, arguments.check, progress.show)
            progress.show("files")
            contents = files(data)
        except CompilerError as error:
            raise CannotRunHere(str(error)) from None
        except BrokenProcessPool:
            raise CannotRunHere("one of its processes was ended from outside: try again") from None
    for note in data.notes:
        print(f"setwise report: {note}", file=sys.stderr)
    differing = list(differences(folder, contents))
    if arguments.check:
        print("\n".join(map(str, differing)) or f"{folder}: {len(contents)} files are as they should be")
        return int(bool(differing))
    write(folder, contents)
    changed = sum(difference.wanted is not None for difference in differing)
    print(f"{folder}: {len(contents)} files, {changed} of them new or changed")
    return 0
