"""Where tests ran: on this processor, emulated, under wine; and what was not run, and why. The last lines say it.

A pytest plugin. It sees which programs a test starts: one that starts an emulator ran there.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_PLACES = {
    "bochs": "in Bochs",
    "qemu-x86_64": "under qemu as another x86-64",
    "qemu-aarch64": "under qemu as an Arm",
    "wine": "under wine",
    "wine64": "under wine",
}
_NATIVELY = "natively"
_started: set[str] = set()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        program, words = arguments[0], arguments[1]
        first = program or (words if isinstance(words, (str, bytes, os.PathLike)) else words[0])
        _started.add(Path(os.fsdecode(first)).name)


def pytest_configure() -> None:
    """Watch what is started."""
    sys.addaudithook(_audit)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Forget what earlier tests started."""
    _started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note where a test ran; this travels with its report from one process to another."""
    try:
        return (yield)
    finally:
        places = sorted({_PLACES[name] for name in _started & _PLACES.keys()})
        item.user_properties.append(("ran", places or [_NATIVELY]))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """So many tests ran there and there, and so many did not, by their reasons."""
    reports = terminalreporter.stats
    ran = [*reports.get("passed", ()), *reports.get("failed", ())]
    places = Counter(place for report in ran for place in dict(report.user_properties).get("ran", ()))
    if places:
        terminalreporter.write_line("ran " + ", ".join(f"{number:,} {place}" for place, number in places.most_common()))
    reasons = Counter(_reason(report) for report in reports.get("skipped", ()))
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"not run: {number:,}: {reason}")


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ").removeprefix("not run: ")
