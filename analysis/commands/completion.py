"""`setwise completion`: print a script with which a shell completes command lines."""

from argparse import ArgumentParser, Namespace

from setwise.analysis.commands.parser import COMMANDS, commands, parser
from setwise.codegen.catalogue import chosen
from setwise.codegen.targets import TARGETS

EXAMPLES = ("setwise completion bash > ~/.local/share/bash-completion/completions/setwise",)

SHELLS = ("bash", "zsh")


def add_arguments(parser: ArgumentParser) -> None:
    """Add SHELL."""
    parser.add_argument("shell", metavar="SHELL", help="bash or zsh")


def run(arguments: Namespace) -> int:
    """Print the script for the shell."""
    if arguments.shell not in SHELLS:
        raise ValueError(f"unknown shell '{arguments.shell}': choose from {', '.join(SHELLS)}")
    import shtab

    print(shtab.complete(_whole(), arguments.shell))
    return 0


def _whole() -> ArgumentParser:
    """Return the parser of all commands. NAME's choices are the routines, --isa's the instruction sets and native."""
    whole = parser(COMMANDS)
    for command in commands(whole).values():
        for action in command._actions:
            if action.metavar == "NAME":
                action.choices = [routine.name for routine in chosen([])]
            elif "--isa" in action.option_strings:
                action.choices = [*TARGETS, "native"]
    return whole
