"""What a command says while it works."""

from __future__ import annotations

import sys
from typing import Self


class Progress:
    """One line on a terminal that says what is at work, and which of how many it is where `total` says so.

    The line goes at the end of `with Progress() as progress`. Nothing elsewhere: `shown` is by default whether standard
    error is a terminal.
    """

    def __init__(self, total: int = 0, shown: bool | None = None) -> None:
        self._total, self._done = total, 0
        self._shown = sys.stderr.isatty() if shown is None else shown

    def show(self, name: str) -> None:
        """Say that the next one is at work."""
        self._done += 1
        if self._shown:
            number = f"{self._done}/{self._total} " if self._total else ""
            print(f"\r\x1b[K{number}{name}"[:120], end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
