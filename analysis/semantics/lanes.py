"""What vector instructions do that carry lanes: moves, broadcasts, inserts, blends, other widths, other files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from setwise.analysis.code.decode import Reg
from setwise.analysis.semantics.parts import Meaning, bit, concat_bits, extend, sign_extend
from setwise.analysis.semantics.state import Operation
from setwise.analysis.semantics.vector import WIDTHS, both_encodings, of_each_width, put_mask, sources

# ---- moves


def _move(width: int, x: Operation) -> None:
    """All of a register or of memory; the width tells on masks only."""
    bits = x.width(0)
    x.put_elements(0, x.elements(1, width, bits, masked=True), width)


def _move_low(width: int, x: Operation) -> None:
    """movd and movq: the lowest element, from or to any file; what lies above in 128 bits is cleared."""
    value = x.elements(1, width, width)[0] if x.file(1) == "vector" else x.get(1, width)
    if x.file(0) == "vector":
        x.put_elements(0, [extend(x, value, width, 64), 0], 64)
    else:
        x.put(0, value)


def _move_scalar(x: Operation) -> None:
    """movsd: one element between memory and the lowest lane, or the lowest lane from another register."""
    if x.instruction.mask or "vector" not in (x.file(0), x.file(1)):
        raise x.unknown()  # masked, or the string instruction of that name
    if x.is_memory(0):
        x.put(0, x.elements(1, 64, 128)[0])
    elif x.is_memory(1):
        x.put_elements(0, [x.get(1), 0], 64)
    else:
        x.put_elements(0, [x.elements(x.count - 1, 64)[0], x.elements(x.count - 2, 64)[1]], 64)


def _move_half(high: int, x: Operation) -> None:
    """movlps and movhps: one half of 128 bits to or from memory."""
    if x.is_memory(0):
        x.put(0, x.elements(1, 64)[high])
        return
    lanes = x.elements(x.count - 2, 64)
    lanes[high] = x.get(x.count - 1)
    x.put_elements(0, lanes, 64)


def _move_across(upwards: bool, x: Operation) -> None:
    """movlhps and movhlps: one half from the other half of another register."""
    first, second = x.elements(x.count - 2, 64), x.elements(x.count - 1, 64)
    x.put_elements(0, [first[0], second[0]] if upwards else [second[1], first[1]], 64)


def _move_mask(width: int, x: Operation) -> None:
    """kmov, between masks, general registers and memory."""
    value = x.get(1, width)
    x.put(0, extend(x, value, width, x.width(0)))


def _zero_upper(kept: int, x: Operation) -> None:
    for number in range(16):
        name = f"zmm{number}"
        if name in x.state.vectors:
            x.state.vectors[name] = x.state.vectors[name][:kept] + (0,) * (8 - kept)


# ---- broadcast, extract, insert


def _broadcast(chunk: int, width: int, x: Operation) -> None:
    found = [x.get(1, width)] if x.file(1) == "general" else x.elements(1, width, chunk)
    x.put_elements(0, found * (x.width() // chunk), width)


def _duplicate_low(x: Operation) -> None:
    """movddup: the even lanes twice; of 128 bits in memory only the lower half is read."""
    lanes = x.elements(1, 64, 64 if x.width() == 128 else x.width())
    x.put_elements(0, [lane for lane in lanes[::2] for _ in range(2)], 64)


def _extract(chunk: int, width: int, x: Operation) -> None:
    found, each = x.elements(1, width), chunk // width
    start = x.immediate() % (len(found) // each) * each
    x.put_elements(0, found[start : start + each], width)


def _insert(chunk: int, width: int, x: Operation) -> None:
    found, each = x.elements(1, width), chunk // width
    start = x.immediate() % (len(found) // each) * each
    found[start : start + each] = x.elements(2, width, chunk)
    x.put_elements(0, found, width)


def _extract_element(width: int, x: Operation) -> None:
    found = x.elements(1, width)
    x.put(0, extend(x, found[x.immediate() % len(found)], width, x.width(0)))


def _insert_element(width: int, x: Operation) -> None:
    found = x.elements(x.count - 3, width)
    found[x.immediate() % len(found)] = x.get(x.count - 2, width)
    x.put_elements(0, found, width)


# ---- blends


def _blend_by_immediate(width: int, x: Operation) -> None:
    first, second = x.elements(x.count - 3, width), x.elements(x.count - 2, width, x.width())
    chosen = x.immediate() | (x.immediate() << 8 if width == 16 else 0)
    pairs = enumerate(zip(first, second, strict=True))
    x.put_elements(0, [b if chosen >> place & 1 else a for place, (a, b) in pairs], width)


def _blend_by_mask(width: int, x: Operation) -> None:
    first, second = sources(x, width)
    bits = x.mask_bits(len(first)) or [1] * len(first)
    other = [0] * len(first) if x.instruction.zeroing else first
    triples = zip(bits, second, other, strict=True)
    blended = [x.domain.ite(chosen, a, b, width) for chosen, a, b in triples]
    x.put_elements(0, blended, width, masked=False)  # the mask has done its work


def _blend_by_sign(width: int, x: Operation) -> None:
    """By the elements' highest bits in the fourth operand; legacy SSE takes xmm0 for that."""
    first = 1 if x.count > 3 else 0
    implicit = Reg("xmm0", 128, "vector", "zmm0")
    control = x.elements(3, width) if x.count > 3 else x.split(x.lanes(implicit)[:2], width)
    triples = zip(control, x.elements(first, width), x.elements(first + 1, width), strict=True)
    x.put_elements(0, [x.domain.ite(bit(x, by, width - 1, width), b, a, width) for by, a, b in triples], width)


