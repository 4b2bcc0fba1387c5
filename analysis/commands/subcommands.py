"""What each subcommand of `setwise` does: a function NAME_command from its arguments to the exit status.

Commands know `codegen`, and hand bytes and plain data from there to the judges, which do not.
Imports that take time stand inside the functions that need them, so that `setwise list` is quick.
"""

from __future__ import annotations

import fnmatch
import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from setwise.codegen import board
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.describe.routine import Parameter, Routine

if TYPE_CHECKING:
    from setwise.analysis.code.decode import Binary
    from setwise.codegen.lower import Kernel
    from setwise.codegen.run.bochs import Processor

_PATTERN = "*?["
_BOARDS = ("board", "occupied", "empty", "word")


class CannotRunHere(Exception):
    """This processor lacks what the code needs, or its system what the command needs."""


class NotInstalled(Exception):
    """Something is missing that the user can install; the message ends with the command that does it."""


def list_command(arguments: Namespace) -> int:
    """The catalogue."""
    routines = chosen(arguments.names)
    if arguments.json:
        keys = ("name", "family", "form", "direction", "isas", "source", "summary")
        print_json([{key: getattr(routine, key) for key in keys} for routine in routines])
        return 0
    names = [routine.name for routine in routines]
    width = max(map(len, names))
    for name, routine in zip(names, routines, strict=True):
        print(f"{name:{width}}  {' '.join(routine.isas):30}  {routine.source}")
    return 0


def listing_command(arguments: Namespace) -> int:
    """A kernel as assembly source."""
    from setwise.analysis.exports.facts import facts_of
    from setwise.codegen.export.listings.listing import listing
    from setwise.codegen.export.objects.relocatable import with_endbr64

    kernel = _kernel(find(arguments.name), arguments)
    if arguments.endbr64:
        kernel = with_endbr64(kernel)
    print(listing(kernel, facts_of(kernel), arguments.syntax), end="")
    return 0


def count_command(arguments: Namespace) -> int:
    """The classes of instruction and their sums: of the code, of what a call executes, or of another's code."""
    from setwise.analysis.code.count import count
    from setwise.codegen.lower import Refused

    other = _other_count(arguments)
    if other is not None:
        return other(arguments)
    rows: list[dict[str, Any]] = []
    refused: Refused | None = None
    for routine in chosen(arguments.names):
        try:
            kernel = _kernel(routine, arguments)
        except Refused as error:
            if any(sign in name for name in arguments.names for sign in _PATTERN):
                refused = error  # a pattern means those that there are
                continue
            raise
        lanes = kernel.layout.lanes
        row = {"name": kernel.name, "isa": kernel.target.name, "lanes": lanes, "abi": kernel.convention.name}
        rows.append({**row, **count(binary_of(kernel)).as_dict()})
    if refused and not rows:
        raise refused
    if arguments.json:
        print_json(rows)
        return 0
    # Columns in which every kernel has 0 say nothing; those that the literature counts always stand.
    shown = ("name", "isa", "abi", "instructions", "moves", "operations", "bytes")
    keys = [key for key in rows[0] if key in shown or any(row[key] for row in rows if key != "lanes")]
    if any(row["lanes"] > 1 for row in rows):
        keys.insert(2, "lanes")
    print_table([key.replace("_", " ") for key in keys], [[row[key] for key in keys] for row in rows])
    return 0


def _other_count(arguments: Namespace) -> Callable[[Namespace], int] | None:
    """What `count` does where it is not to count kernels' code; ValueError for options that do not go together."""
    from setwise.analysis.commands import count as counts

    executed = arguments.arguments is not None or arguments.fen is not None
    chosen = [arguments.object is not None, arguments.over is not None, executed]
    if sum(chosen) > 1:
        raise ValueError("--object, --over, and --executed or --fen each count something else: give one of them")
    if (arguments.object is None) != (arguments.symbol is None):
        raise ValueError("--object FILE and --symbol SYM go together")
    if bool(arguments.names) == (arguments.object is not None):
        raise ValueError("name routines, or --object FILE --symbol SYM" + (", not both" if arguments.names else ""))
    if arguments.side is not None and arguments.fen is None and arguments.over is None:
        raise ValueError("--side goes with --fen or --over")
    return next((do for do, asked in zip(counts.OTHERS, chosen, strict=True) if asked), None)


