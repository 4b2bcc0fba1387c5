"""`setwise verify`: that whatever was changed behind an export is found."""

import hashlib
import json
import os
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.exports import metadata
from tests.analysis.commands.running import SOUTH, TWICE, UNION, Capture, complaint, export, findings
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


def test_a_missing_file_is_found(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    (tmp_path / "setwise_kogge_stone_attacks_sout_x86_64.asm").unlink()
    assert findings(capsys, tmp_path) == [("setwise_kogge_stone_attacks_sout_x86_64.asm", "made again")]


def renewed(directory: Path) -> None:
    """Give the metadata the sizes and digests that the files have now."""

    def change(record: dict[str, Any]) -> None:
        for name in record["files"]:
            content = (directory / name).read_bytes()
            record["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    tampered(directory, change)


SOURCE = "setwise_inline.h"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sliders within occupied", "nothing"),
        ("__AVX2__", "__SSE2__"),
        ("\n", "\n\n"),
        (" */", " */ static int evil(void) { return 666; }"),
        ("MIT-0", "MIT"),
    ],
)
@pytest.mark.parametrize("digests", ["old", "renewed"])
def test_code_comments_contracts_and_gates_are_held_to(
    old: str, new: str, digests: str, tmp_path: Path, capsys: Capture
) -> None:
    export(tmp_path, UNION, "--isa", "x86-64,avx2", "--format", "c", "--unproved")
    path = tmp_path / SOURCE
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    if digests == "renewed":
        renewed(tmp_path)
    assert (SOURCE, "made again") in findings(capsys, tmp_path)


@pytest.mark.parametrize(
    "request_has",
    [
        {"made_by": "*/ static int evil(void) { return 666; } /*"},
        {"names": ["sliders.union */ int x; /*"]},
        {"names": ["sliders.union"] * 3000},
        {"isas": ["avx2"] * 2},
        {"abi": "*/"},
        {"name": "*/"},
        {"prefix": "int"},
        {"lanes": 65},
        {"variants": [["sliders.union", "avx2", "*/ int x; /*"]]},
        {"variants": [["sliders.union", "avx2", "hoisted"]] * 2},
        {"unproved": [["sliders.union */ int x; /*", "avx2"]]},
        {"unproved": [["sliders.pair", "avx2"]]},
    ],
)
def test_a_request_is_of_closed_types(request_has: dict[str, Any], tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, UNION, "--isa", "avx2", "--format", "c", "--unproved")
    tampered(tmp_path, lambda record: record["request"].update(request_has))
    assert "not a valid metadata.json of `setwise export`" in complaint(capsys, "verify", str(tmp_path))


@pytest.mark.parametrize(
    "request_has",
    [
        {"proved": True},
        {"unproved": [["sliders.union", "avx2"]]},
        {"endbr64": True},
        {"names": ["sliders.pair"]},
        {"names": ["nothing.at.all"]},
        {"isas": ["x86-64"]},
        {"name": "other"},
        {"objective": "latency"},
        {"variants": [["sliders.union", "avx2", "unknown"]]},
    ],
)
def test_another_request_makes_other_files(request_has: dict[str, Any], tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, UNION, "--isa", "avx2", "--format", "c", "--unproved")
    tampered(tmp_path, lambda record: record["request"].update(request_has))
    assert findings(capsys, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one["counts"].update(moves=1),
        lambda one: one.update(features=["avx2"]),
        lambda one: one.update(sha256="0" * 64),
        lambda one: one.update(distances=[0]),
        lambda one: one["contract"].update(requires=[]),
    ],
)
def test_figures_that_are_not_true_are_found(
    change: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: Capture
) -> None:
    export(tmp_path, UNION, "--isa", "avx2", "--format", "nasm")
    tampered(tmp_path, lambda record: change(record["kernels"][0]))
    assert findings(capsys, tmp_path) == [(metadata.NAME, "made again")]


def test_files_of_another_version_are_not_made_again(tmp_path: Path, capsys: Capture) -> None:
    """Even where nothing else can be read; but they may be replaced."""
    export(tmp_path, SOUTH, "--format", "nasm")
    for change in ({"setwise": "0.0.1"}, {"setwise": "0.0.1", "kernels": "of old"}):
        tampered(tmp_path, methodcaller("update", change))
        line = complaint(capsys, "verify", str(tmp_path), status=1)
        assert "setwise 0.0.1 wrote it" in line
        assert line.endswith("which makes other files: use setwise 0.0.1\n")
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
        assert (metadata.NAME, "made again") in findings(capsys, tmp_path)
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
        assert findings(capsys, tmp_path) == [(name, "made again")]


def test_metadata_without_end_is_not_read(tmp_path: Path, capsys: Capture) -> None:
    with (tmp_path / metadata.NAME).open("wb") as file:
        file.write(b"{")
        file.truncate(1 << 40)
    assert "larger than any export's" in complaint(capsys, "verify", str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file or directory"),
        ("{", "not JSON"),
        ("[]", "not a valid metadata.json of `setwise export`"),
        ('{"edition": 7}', "unknown edition 7"),
        (
            '{"edition": 1, "setwise": "", "request": {}, "files": {}, "kernels": []}',
            "not a valid metadata.json of `setwise export`",
        ),
    ],
)
def test_no_metadata_is_one_line(content: str | None, said: str, tmp_path: Path, capsys: Capture) -> None:
    if content is not None:
        (tmp_path / "metadata.json").write_text(content)
    assert said in complaint(capsys, "verify", str(tmp_path))


DESCRIBED = f"""{TWICE}
from pathlib import Path

Path(__file__).with_name("trace").touch()
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
    assert f"{own}:twice is a user's Python code: add --run-descriptions to run it" in capsys.readouterr().out
    assert main(["verify", str(made), "--run-descriptions"]) == 1  # another file by now, which is not run
    assert not (tmp_path / "trace").exists()
    own.write_text(DESCRIBED)
    assert main(["verify", str(made), "--run-descriptions"]) == 0


def test_metadata_leads_to_no_file_outside(tmp_path: Path, capsys: Capture) -> None:
    export(tmp_path, SOUTH, "--format", "nasm")
    tampered(tmp_path, lambda record: record["files"].update({"../x": {"bytes": 0, "sha256": ""}}))
    assert "not a valid metadata.json of `setwise export`" in complaint(capsys, "verify", str(tmp_path))
