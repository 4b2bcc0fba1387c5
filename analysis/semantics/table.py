"""ONE table: what each instruction does to registers, flags and memory, over integers and bit-vectors alike."""

import re
from collections.abc import Mapping

from setwise.analysis.code.decode import Decoded, encodings
from setwise.analysis.semantics import bits, general, lanes, permute, vector
from setwise.analysis.semantics.parts import Meaning
from setwise.analysis.semantics.state import Execution, Goto, MachineState, SemanticsError, UnknownInstructionError

__all__ = ["FOLLOWED", "TABLE", "Goto", "MachineState", "SemanticsError", "UnknownInstructionError", "execute"]

TABLE: Mapping[str, Meaning] = {
    **general.TABLE,
    **bits.TABLE,
    **vector.TABLE,
    **lanes.TABLE,
    **permute.TABLE,
}

# Where a stack is moved or a place gone to, 16 bits and far places mean other things, on some processors only.
_ODD = re.compile(r"(push|pop|call|jmp).*16.*|(push|retn|leave)w.*")
FOLLOWED = frozenset(name for name, mnemonic in encodings().items() if mnemonic in TABLE and not _ODD.fullmatch(name))
"""The encodings that have semantics: what co-simulation runs, each with every kind of operand, is just these."""


def execute(instruction: Decoded, state: MachineState) -> Goto | None:
    """Does to the state what the instruction does; where it branches, says whither.

    None means that the next instruction follows. Raises UnknownInstructionError for one that has no semantics, and
    SemanticsError for one that reads what is undefined or goes where it must not.
    """
    operation = Execution(instruction, state)
    meaning = TABLE.get(instruction.mnemonic)
    if meaning is None:
        raise operation.unknown()
    if instruction.encoding not in FOLLOWED:
        raise operation.unknown("an encoding that is not followed")
    return meaning(operation)