def compare_command(arguments: Namespace) -> int:
    """Two kernels side by side."""
    from setwise.analysis.code.compare import side_by_side

    kernels = [_kernel(find(name), arguments) for name in (arguments.left, arguments.right)]
    left, right = ((kernel.name, binary_of(kernel)) for kernel in kernels)
    print(side_by_side(left, right))
    return 0


def run_command(arguments: Namespace) -> int:
    """A kernel's inputs and results as boards."""
    from setwise.codegen.lower import lower
    from setwise.codegen.run.bochs import ready
    from setwise.codegen.run.call import Function, NotRunnable, best_isa

    routine = find(arguments.name)
    parameters = _given(routine)
    words = words_of(routine, arguments)
    on = None if arguments.on is None else ready(arguments.on)
    kernel = lower(routine, arguments.isa or best_isa(routine, on.features if on else None), arguments.abi)
    head = f"{kernel.name}, {kernel.target.name}, {kernel.convention.name}"
    if on is None:
        try:
            function = Function(kernel)
        except NotRunnable as error:
            raise CannotRunHere(f"{error}; --on runs it in Bochs") from None
        result = function(*words)
        results = result if isinstance(result, tuple) else (result,)
    else:
        results = _run_on(kernel, words, on)
        head += f", on {on.title} (emulated)"
    lines, drawn = told(
        (parameter.name, parameter.kind, word) for parameter, word in zip(parameters, words, strict=True)
    )
    shown = boards([*drawn, *zip(routine.contract.results, results, strict=True)])
    print(head, *lines, "", shown, sep="\n")
    return 0


def _run_on(kernel: Kernel, words: Sequence[int], on: Processor) -> tuple[int, ...]:
    from setwise.analysis.run.emulation import Subject, run_emulated
    from setwise.codegen.run.call import called, missing

    if lacking := missing(kernel.target, on.features):
        raise CannotRunHere(f"{on.title} cannot run {kernel.name}: it lacks {', '.join(lacking)}")
    subject = Subject(binary_of(kernel), called(kernel), arrays=False)
    return run_emulated(subject, words, len(kernel.routine.contract.results), on)


def check_command(arguments: Namespace) -> int:
    """Kernels, here or in Bochs, or a function of an ELF file, in Bochs alone, run against the ray-walk."""
    from setwise.analysis.commands.check import run_checks

    given = [arguments.object, arguments.symbol, arguments.spec]
    if not any(given):
        return run_checks(chosen(arguments.names), arguments)
    if not all(given) or arguments.names or arguments.isa:
        raise ValueError("an object takes --object FILE --symbol SYM --spec NAME, and --abi if it is not sysv")
    from setwise.analysis.commands.objects import check_object

    arguments.abi = arguments.abi or "sysv"
    return check_object(arguments)


def prove_command(arguments: Namespace) -> int:
    """Kernels, or a function of an ELF file, against the specification for all inputs."""
    from setwise.analysis.commands import prove
    from setwise.analysis.semantics.domains import BitVectors

    BitVectors()  # before anything is made: it says at once if there is no solver
    given = [arguments.object, arguments.symbol, arguments.spec]
    if not any(given):
        return prove.run_proofs(chosen(arguments.names), arguments)
    if not all(given) or arguments.names or arguments.isa or arguments.lanes:
        raise ValueError("an object takes --object FILE --symbol SYM --spec NAME, and --abi if it is not sysv")
    arguments.abi = arguments.abi or "sysv"
    return prove.prove_object(arguments)


