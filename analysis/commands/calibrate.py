"""`setwise calibrate`: measures this processor's table of instructions, and compares it with the one that stands."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import msgspec

from setwise.analysis.commands.arguments import add_json, place
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.progress import Progress
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.cost.processors import PROCESSORS
from setwise.analysis.cost.processors.measured import MeasuredTable, RowRecord, processor_of
from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.cost.processors.tuned import Tuned
from setwise.analysis.measure.calibration import PATIENCE, calibrate
from setwise.analysis.measure.here import machine, processor_here, today
from setwise.analysis.measure.rows import NOISY, Difference, TooLittle, differences, table_of
from setwise.analysis.measure.tuning import tune
from setwise.analysis.text import counted
from setwise.codegen.catalogue import catalogue, chosen
from setwise.codegen.files import put
from setwise.codegen.run.executable import NotRunnable

EXAMPLES = (
    "setwise calibrate",
    "setwise calibrate -o mine.json",
    "setwise calibrate -o mine.json --tune 'sliders.*'",
    "setwise cost sliders.union --isa avx2 --cpu mine.json",
)
_NOTE = """\
Core cycles: latency from operands to result by kind (r general, x vector, k mask, f flags), cycles of one alone, slots
of issue, ports as far as timing shows them (? where it does not; they are then the standing table's).
~ marks figures whose middle half lies more than 5 % apart."""

_TUNING = 10.0  # seconds that a process waits for quiet moments, a routine
_REMEDY = "end other programs, wait longer with --patience SECONDS, or try when others leave this core alone"


def add_arguments(parser: ArgumentParser) -> None:
    """Where the table goes, and for how long."""
    parser.add_argument("-o", "--output", type=place, metavar="FILE", help="write the table there, for --cpu FILE")
    parser.add_argument(
        "--tune",
        action="append",
        metavar="NAME",
        help="also time all variants of routines, by name or pattern, so that --for takes the fastest "
        "with this table; about half a minute a routine, minutes one of arrays; again for more",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE,
        metavar="S",
        help=f"seconds after which nothing is measured again ({PATIENCE:g})",
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Measure, print or write the table, and what differs; 1 if a form has no row, and no table if most have none.

    What is tuned comes into the file as it is found: an interrupt leaves the table and what was found until then.
    """
    if arguments.output:
        _check_place(Path(arguments.output))
    names = _tunable(arguments.tune or ())
    with Progress() as progress:
        try:
            measured = calibrate(progress.show, patience=arguments.patience)
            progress.show("ports")
            like = processor_here()
            table, missing = table_of(measured, machine(), today(), like)
        except NotRunnable as error:
            raise CannotRunHere(str(error)) from None
        except TooLittle as error:
            raise CannotRunHere(f"no table, for there are no figures of {error}: {_REMEDY}") from None
        for each in chain((table,), _tuned(names, table, progress)):
            table = each
            if arguments.output:
                _write(Path(arguments.output), table.encoded())
    found = [*differences(table, like)] if like else []
    if arguments.json:
        print_json({**msgspec.to_builtins(table), "differences": [asdict(one) for one in found]})
    else:
        _print(table, like, found, arguments.output)
    found_for = {row.name for row in table.tuned}
    untimed = [name for name in names if name not in found_for]
    for lacking, said in (
        (missing, f"no figures for {len(missing)} of {counted(len(measured.forms), 'form')}"),
        (untimed, f"nothing was found for {len(untimed)} of {counted(len(names), 'routine')}"),
    ):
        if lacking:
            print(f"setwise calibrate: {said}, first {lacking[0]}: {_REMEDY}", file=sys.stderr)
    return int(bool(missing or untimed))


def _tunable(patterns: Sequence[str]) -> tuple[str, ...]:
    """The names of the routines that are tuned; ValueError for a pattern without any."""
    names: list[str] = []
    for pattern in patterns:
        matched = [routine.name for routine in chosen([pattern])]
        tunable = [name for name in matched if name in catalogue()]
        if not tunable:
            raise ValueError(f"{matched[0]} is not tuned: give routines of the catalogue")
        names += tunable
    return tuple(dict.fromkeys(names))


def _tuned(names: Sequence[str], table: MeasuredTable, progress: Progress) -> Iterator[MeasuredTable]:
    """The table with what is found, a routine after the other."""
    here = processor_of(table, {each.name: each for each in PROCESSORS})
    for name in names:
        try:
            rows = tune([name], here, (), keep=lambda _: None, progress=progress.show, patience=_TUNING)
        except BrokenProcessPool:
            raise CannotRunHere(f"a variant of {name} ended the process that timed it: leave it out") from None
        table = msgspec.structs.replace(table, tuned=(*table.tuned, *rows))
        yield table


def _print(table: MeasuredTable, like: Processor | None, found: list[Difference], file: str | None) -> None:
    if not file:
        print_table(("form", "latency", "cycles", "slots", "ports"), [_cells(row) for row in table.rows], "lrrrl")
        print(f"\n{_NOTE}\n")
    print(f"{table.machine}, {table.date}: {len(table.rows)} forms, {table.width} slots a cycle")
    if table.tuned:
        keys = ("name", "for", "cycles", "fastest", "cycles", "by forecasts")
        print()
        print_table(keys, [_told(row) for row in table.tuned], "llrlrl")
        print()
    if file:
        print(f"{file}: now try: setwise cost NAME --cpu {file}")
    if like is None:
        print("It is none of the processors whose tables stand.")
        return
    print(
        f"{len(found)} figures differ from the table of {like.title}:\n"
        if found
        else f"As {like.title}'s table has it."
    )
    cells = [(f"{one.mnemonic} {one.form}", one.what, one.measured, one.standing, one.source[:40]) for one in found]
    if cells:
        print_table(("form", "", "measured", "stands", "by"), cells, "llrrl")


def _cells(row: RowRecord) -> tuple[str, str, str, str, str]:
    latency = " ".join(f"{kind}{cycles:.2f}" for kind, cycles in row.latency.items())
    noise = "~" if row.spread > NOISY else ""
    cycles = "-" if row.cycles is None else f"{noise}{row.cycles:.2f}"
    return f"{row.mnemonics[0]} {row.form}", latency, cycles, str(row.slots), row.ports + " ?" * (not row.clear)


def _told(row: Tuned) -> tuple[str, ...]:
    fastest = f"{row.isa} {row.variant}".rstrip()
    cycles = "" if row.forecast_cycles is None else f"{row.forecast_cycles:.2f}"
    by_forecasts = cycles, row.forecast or "the same"
    return row.name, row.objective, f"{row.cycles:.2f}", fastest, *by_forecasts


def _check_place(path: Path) -> None:
    """ValueError where no file can be written, before time is spent."""
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: give a file in a folder that is there")


def _write(path: Path, content: bytes) -> None:
    try:
        put(path, content)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
