"""The files of reports/data: rows of one kind, and above them what stands once. Read and written here alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from setwise.analysis.report.files import write

COMMAND = "setwise report"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """A file that a command records: its path, the class of what it holds, the command.

    The class's field `rows` holds the rows, its others stand once; without such a field the class is that of a sequence
    of rows. `remedy` says what to do about a damaged file, `check` raises ValueError for what cannot be.
    """

    path: str
    kind: type[T]
    command: str
    rows: str = ""
    remedy: str = ""
    check: Callable[[T], object] = lambda _: None

    def read(self, folder: Path) -> T | None:
        """What that reports' folder has of it, None if nothing; ValueError with the remedy for a damaged file."""
        path = folder / self.path
        if not path.exists():
            return None
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            recorded = msgspec.convert(held | {self.rows: held["rows"]} if self.rows else held["rows"], self.kind)
            self.check(recorded)
        except (OSError, ValueError, KeyError, TypeError) as error:
            remedy = self.remedy or f"make it anew by {self.command}"
            raise ValueError(f"{path} cannot be read ({error}): {remedy}") from None
        return recorded

    def write(self, folder: Path, held: T) -> None:
        """Put it into that reports' folder."""
        write(folder, {self.path: self.text(held)})

    def text(self, held: T) -> str:
        """The file that holds it."""
        once = once_of(held) if self.rows else {}
        rows: Any = once.pop(self.rows) if self.rows else held
        return as_json([row_of(row) for row in rows], self.command, **once)


def once_of(held: object) -> dict[str, Any]:
    """The fields of a dataclass by name."""
    assert is_dataclass(held)
    return {field.name: getattr(held, field.name) for field in fields(held)}


def row_of(row: Any) -> dict[str, Any]:
    """A row for JSON; of a dataclass without the fields that are as they are by default."""
    if not is_dataclass(row):
        return dict(row)
    usual = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(row)
    }
    return {name: value for name, value in asdict(row).items() if value != usual[name]}  # type: ignore[arg-type]


def as_json(rows: Sequence[Mapping[str, Any]], command: str = COMMAND, **head: Any) -> str:
    """Rows as JSON, a line each, with the command that made them.

    >>> print(as_json([{"name": "dumb7", "moves": 1}], unit="cycles"), end="")
    {
      "made_by": "setwise report",
      "unit": "cycles",
      "rows": [
        {"name": "dumb7", "moves": 1}
      ]
    }
    """
    lines = ["{", f'  "made_by": {json.dumps(command)},']
    lines += [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    body = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    return "\n".join([*lines, '  "rows": [', *([body] if body else []), "  ]", "}"]) + "\n"
