"""`setwise export`: what it writes, and what it refuses."""

import hashlib
import json
import os
import re
import resource
import subprocess
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis import proofs
from setwise.analysis.commands.main import main
from setwise.analysis.exports import export as exporting_kernels
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Task
from setwise.analysis.workers import Workers
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.kernel import Plan
from setwise.codegen.targets import TARGETS
from setwise.codegen.version import version
from tests.analysis.commands.running import SOUTH, TWICE, UNION, Capture, complaint, export, findings, printed
from tests.conftest import require_module

SOUTH_X86_64, SOUTH_BMI2 = "kogge_stone_attacks_sout_x86_64", "kogge_stone_attacks_sout_bmi2"


@pytest.fixture(autouse=True)
def _prover() -> None:
    require_module("bitwuzla")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written_and_verifies(form: str, tmp_path: Path, capsys: Capture) -> None:
    isa = "x86-64" if form == "javascript" else "bmi2"
    found = export(tmp_path, SOUTH, "shift.one.any", "--isa", isa, "--format", form)
    files = {path.name: path for path in tmp_path.iterdir() if path.name != "metadata.json"}
    assert files
    assert {name: one["sha256"] for name, one in found["files"].items()} == {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()
    }
    number = 4 if form in ("go", "c", "rust", "zig") else 2  # those for x86-64 are always there
    assert f"{number} kernels, proved" in capsys.readouterr().out
    for path in files.values():
        if path.suffix not in (".o", ".obj", ".a"):
            head = "".join(path.read_text().splitlines(keepends=True)[:8])
            assert "SPDX-License-Identifier: MIT-0\n" in head
            assert f"with setwise {version()}; setwise's code of each kernel is proved for all inputs" in head
    assert "all fine" in printed(capsys, "verify", str(tmp_path))
    for path in files.values():
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert {subject for subject, what in findings(capsys, tmp_path) if what == "made again"} == set(files)


def test_metadata_says_what_a_kernel_is(tmp_path: Path) -> None:
    found = export(tmp_path, UNION, "--isa", "avx2", "--format", "elf")
    assert found["made_by"] == "setwise export sliders.union --isa avx2 --format elf"
    (one,) = found["kernels"]
    assert (one["name"], one["isa"], one["abi"], one["lanes"]) == (UNION, "avx2", "sysv", 4)
    assert one["symbol"] == "setwise_sliders_union_avx2"
    assert one["prototype"].startswith("uint64_t setwise_sliders_union_avx2(uint64_t rooks, ")
    assert one["registers"]["sysv"] == {"rooks": "rdi", "bishops": "rsi", "occupied": "rdx", "attacks": "rax"}
    assert one["features"] == ["avx", "avx2"]
    assert one["counts"]["instructions"] == 39
    assert one["contract"]["requires"] == ["sliders within occupied"]
    assert found["request"]["proved"]
    assert one["sha256"] in (tmp_path / "setwise.h").read_text()


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("c", "setwise_inline.h"),
        pytest.param("rust", "setwise.rs", marks=pytest.mark.slow),
        pytest.param("zig", "setwise.zig", marks=pytest.mark.slow),
    ],
)
def test_how_squares_are_numbered_is_said(form: str, file: str, tmp_path: Path) -> None:
    """Of all kernels, or of those that number them otherwise; files of the usual numbering are as they always were."""
    usual, other = "exploding.bishop", "exploding.direction.big-endian"
    of_usual, of_other = "a1 = bit 0, h1 = bit 7, h8 = bit 63", "h1 = bit 0, a1 = bit 7, a8 = bit 63"
    for names, bits in (
        ((usual,), of_usual),
        ((other,), of_other),
        ((usual, other), f"{of_usual}, unless a function says otherwise"),
    ):
        there = tmp_path / str(len(list(tmp_path.iterdir())))
        found = export(there, *names, "--isa", "x86-64", "--format", form, "--unproved")
        text = re.sub(r"[\s*/]+", " ", (there / file).read_text())
        assert text.count("= bit 0") == 1
        assert f"squares: {bits}." in text
        numbered = {one["name"]: one["contract"].get("squares") for one in found["kernels"]}
        assert numbered == {name: "h1 = 0, a1 = 7, a8 = 63" if name == other else None for name in names}
        for said in ("squares numbered h1 = 0, a1 = 7, a8 = 63", "direction 1 east, 2 noEa, 3 nort, 4 noWe, 5 west, "):
            assert (said[1:] in text.replace(":", "")) == (other in names)


