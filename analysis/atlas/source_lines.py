"""The source text of a routine's description: the functions whose lines produced its kernels' instructions."""

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from setwise.codegen.machine.code import Line

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class SourceLines:
    """Lines of one or several files; the lines of each further file follow a line with its name."""

    places: tuple[Line, ...]
    """The file and number of each line. Number 0 marks a line with a file's name, or a blank line between functions."""

    @property
    def index(self) -> dict[tuple[str, int], int]:
        """The index in `places` of each source line, by its file and number."""
        return {place[:2]: at for at, place in enumerate(self.places) if place.number}

    def as_dict(self) -> dict[str, object]:
        """Return the lines for JSON: the name of the first file, and the text and number (or None) of each line."""
        texts = [linecache.getline(*place[:2]).rstrip("\n") if place.number else place.file for place in self.places]
        numbers = [place.number or None for place in self.places]
        return {"file": _named(self.places[0].file) if self.places else "", "lines": texts, "numbers": numbers}


def source_of(lines: Iterable[Line]) -> SourceLines:
    """Return the lines of the functions that contain these lines, file by file."""
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
    """Return the line numbers of the outermost function or method around a line, or of the line alone without one."""
    for node in ast.walk(ast.parse(Path(line.file).read_text("utf-8"))):  # outer functions come before inner ones
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            function = range(first, (node.end_lineno or node.lineno) + 1)
            if line.number in function:
                return function
    return range(line.number, line.number + 1)


def _named(file: str) -> str:
    """Return the path of a file below setwise's folder, or else only its name."""
    path = Path(file)
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