# ---- other widths, other files


def _widen(narrow: int, wide: int, is_signed: bool, x: Operation) -> None:
    found = x.elements(1, narrow, x.width() * narrow // wide)
    grow = sign_extend if is_signed else extend
    x.put_elements(0, [grow(x, a, narrow, wide) for a in found], wide)


def _truncate(wide: int, narrow: int, x: Operation) -> None:
    found = [x.domain.extract(a, 0, narrow, wide) for a in x.elements(1, wide)]
    if x.is_memory(0) or not x.instruction.mask:
        above = 0 if x.is_memory(0) else max(0, 128 // narrow - len(found))
        x.put_elements(0, found + [0] * above, narrow)
        return
    raise x.unknown("masked")


def _signs(width: int, x: Operation) -> None:
    """pmovmskb and its like: the highest bit of each element into a general register."""
    bits = [bit(x, element, width - 1, width) for element in x.elements(1, width)]
    x.put(0, extend(x, concat_bits(x, bits), len(bits), x.width(0)))


def _signs_to_mask(width: int, x: Operation) -> None:
    put_mask(x, [bit(x, element, width - 1, width) for element in x.elements(1, width)])


def _mask_to_lanes(width: int, x: Operation) -> None:
    number = x.width(0) // width
    bits = [bit(x, x.get(1, 64), place, 64) for place in range(number)]
    x.put_elements(0, [sign_extend(x, one, 1, width) for one in bits], width)


def _chunked() -> dict[str, Meaning]:
    """Broadcasts, extracts and inserts of 128 and 256 bits, by the width that their masks tell."""
    table: dict[str, Meaning] = {}
    for letter in "if":
        for name, chunk, width in (
            ("128", 128, 64), ("32x4", 128, 32), ("64x2", 128, 64), ("32x8", 256, 32), ("64x4", 256, 64),
        ):  # fmt: skip
            table[f"vbroadcast{letter}{name}"] = partial(_broadcast, chunk, width)
            table[f"vextract{letter}{name}"] = partial(_extract, chunk, width)
            table[f"vinsert{letter}{name}"] = partial(_insert, chunk, width)
    return table


_ROWS: tuple[tuple[str, str, Callable[[int], Meaning]], ...] = (
    ("vpbroadcast", "bwdq", lambda width: partial(_broadcast, width, width)),
    ("kmov", "bwdq", lambda width: partial(_move_mask, width)),
    ("vpblendm", "bwdq", lambda width: partial(_blend_by_mask, width)),
    ("vpmovm2", "bwdq", lambda width: partial(_mask_to_lanes, width)),
)
_ELEMENTS: tuple[tuple[str, str, Callable[[int], Meaning]], ...] = (
    ("pextr", "bwdq", lambda width: partial(_extract_element, width)),
    ("pinsr", "bwdq", lambda width: partial(_insert_element, width)),
)


def _of_two_widths() -> dict[str, Meaning]:
    table: dict[str, Meaning] = {}
    for narrow, small in WIDTHS.items():
        for wide, large in WIDTHS.items():
            if small < large:
                table |= both_encodings(
                    {
                        f"pmovzx{narrow}{wide}": partial(_widen, small, large, False),
                        f"pmovsx{narrow}{wide}": partial(_widen, small, large, True),
                    }
                )
                table[f"vpmov{wide}{narrow}"] = partial(_truncate, large, small)
    return table


_MOVES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("movdqa", "movdqu", "lddqu", "movntdq", "movntdqa", "movapd", "movupd", "movntpd"), 64),
        **dict.fromkeys(("movaps", "movups", "movntps"), 32),
    }
)

TABLE: Mapping[str, Meaning] = MappingProxyType(
    {
        **both_encodings({name: partial(_move, width) for name, width in _MOVES.items()}),
        **{f"vmovdqa{width}": partial(_move, width) for width in (32, 64)},
        **{f"vmovdqu{width}": partial(_move, width) for width in (8, 16, 32, 64)},
        **_chunked(),
        **of_each_width(_ROWS),
        **both_encodings(of_each_width(_ELEMENTS)),
        **{f"vpmov{letter}2m": partial(_signs_to_mask, width) for letter, width in WIDTHS.items()},
        **_of_two_widths(),
        **both_encodings(
            {
                "movd": partial(_move_low, 32),
                "movq": partial(_move_low, 64),
                "movsd": _move_scalar,
                "movlps": partial(_move_half, 0),
                "movlpd": partial(_move_half, 0),
                "movhps": partial(_move_half, 1),
                "movhpd": partial(_move_half, 1),
                "movlhps": partial(_move_across, True),
                "movhlps": partial(_move_across, False),
                "movddup": _duplicate_low,
                "pblendw": partial(_blend_by_immediate, 16),
                "blendps": partial(_blend_by_immediate, 32),
                "blendpd": partial(_blend_by_immediate, 64),
                "pblendvb": partial(_blend_by_sign, 8),
                "blendvps": partial(_blend_by_sign, 32),
                "blendvpd": partial(_blend_by_sign, 64),
                "pmovmskb": partial(_signs, 8),
                "movmskps": partial(_signs, 32),
                "movmskpd": partial(_signs, 64),
            }
        ),
        "vbroadcastss": partial(_broadcast, 32, 32),
        "vbroadcastsd": partial(_broadcast, 64, 64),
        "vpblendd": partial(_blend_by_immediate, 32),
        "vblendmps": partial(_blend_by_mask, 32),
        "vblendmpd": partial(_blend_by_mask, 64),
        "vzeroupper": partial(_zero_upper, 2),
        "vzeroall": partial(_zero_upper, 0),
    }
)
