"""Makes the measurements that the reports record: kernels beside compilers' code and tables; calls from Python."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from setwise.analysis.cost.processors import Processor, processor
from setwise.analysis.measure import crossing
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.calls import METHOD as FROM_PYTHON
from setwise.analysis.measure.compilers import Compiled, installed
from setwise.analysis.measure.rivals import judge, rivals_of
from setwise.analysis.measure.subjects import empty_routines, subject
from setwise.analysis.measure.trials import EMPTY, METHOD, OURS, Refusal, Timing
from setwise.analysis.proof.prover import Prover
from setwise.analysis.report import choices, fastest
from setwise.analysis.report.choices import Choices
from setwise.analysis.report.crossing import Crossing
from setwise.analysis.report.forecasts import Forecasts, forecasts_of
from setwise.analysis.report.kernels import FigureKey, figures_from
from setwise.analysis.report.measurements import Measured, Timed
from setwise.analysis.report.python import FromPython
from setwise.analysis.run.check import Outcome
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run import cpu
from setwise.codegen.run.call import best_isa, missing
from setwise.codegen.targets import TARGETS

_FAMILIES = ("dumb7", "kogge-stone", "push")
ROUTINES = (
    *("sliders.union", "sliders.union-empty", "sliders.pair", "sliders.rays", "sliders.pieces", "sliders.sides"),
    *(f"{family}.attacks.{direction}" for direction in ("sout", "noEa", "east", "queen") for family in _FAMILIES),
    "kogge-stone.attacks.rook",
    *("subtraction.attacks.east", "kogge-stone.occluded.nort"),
    *("exploding.bishop", "exploding.rook"),
    *("sliders.union.batch", "kogge-stone.attacks.sout.batch", "kogge-stone.attacks.queen.batch"),
)
"""What is measured, on every instruction set that it comes for and this processor has."""
_PROOF = 10.0  # seconds for the proof of a compiler's function; then it is run on the check's cases


def measure_python(progress: Callable[[str], None], seconds: float = 1.0) -> FromPython:
    """Time what is called from Python, every kind of call for so many seconds. ModuleNotFoundError without NumPy."""
    from setwise.analysis.measure import python  # needs NumPy

    calls, not_run = python.measure(seconds, progress)
    return FromPython(
        machine=machine(),
        cores=os.cpu_count() or 1,
        date=today(),
        isa=best_isa(find(f"{python.UNION}.batch")),
        versions={"Python": platform.python_version(), **python.versions()},
        method=FROM_PYTHON,
        not_run=tuple(not_run),
        calls=tuple(calls),
    )


def measure_crossing(progress: Callable[[str], None], patience: float) -> Crossing:
    """Time kernels beside tables; `patience` is in seconds a process and routine. CompilerError as above."""
    here = processor_here()
    points = crossing.measure(lambda kernel: figures_from(kernel).fingerprint, progress, patience)
    return Crossing(
        machine=machine(),
        processor=here.name if here else "",
        date=today(),
        method=METHOD,
        versions={compiler.name: compiler.version for compiler in installed()},
        points=tuple(points),
    )


def measure_fastest(folder: Path, progress: Callable[[str], None], patience: float) -> fastest.Fastest:
    """Time what is taken for speed beside all else; ValueError where this processor has no table, CompilerError."""
    return fastest.measure(folder, _chosen_by(), machine(), today(), progress, patience)


def measure_choices(progress: Callable[[str], None], patience: float) -> Choices:
    """Choose what the first screen names, and time it; ValueError where this processor has no table."""
    return choices.measure(_chosen_by(), machine(), today(), progress, patience)


def _chosen_by() -> Processor:
    here = processor_here()
    if here is None:
        raise ValueError("there is no table of this processor to choose by: setwise calibrate makes one, for --cpu")
    return here


def measure(progress: Callable[[str], None], patience: float) -> Measured:
    """Prove and time all of it; `patience` is in seconds a process. CompilerError where a compiler fails."""
    progress("kernels")
    kernels = list(_kernels())
    judged = list(_judged(kernels, progress))
    judgements = {
        ((kernel.name, kernel.target.name, kernel.layout.lanes), function.label): judgement
        for kernel, function, judgement in judged
    }
    ours = [subject(kernel) for kernel in kernels]
    theirs = [
        subject(kernel, function.binary, function.label)
        for kernel, function, judgement in judged
        if function.binary is not None and judgement.right
    ]
    empty = empty_routines([routine for routine in ours if not routine.boards])
    timings = bench([*ours, *theirs, *empty], patience=patience, report=progress)
    progress("a second run")
    second = bench(ours, patience=patience, report=progress)
    again = {timing.measurand: timing.median for timing in second if isinstance(timing, Timing)}
    here = processor_here()
    modelled = forecasts_of(ours, here, progress) if here else {}
    fingerprints = {figures.key: figures.fingerprint for figures in map(figures_from, kernels)}
    nothing = [timing.median for timing in timings if isinstance(timing, Timing) and timing.measurand.maker == EMPTY]
    return Measured(
        machine=machine(),
        processor=here.name if here else "",
        date=today(),
        method=METHOD,
        empty=min(nothing, default=None),
        timed=tuple(
            replace(_timed(timing, modelled, judgements, fingerprints), again=again.get(timing.measurand))
            for timing in timings
            if timing.measurand.maker != EMPTY
        ),
        wrong=tuple(
            f"{function.label}, {function.routine}: {judgement.reason}"
            for _, function, judgement in judged
            if judgement.status == "failed"
        ),
    )


def today() -> str:
    """The date."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def machine() -> str:
    """This processor by its own name, with the family and model that it may hide behind."""
    family, model = _numbers()
    return cpu.brand() + (f" (family {family}, model {model})" if family else "")


