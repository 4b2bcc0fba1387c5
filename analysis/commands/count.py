"""`setwise count`: instructions by class, of a kernel's code, of what a call executes, or of somebody else's code."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.decode import decode, features
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.arguments import (
    add_call,
    add_json,
    add_names,
    add_object,
    add_side,
    add_target,
)
from setwise.analysis.commands.code import NamedCode, of_code
from setwise.analysis.commands.kernels import add_cpu, add_objective
from setwise.analysis.commands.tables import print_columns, print_json, print_table
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.positions import words_of
from setwise.analysis.run.steps import executed_counts
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.board import parse_fen
from setwise.codegen.files import told_content
from setwise.codegen.kernel import Kernel

EXAMPLES = (
    "setwise count 'dumb7.attacks.*' --isa bmi2",
    "setwise count dumb7.occluded-until-dry.sout --executed d7,a8 0x00ffffffffffffff",
    "setwise count dumb7.occluded-until-dry.sout dumb7.occluded.sout --over tests/data/positions.fen",
    "setwise count --object fills.o --symbol soutAttacks",
)

CLASSES = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
_ALWAYS = ("instructions", "moves", "operations")
_ONE_OF_THEM = "--object, --over, and --executed or --fen each count something else: give one of them"
_MOST_BYTES = 1 << 24
_COUNTED = ("instructions", *CLASSES, "memory_operands")


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., or a call, a file of positions or an object to count; the target and --json."""
    add_names(parser)
    add_call(parser, "count ")
    parser.add_argument("--over", metavar="FILE", help="the same over a file of FENs, one a line")
    add_side(parser)
    add_object(parser)
    add_target(parser)
    add_objective(parser)
    add_cpu(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Count what is asked for and print a table."""
    words, fen, over, side = arguments.arguments, arguments.fen, arguments.over, arguments.side
    call = words is not None or fen is not None
    if over is not None and call:
        raise ValueError(_ONE_OF_THEM)
    if arguments.names and side is not None and fen is None and over is None:
        raise ValueError("--side goes with --fen or --over")
    if over is not None:
        fens = positions(over)
        rows = of_code(arguments, lambda code: _spread_row(code, fens, side))
    elif call:
        rows = of_code(arguments, lambda code: _executed_row(code, words or (), fen, side))
    else:
        rows = of_code(arguments, count_row)
    (print_json if arguments.json else _print_counts if over is None else _print_spreads)(rows)
    return 0


def count_row(code: NamedCode) -> dict[str, Any]:
    """What code is called and its counts; of somebody else's its features besides."""
    counts = count(code.binary).as_dict()
    if code.kernel is not None:
        return {**code.key, **counts}
    # How much of the sections behind it is the function's own, nobody knows.
    del counts["data_bytes"]
    return {**code.key, "features": sorted(features(decode(code.binary.text))), **counts}


def _kernel(code: NamedCode) -> Kernel:
    if code.kernel is None:
        raise ValueError(_ONE_OF_THEM)
    return code.kernel


def _executed_row(code: NamedCode, arguments: Sequence[str], fen: str | None, side: str | None) -> dict[str, Any]:
    kernel = _kernel(code)
    counts = executed(kernel)(words_of(kernel.routine, arguments, fen, side))
    return {**code.key, **{key: getattr(counts, key) for key in _COUNTED}}


def _spread_row(code: NamedCode, fens: Sequence[str], side: str | None) -> dict[str, Any]:
    return {**code.key, "positions": len(fens), **spread(_kernel(code), fens, side)}


def executed(kernel: Kernel) -> Callable[[Sequence[int]], Counts]:
    """What a call of the kernel executes, as a function of its parameters' words."""
    caller = Caller(binary_of(kernel), task_of(kernel))
    return lambda words: executed_counts(caller.trace(words))


def spread(kernel: Kernel, fens: Sequence[str], side: str | None = None) -> dict[str, dict[str, float]]:
    """Each class over the calls on these positions: minimum, mean and maximum."""
    call = executed(kernel)
    counts = [call(words_of(kernel.routine, (), fen, side)).as_dict() for fen in fens]
    columns = {key: [row[key] for row in counts] for key in _COUNTED}
    return {
        key: {"minimum": min(column), "mean": fmean(column), "maximum": max(column)} for key, column in columns.items()
    }


def positions(path: str | Path) -> list[str]:
    """The FENs of a file, one a line; lines that are empty or begin with # are passed over."""
    content = told_content(
        path, _MOST_BYTES, links=True, larger="a file of positions may be", remedy="give a file of FENs"
    )
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {path}: no text") from None
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


def _print_counts(rows: Sequence[dict[str, Any]]) -> None:
    # Columns in which every kernel has 0 say nothing; those that the literature counts always stand.
    always = {"name", "isa", "abi", "features", *_ALWAYS, "bytes"} - {key for key in rows[0] if rows[0][key] is None}
    shown = [key for key in rows[0] if key in always or any((row[key] or 0) > (key == "lanes") for row in rows)]
    print_columns(shown, [{**row, "features": " ".join(row.get("features", ()))} for row in rows])


def _print_spreads(rows: Sequence[dict[str, Any]]) -> None:
    table = [
        (row["name"], row["isa"], row["abi"], key.replace("_", " "), low, f"{mean:.1f}", high)
        for row in rows
        for key in _COUNTED
        for low, mean, high in [row[key].values()]
        if key in _ALWAYS or high
    ]
    print_table(("name", "isa", "abi", "class", "minimum", "mean", "maximum"), table)
    print(f"\n{rows[0]['positions']} positions")
