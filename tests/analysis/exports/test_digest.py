"""One digest of a kernel's code, whoever is asked: proof, listings, sources, metadata, object file."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load
from setwise.analysis.commands.main import main
from setwise.codegen.catalogue import find
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.lower import lower
from tests.conftest import require_module, require_tool

NAME, ISA = "kogge-stone.attacks.noEa", "bmi2"  # with constants beside the code
Capture = pytest.CaptureFixture[str]


def proved(capsys: Capture, abi: str) -> dict[str, Any]:
    assert main(["prove", NAME, "--isa", ISA, "--abi", abi, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["status"] == "proved"
    return dict(row)


def test_the_proof_has_the_digests_of_every_export(tmp_path: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    rows = {abi: proved(capsys, abi) for abi in ("sysv", "win64")}
    for form in [form for form in FORMATS if form != "javascript"]:  # JavaScript has no instruction sets
        folder = tmp_path / form
        assert main(["export", NAME, "--isa", ISA, "--format", form, "-o", str(folder)]) == 0
        kernels = json.loads((folder / "metadata.json").read_text())["kernels"]
        (one,) = (kernel for kernel in kernels if kernel["isa"] == ISA)
        row = rows[one["abi"]]
        assert one["counts"]["data_bytes"]
        assert row["sha256"] == one["sha256"] == hashlib.sha256(code(one)).hexdigest()
        assert row["image_sha256"] == one["image_sha256"]
        assert row["sha256"] != row["image_sha256"]
        written = b"".join(path.read_bytes() for path in folder.iterdir())
        assert row["sha256"].encode() in written, form


def code(kernel: dict[str, Any]) -> bytes:
    text = bytearray.fromhex(kernel["image"])[: kernel["code_bytes"]]
    for at in kernel["distances"]:
        text[at : at + 4] = bytes(4)
    return bytes(text)


def test_a_constant_changes_the_digest_of_the_image_alone() -> None:
    one = binary_of(lower(find(NAME), ISA, "sysv"))
    other = Binary(one.text, bytes([one.data[0] ^ 1]) + one.data[1:], one.data_offset)
    assert one.sha256 == other.sha256
    assert one.image_sha256 != other.image_sha256


def test_somebody_elses_code_has_the_digest_of_its_object(tmp_path: Path) -> None:
    """And keeps it when it is linked, though its constants come to lie elsewhere."""
    gcc = require_tool("gcc")
    source = (
        "unsigned long long f(unsigned long long a) { static const unsigned long long t[2] = {5, 7}; return t[a & 1]; }"
    )
    (tmp_path / "f.c").write_text(source)
    for command in (("-c", "-o", "f.o"), ("-shared", "-o", "f.so")):
        subprocess.run([gcc, "-O2", "-fPIC", *command, "f.c"], cwd=tmp_path, check=True)
    subprocess.run([require_tool("objcopy"), "-O", "binary", "-j", ".text", "f.o", "f.bin"], cwd=tmp_path, check=True)
    digest = hashlib.sha256((tmp_path / "f.bin").read_bytes()).hexdigest()
    assert load(tmp_path / "f.o", "f").sha256 == load(tmp_path / "f.so", "f").sha256 == digest
