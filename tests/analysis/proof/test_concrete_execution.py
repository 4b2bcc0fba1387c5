"""Counterexamples of other people's code are stepped, and nothing of it runs, whatever it would do."""

import ctypes
import json
import mmap
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.commands.main import main
from setwise.analysis.proof.certificate import Certificate, Confirmation, Counterexample
from setwise.analysis.proof.concrete_execution import confirm_by_stepping
from setwise.analysis.proof.prover import Prover, confirmed
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run import call, executable
from setwise.codegen.run.executable import Executable, runnable
from tests.analysis.commands.running import Capture, printed
from tests.analysis.listings import assemble, compiled
from tests.conftest import require_module
from tests.processes import in_own_process

NAME = "kogge-stone.attacks.east"


def kernel(name: str = NAME, abi: str = "sysv") -> Kernel:
    return lower(find(name), "x86-64", abi)


def judged(source: str, name: str = NAME, abi: str = "sysv") -> tuple[Certificate, Confirmation]:
    """What the prover refutes of this code, and what its steps say."""
    require_module("bitwuzla")
    made = Prover().prove(Binary(assemble(source)), task_of(kernel(name, abi)))
    assert made.status == "refuted", made.reason
    return made, confirm_by_stepping(made)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code that is made executable, or a process that is forked to run it, fails the test."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("code was about to run")

    monkeypatch.setattr(executable, "_map", forbidden)
    monkeypatch.setattr(call, "runner", forbidden)
    monkeypatch.setattr(mmap, "mmap", forbidden)
    monkeypatch.setattr(os, "fork", forbidden)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("push rdi; ret", "confirmed by stepping: goes to 0x[0-9a-f]+, outside its code"),
        ("1: jmp 1b", "confirmed by stepping: never returns: a state repeats"),
        ("jmp .+0x1000", "confirmed by stepping: goes to 0x401000, outside its code"),
        ("pop rcx; push rax; jmp rcx", "confirmed by stepping: returns with rsp -8 bytes from where it was"),
    ],
)
def test_what_is_wrong_shows_in_steps(source: str, what: str) -> None:
    _, said = judged(source)
    assert said.status == "confirmed"
    assert re.fullmatch(what, said.description), said.description


def test_a_refutation_of_right_code_disagrees() -> None:
    made, _ = judged("mov rax,rdi; ret")
    right = replace(made, binary=Binary(assemble("xor eax,eax; ret")))
    assert made.counterexample is not None
    nothing = replace(made.counterexample, inputs=(("sliders", (0,)), ("empty", (0,))), expected=(0,), got=(1,))
    assert confirm_by_stepping(replace(right, counterexample=nothing)).status == "disagrees"
    elsewhere = replace(nothing, anywhere=False)
    assert confirm_by_stepping(replace(right, counterexample=elsewhere)).status == "not confirmed"


def payload(trace: Path) -> bytes:
    """Code that makes a file of that name (open, with O_CREAT and O_WRONLY), and then gives 0."""
    name = bytes(trace) + b"\0"
    code = assemble("push rdi; push rsi; lea rdi,[rip+40]; mov esi,0x41; mov edx,0x1b6; mov eax,2; syscall; pop rsi")
    code += assemble("pop rdi; xor eax,eax; ret")
    at = len(assemble("push rdi; push rsi; lea rdi,[rip+40]"))
    return code.replace((40).to_bytes(4, "little"), (len(code) - at).to_bytes(4, "little"), 1) + name


def lied(image: bytes) -> Certificate:
    """A refutation that says these bytes may well be run."""
    found = Counterexample("attacks is wrong", (("sliders", (1,)), ("empty", (0,))), 0, (2,), (0,))
    code = len(image) if b"\0" not in image[-1:] else image.index(b"\xc3") + 1
    binary = Binary(image[:code], image[code:], code)
    return Certificate("refuted", binary, task_of(kernel()), found.complaint, found)


def test_code_that_would_leave_a_trace_is_not_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    image = payload(trace)
    if runnable() and os.uname().sysname == "Linux":
        with Executable(image) as code:
            assert in_own_process(code.function(ctypes.c_uint64)) == 0
        assert trace.exists()  # so it does leave one
        trace.unlink()
    said = confirm_by_stepping(lied(image))
    assert said.status == "not confirmed"
    assert said.description.startswith("not confirmed, because it cannot be stepped: no semantics for 'syscall'")
    judged = confirmed(lied(image))
    assert judged.status == "not proved"
    assert "attacks is wrong according to the solver, not confirmed, because it cannot be stepped" in judged.reason
    assert not trace.exists()


WRONG = {
    "wrong": "U64 f(U64 g, U64 p) { return g << 1; }",
    "crashes": "U64 f(U64 g, U64 p) { return *(U64 *)g; }",
    "writes": "U64 f(U64 g, U64 p) { *(volatile U64 *)0x1000 = g; return p; }",
    "endless": 'U64 f(U64 g, U64 p) { for (;;) __asm__ volatile(""); }',
}


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("which", WRONG)
def test_a_refuted_object_is_confirmed_by_stepping(which: str, tmp_path: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    file = compiled(tmp_path, "typedef unsigned long long U64;\n" + WRONG[which])
    arguments = ("prove", "--object", str(file), "--symbol", "f", "--spec", NAME)
    assert "; confirmed by stepping" in printed(capsys, *arguments, status=1)
    (row,) = json.loads(printed(capsys, *arguments, "--json", status=1))
    assert (row["status"], row["counterexample"]["confirmation"]) == ("refuted", "confirmed")


@pytest.mark.usefixtures("nothing_runs")
def test_nothing_of_an_export_runs(tmp_path: Path, capsys: Capture) -> None:
    """Neither where it is as it was, nor where its object and the bytes of its metadata are others."""
    require_module("bitwuzla")
    assert main(("export", NAME, "--format", "elf", "-o", str(tmp_path / "out"))) == 0
    assert main(("verify", str(tmp_path / "out"))) == 0
    path = tmp_path / "out" / "metadata.json"
    record = json.loads(path.read_text())
    wrong = assemble("mov rax,rdi; ret")
    record["kernels"][0] |= {"image": wrong.hex(), "code_bytes": len(wrong), "data_offset": None}
    path.write_text(json.dumps(record, indent=1) + "\n")
    capsys.readouterr()
    assert main(("verify", str(tmp_path / "out"))) == 1
    assert "metadata.json" in (said := capsys.readouterr().out)
    assert "differs from the file that setwise makes" in said
