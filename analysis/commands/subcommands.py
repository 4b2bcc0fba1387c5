"""What each subcommand of `setwise` does: a function NAME_command from its arguments to the exit status.

Commands know `codegen`, and hand bytes and plain data from there to the judges, which do not.
Imports that take time stand inside the functions that need them, so that `setwise list` is quick.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from setwise.analysis.commands.boards import boards, input_lines
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.names import chosen, is_pattern
from setwise.analysis.commands.positions import given_parameters, words_of
from setwise.analysis.commands.tables import print_json, print_table
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine

if TYPE_CHECKING:
    from setwise.codegen.lower import Kernel
    from setwise.codegen.run.bochs import Processor


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
    from setwise.analysis.code.kernel import binary_of
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
            if any(map(is_pattern, arguments.names)):
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
    from setwise.analysis.code.kernel import binary_of

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
    parameters = given_parameters(routine)
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
    lines, drawn = input_lines(
        (parameter.name, parameter.kind, word) for parameter, word in zip(parameters, words, strict=True)
    )
    shown = boards([*drawn, *zip(routine.contract.results, results, strict=True)])
    print(head, *lines, "", shown, sep="\n")
    return 0


def _run_on(kernel: Kernel, words: Sequence[int], on: Processor) -> tuple[int, ...]:
    from setwise.analysis.code.kernel import binary_of
    from setwise.analysis.run.emulation import EmulatedCode, run_emulated
    from setwise.codegen.run.call import calling_sequence, missing

    if lacking := missing(kernel.target, on.features):
        raise CannotRunHere(f"{on.title} cannot run {kernel.name}: it lacks {', '.join(lacking)}")
    subject = EmulatedCode(binary_of(kernel), calling_sequence(kernel), arrays=False)
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
