"""Semantics of vector moves, broadcasts, inserts, extracts, blends and width conversions, and of mask moves."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

from setwise.analysis.code.decode import Reg
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import Execution, Meaning
from setwise.analysis.semantics.vector import WIDTHS, below, of_each_width, with_twins

# ---- moves


def _move(width: int, x: Execution) -> None:
    """Move a whole register or memory operand; `width`, that of an element, matters only under a mask."""
    bits = x.width(0)
    x.put_elements(x.elements(1, width, bits, masked=True), width)


def _move_low(width: int, x: Execution) -> None:
    """Execute movd or movq: move one element to or from a vector register, and clear the rest of an xmm destination."""
    value = x.elements(1, width, width)[0] if x.file(1) == "vector" else x.get(1, width)
    if x.file(0) == "vector":
        x.put_elements([x.extend(value, width, 64), 0], 64)
    else:
        x.put(0, value)


def _move_scalar(x: Execution) -> None:
    """Execute movsd: store the lowest lane, load it and clear the other, or replace it by that of another register."""
    if x.instruction.mask or "vector" not in (x.file(0), x.file(1)):
        raise x.unknown()  # masked, or the string instruction of that name
    if x.file(0) == "memory":
        x.put(0, x.elements(1, 64, 128)[0])
    elif x.file(1) == "memory":
        x.put_elements([x.get(1), 0], 64)
    else:
        x.put_elements([x.elements(x.count - 1, 64)[0], x.elements(x.count - 2, 64)[1]], 64)


def _move_half(high: int, x: Execution) -> None:
    """Execute movlps or movhps: move 64-bit lane number `high` (0 or 1) of a register from or to memory."""
    if x.file(0) == "memory":
        x.put(0, x.elements(1, 64)[high])
        return
    lanes = x.elements(x.count - 2, 64)
    lanes[high] = x.get(x.count - 1)
    x.put_elements(lanes, 64)


def _move_across(upwards: bool, x: Execution) -> None:
    """Execute movlhps (`upwards`) or movhlps: move a half of a register to the other half of another register."""
    first, second = x.sources(64, 2)
    x.put_elements([first[0], second[0]] if upwards else [second[1], first[1]], 64)


def _zero_upper(kept: int, x: Execution) -> None:
    for number in range(16):
        name = f"zmm{number}"
        if name in x.state.vectors:
            x.state.vectors[name] = x.state.vectors[name][:kept] + (0,) * (8 - kept)


# ---- broadcast, extract, insert


def _broadcast(chunk: int, width: int, x: Execution) -> None:
    elements = [x.get(1, width)] if x.file(1) == "general" else x.elements(1, width, chunk)
    x.put_elements(elements * (x.width() // chunk), width)


def _duplicate_low(x: Execution) -> None:
    """Execute movddup: duplicate the even lanes; a 128-bit form reads only 64 bits of memory."""
    lanes = x.elements(1, 64, 64 if x.width() == 128 else x.width())
    x.put_elements([lane for lane in lanes[::2] for _ in range(2)], 64)


def _part(x: Execution, elements: Sequence[Bits], chunk: int, width: int) -> slice:
    """Return the slice of `elements` that is chunk `immediate % number`; `number` chunks of `chunk` bits fill them."""
    each = chunk // width
    start = x.immediate() % (len(elements) // each) * each
    return slice(start, start + each)


def _extract(chunk: int, width: int, x: Execution) -> None:
    elements = x.elements(1, width)
    x.put_elements(elements[_part(x, elements, chunk, width)], width)


def _insert(chunk: int, width: int, x: Execution) -> None:
    elements = x.elements(1, width)
    elements[_part(x, elements, chunk, width)] = x.elements(2, width, chunk)
    x.put_elements(elements, width)


def _extract_element(width: int, x: Execution) -> None:
    elements = x.elements(1, width)
    x.put(0, x.extend(elements[x.immediate() % len(elements)], width, x.width(0)))


def _insert_element(width: int, x: Execution) -> None:
    elements = x.elements(x.count - 3, width)
    elements[x.immediate() % len(elements)] = x.get(x.count - 2, width)
    x.put_elements(elements, width)


# ---- blends


def _blend_by_immediate(width: int, x: Execution) -> None:
    chosen = x.immediate() | (x.immediate() << 8 if width == 16 else 0)
    pairs = enumerate(zip(*x.sources(width, 2), strict=True))
    x.put_elements([b if chosen >> place & 1 else a for place, (a, b) in pairs], width)


def _blend_by_mask(width: int, x: Execution) -> None:
    first, second = x.sources(width, 2, masked=True)
    bits = x.mask_bits(len(first)) or [1] * len(first)
    other = [0] * len(first) if x.instruction.zeroing else first
    triples = zip(bits, second, other, strict=True)
    blended = [x.domain.ite(chosen, a, b, width) for chosen, a, b in triples]
    x.put_elements(blended, width, masked=False)  # the mask was the selector


def _blend_by_sign(width: int, x: Execution) -> None:
    """Select each element by its sign bit in operand 3 (legacy SSE: xmm0): from source 2 if 1, else from source 1."""
    first = 1 if x.count > 3 else 0
    implicit = Reg("xmm0", 128, "vector", "zmm0")
    control = x.elements(3, width) if x.count > 3 else x.split(x.lanes(implicit)[:2], width)
    triples = zip(control, x.elements(first, width), x.elements(first + 1, width), strict=True)
    x.put_elements([x.domain.ite(x.bit(by, width - 1, width), b, a, width) for by, a, b in triples], width)


# ---- other widths, other files


def _widen(narrow: int, wide: int, is_signed: bool, x: Execution) -> None:
    elements = x.elements(1, narrow, x.width() * narrow // wide)
    grow = Execution.sign_extend if is_signed else Execution.extend
    x.put_elements([grow(x, a, narrow, wide) for a in elements], wide)


def _truncate(wide: int, narrow: int, x: Execution) -> None:
    x.put_elements([x.domain.extract(a, 0, narrow, wide) for a in x.elements(1, wide)], narrow)


def _saturate(wide: int, narrow: int, is_signed: bool, x: Execution) -> None:
    """Execute vpmovs or vpmovus: narrow elements to the nearest number of the narrow width, signed or unsigned."""
    d, most = x.domain, (1 << narrow - is_signed) - 1
    low = -most - 1 & (1 << wide) - 1
    kept = []
    for a in x.elements(1, wide):
        top = d.ite(below(d, most, a, wide) if is_signed else d.ult(most, a, wide), most, a, wide)
        kept.append(d.extract(d.ite(below(d, top, low, wide) if is_signed else 0, low, top, wide), 0, narrow, wide))
    x.put_elements(kept, narrow)


def _signs(width: int, x: Execution) -> None:
    """Execute pmovmskb and similar: collect the elements' sign bits in a general or mask register."""
    bits = [x.bit(element, width - 1, width) for element in x.elements(1, width)]
    x.put(0, x.extend(x.concat_bits(bits), len(bits), x.width(0)))


