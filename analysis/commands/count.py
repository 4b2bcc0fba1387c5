"""`setwise count`: count instructions by class, of a kernel, of a call, or of a function in an ELF file."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setwise.analysis import api
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.kernels import call_given, codes, requests
from setwise.analysis.commands.tables import print_columns, print_json, print_table
from setwise.analysis.text import counted
from setwise.codegen.board import parse_fen
from setwise.codegen.files import read_checked

EXAMPLES = (
    "setwise count 'dumb7.attacks.*' --isa bmi2",
    "setwise count dumb7.occluded-until-dry.sout --executed d7,a8 0x00ffffffffffffff",
    "setwise count dumb7.occluded-until-dry.sout dumb7.occluded.sout --over tests/data/positions.fen",
    "setwise count --object fills.o --symbol soutAttacks",
)

_ALWAYS = ("instructions", "moves", "operations")
_MOST_BYTES = 1 << 24


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise count`."""
    add(parser, "names")
    add(parser, "--executed", "executed --fen")
    parser.add_argument(
        "--over", metavar="FILE", help="count the executed instructions over a file of FENs, one a line"
    )
    add(parser, "--side", "--object", "--symbol", "--isa", "--lanes", "--abi", "--for", "--variant", "--cpu", "--json")


def run(arguments: Namespace) -> int:
    """Count instructions, and print a table or JSON."""
    over, side, words = arguments.over, arguments.side, call_given(arguments)
    if bool(words) + (over is not None) + bool(arguments.object) > 1:
        raise ValueError("--object, --over, and --executed or --fen exclude each other: give one of them")
    if side is not None and arguments.fen is None and over is None:
        raise ValueError("--side goes with --fen or --over")
    if over is not None:
        rows = api.spreads(requests(arguments), positions(over), side)
    elif words:
        rows = api.executed_counts(requests(arguments), words)
    else:
        rows = api.counts(codes(arguments))
    (print_json if arguments.json else _print_counts if over is None else _print_spreads)(rows)
    return 0


def positions(path: str | Path) -> list[str]:
    """Return the FENs of a file's lines, without empty ones and # comments. Raises ValueError for others, or none."""
    content = read_checked(path, _MOST_BYTES, links=True, larger="16 MiB", remedy="give a file of FENs of up to 16 MiB")
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {path}: it is not UTF-8 text: give one FEN a line") from None
    fens = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                parse_fen(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            fens.append(line.strip())
    if not fens:
        raise ValueError(f"{path} has no positions: write one FEN a line")
    return fens


def _print_counts(rows: Sequence[dict[str, Any]]) -> None:
    # Show the columns of `always`, and others with a value above 0, or above 1 for lanes.
    always = {"name", "isa", "abi", "features", *_ALWAYS, "bytes"} - {key for key in rows[0] if rows[0][key] is None}
    shown = [key for key in rows[0] if key in always or any((row[key] or 0) > (key == "lanes") for row in rows)]
    print_columns(shown, [{**row, "features": " ".join(row.get("features", ()))} for row in rows])


def _print_spreads(rows: Sequence[dict[str, Any]]) -> None:
    table = [
        (row["name"], row["isa"], row["abi"], key.replace("_", " "), low, round(mean, 1), high)
        for row in rows
        for key in api.COUNTED
        for low, mean, high in [row[key].values()]
        if key in _ALWAYS or high
    ]
    print_table(table, ("name", "isa", "abi", "class", "minimum", "mean", "maximum"))
    print(f"\n{counted(rows[0]['positions'], 'position')}")
