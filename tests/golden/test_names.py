"""Editors complete the names that there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from setwise.codegen.catalogue import catalogue
from setwise.names import RoutineName
from tests.golden.names import FILE, text


def test_the_file_has_every_name() -> None:
    assert FILE.read_text(encoding="ascii") == text()
    assert set(catalogue()) < set(get_args(RoutineName))


@pytest.mark.slow  # all that setwise imports is checked
def test_a_type_checker_knows_what_a_kernel_takes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import setwise\n"
        'reveal_type(setwise.kernel("sliders.union", isa="avx2")(1, 4, occupied=5))\n'
        "setwise.kernel(5)\n"
        'setwise.kernel("sliders.union", lanes="4")\n'
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=FILE.parents[1], check=False).stdout
    assert 'Revealed type is "Any"' in told
    assert [line.partition(":")[2].partition(":")[0] for line in told.splitlines() if "error:" in line] == ["3", "4"]
