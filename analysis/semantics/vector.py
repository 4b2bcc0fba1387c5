"""What vector instructions do that keep to their lanes: logic, arithmetic, shifts, comparisons; and mask registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from types import MappingProxyType

from setwise.analysis.semantics.bits import leading_zeros, population, rotate_left
from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.parts import (
    OPERATIONS,
    BinaryOperation,
    Meaning,
    bit,
    concat_bits,
    extend,
    is_zero,
    sign_extend,
    zero,
)
from setwise.analysis.semantics.state import Operation

WIDTHS: Mapping[str, int] = MappingProxyType({"b": 8, "w": 16, "d": 32, "q": 64})


def sources(x: Operation, width: int) -> tuple[list[Bits], list[Bits]]:
    """The elements of both sources: the last two operands, or of two operands both."""
    first = 1 if x.count > 2 else 0
    return x.elements(first, width), x.elements(first + 1, width, x.width(first), masked=True)


def _lanewise(width: int, operation: BinaryOperation, x: Operation) -> None:
    first, second = sources(x, width)
    x.put_elements(0, [operation(x.domain, a, b, width) for a, b in zip(first, second, strict=True)], width)


def _logic(width: int, operation: BinaryOperation, x: Operation) -> None:
    """Lanewise, where the width tells on masks and broadcasts only."""
    memory = x.instruction.memory
    whole = x.instruction.mask is None and not (memory and memory.broadcast)
    _lanewise(64 if whole else width, operation, x)


def _not_and(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    return d.and_(d.not_(a, width), b, width)


def below(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    """1 where `a` is below `b`, both signed."""
    sign = 1 << (width - 1)
    return d.ult(d.xor(a, sign, width), d.xor(b, sign, width), width)


def _smaller(is_signed: bool, least: bool, d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    less = below(d, a, b, width) if is_signed else d.ult(a, b, width)
    return d.ite(less, a, b, width) if least else d.ite(less, b, a, width)


def _subtract_saturated(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    return d.ite(d.ult(a, b, width), 0, d.sub(a, b, width), width)


def _add_saturated(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    total = d.add(a, b, width)
    return d.ite(d.ult(total, a, width), (1 << width) - 1, total, width)


def _multiply_halves(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    half = width // 2
    low = [d.concat(0, d.extract(one, 0, half, width), half, half) for one in (a, b)]
    return d.mul(low[0], low[1], width)


def _unary(width: int, operation: Callable[[Domain, Bits, int], Bits], x: Operation) -> None:
    found = x.elements(1, width, x.width(), masked=True)
    x.put_elements(0, [operation(x.domain, a, width) for a in found], width)


# ---- shifts


def _shift(width: int, operation: BinaryOperation, x: Operation) -> None:
    """By an immediate, or all by the number in the lowest 64 bits of a register or of memory."""
    d, last = x.domain, x.count - 1
    found = x.elements(max(0, last - 1), width, x.width(), masked=True)
    count = x.immediate() if x.file(last) == "immediate" else x.elements(last, 64, 128)[0]
    if isinstance(count, int):
        count = min(count, width)
    else:  # a count that the width cannot hold shifts everything out
        count = d.ite(d.ult(count, width, 64), d.extract(count, 0, width, 64), width, width)
    x.put_elements(0, [operation(d, a, count, width) for a in found], width)


def _rotate(width: int, left: bool, x: Operation) -> None:
    turn = x.immediate() % width
    turn = turn if left else -turn % width
    found = x.elements(1, width, x.width(), masked=True)
    x.put_elements(0, [rotate_left(x.domain, a, turn, width) for a in found], width)


def _rotate_each(left: bool, d: Domain, a: Bits, count: Bits, width: int) -> Bits:
    return rotate_left(d, a, d.and_(count if left else d.sub(0, count, width), width - 1, width), width)


def _shift_bytes(left: bool, x: Operation) -> None:
    """psrldq and pslldq: within each 128 bits."""
    found, count = x.elements(max(0, x.count - 2), 8, x.width()), min(x.immediate() & 0xFF, 16)
    moved: list[Bits] = []
    for start in range(0, len(found), 16):
        part, zeros = found[start : start + 16], [0] * count
        moved += zeros + part[: 16 - count] if left else part[count:] + zeros
    x.put_elements(0, moved, 8)


# ---- three inputs, and bits within bytes


def ternary(d: Domain, table: int, a: Bits, b: Bits, c: Bits, width: int) -> Bits:
    """The bitwise function of three inputs whose value at (a, b, c) is bit 4a + 2b + c of the table."""

    def choose(selector: Bits, one: Bits, none: Bits) -> Bits:
        if isinstance(one, int) and isinstance(none, int) and one == none:
            return one
        chosen, other = d.and_(selector, one, width), d.and_(d.not_(selector, width), none, width)
        return d.or_(chosen, other, width)

    ones = (1 << width) - 1
    of_c = [0, d.not_(c, width), c, ones]
    of_bc = [choose(b, of_c[half >> 2 & 3], of_c[half & 3]) for half in (table & 15, table >> 4 & 15)]
    return choose(a, of_bc[1], of_bc[0]) if table & 15 != table >> 4 & 15 else of_bc[0]


def _ternlog(width: int, x: Operation) -> None:
    operands = [x.elements(place, width, x.width(), masked=True) for place in range(3)]
    table = x.immediate()
    x.put_elements(0, [ternary(x.domain, table, a, b, c, width) for a, b, c in zip(*operands, strict=True)], width)


def _affine(x: Operation) -> None:
    """gf2p8affineqb: each byte times its lane's 8 by 8 matrix of bits, plus the immediate."""
    first = 1 if x.count > 3 else 0
    found, matrices = x.elements(first, 8), x.elements(first + 1, 64, x.width())
    products = []
    for place, byte in enumerate(found):
        matrix, result = matrices[place // 8], []
        for row in range(8):
            # Row 0 of the result is the product with the matrix's highest byte.
            product = _product(x, x.domain.extract(matrix, 8 * (7 - row), 8, 64), byte)
            result.append(x.domain.xor(product, x.immediate() >> row & 1, 1))
        products.append(concat_bits(x, result))
    x.put_elements(0, products, 8)


def _product(x: Operation, row: Bits, byte: Bits) -> Bits:
    """The parity of what two bytes have in common; where the row is known, only its ones count."""
    chosen = row if isinstance(row, int) else 0xFF
    common = byte if isinstance(row, int) else x.domain.and_(row, byte, 8)
    bits = [bit(x, common, place, 8) for place in range(8) if chosen >> place & 1]
    return reduce(lambda a, b: x.domain.xor(a, b, 1), bits, 0)


# ---- comparisons


def put_mask(x: Operation, bits: Sequence[Bits]) -> None:
    """Writes one bit an element to the mask register that is the first operand, 0 where the mask leaves it out."""
    wanted = x.mask_bits(len(bits))
    if wanted is not None:
        bits = [x.domain.and_(a, b, 1) for a, b in zip(bits, wanted, strict=True)]
    x.put(0, extend(x, concat_bits(x, bits), len(bits), 64))


def _put_truths(x: Operation, truths: Sequence[Bits], width: int) -> None:
    if x.file(0) == "mask":
        put_mask(x, truths)
    else:
        x.put_elements(0, [sign_extend(x, truth, 1, width) for truth in truths], width)


def _compare(width: int, predicate: BinaryOperation, x: Operation) -> None:
    first, second = sources(x, width)
    _put_truths(x, [predicate(x.domain, a, b, width) for a, b in zip(first, second, strict=True)], width)


def _compare_by_number(width: int, is_signed: bool, x: Operation) -> None:
    d, number = x.domain, x.immediate() & 7
    less: BinaryOperation = below if is_signed else (lambda d, a, b, width: d.ult(a, b, width))
    truths = []
    for a, b in zip(x.elements(1, width), x.elements(2, width, x.width(1), masked=True), strict=True):
        same = d.eq(a, b, width)
        truth = [same, less(d, a, b, width), d.or_(same, less(d, a, b, width), 1), 0][number & 3]
        truths.append(d.not_(truth, 1) if number & 4 else truth)
    _put_truths(x, truths, width)


def _test_lanes(width: int, wanted: int, x: Operation) -> None:
    first, second = x.elements(1, width), x.elements(2, width, x.width(1), masked=True)
    none = [is_zero(x, x.domain.and_(a, b, width), width) for a, b in zip(first, second, strict=True)]
    put_mask(x, [x.domain.not_(one, 1) if wanted else one for one in none])


def _ptest(x: Operation) -> None:
    first, second, d = x.elements(0, 64), x.elements(1, 64), x.domain
    both = [d.and_(a, b, 64) for a, b in zip(first, second, strict=True)]
    rest = [_not_and(d, a, b, 64) for a, b in zip(first, second, strict=True)]

    def empty(lanes: Sequence[Bits]) -> Bits:
        return is_zero(x, reduce(lambda a, b: d.or_(a, b, 64), lanes), 64)

    clear = dict.fromkeys(("of", "sf", "pf", "af"), zero)
    x.set_flags({**clear, "zf": lambda: empty(both), "cf": lambda: empty(rest)})


# ---- mask registers


def _mask_logic(width: int, operation: BinaryOperation, x: Operation) -> None:
    result = operation(x.domain, x.get(1, width), x.get(2, width), width)
    x.put(0, extend(x, result, width, 64))


def _mask_not(width: int, x: Operation) -> None:
    x.put(0, extend(x, x.domain.not_(x.get(1, width), width), width, 64))


def _mask_shift(width: int, operation: BinaryOperation, x: Operation) -> None:
    x.put(0, extend(x, operation(x.domain, x.get(1, width), min(x.immediate(), width), width), width, 64))


def _mask_unpack(half: int, x: Operation) -> None:
    x.put(0, extend(x, x.domain.concat(x.get(1, half), x.get(2, half), half, half), 2 * half, 64))


def _mask_test(width: int, ored: bool, x: Operation) -> None:
    d, a, b = x.domain, x.get(0, width), x.get(1, width)
    clear = dict.fromkeys(("of", "sf", "pf", "af"), zero)
    zero_of = d.or_(a, b, width) if ored else d.and_(a, b, width)
    carry_of = d.not_(zero_of, width) if ored else _not_and(d, a, b, width)
    flags = {"zf": lambda: is_zero(x, zero_of, width), "cf": lambda: is_zero(x, carry_of, width)}
    x.set_flags({**clear, **flags})


def _xnor(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    return d.not_(d.xor(a, b, width), width)


def _greater(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    return below(d, b, a, width)


def both_encodings(meanings: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """Legacy SSE meanings, and the same for their VEX and EVEX twins."""
    return {**meanings, **{"v" + name: meaning for name, meaning in meanings.items()}}


def _logics() -> dict[str, Meaning]:
    table: dict[str, Meaning] = {}
    for name, operation in (
        ("and", OPERATIONS["and"]),
        ("andn", _not_and),
        ("or", OPERATIONS["or"]),
        ("xor", OPERATIONS["xor"]),
    ):
        integer = {"p" + name: partial(_logic, 64, operation)}
        floating = {name + "ps": partial(_logic, 32, operation), name + "pd": partial(_logic, 64, operation)}
        table |= both_encodings({**integer, **floating})
        table |= {f"vp{name}d": partial(_logic, 32, operation), f"vp{name}q": partial(_logic, 64, operation)}
        table |= {f"k{name}{letter}": partial(_mask_logic, width, operation) for letter, width in WIDTHS.items()}
    return table


# Name without the letter of the elements' width, the letters that there are, and the meaning for a width.
_INTEGERS: tuple[tuple[str, str, Callable[[int], Meaning]], ...] = (
    ("padd", "bwdq", lambda width: partial(_lanewise, width, OPERATIONS["add"])),
    ("psub", "bwdq", lambda width: partial(_lanewise, width, OPERATIONS["sub"])),
    ("paddus", "bw", lambda width: partial(_lanewise, width, _add_saturated)),
    ("psubus", "bw", lambda width: partial(_lanewise, width, _subtract_saturated)),
    ("pmull", "wd", lambda width: partial(_lanewise, width, OPERATIONS["mul"])),
    ("pcmpeq", "bwdq", lambda width: partial(_compare, width, OPERATIONS["eq"])),
    ("pcmpgt", "bwdq", lambda width: partial(_compare, width, _greater)),
    ("pmins", "bwd", lambda width: partial(_lanewise, width, partial(_smaller, True, True))),
    ("pmaxs", "bwd", lambda width: partial(_lanewise, width, partial(_smaller, True, False))),
    ("pminu", "bwd", lambda width: partial(_lanewise, width, partial(_smaller, False, True))),
    ("pmaxu", "bwd", lambda width: partial(_lanewise, width, partial(_smaller, False, False))),
    ("psll", "wdq", lambda width: partial(_shift, width, OPERATIONS["shl"])),
    ("psrl", "wdq", lambda width: partial(_shift, width, OPERATIONS["shr"])),
    ("psra", "wd", lambda width: partial(_shift, width, OPERATIONS["sar"])),
)
_VECTORS: tuple[tuple[str, str, Callable[[int], Meaning]], ...] = (
    ("vpmull", "q", lambda width: partial(_lanewise, width, OPERATIONS["mul"])),
    ("vpmins", "q", lambda width: partial(_lanewise, width, partial(_smaller, True, True))),
    ("vpmaxs", "q", lambda width: partial(_lanewise, width, partial(_smaller, True, False))),
    ("vpminu", "q", lambda width: partial(_lanewise, width, partial(_smaller, False, True))),
    ("vpmaxu", "q", lambda width: partial(_lanewise, width, partial(_smaller, False, False))),
    ("vpsra", "q", lambda width: partial(_shift, width, OPERATIONS["sar"])),
    ("vpsllv", "wdq", lambda width: partial(_lanewise, width, OPERATIONS["shl"])),
    ("vpsrlv", "wdq", lambda width: partial(_lanewise, width, OPERATIONS["shr"])),
    ("vpsrav", "wdq", lambda width: partial(_lanewise, width, OPERATIONS["sar"])),
    ("vprol", "dq", lambda width: partial(_rotate, width, True)),
    ("vpror", "dq", lambda width: partial(_rotate, width, False)),
    ("vprolv", "dq", lambda width: partial(_lanewise, width, partial(_rotate_each, True))),
    ("vprorv", "dq", lambda width: partial(_lanewise, width, partial(_rotate_each, False))),
    ("vpternlog", "dq", lambda width: partial(_ternlog, width)),
    ("vpcmp", "bwdq", lambda width: partial(_compare_by_number, width, True)),
    ("vpcmpu", "bwdq", lambda width: partial(_compare_by_number, width, False)),
    ("vptestm", "bwdq", lambda width: partial(_test_lanes, width, 1)),
    ("vptestnm", "bwdq", lambda width: partial(_test_lanes, width, 0)),
    ("vpopcnt", "bwdq", lambda width: partial(_unary, width, population)),
    ("vplzcnt", "dq", lambda width: partial(_unary, width, leading_zeros)),
    ("kxnor", "bwdq", lambda width: partial(_mask_logic, width, _xnor)),
    ("kadd", "bwdq", lambda width: partial(_mask_logic, width, OPERATIONS["add"])),
    ("knot", "bwdq", lambda width: partial(_mask_not, width)),
    ("kshiftl", "bwdq", lambda width: partial(_mask_shift, width, OPERATIONS["shl"])),
    ("kshiftr", "bwdq", lambda width: partial(_mask_shift, width, OPERATIONS["shr"])),
    ("kortest", "bwdq", lambda width: partial(_mask_test, width, True)),
    ("ktest", "bwdq", lambda width: partial(_mask_test, width, False)),
)


def of_each_width(rows: Sequence[tuple[str, str, Callable[[int], Meaning]]]) -> dict[str, Meaning]:
    """The meanings in the rows, by their names with a width's letter at the end."""
    return {name + letter: meaning(WIDTHS[letter]) for name, letters, meaning in rows for letter in letters}


TABLE: Mapping[str, Meaning] = MappingProxyType(
    {
        **_logics(),
        **both_encodings(of_each_width(_INTEGERS)),
        **of_each_width(_VECTORS),
        **both_encodings(
            {
                "pmuludq": partial(_lanewise, 64, _multiply_halves),
                "pslldq": partial(_shift_bytes, True),
                "psrldq": partial(_shift_bytes, False),
                "ptest": _ptest,
                "gf2p8affineqb": _affine,
            }
        ),
        "kunpckbw": partial(_mask_unpack, 8),
        "kunpckwd": partial(_mask_unpack, 16),
        "kunpckdq": partial(_mask_unpack, 32),
    }
)
