"""Lanes united: what unions share, and which masks they take along."""

from functools import reduce
from operator import or_

from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import ALL, Value, constant, parameter, reshaped
from setwise.codegen.passes.reduce_lanes import reduce_lanes
from setwise.codegen.passes.select import select
from setwise.codegen.passes.simplify import simplify
from setwise.codegen.targets import TARGETS

GFNI = TARGETS["gfni"]
LOWER = (ALL,) * 4 + (0,) * 4
LANES, BOARD, POINTER = parameter(0, 8), parameter(1), parameter(3)


def unite(boards: Value) -> Value:
    return reshaped("unite", boards)


def number(graph: Graph, op: str) -> int:
    return sum(value.op == op for value in graph.order)


def test_unions_of_some_lanes_and_of_all_share_the_transposition() -> None:
    graph = reduce_lanes(Graph((), (unite(LANES), unite(LANES & constant(LOWER)))), GFNI)
    assert [number(graph, op) for op in ("permute-bytes", "affine", "nonzero-bytes-mask")] == [1, 1, 2]


def put(*results: Value) -> Graph:
    return Graph((), tuple(Value("put", (POINTER, each), 8 * at) for at, each in enumerate(results)))


def test_masks_are_united_unless_both_are_wanted_in_general_registers() -> None:
    one, other = unite(LANES), unite(parameter(2, 8))
    for results in ((one | other,), (one, other, one | other), (one + BOARD, one | other)):
        assert number(reduce_lanes(put(*results), GFNI), "or-masks") == 1
    assert number(reduce_lanes(put(one + BOARD, other + BOARD, one | other), GFNI), "or-masks") == 0


def test_masks_are_stored_from_mask_registers_unless_a_sum_takes_them() -> None:
    one = unite(LANES)
    for results, stored in (((one,), 1), ((one, one + BOARD), 0)):
        graph, _ = select(put(*results), GFNI)
        assert number(graph, "put-mask") == stored


def test_a_board_in_all_lanes_goes_under_a_mask_that_leaves_it_in_some() -> None:
    everywhere = reshaped("broadcast", BOARD, 8)
    for files, outward in (((0x0F0F, ALL ^ 0x0F0F), True), ((0x0F0F, 0xF0F0), False)):
        mask = tuple(files * 4)
        assert (reduce(or_, mask) == ALL) is outward
        graph = simplify(Graph((), (unite(LANES & constant(mask) | everywhere),)))
        assert (graph.results[0].args[0].op == "and") is outward