def bench_command(arguments: Namespace) -> int:
    """Kernels timed on this processor."""
    from setwise.analysis.commands.bench import run_bench

    return run_bench(arguments)


def export_command(arguments: Namespace) -> int:
    """Kernels as files for other people's programs."""
    from setwise.analysis.commands.export import run_export

    return run_export(arguments)


def verify_command(arguments: Namespace) -> int:
    """Whether the files of an export still hold."""
    from setwise.analysis.commands.export import run_verify

    return run_verify(arguments)


def report_command(arguments: Namespace) -> int:
    """The reports."""
    from setwise.analysis.commands.report import run_report

    return run_report(arguments)


def binary_of(kernel: Kernel) -> Binary:
    """The kernel's bytes as analysis takes them."""
    from setwise.analysis.code.decode import Binary
    from setwise.codegen.assemble import assemble

    made = assemble(kernel.code)
    image, start = made.image, made.data_offset
    return Binary(image[: len(made.text)], image[start:], start)


def boards(titled: Sequence[tuple[str, int]]) -> str:
    """Boards in rows of four at most, each with its title over it and its number under it."""
    rows = []
    for start in range(0, len(titled), 4):
        titles, words = zip(*titled[start : start + 4], strict=True)
        numbers = [board.hexadecimal(word) for word in words]
        width = max(map(len, numbers))
        lines = board.draw_side_by_side([title.ljust(width) for title in titles], words, gap=4)
        rows.append(lines + "\n" + "    ".join(numbers))
    return "\n\n".join(rows)


def chosen(names: Iterable[str]) -> list[Routine]:
    """The routines of these names and patterns, each once, all of them if no name is given."""
    kept: dict[str, Routine] = {}
    for name in names:
        found = [routine for known, routine in catalogue().items() if fnmatch.fnmatch(known.lower(), name.lower())]
        if not found and any(sign in name for sign in _PATTERN):
            raise ValueError(f"no routine is like '{name}': setwise list shows them all")
        kept |= {routine.name: routine for routine in found or [find(name)]}
    return list(kept.values()) if kept else list(catalogue().values())


def _kernel(routine: Routine, arguments: Namespace) -> Kernel:
    from setwise.codegen.lower import lower

    return lower(routine, arguments.isa, arguments.abi, getattr(arguments, "lanes", None))


def cost_command(arguments: Namespace) -> int:
    """Lower bounds in cycles."""
    from setwise.analysis.commands.cost import cost_command as run

    return run(arguments)


def trace_command(arguments: Namespace) -> int:
    """A fill, or a kernel, in slow motion."""
    from setwise.analysis.commands.trace import run_trace

    return run_trace(arguments)


def _written(routine: Routine) -> list[Parameter]:
    """The parameters through which the routine gives its results."""
    return [parameter for parameter in routine.contract.parameters if parameter.kind == "results"]


def _given(routine: Routine) -> list[Parameter]:
    """The parameters that a command line gives."""
    parameters = [parameter for parameter in routine.contract.parameters if not parameter.pointer]
    if len(parameters) + len(_written(routine)) < len(routine.contract.parameters):
        raise ValueError(f"{routine.name} works on arrays, which a command line does not hold")
    return parameters


def words_of(routine: Routine, arguments: Namespace) -> list[int]:
    """The parameters' values: boards from the position if there is one, the others from the arguments."""
    parameters = _given(routine)
    given: list[str] = list(arguments.arguments or ())
    from_position: dict[str, int] = {}
    if arguments.fen is not None:
        position = board.parse_fen(arguments.fen)
        if arguments.side not in (None, "w", "b"):
            raise ValueError(f"no side '{arguments.side}': write w or b")
        side: board.Side = position.side if arguments.side is None else "w" if arguments.side == "w" else "b"
        from_position = _from_position(routine, position, side)
    elif arguments.side is not None:
        raise ValueError("--side goes with --fen")
    wanted = [parameter for parameter in parameters if parameter.name not in from_position]
    if len(given) != len(wanted):
        names = " ".join(parameter.name for parameter in wanted) or "none"
        beside = " beside --fen" if from_position else " (or --fen)"
        raise ValueError(f"{routine.name} takes {some(len(wanted), 'argument')}{beside}, not {len(given)}: {names}")
    texts = dict(zip((parameter.name for parameter in wanted), given, strict=True))
    return [
        from_position[parameter.name] if parameter.name in from_position else _parsed(parameter, texts[parameter.name])
        for parameter in parameters
    ]


