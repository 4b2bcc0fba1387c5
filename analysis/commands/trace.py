"""`setwise trace`: draw a fill cycle by cycle, a kernel instruction by instruction, or a prefix network, as text."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace

from setwise.analysis.code.binary import binary_of
from setwise.analysis.commands.arguments import add
from setwise.analysis.pictures.board_text import Panel, Strip, as_text, input_lines, squares_lines, turned
from setwise.analysis.pictures.network import network_text
from setwise.analysis.pictures.slow_motion import EMPTY, SLIDERS, conclusion, fills, strips
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.interpreter import Step
from setwise.analysis.run.positions import words_of
from setwise.analysis.spec.contracts import task_of
from setwise.codegen import board
from setwise.codegen.catalogue import find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower

EXAMPLES = (
    "setwise trace",
    "setwise trace kogge-stone.occluded.noEa c1,f1 0xffffffffffff0000",
    "setwise trace dumb7.attacks.rook",
    "setwise trace exploding.bishop d4 0xfffffffff7ffffff --registers",
    "setwise trace kogge-stone.occluded.nort --network",
    "setwise trace push.attacks.west --registers --fen '8/8/8/3R4/8/8/8/k1K5 w'",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise trace`."""
    parser.add_argument(
        "name", nargs="?", default="dumb7.occluded.sout", metavar="NAME", help="the routine (dumb7.occluded.sout)"
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="as for `setwise run` (default: the literature's example)"
    )
    add(parser, "--fen", "--side", "--coordinates")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--registers", action="store_true", help="draw each executed instruction with the registers that it wrote"
    )
    shown.add_argument("--network", action="store_true", help="draw the prefix network of a Kogge-Stone fill")
    add(parser, "--isa", "--lanes", "--abi")


def run(arguments: Namespace) -> int:
    """Draw a fill in slow motion, with --registers a kernel, or with --network a prefix network."""
    routine = find(arguments.name)
    squares = routine.contract.numbering
    words = _words(routine, arguments.arguments, arguments.fen, arguments.side)
    if arguments.network:
        title, text = f"{routine.name} as a network", network(routine, words)
    else:
        if arguments.registers:
            kernel = lower(routine, arguments.isa, arguments.abi, arguments.lanes)
            title = f"{kernel.name}, {kernel.target.name}, {kernel.convention.name}"
            shown, ending = registers(kernel, words), ""
        else:
            title = f"{routine.name} in slow motion"
            drawn = fills(routine, words)
            shown, ending = strips(*drawn), conclusion(*drawn)
        selected, _ = input_lines(zip(routine.contract.words, words, strict=True), squares)
        title = ", ".join([title, *squares_lines(squares), *selected])
        shown = turned(shown, squares)
        text = "\n\n".join([as_text(shown, arguments.coordinates), *([ending] if ending else [])])
    print(title, text, sep="\n\n")
    return 0


def network(routine: Routine, words: Sequence[int]) -> str:
    """Return the prefix network of a Kogge-Stone fill in one direction as text. Raises ValueError for other fills."""
    if routine.family != "kogge-stone" or routine.contract.direction in board.DIRECTION_SETS:
        raise ValueError(f"{routine.name} has no prefix network: choose a kogge-stone routine with one direction")
    (shown,) = fills(routine, words)
    return network_text(board.DIRECTIONS[shown.direction].shift, [cycle.steps for cycle in shown.cycles])


def _words(routine: Routine, arguments: Sequence[str], fen: str | None, side: str | None) -> list[int]:
    """Return the parameters' words; by default the literature's example, southward if the direction is a parameter."""
    if arguments or fen is not None or side is not None:
        return words_of(routine, arguments, fen, side)
    south = board.DIR8.index(board.SOUT)
    classic = {"board": SLIDERS, "empty": EMPTY, "occupied": board.ALL ^ EMPTY, "dir8": south}
    parameters = [p for p in routine.contract.parameters if p.kind != "results"]
    if not all(parameter.kind in classic for parameter in parameters):
        names = " ".join(parameter.name for parameter in parameters)
        raise ValueError(f"{routine.name} has no default example: give its arguments ({names}), or --fen for pieces")
    return [classic[parameter.kind] for parameter in parameters]


def registers(kernel: Kernel, words: Sequence[int]) -> list[Strip]:
    """Return a strip of the call's inputs, and one for each instruction that it executes, except the final ret.

    The strip of an instruction has the registers that it wrote, except rsp.
    """
    task = task_of(kernel)
    trace = Caller(binary_of(kernel), task).trace(words)
    taken = [replace(each, name=f"{each.name} ({each.place})") for each in task.words]
    lines, drawn = input_lines(zip(taken, words, strict=True), task.numbering)
    return [
        Strip("at entry", tuple(Panel(*named) for named in drawn), ", ".join(lines)),
        *(_strip(number, step) for number, step in enumerate(trace.steps[:-1], 1)),
    ]


def _strip(number: int, step: Step) -> Strip:
    panels = [
        Panel(written.name if len(written.lanes) == 1 else f"{written.name}[{lane}]", word)
        for written in step.written
        if written.name != "rsp"
        for lane, word in enumerate(written.lanes)
    ]
    return Strip(f"{number}. {step.instruction.text()}", tuple(panels))
