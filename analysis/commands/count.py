"""`setwise count` of what a call executes, and of somebody else's code."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.names import chosen
from setwise.analysis.commands.positions import words_of
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.steps import executed_counts
from setwise.codegen.lower import Kernel, lower

CLASSES = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
_ALWAYS = ("instructions", "moves", "operations")
_COUNTED = ("instructions", *CLASSES, "memory_operands")


@dataclass(frozen=True, slots=True)
class Spread:
    """A class over many calls."""

    minimum: int
    mean: float
    maximum: int


def count_executed(arguments: Namespace) -> int:
    """The classes that one call really executes."""
    rows = []
    for kernel in _kernels(arguments):
        counts = executed(kernel)(words_of(kernel.routine, arguments))
        rows.append({**_head(kernel), **{key: getattr(counts, key) for key in _COUNTED}})
    if arguments.json:
        print_json(rows)
        return 0
    lanes = ["lanes"] if any(row["lanes"] > 1 for row in rows) else []
    shown = [key for key in _COUNTED if key in _ALWAYS or any(row[key] for row in rows)]
    keys = ["name", "isa", *lanes, "abi", *shown]
    print_table([key.replace("_", " ") for key in keys], [[row[key] for key in keys] for row in rows])
    return 0


def count_over(arguments: Namespace) -> int:
    """The classes over all positions of a file: minimum, mean and maximum."""
    fens = positions(arguments.over)
    rows = []
    for kernel in _kernels(arguments):
        spreads = spread(kernel, fens, arguments)
        rows.append((kernel, spreads))
    if arguments.json:
        print_json(
            [
                {**_head(kernel), "positions": len(fens)}
                | {
                    key: {"minimum": found.minimum, "mean": found.mean, "maximum": found.maximum}
                    for key, found in spreads.items()
                }
                for kernel, spreads in rows
            ]
        )
        return 0
    table = [
        (
            *(_head(kernel)[key] for key in ("name", "isa", "abi")),
            key.replace("_", " "),
            found.minimum,
            f"{found.mean:.1f}",
            found.maximum,
        )
        for kernel, spreads in rows
        for key, found in spreads.items()
        if key in _ALWAYS or found.maximum
    ]
    print_table(("name", "isa", "abi", "class", "minimum", "mean", "maximum"), table)
    print(f"\n{len(fens)} positions")
    return 0


def count_object(arguments: Namespace) -> int:
    """The classes of a function of an ELF file."""
    from setwise.analysis.code.decode import decode, features
    from setwise.analysis.code.objects import load

    binary = load(arguments.object, arguments.symbol)
    # How much of the sections behind it is the function's own, nobody knows.
    counts = {key: number for key, number in count(binary).as_dict().items() if key != "data_bytes"}
    needed = sorted(features(decode(binary.text)))
    row: dict[str, Any] = {
        "name": arguments.symbol,
        "isa": None,
        "lanes": None,
        "abi": None,
        "features": needed,
        **counts,
    }
    if arguments.json:
        print_json([row])
        return 0
    shown = [key for key in counts if key in (*_ALWAYS, "bytes") or counts[key]]
    cells = [arguments.symbol, " ".join(needed), *(counts[key] for key in shown)]
    print_table(["name", "features", *(key.replace("_", " ") for key in shown)], [cells])
    return 0


def executed(kernel: Kernel) -> Callable[[Sequence[int]], Counts]:
    """What a call of the kernel executes, as a function of its parameters' words."""
    caller = Caller(binary_of(kernel), task_of(kernel))
    return lambda words: executed_counts(caller.trace(words))


def spread(kernel: Kernel, fens: Sequence[str], arguments: Namespace) -> dict[str, Spread]:
    """Each class over these positions; `arguments` gives what a position does not say."""
    call = executed(kernel)
    counts = [call(words_of(kernel.routine, Namespace(**{**vars(arguments), "fen": fen}))).as_dict() for fen in fens]
    columns = {key: [each[key] for each in counts] for key in _COUNTED}
    return {key: Spread(min(column), fmean(column), max(column)) for key, column in columns.items()}


def positions(path: str | Path) -> list[str]:
    """The FENs of a file, one a line; lines that are empty or begin with # are passed over."""
    from setwise.codegen.board import parse_fen

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


def _kernels(arguments: Namespace) -> list[Kernel]:
    return [lower(one, arguments.isa, arguments.abi, arguments.lanes) for one in chosen(arguments.names)]


def _head(kernel: Kernel) -> dict[str, Any]:
    lanes = kernel.layout.lanes
    return {"name": kernel.name, "isa": kernel.target.name, "lanes": lanes, "abi": kernel.convention.name}


OTHERS = (count_object, count_over, count_executed)
"""What `count` does besides counting kernels' code."""
