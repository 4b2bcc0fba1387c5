"""`setwise table`: print a table of the literature, as boards or as rows of numbers."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.pictures.board_text import boards
from setwise.codegen.tables import TABLES, LiteratureTable, table

EXAMPLES = ("setwise table avoidWrap", "setwise table dirMaskLeft --json")


def add_arguments(parser: ArgumentParser) -> None:
    """Add NAME, --coordinates and --json."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the name of the table on its page (default: list all tables)"
    )
    add(parser, "--coordinates", "--json")


def run(arguments: Namespace) -> int:
    """Print the table, or without NAME the list of tables."""
    if arguments.name is not None:
        found = table(arguments.name)
        if arguments.json:
            print_json({**_facts(found), "entries": [f"{e:#018x}" if found.boards else e for e in found.entries]})
        else:
            print(drawn(found, arguments.coordinates))
    elif arguments.json:
        print_json(list(map(_facts, TABLES)))
    else:
        rows = [(t.name + _brackets(t.shape), str(t.numbering), "; ".join(map(str, t.places))) for t in TABLES]
        print_table(rows, ("table", "squares", "page"))
    return 0


def drawn(found: LiteratureTable, coordinates: bool = False) -> str:
    """Return the table as text below a title: boards, each under its index and meaning, or rows of numbers."""
    head = f"{found.name}{_brackets(found.shape)}: {'; '.join(map(str, found.places))}; {found.numbering}\n"
    if not found.boards:
        return "\n".join((head, *("\n".join(lines) + "\n" for lines in _groups(found)))).rstrip()
    indices = product(*map(range, found.shape))
    titles = (f"{_brackets(index) or found.name} {' '.join(found.index_names(at))}" for at, index in enumerate(indices))
    return f"{head}\n{boards(list(zip(titles, found.entries, strict=True)), found.numbering, coordinates)}"


def _groups(found: LiteratureTable) -> Iterator[list[str]]:
    """Yield the lines, of up to 8 entries, of each group of entries that differ only in the last index."""
    texts = [f"{entry:#04x}" if found.kind == "rank" else str(entry) for entry in found.entries]
    width, size = max(map(len, texts)), found.shape[-1]
    for start in range(0, len(texts), size):
        lines = (texts[at : at + 8] for at in range(start, start + size, 8))
        yield [" ".join(text.rjust(width) for text in line) for line in lines]


def _facts(found: LiteratureTable) -> dict[str, Any]:
    return {
        "name": found.name,
        "places": [str(place) for place in found.places],
        "shape": found.shape,
        "indices": found.indices,
        "squares": str(found.numbering),
    }


def _brackets(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)
