"""`setwise report`: writes, checks, names what differs; the data are a few kernels', for the sake of time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from setwise.analysis.commands import report
from setwise.analysis.commands.main import main
from setwise.analysis.report.comparison import classic_listings
from setwise.analysis.report.compilers import CompilerCounts, Compilers
from setwise.analysis.report.data import Data
from setwise.analysis.report.kernels import Figures, figures_of
from tests.analysis.commands.running import Capture, complaint

KERNELS = (
    *((f"{family}.attacks.sout", isa, 1) for family in ("dumb7", "kogge-stone", "push") for isa in ("x86-64", "bmi2")),
    *((f"{family}.attacks.queen", "avx512", 8) for family in ("dumb7", "kogge-stone")),
    ("subtraction.attacks.east", "avx2", 4),
    ("sliders.union", "avx2", 4),
)


@pytest.fixture(scope="module")
def data() -> Data:
    rows = Figures((key, figures_of(key)) for key in KERNELS)
    made = CompilerCounts(
        "sliders.union", "avx2", 4, "rays", "gcc", "-march=haswell", 53, 0, 300, bounds={"zen4": (27.0, 11.0)}
    )
    notes = ("not checked: the rows of gcc",)
    compiled = Compilers({"gcc": "gcc 12"}, (made,))
    return Data(
        figures=rows,
        classic=classic_listings(),
        compilers=compiled,
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
    pages = {"comparison.md", "costs.md", "compilers.md"}
    data = ("kernels", "costs", "compilers")
    assert pages | {f"data/{name}.json" for name in data} < paths
    for path in sorted(folder.rglob("*.*")):
        text = path.read_text(encoding="utf-8")
        assert "setwise report" in text or path.suffix == ".svg", path
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


def test_bad_usage_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    assert "makes it" in complaint(capsys, "report", "--check", "-o", str(tmp_path / "nowhere"))


def test_a_damaged_record_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "compilers.json").write_text("{", encoding="utf-8")
    assert "compilers.json" in complaint(capsys, "report", "--check", "-o", str(tmp_path))