def processor_here() -> Processor | None:
    """The processor of the model's that this one is, None where it is none of them.

    Families and models as in the vendors' lists: AMD 25 is Zen 3 and Zen 4, AMD 26 with 0 to 31, 64 to 79 and 112 to
    127 Zen 5 with vector units of 512 bits, Intel 6 with 85 Skylake-SP and Cascade Lake, with 106 and 108 Ice Lake-SP
    and -D, with 125 and 126 Ice Lake.
    """
    family, model = _numbers()
    if family == 25:
        return processor("zen4" if 16 <= model < 32 or 96 <= model < 128 or model >= 160 else "zen3")
    if family == 26:
        return processor("zen5") if model < 32 or 64 <= model < 80 or 112 <= model < 128 else None
    if family == 6:
        return {85: processor("skylake-server")}.get(model, processor("ice-lake") if model in _ICE_LAKES else None)
    return None


_ICE_LAKES = (106, 108, 125, 126)


def _numbers() -> tuple[int, int]:
    """Family and model as Linux tells them; 0 and 0 elsewhere."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    entries = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    return int(entries.get("cpu family", 0)), int(entries.get("model", 0))


def _kernels() -> Iterator[Kernel]:
    """The kernels that this processor runs: the usual number of lanes, and four where lanes are directions."""
    for name in ROUTINES:
        routine = find(name)
        for isa in routine.isas:
            target = TARGETS[isa]
            for lanes in target.widths:
                if not missing(target) and (lanes == target.widths[0] or (lanes == 4 and not routine.boards)):
                    yield lower(routine, isa, "sysv", lanes)


def _judged(kernels: Sequence[Kernel], progress: Callable[[str], None]) -> Iterator[tuple[Kernel, Compiled, Outcome]]:
    """What compilers make for these kernels, and whether it is right."""
    prover = Prover()
    for kernel, functions in zip(kernels, rivals_of(kernels), strict=True):
        progress(f"proofs of what compilers make of {kernel.name} for {kernel.target.name}")
        for function in functions:
            yield kernel, function, judge(function, kernel, prover, _PROOF)


def _timed(
    timing: Timing | Refusal,
    modelled: Forecasts,
    judgements: Mapping[tuple[FigureKey, str], Outcome],
    fingerprints: Mapping[FigureKey, str],
) -> Timed:
    measurand = timing.measurand
    key = measurand.name, measurand.isa, measurand.lanes
    judgement = judgements.get((key, measurand.maker))
    fingerprint = fingerprints[key] if measurand.maker == OURS else ""
    right = judgement.status if judgement else ""
    timed = partial(Timed, *key, measurand.maker, measurand.mode, measurand.unit, right=right, fingerprint=fingerprint)
    if isinstance(timing, Refusal):
        return timed(None, None, timing.clean / max(1, timing.trials), reason=timing.reason)
    bound, forecast = modelled.get((key, measurand.mode), (None, None)) if measurand.maker == OURS else (None, None)
    return timed(timing.median, timing.p10, timing.acceptance, bound=bound, model=forecast)
