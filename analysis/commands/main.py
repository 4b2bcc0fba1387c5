"""The command `setwise`: what becomes of arguments, of errors, and of an output that nobody reads.

The exit status is 0 fine; 1 a check failed, or this processor cannot run what was asked for; 2 bad usage, or something
is missing that the user can install; 130 an interrupt from the keyboard. SIGTERM ends a command as an interrupt does,
and the process then by that signal; a second one is passed over, for what the first began is under way.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from setwise.analysis.commands.parser import one_line, parsed
from setwise.analysis.errors import CannotRunHere, NotInstalled

_OPTIONAL = {"numpy": "NumPy", "bitwuzla": "bitwuzla", "shtab": "shtab"}
"""Modules that not every command needs, by the names that pip knows them by, and what they are called."""

_NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)
"""Errors of an output that is full, closed or gone."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; gives the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(100_000, 50, 50)  # variants live long, and looking at them for circles takes a sixth of `best`
    if sys.stderr is None:  # closed, and print would take None for standard output
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - it stays open
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        try:
            with _terminable():
                status = _run(parsed(arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        _print_no_more()
        return 0
    except OSError as error:
        if error.errno not in _NO_OUTPUT:
            raise
        _print_no_more()
        print(f"setwise: the output cannot be written: {os.strerror(error.errno).lower()}", file=sys.stderr)
        return 1
    except _Terminated:
        signal.raise_signal(signal.SIGTERM)  # so that whoever waits for this process sees what ended it
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 130
    return status


class _Terminated(KeyboardInterrupt):
    """An interrupt, but by SIGTERM: what an interrupt keeps, and ends, this does, too."""


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM, unless it has a handler already, raises _Terminated; only the first one does."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def terminate(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # `timeout` sends it twice
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _print_no_more() -> None:
    """Nothing is left for the interpreter to flush at its end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(parsed: argparse.Namespace) -> int:
    try:
        status: int = parsed.run(parsed)
        return status
    except CannotRunHere as error:
        return _complain(parsed, str(error), 1)
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            raise
        return _complain(parsed, f"{_OPTIONAL[error.name]} is not installed: pip install {error.name}", 2)
    except (NotInstalled, ValueError) as error:
        return _complain(parsed, str(error), 2)


def _complain(parsed: argparse.Namespace, message: str, status: int) -> int:
    print(f"setwise {parsed.command}: {one_line(message)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
