"""Which version of setwise this is; the number itself stands in pyproject.toml alone."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """The version that is installed, else that of the sources which run; `unknown` where neither says."""
    try:
        return metadata.version("setwise")
    except metadata.PackageNotFoundError:
        pass
    try:
        project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
            "project"
        ]
        return str(project["version"]) if project["name"] == "setwise" else "unknown"
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
