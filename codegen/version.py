"""The version of setwise. The number itself is in pyproject.toml only."""

from importlib import metadata


def version() -> str:
    """Return the installed version, or "unknown" for sources that are not installed."""
    try:
        return metadata.version("setwise")
    except metadata.PackageNotFoundError:
        return "unknown"
