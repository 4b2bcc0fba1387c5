"""Exceptions for commands that cannot run for a reason other than bad usage."""

from collections.abc import Iterator
from contextlib import contextmanager

from setwise.codegen.export.write import NotWritten


class CannotRunHere(Exception):
    """A command that cannot run or finish, for instance for want of a CPU feature, a proof, or space on the disk."""


class NotInstalled(Exception):
    """A missing program that the user can install. The message ends with the command that installs it."""


@contextmanager
def refused_by_system() -> Iterator[None]:
    """Turn a NotWritten error whose cause is an operating-system error into CannotRunHere."""
    try:
        yield
    except NotWritten as error:
        if isinstance(error.__context__, OSError):
            raise CannotRunHere(str(error)) from None
        raise
