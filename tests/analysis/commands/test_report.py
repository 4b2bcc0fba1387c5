"""`setwise report`: writes, checks, names what differs; the kernels are a few, for the sake of time."""

import sys
from pathlib import Path

import pytest

from setwise.analysis.bench.compilers import Compiler
from setwise.analysis.commands import report
from setwise.analysis.commands.main import main
from setwise.analysis.report import pages
from setwise.analysis.report.figures import Measurements, Session
from setwise.analysis.report.report_files import PATH, read, text
from tests.analysis.commands.running import Capture, complaint

KEYS = [("dumb7.attacks.sout", "x86-64", 1), ("sliders.union", "avx2", 4), ("push.attacks.sout", "bmi2", 1)]
SESSION = Session("zen5", "a machine", "2025-01-31", "By counting.", [])
SHORTEST = {"x86-64": {"dumb7.attacks.sout": (21, "plain")}}
RECORDED = Measurements([SESSION], {"gcc": "gcc 12", "none": "none 1"}, {"gcc": SHORTEST, "none": SHORTEST})


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "keys", lambda: KEYS)
    monkeypatch.setattr(pages, "installed", lambda: (Compiler("gcc", "gcc 12"),))
    monkeypatch.setattr(pages, "shortest_of", shortest_of)


def shortest_of(compiler: Compiler, isa: str) -> dict[str, tuple[int, str]]:
    return {"dumb7.attacks.sout": (21, "plain")} if isa == "x86-64" else {}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / PATH).write_text(text(RECORDED), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_what_is_written_passes_its_check(folder: Path, capsys: Capture) -> None:
    assert main(["report", "-o", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: 11 files, 11 differed\n"
    assert main(["report", "--check", "-o", str(folder)]) == 0
    said = capsys.readouterr()
    assert "11 files are up to date" in said.out
    assert "not checked: none 1" in said.err
    for path in sorted(folder.rglob("*.md")):
        content = path.read_text(encoding="utf-8")
        assert "Made by `setwise report`" in content, path
        assert str(Path.cwd()) not in content


@pytest.mark.slow
def test_a_changed_figure_fails_the_check_by_name(folder: Path, capsys: Capture) -> None:
    assert main(["report", "-o", str(folder)]) == 0
    page = folder / "compilers.md"
    page.write_text(page.read_text("utf-8").replace("| 20 |", "| 19 |"), encoding="utf-8")
    (folder / "pictures" / "slow-motion.svg").unlink()
    (folder / "data" / "stale.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert main(["report", "--check", "-o", str(folder)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert sorted(line.partition(":")[0].partition(",")[0] for line in said) == [
        "compilers.md",
        "data/stale.json",
        "pictures/slow-motion.svg",
    ]


@pytest.mark.slow
def test_a_check_runs_no_compiler_of_another_version(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "installed", lambda: (Compiler("gcc", "gcc 13"),))
    main(["report", "--check", "-o", str(folder)])
    assert "not checked: gcc 12" in capsys.readouterr().err
    assert main(["report", "-o", str(folder)]) == 0
    assert read(folder).compilers == {"gcc": "gcc 13", "none": "none 1"}


@pytest.mark.slow
def test_a_measurement_takes_the_place_of_the_machine_s_last(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in ("another machine", "a machine"):
        new = Session("zen4", machine, "2025-02-28", "By counting.", [])
        monkeypatch.setattr(report, "measure", lambda *_, new=new: new)
        assert main(["report", "--measure", "-o", str(folder)]) == 0
    assert [(each.machine, each.date) for each in read(folder).sessions] == [
        ("a machine", "2025-02-28"),
        ("another machine", "2025-02-28"),
    ]


def test_bad_usage_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    assert "give one of them" in complaint(capsys, "report", "--check", "--measure", "-o", str(tmp_path))
    assert "create it with setwise report" in complaint(capsys, "report", "--check", "-o", str(tmp_path / "nowhere"))
    (tmp_path / "data").mkdir()
    (tmp_path / PATH).write_text("{", encoding="utf-8")
    assert "measurements.json" in complaint(capsys, "report", "--check", "-o", str(tmp_path))


@pytest.mark.slow
def test_it_needs_no_numpy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do its processes, which look for modules in the same places."""
    (folder / "numpy.py").write_text("raise ModuleNotFoundError(name='numpy')")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    assert main(["report", "-o", str(folder / "new")]) == 0
    assert "numpy" not in sys.modules
