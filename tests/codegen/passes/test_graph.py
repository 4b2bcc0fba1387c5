"""The passes over the graph keep what a description computes; what they know of bits is true."""

import operator
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.board import DIR8, EAST, Direction
from setwise.codegen.catalogue import find
from setwise.codegen.ir.bits import demanded, known_zero
from setwise.codegen.ir.graph import Graph, postorder, rewrite
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.values import CompassRay, Lanes, Value, constant, load, parameter
from setwise.codegen.machine.code import Memory, general
from setwise.codegen.passes.expand import expand
from setwise.codegen.passes.select import join_pass, select
from setwise.codegen.passes.simplify import fold, masked_of, simplify
from setwise.codegen.passes.state import Masks, State
from setwise.codegen.passes.trace import trace_pass
from setwise.codegen.targets import TARGETS
from tests.codegen.programs import ALL, COUNTED, PLAIN, Program, Step, oracle, programs, words

MASKS = tuple(Masks(inner, ranks) for inner in (False, True) for ranks in (False, True))

masking = programs(("and", "and", "or", "xor", "not", "copy", *COUNTED))
"""Descriptions with many masks and shifts: what the passes look for."""

anything = programs((*PLAIN, *COUNTED, "not", "copy", "mul"))


def traced(program: Callable[..., tuple[Value, ...]], parameters: int) -> Graph:
    given_ = tuple(parameter(i) for i in range(parameters))
    return Graph(given_, program(*given_))


def plain(graph: Graph, *, rotates: bool = False) -> Graph:
    """The graph in the operations of descriptions; `rotates` makes a rotate of every shift that may be one."""

    def rule(value: Value, _: Value) -> Value:
        args, attr = value.args, value.attr
        if value.op == "load-constant":
            return constant(attr)
        if value.op in ("shl-or-rotl", "low-shl"):
            left = args[0].rotate(attr) if rotates and value.op == "shl-or-rotl" else args[0] << attr
            return left & 0xFFFF_FFFF if value.op == "low-shl" else left
        if value.op == "shr-or-rotr":
            return args[0].rotate(-value.count) if rotates else args[0] >> attr
        if value.op == "andn":
            return ~args[0] & args[1]
        return args[0] + (args[1] << attr) if value.op == "scaled-sum" else value

    return rewrite(graph, rule)


def numbers(graph: Graph, arguments: list[int]) -> list[int]:
    """The number of every value of straight code, in order."""
    return [number for (number,) in evaluate(Graph(graph.parameters, graph.order), arguments)]


def result(graph: Graph, arguments: list[int], *, rotates: bool = False) -> int:
    made = plain(graph, rotates=rotates)
    return int(evaluate(made, arguments[: len(graph.parameters)])[0][0])


arguments_ = st.lists(words, min_size=4, max_size=4)


# -- what is known of bits


@given(anything | masking, arguments_)
def test_known_zero_bits_are_zero(program: Program, arguments: list[int]) -> None:
    graph = traced(program, program.parameters)
    known: dict[Value, Lanes] = {}
    for value, number in zip(graph.order, numbers(graph, arguments[: program.parameters]), strict=True):
        assert not number & known_zero(value, known)[0]


