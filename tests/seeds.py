"""The literature's own pages, which are no part of the repository: their text, for tests to compare with."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FILES = {
    "dumb7": "000_264e842c4ca3f1c5.txt",
    "dumb7-prose": "001_e880eba43218c241.txt",
    "kogge-stone": "002_80478402e432fb90.txt",
    "isenberg": "003_5cae08f55c1f0d5f.txt",
    "exploding": "004_8ab7ef1bac81507d.txt",
}
"""Each page's file by its short name."""


def _folders() -> Iterator[Path]:
    """Where the pages may lie."""
    if given := os.environ.get("SETWISE_SEEDS"):
        yield Path(given)
    yield ROOT / "shared" / "seeds"
    yield ROOT.parent / "shared" / "seeds"


@cache
def _pages() -> dict[str, str] | None:
    for folder in _folders():
        if all((folder / name).is_file() for name in FILES.values()):
            return {page: (folder / name).read_text(encoding="utf-8") for page, name in FILES.items()}
    return None


def pages() -> dict[str, str]:
    """The text of every page by its short name; where the pages are not there, the test is not run."""
    found = _pages()
    if found is None:
        pytest.skip("not run: the literature's pages (shared/seeds, or $SETWISE_SEEDS) missing")
    return found