def _mask_to_lanes(width: int, x: Execution) -> None:
    bits = [x.bit(x.get(1, 64), place, 64) for place in range(x.width(0) // width)]
    x.put_elements([x.sign_extend(truth, 1, width) for truth in bits], width)


def _chunked() -> dict[str, Meaning]:
    """Return semantics by mnemonic for broadcasts, extracts and inserts of chunks of 128 and 256 bits."""
    table: dict[str, Meaning] = {}
    for letter in "if":
        for name, chunk, width in (
            ("128", 128, 64), ("32x4", 128, 32), ("64x2", 128, 64), ("32x8", 256, 32), ("64x4", 256, 64),
        ):  # fmt: skip
            table[f"vbroadcast{letter}{name}"] = partial(_broadcast, chunk, width)
            table[f"vextract{letter}{name}"] = partial(_extract, chunk, width)
            table[f"vinsert{letter}{name}"] = partial(_insert, chunk, width)
    return table


def _of_two_widths() -> dict[str, Meaning]:
    table: dict[str, Meaning] = {}
    for narrow, wide in combinations("bwdq", 2):
        small, large = WIDTHS[narrow], WIDTHS[wide]
        table[f"pmovzx{narrow}{wide}"] = partial(_widen, small, large, False)
        table[f"pmovsx{narrow}{wide}"] = partial(_widen, small, large, True)
        table[f"vpmov{wide}{narrow}"] = partial(_truncate, large, small)
        table[f"vpmovs{wide}{narrow}"] = partial(_saturate, large, small, True)
        table[f"vpmovus{wide}{narrow}"] = partial(_saturate, large, small, False)
    return table


TABLE: Mapping[str, Meaning] = with_twins(
    {
        **dict.fromkeys(("movdqa", "movdqu", "lddqu", "movntdq", "movntdqa"), partial(_move, 64)),
        **{f"vmovdqa{width}": partial(_move, width) for width in (32, 64)},
        **{f"vmovdqu{width}": partial(_move, width) for width in (8, 16, 32, 64)},
        **_chunked(),
        **{f"vpmov{letter}2m": partial(_signs, WIDTHS[letter]) for letter in "bwdq"},
        **_of_two_widths(),
        **of_each_width(
            ("mova ps pd, movu ps pd, movnt ps pd", _move),
            ("mov d q", _move_low),
            ("kmov b w d q", lambda width, x: x.put(0, x.extend(x.get(1, width), width, x.width(0)))),
            ("vpbroadcast b w d q, vbroadcast ss sd", lambda width, x: _broadcast(width, width, x)),
            ("pextr b w d q", _extract_element),
            ("pinsr b w d q", _insert_element),
            ("pblend w, vpblend d, blend ps pd", _blend_by_immediate),
            ("vpblendm b w d q, vblendm ps pd", _blend_by_mask),
            ("pblendv b, blendv ps pd", _blend_by_sign),
            ("pmovmsk b, movmsk ps pd", _signs),
            ("vpmovm2 b w d q", _mask_to_lanes),
        ),
        "movsd": _move_scalar,
        **dict.fromkeys(("movlps", "movlpd"), partial(_move_half, 0)),
        **dict.fromkeys(("movhps", "movhpd"), partial(_move_half, 1)),
        "movlhps": partial(_move_across, True),
        "movhlps": partial(_move_across, False),
        "movddup": _duplicate_low,
        "vzeroupper": partial(_zero_upper, 2),
        "vzeroall": partial(_zero_upper, 0),
    }
)
