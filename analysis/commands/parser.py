"""The parser of the command `setwise` and its subcommands.

Each subcommand is a module of that name in this folder. It has EXAMPLES for its help, `add_arguments` for its parser,
and `run`, which takes the parsed arguments and returns the exit status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from setwise.codegen.version import version

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

COMMANDS = {
    "list": "show the catalogue",
    "listing": "print a kernel as assembly source",
    "count": "count instructions by class: of a kernel, of the instructions that a call executes, or of a function in "
    "an ELF file",
    "compare": "print two kernels side by side with their counts",
    "run": "run a kernel on this processor and draw the boards",
    "trace": "draw a fill cycle by cycle, or a kernel instruction by instruction",
    "table": "print a table of the literature: as boards or rows of numbers",
    "cost": "bound the cycles of a kernel, or of a function in an ELF file, on several processors",
    "check": "run kernels against the ray-walk, on this processor or an emulated one, or a function in an ELF file on "
    "an emulated one",
    "prove": "prove that kernels, or a function in an ELF file, are right for all inputs",
    "shorten": "search for shorter code of kernels, or of a function in an ELF file, under the same contract",
    "best": "choose the best kernel for each objective among all instruction sets of a processor",
    "bench": "time kernels on this processor in core cycles, beside compilers' code for the same in C",
    "export": "write kernels as listings, objects or source, with proofs and contracts",
    "verify": "recheck the files, figures and proofs of an export",
    "new": "write a starter file with a routine of your own",
    "report": "write the reports, or check that they are up to date",
    "completion": "print a script with which a shell completes commands, options and names",
}
"""The subcommands in the order of `setwise --help`, with their summaries."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 after one line on standard error: the message, and a hint to the command's --help."""
        self.exit(2, f"{self.prog}: {one_line(message)} ({self.prog} --help shows an example)\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if file is sys.stdout:  # argparse would ignore a write error
            print(message, end="")
        else:
            super()._print_message(message, file)


def parser(loaded: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser of all commands. Only those in `loaded` have arguments, and only their modules are imported."""
    parser = _Parser(
        prog="setwise",
        description="x86-64 machine code for set-wise sliding-piece attacks on chess bitboards.",
        epilog="exit status: 0 fine, 1 a check failed or this processor cannot run it, 2 bad usage or something\n"
        "that you can install is missing\n\n"
        "example:\n  setwise listing kogge-stone.attacks.sout",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"setwise {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name in loaded:
            module = import_module(f"setwise.analysis.commands.{name}")
            command.epilog = "\n  ".join(("example:", *module.EXAMPLES))
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the words of a command line, in which options and other words may be mixed.

    A bad command line prints an error of one line, --help and --version print a text, and all these raise SystemExit.
    """
    whole = parser(arguments[:1])
    if not arguments or arguments[0] in ("-h", "--help", "--version"):
        return whole.parse_args(arguments)
    (name, *rest), known = arguments, commands(whole)
    if name not in known:
        whole.error(f"unknown command '{name}'{_nearest(name, known)}")
    command = known[name]
    result, unknown = command.parse_known_intermixed_args(rest)
    if unknown:
        option = unknown[0].partition("=")[0]
        if option.startswith("-"):
            command.error(f"unknown option '{option}'{_nearest(option, command._option_string_actions)}")
        command.error(f"unexpected word '{unknown[0]}'")
    result.command = name
    return result


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return ": did you mean X?" for the most similar known word, or "" if none is similar."""
    return "".join(f": did you mean {near}?" for near in get_close_matches(word, known, 1))


def commands(whole: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the subcommands by name."""
    (action,) = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    return dict(action.choices)


def one_line(message: str) -> str:
    """Return the message in one line: each run of white space becomes a blank, and none is left at the ends."""
    return " ".join(message.split())
