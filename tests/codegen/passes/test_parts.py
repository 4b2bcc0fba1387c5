"""Orders by the parts of unions: what shares most comes next, whichever result it is part of."""

from __future__ import annotations

from functools import reduce
from operator import or_

from setwise.codegen.describe.graph import Graph
from setwise.codegen.describe.values import Value, parameter, place_of
from setwise.codegen.passes.parts import Parts
from setwise.codegen.passes.stretch import Stretch
from setwise.codegen.passes.wishes import Line
from setwise.codegen.targets.general import X86_64

ROOKS, BISHOPS, EMPTY, POINTER = (parameter(at) for at in range(4))


def test_parts_of_several_results_come_by_kinship() -> None:
    """Two rays of an axis share a run: the results of one axis come together, in whatever order they are returned."""
    runs = [Value("and", (EMPTY, Value("shl", (EMPTY,), (n,)))) for n in (1, 8)]
    rays = [Value("and", (run, sliders)) for sliders in (ROOKS, BISHOPS) for run in runs]
    unions = [Value("or", (ray, EMPTY)) for ray in rays]
    written = [Value("put", (POINTER, union), 8 * at) for at, union in enumerate(unions)]
    values = [*(run.args[1] for run in runs), *runs, *rays, *unions, *written]
    order = Parts(Stretch(values, set(), X86_64, 9)).by_kinship()
    assert sorted(order) == [*range(len(values))]
    axes = [place_of(values[i], rays) % 2 for i in order if values[i] in {*rays}]
    assert axes in ([0, 0, 1, 1], [1, 1, 0, 0])
    # A result is written as soon as it is there, so that its register is free for the next.
    for union, put in zip(unions, written, strict=True):
        assert order.index(place_of(put, values)) == order.index(place_of(union, values)) + 1


def test_unions_come_whole_from_the_last() -> None:
    shared = ROOKS & BISHOPS
    first, second = shared << 8, shared >> 8
    values = [shared, first, Value("put", (POINTER, first), 0), second, Value("put", (POINTER, second), 8)]
    assert Parts(Stretch(values, set(), X86_64, 9)).from_the_last() == [0, 3, 4, 1, 2]


def test_an_order_costs_what_its_line_costs() -> None:
    """Whether it is only asked, or wishes are judged from there: also where values crowd, and some are written."""
    shifted = [Value("shl", (EMPTY,), (n,)) for n in range(1, 9)]
    met = [Value("and", (shift, board)) for shift, board in zip(shifted, (ROOKS, BISHOPS) * 4, strict=True)]
    written = [Value("put", (POINTER, value), 8 * at) for at, value in enumerate(met)]
    stretch = Stretch([*shifted, *met, *written], {ROOKS, met[0]}, X86_64, 7)
    orders = [[*range(len(stretch))], Parts(stretch).by_kinship(), Parts(stretch).from_the_last()]
    costs = [stretch.cost(order) for order in orders]
    assert costs == [Line(stretch, order).cost for order in orders]
    assert len(set(costs)) > 1


def test_groups_come_the_other_way_round() -> None:
    """Rays of an axis stay together: three runs come in turn, each with the two that read it."""
    runs = [EMPTY & EMPTY << n for n in (1, 8, 9)]
    rays = [run & sliders for run in runs for sliders in (ROOKS, BISHOPS)]
    union = reduce(or_, rays)
    values = Graph((ROOKS, BISHOPS, EMPTY), (union,)).order[3:]
    parts = Parts(Stretch([*values], {union}, X86_64, 9))
    orders = parts.by_kinship(), parts.by_groups_from_the_last()
    there, back = ([values[i] for i in order if values[i] in {*runs}] for order in orders)
    assert back == there[::-1]
