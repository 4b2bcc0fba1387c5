"""`setwise trace`: a fill cycle by cycle, or a kernel instruction by instruction, as boards."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.arguments import add_position, add_squares, add_target
from setwise.analysis.commands.boards import squares_lines, turned
from setwise.analysis.commands.positions import squares_of, words_of
from setwise.analysis.pictures.boards import strips_of_boards
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.drawing import Panel, Strip, as_text
from setwise.analysis.run.slow_motion import EMPTY, SLIDERS, TracedFill, conclusion, fill, strips
from setwise.analysis.run.steps import RegisterWrite, Step
from setwise.codegen import board
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.numbering import Numbering

EXAMPLES = (
    "setwise trace",
    "setwise trace kogge-stone.occluded.noEa c1,f1 0xffffffffffff0000",
    "setwise trace push.attacks.west --registers --fen '8/8/8/3R4/8/8/8/k1K5 w' --svg west.svg",
)


def add_arguments(parser: ArgumentParser) -> None:
    """NAME, its arguments or a position, what is drawn, and the target."""
    parser.add_argument(
        "name", nargs="?", default="dumb7.occluded.sout", metavar="NAME", help="the routine (dumb7.occluded.sout)"
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="as `setwise run` takes them (default: the literature's example)"
    )
    add_position(parser)
    add_squares(parser)
    parser.add_argument("--registers", action="store_true", help="each instruction, and the registers that it wrote")
    parser.add_argument("--svg", metavar="FILE", help="draw to this file instead")
    add_target(parser)


def run(arguments: Namespace) -> int:
    """A fill, or a kernel with --registers, in slow motion."""
    routine = find(arguments.name)
    squares = squares_of(routine, arguments.squares)
    words = _words(routine, arguments.arguments, arguments.fen, arguments.side, squares)
    if arguments.registers:
        kernel = lower(routine, arguments.isa, arguments.abi, arguments.lanes)
        title = f"{kernel.name}, {kernel.target.name}, {kernel.convention.name}"
        shown, ending = registers(kernel, words), ""
    else:
        slow = fill_of(routine, words)
        title, shown, ending = f"{routine.name} in slow motion", strips(slow), conclusion(slow)
    title = ", ".join([title, *squares_lines(routine.contract, squares)])
    shown = turned(shown, squares)
    if arguments.svg:
        try:
            picture = strips_of_boards([*shown, Strip(ending)] if ending else shown, title)
            Path(arguments.svg).write_text(picture, encoding="utf-8")
        except OSError as error:
            raise ValueError(f"cannot write {arguments.svg}: {(error.strerror or str(error)).lower()}") from None
        print(f"{arguments.svg}: {title}")
        return 0
    print(title, as_text(shown), *([ending] if ending else []), sep="\n\n")
    return 0


def _words(
    routine: Routine, arguments: Sequence[str], fen: str | None, side: str | None, squares: Numbering
) -> list[int]:
    """The parameters' words; without any the classic position, southward where the direction is free."""
    if arguments or fen is not None or side is not None:
        return words_of(routine, arguments, fen, side, squares)
    occupied = board.ALL ^ EMPTY
    classic = {
        "board": squares.numbered(SLIDERS),
        "empty": squares.numbered(EMPTY),
        "occupied": squares.numbered(occupied),
        "dir8": board.DIR8.index(board.direction("sout")),
    }
    parameters = [p for p in routine.contract.parameters if p.kind != "results"]
    if not all(parameter.kind in classic for parameter in parameters):
        names = " ".join(parameter.name for parameter in parameters)
        raise ValueError(f"{routine.name} has no default example: give its arguments ({names}) or --fen")
    return [classic[parameter.kind] for parameter in parameters]


def fill_of(routine: Routine, words: Sequence[int]) -> TracedFill:
    """The cycles of one of the literature's fills; ValueError for other routines."""
    contract = routine.contract
    direction = board.DIR8[words[-1]].name if contract.direction == "any" else contract.direction
    family, form = routine.family, routine.form
    if direction not in board.DIRECTIONS or family not in ("dumb7", "kogge-stone"):
        raise ValueError(
            f"{routine.name} has no cycles to show: take dumb7 or kogge-stone in one direction, or add --registers"
        )
    attacks = str(contract.specification).endswith("attacks")
    return fill(
        "dumb7" if family == "dumb7" else "kogge-stone",
        direction,
        words[0],
        board.ALL if form.startswith("empty-") else words[1],
        rounds=6 if form == "attacks" else 7,
        until_dry=form.endswith("until-dry"),
        attacks=attacks,
    )


def registers(kernel: Kernel, words: Sequence[int]) -> list[Strip]:
    """A strip for each instruction that a call executes, with the registers that it wrote."""
    task = task_of(kernel)
    trace = Caller(binary_of(kernel), task).trace(words)
    inputs = [argument for argument in task.arguments if argument.kind != "results"]
    given = [
        Panel(f"{argument.name} ({argument.place.register or 'stack'})", word)
        for argument, word in zip(inputs, words, strict=True)
    ]
    last = len(trace.steps) - 1
    return [
        Strip("at entry", tuple(given)),
        *(_strip(number, step) for number, step in enumerate(trace.steps[:last], 1)),
    ]


def _strip(number: int, step: Step) -> Strip:
    panels = (panel for written in step.written if written.name != "rsp" for panel in _panels(written))
    return Strip(f"{number}. {step.instruction.text()}", tuple(panels))


def _panels(written: RegisterWrite) -> list[Panel]:
    if len(written.lanes) == 1:
        return [Panel(written.name, written.lanes[0])]
    return [Panel(f"{written.name}[{lane}]", word) for lane, word in enumerate(written.lanes)]
