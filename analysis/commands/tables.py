"""Output of rows: tables that fit the terminal, JSON, and the reasons of missing rows."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from setwise.analysis.text import counted, table
from setwise.codegen.ir.routine import Routine
from setwise.codegen.lower import sets_of
from setwise.codegen.request import Request
from setwise.codegen.targets.table import Refused


def print_json(rows: Any) -> None:
    """Print rows, or a mapping, as JSON."""
    print(json.dumps(rows, indent=2))


def print_table(rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> None:
    """Print rows as a table. On a terminal wide columns are folded so that it fits the width, if possible."""
    print(table(rows, head, width()))


def print_columns(keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the columns with these keys as a table, whose heads are the keys with blanks for underscores."""
    print_table([[row[key] for key in keys] for row in rows], [key.replace("_", " ") for key in keys])


def print_reasons(verdicts: Iterable[tuple[str, str]]) -> None:
    """Print each status with its reason and the number of times that this pair occurs."""
    for (status, reason), number in Counter(verdicts).items():
        print(f"\n{number} {status}: {reason}")


def report_not_made(requests: Sequence[Request], made: Collection[tuple[str, str | None, int, str]]) -> bool:
    """Print why requests with keys not in `made` are refused. Return whether no set has a kernel of one of them."""
    reasons: dict[tuple[Routine, str], str] = {}
    alike: dict[tuple[Routine, str], list[str]] = {}
    for request in requests:
        if request.key not in made:
            try:
                request.kernel  # noqa: B018 - raises the reason again
            except Refused as error:
                reasons.setdefault((request.routine, request.isa), str(error))
    for (routine, isa), why in reasons.items():
        alike.setdefault((routine, why.partition(f" (for {isa}, ")[0]), []).append(isa)
    for (routine, why), isas in alike.items():
        said = why if isas[1:] else reasons[routine, isas[0]]
        print(f"cannot be made: {routine.name} for {', '.join(isas)}: {said}", file=sys.stderr)
    named = {key[0] for key in made}
    return not all(routine.name in named or sets_of(routine) for routine, _ in reasons)


def tally(statuses: Sequence[str], known: Sequence[str]) -> str:
    """Return the number of kernels and of each status as text.

    >>> tally(["passed", "passed", "failed"], ("passed", "failed", "not run"))
    '3 kernels: 2 passed, 1 failed, 0 not run'
    """
    return f"{counted(len(statuses), 'kernel')}: {', '.join(f'{statuses.count(status)} {status}' for status in known)}"


def width() -> int | None:
    """Return the width of the terminal, or None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
