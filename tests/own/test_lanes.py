"""Control and tables in lanes: each lane has what it would have alone, on every set with every number of lanes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from operator import or_
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setwise
from setwise import (
    EAST,
    NORT,
    SOUT,
    WEST,
    Board,
    Layout,
    Ray,
    at_least,
    below,
    nonzero,
    spec,
    switch,
    table,
    when,
    while_,
)
from setwise.analysis import api
from setwise.analysis.commands.main import main
from setwise.codegen.board import DIR8
from setwise.codegen.export.names import symbol
from setwise.codegen.ir import control
from setwise.codegen.ir.routine import Routine
from setwise.codegen.ir.values import CompassRay, Value, parameter
from setwise.codegen.kernel import Kernel, widths
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS
from tests.analysis.commands.running import Capture
from tests.codegen.export.sources.exported import RUST, ZIG, C, Compiler, made
from tests.codegen.export.sources.test_compiled import grouped, runs, shared, wrong
from tests.codegen.export.sources.test_javascript import assert_right_under_node
from tests.codegen.judging import assert_right, on_this_processor, stepped
from tests.conftest import few, require_module

ALL = (1 << 64) - 1
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
ADDED = (1 << 40, 0, *PRIMES[2:])


def around(board: Any) -> Any:
    """The squares beside a set, of a description or a specification."""
    if isinstance(board, Value):
        return setwise.union(board.step(way) for way in (NORT, SOUT, EAST, WEST))
    return setwise.union(spec.step(way, board) for way in ("nort", "sout", "east", "west"))


def grown(start: Any, occupied: Any) -> Any:
    """The components that contain a start square, in a specification: none has more than 64 squares."""
    start = start & occupied
    for _ in range(63):
        start = start | around(start) & occupied
    return start


def flooded(start: Value, occupied: Value) -> Value:
    """The same by the squares that are new in each round."""

    def grow(new: Value, flood: Value) -> tuple[Value, ...]:
        new = around(new) & occupied & ~flood
        return new, flood | new

    return while_(lambda new, _: nonzero(new), grow, start & occupied, start & occupied)[1]


@dataclass(frozen=True)
class Described:
    """A routine, and what it gives for integers."""

    routine: Routine
    specification: Callable[..., tuple[int, ...]]


def component(start: Board, occupied: Board) -> Board:
    """Squares of the components that contain a start square."""
    return flooded(start, occupied)


def stable(start: Board, occupied: Board) -> Board:
    """The same, until a round changes nothing."""
    found = while_(
        lambda before, now: nonzero(before ^ now),
        lambda _, now: (now, now | around(now) & occupied),
        0,
        start & occupied,
    )
    return found[1]


def changing(start: Board, occupied: Board) -> Board:
    """The same, until a round has no difference."""

    def grow(_: Value, flood: Value) -> tuple[Value, ...]:
        following = flood | around(flood) & occupied
        return following ^ flood, following

    return while_(lambda changed, _: nonzero(changed), grow, start & occupied, start & occupied)[1]


def rising(start: Board, occupied: Board) -> Board:
    """The same, the next round before the first question."""

    def grow(flood: Value) -> Value:
        beside: Value = around(flood)
        return flood | beside & occupied

    found = while_(
        lambda before, now: nonzero(now ^ before),
        lambda _, now: (now, grow(now)),
        start & occupied,
        grow(start & occupied),
    )
    return found[1]


def joined(board: Board) -> Board:
    """A board and what a table adds to it, until a round changes nothing. A lane that has ended reads entry 0."""
    return while_(
        lambda before, now: nonzero(before ^ now), lambda _, now: (now, now | table(ADDED, now & 7 ^ 1)), 0, board
    )[1]


def resumed(before: Board, now: Board) -> Board:
    """The squares north of a set, until a round changes nothing: none if it starts at the set."""
    return while_(lambda before, now: nonzero(before ^ now), lambda _, now: (now, now | now.step(NORT)), before, now)[1]


def counted(board: Board, added: Board) -> Board:
    """The added number, and one for each square: a round of a lane too many changes it."""
    return while_(lambda left, _: nonzero(left), lambda left, sum_: (left & left - 1, sum_ + 1), board, added)[1]


def halved(board: Board, bound: Board) -> Board:
    """Rounds until a number is small enough."""
    (bound,) = when(below(bound, 1 << 63), lambda x: (x + x,), bound)
    _, rounds = while_(lambda left, _: at_least(left, 5), lambda left, n: (left >> 1, n + 1), board, 0)
    return rounds + bound


def components(board: Board) -> Board:
    """The number of components: a loop in a loop, where an outer lane may have ended."""

    def one(left: Value, found: Value) -> tuple[Value, ...]:
        return left & ~flooded(left & 0 - left, left), found + 1

    return while_(lambda left, _: nonzero(left), one, board, 0)[1]


def chosen(a: Board, b: Board) -> Board:
    """A conditional, a switch with and without falls, and a table whose index is small in some lanes alone."""
    (c,) = when(below(a, 8), lambda x: (x + table(PRIMES, x),), a)
    (c,) = switch(b & 3, [lambda x: (x << 1,), lambda x: (x ^ b,), lambda x: (~x,), lambda x: (x - b,)], c)
    (c,) = switch(a & 3, [lambda x: (x + 1,), lambda x: (x << 2,), lambda x: (x ^ a,), lambda x: (x,)], c, falls=True)
    return c + table(PRIMES, b & 7, size=1)


def _chosen(a: int, b: int) -> int:
    c = a + PRIMES[a] if a < 8 else a
    c = (c << 1, c ^ b, ~c, c - b)[b & 3] & ALL
    for number in range(a & 3, 4):
        c = (c + 1, c << 2, c ^ a, c)[number]
    return c + PRIMES[b & 7]


def _joined(board: int) -> int:
    following = board | ADDED[board & 7 ^ 1]
    return board if following == board else _joined(following)


def _components(board: int) -> int:
    """Squares of each component find the lowest one."""
    lowest = {square: square for square in range(64) if board >> square & 1}

    def find(square: int) -> int:
        return square if lowest[square] == square else find(lowest[square])

    for square in lowest:
        for other in (square - 8, square - 1 if square % 8 else -1):
            if other in lowest:
                one, another = sorted((find(square), find(other)))
                lowest[another] = one
    return sum(lowest[square] == square for square in lowest)


def _halved(board: int, bound: int) -> int:
    rounds = max(board.bit_length() - 3, 0) + (board >> max(board.bit_length() - 3, 0) > 4)
    return rounds + (2 * bound if bound < 1 << 63 else bound)


BATCHED: dict[Callable[..., Value], Callable[..., int]] = {
    component: grown,
    stable: grown,
    changing: grown,
    rising: grown,
    joined: _joined,
    resumed: lambda before, now: now if before == now else spec.occluded("nort", now, ALL),
    counted: lambda board, added: added + board.bit_count(),
    halved: _halved,
    components: _components,
    chosen: _chosen,
}


def described(function: Callable[..., Value]) -> Described:
    """A new routine of a function, which no cache knows."""
    definition = setwise.routine(function)
    # A user's routine, whose name has a colon, is refused if an index is small in some lanes alone.
    routine = replace(definition.routines[0], family=function.__name__)
    return Described(routine, lambda *words: (BATCHED[function](*words) & ALL,))


def kernels(routine: Routine) -> Iterator[Kernel]:
    """The routine's kernels for all its sets, with every number of lanes."""
    for isa in routine.isas:
        for lanes in widths(routine, TARGETS[isa]):
            yield lower(routine, isa, lanes=lanes)


