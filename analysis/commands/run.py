"""`setwise run`: run a kernel and print its inputs and results, boards as drawings in text."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from setwise.analysis.code.binary import binary_of
from setwise.analysis.commands.arguments import add
from setwise.analysis.pictures.board_text import picture, squares_lines
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.positions import words_of
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import conditions
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import best_isa, missing
from setwise.codegen.run.function import Function

EXAMPLES = (
    "setwise run kogge-stone.attacks.nort a1,h1 0x0000ffffffff0000",
    "setwise run dumb7.attacks.noEa --fen 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2'",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise run`."""
    parser.add_argument("name", metavar="NAME", help="the routine")
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="ARG",
        help="a board: a number (0x..), squares (a1,h8) or a drawing; a square: e4; a direction: noEa",
    )
    add(parser, "--fen", "--side", "--coordinates")
    add(parser, "--isa", default=None, help="x86-64, bmi2, ..., or native (default: the best that this processor has)")
    add(parser, "--abi")


def run(arguments: Namespace) -> int:
    """Run the kernel, natively if this processor can, else in an interpreter. Print inputs and results."""
    routine = find(arguments.name)
    words = words_of(routine, arguments.arguments, arguments.fen, arguments.side)
    kernel = lower(routine, arguments.isa or best_isa(routine), arguments.abi)
    for required, kept in conditions(task_of(kernel), Integers(), words):
        if not kept:
            raise ValueError(f"{routine.name} requires {required}: give other arguments")
    native = not missing(kernel.target)
    results = (_natively if native else _interpreted)(kernel, words)
    title = f"{kernel.name}, {kernel.target.name}, {kernel.convention.name}{'' if native else ', interpreted'}"
    head = [f"{title}: {routine.summary}", *squares_lines(routine.contract.numbering)]
    print(picture(head, routine.contract, words, arguments.coordinates, got=results))
    return 0


def _natively(kernel: Kernel, words: Sequence[int]) -> tuple[int, ...]:
    result = Function(kernel)(*words)
    return result if isinstance(result, tuple) else (result,)


def _interpreted(kernel: Kernel, words: Sequence[int]) -> tuple[int, ...]:
    caller = Caller(binary_of(kernel), task_of(kernel))
    return tuple(lanes[0] for lanes in caller.results(caller.trace(words)))
