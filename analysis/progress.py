"""What a command says while it works."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Self

_SHORT = 2.0
"""Seconds before which nobody asks how long it will take."""


class Progress:
    """One line on a terminal that says what is at work, and after two seconds for how long.

    With a `total` it says as well which of how many it is, and how long the rest takes if it goes on like this. The
    line goes at the end of `with Progress() as progress`. Nothing elsewhere: `shown` is by default whether standard
    error is a terminal.
    """

    def __init__(self, total: int = 0, shown: bool | None = None) -> None:
        self._total, self._done, self._begun = total, 0, time.monotonic()
        self._shown = sys.stderr.isatty() if shown is None else shown

    def show(self, name: str) -> None:
        """Say that the next one is at work."""
        self._done += 1
        if self._shown:
            number = f"{self._done}/{self._total} " if self._total else ""
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{f'{number}{self._times()}{name}'[:width]}", end="", file=sys.stderr, flush=True)

    def _times(self) -> str:
        """How long it took, and how long it will take."""
        taken, ended = time.monotonic() - self._begun, self._done - 1
        if taken < _SHORT or not ended:
            return ""
        left = f", {duration(taken / ended * (self._total - ended))} left" if self._total > ended else ""
        return f"({duration(taken)}{left}) "

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time in words short enough for a line that changes.

    >>> duration(12.3), duration(754), duration(9000)
    ('12 s', '12 min 34 s', '2 h 30 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
