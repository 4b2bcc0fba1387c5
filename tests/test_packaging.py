"""The packages that are published: they build, their metadata is whole, and tests run from what is unpacked."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis"
)


def python(*arguments: str, where: Path) -> str:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_packages_are_whole_and_the_unpacked_sources_pass_their_tests(tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path / "checkout", ignore=LEFT_OUT, symlinks=True)
    python("build", "--no-isolation", "--outdir", str(tmp_path / "dist"), ".", where=tmp_path / "checkout")
    wheel, sources = sorted((tmp_path / "dist").iterdir(), key=lambda path: path.suffix, reverse=True)
    assert python("twine", "check", "--strict", str(sources), str(wheel), where=tmp_path).count("PASSED") == 2

    with tarfile.open(sources) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / sources.name.removesuffix(".tar.gz")
    written = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    for path in ("Makefile", ".ci/setup", "docs/design.md", "reports/README.md", "tests/golden/digests.txt"):
        assert Path(path) in written
    for part in ("codegen", "analysis"):  # as .ci/setup does
        (unpacked / part).symlink_to(Path("setwise", part))
    tests = ("tests/test_layers.py", "tests/test_setwise.py", "tests/codegen/test_version.py")
    assert " passed" in python("pytest", "-q", "-m", "not slow", *tests, where=unpacked)

    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {str(path) for path in written if path.parts[0] == "setwise"}
    assert {name for name in names if name.startswith("setwise/")} == package
