"""`setwise report`: write reports/, or check that the files are up to date."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import msgspec

from setwise.analysis.bench.compilers import CompilerError
from setwise.analysis.commands.arguments import add, place
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.progress import Progress
from setwise.analysis.report.figures import measure
from setwise.analysis.report.pages import generate
from setwise.analysis.report.report_files import differences, read, write

EXAMPLES = ("setwise report --check", "setwise report -o /tmp/reports")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the folder, --check, --measure and --patience."""
    parser.add_argument(
        "-o", "--output", default="reports", type=place, metavar="DIR", help="the folder (default: reports)"
    )
    parser.add_argument(
        "--check", action="store_true", help="regenerate everything but measurements, and name the files that differ"
    )
    parser.add_argument(
        "--measure", action="store_true", help="also time kernels on this processor, and replace its recorded timings"
    )
    add(parser, "--patience", default=60.0, help="as for bench (default: 60)")


def _note(line: str) -> None:
    print(f"setwise report: {line}", file=sys.stderr)


def run(arguments: Namespace) -> int:
    """Write the reports, or with --check only compare them with the files, and return 1 if any differs."""
    folder = Path(arguments.output)
    if arguments.check and arguments.measure:
        raise ValueError("--check compares files and --measure replaces them: give one of them")
    if arguments.check and not folder.is_dir():
        raise ValueError(f"no folder {folder}: create it with setwise report -o {folder}")
    recorded = read(folder)
    with Progress() as progress:
        if arguments.measure:
            session = measure(progress.show, arguments.patience)
            others = [each for each in recorded.sessions if each.machine != session.machine]
            recorded = msgspec.structs.replace(recorded, sessions=[session, *others])
        try:
            wanted = generate(recorded, arguments.check, progress.show, _note)
        except CompilerError as error:
            raise CannotRunHere(str(error)) from None
    differing = list(differences(folder, wanted))
    if arguments.check:
        print("\n".join(differing) or f"{folder}: {len(wanted)} files are up to date")
        return int(bool(differing))
    write(folder, wanted)
    print(f"{folder}: {len(wanted)} files, {len(differing)} differed")
    return 0
