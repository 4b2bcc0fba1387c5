"""What was found out about one processor: written by hand with its day, as data that pages quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from setwise.analysis.report.markdown import code, listed
from setwise.analysis.report.records import Record

BY_HAND = "hand"


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

    def __post_init__(self) -> None:
        """ValueError for what is no pattern."""
        try:
            re.compile(self.calls)
        except re.error as error:
            raise ValueError(f"'{self.calls}' is no pattern: {error}") from None

    def explains(self, call: str) -> bool:
        """Whether it is about that call."""
        return re.fullmatch(self.calls, call) is not None


RECORD = Record("data/findings.json", tuple[Finding, ...], BY_HAND, remedy="write it as docs/formats.md says")


def about(findings: Sequence[Finding], processor: str, page: str) -> list[Finding]:
    """Those about a processor that a page quotes."""
    return [finding for finding in findings if (finding.processor, finding.page) == (processor, page)]


def explained(calls: Iterable[str], known: Sequence[Finding]) -> dict[str, str | None]:
    """The fields `causes`, a line a finding with the calls that it explains, and `unexplained`; None for none."""
    named: dict[Finding | None, list[str]] = {}
    for call in calls:
        finding = next((finding for finding in known if finding.explains(call)), None)
        named.setdefault(finding, []).append(code(call))
    unexplained = listed(named.pop(None, []))
    lines = [f"* {why.words} ({why.date}): {listed(names)}." for why, names in named.items() if why]
    return {"causes": "\n".join(lines) or None, "unexplained": unexplained or None}
