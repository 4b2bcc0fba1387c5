"""What compilers' code could do without, in the reports."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.measure.compilers import Compiled, Compiler
from setwise.analysis.report import wasted
from setwise.analysis.report.compilers import CompilerCounts, Compilers, compilers, shortest
from setwise.analysis.report.files import write
from setwise.analysis.report.kernels import Figures, figures_of
from setwise.analysis.report.wasted import RECORD, Waste, measure, searched
from tests.analysis.report.recorded import assert_reads_back
from tests.conftest import require_module

GCC = Compiler("gcc", "gcc 12")
NORTH = bytes.fromhex("4889f8 48c1e008 4889c1 4889c8 c3")  # mov rax,rdi; shl rax,8; mov rcx,rax; mov rax,rcx; ret
JUMPS = bytes.fromhex("4889f8 48c1e008 eb00 c3")


def made(text: bytes) -> Compiled:
    """A step to the north."""
    return Compiled("shift.one.nort", "x86-64", 1, "plain", GCC, ("-march=x86-64",), Binary(text))


def counts(instructions: int) -> CompilerCounts:
    return CompilerCounts("shift.one.nort", "x86-64", 1, "plain", "gcc", "-march=x86-64", instructions, 3, 16)


def of_north() -> Waste:
    require_module("bitwuzla")
    require_module("numpy")
    return searched(made(NORTH))


def test_moves_that_nobody_needs_are_wasted() -> None:
    row = of_north()
    assert (row.instructions, row.fewest, row.reason, row.wasted) == (4, 2, "", 2)
    assert all(places == everywhere > 0 for places, everywhere in row.levels.values())
    assert row.whole
    assert not replace(row, levels={"a": (1, 9)}).whole


def test_why_code_was_not_searched() -> None:
    require_module("numpy")
    row = searched(made(JUMPS))
    assert (row.fewest, row.wasted) == (row.instructions, 0)
    assert "jump" in row.reason


def test_the_page_has_a_column_for_each_compiler() -> None:
    compiled = Compilers({"gcc": "gcc 12"}, (counts(5), counts(4)))
    figures = Figures({("shift.one.nort", "x86-64", 1): figures_of(("shift.one.nort", "x86-64", 1))})
    row = of_north()
    assert shortest(compiled) == [row.key]
    page = compilers(compiled, figures, None, [row])
    line = "| one step | x86-64 | 1 | 2 | 4 | 1 | 0 | 0 |"
    assert "| longer | `gcc` wastes |" in page
    assert f"{line} 2 of 4 |" in page
    assert "Of 1 function searched " in page
    assert f"{line} 2+ of 4 |" in compilers(compiled, figures, None, [replace(row, levels={"a": (1, 9)})])
    assert f"{line}\n" in compilers(compiled, figures, None)
    for other in (replace(row, instructions=3), replace(row, fewest=4, reason="a jump")):
        assert f"{line} - |" in compilers(compiled, figures, None, [other])


class _Here:
    """Workers that do at once what they are asked for."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def test_a_search_goes_on_from_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row, asked = of_north(), []

    def search(function: Compiled) -> Waste:
        asked.append(function.isa)
        return replace(row, isa=function.isa)

    def interrupted(said: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wasted, "Workers", _Here)
    monkeypatch.setattr(wasted, "installed", lambda: (GCC,))
    monkeypatch.setattr(wasted, "compile_all", lambda _, isa, using: [replace(made(NORTH), isa=isa)])
    monkeypatch.setattr(wasted, "searched", search)
    monkeypatch.setattr(wasted, "_KEPT_EVERY", 1)
    keys = [replace(row, isa=isa).key for isa in ("x86-64", "bmi2")]
    (tmp_path / Path(RECORD.path).parent).mkdir()
    with pytest.raises(KeyboardInterrupt):
        measure(keys, tmp_path, interrupted)
    (first,) = RECORD.read(tmp_path) or ()
    assert [each.isa for each in measure(keys, tmp_path, lambda _: None)] == ["x86-64", "bmi2"]
    assert len(asked) == 3
    assert asked[2] != first.isa
    some = tuple(replace(row, isa=isa, levels={"a": (4, 4)}) for isa in ("x86-64", "bmi2"))
    write(tmp_path, {RECORD.path: RECORD.text(some)})
    measure(keys, tmp_path, lambda _: None)
    assert len(asked) == 5  # a level was missing


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, RECORD, (of_north(),), "fewest")
