"""The progress line that a command shows while it works."""

import shutil
import sys
import time
from typing import Self

_SHORT = 2.0
"""Seconds before the elapsed and remaining times are shown."""


class Progress:
    """A line on standard error that names the current item and, after two seconds and one item, the elapsed time.

    With a `total` it also shows the item's number, and behind the elapsed time an estimate of the remaining time. The
    end of `with Progress() as progress` erases the line. By default nothing is shown unless standard error is a
    terminal; `shown` overrides this.
    """

    def __init__(self, total: int = 0, shown: bool | None = None) -> None:
        self._total, self._done, self._begun = total, 0, time.monotonic()
        self._shown = sys.stderr.isatty() if shown is None else shown

    def show(self, name: str) -> None:
        """Display the name of the next item, and count it."""
        self._done += 1
        if self._shown:
            number = f"{self._done}/{self._total} " if self._total else ""
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{f'{number}{self._times()}{name}'[:width]}", end="", file=sys.stderr, flush=True)

    def _times(self) -> str:
        """Return the elapsed and the estimated remaining time as text, or "" if it is too early to show them."""
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
    """Return a time as text that is short enough for a progress line.

    >>> duration(12.3), duration(754), duration(9000)
    ('12 s', '12 min 34 s', '2 h 30 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
