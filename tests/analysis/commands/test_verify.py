"""`setwise verify`: that whatever was changed behind an export is found."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.exports import metadata
from tests.analysis.commands.exporting import SOUTH, UNION, complaint, export, findings
from tests.analysis.commands.running import Capture
from tests.conftest import require_module


@pytest.fixture(autouse=True)
def _prover() -> None:
    require_module("bitwuzla")


def tampered(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The metadata with a change."""
    path = directory / metadata.NAME
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record, indent=1) + "\n")


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
    assert main(["verify", str(tmp_path)]) == 1  # the file says "proved"
    assert re.search(f"{symbol} +proof +fine +recorded as not proved\n", capsys.readouterr().out)


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
