"""What was found out about one processor: written by hand with its day, as data that pages quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise.analysis.report.files import as_json, from_json, row_of
from setwise.analysis.report.markdown import listed

PATH = "data/findings.json"
BY_HAND = "hand; setwise report shows it"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about a processor, on that day; `page` quotes it.

    `calls` is a pattern of those that it explains, on compilers.md as `routine set lanes calls`, on fastest.md as
    `routine calls`; the first that matches counts.
    """

    processor: str
    date: str
    page: str
    words: str
    calls: str = ""

    def explains(self, call: str) -> bool:
        """Whether it is about that call."""
        return re.fullmatch(self.calls, call) is not None


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


def explained(calls: Iterable[tuple[str, str]], known: Sequence[Finding]) -> str | None:
    """A line a finding with the names of the calls that it explains, which stand behind each call; None without any."""
    lines: dict[str, list[str]] = {}
    for call, name in calls:
        words = (f"{finding.words} ({finding.date}):" for finding in known if finding.explains(call))
        lines.setdefault(next(words, "Not explained:"), []).append(name)
    return "\n".join(f"* {words} {listed(names)}." for words, names in lines.items()) or None
