"""`setwise completion`: what a shell needs to complete a command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from setwise.analysis.commands.parser import COMMANDS, commands, parser
from setwise.codegen.catalogue import chosen
from setwise.codegen.targets import TARGETS

EXAMPLES = ("setwise completion bash > ~/.local/share/bash-completion/completions/setwise",)

SHELLS = ("bash", "zsh")


def add_arguments(parser: ArgumentParser) -> None:
    """SHELL."""
    parser.add_argument("shell", metavar="SHELL", help="bash or zsh")


def run(arguments: Namespace) -> int:
    """Print the script for that shell."""
    if arguments.shell not in SHELLS:
        raise ValueError(f"no shell '{arguments.shell}': write one of {', '.join(SHELLS)}")
    import shtab

    print(shtab.complete(_whole(), arguments.shell))
    return 0


def _whole() -> ArgumentParser:
    """The parser of all commands, routines and instruction sets by their names."""
    whole = parser(COMMANDS)
    for command in commands(whole).values():
        for action in command._actions:
            if action.metavar == "NAME":
                action.choices = [routine.name for routine in chosen([])]
            elif "--isa" in action.option_strings:
                action.choices = [*TARGETS, "native"]
    return whole
