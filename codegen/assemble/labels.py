"""Layout of code and data, labels and fixups, for any encoder of single instructions."""

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, pairwise

from setwise.codegen.machine.code import Assembled, Code, Datum, Fixup, Instruction, Label, Memory

Encode = Callable[[Instruction, int], bytes]
"""A function that encodes one instruction. Its second argument is the signed distance from the end of the instruction
to the symbol or label in its operands, ignored if there is none. A branch is short if the distance fits in a byte."""


class NotEncodable(ValueError):
    """Code or data that cannot be encoded. The message is one line."""


def assemble(code: Code, encode: Encode) -> Assembled:
    """Assemble `code`, with each instruction encoded by `encode`.

    Raise NotEncodable for code or data without an encoding, for a label that is missing or defined twice, and for an
    alignment that is no power of two.
    """
    data, symbols, alignment, data_fixups = _place_data(code.data)
    texts, starts, labels = _place_code(code, encode, symbols)
    for fixup in data_fixups:
        if fixup.label not in labels:
            raise NotEncodable(f"{code.name}: undefined label {fixup.label!r} in a jump table")
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
    """Return the bytes of each item, the offsets of all items and of the end, and the offset of each label by name.

    Every branch starts short and grows if its target is too far. Instructions never shrink, so a branch that has grown
    stays too far for the short form, and the iteration ends with the smallest sizes.
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
                raise NotEncodable(f"{code.name}: {item.mnemonic} has an undefined label as its target")
            elif target.name not in symbols:
                raise NotEncodable(f"{code.name}: undefined symbol {target.name!r}")
    return texts, starts, labels


def _labels(code: Code, starts: Iterable[int], symbols: Mapping[str, int]) -> dict[str, int]:
    labels: dict[str, int] = {}
    for item, start in zip(code.items, starts, strict=False):
        if isinstance(item, Label):
            if item.name in labels or item.name in symbols:
                raise NotEncodable(f"{code.name}: label {item.name!r} is defined twice")
            labels[item.name] = start
    return labels


def _target(instruction: Instruction) -> Label | None:
    """Return a branch's label, a rip-relative symbol as a label, or None. Raise NotEncodable for a bad address."""
    for operand in instruction.operands:
        if isinstance(operand, Label):
            return operand
        if isinstance(operand, Memory):
            if operand.symbol is not None:
                if operand.base is not None or operand.index is not None:
                    raise NotEncodable(
                        f"{instruction.mnemonic}: a symbol takes no base or index: load its address by lea"
                    )
                return Label(operand.symbol)
            if operand.base is None and operand.index is None:
                raise NotEncodable(f"{instruction.mnemonic}: an address needs a base, an index or a symbol")
    return None


def _addend(instruction: Instruction) -> int:
    """Return the displacement of the memory operand, which a rip-relative one adds to its symbol; 0 without one."""
    return next((operand.displacement for operand in instruction.operands if isinstance(operand, Memory)), 0)


def _displacement_offset(instruction: Instruction, encode: Encode) -> int:
    """Return the offset of the rip-relative field in the instruction: its bytes differ for the distances 0 and -1."""
    pairs = zip(encode(instruction, 0), encode(instruction, -1), strict=True)
    return next(at for at, (zeros, ones) in enumerate(pairs) if zeros != ones)


def _place_data(data: Iterable[Datum]) -> tuple[bytes, dict[str, int], int, tuple[Fixup, ...]]:
    """Lay out the data. Return the bytes, the offsets by label, the strictest alignment, and fixups of jump tables."""
    block = bytearray()
    symbols: dict[str, int] = {}
    fixups: list[Fixup] = []
    strictest = 1
    for datum in data:
        if datum.label in symbols:
            raise NotEncodable(f"datum {datum.label!r} is defined twice")
        if datum.alignment < 1 or datum.alignment & (datum.alignment - 1):
            raise NotEncodable(f"{datum.label}: the alignment {datum.alignment} is not a power of two")
        block += bytes(-len(block) % datum.alignment)
        strictest = max(strictest, datum.alignment)
        start = symbols[datum.label] = len(block)
        for value in datum.values:
            if isinstance(value, Label):
                if datum.size != 4:
                    raise NotEncodable(f"{datum.label}: jump table entries must have 4 bytes, not {datum.size}")
                fixups.append(Fixup(len(block), value.name, len(block) - start))
                block += bytes(4)
            elif not -(1 << 8 * datum.size - 1) <= value < 1 << 8 * datum.size:
                raise NotEncodable(f"{datum.label}: {value:#x} does not fit in {datum.size} bytes")
            else:
                block += (value & (1 << 8 * datum.size) - 1).to_bytes(datum.size, "little")
    return bytes(block), symbols, strictest, tuple(fixups)
