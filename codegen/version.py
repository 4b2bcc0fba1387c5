"""The version of setwise. The number itself is in pyproject.toml only."""

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """Return the installed version, else that of the running sources, else "unknown"."""
    try:
        return metadata.version("setwise")
    except metadata.PackageNotFoundError:
        pass
    # Beside codegen/ in a checkout, beside the package in a source distribution.
    for folder in Path(__file__).resolve().parents[1:3]:
        try:
            project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            if project["name"] == "setwise":
                return str(project["version"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return "unknown"
