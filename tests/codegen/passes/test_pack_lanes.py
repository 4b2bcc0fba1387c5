"""Parts of a union that are computed alike share a register, and what is computed stays the same."""

from collections.abc import Callable
from random import Random

import pytest

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.board import DIR8, NOEA, NORT, NOWE, SOEA, SOWE, Direction
from setwise.codegen.ir.control import repeat
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout, union
from setwise.codegen.ir.values import CompassRay, Value, constant, make, parameter
from setwise.codegen.passes.pack_lanes import pack_lanes

BOARDS = tuple(map(parameter, range(3)))
FOUR, EIGHT = Layout(4), Layout(8, both_sides=True)


def graph(*results: Value) -> Graph:
    return Graph(BOARDS, results)


def widest(graph: Graph) -> int:
    return max(value.lanes for value in graph.order)


def fill(direction: Direction, board: int) -> Value:
    """Attacks of one of the boards, in `STEPS` steps."""
    ray, gen, path = CompassRay((direction,)), BOARDS[board], CompassRay((direction,)).path(~BOARDS[2])
    for _ in range(STEPS - 1):
        gen |= path & ray.step(gen)
    return ray.step(gen)


STEPS = 4
NORTH = fill(NORT, 0)


def drawn(shape: Random, data: Random, depth: int) -> Value:
    """A random value: `shape` decides its operations, `data` its boards, directions, counts and constants."""
    if depth == 0 or shape.random() < 0.1:
        return constant(data.getrandbits(64)) if shape.random() < 0.2 else data.choice(BOARDS)
    ray, n = CompassRay((data.choice(DIR8),)), shape.randrange(1, 4)

    def part() -> Value:
        return drawn(shape, data, depth - 1)

    def either(op: str) -> Value:
        return make(op, *(part(), part())[:: data.choice((1, -1))])

    kinds: tuple[Callable[[], Value], ...] = (
        lambda: either("and"),
        lambda: either("or"),
        lambda: make(shape.choice(("xor", "andn", "add", "sub")), part(), part()),
        lambda: make("select", part(), part(), part()),
        lambda: ray.step(part(), n),
        lambda: ray.run(part(), n),
        lambda: ray.path(part(), attacks=n > 1),
        lambda: make(shape.choice(("shl", "shr")), part(), attr=(data.randrange(1, 64),)),
        lambda: part().popcount(),
    )
    return shape.choice(kinds)()


@pytest.mark.parametrize("layout", [FOUR, EIGHT])
def test_random_unions_stay_what_they_are(layout: Layout) -> None:
    packed = 0
    for seed in range(120):
        shape = Random(f"shape {seed}")
        state, data = shape.getstate(), Random(seed)
        parts = []
        for _ in range(data.choice((2, 3, 4, 5, 8, 9))):
            shape.setstate(state)
            parts.append(drawn(shape, data, 5))
        whole = union([*parts, parts[0] & 1]) if seed % 3 else union(parts)
        if whole.constant is None:
            before = graph(whole & data.choice(BOARDS), *parts[: seed % 2])
            after = pack_lanes(before, layout)
            packed += after is not before
            assert widest(after) <= layout.lanes
            for _ in range(3):
                words = [data.getrandbits(64) for _ in BOARDS]
                assert evaluate(after, words) == evaluate(before, words), seed
    assert packed > 3


def test_fills_of_two_boards_share_registers() -> None:
    """All fills to the left are in one register, and all to the right in another."""
    parts = [fill(way, board) & fill(way.opposite, 1 - board) for way in (NOEA, NOWE) for board in (0, 1)]
    after = pack_lanes(graph(union(parts)), FOUR)
    rays = {value.attr[0].directions for value in after.order if value.op == "step"}
    assert rays == {(NOEA, NOEA, NOWE, NOWE), (SOWE, SOWE, SOEA, SOEA)}
    assert sum(value.op == "step" for value in after.order) == 2 * STEPS


def test_only_fills_to_one_side_share_a_register_without_rotates() -> None:
    both = graph(fill(NOEA, 0) | fill(SOWE, 1))
    assert pack_lanes(both, FOUR) is both
    assert widest(pack_lanes(both, EIGHT)) == 2


@pytest.mark.parametrize(
    "results",
    [
        (BOARDS[0].popcount() | BOARDS[1].popcount(),),  # nothing is computed lane by lane
        (fill(NOEA, 0) & fill(NOWE, 1),),  # no union
        (NORTH | fill(NOEA, 1), NORTH),  # a part is a result, too
        (NORTH | fill(NOEA, 1), NORTH & 1),  # a part has another user
        (repeat(2, lambda board: (board | NORTH | fill(NOEA, 1),), BOARDS[0])[0],),  # a loop
    ],
)
def test_other_parts_stay_apart(results: tuple[Value, ...]) -> None:
    before = graph(*results)
    assert pack_lanes(before, FOUR) is before
