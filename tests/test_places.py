"""The last lines of a test run say where tests ran, and what was not run and why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """\
import subprocess
import pytest

def test_here():
    assert subprocess.run(["true"]).returncode == 0

def test_there():
    assert subprocess.run(["PLACE/bochs"]).returncode == 0

def test_nowhere():
    pytest.skip("not run: this processor lacks wings")
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_last_lines(tmp_path: Path, workers: str) -> None:
    (tmp_path / "bochs").symlink_to("/bin/true")
    (tmp_path / "test_some.py").write_text(TESTS.replace("PLACE", str(tmp_path)))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.places",
        "-n",
        workers,
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    *_, ran, lacking, closing = done.stdout.splitlines()
    assert ran == "ran 1 natively, 1 in Bochs"
    assert lacking == "not run: 1: this processor lacks wings"
    assert closing.startswith("2 passed, 1 skipped")
