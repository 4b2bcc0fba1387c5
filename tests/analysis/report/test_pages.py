"""What stands in the reports: true to the bytes, verdicts that follow from figures, losses told as plainly as wins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import round_cost
from setwise.analysis.cost.processors import processor
from setwise.analysis.measure.compilers import Compiler
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report import compilers as compilers_of
from setwise.analysis.report import findings
from setwise.analysis.report import measurements as measurements_of
from setwise.analysis.report.bounds import TITLES
from setwise.analysis.report.choices import NEEDS, Choice, Choices
from setwise.analysis.report.comparison import comparison, split, total
from setwise.analysis.report.compilers import CompilerCounts, Compilers, compilers, joined, to_run
from setwise.analysis.report.costs import as_json_rows, costs
from setwise.analysis.report.files import write
from setwise.analysis.report.kernels import FigureKey, Figures, figures_from, figures_of, keys, round_of
from setwise.analysis.report.measurements import Measured, Timed, agreement, measurements
from setwise.analysis.report.outcomes import NOISE
from setwise.analysis.report.races import Race, races
from setwise.analysis.report.readme import chosen, readme
from setwise.analysis.report.subtraction import judged
from setwise.analysis.report.verdict import Duel, duels, tallies, verdict_table
from setwise.analysis.run.contracts import task_of
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from tests.analysis.report.recorded import assert_reads_back

REPORTS = Path(__file__).parents[3] / "reports"
WANTED: tuple[FigureKey, ...] = (
    *((f"{family}.attacks.sout", isa, 1) for family in ("dumb7", "kogge-stone", "push") for isa in ("x86-64", "bmi2")),
    ("dumb7.occluded-until-dry.sout", "x86-64", 1),
    ("kogge-stone.attacks.sout.batch", "avx2", 4),
    ("push.attacks.east", "x86-64", 1),
)


@pytest.fixture(scope="module")
def rows() -> Figures:
    return Figures((key, figures_of(key)) for key in WANTED)


def timed(
    name: str, maker: str, mode: str, median: float | None, bound: float | None = None, fingerprint: str = ""
) -> Timed:
    reason = "" if median is not None else "too few"
    return Timed(name, "x86-64", 1, maker, mode, "call", median, median, 0.9, reason, bound, fingerprint=fingerprint)


def measured(*figures: Timed) -> Measured:
    return Measured("a processor", "zen4", "2025-01-31", "By counting.", 4.25, figures)


def test_every_kernel_has_a_row_and_none_twice() -> None:
    wanted = keys()
    assert len(set(wanted)) == len(wanted)
    assert {(name, isa) for name, isa, _ in wanted} == {
        (name, isa) for name, routine in catalogue().items() for isa in routine.isas
    }
    assert ("sliders.union", "avx512", 4) in wanted


def test_a_row_holds_what_the_bytes_say(rows: Figures) -> None:
    row = rows["kogge-stone.attacks.sout", "x86-64", 1]
    assert row.counts == count(binary_of(lower(find(row.name), "x86-64", "sysv")))
    assert row.shape == "straight"
    assert rows["dumb7.occluded-until-dry.sout", "x86-64", 1].shape == "branches"
    assert row.as_dict()["instructions"] == row.counts.instructions


def test_a_round_of_an_array_is_its_loop_alone(rows: Figures) -> None:
    row = rows["kogge-stone.attacks.sout.batch", "avx2", 4]
    code = count(binary_of(lower(find(row.name), "avx2", "sysv", 4)))
    assert row.boards == 4
    assert row.counts.branches == 1
    assert row.counts.loads + row.counts.memory_operands >= 2
    assert row.counts.stores == 1
    assert row.counts.instructions < code.instructions
    assert row.per_board == row.counts.instructions / 4


def test_only_code_that_runs_the_same_way_every_time_has_bounds(rows: Figures) -> None:
    for row in rows.values():
        assert set(row.bounds) == (set() if row.shape == "branches" else set(TITLES))
        for one in row.bounds.values():
            assert (one.chained is None) == (row.shape == "arrays")
            assert one.independent >= one.issue
            assert one.independent >= one.pressure


def test_bounds_of_arrays_are_a_board() -> None:
    kernel = lower(find("kogge-stone.attacks.sout.batch"), "avx2", "sysv", 4)
    executed = round_of(binary_of(kernel), task_of(kernel), 4)
    one = figures_from(kernel).bounds["zen4"]
    assert one.independent == pytest.approx(round_cost(executed, processor("zen4")).bound / 4, abs=0.001)


def test_zen_3_has_no_figures_for_avx_512() -> None:
    assert set(figures_of(("kogge-stone.attacks.sout", "avx512", 8)).bounds) == set(TITLES) - {"zen3"}


def test_comparison_has_the_literatures_counts_in_its_cells(rows: Figures) -> None:
    text = comparison(rows, "the listings")
    assert "```\nthe listings\n```" in text
    line = next(line for line in text.splitlines() if line.startswith("| `kogge-stone.attacks` |"))
    head = next(line for line in text.splitlines() if line.startswith("| Attacks | noEa"))
    cells = dict(zip(head.split(" | "), line.split(" | "), strict=True))
    row = rows["kogge-stone.attacks.sout", "x86-64", 1]
    assert cells["sout"] == f"{row.counts.moves} + {row.counts.operations}" == split(row)
    assert cells["east"] == "-"
    assert total(None) == "-"


def test_costs_has_a_table_a_processor_and_says_that_it_is_a_bound(rows: Figures) -> None:
    text = costs(rows)
    assert "lower bounds" in text
    assert text.count("| `kogge-stone.attacks.sout` | x86-64 |") == len(TITLES)
    held = {(row["name"], row["isa"], row["processor"]): row for row in as_json_rows(rows)}
    one = rows["dumb7.attacks.sout", "bmi2", 1].bounds["zen4"]
    assert held["dumb7.attacks.sout", "bmi2", "zen4"]["independent"] == one.independent


def duel(left: float, right: float, isa: str = "bmi2") -> Duel:
    return Duel(isa, 1, "one direction", "sout", "chained", "zen4", left, right)


def test_the_smaller_figure_wins_and_equal_ones_are_level() -> None:
    assert [duel(14, 10).outcome, duel(10, 14).outcome, duel(10, 10.04).outcome] == ["ahead", "behind", "level"]
    found = [duel(14, 10), duel(14, 10), duel(9, 10, "sse2"), duel(5, 5)]
    assert str(tallies({"at least": found, "measured": []})).splitlines()[2:] == [
        "| at least | chained | 4 | 2 | 1 | 1 |"
    ]
    assert tallies({"at least": []}) is None


def test_whether_subtraction_is_the_fastest_follows_from_the_figures() -> None:
    names = [f"{family}.attacks.east" for family in ("subtraction", "push", "dumb7")]
    figures = Figures((key, figures_of(key)) for key in ((name, "sse2", 2) for name in names))
    fields = judged(figures, Figures(), None)
    assert "| dumb7 | instructions | 1 | 1 | 0 | 0 |" in str(fields["beside"])
    assert "Kogge-Stone" not in str(fields["beside"])
    count = figures["subtraction.attacks.east", "sse2", 2].counts.instructions
    assert f"| sse2 x2 | `subtraction.attacks.east` | {count} |" in str(fields["eastward"])
    assert {*judged(Figures(), Figures(), None).values()} == {None}


def test_the_table_of_the_verdict_has_both_figures_and_who_is_ahead() -> None:
    mixed = verdict_table([duel(14, 10), duel(9, 10)], "dumb7", "kogge-stone")
    assert mixed.splitlines()[-1] == "| bmi2 | one direction | - | 9 to 14 : 10 | - | 1 | 0 | 1 |"
    assert verdict_table([duel(5, 5)], "dumb7", "kogge-stone").splitlines()[-1].endswith("| 0 | 1 | 0 |")


def test_duels_are_of_the_same_direction_and_instruction_set(rows: Figures) -> None:
    found = list(duels(rows, "dumb7", "kogge-stone"))
    assert {(one.isa, one.direction) for one in found} == {("x86-64", "sout"), ("bmi2", "sout")}
    instructions = next(one for one in found if one.isa == "x86-64" and one.measure == "instructions")
    assert (instructions.left, instructions.right) == (20, 19)
    assert len(found) == 2 * (1 + 2 * len(TITLES))


def test_the_kernel_to_use_is_the_one_with_the_least_bounds(rows: Figures) -> None:
    need = next(need for need in NEEDS if "kogge-stone.attacks.sout" in need.routines and "bmi2" in need.isas)
    best = chosen(need, "bmi2", rows)
    assert best is not None

    def total(key: FigureKey) -> float:
        bounds = rows[key].bounds.values()
        return sum((one.chained or 0) + one.independent for one in bounds)

    assert total(best.key) == min(total((name, "bmi2", 1)) for name in need.routines)
    assert chosen(need, "avx512", rows) is None


COMPILED = (
    CompilerCounts(
        "dumb7.attacks.sout", "x86-64", 1, "plain", "gcc", "-march=x86-64", 22, 1, 60, bounds={"zen4": (15.0, 5.5)}
    ),
    CompilerCounts("dumb7.attacks.sout", "x86-64", 1, "exported", "gcc", "-march=x86-64", 19, 1, 60),
    CompilerCounts("dumb7.attacks.sout", "x86-64", 1, "look-up", "gcc", "-march=x86-64", 5, 1, 60),
    CompilerCounts(
        "push.attacks.sout", "x86-64", 1, "plain", "clang", "-march=x86-64", None, None, None, "needs a call"
    ),
)
VERSIONS = {"clang": "clang version 19", "gcc": "gcc 12.2.0"}


def test_readme_answers_on_its_first_screen(rows: Figures) -> None:
    taken = (("push", "x86-64", "latency", 10.0), ("kogge-stone", "x86-64", "throughput", 4.5))
    chosen = [Choice(f"{name}.attacks.sout", isa, 1, way, "", 4.8, each, "") for name, isa, way, each in taken]
    chosen.append(Choice("push.attacks.sout", "bmi2", 1, "latency", "", 4.8, None, ""))
    choices = Choices("a processor", "zen3", "2025-01-31", "", tuple(chosen))
    compilers = Compilers(VERSIONS, COMPILED)
    text = readme(rows, None, compilers, {"pictures/a.svg": "A"}, ["python.md"], choices=choices)
    lines = text.splitlines()
    assert lines[0] == "# Which kernel should I use?"
    here = next(at for at, line in enumerate(lines) if "`push.attacks.sout --isa x86-64`" in line)
    assert here < 20
    assert "| 10.0 | 4.5 (`kogge-stone.attacks.sout`) | - |" in lines[here]
    assert r"| `push.attacks.sout --isa bmi2` | 14 | 4.8 \* | - | - |" in text
    assert "Cycles on AMD Zen 3, 2025-01-31" in text
    assert "![A](pictures/a.svg)" in text
    assert "| [python.md](python.md) |" in text
    assert "dumb7 or Kogge-Stone?" in text


def test_readme_sets_a_whole_side_beside_plain_c(rows: Figures) -> None:
    makers = {OURS: 10, "gcc x (plain)": 15, "clang x (plain)": 25, "gcc x (rays apart)": 5}
    timings = [
        replace(timed("sliders.union", maker, "chained", cycles), isa="avx512", lanes=4)
        for maker, cycles in makers.items()
    ]
    text = readme(rows, measured(*timings), Compilers(VERSIONS, COMPILED), {})
    assert "| `sliders.union` | avx512 x4 | chained | 10 | 5 | 0.50 | 1.50 |" in text


def test_readme_without_a_measurement_claims_none(rows: Figures) -> None:
    text = readme(rows, None, Compilers({}, ()), {})
    assert "measured" not in text.lower().replace("measurement", "")
    assert "measurements.md" not in text
    assert "python.md" not in text


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    figures = measured(
        timed("a", OURS, "chained", 10.5, 10.0), timed("a", "gcc", "chained", None), timed("b", OURS, "chained", 3.0)
    )
    assert_reads_back(tmp_path / "measured", measurements_of.RECORD, figures, "maker")
    assert_reads_back(tmp_path / "compiled", compilers_of.RECORD, Compilers(VERSIONS, COMPILED), "compiler")


def test_measurements_say_where_the_model_is_above_what_was_measured() -> None:
    figures = measured(timed("a", OURS, "chained", 10.0, 9.0), timed("b", OURS, "chained", 10.0, 10.2))
    assert "| bound | 2 | 2 | -2.0% | +10.0% | 6.0% |" in str(agreement(figures))
    text = measurements(figures)
    assert "2025-01-31" in text
    assert "a processor" in text
    assert "| +10.0% |" in text
    assert "| -2.0% |" in text
    assert agreement(measured(timed("a", OURS, "chained", 10.0))) is None


def test_what_was_found_is_data_with_its_day(tmp_path: Path) -> None:
    known = findings.RECORD.read(REPORTS) or ()
    pages = {"README.md", "compilers.md", "fastest.md", "measurements.md", "optimality.md"}
    assert {finding.page for finding in known} <= pages
    assert "knows no queues. (2026-11-21)" in measurements(measured(timed("a", OURS, "chained", 10.0, 9.0)), 0, known)
    write(tmp_path, {findings.RECORD.path: findings.RECORD.text(known).replace('"calls": "', '"calls": "(')})
    with pytest.raises(ValueError, match=r"findings\.json cannot be read \('\(.*' is no pattern"):
        findings.RECORD.read(tmp_path)
    (tmp_path / findings.RECORD.path).write_text('{"rows": [{"calls": "x"}]}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"findings\.json cannot be read"):
        findings.RECORD.read(tmp_path)


def test_the_forecast_stands_beside_the_bound() -> None:
    figures = measured(replace(timed("a", OURS, "chained", 10.0, 8.0), model=9.5))
    assert "| forecast | 1 | 1 | +5.0% | +5.0% | 5.0% |" in str(agreement(figures))
    assert "| 10.00 | 8.00 | +20.0% | 9.50 | +5.0% |" in measurements(figures)


def test_figures_of_other_code_are_left_out() -> None:
    figures = measured(
        timed("a", OURS, "chained", 10.0, fingerprint="aa"),
        timed("a", "gcc x (plain)", "chained", 12.0),
        timed("b", OURS, "chained", 10.0, fingerprint="bb"),
        timed("b", "gcc x (plain)", "chained", 12.0),
    )
    fresh = figures.of({("a", "x86-64", 1): "aa", ("b", "x86-64", 1): "changed"})
    assert {one.name for one in fresh.timed} == {"a"}
    assert len(fresh.timed) == 2
    assert "2 figures of kernels whose code has changed since are left out." in measurements(fresh, 2)


def test_a_fingerprint_changes_with_any_count(rows: Figures) -> None:
    row = rows["kogge-stone.attacks.sout", "x86-64", 1]
    others = [replace(row, code_bytes=row.code_bytes + 1), replace(row, counts=replace(row.counts, moves=0))]
    assert len({one.fingerprint for one in (row, *others)}) == 3
    assert row.fingerprint == figures_of(row.key).fingerprint


def test_refused_figures_are_shown_with_their_reason() -> None:
    text = measurements(measured(timed("a", OURS, "chained", None)))
    assert "no figure" in text
    assert "too few" in text


def test_two_runs_are_set_against_each_other() -> None:
    first, second = timed("near", OURS, "chained", 100.0), timed("far", OURS, "chained", 100.0)
    text = measurements(measured(replace(first, again=101.0), replace(second, again=95.0)))
    assert "3.0% apart on average over 2 figures, at most 5.0% (`far`, x86-64, chained); 1 of them within 3%" in text
    assert "Two runs" not in measurements(measured(first, second))


def test_losses_are_told_as_plainly_as_wins() -> None:
    figures = measured(
        *(timed("win", maker, "chained", cycles) for maker, cycles in ((OURS, 10), ("gcc x (plain)", 20))),
        *(timed("loss", maker, "chained", cycles) for maker, cycles in ((OURS, 20), ("gcc x (plain)", 10))),
        *(timed("level", maker, "chained", cycles) for maker, cycles in ((OURS, 10), ("clang x (plain)", 10.2))),
        *(timed("own", maker, "chained", cycles) for maker, cycles in ((OURS, 10), ("gcc x (exported)", 9))),
        *(timed("alone", maker, "chained", cycles) for maker, cycles in ((OURS, 10), ("gcc x (look-up)", 5))),
    )
    assert {race.key[0]: race.outcome for race in races(figures)} == {
        "win": "ahead",
        "loss": "behind",
        "level": "level",
    }
    text = compilers(Compilers(VERSIONS, COMPILED), Figures(), figures)
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    assert lines[0].startswith("| `loss` | x86-64 | chained | 20.00 | 10.00 |")
    assert lines[0].endswith("| 10.00 | gcc x (plain) | 0.50 |")
    assert len(lines) == 2
    assert lines[1].startswith("| `own` |")
    assert "| loss | x86-64 | 1 | 20 | 10 | 0.50 | 0 | 0 | 1 |" in text
    assert "| C after the literature | 3 | 1 | 1 | 1 |" in text
    assert "are wrong" not in text
    wrong = compilers(Compilers(VERSIONS, COMPILED), Figures(), replace(figures, wrong=("gcc, own: it wraps",)))
    assert "Not timed, because they are wrong: gcc, own: it wraps." in wrong
    assert [race.key[0] for race in races(figures, exported=True)] == ["own"]
    assert "| setwise's own C export | 1 | 0 | 0 | 1 |" in text


def test_a_loss_is_told_with_its_cause_or_without() -> None:
    figures = measured(
        *(timed("exploding.rook", maker, "mixed", cycles) for maker, cycles in ((OURS, 20), ("gcc x (plain)", 10))),
        *(timed("loss", maker, "chained", cycles) for maker, cycles in ((OURS, 20), ("gcc x (plain)", 10))),
        *(timed("win", maker, "chained", cycles) for maker, cycles in ((OURS, 10), ("gcc x (plain)", 20))),
    )
    known = findings.RECORD.read(REPORTS) or ()
    text = compilers(Compilers(VERSIONS, COMPILED), Figures(), figures, findings=known)
    assert "predicted more often (2026-11-21): `exploding.rook x86-64 mixed`." in text
    assert "\nNot explained: `loss x86-64 chained`.\n" in text
    assert "win" not in text.partition("### Where they are faster")[2].partition("##")[0]
    zen3 = replace(figures, processor="zen3")
    elsewhere = compilers(Compilers(VERSIONS, COMPILED), Figures(), zen3, findings=known)
    assert "\nNot explained: `exploding.rook x86-64 mixed` and `loss x86-64 chained`.\n" in elsewhere


def test_rays_stand_beside_rays_that_are_laid_out_alike() -> None:
    makers = {OURS: 10, "gcc x (rays)": 12, "gcc x (rays apart)": 8, "gcc x (look-up)": 1, "gcc x (exported plain)": 2}
    for lanes, theirs in ((8, 12), (4, 8)):
        timings = [
            replace(timed("a", maker, "chained", cycles), isa="avx512", lanes=lanes) for maker, cycles in makers.items()
        ]
        assert [race.theirs for race in races(measured(*timings))] == [theirs]
        assert list(races(measured(*timings), exported=True)) == []


@pytest.mark.parametrize(("theirs", "outcome"), [(10 * (1 + NOISE) * 1.01, "ahead"), (9.6, "behind"), (10.2, "level")])
def test_what_lies_within_the_noise_is_level(theirs: float, outcome: str) -> None:
    assert Race(("a", "avx2", 4), "chained", 10.0, theirs, "gcc").outcome == outcome


def test_shorter_code_of_a_compiler_is_told_by_itself(rows: Figures) -> None:
    text = compilers(Compilers(VERSIONS, COMPILED), rows, None)
    assert "| `dumb7.attacks.sout` | x86-64 | 20 | 19 | gcc | exported |" in text.splitlines()
    assert "| dumb7 | x86-64 | 1 | 20 | 19 | 0 | 0 | 1 |" in text.splitlines()
    assert "longer in 1" in text


def test_only_compilers_of_the_recorded_version_are_checked() -> None:
    here = [Compiler("gcc", "gcc 13.1.0"), Compiler("clang", "clang version 19"), Compiler("clang-20", "20")]
    before = Compilers(VERSIONS, COMPILED)
    assert to_run(here, before, checking=True) == [here[1]]
    assert to_run(here, before, checking=False) == here
    assert to_run(here, None, checking=True) == here
    fresh = CompilerCounts("push.attacks.sout", "x86-64", 1, "plain", "clang", "-march=x86-64", 16, 2, 50)
    found, notes = joined(Compilers({"clang": "clang version 19"}, (fresh,)), before)
    assert found.versions == VERSIONS
    assert found.counts == (fresh, *COMPILED[:3])
    (note,) = notes
    assert "not checked" in note
    assert "gcc 12.2.0" in note


def rows_in(text: str) -> Iterator[dict[str, object]]:
    yield from json.loads(text)["rows"]


def test_json_rows_leave_out_what_is_not_there() -> None:
    held = list(rows_in(compilers_of.RECORD.text(Compilers(VERSIONS, COMPILED))))
    assert "instructions" not in held[3]
    assert held[3]["reason"] == "needs a call"
    assert held[0]["bounds"] == {"zen4": [15.0, 5.5]}
