"""`setwise report`: writes, checks, names what differs; the data are a few kernels', for the sake of time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.commands import report
from setwise.analysis.commands.main import main
from setwise.analysis.measure.calls import Call
from setwise.analysis.measure.crossing import Point
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report import choices, recording
from setwise.analysis.report.choices import Choices
from setwise.analysis.report.columns import Columns, Through
from setwise.analysis.report.comparison import classic_listings
from setwise.analysis.report.compilers import CompilerCounts, Compilers
from setwise.analysis.report.crossing import Crossing
from setwise.analysis.report.data import Data
from setwise.analysis.report.kernels import Figures, figures_of
from setwise.analysis.report.markdown import figure
from setwise.analysis.report.measurements import Measured, Timed
from setwise.analysis.report.perft import Perft, Race
from setwise.analysis.report.python import FromPython
from setwise.codegen.catalogue import find
from tests.analysis.commands.running import Capture, complaint

KERNELS = (
    *((f"{family}.attacks.sout", isa, 1) for family in ("dumb7", "kogge-stone", "push") for isa in ("x86-64", "bmi2")),
    *((f"{family}.attacks.queen", "avx512", 8) for family in ("dumb7", "kogge-stone")),
    ("subtraction.attacks.east", "avx2", 4),
    ("sliders.union", "avx2", 4),
)


CALLS = (Call("setwise", "sliders.union", 512, 1, 1200.0, 1300.0),)
FROM_PYTHON = FromPython("a processor", 2, "2025-01-31", "avx2", {"NumPy": "2.0"}, "By counting.", (), CALLS)
CROSSING = Crossing(
    *("a processor", "zen3", "2025-01-31", "By counting.", {"gcc": "gcc 12"}),
    points=(Point("sliders.union", "avx2", 4, OURS, 0, "mixed", 15.0),),
)
CHOICES = Choices("a processor", "zen3", "2025-01-31", "By counting.", ())
ENGINES = (Through("duckdb", 2.0, 3.0, 200),)
COLUMNS = Columns("a processor", 2, "2025-01-31", 0.5, {"duckdb": "1.1"}, 1000, 17, 1.0, 1, 1000, 1000, "00ff", ENGINES)
RACES = (Race("standard", "8/8/8/4k3/8/8/4K3/R7 w - - 0 1", 1, 20, "gcc", 100, 90),)
PERFT = Perft("a processor", 2, "2025-01-31", 0.5, "avx2", {"gcc": "gcc 12 -O2"}, 1, RACES)


@pytest.fixture(scope="module")
def data() -> Data:
    rows = Figures((key, figures_of(key)) for key in KERNELS)
    made = CompilerCounts(
        "sliders.union", "avx2", 4, "rays", "gcc", "-march=haswell", 53, 0, 300, bounds={"zen4": (27.0, 11.0)}
    )
    maker = "gcc -march=haswell (rays)"
    mark = rows["sliders.union", "avx2", 4].fingerprint
    timed = (
        Timed("sliders.union", "avx2", 4, OURS, "chained", "call", 31.8, 31.7, 0.9, bound=31.0, fingerprint=mark),
        Timed("sliders.union", "avx2", 4, maker, "chained", "call", 30.2, 30.1, 0.9, right="proved"),
    )
    measured = Measured("a processor", "zen4", "2025-01-31", "By counting.", 4.25, timed)
    notes = ("not checked: the rows of gcc",)
    compiled = Compilers({"gcc": "gcc 12"}, (made,))
    return Data(
        figures=rows,
        classic=classic_listings(),
        compilers=compiled,
        measured=measured,
        crossing=CROSSING,
        choices=CHOICES,
        python=FROM_PYTHON,
        columns=COLUMNS,
        perft=PERFT,
        notes=notes,
    )


@pytest.fixture
def _gathered(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    gathering: Callable[..., Data] = lambda *_: data  # noqa: E731
    monkeypatch.setattr(report, "gather", gathering)


@pytest.mark.usefixtures("_gathered")
def test_what_is_written_passes_its_check(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "reports"
    assert main(["report", "-o", str(folder)]) == 0
    written = capsys.readouterr()
    assert written.out.startswith(f"{folder}: ")
    assert "not checked: the rows of gcc" in written.err
    assert main(["report", "--check", "-o", str(folder)]) == 0
    assert "as they should be" in capsys.readouterr().out
    paths = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    pages = {"README.md", "comparison.md", "costs.md", "compilers.md", "measurements.md"}
    pages |= {"crossing.md", "python.md", "perft.md"}
    data = ("kernels", "costs", "compilers", "measurements", "choices", "crossing", "python", "columns", "perft")
    assert pages | {f"data/{name}.json" for name in data} < paths
    for path in sorted(folder.rglob("*.*")):
        text = path.read_text(encoding="utf-8")
        assert "setwise report" in text or '"made_by": "python -m tests.' in text or path.suffix == ".svg", path
        assert str(Path.cwd()) not in text


@pytest.mark.usefixtures("_gathered")
def test_a_changed_figure_fails_the_check_by_name(tmp_path: Path, capsys: Capture) -> None:
    assert main(["report", "-o", str(tmp_path)]) == 0
    costs = tmp_path / "costs.md"
    lines = costs.read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if "`sliders.union` | avx2" in line)
    lines[at] = lines[at].replace("| 39 |", "| 38 |")
    costs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "pictures" / "union.svg").unlink()
    capsys.readouterr()
    assert main(["report", "--check", "-o", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert f"costs.md, line {at + 1}: " in said
    assert "pictures/union.svg: is missing" in said
    assert len(said.splitlines()) == 2


@pytest.mark.usefixtures("_gathered")
def test_one_thing_is_measured_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "measure", None)
    monkeypatch.setattr(recording, "measure_crossing", lambda *_: replace(CROSSING, date="2025-03-01"))
    monkeypatch.setattr(recording, "measure_python", lambda _: replace(FROM_PYTHON, date="2025-02-01"))
    assert main(["report", "--measure", "python", "-o", str(tmp_path)]) == 0
    assert "2025-02-01" in (tmp_path / "python.md").read_text(encoding="utf-8")
    assert "2025-02-01" not in (tmp_path / "measurements.md").read_text(encoding="utf-8")
    assert "2025-01-31" in (tmp_path / "crossing.md").read_text(encoding="utf-8")
    monkeypatch.setattr(recording, "_chosen_by", lambda: None)
    monkeypatch.setattr(choices, "measure", lambda *_: replace(CHOICES, date="2025-04-01"))
    assert main(["report", "--measure", "choices", "-o", str(tmp_path)]) == 0
    assert "2025-04-01" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert main(["report", "--measure", "crossing", "-o", str(tmp_path)]) == 0
    assert "2025-03-01" in (tmp_path / "crossing.md").read_text(encoding="utf-8")


def test_what_is_best_on_a_processor_is_a_page_of_its_own(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("shift.one.nort", "push.attacks.sout")
    monkeypatch.setattr(report, "catalogue", lambda: {name: find(name) for name in names})
    assert main(["report", "--for", "latency", "--cpu", "zen3", "-o", str(tmp_path)]) == 0
    assert "best.md" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["best.md"]
    lines = (tmp_path / "best.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Which kernel on AMD Zen 3?"
    for name in names:
        assert main(["best", name, "--for", "latency", "--cpu", "zen3", "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        (line,) = (line for line in lines if line.startswith(f"| `{name}` |"))
        cells = [row["isa"], row["variant"] or "-", row["instructions"], figure(row["latency"])]
        assert f"| latency | {' | '.join(map(str, cells))} |" in line
    assert main(["report", "--cpu", "zen3", "-o", str(tmp_path)]) == 0
    text = (tmp_path / "best.md").read_text(encoding="utf-8")
    assert [text.count(f"| {objective} |") for objective in ("size", "latency", "throughput")] == [2, 3, 3]


def test_bad_usage_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    there = ("-o", str(tmp_path))
    assert "no objective 'beauty'" in complaint(capsys, "report", "--for", "beauty", *there)
    assert "no processor 'zen9'" in complaint(capsys, "report", "--cpu", "zen9", *there)
    assert "leave out --check" in complaint(capsys, "report", "--cpu", "zen3", "--check", *there)
    assert list(tmp_path.iterdir()) == []
    assert "give one of them" in complaint(capsys, "report", "--check", "--measure", "-o", str(tmp_path))
    assert "makes it" in complaint(capsys, "report", "--check", "-o", str(tmp_path / "nowhere"))


def test_a_damaged_record_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "compilers.json").write_text("{", encoding="utf-8")
    assert "compilers.json" in complaint(capsys, "report", "--check", "-o", str(tmp_path))
