"""What was found out about one processor: written by hand with its day, as data that pages quote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise.analysis.report.files import as_json, from_json, row_of

PATH = "data/findings.json"
BY_HAND = "hand; setwise report shows it"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about a processor, on that day; `page` quotes it.

    On compilers.md `calls` is a pattern of those that it explains, as `routine set lanes calls`; the first that matches
    counts.
    """

    processor: str
    date: str
    page: str
    words: str
    calls: str = ""


def recorded(folder: Path) -> tuple[Finding, ...]:
    """What is written in that reports' folder, nothing if there is nothing; ValueError where it is damaged."""
    return from_json(folder / PATH, _read, "write it as docs/formats.md says") or ()


def _read(held: dict[str, Any]) -> tuple[Finding, ...]:
    findings = tuple(Finding(**row) for row in held["rows"])
    for finding in findings:
        try:
            re.compile(finding.calls)
        except re.error as error:
            raise ValueError(f"'{finding.calls}' is no pattern: {error}") from None
    return findings


def findings_json(findings: Sequence[Finding]) -> str:
    """The file that holds them."""
    return as_json([row_of(finding) for finding in findings], BY_HAND)


def about(findings: Sequence[Finding], processor: str, page: str) -> list[Finding]:
    """Those about a processor that a page quotes."""
    return [finding for finding in findings if (finding.processor, finding.page) == (processor, page)]
