"""Running a user's code: a file, a description, a specification, a requirement. Each of its errors becomes one line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import walk_tb


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


def _text(error: BaseException) -> str:
    """Return an error's text as one line; empty if it has none or fails to convert."""
    try:
        return " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""