def test_patterns_and_several_instruction_sets(tmp_path: Path, capsys: Capture) -> None:
    found = export(tmp_path, "shift.one.n*", "--isa", "x86-64,sse2", "--format", "gas", "--lanes", "2")
    symbols = [one["symbol"] for one in found["kernels"]]
    assert symbols == [f"setwise_shift_one_{d}_{i}" for d in ("noEa", "noWe", "nort") for i in ("x86_64", "sse2")]
    assert capsys.readouterr().err == ""


def test_what_does_not_come_for_a_set_is_told(tmp_path: Path, capsys: Capture) -> None:
    found = export(tmp_path, "exploding.rook", SOUTH, "--isa", "x86-64,avx2", "--format", "gas")
    assert len(found["kernels"]) == 3
    assert "skipped, because they do not exist: exploding.rook for avx2" in capsys.readouterr().err


@pytest.mark.slow
def test_all_sets_are_those_that_the_format_can_express(tmp_path: Path, capsys: Capture) -> None:
    for form, left in (("zig", "gfni"), ("javascript", "bmi2, sse2, avx2, avx512, gfni"), ("cpp", "")):
        found = export(tmp_path / form, UNION, "--isa", "ALL", "--format", form, "--unproved")
        assert found["request"]["format"] == form.replace("cpp", "c")
        isas = [one["isa"] for one in found["kernels"]]
        assert isas == [isa for isa in TARGETS if isa not in left.split(", ")]
        printed = capsys.readouterr().err
        assert printed == (f"setwise export: left out, because {form} cannot express it: {left}\n" if left else "")
        assert findings(capsys, tmp_path / form, status=0) == []


def test_one_set_comes_with_a_fallback_and_the_plain_name(tmp_path: Path) -> None:
    found = export(tmp_path, UNION, "--isa", "AVX2", "--format", "c++", "--unproved")
    assert [one["isa"] for one in found["kernels"]] == ["x86-64", "avx2"]
    text = (tmp_path / "setwise_inline.h").read_text()
    assert "uint64_t setwise_sliders_union(" in text
    assert "Plain x86-64 is the fallback." in text


@pytest.mark.slow
def test_a_variant_with_pext_comes_with_the_default_one(tmp_path: Path, capsys: Capture) -> None:
    for form, kernels in (("c", 3), ("rust", 3), ("elf", 1)):
        there = tmp_path / form
        found = export(there, UNION, "--isa", "bmi2", "--for", "latency", "--format", form, "--unproved")
        assert len(found["kernels"]) == kernels
        assert sum(one["symbol"].endswith("_pext") for one in found["kernels"]) == 1
        assert findings(capsys, there, status=0) == []


