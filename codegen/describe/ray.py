"""Rays: how a fill moves, without knowing direction, layout or instruction set.

A ray stands for one direction, or for one direction a lane. `step`, `run` and `path` are operations of their own in
the graph; the pass `expand` turns them into shifts and masks when all rays of a routine are known, so that rays can
share what they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass

from setwise.codegen.board import DIR8, ROOK, Direction
from setwise.codegen.describe.values import Value, constant, make, shift_signed, table


class Ray:
    """What a fill may ask of a ray: three operations, as nodes of the graph."""

    def step(self, squares: Value, n: int = 1) -> Value:
        """All squares n steps along the ray; what would leave the board, or wrap, is gone."""
        return self._node("step", squares, n)

    def run(self, propagator: Value, n: int) -> Value:
        """Squares that end n successive propagator squares along the ray: what Kogge-Stone doubles."""
        return self._node("run", propagator, n)

    def path(self, propagator: Value, *, attacks: bool = False) -> Value:
        """The propagator as far as the ray can enter it; for attacks only the squares that the flood must pass."""
        return self._node("path", propagator, int(attacks))

    def _node(self, op: str, value: Value, n: int) -> Value:
        return Value(op, (value,), (self, n), value.lanes)


@dataclass(frozen=True)
class CompassRay(Ray):
    """A ray whose direction, or whose direction of each lane, is known when code is made.

    >>> from setwise.codegen.board import EAST
    >>> hex(CompassRay((EAST,)).step(constant(0x8040)).number)
    '0x80'
    """

    directions: tuple[Direction, ...]

    @property
    def straight(self) -> bool | None:
        """Whether the ray goes along ranks or files; None if only some of its lanes do."""
        straight = {direction in ROOK for direction in self.directions}
        return straight.pop() if len(straight) == 1 else None

    @property
    def opposite(self) -> CompassRay:
        """The ray the other way."""
        return CompassRay(tuple(direction.opposite for direction in self.directions))

    def shift(self, value: Value, n: int) -> Value:
        """The bare shift by n steps, wraps and all."""
        return shift_signed(value, tuple(n * d.shift for d in self._directions_by_lane(value.lanes)))

    def mask(self, n: int, lanes: int, *, ranks: bool) -> Value:
        """The squares that n steps can arrive at: without the files (and on request ranks) that only a wrap reaches.

        A ray that goes to both sides is shifted by rotates, so its masks hold ranks too.
        """
        ranks = ranks or len({d.shift > 0 for d in self.directions}) > 1
        return constant(tuple(d.reach(n) if ranks else _reach_files(d, n) for d in self._directions_by_lane(lanes)))

    def _directions_by_lane(self, lanes: int) -> tuple[Direction, ...]:
        return self.directions if len(self.directions) == lanes else self.directions * lanes

    def _node(self, op: str, value: Value, n: int) -> Value:
        if value.constant is None:
            return super()._node(op, value, n)
        if op == "step":
            return self.shift(value, n) & self.mask(n, value.lanes, ranks=True)
        propagator = value & self.mask(1, value.lanes, ranks=True)
        for _ in range(1, n):
            propagator = value & self.step(propagator)
        return propagator


def _reach_files(direction: Direction, n: int) -> int:
    """The files that n steps can arrive at, all ranks of them."""
    files = sum(1 << file for file in range(8) if 0 <= file - n * direction.file_step <= 7)
    return files * 0x0101_0101_0101_0101


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
