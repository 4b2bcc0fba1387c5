"""The version: of what is installed, and written down once."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import setwise
from setwise.analysis.commands.main import main
from setwise.codegen import version

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "pyproject.toml"


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"setwise {project['version']}\n"
    assert setwise.__version__ == project["version"]


def test_the_version_of_sources_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert version.version() == "unknown"
