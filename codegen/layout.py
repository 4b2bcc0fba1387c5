"""Layouts: how a description's boards and rays lie in registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from codegen.board import ROOK, Direction
from codegen.expr import Value, constant, make
from codegen.ray import CompassRay


@dataclass(frozen=True, slots=True)
class Layout:
    """What a description of several directions asks for: its rays, boards for them, and the union in the end.

    `packs` are the directions in groups of one register each. One direction a pack is scalar code (or lanes = boards,
    where every value has `boards` lanes); more are lanes = directions, and the boards are broadcast.
    """

    lanes: int = 1

    def rays(self, directions: Sequence[Direction]) -> tuple[CompassRay, ...]:
        """A ray for each pack of directions."""
        return tuple(CompassRay(tuple(directions[i : i + self.lanes])) for i in range(0, len(directions), self.lanes))

    def sliders(self, ray: CompassRay, rooks: Value, bishops: Value) -> Value:
        """The sliders that go along a ray: rooks or bishops, in each lane."""
        straight = tuple(direction in ROOK for direction in ray.directions)
        if all(straight):
            return self.board(ray, rooks)
        if not any(straight):
            return self.board(ray, bishops)
        chosen = constant(tuple(-1 if s else 0 for s in straight))
        return make("select", chosen, self.board(ray, rooks), self.board(ray, bishops))

    def board(self, ray: CompassRay, board: Value) -> Value:
        """A board for every lane of a ray."""
        lanes = len(ray.directions)
        return board if lanes == 1 else Value("broadcast", (board,), lanes=lanes)

    def union(self, boards: Iterable[Value]) -> Value:
        """All squares of all boards and lanes."""
        joined = reduce(lambda one, other: one | other, boards)
        return joined if joined.lanes == 1 else Value("fold", (joined,))
