"""Arguments of a kernel from the command line: boards of a position, and numbers and squares in text."""

from collections.abc import Mapping, Sequence

from setwise.analysis.spec.task import Argument
from setwise.analysis.text import counted
from setwise.codegen import board
from setwise.codegen.ir.routine import Parameter, Routine
from setwise.codegen.numbering import Numbering, named_number
from setwise.codegen.run.integers import in_range

BOARDS = ("board", "leapers", "occupied", "empty", "word")
"""The kinds of parameters that are shown as boards."""
_OF_COLOR: Mapping[str, board.Side] = {"white": "w", "black": "b"}
"""The side whose pieces a routine takes, by the color that is its direction."""


Input = Parameter | Argument
"""A parameter of a routine, or of its task."""


def given_parameters(routine: Routine) -> list[Parameter]:
    """Return the parameters that a command line gives. Raises ValueError for a routine on arrays."""
    parameters = [parameter for parameter in routine.contract.parameters if parameter.kind != "results"]
    if any(parameter.pointer for parameter in parameters):
        remedy = "omit .batch, or call it from Python"
        raise ValueError(f"{routine.name} works on arrays, which a command line cannot give: {remedy}")
    return parameters


def words_of(routine: Routine, arguments: Sequence[str], fen: str | None, side: str | None) -> list[int]:
    """Return the parameters' values: boards of the position `fen` if given, the others from `arguments`, in order.

    `side`, w or b, owns the pieces of parameters and routines without a color; the default is the side to move.
    """
    parameters, numbering = given_parameters(routine), routine.contract.numbering
    if fen is not None and (numbering.files, numbering.ranks) != (8, 8):
        raise ValueError(f"--fen describes 8 files and 8 ranks, not {numbering.name}: leave it out")
    words = {name: numbering.numbered(placed) for name, placed in _of_position(routine, fen, side).items()}
    wanted = [parameter.name for parameter in parameters if parameter.name not in words]
    if fen is not None and not words:
        raise ValueError(f"--fen fills no parameter of {routine.name}: give {' '.join(wanted)} without it")
    if len(arguments) != len(wanted):
        fewer = " (fewer with --fen)" if _of_position(routine, "startpos", None) else ""
        beside = " beside --fen" if words else fewer
        raise ValueError(
            f"{routine.name} takes {counted(len(wanted), 'argument')}{beside}, not {len(arguments)}: "
            f"{' '.join(wanted) or 'none'}"
        )
    texts = dict(zip(wanted, arguments, strict=True))
    return [
        words[parameter.name] if parameter.name in words else _parsed(parameter, texts[parameter.name], numbering)
        for parameter in parameters
    ]


def _of_position(routine: Routine, fen: str | None, side: str | None) -> dict[str, int]:
    """Return the boards that a position gives, a1 = bit 0, by the parameters' names; none without a position."""
    if fen is None:
        if side is not None:
            raise ValueError("--side goes with --fen")
        return {}
    position = board.parse_fen(fen)
    if side not in (None, "w", "b"):
        raise ValueError(f"no side '{side}': write w or b")
    mover: board.Side = "w" if side == "w" else "b" if side == "b" else position.side
    if own := _OF_COLOR.get(routine.contract.direction):
        if side not in (None, own):
            raise ValueError(f"{routine.name} is for {routine.contract.direction}'s pieces: leave --side out")
        mover = own
    parameters = {parameter.name: parameter.kind for parameter in routine.contract.parameters}
    apart = "queens" in parameters  # then rooks and bishops exclude queens
    by_name = {
        "sliders": _sliders(routine, position, mover),
        "rooks": position.sliders(mover, not apart, False) | position.pieces(mover, "R"),
        "bishops": position.sliders(mover, False, not apart) | position.pieces(mover, "B"),
        "queens": position.pieces(mover, "Q"),
        "knights": position.pieces(mover, "N"),
        "kings": position.pieces(mover, "K"),
        "pawns": position.pieces(mover, "P"),
        "white": sum(map(position.piece, "PNBRQK")),
        "black": sum(map(position.piece, "pnbrqk")),
        "targets": board.ALL & ~sum(position.pieces(mover, letter) for letter in "PNBRQK"),
        "white_rooks": position.sliders("w", True, False),
        "white_bishops": position.sliders("w", False, True),
        "black_rooks": position.sliders("b", True, False),
        "black_bishops": position.sliders("b", False, True),
    }
    by_kind = {"empty": position.empty, "occupied": position.occupied}
    words = {name: by_name.get(name, by_kind.get(kind)) for name, kind in parameters.items()}
    return {name: word for name, word in words.items() if word is not None}


def _sliders(routine: Routine, position: board.Position, side: board.Side) -> int:
    """Return the pieces of one side that slide in all the routine's directions; queens if only they do."""
    name = routine.contract.direction
    if name in board.DIRECTION_SETS:
        directions = board.DIRECTION_SETS[name]
    else:
        directions = (board.DIRECTIONS[name],) if name in board.DIRECTIONS else board.DIR8
    orthogonal = all(direction in board.ROOK for direction in directions)
    diagonal = all(direction in board.BISHOP for direction in directions)
    return position.sliders(side, orthogonal, diagonal) if orthogonal or diagonal else position.pieces(side, "Q")


def _parsed(parameter: Parameter, text: str, numbering: Numbering) -> int:
    if parameter.kind in BOARDS:
        number = None if parameter.on_squares else board.parse_number(text)
        return in_range(parameter, numbering.parse_board(text) if number is None else number)
    if parameter.kind != "number" and not text[:1].isdecimal():
        return named_number(parameter.kind, text, numbering)
    number = board.parse_number(text)
    bound = parameter.below or 1 << 64
    if number is None or number >= bound:
        raise ValueError(f"{parameter.name} is '{text}': write a number from 0 to {bound - 1}")
    return number
