"""What was found out about a processor, or about code: written by hand with its day, as data that pages quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from setwise.analysis.report.markdown import code, listed
from setwise.analysis.report.records import Record

BY_HAND = "hand"
ANY = "any"
"""What stands for a processor where none matters."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about a processor, or about code on "any", on that day; `page` quotes it.

    `calls` is a pattern of those that it explains, on compilers.md as `routine set lanes calls`, on fastest.md as
    `routine calls`, on optimality.md and README.md as `routine set`; the first that matches counts.
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
    """Those about a processor, or about code on any, that a page quotes."""
    return [finding for finding in findings if (finding.processor, finding.page) == (processor, page)]


def complaints(asked: Mapping[str, str], known: Sequence[Finding], also: Iterable[str] = ()) -> list[str]:
    """A line on each call without a cause, with what is said of it, and on each cause of none of these nor `also`."""
    calls = (*asked, *also)
    return [
        *(
            f"{call} {said}: {RECORD.path} has no cause"
            for call, said in asked.items()
            if not any(finding.explains(call) for finding in known)
        ),
        *(
            f"{RECORD.path} explains '{finding.calls}' for {finding.page}, which asks for nothing such: remove it"
            for finding in known
            if not any(map(finding.explains, calls))
        ),
    ]


def explained(calls: Iterable[str], known: Sequence[Finding]) -> dict[str, str | None]:
    """The fields `causes`, a line a finding with the calls that it explains, and `unexplained`; None for none."""
    named: dict[Finding | None, list[str]] = {}
    for call in calls:
        finding = next((finding for finding in known if finding.explains(call)), None)
        named.setdefault(finding, []).append(code(call))
    unexplained = listed(named.pop(None, []))
    lines = [f"* {why.words} ({why.date}): {listed(names)}." for why, names in named.items() if why]
    return {"causes": "\n".join(lines) or None, "unexplained": unexplained or None}
