"""Whole sides with their leapers: how few instructions, and what they give in positions of games."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import setwise
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.board import ALL, DIR8, NOEA, NORT
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.values import CompassRay, parameter
from setwise.codegen.lower import lower
from setwise.codegen.passes.expand import expand
from setwise.codegen.passes.simplify import join_steps
from setwise.codegen.passes.state import Masks
from tests.conftest import few, require_module, runs

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "engine-authors.md"
POSITIONS = ROOT / "tests" / "data" / "positions.fen"


QUICK = ("side.union.white", "avx2"), ("side.union.black", "avx512"), ("leapers.knights", "x86-64")


MOST = {
    ("side.nested", "gfni"): 53,
    ("side.nested", "avx512"): 62,
    ("sliders.sides", "avx512"): 33,
    ("side.union-knights", "gfni"): 24,
    ("side.union-knights", "avx512"): 25,
    ("side.union", "gfni"): 28,
    ("side.union", "avx512"): 30,
    ("side.pieces", "gfni"): 55,
    ("side.pieces", "avx512"): 56,
    ("side.twice", "gfni"): 37,
    ("side.twice", "avx512"): 49,
    ("side.nested-three", "gfni"): 35,
    ("side.nested-three", "avx512"): 39,
    ("side.nested-five", "gfni"): 58,
    ("side.threats", "bmi2"): 247,
    ("side.threats", "sse2"): 223,
}
"""The most instructions that kernels of both colors may have."""

ALL_SLIDERS = "`sliders.sides", "`sliders.counts", "`sliders.mobility"


def table() -> Iterator[tuple[str, str, int]]:
    """Routines, instruction sets and instructions, as the page lists them; two numbers are two colors'."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text("utf-8").splitlines()]
    head = next(row for row in rows if row[:2] == ["routine", "gives"])
    for named, _, *cells in (row for row in rows if row and row[0].startswith(("`side.", "`leapers.", *ALL_SLIDERS))):
        first, *others = re.findall("`([^`]+)`", named)
        names = (first, *(first.rpartition(".")[0] + other for other in others))
        for isa, cell in zip(head[2:], cells, strict=True):
            each = list(map(int, cell.split(", ")))
            yield from ((name, isa, most) for name, most in zip(names, each * len(names), strict=False))


def test_the_table_has_every_routine() -> None:
    families = ("side", "leapers")
    listed = {(name, isa) for name, isa, _ in table() if not name.startswith("sliders")}
    assert listed == {(r.name, isa) for r in catalogue().values() if r.family in families for isa in r.isas}


@pytest.mark.parametrize(
    ("name", "isa", "number"),
    [pytest.param(*row, marks=[] if row[:2] in QUICK else [pytest.mark.slow]) for row in table()],
)
def test_the_table_has_the_instructions_of_each_kernel(name: str, isa: str, number: int) -> None:
    assert count(binary_of(lower(find(name), isa))).instructions == number


@pytest.mark.parametrize(("form", "isa"), few(MOST, 14))
def test_lanes_spare_instructions(form: str, isa: str) -> None:
    for name in (form,) if form in catalogue() else (f"{form}.white", f"{form}.black"):
        assert count(binary_of(lower(find(name), isa))).instructions <= MOST[form, isa]


def test_two_steps_that_are_united_become_one() -> None:
    one, other = parameter(0), parameter(1)
    ray = CompassRay((NOEA,))

    def shifts(*results: setwise.Value) -> int:
        graph = expand(Graph((one, other), results), Masks())
        return sum(value.op == "shl" for value in graph.order)

    first, second = ray.step(one), ray.step(other)
    assert shifts(first | second) == 1
    assert shifts(first | second, first) == 2  # wanted for itself
    assert shifts(first | CompassRay((NORT,)).step(other)) == shifts(first | ray.step(other, 2)) == 2


def test_boards_that_take_one_step_are_united_before_it_though_one_is_moved_for_itself() -> None:
    one, other, third = parameter(0), parameter(1), parameter(2)
    ray = CompassRay((NOEA,))
    moved = ray.step(one)
    before = Graph((one, other, third), (moved, moved | third | ray.step(other) | CompassRay((NORT,)).step(one)))
    after = join_steps(before)
    assert sorted(len(value.args[0].args) for value in after.order if value.op == "step") == [0, 0, 2]
    expanded = [expand(graph, Masks()) for graph in (before, after)]
    for words in ((1 << 63, 1, 2), (0x0F0F << 24, 0xFF << 40, 0), (ALL, 0, 0)):
        assert evaluate(expanded[0], words) == evaluate(expanded[1], words)


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_a_board_in_the_lowest_lanes_needs_a_mask_if_they_fill_no_register(lanes: int) -> None:
    board = parameter(0)
    found = Layout(8, both_sides=True).within(CompassRay(DIR8), board, DIR8[:lanes])
    assert (found.op == "extended") is (lanes != 3)
    assert evaluate(Graph((board,), (found,)), [5]) == ((5,) * lanes + (0,) * (8 - lanes),)


@runs
def test_positions_are_attacked_as_python_chess_says() -> None:
    chess = require_module("chess")
    fens = [line for line in POSITIONS.read_text().splitlines() if line and not line.startswith("#")]
    for fen in fens[:20]:
        board = chess.Board(fen)
        for color in (chess.WHITE, chess.BLACK):
            own = board.occupied_co[color]
            expected = [
                setwise.union(board.attacks_mask(square) for square in chess.scan_forward(own & kinds))
                if own & kinds
                else 0
                for kinds in (board.knights, ~(board.kings | board.pawns), own)
            ]
            straight, diagonal = (board.rooks | board.queens) & own, (board.bishops | board.queens) & own
            knights, kings, pawns = (kinds & own for kinds in (board.knights, board.kings, board.pawns))
            name = "white" if color else "black"
            rooks, bishops, queens = (
                sum((board.attacks_mask(square) & ~own).bit_count() for square in chess.scan_forward(kinds & own))
                for kinds in (board.rooks, board.bishops, board.queens)
            )
            rest = ALL & ~own, board.occupied
            assert setwise.kernel("sliders.counts")(straight, diagonal, *rest) == rooks + bishops + queens, fen
            apart = setwise.kernel("sliders.mobility")(board.rooks & own, board.bishops & own, *rest)
            assert apart == (rooks, bishops), fen
            assert setwise.kernel("leapers.knights")(knights) == expected[0]
            assert setwise.kernel("side.union-knights")(straight, diagonal, knights, board.occupied) == expected[1]
            men = (straight, diagonal, knights, kings, pawns, board.occupied)
            assert setwise.kernel(f"side.union.{name}")(*men) == expected[2], fen
            # More often than once: by two pieces, for none attacks a square twice.
            by_square = [board.attackers_mask(color, square).bit_count() for square in chess.SQUARES]
            twice = sum(1 << square for square, attackers in enumerate(by_square) if attackers > 1)
            assert setwise.kernel(f"side.twice.{name}")(*men) == (expected[2], twice), fen
