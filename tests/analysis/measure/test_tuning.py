"""Which variant is found to be the fastest, with figures that are no timings: a cycle for each byte of code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as replace_row

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors import PROCESSORS, processor
from setwise.analysis.cost.processors.tuned import Tuned, by_routine
from setwise.analysis.measure import fields, tuning
from setwise.analysis.measure.fields import field_of, sets_here
from setwise.analysis.measure.objective import digest_of, kernel_of, objectives, tuned
from setwise.analysis.measure.rivals import judge_binary
from setwise.analysis.measure.subjects import Subject
from setwise.analysis.measure.trials import Timing
from setwise.analysis.measure.tuning import tune
from setwise.analysis.proof.prover import Prover
from setwise.codegen.catalogue import find
from setwise.codegen.offers import BY_LOT, offered_as
from setwise.codegen.run.executable import runnable
from tests.analysis.measure.test_fastest import as_long_as_code

pytestmark = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
ZEN3 = processor("zen3")
EAST = "dumb7.occluded.east"
ARRAYS = "kogge-stone.attacks.sout.batch"


def found(names: Sequence[str], before: Sequence[Tuned] = ()) -> list[Tuned]:
    shown: list[Sequence[Tuned]] = []
    rows = tune(names, ZEN3, before, shown.append, lambda _: None, 1.0)
    assert not shown or shown[-1] == rows
    assert {row.name for row in rows} == {*names}
    return rows


def test_the_least_of_all_and_of_those_by_lot_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "bench", as_long_as_code)
    rows = found([EAST])
    assert {row.isa for row in rows} == {*sets_here(EAST)}
    for row in rows:
        least = min(len(each.binary.text) for each in field_of(EAST, ZEN3, (row.isa,)).ours)
        kernel = offered_as(row.variant, find(EAST), row.isa)
        assert digest_of(binary_of(kernel)) == row.digest
        assert row.cycles <= 1.01 * (least + 1)  # by the second argument
        usual = kernel_of(row.objective, ZEN3, find(EAST), (row.isa,))
        assert (row.forecast == "") == (usual == kernel)
    monkeypatch.setattr(fields, "bench", None)  # what was found among the same code stays
    assert found([EAST], rows) == rows


def test_orders_by_lot_are_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_lot_is_best(subjects: Sequence[Subject], *how: Any, **more: Any) -> list[Timing]:
        timings = as_long_as_code(subjects, *how, **more)
        return [each if each.measurand.maker[-2:] != "-7" else replace(each, median=1) for each in timings]

    monkeypatch.setattr(fields, "bench", by_lot_is_best)
    assert {row.variant.rpartition("-")[2] for row in found([EAST])} == {"7"}


@pytest.mark.parametrize(("name", "sets"), [(EAST, ("x86-64", "bmi2")), (ARRAYS, ("bmi2", "sse2"))])
def test_of_several_sets_the_fastest_is_taken_where_each_was_timed(
    name: str, sets: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    routine = find(name)
    monkeypatch.setattr(fields, "bench", as_long_as_code)
    monkeypatch.setattr(tuning, "sets_here", lambda _: sets)
    rows = found([name])
    assert [(row.isa, row.objective) for row in rows] == [(isa, each) for isa in sets for each in objectives(routine)]
    here = replace(ZEN3, tuned=by_routine(rows))
    for objective in ("latency", "throughput"):
        asked = [row for row in rows if row.objective == objective] or rows  # of arrays the same: no call waits
        for row in asked:
            assert digest_of(binary_of(kernel_of(objective, here, routine, (row.isa,)))) == row.digest
        least = min(asked, key=lambda row: row.cycles)
        taken = kernel_of(objective, here, routine, sets)
        assert digest_of(binary_of(taken)) == least.digest
        assert taken.target.name == least.isa
        assert tuned(objective, here, routine, (*sets, "avx2")) is None  # which may be faster
    together = [replace_row(row, sets=sets) for row in rows[: len(objectives(routine))]]  # timed beside each other
    here = replace(ZEN3, tuned=by_routine(together))
    assert kernel_of("throughput", here, routine, sets).target.name == sets[0]
    monkeypatch.setattr(fields, "bench", None)  # what was found among the same code stays
    assert found([name], rows) == rows


def test_where_no_moment_was_quiet_there_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "bench", lambda *_, **__: [])
    assert tune([EAST], ZEN3, (), lambda _: None, lambda _: None, 1.0) == []


STANDING = [(on, row) for on in PROCESSORS for rows in on.tuned.values() for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_what_stands_is_made_of_the_same_code_and_right(part: int) -> None:
    """Variants that are offered are proved by other tests, what compilers are raced with when it is measured."""
    assert STANDING
    for on, row in STANDING[part::4]:
        kernel = tuned(row.objective, on, find(row.name), (row.isa,))
        assert kernel is not None, f"{row.name} for {row.objective}: setwise report --measure tuned finds it anew"
        if BY_LOT.fullmatch(row.variant):
            assert judge_binary(binary_of(kernel), kernel, Prover(), 30.0).right, row
