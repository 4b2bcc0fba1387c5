"""`setwise table`: a table of the literature, drawn or as source."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from itertools import product
from textwrap import indent
from typing import Any

from setwise.analysis.commands.arguments import add_coordinates, add_json, add_squares
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.pictures.board_text import boards
from setwise.codegen.board import hexadecimal
from setwise.codegen.numbering import Numbering, numbering
from setwise.codegen.tables import TABLES, LiteratureTable, table

EXAMPLES = ("setwise table avoidWrap", "setwise table dirMaskLeft --as rust", "setwise table dirMaskLeft --squares a1")

LANGUAGES = ("c", "rust", "python")


def add_arguments(parser: ArgumentParser) -> None:
    """NAME, how it is written, --squares, and --json."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the table, as its page calls it (default: list them)")
    parser.add_argument("--as", dest="language", metavar="L", help="as source: c, rust, python (default: drawn)")
    add_squares(parser)
    add_coordinates(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Print the table, or which tables there are."""
    name, language = arguments.name, arguments.language
    if language not in (None, *LANGUAGES):
        raise ValueError(f"no language '{language}': write one of {', '.join(LANGUAGES)}")
    if language and (arguments.json or name is None):
        raise ValueError("--as goes with the name of a table, and without --json")
    if arguments.squares and (name is None or language or arguments.json):
        raise ValueError("--squares goes with the name of a table that is drawn, without --as and --json")
    if name is not None:
        asked = table(name)
        shown = numbering(arguments.squares) if arguments.squares else asked.numbering
        if arguments.squares and not asked.boards:
            raise ValueError(f"{asked.name} holds no boards to be drawn: leave --squares out")
        if arguments.json:
            print_json({**_facts(asked), "entries": [hexadecimal(e) if asked.boards else e for e in asked.entries]})
        else:
            print(source(asked, language) if language else drawn(asked, shown, arguments.coordinates))
    elif arguments.json:
        print_json(list(map(_facts, TABLES)))
    else:
        rows = [(t.name + _brackets(t.shape), str(t.numbering), "; ".join(map(str, t.places))) for t in TABLES]
        print_table(("table", "squares", "page"), rows)
    return 0


def drawn(asked: LiteratureTable, shown: Numbering, coordinates: bool = False) -> str:
    """The table for people: boards so numbered, over each its index and what that stands for; or rows of numbers."""
    head = f"{asked.name}{_brackets(asked.shape)}: {_about(asked, shown)}\n"
    if not asked.boards:
        return "\n".join((head, *("\n".join(lines) + "\n" for lines in _groups(asked)))).rstrip()
    indices = product(*map(range, asked.shape))
    titles = (f"{_brackets(index)} {' '.join(asked.counted(at, shown))}" for at, index in enumerate(indices))
    return f"{head}\n{boards(list(zip(titles, asked.entries, strict=True)), shown, coordinates)}"


def source(asked: LiteratureTable, language: str) -> str:
    """The table as a constant in C, Rust or Python."""
    about, (opening, closing) = f"{asked.name}: {_about(asked, asked.numbering)}", "{}" if language == "c" else "[]"
    groups = [
        indent("\n".join(lines), "    ")
        for lines in _groups(asked, "ULL," if asked.boards and language == "c" else ",")
    ]
    for _ in asked.shape[1:]:
        groups = [indent("\n".join(f"{opening}\n{group}\n{closing}," for group in groups), "    ")]
    (entries,) = groups
    if language == "python":
        return f"# {about}\n{asked.name} = [\n{entries}\n]"
    if language == "c":  # which knows no separators of digits
        kind = "uint64_t" if asked.boards else "int"
        plain = entries.replace("_", "")
        declared = f"static const {kind} {asked.name}{_brackets(asked.shape)}"
        return f"#include <stdint.h>\n\n/* {about} */\n{declared} = {{\n{plain}\n}};"
    kind = "u64" if asked.boards else "i32"
    for length in reversed(asked.shape):
        kind = f"[{kind}; {length}]"
    name = re.sub("(?<=[a-z])(?=[A-Z])", "_", asked.name).upper()
    return f"// {about}\npub const {name}: {kind} = [\n{entries}\n];"


def _groups(asked: LiteratureTable, end: str = "") -> Iterator[list[str]]:
    """The entries in lines, those that differ only in the last index together; `end` stands behind each."""
    texts = [f"{_written(asked, entry)}{end}" for entry in asked.entries]
    width, size, in_a_line = max(map(len, texts)), asked.shape[-1], 4 if asked.boards else 8
    for start in range(0, len(texts), size):
        lines = (texts[at : at + in_a_line] for at in range(start, start + size, in_a_line))
        yield [" ".join(text.rjust(width) for text in line) for line in lines]


def _written(asked: LiteratureTable, entry: int) -> str:
    if asked.kind == "board":
        return hexadecimal(entry)
    return f"{entry:#04x}" if asked.kind == "rank" else str(entry)


def _facts(asked: LiteratureTable) -> dict[str, Any]:
    return {
        "name": asked.name,
        "places": [str(place) for place in asked.places],
        "shape": asked.shape,
        "indices": asked.indices,
        "squares": str(asked.numbering),
    }


def _about(asked: LiteratureTable, shown: Numbering) -> str:
    return f"{'; '.join(map(str, asked.places))}; {shown}"


def _brackets(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)
