"""Source lines of values: while a description is traced, record the line and the expression that create each."""

import dataclasses
import sys
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import FrameType

from setwise.codegen.ir.description import Composition
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Description, Routine
from setwise.codegen.ir.values import CompassRay, Value
from setwise.codegen.machine.code import Line

_CODEGEN = Path(__file__).parents[1]
_DESCRIBED_IN = (f"{_CODEGEN / 'fills'}", f"{_CODEGEN / 'ir' / 'description.py'}")
_PASSED_BY = (f"{_CODEGEN}", "<")
_LIBRARY = Path(dataclasses.__file__).parent


def recorded(routine: Routine) -> Routine:
    """Return the routine with `descriptions` that record the source line of each value. Named ones stay as they are."""
    return replace(routine, descriptions=tuple(map(_recorded, routine.descriptions)))


@dataclass(frozen=True)
class RecordedFile:
    """A description that records source lines when it is traced."""

    describe: Description

    def __call__(self, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
        """Trace the description with a sys.setprofile function that records lines, then restore the previous one."""

        def made(frame: FrameType, event: str, _: object) -> None:
            if event == "return" and frame.f_code is _MAKES:
                value = frame.f_locals["self"]
                object.__setattr__(value, "line", value.line or _line_of(frame))

        others = sys.getprofile()
        sys.setprofile(made)
        try:
            return self.describe(layout, *parameters)
        finally:
            sys.setprofile(others)


_MAKES = Value.__init__.__code__


def _recorded(describe: Description) -> Description:
    if isinstance(describe, Composition):
        return Composition(tuple(map(_recorded, describe.stages)))
    return RecordedFile(describe)


def _line_of(frame: FrameType) -> Line | None:
    """Return the line of the innermost caller that is in a fill, codegen.ir.description or a user's file, or None."""
    at = frame.f_back
    while at is not None and at.f_code is not RecordedFile.__call__.__code__:
        file = at.f_code.co_filename
        if file.startswith(_DESCRIBED_IN) or not (file.startswith(_PASSED_BY) or Path(file).parent == _LIBRARY):
            first, last, start, end = next(islice(at.f_code.co_positions(), at.f_lasti // 2, None))
            rays = (each for each in at.f_locals.values() if isinstance(each, CompassRay))
            directions = tuple(direction.name for ray in islice(rays, 1) for direction in ray.directions)
            return Line(file, at.f_lineno, (start or 0, end or 0) if first == last else (0, 0), directions)
        at = at.f_back
    return None
