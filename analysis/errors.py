"""Reasons other than bad usage why a command cannot run."""

from collections.abc import Iterator
from contextlib import contextmanager

from setwise.codegen.export.write import NotWritten


class CannotRunHere(Exception):
    """The processor lacks an instruction that the code needs, or the system lacks something that the command needs."""


class NotInstalled(Exception):
    """A missing package or program that the user can install. The message ends with the command that installs it."""


@contextmanager
def refused_by_system() -> Iterator[None]:
    """Turn a NotWritten error whose cause is an operating-system error into CannotRunHere."""
    try:
        yield
    except NotWritten as error:
        if isinstance(error.__context__, OSError):
            raise CannotRunHere(str(error)) from None
        raise
