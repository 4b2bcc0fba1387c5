"""The reports as files: what stands in which, and where files that are there differ from what they should be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from setwise.codegen.export.write import NotWritten, write_among

Files = Mapping[str, str]
"""Contents by path, which is relative to the reports' folder and has / between its parts."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first line in which a file is not what it should be; None for a line that is not there at all.

    `line` counts from 1; 0 means that the file as a whole is missing, or that there should be none.
    """

    path: str
    line: int
    there: str | None
    wanted: str | None

    def __str__(self) -> str:
        if self.line == 0:
            return f"{self.path}: {'is missing' if self.there is None else 'is not made by any command'}"
        start = _common(self.there or "", self.wanted or "")
        there, wanted = (_shown(line, start) for line in (self.there, self.wanted))
        return f"{self.path}, line {self.line}: {there} is there, {wanted} should be"


def differences(folder: Path, wanted: Files, ours: Iterable[str] = ("pictures", "data")) -> Iterator[Difference]:
    """Where the files of a folder differ from these; in the folders called `ours` there must be no others."""
    for path, content in wanted.items():
        file = folder / path
        if not file.is_file():
            yield Difference(path, 0, None, content)
            continue
        there = file.read_text(encoding="utf-8")
        if there != content:
            yield _first_difference(path, there, content)
    for name in ours:
        for file in sorted((folder / name).glob("*")):
            if f"{name}/{file.name}" not in wanted:
                yield Difference(f"{name}/{file.name}", 0, "", None)


def write(folder: Path, files: Files) -> None:
    """Write all files or none; those that are not named stay. ValueError where that fails."""
    try:
        write_among(folder, {path: content.encode() for path, content in files.items()})
    except NotWritten as error:
        raise ValueError(f"cannot write {folder}: {error}") from None


def _first_difference(path: str, there: str, wanted: str) -> Difference:
    pairs = zip_longest(there.splitlines(), wanted.splitlines())
    for number, (there_line, wanted_line) in enumerate(pairs, 1):
        if there_line != wanted_line:
            return Difference(path, number, there_line, wanted_line)
    # Only ends of lines differ.
    return Difference(path, len(wanted.splitlines()), there[-20:], wanted[-20:])


def _common(there: str, wanted: str) -> int:
    """How many characters two lines begin with alike."""
    same = (at for at, (left, right) in enumerate(zip(there, wanted, strict=False)) if left != right)
    return next(same, min(len(there), len(wanted)))


def _shown(line: str | None, start: int) -> str:
    """The part of a line where it begins to differ."""
    if line is None:
        return "no line"
    first = max(0, start - 30) if len(line) > 80 else 0
    part = line[first : first + 80]
    return ("..." if first else "") + repr(part) + ("..." if first + 80 < len(line) else "")
