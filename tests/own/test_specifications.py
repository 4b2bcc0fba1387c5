"""What a routine of one's own is held to: words, the ray-walk, the catalogue, another description."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Bound, Dir8, Empty, Number, Occupied, Ray, Square, Word
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.lower import lower
from setwise.codegen.own.user_files import routines_named


def kinds(routine: setwise.OwnRoutine | setwise.OneDirection, isa: str = "x86-64") -> set[str]:
    """The statuses of all judges."""
    proofs = routine.prove(isa, abi="sysv")
    return {*(row["status"] for row in proofs), *(row["status"] for row in routine.check(isa, "sysv", quick=True))}


def attacks(ray: Ray, gen: Board, pro: Empty) -> Board:
    """What sliders attack, by parallel prefix."""
    gen |= pro & ray.step(gen)
    gen |= ray.run(pro, 2) & ray.step(gen, 2)
    return ray.step(gen | ray.run(pro, 4) & ray.step(gen, 4))


@pytest.mark.parametrize("isa", ["x86-64", "avx2"])
def test_a_form_of_the_catalogue_for_each_direction(isa: str) -> None:
    mine = setwise.routine(attacks)
    mine.specification("kogge-stone.attacks")
    assert kinds(mine["nort"], isa) == {"proved", "passed"}
    assert kinds(mine["soWe"], isa) == {"proved", "passed"}
    assert "any" not in mine["any"].routine.isas
    if isa == "x86-64":
        assert mine["any"].prove("x86-64", abi="sysv").fine
    else:
        assert mine["rook"].prove("avx2", abi="sysv").fine


def test_a_name_of_the_catalogue() -> None:
    @setwise.routine
    def northward(rooks: Board, empty: Empty) -> Board:
        return attacks(setwise.ray(NORT), rooks, empty)

    northward.specification("push.attacks.nort")
    assert kinds(northward) == {"proved", "passed"}
    northward.specification("push.attacks.sout")
    assert kinds(northward) == {"refuted", "failed"}
    northward.specification("sliders.union")
    assert "takes 3 parameters, not 2" in northward.prove("x86-64")[0]["reason"]
    northward.specification("kogge-stone.attack.nort")
    assert "unknown routine 'kogge-stone.attack.nort': the nearest" in northward.prove("x86-64")[0]["reason"]


def test_two_descriptions_are_the_same_for_all_inputs() -> None:
    @setwise.routine
    def king(kings: Board) -> Board:
        sides = kings | kings.step(EAST) | kings.step(WEST)
        return (sides | sides.step(NORT) | sides.step(SOUT)) & ~kings

    @setwise.routine
    def naive(kings: Board) -> Board:
        found = kings ^ kings
        for square in range(64):
            on = kings >> square & 1
            for file in range(max(square % 8 - 1, 0), min(square % 8 + 2, 8)):
                for rank in range(max(square // 8 - 1, 0), min(square // 8 + 2, 8)):
                    found = found | on << (8 * rank + file)
        return found & ~kings

    king.specification(naive)
    assert kinds(king) == {"proved", "passed"}
    naive.specification(king)  # each held to the other's description, not to what that is held to
    assert kinds(king, "avx2") == {"proved", "passed"}

    wrong = setwise.routine(lambda_free)
    wrong.specification(naive)
    assert kinds(wrong) == {"refuted", "failed"}


def lambda_free(kings: Board) -> Board:
    """A king that goes no way but north."""
    return kings.step(NORT)


def test_a_loop_of_another_description_is_gone_round() -> None:
    @setwise.routine
    def seven(gen: Board, pro: Empty) -> Board:
        return setwise.repeat(7, lambda gen: (gen | gen.step(NORT) & pro,), gen)[0]

    @setwise.routine
    def doubled(gen: Board, pro: Empty) -> Board:
        for n in (1, 2, 4):
            gen, pro = gen | gen << 8 * n & pro, pro & pro << 8 * n
        return gen

    seven.specification(doubled)
    assert kinds(seven) == {"proved", "passed"}
    doubled.specification(seven)
    assert kinds(doubled, "avx512") >= {"proved"}


def test_each_direction_is_held_to_its_own() -> None:
    one, other = setwise.routine(attacks), setwise.routine(attacks)
    one.specification(other)
    assert one["noWe"].prove("x86-64", abi="sysv").fine
    assert one["queen"].prove("avx2", abi="sysv").fine
    assert "attacks.noWe" in str(one["noWe"].routine.contract.specification)
    single = setwise.routine(lambda_free)
    with pytest.raises(ValueError, match="has several directions"):
        single.specification(one) and single.routine


def test_one_that_branches_is_checked_and_not_proved() -> None:
    @setwise.routine
    def lowest(pieces: Board) -> Board:
        return pieces & (pieces ^ pieces - 1)

    @lowest.specification
    def _(pieces: Word) -> Any:
        for square in range(64):
            if pieces >> square & 1:
                return 1 << square
        return 0

    assert lowest.check("x86-64", "sysv", quick=True).fine
    (proof,) = lowest.prove("x86-64", abi="sysv")
    assert proof["status"] == "not proved"
    assert "or run setwise check instead" in proof["reason"]


def test_one_that_indexes_with_a_square_runs_once_for_each() -> None:
    calls = []

    @setwise.routine
    def rank(square: Square, occupied: Occupied) -> Board:
        return setwise.constant(0xFF) << (square & 56) & occupied

    ranks = [0xFF << 8 * (square // 8) for square in range(64)]

    @rank.specification
    def _(square: Word, occupied: Word) -> Word:
        calls.append(square)
        return occupied & ranks[square]

    assert kinds(rank) == {"proved", "passed"}
    assert len(calls) < 1000

    @rank.requires
    def _(square: Word, occupied: Word) -> Word:
        """the square is occupied"""
        return occupied & [1 << at for at in range(64)][square]

    assert kinds(rank) == {"proved", "passed"}
    rank.specification(lambda square, occupied: occupied & (ranks[square] ^ 1 << 3))
    assert kinds(rank) == {"refuted", "failed"}


def test_a_requirement_of_a_ray_holds_in_each_direction() -> None:
    @setwise.routine
    def ahead(ray: Ray, gen: Board, pro: Empty) -> Board:
        return ray.step(gen)

    @ahead.specification
    def _(direction: str, gen: Word, pro: Word) -> Word:
        return setwise.spec.step(direction, gen) & pro

    assert kinds(ahead["nort"]) == {"refuted", "failed"}

    @ahead.requires
    def _(direction: str, gen: Word, pro: Word) -> Word:
        """the next square is empty"""
        return setwise.spec.step(direction, gen) & ~pro == 0

    for direction in ("nort", "vertical", "any"):
        assert kinds(ahead[direction]) == {"proved", "passed"}
    with pytest.raises(ValueError, match="requires the next square is empty"):
        ahead["vertical"].kernel(checked=True)(1 << 8, 1 << 16)


def test_a_flood_of_too_few_rounds_fails_on_a_winding_chain() -> None:
    def near(squares: Board) -> Board:
        return setwise.union(squares.step(direction) for direction in setwise.ROOK)

    @setwise.routine
    def captured(black: Board, white: Board) -> Board:
        free = near(~(black | white)) & black
        return black & ~setwise.repeat(20, lambda free: (free | near(free) & black,), free)[0]

    @captured.specification
    def _(black: Word, white: Word) -> Word:
        free = setwise.spec.step("rook", ~(black | white)) & black
        for _ in range(63):
            free |= setwise.spec.step("rook", free) & black
        return black & ~free

    captured.requires(lambda black, white: black & white == 0)
    assert captured.check("x86-64", "sysv", quick=True)[0]["status"] == "failed"


def test_one_that_goes_on_where_it_cannot_branch_is_not_proved() -> None:
    @setwise.routine
    def nothing(pieces: Board) -> Board:
        return pieces & 0

    @nothing.specification
    def _(pieces: Word) -> Any:
        try:
            return pieces if pieces else 0
        except TypeError:
            return 0

    assert kinds(nothing) == {"not proved", "failed"}


def test_squares_and_directions_are_words_as_boards_are() -> None:
    @setwise.routine
    def not_sout(towards: Dir8) -> Board:
        return (towards ^ 3) - 1 >> 63

    not_sout.specification(lambda towards: (towards ^ 3) - 1 >> 63)
    assert kinds(not_sout) == {"proved", "passed"}
    not_sout.specification(lambda towards: 0 - ((towards ^ 3) - 1 >> 63))
    assert kinds(not_sout) == {"refuted", "failed"}
    not_sout.requires(lambda towards: ((towards ^ 3) - 1 >> 63) - 1)
    assert kinds(not_sout) == {"proved", "passed"}

    @setwise.routine
    def rank(square: Square) -> Board:
        return square >> 3

    ranks = {square: square // 8 for square in range(64)}
    for held_to in (
        lambda square: square // 8,
        lambda square: ranks[square],
        lambda at: (at - at % 8) >> 3,
    ):
        rank.specification(held_to)
        assert kinds(rank) == {"proved", "passed"}
    rank.specification(lambda square: square // 9)
    assert kinds(rank) == {"refuted", "failed"}


def test_a_shift_by_any_number_shifts_everything_out() -> None:
    @setwise.routine
    def nothing(pieces: Board) -> Board:
        return pieces >> (1 << 64) | pieces << 64

    nothing.specification(lambda pieces: pieces >> (1 << 64) | pieces << (1 << 65))
    assert kinds(nothing) == {"proved", "passed"}


def test_one_without_is_not_proved() -> None:
    @setwise.routine
    def nothing_said(pieces: Board) -> Board:
        return pieces << 8

    (proof,) = nothing_said.prove("x86-64", abi="sysv")
    assert "no specification: write one" in proof["reason"]


def test_what_is_required_is_assumed_and_kept_to() -> None:
    @setwise.routine
    def behind(pieces: Board, occupied: Occupied) -> Board:
        return occupied ^ pieces

    behind.specification(lambda pieces, occupied: occupied & ~pieces)
    assert kinds(behind) == {"refuted", "failed"}

    @behind.requires
    def _(pieces: Word, occupied: Word) -> Any:
        """every piece is on an occupied square"""
        return pieces & ~occupied == 0

    assert kinds(behind) == {"proved", "passed"}
    assert "Requires every piece is on an occupied square." in str(behind.kernel().__doc__)
    never = setwise.routine(lambda_free)
    never.specification(lambda kings: kings << 8)
    never.requires(lambda kings: kings > 5)
    never.requires(lambda kings: kings < 3)
    assert "no test case meets the requirements" in never.check("x86-64", "sysv", quick=True)[0]["reason"]
    (proof,) = never.prove("x86-64", abi="sysv")
    assert (proof["status"], proof["reason"][:37]) == ("not proved", "no input meets the requirements: requ")


def test_a_requirement_that_branches_is_kept_to_and_not_assumed() -> None:
    @setwise.routine
    def one_or_none(pieces: Board) -> Board:
        return pieces & pieces - 1

    one_or_none.specification(lambda pieces: 0)
    one_or_none.requires(lambda pieces: pieces == 0 or pieces & pieces - 1 == 0)
    (proof,) = one_or_none.prove("x86-64", abi="sysv")
    assert ": tests a word or indexes with it" in proof["reason"]
    assert one_or_none.check("x86-64", "sysv", quick=True).fine


def test_numbers_have_their_bounds() -> None:
    @setwise.routine
    def shifted(pieces: Board, by: Annotated[Number, Bound(8)], towards: Dir8) -> Board:
        return setwise.ray(towards).step(pieces) & ~(pieces << by)

    @shifted.specification
    def _(pieces: Word, by: Word, towards: Word) -> Word:
        ahead: Word = setwise.spec.at_run_time(setwise.spec.step)(pieces, towards)
        return ahead & ~(pieces << by)

    assert [parameter.below for parameter in shifted.parameters] == [0, 8, 8]
    assert shifted.prove("x86-64", abi="sysv").fine
    with pytest.raises(ValueError, match="by is 8"):
        shifted(1, 8, 0)

    @setwise.routine
    def alone(square: Square) -> Board:
        return setwise.constant(1) << square

    alone.specification(lambda square: (square & 0 | 1) << square)
    assert alone.routine.contract.parameters[0].below == 64
    assert kinds(alone) == {"proved", "passed"}
    assert alone.routine.isas == ("x86-64", "bmi2")


@pytest.mark.parametrize(
    ("direction", "isa"), [("any", "x86-64"), ("any", "bmi2"), ("noWe", "sse2"), ("queen", "avx2")]
)
def test_the_opposite_of_a_ray(direction: str, isa: str) -> None:
    @setwise.routine
    def between(ray: Ray, own: Board, other: Board) -> Board:
        return ray.step(own) & ray.opposite.step(other) | ray.opposite.opposite.step(other, 3)

    @between.specification
    def _(direction: str, own: Word, other: Word) -> Word:
        step, back = setwise.spec.step, setwise.spec.DIR8[setwise.spec.DIR8.index(direction) ^ 4]
        far = step(direction, step(direction, step(direction, other)))
        return step(direction, own) & step(back, other) | far

    assert between[direction].prove(isa, abi="sysv").fine


class Both(NamedTuple):
    left: Board
    right: Board


@setwise.routine
def pair(pawns: Board, targets: Board) -> Both:
    """Captures to either side."""
    return Both(pawns.step(NORT, WEST) & targets, pawns.step(NORT, EAST) & targets)


@pair.specification
def _(pawns: Word, targets: Word) -> tuple[Word, Word]:
    return (pawns & ~setwise.FILE_A) << 7 & targets, (pawns & ~setwise.FILE_H) << 9 & targets


@pytest.mark.parametrize("isa", ["x86-64", "sse2", "avx2"])
def test_several_results_by_their_names(isa: str) -> None:
    assert pair.results == ("left", "right")
    assert kinds(pair, isa) == {"proved", "passed"}


@pytest.mark.parametrize("isa", ["sse2", "avx2"])
def test_several_results_of_several_boards_are_taken_apart(isa: str) -> None:
    given = [0x1100 << at for at in range(7)]
    both = pair.kernel(isa)(np.array(given, np.uint64), setwise.ALL)
    assert both.left.tolist() == [(board & ~setwise.FILE_A) << 7 for board in given]
    assert both.right.tolist() == [(board & ~setwise.FILE_H) << 9 for board in given]


def test_the_shortest_of_several_descriptions_is_taken() -> None:
    @setwise.routine(isas=["avx2", "x86-64"])
    def doubled(pieces: Board) -> Board:
        return pieces.step(NORT) | pieces.step(NORT, NORT) | pieces.step(NORT, NORT, NORT)

    long = doubled.count()["instructions"]

    @doubled.description
    def _(pieces: Board) -> Board:
        once = pieces << 8
        return once | once << 8 | once << 16

    assert doubled.count()["instructions"] <= long
    assert doubled.routine.isas == ("x86-64", "avx2")
    assert len(doubled.routine.descriptions) == 2


def test_a_layout_says_how_rays_lie() -> None:
    @setwise.routine
    def both_sides(layout: setwise.Layout, rooks: Board, empty: Empty) -> Board:
        """Attacks along ranks and files."""
        rays = layout.rays(setwise.ROOK)
        return layout.union(attacks(ray, layout.board(ray, rooks), layout.board(ray, empty)) for ray in rays)

    both_sides.specification("kogge-stone.attacks.rook")
    assert both_sides.prove("avx2", abi="sysv").fine
    assert "x86-64" in both_sides.routine.isas
    task = task_of(lower(both_sides.routine, "avx2"))
    assert task.expected((1, 0)) == (0x102,)


def test_one_that_leads_back_to_itself_is_not_proved(mine: Path) -> None:
    mine.write_text(
        "import setwise\n"
        "@setwise.routine\ndef f(x: setwise.Board) -> setwise.Board: return x\n"
        "f.specification('mine.py:g')\n"
        "@setwise.routine\ndef g(x: setwise.Board) -> setwise.Board: return x\n"
        "g.specification('mine.py:f')\n"
    )
    (routine,) = routines_named("mine.py:f")
    (proof,) = setwise.OneDirection(routine).prove("x86-64", abi="sysv")
    assert proof["status"] == "not proved"
    assert "RecursionError" in proof["reason"]
