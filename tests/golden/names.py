"""The names that editors complete and type checkers know, in setwise/names.py.

`make golden` writes that file anew; test_names.py compares it with the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from setwise.analysis.commands.kernels import OBJECTIVES
from setwise.codegen import literature
from setwise.codegen.catalogue import catalogue
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.targets import ALL_SETS

FILE = Path(__file__).parents[2] / "setwise" / "names.py"
HEAD = '''"""Names as types, for editors and type checkers; `make golden` writes this file."""

from __future__ import annotations

from typing import Literal
'''


def text() -> str:
    """The file as the catalogue has it."""
    routines = [*catalogue(), *literature.names()]
    return HEAD + "".join(
        [
            _literal("RoutineName", routines, "A routine, by our name or a page's; a user's own has another."),
            _literal("InstructionSet", ALL_SETS, "An instruction set."),
            _literal("Abi", CONVENTIONS, "A calling convention."),
            _literal("Objective", OBJECTIVES, "What is best."),
        ]
    )


def _literal(name: str, values: Iterable[str], meaning: str) -> str:
    lines = "".join(f'    "{value}",\n' for value in values)
    return f'\n{name} = Literal[\n{lines}]\n"""{meaning}"""\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="ascii")
