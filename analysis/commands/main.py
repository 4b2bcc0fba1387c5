"""The command `setwise`: what becomes of arguments, of errors, and of an output that nobody reads.

The exit status is 0 fine; 1 a check failed, or this processor cannot run what was asked for; 2 bad usage, or something
is missing that the user can install.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from setwise.analysis.commands.errors import CannotRunHere, NotInstalled
from setwise.analysis.commands.parser import one_line, parser

_OPTIONAL = {"numpy": "NumPy", "bitwuzla": "bitwuzla", "distributed": "Dask", "shtab": "shtab"}
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
            asked = [argument for argument in arguments if not argument.startswith("-")][:1]
            status = _run(parser(asked).parse_args(arguments))
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
    except KeyboardInterrupt:
        return 130
    return status


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
