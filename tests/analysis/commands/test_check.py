"""`setwise check`: its table, what was not run, other processors, and boards of what failed."""

import json
import re
import sys

import pytest

from setwise.analysis.run.check import Mismatch, Outcome
from setwise.codegen.catalogue import find
from setwise.codegen.run import cpu
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS
from tests.analysis.commands.running import DUMB7, Capture, complaint, numbers, printed, setwise
from tests.conftest import require_tool, runs


def test_check_without_numpy(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("commands.check", "run.checks", "run.inputs", "run.check", "run.emulation"):
        monkeypatch.delitem(sys.modules, f"setwise.analysis.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert complaint(capsys, "check", DUMB7) == "setwise check: NumPy is not installed: pip install numpy\n"


@pytest.mark.parametrize(
    ("line", "said"), [("check --help", "--on icelake"), ("report --help", "--check"), ("completion bash", "shtab")]
)
def test_help_and_completion_without_numpy(line: str, said: str) -> None:
    code = "import sys; sys.modules['numpy'] = None; from setwise.analysis.commands.main import main; sys.exit(main())"
    assert said in setwise(line.split(), code)


@runs
def test_check_prints_a_table(capsys: Capture) -> None:
    out = printed(capsys, "check", DUMB7, "--quick")
    rows = [line.split() for line in out.splitlines() if line.startswith("dumb7")]
    here = [isa for isa in find(DUMB7).isas if not missing(TARGETS[isa])]
    assert {(*row[:4], row[-1]) for row in rows if row[-1] == "passed"} == {
        (DUMB7, isa, str(lanes), abi, "passed")
        for isa in here
        for lanes in TARGETS[isa].widths
        for abi in ("sysv", "wiki", "win64")
    }
    assert re.search(r"\d+ kernels: \d+ passed, 0 failed, \d+ not run; [\d,]+ calls", out)


@runs
def test_check_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "check", DUMB7, "--quick", "--isa", "x86-64", "--abi", "sysv", "--json"))
    assert [(row["name"], row["isa"], row["abi"], row["status"]) for row in rows] == [
        (DUMB7, "x86-64", "sysv", "passed")
    ]
    assert rows[0]["cases"] > 30_000


def test_check_says_what_was_not_run(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    monkeypatch.setenv("PATH", "/nowhere")
    out = printed(capsys, "check", DUMB7, "--isa", "bmi2", "--quick")
    assert "passed" not in out.splitlines()[2]
    assert "3 not run: this processor lacks" in out
    assert "3 kernels: 0 passed, 0 failed, 3 not run; 0 calls" in out


def test_check_on_another_processor(capsys: Capture) -> None:
    require_tool("bochs")
    out = printed(capsys, "check", DUMB7, "--isa", "avx512", "--abi", "sysv", "--on", "icelake")
    assert out.endswith("ran: 3 on Ice Lake, emulated\n")
    assert complaint(capsys, "check", DUMB7, "--on", "zen4").startswith(
        "setwise check: unknown or untested Bochs processor 'zen4'"
    )


@runs
def test_a_failed_check_draws_the_boards(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    mismatch = Mismatch(17, (("sliders", 1 << 60), ("empty", 255)), (3,), (1,))
    outcome = Outcome("failed", 1000, "2 of 1000 cases differ", mismatch)
    monkeypatch.setattr("setwise.analysis.run.checks.run_cases", lambda kernel, cases: outcome)
    out = printed(capsys, "check", DUMB7, "--quick", "--isa", "x86-64", "--abi", "sysv", status=1)
    assert f"{DUMB7} x86-64 1 sysv failed: 2 of 1000 cases differ\ncase 17\n" in out
    assert re.search(r"sliders +empty +attacks, expected +attacks, got", out)
    assert numbers(out) == [1 << 60, 255, 3, 1]
    assert "\n1 kernel: 0 passed, 1 failed, 0 not run" in out
