"""The best variant for an objective: that of the least forecast, which all others are held to."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors import processor
from setwise.analysis.cost.processors.table import UnknownCost
from setwise.analysis.cost.processors.tuned import Tuned, by_routine
from setwise.analysis.measure.objective import best, digest_of, forecast, kernel_for, kernel_of
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.offers import offered, offered_as


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "cpu"), [("latency", "ice-lake"), ("throughput", "zen3")])
def test_none_is_forecast_to_be_faster(objective: str, cpu: str) -> None:
    on = processor(cpu)
    kernels = list(offered(find("leapers.kings"), "avx2"))
    figures = [forecast(kernel, on).of(objective) for kernel in kernels]
    assert len(set(figures)) > 1
    lengths = [len(kernel.code.instructions) for kernel in kernels]
    assert best(kernels, objective, on) is kernels[min(range(len(kernels)), key=lambda at: (figures[at], lengths[at]))]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "isa"), [("kogge-stone.attacks.rook.batch", "avx2"), ("sliders.union.batch", "gfni")])
def test_of_arrays_none_is_forecast_to_be_faster(name: str, isa: str) -> None:
    """Also where only some are forecast, for of the others what they execute keeps units busy for longer."""
    on = processor("golden-cove")
    kernels = list(offered(find(name), isa))
    taken = best(kernels, "throughput", on)
    assert forecast(taken, on).throughput == min(forecast(kernel, on).throughput for kernel in kernels)


@pytest.mark.slow
def test_of_several_results_calls_wait_for_the_first() -> None:
    """What pawns attack is there long before the sliders' attacks are."""
    on, nested = processor("zen5"), find("side.nested.white")
    usual = lower(nested, "avx512")
    apart = offered_as("apart/1-inner-ranks-shallowness-hastening", nested, "avx512")
    assert forecast(usual, on).of("latency") < forecast(apart, on).of("latency")
    assert best([apart, usual], "latency", on) is usual


@pytest.mark.slow
def test_rooks_beside_bishops_wait_least() -> None:
    """Crossings between lanes and register files cost an AVX2 kernel its latency (sliders.union, Zen 3)."""
    on = processor("zen3")
    union = find("sliders.union")
    kernel = kernel_for("latency", on, union, "avx2")
    assert kernel.layout.apart
    usual = forecast(lower(union, "avx2"), on).latency
    wait = forecast(kernel, on).latency
    assert usual is not None
    assert wait is not None
    assert wait < 0.85 * usual
    assert not kernel_for("throughput", on, union, "avx2").layout.apart


def test_a_processor_without_the_instructions_is_one_line() -> None:
    with pytest.raises(UnknownCost, match="AMD Zen 3 has no avx512"):
        kernel_for("latency", processor("zen3"), find("kogge-stone.attacks.sout"), "avx512")


def test_what_timing_found_is_taken_while_its_code_is_the_same() -> None:
    on, south = processor("zen3"), find("kogge-stone.attacks.sout")
    sets = ("x86-64", "bmi2")
    usual = kernel_of("latency", on, south, sets)
    other = next(kernel for kernel in offered(south, "bmi2") if kernel.code != usual.code)
    digest = digest_of(binary_of(other))
    row = Tuned(south.name, "latency", "bmi2", other.variant, 9.0, digest, among="0" * 16, sets=sets)

    def taken(objective: str, *isas: str, **changed: str | tuple[str, ...]) -> Kernel:
        rows = by_routine([msgspec.structs.replace(row, **changed)])
        return kernel_of(objective, replace(on, tuned=rows), south, isas)

    assert taken("latency", *sets) == taken("latency", "bmi2") == other
    assert taken("latency", "x86-64") == kernel_for("latency", on, south, "x86-64")
    assert taken("throughput", *sets) == kernel_of("throughput", on, south, sets)
    assert taken("latency", "bmi2", sets=()) == other
    assert taken("latency", *sets, sets=()) == usual  # code for x86-64 was not timed, and may be faster
    assert taken("latency", *sets, digest="f" * 16) == usual
    assert taken("latency", *sets, variant="no such") == usual
    assert taken("latency", *sets, name="another") == usual


@pytest.mark.slow
def test_arrays_cannot_wait_for_each_other() -> None:
    figures = forecast(lower(find("kogge-stone.attacks.sout.batch")), processor("zen3"))
    assert figures.latency is None
    assert figures.of("latency") == figures.throughput > 1
