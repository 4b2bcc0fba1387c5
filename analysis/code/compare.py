"""Two routines side by side with their counts below, the literature's way to compare fills."""

from collections.abc import Sequence
from itertools import zip_longest

from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.text import counted, plural, table

TitledCode = tuple[str, Binary]


def side_by_side(left: TitledCode, right: TitledCode) -> str:
    r"""Return the listings of two titled routines next to each other, with titles above and counts below.

    A ret on the last line of a listing is omitted and not counted.

    >>> print(side_by_side(("one", Binary(b"\x48\xd1\xe8\xc3")), ("none", Binary(b"\xc3"))))
    one            none
    -------------  --------------
    shr rax,1
    <BLANKLINE>
    1 operation
    1 instruction  0 instructions
    """
    bodies = zip_longest(_body(left[1]), _body(right[1]), fillvalue="")
    counts = [summary(count(binary)) for _, binary in (left, right)]
    height = max(map(len, counts))
    # Pad at the top, so that the sums share a line.
    totals = zip(*(("",) * (height - len(lines)) + lines for lines in counts), strict=True)
    return table([*bodies, ("", ""), *totals], (left[0], right[0]))


def disassembly(decoded: Sequence[Decoded]) -> tuple[str, ...]:
    """Return the instructions as lines of text in NASM's syntax.

    The target of each direct branch or call to one of them gets a label, such as .1, on a line of its own.

    >>> disassembly(decode(bytes.fromhex("48ffc875fbc3")))
    ('.1:', 'dec rax', 'jne .1', 'ret')
    """
    starts = {instruction.offset for instruction in decoded}
    places = sorted({i.target for i in decoded if i.target is not None and i.target in starts})
    names = {place: f".{number}" for number, place in enumerate(places, 1)}
    lines = []
    for instruction in decoded:
        if instruction.offset in names:
            lines.append(names[instruction.offset] + ":")
        place = instruction.target
        known = place is not None and place in names
        lines.append(f"{instruction.mnemonic} {names[place or 0]}" if known else instruction.text())
    return tuple(lines)


def summary(counts: Counts) -> tuple[str, ...]:
    """Return lines such as '1 move' and '19 operations', then one on memory operands if there are any, then the sum.

    Empty classes are omitted.

    >>> summary(count(Binary(bytes.fromhex("4889d048c1e808c3"))))
    ('1 move', '1 operation', '2 instructions')
    """
    named = {name: number for name, number in counts.by_class.items() if number}
    lines = [
        f"{number} {name if name in ('stack', 'other') else plural(number, name)}" for name, number in named.items()
    ]
    total = f"{counts.instructions} {plural(counts.instructions, 'instruction')}"
    if counts.memory_operands:
        lines.append(counted(counts.memory_operands, "memory operand") + " among them")
    return (*lines, total)


def _body(binary: Binary) -> tuple[str, ...]:
    """Return the lines of the listing without a ret on the last one, which is not counted."""
    lines = disassembly(decode(binary.text))
    return lines[:-1] if lines and lines[-1] == "ret" else lines
