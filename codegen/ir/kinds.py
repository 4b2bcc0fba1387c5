"""Parameter kinds as annotations of a user's function."""

from dataclasses import dataclass
from typing import Annotated

from setwise.codegen.ir.routine import ParameterKind
from setwise.codegen.ir.values import Value


@dataclass(frozen=True, slots=True)
class Kind:
    """A parameter kind in an annotation, with the exclusive upper bound of its numbers, 0 for none."""

    kind: ParameterKind
    below: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """An exclusive upper bound of a parameter, as in `Annotated[Number, Bound(8)]`."""

    below: int


Board = Annotated[Value, Kind("board")]
"""A set of squares: sliders, other pieces, or any."""
Occupied = Annotated[Value, Kind("occupied")]
"""The occupied squares."""
Empty = Annotated[Value, Kind("empty")]
"""The empty squares."""
Square = Annotated[Value, Kind("square", 64)]
"""The number of a square, a1 = 0 to h8 = 63."""
Dir8 = Annotated[Value, Kind("dir8", 8)]
"""A direction that is known at run time: 0 to 7 for noEa east soEa sout soWe west noWe nort."""
Number = Annotated[Value, Kind("number")]
"""A 64-bit word that is not a board."""