def _from_position(routine: Routine, position: board.Position, side: board.Side) -> dict[str, int]:
    names = {parameter.name for parameter in routine.contract.parameters}
    apart = "queens" in names  # then rooks and bishops are these alone
    of_sides: tuple[tuple[str, board.Side], ...] = (("white", "w"), ("black", "b"))
    found = {
        "sliders": _sliders(routine, position, side),
        "rooks": position.sliders(side, not apart, False) | position.rooks(side),
        "bishops": position.sliders(side, False, not apart) | position.bishops(side),
        "queens": position.queens(side),
        "white": sum(position.piece(letter) for letter in "PNBRQK"),
        "black": sum(position.piece(letter) for letter in "pnbrqk"),
    }
    for name, one in of_sides:
        found |= {
            f"{name}_rooks": position.sliders(one, True, False),
            f"{name}_bishops": position.sliders(one, False, True),
        }
    by_kind = {"empty": position.empty, "occupied": position.occupied}
    words = {
        parameter.name: by_kind[parameter.kind]
        for parameter in routine.contract.parameters
        if parameter.kind in by_kind
    }
    return words | {name: word for name, word in found.items() if name in names}


def _sliders(routine: Routine, position: board.Position, side: board.Side) -> int:
    """The pieces of one side that slide in all the routine's directions."""
    name = routine.contract.direction
    if name in board.DIRECTION_SETS:
        directions = board.DIRECTION_SETS[name]
    else:
        directions = (board.DIRECTIONS[name],) if name in board.DIRECTIONS else board.DIR8
    orthogonal = all(direction in board.ROOK for direction in directions)
    diagonal = all(direction in board.BISHOP for direction in directions)
    return position.sliders(side, orthogonal, diagonal) if orthogonal or diagonal else position.queens(side)


def _parsed(parameter: Parameter, text: str) -> int:
    if parameter.kind in _BOARDS:
        return board.parse_board(text)
    if parameter.kind == "square" and not text.isdecimal():
        return board.square(text)
    if parameter.kind == "dir8" and not text.isdecimal():
        return board.DIR8.index(board.direction(text))
    number = board.parse_board(text) if text[:1].isdecimal() or text[:1] == "-" else None
    bound = parameter.below or 1 << 64
    if number is None or number >= bound:
        raise ValueError(f"{parameter.name} is '{text}': write a number from 0 to {bound - 1}")
    return number


def told(inputs: Iterable[tuple[str, str, int]]) -> tuple[list[str], list[tuple[str, int]]]:
    """Of inputs, each a name, a kind and a word: a line on each number that selects something, and what is drawn."""
    lines, drawn = [], []
    for name, kind, word in inputs:
        if kind in _BOARDS:
            drawn.append((name, word))
        elif kind == "square":
            lines.append(f"{name}: {board.square_name(word)} ({word})")
        else:
            lines.append(f"{name}: {board.DIR8[word].name} ({word})" if kind == "dir8" else f"{name}: {word}")
    return lines, drawn


def some(number: int, name: str) -> str:
    """A number of things.

    >>> some(0, "kernel"), some(1, "kernel"), some(2, "kernel")
    ('no kernels', '1 kernel', '2 kernels')
    """
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


def print_json(rows: Sequence[dict[str, Any]]) -> None:
    """Rows for a program to read."""
    print(json.dumps(rows, indent=2))


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows for people to read."""
    from tabulate import tabulate

    print(tabulate(rows, head, tablefmt="simple"))
