"""The command `setwise`: arguments, errors, signals and exit statuses.

The exit status is 0 for success, or if the reader of the output closed the pipe; 1 if a check, proof or timing failed,
`shorten` found something, or the command cannot run or write its output here; 2 for bad usage or something missing that
the user can install; 130 for an interrupt from the keyboard. SIGTERM stops a command like an interrupt, after which the
process ends by that signal. Meanwhile a second SIGTERM is ignored.
"""

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
"""The titles of optional packages, by the name of the module, which is also the name on PyPI."""

_NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)
"""Errors of an output that is full, closed or broken."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default sys.argv's. Return its status; bad usage raises SystemExit."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Variants live long. With Python's thresholds, scanning them for cycles takes a sixth of the time of `best`.
    gc.set_threshold(100_000, 50, 50)
    if sys.stderr is None:  # standard error is closed, and print would use standard output
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - stays open
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        try:
            with _terminable():
                status = _run(parsed(arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output closed the pipe.
        _print_no_more()
        return 0
    except OSError as error:
        if error.errno not in _NO_OUTPUT:
            raise
        _print_no_more()
        print(f"setwise: the output cannot be written: {os.strerror(error.errno).lower()}", file=sys.stderr)
        return 1
    except _Terminated:
        signal.raise_signal(signal.SIGTERM)  # so that the parent process sees the signal
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 130
    return status


class _Terminated(KeyboardInterrupt):
    """An interrupt by SIGTERM. Commands handle it like KeyboardInterrupt; `main` then ends by the signal."""


@contextmanager
def _terminable() -> Iterator[None]:
    """Make the first SIGTERM raise _Terminated and ignore others, in the main thread and if it was at its default."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def terminate(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # ignore the second: `timeout` sends SIGTERM twice
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _print_no_more() -> None:
    """Redirect standard output to /dev/null, so that the interpreter's flush at exit cannot fail."""
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
