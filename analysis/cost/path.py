"""The longest path through acyclic code with branches, measured in executed instructions.

An indirect jump is followed if it goes through a jump table of 32-bit distances from the table's start, as setwise and
C compilers emit it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from setwise.analysis.code.decode import Binary, Decoded, Mem, Reg, decode

_ENTRY = 4


def longest_path(binary: Binary) -> tuple[Decoded, ...]:
    """Return the instructions on the longest path.

    Among paths of equal length it takes the one that branches later.

    Raises ValueError for a backward branch or an indirect jump with unknown targets.

    >>> [instruction.mnemonic for instruction in longest_path(Binary(bytes.fromhex("85ff7403480fc8c3")))]
    ['test', 'je', 'bswap', 'ret']
    """
    code = decode(binary.text)
    places = {instruction.offset: at for at, instruction in enumerate(code)}
    switches = dict(_switches(binary, code))
    lengths = [1] * len(code)
    following: list[int | None] = [None] * len(code)
    for at in reversed(range(len(code))):
        for offset in _next(code[at], switches):
            to = places.get(offset, 0)
            if to <= at:
                jump = f"'{code[at].text()}' at offset {code[at].offset:#x}"
                raise ValueError(f"its longest path is unknown: {jump} jumps back or to an unknown place")
            if lengths[to] >= lengths[at]:
                lengths[at], following[at] = 1 + lengths[to], to
    path = []
    place: int | None = 0
    while place is not None:
        path.append(code[place])
        place = following[place]
    return tuple(path)


def _next(instruction: Decoded, switches: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield the offsets of all possible successors, the fall-through first; -1 for an unknown target."""
    if instruction.flow in ("next", "branch", "call"):
        yield instruction.end
    if instruction.flow in ("branch", "jump"):
        yield -1 if instruction.target is None else instruction.target
    if instruction.flow == "indirect":
        yield from switches.get(instruction.offset) or (-1,)


Found = tuple[str, int]
"""A register's part in the use of a jump table ("address", "entry" or their "sum"), and the table's offset."""


def _switches(binary: Binary, code: Sequence[Decoded]) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the offset of each indirect jump through a table, with its targets."""
    known: dict[str, Found] = {}
    for instruction in code:
        match instruction.flow, instruction.operands:
            case "indirect", (Reg(full=register),) if known.get(register, ("", 0))[0] == "sum":
                yield instruction.offset, tuple(_targets(binary, code, known[register][1]))
        made = _made(instruction, known)
        for name in instruction.writes:
            known.pop(name, None)
        known.update(made)


def _made(instruction: Decoded, known: Mapping[str, Found]) -> Mapping[str, Found]:
    """Return the destination register with its new part in the use of a jump table, or nothing."""
    match instruction.mnemonic, instruction.operands:
        case "lea", (Reg(full=result), Mem(target=int(table))):
            return {result: ("address", table)}
        case "movsxd", (Reg(full=result), Mem(base=Reg(full=base), scale=4, displacement=0)) if base in known:
            kind, table = known[base]
            return {result: ("entry", table)} if kind == "address" else {}
        case "add", (Reg(full=result), Reg(full=other)) if result in known and other in known:
            (first, table), (second, same) = sorted((known[result], known[other]))
            return {result: ("sum", table)} if (first, second, table) == ("address", "entry", same) else {}
    return {}


def _targets(binary: Binary, code: Sequence[Decoded], table: int) -> Iterator[int]:
    """Yield the targets of a jump table. It ends at an entry that is no instruction, or at other data."""
    starts = {instruction.offset for instruction in code}
    others = {memory.target for instruction in code if (memory := instruction.memory) is not None} - {table}
    for at in count(table, _ENTRY):
        target = table + int.from_bytes(binary.image[at : at + _ENTRY], "little", signed=True)
        if at in others or target not in starts:
            return
        yield target
