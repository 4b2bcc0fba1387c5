"""Labels, branches and data: all of assembling that does not depend on who encodes an instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, pairwise

from setwise.codegen.machine.code import Assembled, Code, Datum, Fixup, Instruction, Label, Memory

Encode = Callable[[Instruction, int], bytes]
"""The bytes of one instruction. The second argument fills what a symbol or a label leaves open: the signed distance
from the end of the instruction to that place. A branch is short where the distance fits in a byte."""


class NotEncodable(ValueError):
    """An instruction or a piece of data that cannot be encoded; the message says why in one line."""


def assemble(code: Code, encode: Encode) -> Assembled:
    """Text, data and open distances of `code`, its instructions encoded by `encode`.

    Raises NotEncodable for what no encoding holds, and for a place that is missing or named twice.
    """
    data, symbols, alignment, data_fixups = _place_data(code.data)
    texts, starts, labels = _place_code(code, encode, symbols)
    for fixup in data_fixups:
        if fixup.label not in labels:
            raise NotEncodable(f"{code.name}: no place in the code is called {fixup.label!r}")
    text = bytearray().join(texts)
    fixups: list[Fixup] = []
    for item, (start, end) in zip(code.items, pairwise(starts), strict=True):
        if isinstance(item, Instruction) and (target := _target(item)) and target.name in symbols:
            offset = start + _displacement_offset(item, encode)
            text[offset : offset + 4] = bytes(4)
            fixups.append(Fixup(offset, target.name, offset - end + _addend(item)))
    return Assembled(bytes(text), data, alignment, labels, symbols, tuple(fixups), data_fixups, tuple(starts))


def _place_code(
    code: Code, encode: Encode, symbols: Mapping[str, int]
) -> tuple[list[bytes], list[int], dict[str, int]]:
    """The bytes of each item, where each starts, with the end of the text behind them, and where each label lies.

    Every branch starts out short and grows when its target proves too far. Nothing shrinks, so a branch that has
    grown stays too far for the short form, and the search ends at the smallest sizes.
    """
    texts = [b"" if isinstance(item, Label) else encode(item, 0) for item in code.items]
    targets = [(at, i, _target(i)) for at, i in enumerate(code.items) if isinstance(i, Instruction)]
    sizes: list[int] | None = None
    while sizes != (sizes := list(map(len, texts))):
        starts = [*accumulate(sizes, initial=0)]
        labels = _labels(code, starts, symbols)
        for at, item, target in targets:
            if target is None:
                continue
            if target.name in labels:
                texts[at] = encode(item, labels[target.name] + _addend(item) - starts[at + 1])
            elif any(isinstance(operand, Label) for operand in item.operands):
                raise NotEncodable(f"{code.name}: {item.mnemonic} goes to a place that is not in the code")
            elif target.name not in symbols:
                raise NotEncodable(f"{code.name}: nothing is called {target.name!r}")
    return texts, starts, labels


def _labels(code: Code, starts: Iterable[int], symbols: Mapping[str, int]) -> dict[str, int]:
    labels: dict[str, int] = {}
    for item, start in zip(code.items, starts, strict=False):
        if isinstance(item, Label):
            if item.name in labels or item.name in symbols:
                raise NotEncodable(f"{code.name}: two places are called {item.name!r}")
            labels[item.name] = start
    return labels


def _target(instruction: Instruction) -> Label | None:
    """The place that a branch goes to or that a rip-relative operand names."""
    for operand in instruction.operands:
        if isinstance(operand, Label):
            return operand
        if isinstance(operand, Memory):
            if operand.symbol is not None:
                if operand.base is not None or operand.index is not None:
                    raise NotEncodable(f"{instruction.mnemonic}: a symbol takes neither base nor index: lea it first")
                return Label(operand.symbol)
            if operand.base is None and operand.index is None:
                raise NotEncodable(f"{instruction.mnemonic}: an address needs a base, an index or a symbol")
    return None


def _addend(instruction: Instruction) -> int:
    """How far behind its symbol a rip-relative operand points."""
    return next((operand.displacement for operand in instruction.operands if isinstance(operand, Memory)), 0)


def _displacement_offset(instruction: Instruction, encode: Encode) -> int:
    """Where in the instruction the rip-relative distance is: where all zeros and all ones differ."""
    pairs = zip(encode(instruction, 0), encode(instruction, -1), strict=True)
    return next(at for at, (zeros, ones) in enumerate(pairs) if zeros != ones)


def _place_data(data: Iterable[Datum]) -> tuple[bytes, dict[str, int], int, tuple[Fixup, ...]]:
    """The data one behind the other, each at its alignment: bytes, symbols, the strictest alignment, open entries."""
    block = bytearray()
    symbols: dict[str, int] = {}
    fixups: list[Fixup] = []
    strictest = 1
    for datum in data:
        if datum.label in symbols:
            raise NotEncodable(f"two data are called {datum.label!r}")
        if datum.alignment < 1 or datum.alignment & (datum.alignment - 1):
            raise NotEncodable(f"{datum.label}: the alignment {datum.alignment} is not a power of two")
        block += bytes(-len(block) % datum.alignment)
        strictest = max(strictest, datum.alignment)
        start = symbols[datum.label] = len(block)
        for value in datum.values:
            if isinstance(value, Label):
                if datum.size != 4:
                    raise NotEncodable(f"{datum.label}: an entry of a jump table has 4 bytes, not {datum.size}")
                fixups.append(Fixup(len(block), value.name, len(block) - start))
                block += bytes(4)
            elif not -(1 << 8 * datum.size - 1) <= value < 1 << 8 * datum.size:
                raise NotEncodable(f"{datum.label}: {value:#x} does not fit in {datum.size} bytes")
            else:
                block += (value & (1 << 8 * datum.size) - 1).to_bytes(datum.size, "little")
    return bytes(block), symbols, strictest, tuple(fixups)
