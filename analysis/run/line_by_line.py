"""A description run on boards, line by line: what each of its lines makes, under the line's own words."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeGuard

from setwise.analysis.run.drawing import Panel, Strip
from setwise.codegen.board import FILE_A, NOT_A
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Routine
from setwise.codegen.describe.values import Value, constant

FAMILIES = ("exploding", "bytewise")
"""Without rays: what their descriptions compute on boards, kernels compute in registers."""

_DESCRIPTIONS = "setwise.codegen.fills."
_NUMBERS = ("square", "number", "file", "rank", "case", "rounds", "repeats", "inner", "_")
"""What these variables hold is a number, not a board, or of no use."""
_JUST = 3
"""A board that is one of so many last ones need not be drawn again under another name."""


def strips(routine: Routine, words: Sequence[int]) -> list[Strip]:
    """The boards of a run on these words, a strip for each function that is entered, and the result."""
    parameters = routine.contract.parameters
    given = (
        Panel(parameter.name, word)
        for parameter, word in zip(parameters, words, strict=True)
        if parameter.kind in ("board", "occupied", "empty", "word") and parameter.name not in _NUMBERS
    )
    watcher = _Watcher(words)
    before = sys.gettrace()
    sys.settrace(watcher)
    try:
        results = routine.descriptions[0](Layout(), *map(constant, words))
    finally:
        sys.settrace(before)
    drawn = enumerate(watcher.strips, 1)
    numbered = [Strip(f"{number}. {strip.heading}", tuple(strip.panels)) for number, strip in drawn]
    named = zip(routine.contract.results, results, strict=True)
    ends = Strip("result", tuple(Panel(name, value.number) for name, value in named))
    return [Strip("", tuple(given)), *numbered, *_carries(watcher.returned), ends]


def _carries(returned: Mapping[str, int]) -> Iterator[Strip]:
    """The first four carries of each byte, each in its column, where a description computes carries."""
    if "_carries" in returned:
        moved = returned["_carries"] << 1 & NOT_A
        formulas = ("c1 = g0", "c2 = g1 | c1&p1", "c3 = g2 | c2&p2", "c4 = g3 | c3&p3")
        columns = (Panel(words, moved & FILE_A << at) for at, words in enumerate(formulas, 1))
        yield Strip("carries into the bits 1 to 4 of each byte", tuple(columns))


@dataclass(slots=True)
class _Boards:
    """The boards that a function makes until another one is entered or goes on."""

    frame: FrameType
    panels: list[Panel] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """The function's name; of the body of a case that of the case."""
        names = self.frame.f_code.co_qualname.split(".<locals>.")
        return (names[-2] if names[-1] == "body" else names[-1]).strip("_").replace("_", " ")


@dataclass(slots=True)
class _Line:
    """The line that a function is in, and whether boards of others were drawn meanwhile."""

    text: str
    boards: int


class _Watcher:
    """A trace function for `sys.settrace` that draws what the lines of descriptions assign and return."""

    def __init__(self, words: Sequence[int]) -> None:
        self.strips: list[_Boards] = []
        self.lines: dict[FrameType, _Line] = {}
        self.returned: dict[str, int] = {}
        self.known = list(words)
        """The boards that have been drawn, the last one last; at first those given."""
        self.named: dict[str, int] = {}
        """The last board of each argument."""

    def __call__(self, frame: FrameType, event: str, returned: Any) -> _Watcher | None:
        """What the interpreter reports; None for functions that are no descriptions."""
        if frame not in self.lines and not _is_description(frame):
            return None
        if event == "call":
            self.enter(frame)
        elif event == "line":
            self.assigned(frame)
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            self.lines[frame] = _Line(text, len(self.known))
        elif event == "return":
            self.leave(frame, returned)
        return self

    def enter(self, frame: FrameType) -> None:
        """A function begins with its arguments; those that are drawn are not drawn again."""
        self.lines[frame] = _Line("", 0)
        for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]:
            value = frame.f_locals[name]
            if not _is_board(value, name):
                continue
            if value.number not in (*self.known[-_JUST:], self.named.get(name)):
                self.draw(frame, name, value)
            self.named[name] = value.number

    def assigned(self, frame: FrameType) -> None:
        """What the line that has run has given to variables."""
        line = self.lines[frame]
        for name, title in _targets(line.text, frame.f_locals):
            value = frame.f_locals.get(name)
            if _is_board(value, name) and not (self.drew_others(line) and value.number in self.known[-_JUST:]):
                self.draw(frame, title, value)
                self.named[name] = value.number

    def leave(self, frame: FrameType, returned: Any) -> None:
        """What the function gives back, where it is no variable."""
        line = self.lines.pop(frame)
        values = returned if isinstance(returned, tuple) else (returned,)
        titles = _returned(line.text)
        if len(titles) == len(values) and not self.drew_others(line):
            for title, value in zip(titles, values, strict=True):
                if isinstance(value, Value) and title not in frame.f_locals:
                    self.draw(frame, title, value)
        if isinstance(returned, Value):
            self.returned[frame.f_code.co_name] = returned.number

    def drew_others(self, line: _Line) -> bool:
        """Whether functions that the line called have drawn boards."""
        return len(self.known) > line.boards

    def draw(self, frame: FrameType, title: str, value: Value) -> None:
        """A board, in a strip of its function."""
        if not self.strips or self.strips[-1].frame is not frame:
            self.strips.append(_Boards(frame))
        self.strips[-1].panels.append(Panel(title, value.number))
        self.known.append(value.number)


def _is_description(frame: FrameType) -> bool:
    """Whether a function that begins is of a description, and is given values."""
    code = frame.f_code
    if not str(frame.f_globals.get("__name__")).startswith(_DESCRIPTIONS) or code.co_name.startswith("<"):
        return False
    return any(isinstance(frame.f_locals.get(name), Value) for name in code.co_varnames[: code.co_argcount])


def _is_board(value: object, name: str) -> TypeGuard[Value]:
    return isinstance(value, Value) and name not in _NUMBERS


def _statement(text: str) -> ast.stmt | None:
    """The statement that a line is; None where it is only part of one."""
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    return statement


def _targets(text: str, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The variables that a line gives values to, and what is to be read over their boards."""
    statement = _statement(text)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        operand = statement.value.id if isinstance(statement.value, ast.Name) else ""
        number = known.get(operand)
        title = text.removesuffix(operand) + f"{number:#x}" if isinstance(number, int) else text
        yield statement.target.id, title
    elif isinstance(statement, ast.Assign):
        (target,) = statement.targets
        told = not isinstance(statement.value, (ast.Call, ast.Subscript, ast.Tuple))
        for one in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(one, ast.Name):
                yield one.id, text if told else one.id


def _returned(text: str) -> list[str]:
    """What a line returns, in its own words."""
    statement = _statement(text)
    if not isinstance(statement, ast.Return) or statement.value is None:
        return []
    each = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    return [ast.get_source_segment(text, one) or "" for one in each]
