"""`setwise report`: writes reports/, or checks that they are what they should be."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from setwise.analysis.commands.arguments import place
from setwise.analysis.commands.best import best_of, row_of
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.kernels import OBJECTIVES, add_cpu, had_by, maker, processor_named
from setwise.analysis.commands.progress import Progress
from setwise.analysis.measure.compilers import CompilerError
from setwise.analysis.report.best import PAGE, best
from setwise.analysis.report.contents import complaints, files
from setwise.analysis.report.data import gather
from setwise.analysis.report.files import differences, write
from setwise.analysis.report.since import at_commit
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import catalogue, find

EXAMPLES = (
    "setwise report --check",
    "setwise report -o /tmp/reports",
    "setwise report --for latency --cpu zen4 -o /tmp/reports",
)


def add_arguments(parser: ArgumentParser) -> None:
    """The folder, and what is made anew."""
    parser.add_argument(
        "-o", "--output", default="reports", type=place, metavar="DIR", help="the folder (default: reports)"
    )
    parser.add_argument(
        "--check", action="store_true", help="make all that is not measured anew, and name what differs from the files"
    )
    parser.add_argument(
        "--measure",
        nargs="?",
        const="kernels",
        choices=("kernels", "choices", "crossing", "fastest", "python", "tuned", "waste"),
        help="also measure on this processor, which takes minutes: kernels (the default), what the first screen names "
        "(choices), kernels beside tables by the number of pieces (crossing), calls from Python (python), which "
        "variants are the fastest, for --for to take (tuned), what is taken for speed beside everything else "
        "(fastest), or what the code of compilers could do without (waste); crossing, tuned, fastest and waste go on "
        "from where they were interrupted",
    )
    parser.add_argument(
        "--since", metavar="COMMIT", help="take the counts to compare with from the reports at this commit, by git"
    )
    parser.add_argument(
        "--for",
        dest="objective",
        metavar="O",
        help="write only best.md: which kernel of every routine is best for size, latency or throughput on --cpu; "
        "minutes, by forecasts (with --cpu alone: for each of the three)",
    )
    add_cpu(parser)
    parser.add_argument("--patience", type=float, default=60.0, metavar="S", help="as for bench (default: 60)")


def run(arguments: Namespace) -> int:
    """Write the reports, or compare them with what is there; 1 if anything differs, or has no cause that is known."""
    if arguments.check and arguments.measure:
        raise ValueError("--check compares what is there, --measure makes it anew: give one of them")
    if arguments.check and arguments.since:
        raise ValueError("--check compares what is there, --since takes other counts: give one of them")
    folder = Path(arguments.output)
    if arguments.objective or arguments.cpu:
        if arguments.check or arguments.measure or arguments.since:
            raise ValueError("--for and --cpu write best.md alone: leave out --check, --measure and --since")
        write(folder, {PAGE: _best(arguments)})
        print(f"{folder / PAGE}: the best kernel of every routine")
        return 0
    since = at_commit(arguments.since, folder) if arguments.since else None
    if arguments.check and not folder.is_dir():
        raise ValueError(f"no folder {folder}: setwise report -o {folder} makes it")
    if arguments.measure:  # before anything else takes its time: these need NumPy, and kernels the solver
        from setwise.analysis.report.recording import measure_anew
        from setwise.analysis.semantics.domains import BitVectors

        if arguments.measure in ("kernels", "choices", "fastest", "waste"):
            BitVectors()
    with Progress() as progress:
        try:
            data = gather(folder, arguments.check, progress.show)
            if arguments.measure:
                data = measure_anew(arguments.measure, data, folder, progress.show, arguments.patience)
            if since is not None:
                data = replace(data, since=since)
            progress.show("files")
            contents = files(data)
        except CompilerError as error:
            raise CannotRunHere(str(error)) from None
        except BrokenProcessPool:
            raise CannotRunHere("one of its processes was ended from outside: try again") from None
    open_questions = complaints(data)
    for note in (*data.notes, *open_questions):
        print(f"setwise report: {note}", file=sys.stderr)
    differing = list(differences(folder, contents))
    if arguments.check:
        print("\n".join(map(str, differing)) or f"{folder}: {len(contents)} files are as they should be")
        return int(bool(differing or open_questions))
    write(folder, contents)
    changed = sum(difference.wanted is not None for difference in differing)
    print(f"{folder}: {len(contents)} files, {changed} of them new or changed")
    return 0


def _best(arguments: Namespace) -> str:
    """The page of what is best for an objective, or for each, on a processor; all cores do the work."""
    objectives = (arguments.objective,) if arguments.objective else OBJECTIVES
    for objective in objectives:
        maker(Namespace(objective=objective, variant=None, cpu=arguments.cpu))  # tells what does not go
    rows: list[dict[str, Any]] = []
    try:
        with Workers() as pool, Progress(len(catalogue())) as progress:
            for task, name in [(pool.submit(_rows, name, objectives, arguments.cpu), name) for name in catalogue()]:
                progress.show(name)
                rows += task.result()
    except BrokenProcessPool:
        raise CannotRunHere("one of its processes was ended from outside: try again") from None
    return best(rows, processor_named(arguments.cpu))


def _rows(name: str, objectives: Sequence[str], cpu: str | None) -> list[dict[str, Any]]:
    """In another process: what is best of a routine; nothing where the processor has none of its instruction sets."""
    routine, on = find(name), processor_named(cpu)
    isas = had_by(routine, on, native=cpu in (None, "native"))
    return (
        [row_of(objective, kernel, on) for objective, kernel in best_of(routine, objectives, on, isas)] if isas else []
    )
