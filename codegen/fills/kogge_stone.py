"""Kogge-Stone: a parallel prefix fill that doubles its distance in each stage.

Source: Kogge-Stone Algorithm, chessprogramming wiki (2018); Steffan Westcott, CCC, 2002; Kogge and Stone, 1973.
"""

from setwise.codegen.ir.values import ALL, Ray, Value, constant


def occluded(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the occluded fill: sliders and the empty squares they reach (Kogge-Stone Algorithm, Occluded Fill)."""
    return _flood(ray, gen, ray.path(pro))


def attacks(ray: Ray, gen: Value, pro: Value | int) -> Value:
    """Return the attacks: the occluded fill and one more step (Kogge-Stone Algorithm, Ray-wise Attacks)."""
    return ray.step(_flood(ray, gen, ray.path(pro, attacks=True)))


def empty_fill(ray: Ray, gen: Value) -> Value:
    """Return the fill on an empty board, with constant propagators (the page, Fill on an empty Board)."""
    return occluded(ray, gen, constant(ALL, gen.lanes))


def empty_attacks(ray: Ray, gen: Value) -> Value:
    """Return the attacks on an empty board: the fill and one more step (the page, Fill on an empty Board)."""
    return ray.step(empty_fill(ray, gen))


def _flood(ray: Ray, gen: Value, pro: Value) -> Value:
    gen |= pro & ray.step(gen)
    gen |= ray.run(pro, 2) & ray.step(gen, 2)
    return gen | ray.run(pro, 4) & ray.step(gen, 4)
