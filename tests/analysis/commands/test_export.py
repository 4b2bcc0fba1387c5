"""`setwise export` and `setwise verify`: what they write, what they refuse, and that a changed byte is found."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands import export as commands_export
from setwise.analysis.commands.main import main
from setwise.analysis.exports import metadata
from setwise.codegen.catalogue import find
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.version import version
from tests.conftest import require_module

SOUTH, UNION = "kogge-stone.attacks.sout", "sliders.union"
SOUTH_X86_64, SOUTH_BMI2 = "kogge_stone_attacks_sout_x86_64", "kogge_stone_attacks_sout_bmi2"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _prover() -> None:
    require_module("bitwuzla")


def export(directory: Path, *arguments: str) -> dict[str, Any]:
    """The metadata of what the command writes."""
    assert main(["export", *arguments, "-o", str(directory)]) == 0
    found: dict[str, Any] = json.loads((directory / "metadata.json").read_text())
    return found


def complaint(capsys: Capture, *arguments: str, status: int = 2) -> str:
    """The one line that the command complains with."""
    capsys.readouterr()
    try:
        ended: object = main(arguments)
    except SystemExit as end:
        ended = end.code
    done = capsys.readouterr()
    assert (ended, done.out) == (status, "")
    assert re.fullmatch(r"setwise[^\n]+\n", done.err), done.err
    return done.err


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written_and_verifies(form: str, tmp_path: Path, capsys: Capture) -> None:
    isa = "x86-64" if form == "javascript" else "bmi2"
    found = export(tmp_path, SOUTH, "shift.one.any", "--isa", isa, "--format", form)
    files = {path.name: path for path in tmp_path.iterdir() if path.name != "metadata.json"}
    assert files
    assert {name: one["sha256"] for name, one in found["files"].items()} == {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()
    }
    assert "2 kernels, proved" in capsys.readouterr().out
    for path in files.values():
        if path.suffix not in (".o", ".obj", ".a"):
            head = "".join(path.read_text().splitlines(keepends=True)[:8])
            assert "SPDX-License-Identifier: MIT-0\n" in head
            assert f"with setwise {version()}; our code of each kernel is proved for every input" in head
    assert main(["verify", str(tmp_path)]) == 0
    assert "all fine" in capsys.readouterr().out
    for path in files.values():
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert {subject for subject, what in findings(capsys, tmp_path) if what == "as written"} == set(files)


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
    assert one["proof"]["status"] == "proved"
    image = bytes.fromhex(one["image"])
    code = bytearray(image[: one["code_bytes"]])
    for at in one["distances"]:
        code[at : at + 4] = bytes(4)
    assert hashlib.sha256(code).hexdigest() == one["sha256"]
    assert hashlib.sha256(image).hexdigest() == one["proof"]["image_sha256"]
    assert one["sha256"] in (tmp_path / "setwise.h").read_text()
    assert bytes(code) in (tmp_path / "setwise_sliders_union_avx2.o").read_bytes()


@pytest.mark.parametrize(("form", "file"), [("c", "setwise_inline.h"), ("rust", "setwise.rs"), ("zig", "setwise.zig")])
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
            assert (said in text) == (other in names)


def test_equal_commands_write_equal_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        export(tmp_path / name, UNION, "--isa", "avx2", "--format", "lib")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_windows_formats_are_win64_unless_told(tmp_path: Path) -> None:
    assert export(tmp_path / "coff", SOUTH, "--format", "coff")["kernels"][0]["abi"] == "win64"
    assert export(tmp_path / "masm", SOUTH, "--format", "masm")["kernels"][0]["abi"] == "win64"
    assert export(tmp_path / "elf", SOUTH, "--format", "elf")["kernels"][0]["abi"] == "sysv"


def test_patterns_and_several_instruction_sets(tmp_path: Path, capsys: Capture) -> None:
    found = export(tmp_path, "shift.one.n*", "--isa", "x86-64,sse2", "--format", "gas", "--lanes", "2")
    symbols = [one["symbol"] for one in found["kernels"]]
    assert symbols == [f"setwise_shift_one_{d}_{i}" for d in ("noEa", "noWe", "nort") for i in ("x86_64", "sse2")]
    assert capsys.readouterr().err == ""


def test_what_does_not_come_for_a_set_is_told(tmp_path: Path, capsys: Capture) -> None:
    found = export(tmp_path, "exploding.rook", SOUTH, "--isa", "x86-64,avx2", "--format", "gas")
    assert len(found["kernels"]) == 3
    assert "left out, for there are none: exploding.rook for avx2" in capsys.readouterr().err


def test_endbr64_begins_every_function(tmp_path: Path) -> None:
    export(tmp_path, SOUTH, "--format", "gas", "--endbr64")
    text = (tmp_path / "setwise_kogge_stone_attacks_sout_x86_64.s").read_text()
    assert text.split("setwise_kogge_stone_attacks_sout_x86_64:\n")[1].startswith("    endbr64\n")
    assert "--endbr64 --syntax gas" in text


def test_a_listing_is_what_the_command_in_it_prints(tmp_path: Path, capsys: Capture) -> None:
    """Behind the head, which says of the file what the command cannot know."""
    export(tmp_path, UNION, "--isa", "avx2", "--format", "att", "--endbr64", "--prefix", "mine")
    lines = (tmp_path / "mine_sliders_union_avx2.s").read_text().splitlines(keepends=True)
    (command,) = re.findall(r"made by +setwise (.*)", "".join(lines[4:]))
    capsys.readouterr()
    assert main(command.split()) == 0
    assert capsys.readouterr().out == "".join(lines[4:])


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
    for form in ("c", "lib"):
        assert "#ifndef MINE_FILLS_H\n" in (tmp_path / form / "fills.h").read_text()
    go = export(tmp_path / "go", SOUTH, "--format", "go", "--unproved", "--prefix", "mine")
    assert sorted(go["files"]) == ["mine_amd64.go", f"mine_{SOUTH_X86_64}_amd64.s"]
    assert "\npackage mine\n" in (tmp_path / "go" / "mine_amd64.go").read_text()


def test_one_command_fills_a_folder_for_two_languages(tmp_path: Path, capsys: Capture) -> None:
    found = export(tmp_path, SOUTH, "exploding.rook", "--isa", "all", "--format", "c,rust", "--dispatch")
    assert sorted(found["files"]) == ["setwise.rs", "setwise_inline.h"]
    exported = {(kernel["name"], kernel["isa"]) for kernel in found["kernels"]}
    assert exported == {(routine.name, isa) for routine in map(find, (SOUTH, "exploding.rook")) for isa in routine.isas}
    assert capsys.readouterr().err == ""
    assert findings(capsys, tmp_path, status=0) == []


def test_metadata_of_exports_without_names_is_as_it_was(tmp_path: Path) -> None:
    assert list(export(tmp_path, SOUTH, "--format", "elf", "--unproved")["request"]) == [
        *("format", "names", "isas", "abi", "lanes", "endbr64", "dispatch", "made_by")
    ]


# what is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SOUTH, "--format", "pdf"), "unknown format 'pdf': use one of nasm, gas"),
        (("south", "--format", "elf"), "unknown routine 'south': nearest are"),
        (("a/b", "--format", "elf"), "unknown routine 'a/b'"),
        (("sou\nth*", "--format", "elf"), "no routine is like 'sou th*'"),
        ((SOUTH, "--format", "elf", "--isa", "x86-64,mmx"), "unknown instruction set 'mmx'"),
        ((SOUTH, "--format", "elf", "--abi", "arm"), "unknown convention 'arm'"),
        ((SOUTH, "--format", "elf", "--lanes", "2"), "has one lane: leave --lanes out"),
        (
            (SOUTH, "--format", "elf", "--dispatch"),
            "--dispatch is for source that chooses when it runs: use one of c, rust",
        ),
        ((UNION, "--format", "c,coff"), "formats of two calling conventions: export them one by one"),
        ((UNION, "--format", "elf,macho"), "two of the formats write setwise_sliders_union_x86_64.o: export"),
        ((UNION, "--format", "c,lib", "--name", "fills"), "two of the formats write fills.h"),
        ((UNION, "--format", "c,zig", "--dispatch"), "use one of c, rust"),
        ((UNION, "--format", "c,"), "unknown format ''"),
        ((UNION, "--format", "c", "--bound"), "add --dispatch"),
        ((UNION, "--format", "elf", "--checked"), "asserts what it requires: use one of c, rust, zig"),
        ((SOUTH, "--format", "zig", "--dispatch"), "use one of c, rust\n"),
        (("exploding.rook", "--format", "go"), "table of jumps"),
        (("exploding.rook", "--format", "elf", "--isa", "avx2"), "does not come for avx2"),
        ((SOUTH, "--format", "go", "--endbr64"), "go has no endbr64"),
        ((SOUTH,), "--format"),
        ((SOUTH, "--format", "c", "--prefix", "a__b"), "'a__b' cannot begin names in C: use up to 64 letters"),
        ((SOUTH, "--format", "c", "--prefix", "x" * 65), "cannot begin names in C"),
        ((SOUTH, "--format", "go", "--name", "../x"), "'../x' cannot begin names"),
        ((SOUTH, "--format", "rust", "--name", "mod"), "'mod' is a word that a language"),
        ((SOUTH, "--format", "elf", "-o", ""), "-o/--output: '' names nothing to write: give a name"),
        ((SOUTH, "--format", "elf", "-o", "-"), "-o/--output: '-' names nothing to write: give a name"),
    ],
)
def test_bad_usage_is_one_line(arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: Capture) -> None:
    assert said in complaint(capsys, "export", "-o", str(tmp_path / "new"), *arguments)
    assert not (tmp_path / "new").exists()


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "elf")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "is there already: give --force" in complaint(
        capsys, "export", SOUTH, "--format", "elf", "--endbr64", "-o", str(tmp_path)
    )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    export(tmp_path, SOUTH, "--format", "elf", "--endbr64", "--force")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} != before


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_there_whole_or_not_at_all(
    form: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the user's, a place where nobody may write, and a disk that fills behind the first file."""
    command = ("export", SOUTH, "--format", form, "--unproved", "-o")
    (tmp_path / "metadata.json").write_text("mine")
    assert "holds 'metadata.json', not written by an export" in complaint(capsys, *command, str(tmp_path), "--force")
    assert [path.name for path in tmp_path.iterdir()] == ["metadata.json"]
    assert "nothing was written" in complaint(capsys, *command, "/proc/self/fdinfo/new", status=1)

    synced: list[int] = []

    def full(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    line = complaint(capsys, *command, str(tmp_path / "new"), status=1)
    assert "no space left on device: nothing was written" in line
    assert not (tmp_path / "new").exists()


def test_a_directory_that_nobody_may_write(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for directory in (tmp_path / "file" / "deeper", Path("/proc/self/fdinfo/new")):
        line = complaint(capsys, "export", SOUTH, "--format", "elf", "-o", str(directory), status=1)
        assert "nothing was written" in line


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


@pytest.mark.parametrize("command", [("listing", SOUTH), ("list",), ("listing", "sliders.rays", "--syntax", "masm")])
def test_an_output_that_fills_is_told_in_one_line(command: tuple[str, ...]) -> None:
    """What was written before stays in the shell's file; the exit status says that it is not all."""
    if not Path("/dev/full").exists():
        pytest.skip("not run: no /dev/full")
    program = "import sys; from setwise.analysis.commands.main import main; sys.exit(main())"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", program, *command], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "setwise: the output cannot be written: no space left on device\n"


def test_what_is_not_proved_is_not_exported(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    right = commands_export.task_of

    def other(kernel: Any) -> Any:
        from dataclasses import replace

        return replace(right(kernel), direction="nort")

    monkeypatch.setattr(commands_export, "task_of", other)
    line = complaint(capsys, "export", SOUTH, "--format", "elf", "-o", str(tmp_path / "new"), status=1)
    assert "is refuted" in line
    assert "nothing was written" in line
    assert not (tmp_path / "new").exists()
    assert main(["export", SOUTH, "--format", "elf", "--unproved", "-o", str(tmp_path / "new")]) == 0
    assert json.loads((tmp_path / "new" / "metadata.json").read_text())["kernels"][0]["proof"] is None


def test_without_the_solver_nothing_is_proved_and_it_says_so(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(tmp_path / "old", SOUTH, "--format", "elf")

    def missing() -> None:
        raise ModuleNotFoundError("No module named 'bitwuzla'", name="bitwuzla")

    monkeypatch.setattr(commands_export, "Prover", missing)
    monkeypatch.setattr("setwise.analysis.exports.verify.Prover", missing)
    capsys.readouterr()
    assert main(["export", SOUTH, "--format", "elf", "-o", str(tmp_path / "new")]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(": 1 kernel, not proved, for bitwuzla is not installed (pip install bitwuzla)\n")
    assert json.loads((tmp_path / "new" / "metadata.json").read_text())["kernels"][0]["proof"] is None
    line = complaint(capsys, "verify", str(tmp_path / "old"))
    assert line == "setwise verify: bitwuzla is not installed: pip install bitwuzla\n"


# what verify finds


def tampered(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The metadata with a change."""
    path = directory / metadata.NAME
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record, indent=1) + "\n")


def findings(capsys: Capture, directory: Path, status: int = 1) -> list[tuple[str, str]]:
    """What failed, of what."""
    capsys.readouterr()
    assert main(["verify", str(directory), "--json"]) == status
    return [(one["subject"], one["what"]) for one in json.loads(capsys.readouterr().out) if one["status"] == "failed"]


def test_a_changed_byte_of_a_file_is_found(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, UNION, "--isa", "avx2", "--format", "elf")
    path = tmp_path / "setwise_kogge_stone_attacks_sout_avx2.o"
    content = bytearray(path.read_bytes())
    content[0x40 + 4] ^= 1  # a shift count, or a register: code that is no longer right
    path.write_bytes(content)
    assert findings(capsys, tmp_path) == [(path.name, "as written"), (path.name, "proof")]
    # Whoever changes the digest as well is told by the file made again, and by the proof.
    digest = hashlib.sha256(content).hexdigest()
    tampered(tmp_path, lambda record: record["files"][path.name].update(sha256=digest))
    assert findings(capsys, tmp_path) == [("all files", "made again"), (path.name, "proof")]


def test_a_missing_file_is_found(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    (tmp_path / "setwise_kogge_stone_attacks_sout_x86_64.asm").unlink()
    assert findings(capsys, tmp_path) == [("setwise_kogge_stone_attacks_sout_x86_64.asm", "as written")]


def test_changed_code_in_the_metadata_is_found_and_refuted(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")

    def change(record: dict[str, Any]) -> None:
        (one,) = record["kernels"]
        image = bytearray.fromhex(one["image"])
        image[image.index(b"\x08")] = 0x10  # a shift by two steps
        one["image"], digest = image.hex(), hashlib.sha256(image).hexdigest()
        one["sha256"] = one["proof"]["image_sha256"] = digest

    tampered(tmp_path, change)
    symbol = "setwise_kogge_stone_attacks_sout_x86_64"
    assert findings(capsys, tmp_path) == [("all files", "made again"), (symbol, "proof")]


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one["counts"].update(moves=0),
        lambda one: one.update(features=["avx2"]),
        lambda one: one.update(sha256="0" * 64),
        lambda one: one["proof"].update(image_sha256="0" * 64),
        lambda one: one.update(distances=[0]),
    ],
)
def test_figures_that_are_not_true_are_found(
    change: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: Capture
) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    tampered(tmp_path, lambda record: change(record["kernels"][0]))
    assert ("setwise_kogge_stone_attacks_sout_x86_64", "figures") in findings(capsys, tmp_path)


def test_a_changed_contract_is_found(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, UNION, "--isa", "avx2", "--format", "nasm")
    tampered(tmp_path, lambda record: record["kernels"][0]["contract"].update(requires=[]))
    assert findings(capsys, tmp_path) == [("all files", "made again")]


def test_files_of_another_version_are_not_made_again(tmp_path: Path, capsys: Capture) -> None:
    """Even where nothing else can be read; but they may be replaced."""
    export(tmp_path, SOUTH, "--format", "nasm")
    for change in ({"setwise": "0.0.1"}, {"setwise": "0.0.1", "kernels": "of old"}):
        tampered(tmp_path, lambda record, change=change: record.update(change))  # type: ignore[misc]
        line = complaint(capsys, "verify", str(tmp_path), status=1)
        assert "setwise 0.0.1 wrote it" in line
        assert line.endswith("it cannot be made again: use setwise 0.0.1\n")
    export(tmp_path, SOUTH, "--format", "nasm", "--force")
    assert findings(capsys, tmp_path, status=0) == []


def test_what_the_request_names_must_be_there(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, UNION, "--isa", "avx2", "--format", "nasm")
    before = (tmp_path / metadata.NAME).read_bytes()
    for change in (
        lambda record: record["kernels"].clear(),
        lambda record: record["kernels"].pop(),
        lambda record: record["files"].popitem(),
        lambda record: record["kernels"].reverse(),
        lambda record: record["kernels"].append(record["kernels"][0]),
    ):
        tampered(tmp_path, change)
        assert ("all files", "made again") in findings(capsys, tmp_path)
        (tmp_path / metadata.NAME).write_bytes(before)
    assert findings(capsys, tmp_path, status=0) == []


def test_what_else_lies_in_the_directory_is_found(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    for at in range(30):
        (tmp_path / f"other{at:02}").mkdir()
    (tmp_path / ".a\nb").write_text("")
    found = findings(capsys, tmp_path)
    assert found[:2] == [("'.a\\nb'", "accounted for"), ("other00", "accounted for")]
    assert found[-1] == ("11 more", "accounted for")


def test_the_recorded_parts_of_a_proof_are_held_to(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    tampered(tmp_path, lambda record: record["kernels"][0]["proof"].update(solver="bitwuzla 0.1"))
    assert findings(capsys, tmp_path, status=0) == []
    tampered(tmp_path, lambda record: record["kernels"][0]["proof"].update(cases=7, paths=8))
    assert main(["verify", str(tmp_path)]) == 1
    assert re.search("sout_x86_64 +proof +failed +recorded with other cases and paths\n", capsys.readouterr().out)


def test_a_recorded_status_is_held_to(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    symbol = "setwise_kogge_stone_attacks_sout_x86_64"
    tampered(tmp_path, lambda record: record["kernels"][0]["proof"].update(status="refuted"))
    assert findings(capsys, tmp_path) == [(symbol, "proof")]
    tampered(tmp_path, lambda record: record["kernels"][0].update(proof=None))
    assert main(["verify", str(tmp_path)]) == 0
    assert re.search("made again +fine +but for comments in", said := capsys.readouterr().out)  # the file says "proved"
    assert re.search(f"{symbol} +proof +fine +recorded as not proved\n", said)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("name", ["metadata.json", "setwise_kogge_stone_attacks_sout_x86_64.o"])
@pytest.mark.parametrize("kind", ["fifo", "endless", "directory"])
def test_what_is_no_file_is_not_waited_for(name: str, kind: str, tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "elf")
    path = tmp_path / name
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    if name == metadata.NAME:
        assert "give a directory that `setwise export` wrote" in complaint(capsys, "verify", str(tmp_path))
    else:
        assert findings(capsys, tmp_path) == [(name, "as written"), (name, "proof")]


def test_metadata_without_end_is_not_read(tmp_path: Path, capsys: Capture) -> None:
    with (tmp_path / metadata.NAME).open("wb") as file:
        file.write(b"{")
        file.truncate(1 << 40)
    assert "larger than any export's" in complaint(capsys, "verify", str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file or directory"),
        ("{", "is no JSON"),
        ("[]", "not as `setwise export` writes it"),
        ('{"edition": 7}', "of edition 7"),
        ('{"edition": 1, "setwise": "", "request": {}, "files": {}, "kernels": []}', "not as `setwise export`"),
    ],
)
def test_no_metadata_is_one_line(content: str | None, said: str, tmp_path: Path, capsys: Capture) -> None:
    if content is not None:
        (tmp_path / "metadata.json").write_text(content)
    assert said in complaint(capsys, "verify", str(tmp_path))


DESCRIBED = """
import setwise
from setwise import Board
from pathlib import Path

Path(__file__).with_name("trace").touch()

@setwise.routine
def twice(x: Board) -> Board:
    "Twice the number."
    return x << 1

@twice.specification
def _(x):
    return x << 1
"""


def test_descriptions_of_others_run_only_where_that_is_asked_for(tmp_path: Path, capsys: Capture) -> None:
    own, made = tmp_path / "own.py", tmp_path / "made"
    own.write_text(DESCRIBED)
    export(made, f"{own}:twice", "--format", "nasm", "--isa", "x86-64")
    (tmp_path / "trace").unlink()
    own.write_text(DESCRIBED + "# so it is not the file that ran before\n")
    assert findings(capsys, made) == [(str(own), "as described")]
    assert not (tmp_path / "trace").exists()
    main(["verify", str(made)])
    assert f"{own}:twice is Python of whoever wrote it: to run that add --run-descriptions" in capsys.readouterr().out
    assert main(["verify", str(made), "--run-descriptions"]) == 1  # it is another file by now
    assert "proof  " in (said := capsys.readouterr().out)
    assert "not run" not in said
    assert (tmp_path / "trace").exists()


def test_metadata_leads_to_no_file_outside(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    tampered(tmp_path, lambda record: record["files"].update({"../x": {"bytes": 0, "sha256": ""}}))
    assert "not as `setwise export` writes it" in complaint(capsys, "verify", str(tmp_path))
