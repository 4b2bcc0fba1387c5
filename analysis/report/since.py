"""Counts as an earlier commit's reports have them, beside what they are now: which kernels fell, and which rose."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from setwise.analysis.report.kernels import FigureKey, Figures
from setwise.analysis.report.markdown import ISAS, code, table_if_any
from setwise.analysis.report.records import Record
from setwise.analysis.text import counted

_KERNELS = "data/kernels.json"


@dataclass(frozen=True, slots=True)
class Then:
    """A kernel then."""

    name: str
    isa: str
    lanes: int
    instructions: int

    @property
    def key(self) -> FigureKey:
        """Name, instruction set, lanes."""
        return self.name, self.isa, self.lanes


@dataclass(frozen=True, slots=True)
class Since:
    """The instructions of the kernels that there were at a commit, and its date."""

    commit: str
    date: str
    kernels: tuple[Then, ...]


RECORD = Record("data/since.json", Since, "setwise report --since COMMIT", "kernels")


def at_commit(commit: str, folder: Path) -> Since:
    """What the reports in that folder said at a commit; ValueError if git, asked in that folder, has none."""
    full = _git(folder, "rev-parse", "--short=12", "--verify", "--end-of-options", commit + "^{commit}").strip()
    date = _git(folder, "show", "--no-patch", "--format=%cs", full).strip()
    try:
        rows = json.loads(_git(folder, "show", f"{full}:./{_KERNELS}"))["rows"]
        return Since(full, date, msgspec.convert(rows, tuple[Then, ...]))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"--since {commit}: its {_KERNELS} cannot be read ({error}): name another commit") from None


def _git(folder: Path, *arguments: str) -> str:
    """What git says; ValueError in one line if it cannot."""
    try:
        ran = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    except OSError as error:
        raise ValueError(f"--since asks git, which does not run ({error}): install it") from None
    except subprocess.CalledProcessError as error:
        why = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ValueError(f"--since takes a commit whose reports lie in {folder}: {why}") from None
    return ran.stdout


@dataclass(frozen=True, slots=True)
class _Change:
    key: FigureKey
    before: int
    now: int


def _changes(since: Since, figures: Figures) -> Iterator[_Change]:
    for then in since.kernels:
        if then.key in figures and figures[then.key].counts.instructions != then.instructions:
            yield _Change(then.key, then.instructions, figures[then.key].counts.instructions)


def summary(since: Since, figures: Figures) -> dict[str, object]:
    """How many kernels fell and rose."""
    changes = [*_changes(since, figures)]
    fell = [change.before - change.now for change in changes if change.now < change.before]
    return {
        "there": counted(sum(then.key in figures for then in since.kernels), "kernel"),
        "commit": since.commit,
        "date": since.date,
        "falls": len(fell),
        "fewer": sum(fell),
        "rises": len(changes) - len(fell),
    }


def changed_table(since: Since, figures: Figures, rose: bool) -> str | None:
    """A row a routine, a column a set: instructions before and now. None where there is none."""
    cells: dict[str, dict[str, list[str]]] = {}
    for change in _changes(since, figures):
        if (change.now > change.before) == rose:
            name, isa, lanes = change.key
            several = sum(key[:2] == (name, isa) for key in figures) > 1
            cell = f"{change.before} to {change.now}{f' (x{lanes})' if several else ''}"
            cells.setdefault(name, {}).setdefault(isa, []).append(cell)
    isas = [isa for isa in ISAS if any(isa in row for row in cells.values())]
    lines = [(code(name), *(", ".join(row.get(isa, ())) for isa in isas)) for name, row in cells.items()]
    return table_if_any(("kernel", *isas), lines)