def run(description: Described, kernel: Kernel) -> None:
    """Many random boards, whose lanes end after different numbers of rounds."""
    for seed in range(2):
        ran = stepped if missing(kernel.target) else on_this_processor
        assert_right(ran(description, kernel, Random(seed)))  # type: ignore[arg-type]


@pytest.mark.parametrize("function", few(BATCHED, 5))
def test_each_lane_has_what_it_has_alone(function: Callable[..., Value]) -> None:
    description = described(function)
    assert description.routine.isas == tuple(TARGETS)
    for kernel in kernels(description.routine):
        run(description, kernel)


def test_a_lane_that_is_not_frozen_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "chosen", lambda mask, one, other: one)
    description = described(counted)
    run(description, lower(description.routine, "bmi2"))
    with pytest.raises(AssertionError):
        run(description, lower(description.routine, "avx2"))


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (component, {"x86-64": 22, "bmi2": 19, "sse2": 25, "avx2": 17, "avx512": 15, "gfni": 15}),
        (stable, {"x86-64": 20, "bmi2": 19, "sse2": 23, "avx2": 17, "avx512": 15, "gfni": 15}),
        (changing, {"x86-64": 20, "bmi2": 19, "sse2": 23, "avx2": 17, "avx512": 15, "gfni": 15}),
        (rising, {"x86-64": 34, "bmi2": 32, "sse2": 38, "avx2": 28, "avx512": 23, "gfni": 23}),
    ],
)
def test_a_lane_of_a_flood_keeps_its_squares_by_itself(function: Callable[..., Value], most: dict[str, int]) -> None:
    """No choice is emitted, however the condition says that a round changes nothing."""
    (routine,) = setwise.routine(function).routines
    lengths = {isa: len(lower(routine, isa).code.instructions) for isa in routine.isas}
    assert {isa: length for isa, length in lengths.items() if length > most[isa]} == {}


