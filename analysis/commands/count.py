"""`setwise count`: instructions by class, of a kernel's code, of what a call executes, or of somebody else's code."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.decode import Binary, decode, features
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import (
    add_json,
    add_names,
    add_object,
    add_side,
    add_target,
    object_given,
)
from setwise.analysis.commands.names import key_of, of_kernels
from setwise.analysis.commands.positions import words_of
from setwise.analysis.commands.tables import print_columns, print_json, print_table
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.steps import executed_counts
from setwise.codegen.board import parse_fen
from setwise.codegen.kernel import Kernel

EXAMPLES = (
    "setwise count 'dumb7.attacks.*' --isa bmi2",
    "setwise count dumb7.occluded-until-dry.sout --executed d7,a8 0x00ffffffffffffff",
    "setwise count dumb7.occluded-until-dry.sout dumb7.occluded.sout --over tests/data/positions.fen",
    "setwise count --object fills.o --symbol soutAttacks",
)

CLASSES = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
_ALWAYS = ("instructions", "moves", "operations")
_COUNTED = ("instructions", *CLASSES, "memory_operands")


@dataclass(frozen=True, slots=True)
class Spread:
    """A class over many calls."""

    minimum: int
    mean: float
    maximum: int


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., or a call, a file of positions or an object to count; the target and --json."""
    add_names(parser)
    parser.add_argument(
        "--executed",
        nargs="*",
        dest="arguments",
        metavar="ARG",
        help="count what a call with these arguments executes (as `setwise run` takes them), or with --fen",
    )
    parser.add_argument("--fen", help="count what a call on this position executes")
    parser.add_argument("--over", metavar="FILE", help="the same over a file of FENs, one a line")
    add_side(parser)
    add_object(parser)
    add_target(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Count what is asked for and print a table."""
    names, side, fen, over, as_json = arguments.names, arguments.side, arguments.fen, arguments.over, arguments.json
    call = arguments.arguments is not None or fen is not None
    if sum((arguments.object is not None, over is not None, call)) > 1:
        raise ValueError("--object, --over, and --executed or --fen each count something else: give one of them")
    if object_given(arguments):
        _print_object(arguments.symbol, load(arguments.object, arguments.symbol), as_json)
        return 0
    if not names:
        raise ValueError("name routines, or --object FILE --symbol SYM")
    if side is not None and fen is None and over is None:
        raise ValueError("--side goes with --fen or --over")
    target = arguments.isa, arguments.abi, arguments.lanes
    if over is not None:
        fens = positions(over)
        _print_spreads(
            of_kernels(names, *target, lambda kernel: (kernel, spread(kernel, fens, side))), len(fens), as_json
        )
    elif call:
        words = arguments.arguments or ()
        _print_counts(of_kernels(names, *target, lambda kernel: _executed_row(kernel, words, fen, side)), as_json)
    else:
        _print_counts(of_kernels(names, *target, _row), as_json)
    return 0


def _row(kernel: Kernel) -> dict[str, Any]:
    return {**key_of(kernel), **count(binary_of(kernel)).as_dict()}


def _executed_row(kernel: Kernel, arguments: Sequence[str], fen: str | None, side: str | None) -> dict[str, Any]:
    counts = executed(kernel)(words_of(kernel.routine, arguments, fen, side))
    return {**key_of(kernel), **{key: getattr(counts, key) for key in _COUNTED}}


def executed(kernel: Kernel) -> Callable[[Sequence[int]], Counts]:
    """What a call of the kernel executes, as a function of its parameters' words."""
    caller = Caller(binary_of(kernel), task_of(kernel))
    return lambda words: executed_counts(caller.trace(words))


def spread(kernel: Kernel, fens: Sequence[str], side: str | None = None) -> dict[str, Spread]:
    """Each class over the calls on these positions."""
    call = executed(kernel)
    counts = [call(words_of(kernel.routine, (), fen, side)).as_dict() for fen in fens]
    columns = {key: [row[key] for row in counts] for key in _COUNTED}
    return {key: Spread(min(column), fmean(column), max(column)) for key, column in columns.items()}


def positions(path: str | Path) -> list[str]:
    """The FENs of a file, one a line; lines that are empty or begin with # are passed over."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "no text"
        raise ValueError(f"cannot read {path}: {reason}") from None
    fens = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                parse_fen(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            fens.append(line.strip())
    if not fens:
        raise ValueError(f"{path} has no positions: write a FEN a line")
    return fens


def _print_counts(rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    # Columns in which every kernel has 0 say nothing; those that the literature counts always stand.
    always = ("name", "isa", "abi", *_ALWAYS, "bytes")
    print_columns(
        [key for key in rows[0] if key in always or any(row[key] > (key == "lanes") for row in rows)],
        rows,
    )


def _print_spreads(rows: Sequence[tuple[Kernel, dict[str, Spread]]], number: int, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {**key_of(kernel), "positions": number, **{key: asdict(spread) for key, spread in spreads.items()}}
                for kernel, spreads in rows
            ]
        )
        return
    table = [
        (
            *(key_of(kernel)[key] for key in ("name", "isa", "abi")),
            key.replace("_", " "),
            spread.minimum,
            f"{spread.mean:.1f}",
            spread.maximum,
        )
        for kernel, spreads in rows
        for key, spread in spreads.items()
        if key in _ALWAYS or spread.maximum
    ]
    print_table(("name", "isa", "abi", "class", "minimum", "mean", "maximum"), table)
    print(f"\n{number} positions")


def _print_object(symbol: str, binary: Binary, as_json: bool) -> None:
    # How much of the sections behind it is the function's own, nobody knows.
    counts = {key: number for key, number in count(binary).as_dict().items() if key != "data_bytes"}
    needed = sorted(features(decode(binary.text)))
    if as_json:
        print_json([{"name": symbol, "isa": None, "lanes": None, "abi": None, "features": needed, **counts}])
        return
    shown = [key for key in counts if key in (*_ALWAYS, "bytes") or counts[key]]
    print_columns(["name", "features", *shown], [{"name": symbol, "features": " ".join(needed), **counts}])
