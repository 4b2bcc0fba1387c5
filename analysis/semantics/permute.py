"""What vector instructions do that give each place another place's element: shuffles, unpacks, permutes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.parts import Meaning, bit
from setwise.analysis.semantics.state import Operation
from setwise.analysis.semantics.vector import both_encodings, of_each_width


def pick(x: Operation, elements: Sequence[Bits], index: Bits, bits: int, width: int) -> Bits:
    """The element of that index; the index has as many bits as the number of elements needs."""
    if isinstance(index, int):
        return elements[index]
    half = len(elements) // 2
    if half == 0:
        return elements[0]
    lower = x.domain.extract(index, 0, bits - 1, bits) if bits > 1 else 0
    low, high = (pick(x, part, lower, bits - 1, width) for part in (elements[:half], elements[half:]))
    return x.domain.ite(bit(x, index, bits - 1, bits), high, low, width)


def _indexed(x: Operation, elements: Sequence[Bits], index: Bits, width: int) -> Bits:
    """The element by the lowest bits of an index that is `width` bits wide."""
    bits = (len(elements) - 1).bit_length()
    return pick(x, elements, x.domain.extract(index, 0, bits, width), bits, width)


def _within(x: Operation, found: Sequence[Bits], width: int, chosen: Sequence[int], group: int = 128) -> list[Bits]:
    """Elements by their places within each group of bits."""
    each = group // width
    return [found[start + place] for start in range(0, len(found), each) for place in chosen]


def _fours(immediate: int) -> list[int]:
    return [immediate >> shift & 3 for shift in (0, 2, 4, 6)]


def _shuffle(width: int, group: int, x: Operation) -> None:
    """pshufd and vpermq by an immediate: each of four by two bits."""
    x.put_elements(0, _within(x, x.elements(1, width, x.width()), width, _fours(x.immediate()), group), width)


def _shuffle_words(high: bool, x: Operation) -> None:
    four = _fours(x.immediate())
    chosen = [0, 1, 2, 3, *(4 + place for place in four)] if high else [*four, 4, 5, 6, 7]
    x.put_elements(0, _within(x, x.elements(1, 16, x.width()), 16, chosen), 16)


def _shuffle_two(width: int, x: Operation) -> None:
    """shufps and shufpd: the lower half of each 128 bits from one source, the upper from the other."""
    first, second, immediate = x.elements(x.count - 3, width), x.elements(x.count - 2, width, x.width()), x.immediate()
    each = 128 // width
    moved = []
    for place in range(len(first)):
        start, within = place - place % each, place % each
        field = immediate >> 2 * within & 3 if width == 32 else immediate >> place & 1
        moved.append((first if within < each // 2 else second)[start + field])
    x.put_elements(0, moved, width)


def _shuffle_bytes(x: Operation) -> None:
    first = 1 if x.count > 2 else 0
    found, control = x.elements(first, 8), x.elements(first + 1, 8)
    moved = []
    for place, index in enumerate(control):
        group = found[place - place % 16 : place - place % 16 + 16]
        moved.append(x.domain.ite(bit(x, index, 7, 8), 0, _indexed(x, group, index, 8), 8))
    x.put_elements(0, moved, 8)


def _unpack(width: int, high: bool, x: Operation) -> None:
    first = 1 if x.count > 2 else 0
    a, b = x.elements(first, width), x.elements(first + 1, width, x.width())
    half = 64 // width
    starts = range(half if high else 0, len(a), 2 * half)
    pairs = [pair for start in starts for pair in zip(a[start : start + half], b[start : start + half], strict=True)]
    x.put_elements(0, [element for pair in pairs for element in pair], width)


def _align_bytes(x: Operation) -> None:
    high, low, count = x.elements(x.count - 3, 8), x.elements(x.count - 2, 8), min(x.immediate() & 0xFF, 32)
    moved: list[Bits] = []
    for start in range(0, len(low), 16):
        both = low[start : start + 16] + high[start : start + 16] + [0] * 32
        moved += both[count : count + 16]
    x.put_elements(0, moved, 8)


def _align(width: int, x: Operation) -> None:
    both = x.elements(2, width, x.width()) + x.elements(1, width)
    count = x.immediate() % (len(both) // 2)
    x.put_elements(0, both[count : count + len(both) // 2], width)


def _permute(width: int, x: Operation) -> None:
    """vpermq and its like: by an immediate within 256 bits, or each by its own index into all."""
    if x.file(2) == "immediate":
        _shuffle(width, 256, x)
        return
    found = x.elements(2, width, x.width())
    x.put_elements(0, [_indexed(x, found, index, width) for index in x.elements(1, width)], width)


def _permute_two(width: int, index_first: bool, x: Operation) -> None:
    """vpermi2 and vpermt2: the index in the first operand, or in the second."""
    first, second, last = (x.elements(place, width, x.width()) for place in range(3))
    indices, table = (first, second + last) if index_first else (second, first + last)
    x.put_elements(0, [_indexed(x, table, index, width) for index in indices], width)


def _permute_halves(x: Operation) -> None:
    """vperm2i128: each half of 256 bits is one of the four halves, or 0."""
    halves, immediate = x.elements(1, 64) + x.elements(2, 64), x.immediate()
    moved: list[Bits] = []
    for field in (immediate & 15, immediate >> 4 & 15):
        moved += [0, 0] if field & 8 else halves[2 * (field & 3) : 2 * (field & 3) + 2]
    x.put_elements(0, moved, 64)


def _shuffle_chunks(width: int, x: Operation) -> None:
    """vshufi64x2 and its like: 128 bits at a time, the lower half of the result from one source."""
    first, second, immediate = x.elements(1, width), x.elements(2, width, x.width()), x.immediate()
    each = 128 // width
    chunks = len(first) // each
    bits = chunks.bit_length() - 1
    moved: list[Bits] = []
    for place in range(chunks):
        chosen = immediate >> bits * place & (chunks - 1)
        moved += (first if place < chunks // 2 else second)[chosen * each : chosen * each + each]
    x.put_elements(0, moved, width)


def _permute_pairs(width: int, x: Operation) -> None:
    """vpermilps and vpermilpd by an immediate."""
    found, immediate = x.elements(1, width, x.width()), x.immediate()
    if x.file(2) != "immediate":
        raise x.unknown("only by an immediate")
    if width == 32:
        x.put_elements(0, _within(x, found, 32, _fours(immediate)), 32)
    else:
        x.put_elements(0, [found[p - p % 2 + (immediate >> p & 1)] for p in range(len(found))], 64)


_ROWS: tuple[tuple[str, str, Callable[[int], Meaning]], ...] = (
    ("vperm", "bwdq", lambda width: partial(_permute, width)),
    ("vpermi2", "bwdq", lambda width: partial(_permute_two, width, True)),
    ("vpermt2", "bwdq", lambda width: partial(_permute_two, width, False)),
    ("valign", "dq", lambda width: partial(_align, width)),
)
_UNPACKS = (
    ("punpck", "bw", 8), ("punpck", "wd", 16), ("punpck", "dq", 32), ("punpck", "qdq", 64),
    ("unpck", "ps", 32), ("unpck", "pd", 64),
)  # fmt: skip

TABLE: Mapping[str, Meaning] = MappingProxyType(
    {
        **of_each_width(_ROWS),
        **both_encodings(
            {
                f"{name}{half}{kind}": partial(_unpack, width, half == "h")
                for name, kind, width in _UNPACKS
                for half in "lh"
            }
        ),
        **both_encodings(
            {
                "pshufd": partial(_shuffle, 32, 128),
                "pshuflw": partial(_shuffle_words, False),
                "pshufhw": partial(_shuffle_words, True),
                "shufps": partial(_shuffle_two, 32),
                "shufpd": partial(_shuffle_two, 64),
                "pshufb": _shuffle_bytes,
                "palignr": _align_bytes,
            }
        ),
        "vpermps": partial(_permute, 32),
        "vpermpd": partial(_permute, 64),
        "vpermilps": partial(_permute_pairs, 32),
        "vpermilpd": partial(_permute_pairs, 64),
        "vpermi2ps": partial(_permute_two, 32, True),
        "vpermi2pd": partial(_permute_two, 64, True),
        "vpermt2ps": partial(_permute_two, 32, False),
        "vpermt2pd": partial(_permute_two, 64, False),
        "vperm2i128": _permute_halves,
        "vperm2f128": _permute_halves,
        "vshufi32x4": partial(_shuffle_chunks, 32),
        "vshuff32x4": partial(_shuffle_chunks, 32),
        "vshufi64x2": partial(_shuffle_chunks, 64),
        "vshuff64x2": partial(_shuffle_chunks, 64),
    }
)
