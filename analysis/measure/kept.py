"""What is measured a routine after the other, so that work that is interrupted goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar


class OfRoutine(Protocol):
    """A row of a recorded measurement."""

    @property
    def name(self) -> str:
        """The routine's."""


R = TypeVar("R", bound=OfRoutine)


class Kept(Generic[R]):
    """The rows by routine; `keep` is given all of them, those from before included, whenever a routine's are new."""

    def __init__(self, names: Sequence[str], before: Iterable[R], keep: Callable[[Sequence[R]], None]) -> None:
        self._rows: dict[str, list[R]] = {name: [] for name in names}
        self._keep = keep
        for row in before:
            if row.name in self._rows:
                self._rows[row.name].append(row)

    def __getitem__(self, name: str) -> Sequence[R]:
        return self._rows[name]

    def __setitem__(self, name: str, rows: Iterable[R]) -> None:
        self._rows[name] = list(rows)
        self._keep(self.rows)

    @property
    def rows(self) -> list[R]:
        """All rows, in the routines' order."""
        return [row for rows in self._rows.values() for row in rows]
