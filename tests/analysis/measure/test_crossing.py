"""Boards with so many pieces, the code that is timed on them, and whose figure is whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_

import pytest

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors import Processor, processor
from setwise.analysis.measure import crossing
from setwise.analysis.measure.compilers import FOR_SCALE, MAGICS, Compiled, Compiler
from setwise.analysis.measure.crossing import PIECES, ROUTINES, Point, measure, positions
from setwise.analysis.measure.rivals import rivals_of, runs_right
from setwise.analysis.measure.subjects import Subject, arguments_for, subject
from setwise.analysis.measure.trials import OURS, Timing
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from tests.conftest import require_tool

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")


def boards(name: str, pieces: int) -> list[dict[str, int]]:
    names = [parameter.name for parameter in find(name).contract.parameters if parameter.kind != "results"]
    return [dict(zip(names, words, strict=True)) for words in positions(names, pieces, 64)]


@pytest.mark.parametrize("name", ["sliders.union", "sliders.sides", "side.nested.white", "leapers.kings"])
def test_so_many_pieces_stand_on_squares_of_their_own(name: str) -> None:
    for pieces in PIECES:
        for board in boards(name, pieces):
            occupied = board.pop("occupied", (1 << 64) - 1)
            sliders = 0
            for kind in ("rooks", "bishops", "queens"):
                for side in ("", "white_", "black_"):
                    sliders |= board.get(side + kind, 0)
            kinds = [sliders, *(board.get(kind, 0) for kind in ("knights", "kings", "pawns"))]
            assert (sliders or board["kings"]).bit_count() == pieces
            assert sliders & ~occupied == 0
            assert sum(map(int.bit_count, kinds)) == reduce(or_, kinds).bit_count()


def test_the_first_board_has_one_piece_more_each_time() -> None:
    first = [boards("sliders.union", pieces)[0] for pieces in PIECES]
    looked_up = [board["rooks"].bit_count() + board["bishops"].bit_count() for board in first]
    assert looked_up == [1, 2, 4, 5, 6, 7, 8, 10, 11, 12]
    sides = boards("sliders.sides", 5)[0]
    assert (sides["white_rooks"] | sides["white_bishops"]).bit_count() == 3


def test_cases_are_given_as_they_are() -> None:
    kernel = lower(find("leapers.double-pushes.white"), "x86-64", "sysv")
    one = replace(subject(kernel), cases=((1, 2), (4, 5)))
    assert one.modes == ("chained", "independent", "mixed")
    assert arguments_for(one, "mixed").words == (1, 2, 4, 5)
    assert arguments_for(one, "chained").words == (1, 2)


def made(kernel: Kernel, of: Kernel, kind: str) -> Compiled:
    """A kernel's bytes as if a compiler had made them."""
    return Compiled(kernel.name, kernel.target.name, 1, kind, Compiler("gcc", "12"), (), binary_of(of))


@runs
@pytest.mark.parametrize("on", [None, processor("zen4")], ids=["unknown", "known"])
def test_figures_are_of_whom_they_are_said_to_be(on: Processor | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def rivals(kernels: Sequence[Kernel], exports: bool) -> list[tuple[Compiled, ...]]:
        assert not exports
        return [(made(each, kernels[0], "plain"), made(each, kernels[0], "look-up")) for each in kernels]

    def bench(subjects: Sequence[Subject], *_: object) -> list[Timing]:
        number = [100.0 * (FOR_SCALE in one.maker) + one.cases[0][0].bit_count() for one in subjects]
        return [
            Timing(one.measurand(mode), median, median, 0, 1, 1, 1, 1)
            for one, median in zip(subjects, number, strict=True)
            for mode in one.modes
        ]

    monkeypatch.setattr(crossing, "rivals_of", rivals)
    monkeypatch.setattr(crossing, "positions", partial(positions, number=64))
    monkeypatch.setattr(crossing, "bench", bench)
    kept: list[Sequence[Point]] = []
    measured = partial(measure, lambda kernel: kernel.target.name, on, keep=kept.append, progress=lambda _: None)
    points = measured((), patience=1.0, routines=["leapers.knights"])
    for point in points:
        assert point.median == (100 + point.pieces if FOR_SCALE in point.maker else 5)
        assert bool(point.pieces) == (FOR_SCALE in point.maker)
        assert point.maker != OURS or point.fingerprint == point.isa
    assert any(point.maker.startswith(f"{OURS} ") for point in points) == (on is not None)
    assert sum(FOR_SCALE in point.maker and point.isa == "x86-64" for point in points) == 3 * len(PIECES)
    assert kept == [points]
    monkeypatch.delattr(crossing, "bench")
    assert measured(points, patience=1.0, routines=["leapers.knights"]) == points  # nothing is timed again
    with pytest.raises(NameError):
        measured([replace(points[-1], fingerprint="other"), *points[:-1]], patience=1.0, routines=["leapers.knights"])


@runs
def test_wrong_code_is_not_timed() -> None:
    knights, kings = (lower(find(name), "x86-64", "sysv") for name in ("leapers.knights", "leapers.kings"))
    rows = positions(["knights"], 3, 64)
    runs_right(made(knights, knights, "plain"), knights, rows)
    with pytest.raises(ValueError, match=r"leapers.knights by gcc \(plain\) is wrong: "):
        runs_right(made(knights, kings, "plain"), knights, rows)


@pytest.mark.skipif(bool(missing(TARGETS["bmi2"])), reason="not run: this processor lacks BMI2")
@pytest.mark.slow
@pytest.mark.parametrize(("family", "names"), [("gcc", ROUTINES[::2]), ("clang-19", ROUTINES[1::2])])
def test_tables_attack_what_the_ray_walk_attacks(family: str, names: Sequence[str]) -> None:
    require_tool(family)
    kernels = [lower(find(name), isa, "sysv") for name in names for isa in ("x86-64", "bmi2")]
    found: set[tuple[str, str, str]] = set()
    for kernel, functions in zip(kernels, rivals_of(kernels, [Compiler(family, "")], exports=False), strict=True):
        rows = boards(kernel.name, 6)
        for one in functions:
            assert one.binary is not None, one.reason
            runs_right(one, kernel, [tuple(board.values()) for board in rows])
            found.add((one.routine, one.isa, one.kind))
    tables = [name for name in names if "pawns" not in name and "pushes" not in name]
    assert {key for key in found if FOR_SCALE in key[2]} == {
        (name, isa, kind)
        for name in tables
        for isa, kind in (("x86-64", MAGICS), ("bmi2", FOR_SCALE), ("bmi2", MAGICS))
    }
