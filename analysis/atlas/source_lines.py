"""The description of a routine as its file has it: the functions whose lines made the code of its kernels."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from setwise.codegen.machine.code import Line

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class SourceLines:
    """Lines of one file or of several, those of each behind a line with its name."""

    places: tuple[Line, ...]
    """Of each line its file and number; number 0 is the file's name, and a line between two functions."""

    @property
    def index(self) -> dict[Line, int]:
        """Where each line stands."""
        return {place: at for at, place in enumerate(self.places) if place.number}

    def as_dict(self) -> dict[str, object]:
        """For JSON: the first file and line; of all lines the text, and the number or None."""
        first = next((place for place in self.places if place.number), Line("", 1))
        texts = [linecache.getline(*place).rstrip("\n") if place.number else place.file for place in self.places]
        numbers = [place.number or None for place in self.places]
        return {"file": _named(first.file), "first": first.number, "lines": texts, "numbers": numbers}


def source_of(lines: Iterable[Line]) -> SourceLines:
    """The functions that hold these lines, file by file."""
    spans: dict[str, set[range]] = {}
    for line in lines:
        spans.setdefault(line.file, set()).add(_span(line))
    places: list[Line] = []
    for file, ranges in spans.items():
        if places:
            places += [Line("", 0), Line(f"# {_named(file)}", 0)]
        for at, numbers in enumerate(sorted(ranges, key=lambda numbers: numbers.start)):
            places += [*([Line("", 0)] if at else []), *(Line(file, number) for number in numbers)]
    return SourceLines(tuple(places))


def _span(line: Line) -> range:
    """The numbers of the lines of the outermost function around it, of a class its method; else of itself."""
    for function in _functions(line.file):
        if line.number in function:
            return function
    return range(line.number, line.number + 1)


def _functions(file: str) -> tuple[range, ...]:
    found = []
    waiting: list[ast.stmt] = [*ast.parse(Path(file).read_text("utf-8")).body]
    for node in waiting:
        if isinstance(node, ast.ClassDef):
            waiting += node.body
        elif isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.append(range(first, (node.end_lineno or node.lineno) + 1))
    return tuple(found)


def _named(file: str) -> str:
    """A file of ours as it is called in the repository, another by its name alone."""
    path = Path(file)
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
