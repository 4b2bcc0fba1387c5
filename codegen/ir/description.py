"""Descriptions made of fills: along rays in some directions, in one that is known at run time, or without a ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from setwise.codegen.board import Direction
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.routine import Description
from setwise.codegen.ir.values import Value

Fill = Callable[..., Value]


@dataclass(frozen=True)
class InTurn:
    """A description of stages one after the other: what one gives is the last parameter of the next."""

    stages: tuple[Description, ...]

    def __call__(self, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
        """What the last stage gives."""
        results: tuple[Value, ...] = parameters[-1:]
        for stage in self.stages:
            results = stage(layout, *parameters[:-1], *results)
        return results


def along(fill: Fill, directions: Sequence[Direction]) -> Description:
    """The description of a fill of a ray and boards in these directions: the union of all rays."""

    def describe(layout: Layout, *boards: Value) -> tuple[Value, ...]:
        rays = layout.rays(directions)
        return (layout.union(fill(ray, *(layout.board(ray, board) for board in boards)) for ray in rays),)

    return describe


def at_run_time(fill: Fill) -> Description:
    """The description of a fill of a ray and boards in the direction that the last parameter, dir8, says."""

    def describe(_: Layout, *values: Value) -> tuple[Value, ...]:
        return (fill(RuntimeRay.of(values[-1]), *values[:-1]),)

    return describe


def plain(function: Fill) -> Description:
    """The description of a function of the parameters alone."""

    def describe(_: Layout, *values: Value) -> tuple[Value, ...]:
        return (function(*values),)

    return describe
