"""The reference of the commands, docs/commands.md, from their parser.

`make golden` writes that page anew; test_commands.py compares it with the parser.
"""

from argparse import Action, ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from setwise.analysis.commands.parser import COMMANDS, commands, parser

FILE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = """\
# Commands

<!-- `make golden` writes this page. -->

The exit status of each is 0 when all is well; 1 when a check failed, or this processor cannot run what was asked for; 2
for bad usage, or when something is missing that you can install; the message then says what to do. `--help` goes with
each command and says what is here; tables come as `--json` too.

A NAME is a routine's, a family's such as `dumb7`, or a pattern such as `'dumb7.*.sout'`. It may be the literature's:
`fillUpOccluded`, `soutOccl@kogge-stone`; [its page](literature.md) has all. Or it is your own: `mine.py:function`,
`mine.py` for all of a file, or `package.module:function`. Each command that names it runs that file, which is Python
and may do anything.

`count`, `cost`, `check`, `prove` and `shorten` also take a function of an object file: `--object FILE --symbol SYM`.

Without `--isa` and `--abi`, `prove` and `check` take every instruction set and every calling convention that a routine
has. `run` takes this processor's best set, `count` and `listing` take x86-64, all three by System V's convention.

A kernel that your processor lacks the instructions for [runs in Bochs](proofs.md#run-setwise-check), if that is
installed; `check --on` names a processor. `run` interprets such a kernel.
"""


def text() -> str:
    """The page as the parser has it."""
    return HEAD + "".join(_section(name, command) for name, command in commands(parser(COMMANDS)).items())


def _section(name: str, command: ArgumentParser) -> str:
    examples = (command.epilog or "").partition("\n")[2]
    lines = [f"\n## setwise {name}\n", f"{command.description}\n", *_arguments(command), "\n```sh"]
    return "\n".join([*lines, *(line.strip() for line in examples.splitlines()), "```\n"])


def _arguments(command: ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        if "--help" not in action.option_strings:
            yield f"* `{_written(action)}`: {(action.help or '') % {'default': action.default}}"


def _written(action: Action) -> str:
    """What is typed: the option's names with its value, or the name of what stands in its place."""
    value = action.metavar if isinstance(action.metavar, str) else "" if action.nargs == 0 else action.dest.upper()
    shown = {"*": f"{value}...", "+": f"{value}...", "?": f"[{value}]"}.get(str(action.nargs), value)
    return ", ".join(f"{option} {shown}".strip() for option in action.option_strings) or shown


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