def test_a_variant_in_general_registers_is_proved_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("bitwuzla")
    monkeypatch.setattr(proofs, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    found = export(tmp_path, "sliders.rays", "--isa", "gfni", "--variant", "scalar", "--format", "elf")
    assert [one["lanes"] for one in found["kernels"]] == [1]


def test_messages_and_commands_in_files_are_those_of_the_export(tmp_path: Path) -> None:
    export(tmp_path / "c", UNION, "--isa", "all", "--format", "c", "--prefix", "my", "--unproved")
    text = (tmp_path / "c" / "my_inline.h").read_text()
    assert "-DMY_QUIET" in text
    assert "SETWISE" not in text
    export(tmp_path / "js", UNION, "--isa", "all", "--format", "javascript", "--unproved")
    assert f"{UNION} --isa x86-64 --format javascript" in (tmp_path / "js" / "setwise.mjs").read_text()


def test_a_listing_is_what_the_command_in_it_prints(tmp_path: Path, capsys: Capture) -> None:
    """Behind the head, which says of the file what the command cannot know."""
    export(tmp_path, UNION, "--isa", "avx2", "--format", "att", "--endbr64", "--prefix", "mine")
    lines = (tmp_path / "mine_sliders_union_avx2.s").read_text().splitlines(keepends=True)
    (command,) = re.findall(r"made by +setwise (.*)", "".join(lines[4:]))
    capsys.readouterr()
    assert printed(capsys, *command.split()) == "".join(lines[4:])


def test_files_symbols_and_guards_are_called_as_asked_for(tmp_path: Path, capsys: Capture) -> None:
    """Whatever the format, nothing global is called otherwise."""
    both = ("--prefix", "mine", "--name", "fills")
    named = {"c": ["fills.h"], "rust": ["fills.rs"], "zig": ["fills.zig"], "lib": ["fills.h", "libfills.a"]}
    for form, names in named.items():
        found = export(tmp_path / form, SOUTH, "--format", form, "--isa", "bmi2", "--unproved", *both)
        assert sorted(found["files"]) == names
        assert {kernel["symbol"] for kernel in found["kernels"]} <= {f"mine_{SOUTH_BMI2}", f"mine_{SOUTH_X86_64}"}
        assert not [name for name in names if b"setwise_" in (tmp_path / form / name).read_bytes().lower()]
        assert findings(capsys, tmp_path / form, status=0) == []
    for form, guard in (("c", "MINE_INLINE_H"), ("lib", "MINE_FILLS_H")):
        assert f"#ifndef {guard}\n" in (tmp_path / form / "fills.h").read_text()
    go = export(tmp_path / "go", SOUTH, "--format", "go", "--unproved", "--prefix", "mine")
    assert sorted(go["files"]) == ["mine_amd64.go", "mine_generic.go", f"mine_{SOUTH_X86_64}_amd64.s"]
    assert "\npackage mine\n" in (tmp_path / "go" / "mine_amd64.go").read_text()


def test_one_command_fills_a_folder_for_every_processor(tmp_path: Path, capsys: Capture) -> None:
    found = export(tmp_path, SOUTH, "exploding.rook", "--isa", "all", "--format", "rust", "--dispatch")
    assert sorted(found["files"]) == ["setwise.rs"]
    exported = {(kernel["name"], kernel["isa"]) for kernel in found["kernels"]}
    assert exported == {(routine.name, isa) for routine in map(find, (SOUTH, "exploding.rook")) for isa in routine.isas}
    assert capsys.readouterr().err == ""
    assert findings(capsys, tmp_path, status=0) == []


# what is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SOUTH, "--format", "pdf"), "unknown format 'pdf': use one of nasm, gas"),
        (("south", "--format", "elf"), "unknown routine 'south': the nearest names are"),
        (("sou\nth*", "--format", "elf"), "no routine matches 'sou th*'"),
        ((SOUTH, "--format", "elf", "--lanes", "2"), "has one lane: leave --lanes out"),
        (
            (SOUTH, "--format", "elf", "--dispatch"),
            "has no run-time dispatch: leave out --dispatch, or use one of go, c, rust, zig",
        ),
        (("exploding.rook", "--format", "go"), "jump table"),
        (("exploding.rook", "--format", "elf", "--isa", "avx2"), "is not available for avx2"),
        ((SOUTH, "--format", "go", "--endbr64"), "go cannot add endbr64"),
        ((SOUTH,), "--format"),
        ((SOUTH, "--format", "c", "--prefix", "a__b"), "'a__b' cannot begin names: use up to 64 ASCII letters"),
        ((SOUTH, "--format", "go", "--name", "../x"), "'../x' cannot begin names"),
        ((SOUTH, "--format", "rust", "--name", "mod"), "'mod' is reserved in exports (words of C,"),
        ((SOUTH, "--format", "elf", "-o", "-"), "-o/--output: '-' is not a file name: give a name"),
    ],
)
def test_bad_usage_is_one_line(arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: Capture) -> None:
    assert said in complaint(capsys, "export", "-o", str(tmp_path / "new"), *arguments)
    assert not (tmp_path / "new").exists()


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "elf")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "already holds an export: give --force" in complaint(
        capsys, "export", SOUTH, "--format", "elf", "--endbr64", "-o", str(tmp_path)
    )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    export(tmp_path, SOUTH, "--format", "elf", "--endbr64", "--force")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} != before


