"""The semantics table: the effects of instructions on registers, flags and memory, over any domain of values."""

import re
from collections.abc import Mapping

from setwise.analysis.code.decode import Decoded, encodings
from setwise.analysis.semantics import bits, general, lanes, libc, permute, vector
from setwise.analysis.semantics.state import Execution, Goto, MachineState, Meaning

TABLE: Mapping[str, Meaning] = {**general.TABLE, **bits.TABLE, **vector.TABLE, **lanes.TABLE, **permute.TABLE}

# Not followed: 16-bit forms of stack and jump instructions, which behave differently on some processors.
_ODD = re.compile(r"(push|pop|call|jmp).*16.*|(push|retn|leave)w.*")
FOLLOWED = frozenset(name for name, mnemonic in encodings().items() if mnemonic in TABLE and not _ODD.fullmatch(name))
"""The names, as in `encodings`, of the encodings that may have semantics; all others have none."""


def execute(instruction: Decoded, state: MachineState) -> Goto | None:
    """Apply an instruction's effects to the state, and return the jump of a branch, call or return, else None.

    Raises Unsupported for an instruction without semantics, and SemanticsError if it reads a register without a value
    or if the memory refuses an access.
    """
    operation = Execution(instruction, state)
    if not instruction.raw:
        return libc.TABLE[instruction.mnemonic](operation)
    meaning = TABLE.get(instruction.mnemonic)
    if meaning is None:
        raise operation.unknown()
    if instruction.encoding not in FOLLOWED:
        raise operation.unknown("this encoding is not supported")
    return meaning(operation)
