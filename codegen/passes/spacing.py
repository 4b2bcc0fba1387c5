"""The order that a description tells, with room between what is made and who waits for it.

A processor looks only so far ahead: where many in a row wait, its units are idle. So who would wait, or finds no
register, lets a few others by that are ready.
"""

from __future__ import annotations

from itertools import islice

from setwise.codegen.passes.stretch import Pressure, Stretch

APART = 12
"""How many others are to stand between a value and who reads it: three cycles' work, about."""

PASSED = 12
"""Of so many that are ready the first that needs not wait is next."""


def spaced(stretch: Stretch) -> list[int]:
    """The stretch in that order."""
    at: dict[int, int] = {}
    pressure = Pressure(stretch)

    def hurdle(i: int) -> tuple[int, int]:
        """How many registers are too few for it, and how many others should still come before."""
        since = len(at) - max([at[arg] for arg in stretch.before[i]], default=-APART)
        return max(0, pressure.taken(i) - pressure.spare[stretch.file[i]]), max(0, APART - since)

    waiting = [*range(len(stretch))]
    while waiting:
        ready = (i for i in waiting if all(arg in at for arg in stretch.before[i]))
        chosen = min(islice(ready, PASSED), key=hurdle)
        waiting.remove(chosen)
        at[chosen] = len(at)
        pressure.take(chosen)
    return [*at]
