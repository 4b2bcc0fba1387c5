"""Running a user's code: a file, a description, a specification, a requirement. Each of its errors becomes one line."""

import linecache
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from traceback import walk_tb
from types import CodeType, FrameType


@dataclass(frozen=True, slots=True)
class Failure:
    """An error from a user's code, its class name, its text as one line, and the line in the file, 0 if unknown."""

    error: BaseException
    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


@contextmanager
def running(file: str, refused: Callable[[Failure], Exception], *passed: type[Exception]) -> Iterator[None]:
    """Raise the error that `refused` makes of any error, including sys.exit, in a `with` block that runs a user's code.

    `file` is the file of the reported line. Ctrl-C and errors of the classes `passed` propagate.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, *passed)):
            raise
        lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
        kind = type(error).__name__
        raise refused(Failure(error, kind, _text(error), lines[-1] if lines else 0)) from error


def first_line(code: CodeType) -> int:
    """Return the line of a function's `def`, behind its decorators, or the first line if that is not found."""
    start, defined = code.co_firstlineno, re.compile(rf"\s*(async\s+)?def\s+{code.co_name}\b")
    lines = enumerate(linecache.getlines(code.co_filename)[start - 1 :], start)
    return next((line for line, text in lines if defined.match(text)), start)


def last_return(code: CodeType, call: Callable[[], object]) -> int:
    """Return the line from which the function with this code returns last in a call, or 0 if it does not."""
    lines = [0]

    def returned(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and frame.f_code is code:
            lines.append(frame.f_lineno)

    others = sys.getprofile()
    sys.setprofile(returned)
    try:
        with suppress(Exception):
            call()
    finally:
        sys.setprofile(others)
    return lines[-1]


def _text(error: BaseException) -> str:
    """Return an error's text as one line; empty if it has none or fails to convert."""
    try:
        return " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""
