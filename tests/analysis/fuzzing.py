"""Damaged ELF files: cut off anywhere, any field of any header changed; and a process of its own that judges them.

`python -m tests.analysis.fuzzing FILE NUMBER` judges so many of the damaged forms of a file, with a gibibyte of memory,
and prints how many ended in which verdict, and those that end as nothing may.
"""

import json
import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, count, repeat
from pathlib import Path
from unittest.mock import patch

from setwise.analysis import proofs
from setwise.analysis.commands import parser
from setwise.analysis.proof.prover import Prover
from tests.analysis.corpus import verdict
from tests.conftest import require_tool

MEMORY = 1 << 30
SYMBOL, SPEC = "switched", "shift.one.any"
VERDICTS = frozenset({"proved", "refuted", "not proved", "refused"})
_WARM = 500  # proofs by one prover, whose terms grow
_HERE = Path(__file__).parent
_FLAGS = {
    "object.elf": ("-c",),
    "library.elf": ("-shared", "-fPIC", "-nostdlib"),
    "program.elf": ("-static", "-nostdlib", "-Wl,-e,0"),
}
_HEADER = (16, 18, 20, 24, 32, 40, 48, 52, 54, 56, 58, 60, 62)
# Of each table of entries: where the type says so, its entries' size, and where its fields begin.
_TABLES = {2: (24, (0, 4, 6, 8, 16)), 11: (24, (0, 4, 6, 8, 16)), 4: (24, (0, 8, 12, 16)), 6: (16, (0, 8))}
_SECTION = (0, 4, 8, 16, 24, 32, 40, 44, 48, 56)
_SEGMENT = (0, 4, 8, 16, 32, 40, 48)
_ENDS = (value for bits in (8, 16, 32, 64) for value in (1 << bits - 1, (1 << bits) - 1))
_VALUES = (0, 1, 2, 3, 7, 0xFFF, 0x1000, *_ENDS)
Change = tuple[int, bytes]


def build(folder: Path) -> None:
    """An object, a library and a program with a function that has a table."""
    for name, flags in _FLAGS.items():
        words = ["-O2", "-fno-reorder-blocks-and-partition", *flags, str(_HERE / "right" / "right.c")]
        subprocess.run([require_tool("gcc"), *words, "-o", str(folder / name)], check=True)


def fields(file: bytes) -> list[int]:
    """Where the fields of all headers and tables of an ELF file begin."""
    segments, sections = (int.from_bytes(file[at : at + 8], "little") for at in (32, 40))
    number, count = (int.from_bytes(file[at : at + 2], "little") for at in (56, 60))
    found = [*range(4, 16), *_HEADER]
    found += [segments + 56 * each + at for each in range(number) for at in _SEGMENT]
    for start in range(sections, sections + 64 * count, 64):
        found += [start + at for at in _SECTION]
        kind, place, size = (int.from_bytes(file[start + at : start + at + 4], "little") for at in (4, 24, 32))
        width, places = _TABLES.get(kind, (1 << 40, ()))
        found += [place + entry + at for entry in range(0, size, width) for at in places if places]
    return found


def changes(file: bytes) -> Iterator[Change]:
    """One field each, to numbers at which something ends, and by one more and less."""
    for at in fields(file):
        for width in (1, 2, 4, 8):
            old = int.from_bytes(file[at : at + width], "little")
            for value in (*_VALUES, old + 1, old - 1, old ^ 1 << 8 * width - 1, len(file)):
                if value >> 8 * width == 0 and value != old:
                    yield at, value.to_bytes(width, "little")


def changed(file: bytes, *each: Change) -> bytes:
    """The file with these changes."""
    content = bytearray(file)
    for at, new in each:
        content[at : at + len(new)] = new
    return bytes(content)


def damaged(file: bytes, number: int) -> Iterator[bytes]:
    """So many damaged forms: cut off, one field changed, and several; the same every time."""
    chance = random.Random(number)
    alone = [*changes(file)]
    for turn in range(number):
        kind = turn % 4
        if kind == 0:
            yield file[: chance.randrange(len(file))]
        elif kind == 3:
            yield changed(file, *(chance.choice(alone) for _ in range(chance.randrange(2, 5))))
        else:
            yield changed(file, chance.choice(alone))


def judge(file: Path, number: int) -> Counter[str]:
    """How many of so many damaged forms of the file ended how; those that end as nothing may are left beside it."""
    ends = Counter[str]()
    made = file.with_suffix(".damaged")
    words = ["prove", "--object", str(made), "--symbol", SYMBOL, "--spec", SPEC, "--time-limit", "2"]
    with warm("prove"):
        for content in damaged(file.read_bytes(), number):
            made.write_bytes(content)
            end = verdict(words)
            if end not in VERDICTS:
                end = f"{end}: {made.rename(made.with_suffix(f'.{ends.total()}.damaged'))}"
            ends[end] += 1
    return ends


@contextmanager
def warm(command: str) -> Iterator[None]:
    """Share one parser among all calls of a command, and one prover among several calls."""
    made = parser.parser([command])
    provers = chain.from_iterable(repeat(Prover(), _WARM) for _ in count())
    with patch.object(parser, "parser", return_value=made), patch.object(proofs, "Prover", side_effect=provers):
        yield


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    json.dump(judge(Path(sys.argv[1]), int(sys.argv[2])), sys.stdout)
