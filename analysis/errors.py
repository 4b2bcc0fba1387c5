"""Why a command cannot do what was asked for, where that is no bad usage."""

from collections.abc import Iterator
from contextlib import contextmanager

from setwise.codegen.export.write import NotWritten


class CannotRunHere(Exception):
    """This processor lacks what the code needs, or its system what the command needs."""


class NotInstalled(Exception):
    """Something is missing that the user can install; the message ends with the command that does it."""


@contextmanager
def refused_by_system() -> Iterator[None]:
    """What is not written because the system refuses it is no bad usage either."""
    try:
        yield
    except NotWritten as error:
        if isinstance(error.__context__, OSError):
            raise CannotRunHere(str(error)) from None
        raise
