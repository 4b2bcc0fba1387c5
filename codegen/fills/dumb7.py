"""Dumb7fill: flood one step per cycle, in six or seven cycles or until a step reaches no empty square.

Source: Dumb7Fill, chessprogramming wiki (Gerd Isenberg, 2016).
"""

from setwise.codegen.ir.control import nonzero, repeat, while_
from setwise.codegen.ir.values import Ray, Value, constant


def occluded(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the occluded fill in seven cycles (Dumb7Fill, Unrolled Loop).

    The page's listing prints two lines too many; the page defines the fill as seven cycles.
    """
    return _flood(ray, gen, ray.path(pro), 7)


def occluded_rolled(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the occluded fill by a loop of seven iterations (Dumb7Fill, Seven Fill Cycles)."""
    pro = ray.path(pro)

    def cycle(gen: Value) -> tuple[Value, ...]:
        gen |= pro & ray.step(gen)
        return (gen,)

    return repeat(7, cycle, gen)[0]


def occluded_until_dry(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the occluded fill by a loop until a step reaches no propagator (Dumb7Fill, Fill Loop)."""
    pro = ray.path(pro)

    def cycle(flood: Value, gen: Value) -> tuple[Value, ...]:
        flood |= gen
        return flood, ray.step(gen) & pro

    return while_(lambda _, gen: nonzero(gen), cycle, constant(0), gen)[0]


def attacks(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the attacks by six cycles and one more step (Dumb7Fill, Comparison).

    A ray has at most seven squares, and the last step reaches the seventh, so six cycles suffice.
    """
    return ray.step(_flood(ray, gen, ray.path(pro, attacks=True), 6))


def attacks_in_place(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the attacks by six cycles `gen |= pro & step(gen)` and one more step: short with three-input logic."""
    pro = ray.path(pro, attacks=True)
    for _ in range(6):
        gen |= pro & ray.step(gen)
    return ray.step(gen)


def attacks_of_fill(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the attacks as one step from the seven-cycle fill (Dumb7Fill, Attack Fill). `attacks` saves a cycle."""
    return ray.step(occluded(ray, gen, pro))


def attacks_until_dry(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the attacks as one step from the fill of `occluded_until_dry` (Dumb7Fill, Generalized Rays)."""
    return ray.step(occluded_until_dry(ray, gen, pro))


def _flood(ray: Ray, gen: Value, pro: Value, cycles: int) -> Value:
    flood = gen.copy()
    for _ in range(cycles):
        gen = ray.step(gen) & pro
        flood |= gen
    return flood
