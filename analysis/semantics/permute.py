"""Semantics of vector permutations: shuffles, packs, unpacks, permutes and alignments."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

from setwise.analysis.code.decode import Mem
from setwise.analysis.semantics.bits import chosen, lowest_bit
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import Execution, Meaning
from setwise.analysis.semantics.vector import of_each_width, with_twins


def pick(x: Execution, elements: Sequence[Bits], index: Bits, bits: int, width: int) -> Bits:
    """Return the element of `width` bits at an index of `bits` bits; there are 2**bits elements."""
    if isinstance(index, int):
        return elements[index]
    half = len(elements) // 2
    if half == 0:
        return elements[0]
    lower = x.domain.extract(index, 0, bits - 1, bits) if bits > 1 else 0
    low, high = (pick(x, part, lower, bits - 1, width) for part in (elements[:half], elements[half:]))
    return x.domain.ite(x.bit(index, bits - 1, bits), high, low, width)


def _indexed(x: Execution, elements: Sequence[Bits], index: Bits, width: int) -> Bits:
    """Return the element at an index of `width` bits, modulo the number of elements, a power of two."""
    bits = (len(elements) - 1).bit_length()
    return pick(x, elements, x.domain.extract(index, 0, bits, width), bits, width)


def _put_chosen(x: Execution, width: int, chosen: Sequence[int], group: int = 128) -> None:
    """Set element n (`width` bits) of each group of `group` bits to element `chosen[n]` of the source's same group."""
    (elements,), each = x.sources(width, 1), group // width
    x.put_elements([elements[at + place] for at in range(0, len(elements), each) for place in chosen], width)


def _fours(immediate: int) -> list[int]:
    return [immediate >> shift & 3 for shift in (0, 2, 4, 6)]


def _shuffle(width: int, group: int, x: Execution) -> None:
    """Execute pshufd and similar: two bits of the immediate select each of four elements, alike in all groups."""
    _put_chosen(x, width, _fours(x.immediate()), group)


def _shuffle_words(high: bool, x: Execution) -> None:
    four = _fours(x.immediate())
    chosen = [0, 1, 2, 3, *(4 + place for place in four)] if high else [*four, 4, 5, 6, 7]
    _put_chosen(x, 16, chosen)


