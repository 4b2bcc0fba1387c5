"""`setwise table`: a table of the literature, drawn as boards or as source code."""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from itertools import product
from textwrap import indent
from typing import Any

from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.pictures.board_text import boards
from setwise.codegen.board import hexadecimal
from setwise.codegen.tables import TABLES, LiteratureTable, table

EXAMPLES = ("setwise table avoidWrap", "setwise table dirMaskLeft --as rust")

LANGUAGES = ("c", "rust", "python")


def add_arguments(parser: ArgumentParser) -> None:
    """Add NAME, --as, --coordinates and --json."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the name of the table on its page (default: list all tables)"
    )
    parser.add_argument("--as", dest="language", metavar="L", help="as source: c, rust, python (default: drawn)")
    add(parser, "--coordinates", "--json")


def run(arguments: Namespace) -> int:
    """Print the table, or the list of tables."""
    name, language = arguments.name, arguments.language
    if language not in (None, *LANGUAGES):
        raise ValueError(f"unknown language '{language}': choose from {', '.join(LANGUAGES)}")
    if language and (arguments.json or name is None):
        raise ValueError("--as needs the name of a table and excludes --json")
    if name is not None:
        found = table(name)
        if arguments.json:
            print_json({**_facts(found), "entries": [f"{e:#018x}" if found.boards else e for e in found.entries]})
        else:
            print(source(found, language) if language else drawn(found, arguments.coordinates))
    elif arguments.json:
        print_json(list(map(_facts, TABLES)))
    else:
        rows = [(t.name + _brackets(t.shape), str(t.numbering), "; ".join(map(str, t.places))) for t in TABLES]
        print_table(rows, ("table", "squares", "page"))
    return 0


def drawn(found: LiteratureTable, coordinates: bool = False) -> str:
    """Return the table as text: boards, each under its index and meaning, or rows of numbers."""
    head = f"{found.name}{_brackets(found.shape)}: {_about(found)}\n"
    if not found.boards:
        return "\n".join((head, *("\n".join(lines) + "\n" for lines in _groups(found)))).rstrip()
    indices = product(*map(range, found.shape))
    titles = (f"{_brackets(index) or found.name} {' '.join(found.index_names(at))}" for at, index in enumerate(indices))
    return f"{head}\n{boards(list(zip(titles, found.entries, strict=True)), found.numbering, coordinates)}"


def source(found: LiteratureTable, language: str) -> str:
    """Return the table as a constant in C, Rust or Python."""
    about, (opening, closing) = f"{found.name}: {_about(found)}", "{}" if language == "c" else "[]"
    groups = [
        indent("\n".join(lines), "    ")
        for lines in _groups(found, "ULL," if found.boards and language == "c" else ",")
    ]
    for _ in found.shape[1:]:
        groups = [indent("\n".join(f"{opening}\n{group}\n{closing}," for group in groups), "    ")]
    (entries,) = groups
    value = f"{opening}\n{entries}\n{closing}" if found.shape else entries.strip(" ,")
    if language == "python":
        return f"# {about}\n{found.name} = {value}"
    if language == "c":  # C has no digit separators
        declared = f"static const {'uint64_t' if found.boards else 'int'} {found.name}{_brackets(found.shape)}"
        return f"#include <stdint.h>\n\n/* {about} */\n{declared} = {value.replace('_', '')};"
    kind = "u64" if found.boards else "i32"
    for length in reversed(found.shape):
        kind = f"[{kind}; {length}]"
    name = re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", found.name).upper()
    return f"// {about}\npub const {name}: {kind} = {value};"


def _groups(found: LiteratureTable, end: str = "") -> Iterator[list[str]]:
    """Yield the lines of each group of entries that differ only in the last index. `end` follows each entry."""
    texts = [f"{_written(found, entry)}{end}" for entry in found.entries]
    width, size, in_a_line = max(map(len, texts)), (found.shape or (1,))[-1], 4 if found.boards else 8
    for start in range(0, len(texts), size):
        lines = (texts[at : at + in_a_line] for at in range(start, start + size, in_a_line))
        yield [" ".join(text.rjust(width) for text in line) for line in lines]


def _written(found: LiteratureTable, entry: int) -> str:
    if found.kind == "board":
        return hexadecimal(entry)
    return f"{entry:#04x}" if found.kind == "rank" else str(entry)


def _facts(found: LiteratureTable) -> dict[str, Any]:
    return {
        "name": found.name,
        "places": [str(place) for place in found.places],
        "shape": found.shape,
        "indices": found.indices,
        "squares": str(found.numbering),
    }


def _about(found: LiteratureTable) -> str:
    return f"{'; '.join(map(str, found.places))}; {found.numbering}"


def _brackets(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)