@given(masking, arguments_, st.integers(0, ALL))
def test_known_zero_bits_are_zero_where_shifts_may_be_rotates(
    program: Program, arguments: list[int], choice: int
) -> None:
    """Loose knowledge holds whichever of the shifts are rotates in truth."""
    graph = traced(program, program.parameters)
    rotated = {value for at, value in enumerate(graph.order) if choice >> at & 1}
    now: dict[Value, Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if old in rotated and value.op in ("shl", "shr"):
            value = value.args[0].rotate(value.count if value.op == "shl" else -value.count)
        return now.setdefault(old, value)

    rewrite(graph, rule)
    known: dict[Value, Lanes] = {}
    each = Graph(graph.parameters, tuple(now[value] for value in graph.order))
    for value, (number,) in zip(graph.order, evaluate(each, arguments[: program.parameters]), strict=True):
        assert not number & known_zero(value, known, loose=True)[0]


@given(anything | masking, arguments_, words)
def test_bits_that_nobody_demands_change_nothing(program: Program, arguments: list[int], noise: int) -> None:
    """All of them at once; only what is known to be zero must stay so, for others rely on it."""
    graph = traced(program, program.parameters)
    wanted = demanded(graph)
    known: dict[Value, Lanes] = {}

    def disturbed(value: Value, old: Value) -> Value:
        unseen = noise & ~wanted[old][0] & ~known_zero(old, known)[0] & ALL
        return value if value.constant is not None else Value("xor", (value, constant(unseen)))

    changed = Graph(graph.parameters, rewrite(graph, disturbed).results)
    assert result(changed, arguments) == result(graph, arguments)


# -- algebra and selection


@settings(max_examples=300)
@given(masking | anything, arguments_, st.booleans())
@example(
    # The mask of the first and is what makes the second within it: it must not be dropped for its own sake.
    Program(2, (Step("and", 0, 0, 1, 0, False), Step("and", 2, 1, 0, 0, False), Step("and", 3, 2, 0, 0, False))),
    [ALL, ALL, 0, 0],
    False,
)
def test_algebra_keeps_the_function(program: Program, arguments: list[int], loose: bool) -> None:
    expected = oracle(program, arguments[: program.parameters])
    graph = traced(program, program.parameters)
    assert result(graph, arguments) == expected
    simpler = simplify(graph, loose=loose)
    assert result(simpler, arguments) == expected
    shorter, longer = (sum(value.constant is None for value in postorder(each.results)) for each in (simpler, graph))
    assert shorter <= longer


@given(masking | anything, st.booleans())
@example(  # dropping a mask leaves shifts of which nothing remains
    Program(1, (Step("step", 0, 0, 0, 6, False), Step("shl", 1, 0, 0, 38, False), Step("copy", 2, 0, 0, 0, False))),
    False,
)
def test_algebra_leaves_nothing_to_fold(program: Program, moves_masks: bool) -> None:
    graph = simplify(expand(traced(program, program.parameters), Masks()), moves_masks=moves_masks)
    assert all(fold(value) is value for value in graph.order)


@settings(max_examples=300)
@given(masking | anything, arguments_, st.booleans(), st.sampled_from(("x86-64", "bmi2")))
def test_selection_keeps_the_function(program: Program, arguments: list[int], loose: bool, isa: str) -> None:
    """A shift that may be a rotate gives the same result as either."""
    selected, _ = select(simplify(traced(program, program.parameters), loose=loose), TARGETS[isa])
    expected = oracle(program, arguments[: program.parameters])
    assert result(selected, arguments) == result(selected, arguments, rotates=True) == expected


@pytest.mark.parametrize("turned", [False, True])
def test_a_part_of_a_union_that_nobody_sees_vanishes(turned: bool) -> None:
    """As the seventh cycle of a fill does, whose last rank the step into the attacks throws out of the board."""
    one, other = parameter(0), parameter(1)
    last_rank = other << 56
    union = last_rank | one if turned else one | last_rank
    made = simplify(Graph((one, other), (union << 8,)))
    assert "or" not in [value.op for value in made.order]
    seen = simplify(Graph((one, other), (union << 7,)))
    assert "or" in [value.op for value in seen.order]


def test_a_mask_serves_all_uses_of_a_step() -> None:
    """It clears the propagator only if no other use needs the step itself."""
    x, once = parameter(0), parameter(1)
    step = CompassRay((EAST,)).step(x)
    for results, masks in (((step & once, step | once), 1), ((step & once, step), 1), ((step & once, step & x), 2)):
        after = expand(Graph((x, once), results), Masks())
        assert sum(masked_of(value)[1] is not None for value in after.order) == masks


def test_shifts_do_become_rotates() -> None:
    """Else the tests of them would test nothing."""
    a, b = parameter(0), parameter(1)
    masked = (a << 8) & (b & (ALL ^ 0xFF))
    selected, _ = select(Graph((a, b), (masked,)), TARGETS["bmi2"])
    assert any(value.op == "shl-or-rotl" for value in postorder(selected.results))
    bare, _ = select(Graph((a, b), ((a << 8) & b,)), TARGETS["bmi2"])
    assert not any(value.op == "shl-or-rotl" for value in postorder(bare.results))


# -- rays

Fill = Callable[[CompassRay, Value, Value], Value]


def _by_graph(fill: Fill, direction: Direction, masks: Masks, boards: list[int]) -> set[int]:
    """The fill as graph, at every station where its function should be the same."""
    expanded = expand(traced(lambda gen, pro: (fill(CompassRay((direction,)), gen, pro),), 2), masks)
    simpler = simplify(expanded, loose=masks.ranks)
    selected, _ = select(simpler, TARGETS["bmi2"])
    return {
        result(expanded, boards),
        result(simpler, boards),
        result(selected, boards),
        result(selected, boards, rotates=True),
    }


def _on_constants(fill: Fill, direction: Direction, boards: list[int]) -> int:
    return fill(CompassRay((direction,)), constant(boards[0]), constant(boards[1])).number


_ALONE = ("path alone", "attacks' path alone", "run alone")


@st.composite
def fills(draw: st.DrawFn) -> tuple[tuple[str, int], ...]:
    """A random fill: floods by runs and by paths, bare steps among them."""
    kinds = st.sampled_from(
        ("flood by run", "flood by path", "far by path", "step", "meet", "met", "turn", "both", *_ALONE)
    )
    return tuple(draw(st.lists(st.tuples(kinds, st.integers(1, 7)), min_size=1, max_size=6)))


def _fill(moves: tuple[tuple[str, int], ...]) -> Fill:
    def fill(ray: CompassRay, gen: Value, pro: Value) -> Value:
        for kind, n in moves:
            if kind == "flood by run":
                gen |= ray.run(pro, n) & ray.step(gen, n)
            elif kind == "flood by path":
                gen |= ray.step(gen) & ray.path(pro)
            elif kind == "far by path":
                gen |= ray.step(gen, n) & ray.path(pro)
            elif kind == "step":
                gen = ray.step(gen, n)
            elif kind == "meet":
                gen &= ray.step(pro, n)
            elif kind == "met":
                gen ^= ray.step(gen, n) & ray.step(pro, n)
            elif kind == "both":
                back = ray.opposite
                gen |= ray.run(pro, n) & ray.step(gen, n) | back.run(pro, n) & back.step(gen, n)
            elif kind in _ALONE:
                pro |= gen
                gen = ray.run(pro, n) if kind == "run alone" else ray.path(pro, attacks="attacks" in kind)
            else:
                ray = ray.opposite
        return gen

    return fill


@settings(max_examples=400)
@example((("both", 3),), DIR8[1], Masks(), 1, ALL)
@example((("path alone", 1),), DIR8[7], Masks(), 1, ALL)
@example((("attacks' path alone", 1),), DIR8[1], Masks(inner=True), 1, ALL)
@example((("run alone", 2), ("step", 1)), DIR8[7], Masks(), 1, ALL)
@given(fills(), st.sampled_from(DIR8), st.sampled_from(MASKS), words, words)
def test_random_fills(
    moves: tuple[tuple[str, int], ...], direction: Direction, masks: Masks, gen: int, pro: int
) -> None:
    fill = _fill(moves)
    assert _by_graph(fill, direction, masks, [gen, pro]) == {_on_constants(fill, direction, [gen, pro])}


@pytest.mark.parametrize("dir8", range(8))
def test_constants_go_along_a_ray_of_the_run(dir8: int) -> None:
    def describe(number: Value, pro: Value) -> tuple[Value, ...]:
        ray = RuntimeRay.of(number)
        all_squares, some = constant(ALL), constant(0x0123_4567_89AB_CDEF)
        return ray.path(all_squares), ray.run(all_squares, 3), ray.step(some, 5), ray.step(some) & all_squares

    graph = traced(describe, 2)
    for masks in MASKS:
        assert evaluate(simplify(expand(graph, masks)), (dir8, 0)) == evaluate(graph, (dir8, 0))


def test_stages_in_turn_are_the_whole() -> None:
    """A routine on arrays, whose loops are lowered apart, is the graph of its description; its last loop is one."""
    routine = find("sliders.union.batch")
    first, second = (trace_pass(State(routine, Layout(4, batched=True), each)) for each in routine.descriptions[:2])
    assert len(first.before) == 1
    assert first.graph is second.graph
    joined = join_pass(first).graph
    whole = Graph(joined.parameters, routine.descriptions[0](first.layout, *joined.parameters))
    assert joined.shape == whole.shape
    assert (joined.depth, len(joined.order)) == (whole.depth, len(whole.order))
    behind = first.graph.depth_after(first.before[0].depth)
    assert behind == whole.depth


# -- what a description may not do


@pytest.mark.parametrize("number", [1.5, "1", None])
def test_what_is_no_whole_number_goes_with_no_board(number: object) -> None:
    for operation in (operator.and_, operator.lshift):
        with pytest.raises(TypeError, match="integer"):
            operation(parameter(0), number)


def test_what_of_an_index_is_a_number_is_part_of_the_address() -> None:
    pointer, index = parameter(0), parameter(1)
    moved = Graph(
        (pointer, index), (load(pointer, index + 3), load(pointer, index - 2), load(pointer, index + (1 << 40)))
    )
    near, below, far = select(moved, TARGETS["bmi2"])[0].results
    assert (near.args, near.attr) == ((pointer, index), 24)
    assert (below.args, below.attr) == ((pointer, index), -16)
    assert (far.args[1].op, far.attr) == ("add", 0)
    place = TARGETS["bmi2"].rows_for(below)[0].words[1]
    rax, rcx, rdx = map(general, ("rax", "rcx", "rdx"))
    assert place.make(below, rax, (rcx, rdx)) == Memory(64, rcx, rdx, 8, -16)
