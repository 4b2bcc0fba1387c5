"""ONE table: what each instruction does to registers, flags and memory, over integers and bit-vectors alike."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from analysis import semantics_bits, semantics_general, semantics_lanes, semantics_permute, semantics_vector
from analysis.decode import Decoded
from analysis.semantics_parts import Entry
from analysis.state import Goto, Operation, SemanticsError, State, UnknownInstructionError

__all__ = ["TABLE", "Goto", "SemanticsError", "State", "UnknownInstructionError", "execute"]

TABLE: Mapping[str, Entry] = MappingProxyType(
    {
        **semantics_general.TABLE,
        **semantics_bits.TABLE,
        **semantics_vector.TABLE,
        **semantics_lanes.TABLE,
        **semantics_permute.TABLE,
    }
)


def execute(instruction: Decoded, state: State) -> Goto | None:
    """Does to the state what the instruction does; where it branches, says whither.

    None means that the next instruction follows. Raises UnknownInstructionError for one that has no semantics, and
    SemanticsError for one that reads what is undefined or goes where it must not.
    """
    operation = Operation(instruction, state)
    entry = TABLE.get(instruction.mnemonic)
    if entry is None:
        raise operation.unknown()
    return entry(operation)
