"""Expand steps, runs and paths of rays into shifts, rotates, and masks against wraps, which they share if possible."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache

from setwise.codegen.ir.bits import demanded, known_zero, known_zero_along
from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.values import ALL, CompassRay, Lanes, Value, same
from setwise.codegen.passes.state import CACHED_GRAPHS, Masks, State

CACHED_DEMANDS = 8  # a graph is expanded with each choice of masks in turn


@dataclass
class _Expansion:
    masks: Masks
    wanted: dict[Value, Lanes]
    """The demanded bits of each value before expansion; empty if the graph has no path or run."""
    kept: Set[Value]
    """The steps that are masked themselves, because not only intersections need them."""
    rays: dict[Value, RuntimeRay] = field(default_factory=dict)
    known: dict[Value, Lanes] = field(default_factory=dict)
    within: dict[tuple[Value, object], int] = field(default_factory=dict)
    confined: dict[tuple[Value, object], Value] = field(default_factory=dict)
    runs: dict[tuple[Value, object, int], Value] = field(default_factory=dict)

    def rule(self, value: Value, old: Value) -> Value:
        if value.op == "path":
            return self.path(value.args[0], self.ray(value), self.wanted[old], attacks=bool(value.attr[1]))
        if value.op == "run":
            ray, n = self.ray(value), value.attr[1]
            return self.exact(self.run(value.args[0], ray, n), ray, n, self.wanted[old])
        if value.op == "and":
            # Mask the propagator that a step is intersected with, not the step: steps of one length share that mask.
            for step, other, before in zip(value.args, value.args[::-1], old.args, strict=True):
                if step.op == "step" and before not in self.kept:
                    ray, n = self.ray(step), step.attr[1]
                    pair = (ray.shift(step.args[0], n), self.confine(other, ray, n))
                    return replace(value, args=pair if step is value.args[0] else pair[::-1])
        return value

    def ray(self, value: Value) -> CompassRay | RuntimeRay:
        """Return the ray of a step, run or path; one object for all uses of the same runtime direction."""
        ray: CompassRay | None = value.attr[0]
        return ray or self.rays.setdefault(value.args[1], RuntimeRay(value.args[1]))

    def path(self, propagator: Value, ray: CompassRay | RuntimeRay, wanted: Lanes, *, attacks: bool) -> Value:
        if attacks and self.masks.inner and isinstance(ray, CompassRay):
            ranks = self.ranks(propagator)
            there, back = (way.mask(1, propagator.lanes, ranks=ranks) for way in (ray, ray.opposite))
            if not meets((ray.mask(1, propagator.lanes, ranks=True) & ~back).constant or (), wanted):
                return self.exact(self.confine_to(propagator, there & back), ray, 1, wanted)
        return self.exact(self.confine(propagator, ray, 1), ray, 1, wanted)

    def exact(self, value: Value, ray: CompassRay | RuntimeRay, n: int, wanted: Lanes) -> Value:
        """Mask a run or path to the squares that n steps of a compass ray reach, if a bit elsewhere is demanded."""
        if isinstance(ray, RuntimeRay):
            return value
        mask = ray.mask(n, value.lanes, ranks=True)
        return self.confine_to(value, mask) if meets((~mask).constant or (), wanted) else value

    def run(self, propagator: Value, ray: CompassRay | RuntimeRay, n: int) -> Value:
        """Return run n: p & mask for 1, else the shifted `twin`, or run m & shift(run n // 2, m), m = n - n // 2."""
        key = (propagator, ray, n)
        if key not in self.runs:
            twin = self.twin(propagator, ray, n) if isinstance(ray, CompassRay) else None
            if n == 1:
                run = self.confine(propagator, ray, 1)
            elif twin is not None:
                # The run of the opposite ray, shifted by n - 1 steps, is this run.
                run = ray.shift(twin, n - 1)
            else:
                half = n // 2
                longer, shorter = self.run(propagator, ray, n - half), self.run(propagator, ray, half)
                run = Value("and", (longer, ray.shift(shorter, n - half)), lanes=propagator.lanes, in_place=True)
            self.within[run, ray] = n
            self.runs[key] = run
        return self.runs[key]

    def twin(self, propagator: Value, ray: CompassRay, n: int) -> Value | None:
        """Return the opposite ray's run if it is made and one mask of the propagator serves both rays, else None."""
        run = self.runs.get((propagator, ray.opposite, n))
        both = self.confine(propagator, ray, 1), self.confine(propagator, ray.opposite, 1)
        return run if both[0] is both[1] else None

    def confine(self, value: Value, ray: CompassRay | RuntimeRay, n: int) -> Value:
        """Return the value within a ray's mask of n steps, which clears ranks if `ranks(value)` or the ray rotates."""
        if self.within.get((value, ray), 0) >= n:
            return value
        confined = self.confine_to(value, ray.mask(n, value.lanes, ranks=self.ranks(value)))
        self.within[confined, ray] = n
        return confined

    def ranks(self, value: Value) -> bool:
        """Return whether masks clear ranks, and the value has one lane: rotates save copies in general registers."""
        return self.masks.ranks and value.lanes == 1

    def confine_to(self, value: Value, mask: Value) -> Value:
        """Return `value & mask`, one node for each pair, or the value itself if it is known to have no other bits."""
        if mask.constant is not None and is_within(value, mask.constant, self.known):
            return value
        key = (value, mask.constant or mask)
        if key not in self.confined:
            confined = value & mask
            as_it_was = confined in {value, mask} or confined.constant is not None
            self.confined[key] = confined if as_it_was else replace(confined, in_place=True)
        return self.confined[key]


def meets(changes: Iterable[int], wanted: Lanes) -> bool:
    """Return whether in some lane a bit of `changes`, a number for each lane, is among the demanded bits, `wanted`."""
    return any(change & want & ALL for change, want in zip(changes, wanted, strict=True))


def is_within(value: Value, mask: Lanes, known: dict[Value, Lanes]) -> bool:
    """Return whether a value is known to have no bit outside the mask. `known` caches known zero bits."""
    return not any(~(zero | lane) & ALL for zero, lane in zip(known_zero(value, known), mask, strict=True))


@lru_cache(CACHED_DEMANDS)
def _wanted(graph: Graph) -> dict[Value, Lanes]:
    """Return the demanded bits of each value of a graph, or no entries if it has no paths or runs."""
    return {} if graph.operations.isdisjoint(("path", "run")) else demanded(graph, known=known_zero_along(graph))


def _joined(graph: Graph) -> Graph:
    """Rewrite `step(a) | step(b)` as `step(a | b)` if both go as far along the same ray and have no other user."""
    if "step" not in graph.operations:
        return graph
    uses = graph.users

    def rule(value: Value, old: Value) -> Value:
        one, other = value.args
        alike = one.op == other.op == "step" and one.attr == other.attr and same(one.args[1:], other.args[1:])
        if alike and one is not other and all(len(uses[step]) == 1 for step in old.args):
            return one.on((one.args[0] | other.args[0], *one.args[1:]))
        return value

    return rewrite(graph, rule, operations=("or",))


def _kept(graph: Graph) -> set[Value]:
    """Return the values that other operations than intersections need, and that no propagator is intersected with.

    A propagator is masked in any case, for its run.
    """
    runs = [value for value in graph.order if value.op in ("path", "run")]
    propagators = {*runs, *[run.args[0] for run in runs]}
    meeting = [value for value in graph.order if value.op == "and" and not propagators.isdisjoint(value.args)]
    needed = {arg for value in graph.order if value.op != "and" for arg in value.args} | {*graph.results}
    return needed - {arg for value in meeting for arg in value.args}


@lru_cache(CACHED_GRAPHS)
def expand(graph: Graph, masks: Masks) -> Graph:
    """Return the graph with its steps, runs and paths as shifts, rotates and masks, by a choice of masks."""
    graph = _joined(graph)
    expansion = _Expansion(masks, _wanted(graph), _kept(graph))
    graph = rewrite(graph, expansion.rule, operations=("path", "run", "and"))

    def alone(value: Value, _: Value) -> Value:
        """Return a step without a propagator as a shift, masked if bits may wrap; a rotate needs a mask of ranks."""
        ray, n = expansion.ray(value), value.attr[1]
        shifted = ray.shift(value.args[0], n)
        mask = ray.mask(n, value.lanes, ranks=shifted.op == "rotl")
        if mask.constant is not None and is_within(shifted, mask.constant, expansion.known):
            return Value(shifted.op, shifted.args, shifted.attr, shifted.lanes) if shifted.args else shifted
        masked: Value = shifted & mask
        return masked

    return rewrite(graph, alone, operations=("step",))


def expand_pass(state: State) -> State:
    """Expand the rays of each stage by the state's masks; those of ranks only if the stage shifts one-lane values."""
    return state.each(
        lambda graph: expand(graph, replace(state.masks, ranks=state.masks.ranks and graph.shifts_scalars))
    )
