"""`setwise bench`: what it times, what it prints, and that it says nothing where there is nothing to say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any, ClassVar, Self

import pytest

from setwise.analysis.bench import bench as benches
from setwise.analysis.bench import trials as measure
from setwise.analysis.bench.bench import BenchJob, run_by_turns, time_subjects
from setwise.analysis.bench.compilers import Compiled, Compiler
from setwise.analysis.bench.core_selection import QuietCore
from setwise.analysis.bench.subjects import Subject, arguments_for, subject, timing_loop
from setwise.analysis.bench.trials import Measurand, NoisyMeasurement, Timing, TrialBlock
from setwise.analysis.code.decode import Binary
from setwise.analysis.commands import main
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.run.stopwatch import ArgumentSets, Record
from setwise.codegen.run.timer import CHAIN_ADDS, WIDE_ROWS, Mode, Timer
from tests.analysis.commands.running import Capture
from tests.conftest import runs

SOUTH = "kogge-stone.attacks.sout"


def job(name: str = SOUTH, mode: Mode = "independent") -> BenchJob:
    one = subject(lower(find(name), "x86-64"))
    return BenchJob(timing_loop(one, mode), arguments_for(one, mode), one.units)


class Core:
    """Stands for the stopwatch: a core of one tick a cycle on which a call takes ten, busy for others now and then."""

    def __init__(self, loop: Timer, given: ArgumentSets) -> None:
        self.asked: list[tuple[int, int]] = []
        Core.made.append(self)

    made: ClassVar[list[Core]] = []
    busy: ClassVar[Iterator[bool]] = iter(())

    def run(self, rounds: int, trials: int) -> list[Record]:
        self.asked.append((rounds, trials))
        wide = WIDE_ROWS * (2 if next(Core.busy, False) else 1)
        cold = Record(CHAIN_ADDS, wide, 0, 99 * 16 * rounds, 2 * wide, CHAIN_ADDS, 0)  # a run's beginning
        return [cold, cold] + [Record(CHAIN_ADDS, wide, 0, 10 * 16 * rounds, wide, CHAIN_ADDS, 0)] * (trials - 2)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> type[Core]:
    Core.made, Core.busy = [], iter(())
    monkeypatch.setattr(benches, "Stopwatch", Core)
    monkeypatch.setattr(QuietCore, "look", lambda _: False)
    return Core


def test_blocks_are_run_until_enough_are_kept(core: type[Core]) -> None:
    (blocks,) = run_by_turns([job()], patience=60)
    assert blocks == [TrialBlock(32, 32, 10.0)] * measure.WANTED
    # A trial is as long as it should be, whatever a call takes: shorter than what comes between two ticks of a clock.
    rounds = {rounds for rounds, _ in core.made[0].asked[2:]}
    assert len(rounds) == 1
    assert 20_000 < 160 * rounds.pop() < 100_000


def test_disturbed_blocks_are_run_again(core: type[Core]) -> None:
    core.busy = iter([False, False] + [True, False] * 1000)  # two probes, then every other block
    (blocks,) = run_by_turns([job()], patience=60)
    kept = [block.cycles for block in blocks if block.cycles is not None]
    assert kept == [10.0] * measure.WANTED
    assert len(blocks) == 2 * measure.WANTED
    assert all(block.clean == 0 for block in blocks if block.cycles is None)


def test_patience_has_an_end(core: type[Core]) -> None:
    core.busy = iter([True] * 10_000_000)
    (blocks,) = run_by_turns([job()], patience=0)
    assert blocks
    assert all(block.cycles is None for block in blocks)


def test_jobs_take_turns(core: type[Core]) -> None:
    """So that a disturbance meets all of them, and not all of one."""
    core.busy = iter([False] * 4 + [True, False] * 1000)  # the first job alone is disturbed: it goes on alone
    first, second = run_by_turns([job(), job()], patience=60)
    assert len(second) == measure.WANTED
    assert len(first) > len(second)


@runs
def test_timings_are_of_what_was_asked_for() -> None:
    """On this machine, in a process of its own; what they say is the weather's business."""
    one = subject(lower(find(SOUTH), "x86-64"))
    told: list[str] = []
    made = time_subjects([one], ["independent"], patience=0, processes=1, report=told.append)
    assert [timing.measurand for timing in made] == [one.measurand("independent")]
    assert made[0].trials > 0
    assert [re.sub(r"\d+%", "0%", one) for one in told] == ["process 1 of 1: 1 timings, on a core 0% undisturbed"]


