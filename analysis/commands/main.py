"""The command `setwise`: which subcommands it has, and what becomes of errors.

Each subcommand is a module of its name beside this one: EXAMPLES for its help, `add_arguments` to a parser, and `run`,
from the parsed arguments to the exit status, which is 0 fine; 1 a check failed, or this processor cannot run what was
asked for; 2 bad usage, or something is missing that the user can install.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from setwise.analysis.commands.errors import CannotRunHere, NotInstalled
from setwise.codegen.version import version

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

COMMANDS = {
    "list": "show the catalogue",
    "listing": "print a kernel as assembly source",
    "count": "count instructions by class: of a kernel's code, of what a call executes, or of a function in an ELF "
    "file",
    "compare": "print two kernels side by side, their counts under them",
    "run": "run a kernel on this processor and draw the boards",
    "trace": "draw a fill cycle by cycle, or a kernel instruction by instruction",
    "table": "print a table of the literature: as boards, or as source",
    "cost": "bound the cycles of a kernel, or of a function in an ELF file, on several processors",
    "check": "run kernels against the ray-walk, on this processor or an emulated one, or a function in an ELF file on "
    "an emulated one",
    "prove": "prove machine code right for all inputs: of kernels, or of a function in an ELF file",
    "bound": "prove how few operations attacks along a line need, with certificates",
    "shorten": "search for shorter code under the same contract: of kernels, or of a function in an ELF file",
    "bench": "time kernels on this processor, in core cycles, and beside them what compilers make of C",
    "calibrate": "measure how long instructions take on this processor, as a table for --cpu",
    "export": "write kernels as listings, objects or source, with proofs and contracts",
    "verify": "recheck an export: its files, its figures, its proofs",
    "new": "write a file with a routine of your own to begin with",
    "report": "write the reports, or check that they are what they should be",
    "completion": "print a script with which a shell completes commands, options and names",
}
"""The subcommands, in the order of `setwise --help`, and what each does."""

_OPTIONAL = {"numpy": "NumPy", "bitwuzla": "bitwuzla", "distributed": "Dask", "shtab": "shtab"}
"""Modules that not every command needs, by the names that pip knows them by, and what they are called."""

_NO_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)
"""Errors of an output that is full, closed or gone."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_one_line(message)} ({self.prog} --help shows an example)\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if file is sys.stdout:  # argparse would not say that it cannot be written
            print(message, end="")
        else:
            super()._print_message(message, file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; gives the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(100_000, 50, 50)  # graphs live long, and looking at them for circles takes a quarter of all
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
    print(f"setwise {parsed.command}: {_one_line(message)}", file=sys.stderr)
    return status


def _one_line(message: str) -> str:
    return " ".join(message.split())


def parser(asked: Collection[str]) -> argparse.ArgumentParser:
    """The parser: it knows all commands by their summaries, and the arguments of those that are asked for.

    So no command waits until the others are loaded.
    """
    parser = _Parser(
        prog="setwise",
        description="x86-64 machine code for set-wise sliding-piece attacks on chess bitboards.",
        epilog="exit status: 0 fine, 1 a check failed or this processor cannot run it, "
        "2 bad usage or something that you can install is missing",
    )
    parser.add_argument("--version", action="version", version=f"setwise {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in asked:
            room = import_module(f"setwise.analysis.commands.{name}")
            command.epilog = "\n  ".join(("example:", *room.EXAMPLES))
            room.add_arguments(command)
            command.set_defaults(run=room.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
