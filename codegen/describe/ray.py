"""Rays of a direction: known when code is made, or only when it runs."""

from __future__ import annotations

from dataclasses import dataclass

from setwise.codegen.board import DIR8, Direction, leap
from setwise.codegen.describe.control import table
from setwise.codegen.describe.values import CompassRay, Ray, Value, make


@dataclass(frozen=True, eq=False)
class RuntimeRay(Ray):
    """A ray whose direction (dir8, below 8) is known only when the code runs: rotates, and two tables beside the code.

    The tables are the seeds' `shift` and `avoidWrap` (Dumb7Fill, Generalized Rays).
    """

    count: Value
    wrap: Value

    @staticmethod
    def of(dir8: Value) -> RuntimeRay:
        """The ray of a direction number in the seeds' order noEa east soEa sout soWe west noWe nort."""
        counts = table([d.shift & 63 for d in DIR8], dir8, size=1)
        return RuntimeRay(counts, table([d.avoid_wrap for d in DIR8], dir8))

    def shift(self, value: Value, n: int) -> Value:
        """The rotate by n steps; n is a power of two."""
        count = self.count
        for _ in range(n.bit_length() - 1):
            count = make("add", count, count, in_place=True)
        return value.rotate(count)

    def mask(self, n: int, lanes: int, *, ranks: bool) -> Value:
        """The squares that a step can arrive at."""
        if n != 1 or lanes != 1:
            raise ValueError("a direction known at run time has a mask for one step of one board only")
        return self.wrap


def ray(*directions: Direction | Value) -> Ray:
    """The ray of a direction, of several steps taken as one, or of a dir8 that is known when the code runs."""
    if len(directions) == 1 and isinstance(directions[0], Value):
        return RuntimeRay.of(directions[0])
    return CompassRay((leap(*(direction for direction in directions if isinstance(direction, Direction))),))
