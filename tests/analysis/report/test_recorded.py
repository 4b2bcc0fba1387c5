"""The recorded file: read as it was written, refused if damaged, silent about code that is another now."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.bench import bench as benches
from setwise.analysis.bench.bench import Benchmark
from setwise.analysis.bench.compilers import FOR_SCALE, Compiled, Compiler
from setwise.analysis.bench.trials import Measurand, Timing
from setwise.analysis.code.decode import Binary
from setwise.analysis.cost.processors import processor
from setwise.analysis.report import figures as module
from setwise.analysis.report.figures import (
    TIMED,
    Cycles,
    Figures,
    Measurements,
    Session,
    figures_of,
    measure,
    shortest_of,
)
from setwise.analysis.report.report_files import PATH, read, text
from setwise.codegen.catalogue import catalogue
from tests.conftest import runs

REPORTS = Path(__file__).parents[3] / "reports"
KEY = "push.attacks.sout", "x86-64", 1
KERNEL = figures_of(*KEY)
FIGURES = Figures({KEY: KERNEL})
RECORDED = Measurements(
    [Session("zen4", "a machine", "2025-01-31", "By counting.", [Cycles(*KEY, KERNEL.digest, 10.5, None)])],
    {"gcc": "gcc 12"},
    {"gcc": {"x86-64": {"push.attacks.sout": (17, "plain")}}},
)


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    written = text(RECORDED)
    (tmp_path / PATH).write_text(written, encoding="utf-8")
    assert read(tmp_path) == RECORDED
    assert json.loads(written)["sessions"][0]["cycles"] == [[*KEY, KERNEL.digest, 10.5, None]]
    (line,) = (line for line in written.splitlines() if KERNEL.digest in line and "10.5" in line)
    assert line.strip().endswith("null ]")
    assert read(tmp_path / "elsewhere") == Measurements()


@pytest.mark.parametrize("content", [b"", b"{", b'{"sessions": 1}', b'{"other": []}', b"\xff", b'{"compilers": ["a"]}'])
def test_a_damaged_file_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / PATH).write_bytes(content)
    with pytest.raises(ValueError, match=r"measurements\.json cannot be read .*restore it") as raised:
        read(tmp_path)
    assert "\n" not in str(raised.value)


def test_rows_of_other_bytes_are_left_out() -> None:
    assert RECORDED.of(FIGURES) == RECORDED
    changed = Figures({KEY: replace(KERNEL, digest="0" * 16)})
    assert RECORDED.of(changed).sessions[0].cycles == []


def test_of_a_compiler_s_code_the_shortest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    gcc, shift = Compiler("gcc", "gcc 12"), bytes.fromhex("4889d048c1e808c3")
    rows = [(b"\x90" + shift, "plain"), (shift, "vectors"), (b"\x90\x90" + shift, "rays"), (b"\xc3", f"{FOR_SCALE}s")]
    made = [Compiled("shift.one.sout", "sse2", 2, kind, gcc, (), Binary(code)) for code, kind in rows]
    failed = Compiled("shift.one.nort", "sse2", 2, "plain", gcc, (), None, "needs a call")
    monkeypatch.setattr(module, "compile_all", lambda *_, **__: [*made, failed])
    assert shortest_of(gcc, "sse2") == {"shift.one.sout": (2, "vectors")}


@runs
def test_a_session_has_the_cycles_of_the_bytes_that_it_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def bench(requests: object, patience: float, show: object) -> Benchmark:
        timed = Measurand(*KEY, "sysv", "setwise", "chained")
        return Benchmark([Timing(timed, 10.018, 10.0, 0.0, 1, 1, 1, 1)], [])

    monkeypatch.setattr(module, "TIMED", ("push.attacks.sout",))
    monkeypatch.setattr(benches, "bench", bench)
    monkeypatch.setattr(module, "processor_here", lambda: processor("zen4"))
    session = measure(lambda _: None, 1.0)
    assert session.processor == "zen4"
    assert session.cycles[0] == Cycles(*KEY, KERNEL.digest, 10.02, None)
    monkeypatch.setattr(module, "processor_here", lambda: None)
    with pytest.raises(ValueError, match="has no table"):
        measure(lambda _: None, 1.0)


def test_the_repository_has_a_small_file_of_routines_that_there_are() -> None:
    assert (REPORTS / PATH).stat().st_size < 100_000
    held = read(REPORTS)
    rows = [row for session in held.sessions for row in session.cycles]
    assert {row.name for row in rows} | {*TIMED} <= catalogue().keys()
    assert all(each.keys() <= catalogue().keys() for of in held.shortest.values() for each in of.values())
