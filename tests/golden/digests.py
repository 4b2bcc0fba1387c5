"""The SHA-256 of every kernel's code with its data, one line each, in digests.txt beside this file.

`make golden` writes the file anew; test_digests.py compares it with the kernels as they are.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from setwise.analysis import api
from setwise.analysis.parallel import Show, in_processes, made, silent
from setwise.analysis.progress import Progress
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import catalogue
from setwise.codegen.request import Request

FILE = Path(__file__).with_name("digests.txt")
HEAD = "# `make golden` made this: routine, instruction set, lanes, convention, SHA-256 of code and data"


def requests() -> list[Request]:
    """Return requests for all kernels of the catalogue."""
    return api.requests(list(catalogue().values()))


def lines(wanted: Sequence[Request], show: Show = silent) -> Iterator[str]:
    """A line for each of these kernels that can be made."""
    for request, kernel in made(wanted, show):
        if isinstance(kernel, str):
            raise ValueError(f"{request.title}: {kernel}")
        yield f"{request.title} {hashlib.sha256(assemble(kernel.code).image).hexdigest()}"


def recorded() -> list[str]:
    """The lines of the file, the first one apart."""
    return FILE.read_text(encoding="ascii").splitlines()[1:]


def main() -> None:
    """Write the file."""
    wanted = requests()
    with Progress(len(wanted)) as progress:
        found = sorted(in_processes(lines, wanted, os.cpu_count() or 1, progress.show))
    FILE.write_text("\n".join([HEAD, *found, ""]), encoding="ascii")
    print(f"{len(found)} kernels")


if __name__ == "__main__":
    main()
