"""Rays become shifts and masks: the pass that knows what wraps, and where its mask costs least."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from setwise.codegen.describe.bits import known_zero
from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.ray import RuntimeRay
from setwise.codegen.describe.values import CompassRay, Lanes, Value
from setwise.codegen.passes.unit import Masks, Unit


@dataclass
class _Expansion:
    masks: Masks
    known: dict[Value, Lanes] = field(default_factory=dict)
    within: dict[tuple[Value, object], int] = field(default_factory=dict)
    confined: dict[tuple[Value, object], Value] = field(default_factory=dict)
    runs: dict[tuple[Value, object, int], Value] = field(default_factory=dict)

    def rule(self, value: Value, _: Value) -> Value:
        if value.op == "path":
            ray, attacks = value.attr
            return self.path(value.args[0], ray, attacks=bool(attacks))
        if value.op == "run":
            ray, n = value.attr
            return self.run(value.args[0], ray, n)
        if value.op == "and":
            # The mask of a step goes to the propagator that the step is intersected with: once for all steps.
            for step, other in (value.args, value.args[::-1]):
                if step.op == "step":
                    ray, n = step.attr
                    pair = (ray.shift(step.args[0], n), self.confine(other, ray, n))
                    first, second = pair if step is value.args[0] else pair[::-1]
                    return Value("and", (first, second), lanes=value.lanes, in_place=value.in_place)
        return value

    def path(self, propagator: Value, ray: CompassRay | RuntimeRay, *, attacks: bool) -> Value:
        if attacks and self.masks.inner and isinstance(ray, CompassRay):
            ranks = self.ranks(propagator)
            both = ray.mask(1, propagator.lanes, ranks=ranks) & ray.opposite.mask(1, propagator.lanes, ranks=ranks)
            return self.confine_to(propagator, both)
        return self.confine(propagator, ray, 1)

    def run(self, propagator: Value, ray: CompassRay | RuntimeRay, n: int) -> Value:
        """p1 = p & mask; p2 = p1 & step(p1); p4 = p2 & step(p2, 2); others by the largest halves."""
        key = (propagator, ray, n)
        if key not in self.runs:
            twin = self.runs.get((propagator, ray.opposite, n)) if isinstance(ray, CompassRay) else None
            if n == 1:
                run = self.confine(propagator, ray, 1)
            elif twin is not None:
                # The run to the right is the run to the left, moved by n - 1 steps.
                run = ray.shift(twin, n - 1)
            else:
                half = n // 2
                longer, shorter = self.run(propagator, ray, n - half), self.run(propagator, ray, half)
                run = Value("and", (longer, ray.shift(shorter, n - half)), lanes=propagator.lanes, in_place=True)
            self.within[run, ray] = n
            self.runs[key] = run
        return self.runs[key]

    def confine(self, value: Value, ray: CompassRay | RuntimeRay, n: int) -> Value:
        """The value within the squares that n steps of the ray can arrive at."""
        if self.within.get((value, ray), 0) >= n:
            return value
        confined = self.confine_to(value, ray.mask(n, value.lanes, ranks=self.ranks(value)))
        self.within[confined, ray] = n
        return confined

    def ranks(self, value: Value) -> bool:
        """Rotates spare moves on general registers only."""
        return self.masks.ranks and value.lanes == 1

    def confine_to(self, value: Value, mask: Value) -> Value:
        """`value & mask`, or `value` itself where it can hold nothing else; the same node whenever asked again."""
        if mask.constant is not None and is_within(value, mask.constant, self.known):
            return value
        key = (value, mask.constant or mask)
        if key not in self.confined:
            confined = value & mask
            self.confined[key] = (
                Value("and", confined.args, lanes=value.lanes, in_place=True) if confined.args else confined
            )
        return self.confined[key]


def is_within(value: Value, mask: Lanes, known: dict[Value, Lanes]) -> bool:
    """Whether the value surely has no bit outside the mask."""
    return not any(~zero & ~lane & ((1 << 64) - 1) for zero, lane in zip(known_zero(value, known), mask, strict=True))


def expand(graph: Graph, masks: Masks) -> Graph:
    """The graph without steps, runs and paths."""
    expansion = _Expansion(masks)
    graph = rewrite(graph, expansion.rule)

    def alone(value: Value, _: Value) -> Value:
        """A step that is not intersected with a propagator keeps its mask; ranks fall off by themselves."""
        if value.op != "step":
            return value
        ray, n = value.attr
        shifted = ray.shift(value.args[0], n)
        mask = ray.mask(n, value.lanes, ranks=shifted.op == "rotl")
        if mask.constant is not None and is_within(shifted, mask.constant, expansion.known):
            return Value(shifted.op, shifted.args, shifted.attr, shifted.lanes) if shifted.args else shifted
        masked: Value = shifted & mask
        return masked

    return rewrite(graph, alone)


def expansion(unit: Unit) -> Unit:
    """The pass: the graph without steps, runs and paths, masked as the unit says."""
    return replace(unit, graph=expand(unit.graph, unit.masks))
