"""The threat loop finds the same boards by setwise's kernels as by tables, in C++ and in Rust."""

from pathlib import Path

import pytest

from tests.conftest import require_rust, require_set, require_tool, runs
from tests.examples.threat_loop import FORMS, build, run


@runs
@pytest.mark.slow
@pytest.mark.parametrize(("isa", "level"), [("avx2", "x86-64-v3"), ("avx512", "x86-64-v4")])
def test_equal_checksums(tmp_path: Path, isa: str, level: str) -> None:
    """Of the same games in all programs, for moves are listed in the same order."""
    require_set(isa)
    require_rust()
    require_tool("g++")
    results = [run(build(tmp_path, compiler, level, form), 100) for compiler in ("g++", "rustc") for form in FORMS]
    assert len({(positions, checksum) for positions, _, checksum in results}) == 1
    assert results[0][0] > 10_000
