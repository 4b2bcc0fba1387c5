"""Kernels as they were before shorter ones were found: what a search must find something in."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from setwise.analysis.code.decode import Binary
from setwise.analysis.search.search import SearchSubject

DATA = Path(__file__).parents[2] / "data" / "superseded.json"


@cache
def superseded(routine: str, isa: str) -> tuple[SearchSubject, Binary]:
    """The kernel of a routine that was, and what it had to do."""
    (row,) = [row for row in json.loads(DATA.read_text()) if (row["routine"], row["isa"]) == (routine, isa)]
    binary = Binary(bytes.fromhex(row["text"]), bytes.fromhex(row["data"]), row["data_offset"])
    return SearchSubject(routine, isa, "sysv", row["boards"]), binary
