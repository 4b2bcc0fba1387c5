"""The longest path through code that branches and never goes back: the way on which most instructions are executed.

Where a jump by a register goes, a table beside the code says, of 32-bit distances from its own beginning: so do this
program and compilers of C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from setwise.analysis.code.decode import Binary, Decoded, Mem, Reg, decode

_ENTRY = 4


def longest_path(binary: Binary) -> tuple[Decoded, ...]:
    """The instructions on the longest of all paths; of paths of equal length the one that jumps later.

    ValueError where code goes back, or nobody sees where it goes.

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
                raise ValueError(f"it goes where no bound is known, by '{code[at].text()}' at {code[at].offset:#x}")
            if lengths[to] >= lengths[at]:
                lengths[at], following[at] = 1 + lengths[to], to
    path = []
    place: int | None = 0
    while place is not None:
        path.append(code[place])
        place = following[place]
    return tuple(path)


def _next(instruction: Decoded, switches: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """The offsets of all that may come behind it, what follows it in the code first; -1 for what nobody sees."""
    if instruction.flow in ("next", "branch", "call"):
        yield instruction.end
    if instruction.flow in ("branch", "jump"):
        yield -1 if instruction.target is None else instruction.target
    if instruction.flow == "indirect":
        yield from switches.get(instruction.offset) or (-1,)


Found = tuple[str, int]
"""What a register holds of a table: its address, an entry, or their sum; and where the table lies."""


def _switches(binary: Binary, code: Sequence[Decoded]) -> Iterator[tuple[int, Sequence[int]]]:
    """Where the jumps by tables go, each with its own offset."""
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
    """The register that now holds something of a table."""
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
    """Where the table's entries lead, up to what leads nowhere, or to other data."""
    starts = {instruction.offset for instruction in code}
    others = {memory.target for instruction in code if (memory := instruction.memory) is not None} - {table}
    for at in count(table, _ENTRY):
        target = table + int.from_bytes(binary.image[at : at + _ENTRY], "little", signed=True)
        if at in others or target not in starts:
            return
        yield target