@setwise.routine
def proved(a: Board, b: Board) -> Board:
    """A conditional, a switch and a table."""
    (c,) = when(nonzero(a & 7), lambda x: (x + b,), a)
    (c,) = switch(b & 1, [lambda x: (x << 1,), lambda x: (x ^ b,)], c)
    return c + table(PRIMES, a & 7)


@proved.specification
def _(a: Any, b: Any) -> Any:
    def either(bit: Any, one: Any, other: Any) -> Any:
        return one & 0 - bit | other & bit - 1

    c = either((0 - (a & 7)) >> 63, a + b, a)
    c = either(b & 1, c ^ b, c << 1)
    entry = a & 0
    for number, prime in enumerate(PRIMES):
        entry = either(((a & 7 ^ number) - 1) >> 63, a & 0 | prime, entry)
    return c + entry


@setwise.routine
def until_dry(ray: Ray, sliders: Board, empty: Board) -> Board:
    """Squares that sliders reach and pass, until a round adds none: sets of directions share registers."""

    def step(new: Value, reached: Value) -> tuple[Value, ...]:
        new = ray.step(new) & empty & ~reached
        return new, reached | new

    return while_(lambda new, _: nonzero(new), step, sliders, sliders)[1]


until_dry.specification(spec.occluded)


@setwise.routine
def in_rays(layout: Layout, sliders: Board, empty: Board) -> Board:
    """Squares that sliders reach, and a1 where they reach another: lanes are directions."""

    def along(ray: CompassRay) -> Value:
        free = layout.board(ray, empty)

        def step(new: Value, reached: Value) -> tuple[Value, ...]:
            new = ray.step(new) & free
            return new, reached | new

        _, reached = while_(lambda new, _: nonzero(new), step, layout.board(ray, sliders), 0)
        return when(nonzero(reached & layout.board(ray, sliders)), lambda x: (x | 1,), reached)[0]

    return layout.union(along(ray) for ray in layout.rays((EAST, WEST, NORT, SOUT)))


@in_rays.specification
def _(sliders: Any, empty: Any) -> Any:
    found = sliders & 0
    for way in ("east", "west", "nort", "sout"):
        reached = spec.occluded(way, spec.step(way, sliders) & empty, empty)
        met = reached & sliders
        found = found | reached | (met | 0 - met) >> 63
    return found


