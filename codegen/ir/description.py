"""Descriptions made from fills: in fixed directions, in a direction known at run time, or without a ray."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from setwise.codegen.board import Direction
from setwise.codegen.ir.grid import Grid
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.routine import Description
from setwise.codegen.ir.values import Value

Fill = Callable[..., Value]


@dataclass(frozen=True)
class Composition:
    """A composition of descriptions, the stages: the results of each replace the last parameter for the next one."""

    stages: tuple[Description, ...]

    def __call__(self, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
        """Return the results of the last stage."""
        results: tuple[Value, ...] = parameters[-1:]
        for stage in self.stages:
            results = stage(layout, *parameters[:-1], *results)
        return results


def along(fill: Fill, directions: Sequence[Direction], grid: Grid | None = None) -> Description:
    """Return a description that runs a fill along rays in these directions and returns the union of its results."""

    def describe(layout: Layout, *boards: Value) -> tuple[Value, ...]:
        rays = grid.rays(layout, directions) if grid else layout.rays(directions)
        return (layout.union(fill(ray, *(layout.board(ray, board) for board in boards)) for ray in rays),)

    return describe


def at_run_time(fill: Fill) -> Description:
    """Return a description that runs a fill in the direction of its last parameter, dir8."""

    def describe(_: Layout, *values: Value) -> tuple[Value, ...]:
        return (fill(RuntimeRay.of(values[-1]), *values[:-1]),)

    return describe


def plain(function: Fill) -> Description:
    """Return the description of a function of the parameters that needs no ray."""

    def describe(_: Layout, *values: Value) -> tuple[Value, ...]:
        return (function(*values),)

    return describe
