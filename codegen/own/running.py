"""Run code of users: a file, a description, a specification, a requirement. All that it raises becomes one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import walk_tb


@dataclass(frozen=True, slots=True)
class Failure:
    """What a user's code raised: the error, its class and text in one line, and the line of the file, 0 if unknown."""

    error: BaseException
    kind: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


@contextmanager
def running(file: str, refused: Callable[[Failure], Exception], *passed: type[Exception]) -> Iterator[None]:
    """Raise `refused` for whatever the code of this file raises, sys.exit among it; Ctrl-C and `passed` go through."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, *passed)):
            raise
        lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
        kind = type(error).__name__
        raise refused(Failure(error, kind, _text(error), lines[-1] if lines else 0)) from error


def _text(error: BaseException) -> str:
    """Return an error's text as one line; nothing where it has none, or raises one in its turn."""
    try:
        return " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""
