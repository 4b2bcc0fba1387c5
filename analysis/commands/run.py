"""`setwise run`: run a kernel and draw its inputs and results as boards."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from setwise.analysis.code.binary import binary_of
from setwise.analysis.commands.arguments import add
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.pictures.board_text import boards, input_lines, result_titles, squares_lines
from setwise.analysis.run.positions import given_parameters, shown_kind, squares_of, words_of
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.bochs import EmulatedProcessor, ready
from setwise.codegen.run.call import best_isa, missing, signature_of
from setwise.codegen.run.executable import NotRunnable
from setwise.codegen.run.function import Function

EXAMPLES = (
    "setwise run kogge-stone.attacks.nort a1,h1 0x0000ffffffff0000",
    "setwise run dumb7.attacks.noEa --fen 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2'",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add NAME, its arguments or a position, the target, and --on."""
    parser.add_argument("name", metavar="NAME", help="the routine")
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="ARG",
        help="a board: a number (0x..), squares (a1,h8) or a drawing; a square: e4; a direction: noEa",
    )
    add(parser, "--fen", "--side")
    add(parser, "--squares")
    add(parser, "--coordinates")
    add(parser, "--on")
    add(parser, "--isa", default=None, help="x86-64, bmi2, ..., or native (default: the best that this processor has)")
    add(parser, "--abi")


def run(arguments: Namespace) -> int:
    """Run the kernel, natively or in Bochs, and draw the boards."""
    routine = find(arguments.name)
    parameters = given_parameters(routine)
    contract, squares = routine.contract, squares_of(routine, arguments.squares)
    words = words_of(routine, arguments.arguments, arguments.fen, arguments.side, squares)
    on = None if arguments.on is None else ready(arguments.on)
    kernel = lower(routine, arguments.isa or best_isa(routine, on.features if on else None), arguments.abi)
    title = f"{kernel.name}, {kernel.target.name}, {kernel.convention.name}"
    if on is None:
        results = _run_here(kernel, words)
    else:
        results = _run_on(kernel, words, on)
        title += f", on {on.title} (emulated)"
    inputs = ((parameter.name, shown_kind(parameter), word) for parameter, word in zip(parameters, words, strict=True))
    lines, drawn = input_lines(inputs, contract.numbering, squares)
    named = list(zip(result_titles(contract, squares), results, strict=True))
    shown = boards(drawn if contract.counting else [*drawn, *named], squares, arguments.coordinates)
    numbers = [f"{name}: {number}" for name, number in named if contract.counting]
    print(title, *squares_lines(contract, squares), *lines, "", shown, sep="\n")
    print(*([""] if numbers else []), *numbers, sep="\n", end="\n" if numbers else "")
    return 0


def _run_here(kernel: Kernel, words: Sequence[int]) -> tuple[int, ...]:
    try:
        function = Function(kernel)
    except NotRunnable as error:
        raise CannotRunHere(f"{error}; --on runs it in Bochs") from None
    result = function(*words)
    return result if isinstance(result, tuple) else (result,)


def _run_on(kernel: Kernel, words: Sequence[int], on: EmulatedProcessor) -> tuple[int, ...]:
    from setwise.analysis.run.emulation import EmulatedCode, run_emulated

    if lacking := missing(kernel.target, on.features):
        raise CannotRunHere(f"{on.title} cannot run {kernel.name}: it lacks {', '.join(lacking)}")
    subject = EmulatedCode(binary_of(kernel), signature_of(kernel))
    return run_emulated(subject, words, len(kernel.routine.contract.results), on)
