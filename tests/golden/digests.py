"""The SHA-256 of every kernel's code with its data, one line each, in digests.txt beside this file.

`make golden` writes the file anew; test_digests.py compares it with the kernels as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from setwise.analysis.commands.jobs import Job, in_processes, jobs_of, lowered
from setwise.analysis.progress import Progress
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import catalogue

FILE = Path(__file__).with_name("digests.txt")
HEAD = "# `make golden` made this: routine, instruction set, lanes, convention, SHA-256 of code and data"


def jobs() -> list[Job]:
    """Every kernel that the catalogue has, and those that a convention refuses."""
    return jobs_of(list(catalogue().values()), None, None)


def lines(wanted: Sequence[Job], progress: Progress | None = None) -> Iterator[str]:
    """A line for each of these kernels that can be made."""
    for job, kernel in lowered(wanted, progress):
        if isinstance(kernel, str):
            raise ValueError(f"{job.title}: {kernel}")
        yield f"{job.title} {hashlib.sha256(assemble(kernel.code).image).hexdigest()}"


def recorded() -> list[str]:
    """The lines of the file, the first one apart."""
    return FILE.read_text(encoding="ascii").splitlines()[1:]


def main() -> None:
    """Write the file."""
    wanted = jobs()
    with Progress(len(wanted)) as progress:
        made = sorted(in_processes(lines, wanted, progress))
    FILE.write_text("\n".join([HEAD, *made, ""]), encoding="ascii")
    print(f"{len(made)} kernels")


if __name__ == "__main__":
    main()