def test_a_disk_that_fills_leaves_nothing(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    program = "import sys; from setwise.analysis.commands.main import main; sys.exit(main())"
    arguments = ["export", SOUTH, "--format", "elf", "-o", str(tmp_path / "new")]
    command = [sys.executable, "-B", "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, env={**os.environ})
    assert done.returncode == 1
    assert re.fullmatch(r"setwise export: .*file too large: nothing was written[^\n]*\n", done.stderr)
    assert not (tmp_path / "new").exists()


def refute(monkeypatch: pytest.MonkeyPatch, isa: str) -> None:
    """Let the kernels of an instruction set be judged by the contract of another direction."""

    def other(plan: Plan) -> Task:
        return replace(task_of(plan), direction="nort") if plan.target.name == isa else task_of(plan)

    monkeypatch.setattr(proofs, "task_of", other)


def test_where_nothing_is_proved_nothing_is_written(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    refute(monkeypatch, "x86-64")
    line = complaint(capsys, "export", SOUTH, "--format", "elf", "-o", str(tmp_path / "new"), status=1)
    assert "nothing was written" in line
    assert f"{SOUTH} for x86-64 is refuted" in line
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("form", ["nasm", "go", "c", "rust", "zig", "lib"])
def test_what_is_not_proved_is_named_and_left_out(
    form: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`verify` makes the rest again."""
    refute(monkeypatch, "bmi2")
    there = tmp_path / "new"
    assert main(["export", SOUTH, "--isa", "x86-64,bmi2", "--format", form, "-o", str(there)]) == 1
    said = capsys.readouterr()
    assert f"{SOUTH} for bmi2 is refuted: " in said.err
    assert "1 kernel, proved, and 1 not proved and left out" in said.out
    found = json.loads((there / "metadata.json").read_text())
    assert [kernel["symbol"] for kernel in found["kernels"]] == [f"setwise_{SOUTH_X86_64}"]
    assert found["request"]["unproved"] == [[SOUTH, "bmi2"]]
    content = [(there / name).read_bytes() for name in found["files"]]
    assert SOUTH_BMI2.encode() not in b"".join(content)
    assert any(b"proved for all inputs" in text for text in content)
    monkeypatch.setattr(proofs, "task_of", task_of)
    assert findings(capsys, there, status=0) == []


@pytest.mark.parametrize("form", ["nasm", "go", "c", "rust", "zig", "lib"])
def test_unproved_tries_no_proof_and_the_files_say_so(
    form: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "task_of", lambda _: pytest.fail("a proof was tried"))
    command = ("export", SOUTH, "--isa", "x86-64,bmi2", "--format", form, "--unproved", "-o", str(tmp_path / "new"))
    assert printed(capsys, *command).endswith("2 kernels, not proved\n")
    found = json.loads((tmp_path / "new" / "metadata.json").read_text())
    content = [(tmp_path / "new" / name).read_bytes() for name in found["files"]]
    assert not any(b"proved for all inputs" in text for text in content)
    assert any(b"; not proved." in text for text in content)
    assert "proved" not in found["request"]


def test_an_export_that_stands_there_is_told_before_anything_is_made(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(tmp_path, SOUTH, "--format", "elf")
    monkeypatch.setattr(exporting_kernels, "kernels_of", lambda *_: pytest.fail("a kernel was made"))
    line = complaint(capsys, "export", SOUTH, "--format", "elf", "-o", str(tmp_path))
    assert "already holds an export: give --force" in line


def test_proofs_in_processes_are_those_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of users' routines, too, whose contracts go by name, and of code with endbr64."""
    own = tmp_path / "own.py"
    own.write_text(TWICE)
    routines = chosen([f"{own}:twice", "shift.one.n*", SOUTH])
    started: list[Future[Certificate]] = []
    submit = Workers.submit

    def submitted(*given: Any) -> Future[Certificate]:
        started.append(submit(*given))
        return started[-1]

    monkeypatch.setattr(Workers, "submit", submitted)
    written = []
    for processes in (1, 2):
        there, shown = tmp_path / str(processes), list[str]()
        exporting_kernels.export(
            routines, str(there), "gas", [*TARGETS], endbr64=True, processes=processes, show=shown.append
        )
        written.append({path.name: path.read_bytes() for path in there.iterdir()})
        number = len(json.loads(written[-1]["metadata.json"])["kernels"])
        assert [line for line in shown if line.startswith(f"proof {number} of {number}: {SOUTH} ")]
    assert written[0] == written[1]
    assert {future.result().status for future in started} == {"proved"}
    assert {future.result().binary.text[:4] for future in started} == {bytes.fromhex("f30f1efa")}


def test_without_the_solver_nothing_is_proved_and_it_says_so(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(tmp_path / "old", SOUTH, "--format", "elf")
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    capsys.readouterr()
    shown = printed(capsys, "export", SOUTH, "--format", "elf", "-o", str(tmp_path / "new"))
    assert shown.endswith(": 1 kernel, not proved, because bitwuzla is not installed (pip install bitwuzla)\n")
    assert "proved" not in json.loads((tmp_path / "new" / "metadata.json").read_text())["request"]
    line = complaint(capsys, "verify", str(tmp_path / "old"))
    assert line == "setwise verify: bitwuzla is not installed: pip install bitwuzla\n"
