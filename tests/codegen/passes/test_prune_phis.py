"""Regions carry nothing that nobody reads, and nothing that stays as it is."""

from collections.abc import Callable

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.ir.control import nonzero, repeat, switch, when
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Region, Value, parameter, store
from setwise.codegen.passes.prune_phis import prune_phis


def carried(describe: Callable[..., tuple[Value, ...]]) -> tuple[Graph, dict[str, int]]:
    """The graph that is left, which gives what it gave, and how many values each kind of region still carries."""
    given = tuple(parameter(i) for i in range(3))
    graph = Graph(given, describe(*given))
    left = prune_phis(graph)
    for case in ((1, 2, 3), (0, 5, 9), (6, 0, 1)):
        assert evaluate(left, case) == evaluate(graph, case)
    regions: dict[Region, None] = {value.region: None for value in left.order if value.region is not None}
    return left, {region.kind: len(region.inits) for region in regions}


def test_what_nobody_reads_is_not_carried() -> None:
    left, kinds = carried(lambda a, b, c: repeat(3, lambda a, b: (a << 1, b + c), a, b)[:1])
    assert kinds == {"loop": 2}  # the counter besides
    assert left.parameters[2] not in left.users or not left.users[left.parameters[2]]


def test_what_the_body_reads_of_the_last_round_is_carried() -> None:
    assert carried(lambda a, b, c: repeat(3, lambda a, b: (a + b, b << 1), a, b)[:1])[1] == {"loop": 3}


def test_what_stays_is_not_carried() -> None:
    assert carried(lambda a, b, c: repeat(3, lambda a, b: (a + b, b), a, b))[1] == {"loop": 2}
    assert carried(lambda a, b, c: when(nonzero(c), lambda a, b: (a, b + a), a, b))[1] == {"when": 1}
    bodies = (lambda a, b: (a + 1, b), lambda a, b: (a ^ b, b))
    assert carried(lambda a, b, c: switch(c & 1, bodies, a, b, falls=True))[1] == {"switch": 1}


def test_what_writes_memory_stays() -> None:
    """The value that it carries stays as it is, but without it nothing would lead to the region."""
    pointer, index, board = (parameter(i) for i in range(3))
    writing = when(nonzero(board), lambda board: (board, store(pointer, index, board)), board)
    left = prune_phis(Graph((pointer, index, board), writing))
    assert [region.effects[0][0].op for region in {v.region for v in left.order} if region] == ["put-entry"]


def test_what_one_body_changes_is_carried() -> None:
    bodies = (lambda a, b: (a + b, b), lambda a, b: (a, b + 1))
    assert carried(lambda a, b, c: switch(c & 1, bodies, a, b))[1] == {"switch": 2}


def test_the_last_body_leaves_as_it_came_what_nobody_reads() -> None:
    bodies = (lambda a, b: (a + b, b & 0xFF), lambda a, b: (a ^ b, b & 0xF))
    left, kinds = carried(lambda a, b, c: switch(c & 1, bodies, a, b, falls=True)[:1])
    assert kinds == {"switch": 2}
    masks = {value.constant for value in left.order} & {(0xFF,), (0xF,)}
    assert masks == {(0xFF,)}


def test_what_a_body_reads_of_before_and_nobody_after_is_not_carried() -> None:
    bodies = (lambda a, b: (a + b, b << 1), lambda a, b: (a ^ b, b))
    assert carried(lambda a, b, c: switch(c & 1, bodies, a, b)[:1])[1] == {"switch": 1}
    assert carried(lambda a, b, c: when(nonzero(c), *bodies[:1], a, b)[:1])[1] == {"when": 1}


def test_regions_in_regions() -> None:
    def outer(a: Value, b: Value) -> tuple[Value, ...]:
        inner = when(nonzero(a & 1), lambda x, y: (x + b, y ^ x), a, b)
        return inner[0], b

    assert carried(lambda a, b, c: repeat(2, outer, a, b)[:1])[1] == {"loop": 2, "when": 1}


def test_a_graph_without_such_stays_the_same() -> None:
    given = (parameter(0),)
    graph = Graph(given, repeat(3, lambda a: (a + 1,), *given))
    assert prune_phis(graph) is graph
