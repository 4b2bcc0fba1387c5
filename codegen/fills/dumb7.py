"""Dumb7fill: the flood goes one step at a time, as often as a board is wide.

Source: Dumb7Fill, chessprogramming wiki (Gerd Isenberg, 2016).
"""

from __future__ import annotations

from setwise.codegen.ir.control import nonzero, repeat, while_
from setwise.codegen.ir.values import Ray, Value, constant


def occluded(ray: Ray, gen: Value, pro: Value) -> Value:
    """Sliders and all that they reach through empty squares: seven cycles (Dumb7Fill, Unrolled Loop).

    The page's listing prints two lines too many; seven cycles are its definition.
    """
    return _flood(ray, gen, ray.path(pro), 7)


def occluded_rolled(ray: Ray, gen: Value, pro: Value) -> Value:
    """The occluded fill as seven rounds of a loop (Dumb7Fill, Seven Fill Cycles)."""
    pro = ray.path(pro)

    def cycle(gen: Value) -> tuple[Value, ...]:
        gen |= pro & ray.step(gen)
        return (gen,)

    return repeat(7, cycle, gen)[0]


def occluded_until_dry(ray: Ray, gen: Value, pro: Value) -> Value:
    """The occluded fill as a loop that ends when the flood dries up (Dumb7Fill, Fill Loop)."""
    pro = ray.path(pro)

    def cycle(flood: Value, gen: Value) -> tuple[Value, ...]:
        flood |= gen
        return flood, ray.step(gen) & pro

    return while_(lambda _, gen: nonzero(gen), cycle, constant(0), gen)[0]


def attacks(ray: Ray, gen: Value, pro: Value) -> Value:
    """Squares attacked: six cycles, for outer squares do not matter, and one step (Dumb7Fill, Comparison)."""
    return ray.step(_flood(ray, gen, ray.path(pro, attacks=True), 6))


def attacks_in_place(ray: Ray, gen: Value, pro: Value) -> Value:
    """Squares attacked, six cycles of the page's first form: shorter where one instruction joins and and or."""
    pro = ray.path(pro, attacks=True)
    for _ in range(6):
        gen |= pro & ray.step(gen)
    return ray.step(gen)


def attacks_of_fill(ray: Ray, gen: Value, pro: Value) -> Value:
    """Squares attacked as one step of the seven-cycle fill (Dumb7Fill, Attack Fill); `attacks` saves the seventh."""
    return ray.step(occluded(ray, gen, pro))


def attacks_until_dry(ray: Ray, gen: Value, pro: Value) -> Value:
    """Squares attacked as one step of the fill that ends when it dries up (Dumb7Fill, Generalized Rays)."""
    return ray.step(occluded_until_dry(ray, gen, pro))


def _flood(ray: Ray, gen: Value, pro: Value, cycles: int) -> Value:
    flood = gen.copy()
    for _ in range(cycles):
        gen = ray.step(gen) & pro
        flood |= gen
    return flood