def _shuffle_two(width: int, x: Execution) -> None:
    """Execute shufps or shufpd: select each 128 bits' lower half from the first source, the upper from the second."""
    (first, second), immediate, each = x.sources(width, 2), x.immediate(), 128 // width
    moved = []
    for place in range(len(first)):
        start, within = place - place % each, place % each
        field = immediate >> 2 * within & 3 if width == 32 else immediate >> place & 1
        moved.append((first if within < each // 2 else second)[start + field])
    x.put_elements(moved, width)


def _shuffle_bytes(x: Execution) -> None:
    elements, control = x.sources(8, 2)
    moved = []
    for place, index in enumerate(control):
        group = elements[place - place % 16 : place - place % 16 + 16]
        moved.append(x.domain.ite(x.bit(index, 7, 8), 0, _indexed(x, group, index, 8), 8))
    x.put_elements(moved, 8)


def _unpack(high: bool, width: int, x: Execution) -> None:
    (a, b), half = x.sources(width, 2), 64 // width
    starts = range(half if high else 0, len(a), 2 * half)
    pairs = [pair for start in starts for pair in zip(a[start : start + half], b[start : start + half], strict=True)]
    x.put_elements([element for pair in pairs for element in pair], width)


def _saturated(is_signed: bool, x: Execution, a: Bits, wide: int) -> Bits:
    """Return a signed value of `wide` bits saturated to the signed or unsigned range of half the width."""
    d, width = x.domain, wide // 2
    low, sign = d.extract(a, 0, width, wide), x.bit(a, wide - 1, wide)
    if not is_signed:
        fits = d.eq(d.extract(a, width, width, wide), 0, width)
        return d.ite(fits, low, d.ite(sign, 0, (1 << width) - 1, width), width)
    most = (1 << width - 1) - 1
    fits = d.eq(d.extract(a, width - 1, width + 1, wide), d.ite(sign, (1 << width + 1) - 1, 0, width + 1), width + 1)
    return d.ite(fits, low, d.ite(sign, most + 1, most, width), width)


def _pack(is_signed: bool, width: int, x: Execution) -> None:
    """Saturate elements of `width` bits to half of that: each 128 bits get the first source's below the second's."""
    (a, b), each = x.sources(width, 2), 128 // width
    chosen = [element for at in range(0, len(a), each) for element in (*a[at : at + each], *b[at : at + each])]
    x.put_elements([_saturated(is_signed, x, element, width) for element in chosen], width // 2)


def _put_windows(x: Execution, high: list[Bits], low: list[Bits], start: int, width: int, group: int) -> None:
    """Write each group of `group` bits: as many elements, from number `start` on, of the group's zeros:high:low."""
    each, windows = group // width, list[Bits]()
    for at in range(0, len(low), each):
        both = low[at : at + each] + high[at : at + each] + [0] * each
        windows += both[start : start + each]
    x.put_elements(windows, width)


def _align_bytes(x: Execution) -> None:
    high, low = x.sources(8, 2)
    _put_windows(x, high, low, min(x.immediate() & 0xFF, 32), 8, 128)


def _shift_bytes(left: bool, x: Execution) -> None:
    """Execute psrldq, or pslldq if `left`: shift by bytes within each 128 bits."""
    (elements,), count = x.sources(8, 1), min(x.immediate() & 0xFF, 16)
    zeros: list[Bits] = [0] * len(elements)
    high, low = (elements, zeros) if left else (zeros, elements)
    _put_windows(x, high, low, 16 - count if left else count, 8, 128)


def _align(width: int, x: Execution) -> None:
    high, low = x.sources(width, 2)
    _put_windows(x, high, low, x.immediate() % len(low), width, width * len(low))


def _permute(width: int, x: Execution) -> None:
    """Execute vpermq and similar: permute by an immediate within each 256 bits, or by an index for each element."""
    if x.file(2) == "immediate":
        _shuffle(width, 256, x)
        return
    indices, elements = x.sources(width, 2)
    x.put_elements([_indexed(x, elements, index, width) for index in indices], width)


def _permute_two(index_first: bool, width: int, x: Execution) -> None:
    """Execute vpermi2 (`index_first`) or vpermt2: select from two sources by indices in the first or second operand."""
    first, second, last = x.sources(width, 3)
    indices, table = (first, second + last) if index_first else (second, first + last)
    x.put_elements([_indexed(x, table, index, width) for index in indices], width)


def _permute_halves(x: Execution) -> None:
    """Execute vperm2i128: set each half of 256 bits to one of the four source halves or 0."""
    halves, immediate = x.elements(1, 64) + x.elements(2, 64), x.immediate()
    moved: list[Bits] = []
    for field in (immediate & 15, immediate >> 4 & 15):
        moved += [0, 0] if field & 8 else halves[2 * (field & 3) : 2 * (field & 3) + 2]
    x.put_elements(moved, 64)


def _shuffle_chunks(width: int, x: Execution) -> None:
    """Execute vshufi64x2 and similar: select 128-bit chunks, the lower half from source 1, the upper from source 2."""
    (first, second), immediate, each = x.sources(width, 2), x.immediate(), 128 // width
    chunks = len(first) // each
    bits = chunks.bit_length() - 1
    moved: list[Bits] = []
    for place in range(chunks):
        chosen = immediate >> bits * place & (chunks - 1)
        moved += (first if place < chunks // 2 else second)[chosen * each : chosen * each + each]
    x.put_elements(moved, width)


def _permute_pairs(width: int, x: Execution) -> None:
    """Execute vpermilps or vpermilpd: permute within each 128 bits, by an immediate or by an index for each element."""
    if x.file(2) != "immediate":
        elements, control = x.sources(width, 2)
        each, low = 128 // width, 0 if width == 32 else 1
        chosen = []
        for place, index in enumerate(control):
            group = elements[place - place % each :][:each]
            chosen.append(pick(x, group, x.domain.extract(index, low, each // 2, width), each // 2, width))
        x.put_elements(chosen, width)
    elif width == 32:
        _shuffle(32, 128, x)
    else:
        pairs = range(x.width() // 64)
        _put_chosen(x, 64, [place - place % 2 + (x.immediate() >> place & 1) for place in pairs], x.width())


def _packed(x: Execution, elements: Sequence[Bits], width: int) -> list[tuple[Bits, Bits]]:
    """Return the elements that the write mask selects in order, each with a bit 1; zeros, with a bit 0, follow them.

    They are found as scalar code finds them, by the lowest bit that is left, for proofs against such code.
    """
    d, number, packed = x.domain, len(elements), list[tuple[Bits, Bits]]()
    mask = x.instruction.mask
    left = d.extract(x.register(mask.full), 0, number, 64) if mask else (1 << number) - 1
    for _ in elements:
        packed.append((d.ne(left, 0, number), chosen(d, lowest_bit(d, left, number), elements, number, width)))
        left = d.and_(left, d.sub(left, 1, number), number)
    return packed


def _compress(width: int, x: Execution) -> None:
    """Execute vpcompress: write the elements that the mask selects one behind the other; a register keeps the rest."""
    target, packed = x.instruction.operands[0], _packed(x, x.elements(1, width), width)
    if isinstance(target, Mem):
        for place, (wanted, element) in enumerate(packed):
            x.store(x.domain.add(x.address(target), place * width // 8, 64), width, element, wanted)
        return
    old = [0] * len(packed) if x.instruction.zeroing else x.elements(0, width)
    kept = zip(packed, old, strict=True)
    x.put_elements([x.domain.ite(wanted, new, last, width) for (wanted, new), last in kept], width, masked=False)


def _expand(width: int, x: Execution) -> None:
    """Execute vpexpand: deal consecutive elements of the source out to those places that the mask selects."""
    number, source = x.width() // width, x.instruction.operands[1]
    bits = x.mask_bits(number) or [1] * number
    if isinstance(source, Mem):
        wanted = [each for each, _ in _packed(x, [0] * number, width)]
        at = [x.domain.add(x.address(source), place * width // 8, 64) for place in range(number)]
        left = [x.load(address, width, bit) for address, bit in zip(at, wanted, strict=True)]
    else:
        left = x.elements(1, width)
    dealt = []
    for bit in bits:
        dealt.append(left[0])
        left = [x.domain.ite(bit, after, one, width) for one, after in pairwise([*left, 0])]
    x.put_elements(dealt, width)


TABLE: Mapping[str, Meaning] = with_twins(
    of_each_width(
        ("vperm b w d q ps pd", _permute),
        ("vpermi2 b w d q ps pd", partial(_permute_two, True)),
        ("vpermt2 b w d q ps pd", partial(_permute_two, False)),
        ("vpermil ps pd", _permute_pairs),
        ("valign d q", _align),
        ("vpcompress b w d q", _compress),
        ("vpexpand b w d q", _expand),
        ("shuf ps pd", _shuffle_two),
        ("packss wb dw", partial(_pack, True)),
        ("packus wb dw", partial(_pack, False)),
        ("punpckl bw wd dq qdq, unpckl ps pd", partial(_unpack, False)),
        ("punpckh bw wd dq qdq, unpckh ps pd", partial(_unpack, True)),
    )
    | {
        "pshufd": partial(_shuffle, 32, 128),
        "pshuflw": partial(_shuffle_words, False),
        "pshufhw": partial(_shuffle_words, True),
        "pshufb": _shuffle_bytes,
        "palignr": _align_bytes,
        "pslldq": partial(_shift_bytes, True),
        "psrldq": partial(_shift_bytes, False),
        **dict.fromkeys(("vperm2i128", "vperm2f128"), _permute_halves),
    }
    | dict.fromkeys(("vshufi32x4", "vshuff32x4"), partial(_shuffle_chunks, 32))
    | dict.fromkeys(("vshufi64x2", "vshuff64x2"), partial(_shuffle_chunks, 64))
)
