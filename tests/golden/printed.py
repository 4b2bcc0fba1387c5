"""What commands print: `--json` of count, cost and prove in answers.txt, `--help` of each command in help.txt.

`make golden` writes both files; test_printed.py compares them with the commands.
"""

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from unittest import mock

from setwise.analysis.commands.main import main
from setwise.analysis.commands.parser import COMMANDS

ANSWERS = Path(__file__).with_name("answers.txt")
HELP = Path(__file__).with_name("help.txt")
HEAD = "# `make golden` writes this file"
PYTHON = f"# Python {sys.version_info.major}.{sys.version_info.minor}: each minor version prints --help its own way"
UNSTABLE = ("seconds", "solver", "questions", "cases", "paths")  # differ from run to run, or tell how it was proved
KERNELS = (
    "dumb7.occluded.sout --isa x86-64",
    "dumb7.attacks.noEa --isa sse2",
    "dumb7.occluded-until-dry.east --isa bmi2",
    "kogge-stone.attacks.sout --isa x86-64",
    "kogge-stone.attacks.west --isa avx2",
    "kogge-stone.attacks.any --isa bmi2",
    "kogge-stone.attacks.queen --isa avx512",
    "push.attacks.east --isa avx512",
    "push.attacks.rook --isa avx2",
    "subtraction.attacks.east --isa sse2",
    "bytewise.right-attacks --isa x86-64",
    "bytewise.carry-loop-64 --isa x86-64",
    "exploding.direction --isa x86-64",
    "exploding.rook.big-endian --isa bmi2",
    "sliders.union --isa gfni",
    "sliders.union --isa avx2",
    "sliders.pair --isa avx512",
    "sliders.counts --isa avx512",
    "leapers.pawns.white --isa x86-64",
    "side.nested.black --isa avx2",
    "sliders.union.batch --isa avx2",
)


def printed(arguments: Sequence[str]) -> str:
    """Return what a command prints on standard output."""
    with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):  # --help ends so
        main(arguments)
    return out.getvalue()


def answers(kernels: Sequence[str] = KERNELS) -> Iterator[str]:
    """Yield the rows of count, cost and prove for each kernel: the command, then JSON."""
    for kernel in kernels:
        for command in ("count", "cost", "prove"):
            arguments = [command, *kernel.split(), *(["--abi", "sysv"] if command == "prove" else [])]
            rows: list[Mapping[str, object]] = json.loads(printed([*arguments, "--json"]))
            for row in rows:
                kept = {key: value for key, value in row.items() if key not in UNSTABLE}
                yield f"{command} {kernel} {json.dumps(kept)}"


def helps() -> str:
    """Return the help of every command, and of setwise as a whole."""
    with mock.patch.dict(os.environ, {"COLUMNS": "100"}):
        return "\n".join(printed([*command, "--help"]) for command in ([], *([name] for name in COMMANDS)))


if __name__ == "__main__":
    ANSWERS.write_text("\n".join([HEAD, *answers(), ""]), encoding="ascii")
    HELP.write_text(f"{HEAD}\n{PYTHON}\n\n{helps()}", encoding="ascii")
