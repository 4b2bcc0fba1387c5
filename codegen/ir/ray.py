"""Rays whose direction is known only at run time, and the function `ray`, which makes a ray of one direction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.board import DIR8, Direction, leap
from setwise.codegen.ir.control import table
from setwise.codegen.ir.values import CompassRay, Ray, Value, make


@dataclass(frozen=True)
class RuntimeRay(Ray):
    """A ray whose direction (dir8, below 8) is known only at run time: rotates by counts and masks from tables.

    The tables are the literature's `shift` and `avoidWrap` (Dumb7Fill, Generalized Rays).
    """

    dir8: Value

    @staticmethod
    def of(dir8: Value) -> Ray:
        """Return the ray of a number in the order of DIR8. Raise ValueError for a constant that is not below 8."""
        if dir8.constant is None:
            return RuntimeRay(dir8)
        if dir8.number >= len(DIR8):
            raise ValueError(f"there is no direction number {dir8.number}: dir8 is 0 to 7")
        return CompassRay((DIR8[dir8.number],))

    @cached_property
    def opposite(self) -> RuntimeRay:
        """The ray in the opposite direction, which is four numbers further."""
        return RuntimeRay(self.dir8 ^ 4)

    def shift(self, value: Value, n: int) -> Value:
        """Return the value rotated by n steps. The caller must mask wrapped bits."""
        power, count = self.count, None
        for bit in range(n.bit_length()):
            power = power if bit == 0 else make("add", power, power, in_place=True)
            if n >> bit & 1:
                count = power if count is None else make("add", count, power, in_place=True)
        return value if count is None else value.rotate(count)

    def mask(self, n: int, lanes: int, *, ranks: bool) -> Value:
        """Return the squares that n steps can reach. The other arguments are ignored."""
        return self.wrap if n == 1 else table([d.reach(n) for d in DIR8], self.dir8)

    @cached_property
    def count(self) -> Value:
        """The count, 1 to 63, by which a rotate to the left makes one step."""
        return table([d.shift & 63 for d in DIR8], self.dir8, size=1)

    @cached_property
    def wrap(self) -> Value:
        """The squares that one step can reach."""
        return table([d.reach(1) for d in DIR8], self.dir8)

    def _node(self, op: str, value: Value, n: int) -> Value:
        if value.lanes != 1:
            raise ValueError(f"a ray with a direction known at run time takes one board, not {value.lanes} lanes")
        return Value(op, (value, self.dir8), (None, n))


def ray(*directions: Direction | Value) -> Ray:
    """Return the ray of a direction, of several steps taken as one leap, or of a dir8, which may be a constant."""
    if len(directions) == 1 and isinstance(directions[0], Value):
        return RuntimeRay.of(directions[0])
    return CompassRay((leap(*directions),))  # type: ignore[arg-type]
