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
_OF_COLOR: Mapping[str, str] = {"white": "w", "black": "b"}
"""The side whose pieces a routine takes, by the color that is its direction."""
_ALL_PIECES = "PNBRQK"

Input = Parameter | Argument
"""A parameter of a routine, or of its task."""


def words_of(routine: Routine, arguments: Sequence[str], fen: str | None, side: str | None) -> list[int]:
    """Return the parameters' values: boards of the position `fen` if given, the others from `arguments`, in order.

    `side`, w or b, owns the pieces of parameters and routines without a color; the default is the side to move.
    Raises ValueError for a routine on arrays.
    """
    parameters, numbering = routine.contract.words, routine.contract.numbering
    if routine.contract.elements:
        remedy = "omit .batch, or call it from Python"
        raise ValueError(f"{routine.name} works on arrays, which a command line cannot give: {remedy}")
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
    own = _OF_COLOR.get(routine.contract.direction)
    if own and side not in (None, own):
        raise ValueError(f"{routine.name} is for {routine.contract.direction}'s pieces: leave --side out")
    mover = own or side or position.side
    kinds = {parameter.name: parameter.kind for parameter in routine.contract.parameters}
    queen = "" if "queens" in kinds else "Q"  # else rooks and bishops exclude queens
    letters = {"rooks": f"R{queen}", "bishops": f"B{queen}", "queens": "Q", "knights": "N", "kings": "K", "pawns": "P"}
    by_name = {name: position.pieces(mover, of) for name, of in letters.items()}
    by_name["sliders"] = position.pieces(mover, _sliders(routine))
    by_name["targets"] = board.ALL & ~position.pieces(mover, _ALL_PIECES)
    for color, of in _OF_COLOR.items():
        by_name[color] = position.pieces(of, _ALL_PIECES)
        by_name |= {f"{color}_rooks": position.pieces(of, "RQ"), f"{color}_bishops": position.pieces(of, "BQ")}
    by_kind = {"empty": position.empty, "occupied": position.occupied}
    return {name: word for name, kind in kinds.items() if (word := by_name.get(name, by_kind.get(kind))) is not None}


def _sliders(routine: Routine) -> str:
    """Return the letters of the pieces that slide in all the routine's directions."""
    name = routine.contract.direction
    one = (board.DIRECTIONS[name],) if name in board.DIRECTIONS else board.DIR8
    directions = set(board.DIRECTION_SETS.get(name, one))
    return "Q" + "R" * (directions <= {*board.ROOK}) + "B" * (directions <= {*board.BISHOP})


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
