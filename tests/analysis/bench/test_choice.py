"""The choice among variants: rows of the table first, then the least bounds."""

import pytest

from setwise.analysis.bench import choice
from setwise.analysis.bench.choice import TIMED, TimedVariant, kernel_for, score
from setwise.analysis.cost.processors import PROCESSORS, UnknownCost, processor
from setwise.analysis.parallel import silent
from setwise.codegen.catalogue import find
from setwise.codegen.export.names import uses_pext
from setwise.codegen.ir.values import Value
from setwise.codegen.lower import lower
from setwise.codegen.variants import enumerate_variants, variant_named
from tests.codegen.programs import routine
from tests.conftest import few

UNION = find("sliders.union")


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_the_least_bounds_are_taken(objective: str) -> None:
    on, kings = processor("zen3"), find("leapers.kings")
    kernels = list(enumerate_variants(kings, "avx2"))
    scores = [score(kernel, objective, on) for kernel in kernels]
    assert len(set(scores)) > 1
    assert kernel_for(objective, on, kings, ("avx2",), "sysv", None, silent) == kernels[scores.index(min(scores))]


@pytest.mark.slow
def test_size_is_the_shortest_of_all_sets() -> None:
    assert kernel_for("size", None, UNION, ("x86-64", "avx2", "sse2"), "sysv", None, silent) == lower(UNION, "avx2")


def test_size_is_the_shortest_of_all_variants() -> None:
    for isa, variant in (("x86-64", "imul-size"), ("bmi2", "pext-size"), ("avx2", "")):
        kernels = list(enumerate_variants(UNION, isa))
        assert kernel_for("size", None, UNION, (isa,), "sysv", None, silent).variant == variant
        assert min(len(kernel.code.instructions) for kernel in kernels) == len(
            variant_named(variant, UNION, isa).code.instructions
        )
        assert kernel_for("", None, UNION, (isa,), "sysv", None, silent) == lower(UNION, isa)


@pytest.mark.parametrize(
    ("name", "objective"),
    few(
        [
            ("sliders.union-empty", "size"),
            ("sliders.union-empty", "throughput"),  # by the table
            ("side.union.white", "latency"),
            ("side.union.white", "throughput"),  # by bounds
        ],
        2,
    ),
)
def test_pext_is_not_chosen_for_a_processor_that_is_slow_at_it(
    name: str, objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gathers(isa: str | None, *, here: bool = False) -> bool:
        return uses_pext(choice.request(name, isa, for_=objective, here=here).kernel)

    monkeypatch.setattr(choice, "sets_of", lambda *_, **__: ("x86-64", "bmi2"))
    monkeypatch.setattr(choice, "has_fast_pext", lambda: True)
    assert all([gathers(None), gathers("bmi2", here=True), gathers("bmi2")])
    monkeypatch.setattr(choice, "has_fast_pext", lambda: False)
    assert [gathers(None), gathers("bmi2", here=True), gathers("bmi2")] == [False, False, True]


def test_a_routine_that_gathers_itself_is_made_for_every_processor() -> None:
    def gathered(board: Value, mask: Value) -> tuple[Value, ...]:
        return (board.extract_bits(mask),)

    assert kernel_for("size", None, routine(gathered, 2), ("bmi2",), "sysv", None, silent, pext=False).variant == ""


@pytest.mark.slow
def test_arrays_are_compared_by_boards() -> None:
    by_ranks, usual = (variant_named(name, find("sliders.union.batch"), "avx512") for name in ("by-ranks", "default"))
    on = processor("zen5")
    assert score(usual, "latency", on) == score(usual, "throughput", on) > 1.5 * score(by_ranks, "throughput", on) > 1


def test_without_a_processor_those_without_the_set_say_nothing() -> None:
    on_all = [score(lower(UNION, "avx512"), "latency", on) for on in PROCESSORS if on.name != "zen3"]
    assert score(lower(UNION, "avx512"), "latency", None) == pytest.approx(sum(on_all) / len(on_all))
    with pytest.raises(UnknownCost, match="AMD Zen 3 has no avx512"):
        score(lower(UNION, "avx512"), "latency", processor("zen3"))


def test_without_any_figures_the_usual_kernel_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "PROCESSORS", ())
    monkeypatch.setattr(choice, "TIMED", ())
    assert kernel_for("latency", None, find("leapers.kings"), ("avx512",), "sysv", None, silent).variant == ""


def test_a_row_is_taken_before_any_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    south = find("kogge-stone.attacks.sout")
    usual = kernel_for("latency", processor("zen4"), south, ("bmi2",), "sysv", None, silent)
    other = next(kernel for kernel in enumerate_variants(south, "bmi2") if kernel.code != usual.code)
    row = TimedVariant(south.name, "bmi2", "latency", other.variant or "default", "zen5", "", "", 9.0)
    monkeypatch.setattr(choice, "TIMED", (row,))
    for on, taken in ((None, other), (processor("zen5"), other), (processor("zen4"), usual)):
        assert kernel_for("latency", on, south, ("bmi2",), "sysv", None, silent).code == taken.code


def test_each_variant_that_is_tried_is_shown() -> None:
    shown: list[str] = []
    kernel_for("latency", None, UNION, ("avx2",), "sysv", None, shown.append)
    names = [kernel.variant or "default" for kernel in enumerate_variants(UNION, "avx2")]
    assert shown == [f"{UNION.name} avx2: {name}" for name in names]


def test_beyond_the_limit_each_set_has_its_usual_kernel_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "MOST_INSTRUCTIONS", len(lower(UNION, "bmi2").code.instructions))
    shown: list[str] = []
    made = kernel_for("latency", None, UNION, ("bmi2", "avx2", "sse2"), "sysv", None, shown.append)
    names = [kernel.variant or "default" for kernel in enumerate_variants(UNION, "bmi2")]
    assert shown == [
        f"{UNION.name} {name}" for name in (*(f"bmi2: {n}" for n in names[:2]), "avx2: default", "sse2: default")
    ]
    assert made.target.name in ("bmi2", "avx2", "sse2")


@pytest.mark.slow
def test_the_limit_leaves_the_catalogue_alone() -> None:
    routine = find("side.nested.black")  # it has the most
    made = [kernel for isa in routine.isas for kernel in enumerate_variants(routine, isa)]
    assert sum(len(kernel.code.instructions) for kernel in made) <= choice.MOST_INSTRUCTIONS


@pytest.mark.slow
def test_the_table_is_short_and_each_row_is_made() -> None:
    assert len(TIMED) <= 40
    assert len({row[:3] for row in TIMED}) == len(TIMED)
    for row in TIMED:
        assert row.objective in ("latency", "throughput")
        assert row.cycles > 0
        assert processor(row.cpu).name == row.cpu
        assert variant_named(row.variant, find(row.routine), row.isa).variant == row.variant.removeprefix("default")
