"""Makes the measurements that the reports record: kernels beside compilers' code and tables; calls from Python."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from setwise.analysis.cost.processors import Processor
from setwise.analysis.cost.processors.tuned import FOLDER, Tuned, read_tuned
from setwise.analysis.measure import crossing, tuning
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.calls import METHOD as FROM_PYTHON
from setwise.analysis.measure.compilers import Compiled, installed
from setwise.analysis.measure.here import machine, processor_here, today
from setwise.analysis.measure.rivals import judge, rivals_of
from setwise.analysis.measure.subjects import empty_routines, subject
from setwise.analysis.measure.trials import EMPTY, METHOD, OURS, Refusal, Timing
from setwise.analysis.proof.prover import Prover
from setwise.analysis.report import choices, fastest, wasted
from setwise.analysis.report.compilers import shortest
from setwise.analysis.report.crossing import RECORD as CROSSING
from setwise.analysis.report.crossing import Crossing
from setwise.analysis.report.data import Data
from setwise.analysis.report.files import write
from setwise.analysis.report.forecasts import Forecasts, forecasts_of
from setwise.analysis.report.kernels import FigureKey, figures_from
from setwise.analysis.report.measurements import Measured, Timed
from setwise.analysis.report.python import FromPython
from setwise.analysis.report.records import COMMAND, as_json
from setwise.analysis.run.check import Outcome
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
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


def measure_anew(kind: str, data: Data, folder: Path, progress: Callable[[str], None], patience: float) -> Data:
    """The data with one thing measured anew; ValueError where this processor has no table and that needs one.

    What is tuned stays beside the processor's table.
    """
    if kind == "tuned":
        measure_tuned(progress, patience)
        return data
    ways: dict[str, tuple[str, Callable[[], object]]] = {
        "kernels": ("measured", lambda: measure(progress, patience)),
        "choices": ("choices", lambda: choices.measure(_chosen_by(), machine(), today(), progress, patience)),
        "crossing": ("crossing", lambda: measure_crossing(folder, progress, patience)),
        "fastest": ("fastest", lambda: fastest.measure(folder, _chosen_by(), machine(), today(), progress, patience)),
        "python": ("python", lambda: measure_python(progress)),
        "waste": ("wasted", lambda: wasted.measure(shortest(data.compilers), folder, progress)),
    }
    field, make = ways[kind]
    return replace(data, **{field: make()})  # type: ignore[arg-type]


def measure_tuned(progress: Callable[[str], None], patience: float) -> None:
    """Find the fastest variants by timing; what was found on the same machine, among the same code, stays.

    Rows are written as they are made, so that after an interrupt it goes on from there.
    """
    here = _chosen_by()
    before = read_tuned(here.name)
    known = before.rows if before and before.machine == machine() else ()

    def keep(rows: Sequence[Tuned]) -> None:
        built = [msgspec.to_builtins(row) for row in rows]
        content = as_json(built, f"{COMMAND} --measure tuned", machine=machine(), date=today())
        write(FOLDER, {f"{here.name}.json": content})

    tuning.tune((*catalogue(),), here, known, keep, progress, patience)


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


def measure_crossing(folder: Path, progress: Callable[[str], None], patience: float) -> Crossing:
    """Time kernels beside tables; what is recorded of the same code on the same machine stays.

    A routine's figures are written into the folder as they are made, so that after an interrupt it goes on from there.
    `patience` is in seconds a process and routine. CompilerError as above.
    """
    here, before = processor_here(), CROSSING.read(folder)
    held = Crossing(
        machine=machine(),
        processor=here.name if here else "",
        date=today(),
        method=METHOD,
        versions={compiler.name: compiler.version for compiler in installed()},
        points=before.points if before and before.machine == machine() else (),
    )

    def keep(points: Sequence[crossing.Point]) -> None:
        CROSSING.write(folder, replace(held, points=tuple(points)))

    points = crossing.measure(
        lambda kernel: figures_from(kernel).fingerprint, here, held.points, keep, progress, patience
    )
    return replace(held, points=tuple(points))


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