@setwise.routine
def beside_three(layout: Layout, kings: Board) -> Board:
    """Squares that at least three kings attack."""
    return layout.overlap(3, (ray.step(layout.board(ray, kings)) for ray in layout.rays(DIR8)))


@beside_three.specification
def _(kings: Any) -> Any:
    steps = [spec.step(direction.name, kings) for direction in DIR8]
    return reduce(or_, (one & two & three for one, two, three in combinations(steps, 3)))


@pytest.mark.parametrize("isa", ["bmi2", "avx2", "avx512", "gfni"])
def test_squares_of_three_lanes(isa: str) -> None:
    assert beside_three.prove(isa, abi="sysv").fine


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_body_in_a_loop_in_a_loop_is_traced_a_few_times(lanes: int) -> None:
    """Not a few times for every loop around it."""
    traced = []

    def nested(depth: int, left: Value, found: Value) -> tuple[Value, ...]:
        def body(left: Value, found: Value, rounds: Value) -> tuple[Value, ...]:
            return (*nested(depth - 1, left, found), rounds + 1)

        traced.append(depth)
        return while_(lambda left, *_: nonzero(left), body, left, found, 0)[:2] if depth else (left >> 8, found | left)

    nested(6, parameter(0, lanes), parameter(1, lanes))
    assert traced.count(0) <= 2 * 6


@pytest.mark.slow
def test_all_inputs() -> None:
    require_module("bitwuzla")
    along = {routine.direction: routine for routine in until_dry.routines}
    requests = api.requests([*proved.routines, along["noEa"]], abi="sysv")
    requests += api.requests([*in_rays.routines, along["queen"], along["rook"]], "avx512", "sysv")
    proofs = api.prove(requests)
    assert {proof.key: proof.why for proof in proofs if proof.status != "proved"} == {}
    assert {proof.key[1:3] for proof in proofs} >= {(isa, n) for isa in TARGETS for n in TARGETS[isa].widths}


component_ = setwise.routine(component)
component_.specification(grown)
counted_ = setwise.routine(counted)
counted_.specification(lambda board, added: added + spec.population(board))


@pytest.mark.slow
@runs
@pytest.mark.parametrize("compiler", [C[0], C[1], RUST, ZIG])
def test_exports_give_the_same(compiler: Compiler, tmp_path: Path) -> None:
    routines = [*component_.routines, *counted_.routines, *proved.routines]
    functions = {symbol(each): each for routine in routines for each in kernels(routine)}
    for group, flags in grouped(compiler, functions):
        library = made(tmp_path, compiler, group, *shared(compiler, fast=True), *flags)
        assert wrong(library, group) == {}


def test_javascript_gives_the_same(tmp_path: Path) -> None:
    plain = [lower(routine) for each in (component_, counted_, proved) for routine in each.routines]
    assert_right_under_node(plain, tmp_path, 20)


MIXED = """\
import setwise
from setwise import Board, ray

@setwise.routine
def fine(x: Board) -> Board:
    return x << 1

@setwise.routine
def turned(x: Board, y: Board) -> Board:
    return ray(y & 7).step(x)

fine.specification(lambda x: x << 1)
turned.specification(turned)
"""


def test_what_has_no_kernel_is_skipped_and_named(mine: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    mine.write_text(MIXED)
    assert main(["list", "mine.py"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[1:-1] for row in rows] == [list(TARGETS), ["x86-64", "bmi2"]]
    why = (
        "mine.py:10: turned: a ray with a direction known at run time takes one board, not 4 lanes (for avx2, 4 lanes)"
    )
    for command in ("count", "prove", "check"):
        assert main([command, "mine.py", "--isa", "avx2"]) == 0
        assert capsys.readouterr().err == f"cannot be made: mine.py:turned for avx2: {why}\n"
    assert main(["count", "mine.py:turned", "--isa", "avx2"]) == 2
    assert capsys.readouterr().err == f"setwise count: {why}\n"