def test_chained_calls_wait_by_the_argument_that_takes_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first alone would flatter whatever takes another argument later."""

    class Worker(Future[Any]):
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def submit(self, _work: object, jobs: Sequence[BenchJob], *_: object) -> Self:
            self.set_result([[TrialBlock(32, 32, 10.0 + at)] * measure.WANTED for at, _ in enumerate(jobs)])
            return self

    monkeypatch.setattr(benches, "Workers", lambda _: Worker())
    one = subject(lower(find(SOUTH), "x86-64"))
    chained, independent = time_subjects([one], ["chained", "independent"])
    assert len(one.chainable) == 2
    assert isinstance(chained, Timing)
    assert isinstance(independent, Timing)
    assert (chained.median, independent.median) == (11.0, 12.0)
    assert chained.measurand == one.measurand("chained")


# the command


def fake(monkeypatch: pytest.MonkeyPatch, figures: dict[tuple[str, str], float | None] | None = None) -> list[Subject]:
    """`bench` gives these figures by maker and mode (None: none), 14 by default; the list holds what it was asked."""
    asked: list[Subject] = []

    def bench(
        subjects: Sequence[Subject], modes: Sequence[Mode], patience: float, report: Any
    ) -> list[Timing | NoisyMeasurement]:
        asked.extend(subjects)
        made: list[Timing | NoisyMeasurement] = []
        for measurand in (one.measurand(mode) for one in subjects for mode in one.modes if mode in modes):
            figure = (figures or {}).get((measurand.maker, measurand.mode), 14.0)
            if figure is None:
                made.append(NoisyMeasurement(measurand, "too few of 960 trials were undisturbed", 17, 960))
            else:
                made.append(Timing(measurand, figure, figure - 0.125, 0.004, 120, 5, 900, 1000))
        return made

    monkeypatch.setattr(benches, "time_subjects", bench)
    return asked


def test_a_table(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    fake(monkeypatch, {("setwise", "chained"): 10.0, ("setwise", "independent"): 4.5, ("-", "independent"): 4.25})
    assert main.main(["bench", SOUTH, "--isa", "x86-64"]) == 0
    done = capsys.readouterr()
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0].split() == ["name", "isa", "calls", "cycles", "a", "median", "10th", "clean"]
    assert lines[2].split() == [SOUTH, "x86-64", "chained", "call", "10.00", "9.88", "90%"]
    assert lines[3].split() == [SOUTH, "x86-64", "independent", "call", "4.50", "4.38", "90%"]
    assert "An empty routine, called in the same ways: 4.25 to 14.00." in lines
    assert " ns" not in done.out  # cycles alone: nanoseconds are of one clock


def test_rows_for_programs(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    fake(monkeypatch, {("setwise", "independent"): None})
    assert main.main(["bench", SOUTH, "--isa", "x86-64", "--json"]) == 1
    done = capsys.readouterr()
    made = json.loads(done.out)
    assert set(made) == {"machine", "method", "timings", "not run"}
    assert set(made["machine"]) == {"processor", "threads"}
    first, second, *empty = made["timings"]
    assert first == {
        **Timing(
            Measurand(SOUTH, "x86-64", 1, "sysv", "setwise", "chained"), 14.0, 13.875, 0.004, 120, 5, 900, 1000
        ).as_dict(),
        "speed": None,
    }
    assert second["reason"] == "too few of 960 trials were undisturbed"
    assert (second["clean"], second["trials"], second["speed"]) == (17, 960, None)
    assert {row["maker"] for row in empty} == {"-"}


@pytest.mark.slow
def test_all_variants_are_timed(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    asked = fake(monkeypatch)
    assert main.main(["bench", "push.attacks.rook", "--isa", "bmi2", "--variants", "--mode", "chained"]) == 0
    makers = [one.maker for one in asked if one.maker != "-"]
    assert makers[0] == "setwise"
    assert len({*makers}) == len(makers) > 2
    assert makers[1] in capsys.readouterr().out


def test_no_figure_is_a_failure_of_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    fake(monkeypatch, {("setwise", "chained"): None})
    assert main.main(["bench", SOUTH, "--isa", "x86-64"]) == 1
    done = capsys.readouterr()
    assert re.fullmatch(
        r"setwise bench: no result for 1 of 4, first kogge-stone\.attacks\.sout x86-64 setwise chained: "
        r"too few of 960 trials were undisturbed: stop other programs, or wait longer with --patience SECONDS\n",
        done.err,
    )
    assert [line.split()[4] for line in done.out.splitlines()[2:4]] == ["-", "14.00"]


def test_beside_compilers_the_fastest_of_them_is_one(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    gcc, clang = Compiler("gcc", "gcc 12"), Compiler("clang-19", "clang 19")
    code = Binary(b"\xc3")

    def compiled(compiler: Compiler, kind: str, binary: Binary | None = code) -> Compiled:
        return Compiled(SOUTH, "x86-64", 1, kind, compiler, ("-march=x86-64",), binary, "" if binary else "calls")

    def compile_all(names: Sequence[str], isa: str, lanes: int, using: Sequence[Compiler]) -> list[Compiled]:
        assert (list(names), isa, lanes, list(using)) == ([SOUTH], "x86-64", 1, [gcc, clang])
        return [compiled(gcc, "plain"), compiled(clang, "plain"), compiled(gcc, "look-up"), compiled(clang, "no", None)]

    monkeypatch.setattr("setwise.analysis.bench.compilers.installed", lambda: (gcc, clang))
    monkeypatch.setattr("setwise.analysis.bench.compilers.compile_all", compile_all)
    makers = [
        f"{name} -march=x86-64 ({kind})" for name, kind in (("gcc", "plain"), ("clang-19", "plain"), ("gcc", "look-up"))
    ]
    figures = dict(zip([(maker, "chained") for maker in ("setwise", *makers)], (10.0, 15.0, 12.0, 3.0), strict=True))
    asked = fake(monkeypatch, {**figures})
    assert main.main(["bench", SOUTH, "--isa", "x86-64", "--mode", "chained", "--beside", "gcc,clang", "--json"]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out)["timings"] if row["maker"] != "-"]
    assert [row["maker"] for row in rows] == ["setwise", *makers]
    # A table that is looked up is shown for scale; nothing is measured against it.
    assert [row["speed"] for row in rows] == [1.2, 0.8, 1.0, 4.0]
    assert {one.signature for one in asked} == {asked[0].signature}


def test_arrays_and_what_this_processor_lacks(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    asked = fake(monkeypatch)
    monkeypatch.setattr(benches, "missing", lambda target: ("avx2",) if target.name == "avx2" else missing(target))
    assert main.main(["bench", f"{SOUTH}.batch", "--boards", "100", "--isa", "x86-64"]) == 0
    assert asked[0].boards == 100
    assert "Arrays of 100 boards" in capsys.readouterr().out
    assert main.main(["bench", SOUTH, "--isa", "avx2"]) == 1
    assert capsys.readouterr().err == f"setwise bench: {SOUTH} for avx2 is not run: this processor lacks avx2\n"


def test_a_compiler_that_is_not_here(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("setwise.analysis.bench.compilers.installed", lambda: (Compiler("gcc", "gcc 12"),))
    assert main.main(["bench", SOUTH, "--isa", "x86-64", "--beside", "gcc,clang"]) == 2
    assert capsys.readouterr().err == "setwise bench: clang is not installed; on Debian: apt install clang\n"
