"""Report files: reading, atomic writing, and comparison with the generated texts."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

import msgspec

from setwise.analysis.report.figures import Measurements
from setwise.codegen.files import read_checked, write_atomically

PATH, _MOST_BYTES = "data/measurements.json", 1 << 26
Files = Mapping[str, str]  # texts by paths relative to the folder, with / as separator
_SHOWN = 100  # characters of a differing line


def read(folder: Path) -> Measurements:
    """Return the recorded measurements of a reports folder, empty without a file. Raises ValueError if damaged."""
    path, remedy = folder / PATH, "restore it from the repository"
    if not path.exists():
        return Measurements()
    content = read_checked(path, _MOST_BYTES, links=True, larger="any measurements", remedy=remedy)
    try:
        return msgspec.json.decode(content, type=Measurements)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read ({error}): {remedy}") from None


def text(recorded: Measurements) -> str:
    """Return measurements as the text of their file, with one row a line."""
    indented = json.dumps(msgspec.to_builtins(recorded), indent=1)
    return re.sub(r"\[[^][{}]*\]", lambda row: re.sub(r"\n +", " ", row[0]), indented) + "\n"


def write(folder: Path, files: Files) -> None:
    """Write the files, each atomically and with the mode of the previous one.

    Raises ValueError if that fails, or if a file would be overwritten that is not a report. A report is a regular file
    in a folder that has the file of measurements; a page also has the footer of `setwise report`.
    """
    for path in (folder / name for name in files if os.path.lexists(folder / name)):
        if not (folder / PATH).is_file() or not _is_report(path):
            raise ValueError(f"{path} was not written by setwise report: give another folder, or move the file away")
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / name, text.encode())
    except OSError as error:
        raise ValueError(f"cannot write {error.filename}: {error.strerror}") from None


def _is_report(path: Path) -> bool:
    regular = path.is_file() and not path.is_symlink()
    return regular and (
        path.suffix != ".md" or "Made by `setwise report`" in path.read_text(encoding="utf-8", errors="replace")
    )


def differences(folder: Path, wanted: Files) -> Iterator[str]:
    """Yield a line for each wanted file that is missing or differs, and for each other file in data/ and pictures/."""
    for name, text in wanted.items():
        there = (folder / name).read_text(encoding="utf-8") if (folder / name).is_file() else None
        if there is None:
            yield f"{name}: missing"
        elif there != text:
            pairs = enumerate(zip_longest(there.splitlines(), text.splitlines(), fillvalue="no line"), 1)
            line, (old, new) = next(((at, pair) for at, pair in pairs if pair[0] != pair[1]), (0, ("", "")))
            unlike = (at for at, pair in enumerate(zip_longest(old, new)) if pair[0] != pair[1])
            at = max(0, next(unlike, 0) - _SHOWN // 2)
            yield f"{name}, line {line}: {old[at : at + _SHOWN]!r} should be {new[at : at + _SHOWN]!r}"
    for path in sorted(path for part in ("data", "pictures") for path in (folder / part).glob("*")):
        if path.relative_to(folder).as_posix() not in wanted:
            yield f"{path.relative_to(folder).as_posix()}: not a generated file"
