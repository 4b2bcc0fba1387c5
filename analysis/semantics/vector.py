"""Semantics of lanewise vector instructions (logic, arithmetic, shifts, comparisons), and of mask registers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce

from setwise.analysis.semantics.bits import leading_zeros, population, rotated
from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.state import BinaryOperation, Execution, Meaning, zero

WidthMeaning = Callable[[int, Execution], None]
"""The semantics of an instruction for a given element width."""
WIDTHS: Mapping[str, int] = {
    **dict.fromkeys(("b", "bw"), 8),
    **dict.fromkeys(("w", "wb", "wd"), 16),
    **dict.fromkeys(("d", "dw", "dq", "ps", "ss"), 32),
    **dict.fromkeys(("q", "qdq", "pd", "sd"), 64),
}
"""The element widths in bits by mnemonic suffix; a suffix with two widths has that of the source."""


def lanewise(operation: Callable[..., Bits], width: int, x: Execution, number: int = 2) -> None:
    """Apply an operation to the elements of `number` sources, element by element, and write the results."""
    elements = zip(*x.sources(width, number, masked=True), strict=True)
    x.put_elements([operation(x.domain, *each, width) for each in elements], width)


def _logic(operation: BinaryOperation, width: int, x: Execution) -> None:
    """Apply a bitwise operation, for which the element width matters only under a mask or broadcast."""
    memory = x.instruction.memory
    whole = x.instruction.mask is None and not (memory and memory.broadcast)
    lanewise(operation, 64 if whole else width, x)


def _not_and(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    return d.and_(d.not_(a, width), b, width)


def below(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    """Return 1 if `a` is below `b`, both signed, else 0."""
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
    low = [d.concat(0, d.extract(factor, 0, half, width), half, half) for factor in (a, b)]
    return d.mul(low[0], low[1], width)


# ---- shifts


def _shift(operation: BinaryOperation, width: int, x: Execution) -> None:
    """Shift all elements by one count: an immediate, or the lowest 64 bits of a vector register or of memory."""
    d, last = x.domain, x.count - 1
    values = x.elements(max(0, last - 1), width, x.width(), masked=True)
    count = x.immediate() if x.file(last) == "immediate" else x.elements(last, 64, 128)[0]
    if isinstance(count, int):
        count = min(count, width)
    else:  # an unknown count above the width acts like the width
        count = d.ite(d.ult(count, width, 64), d.extract(count, 0, width, 64), width, width)
    x.put_elements([operation(d, a, count, width) for a in values], width)


def _rotate(left: bool, width: int, x: Execution) -> None:
    lanewise(lambda d, a, width: rotated(left, d, a, x.immediate(), width), width, x, number=1)


# ---- three inputs, and bits within bytes


def ternary(d: Domain, table: int, a: Bits, b: Bits, c: Bits, width: int) -> Bits:
    """Return the bitwise function of three inputs whose value at (a, b, c) is bit 4a + 2b + c of the table."""

    def choose(selector: Bits, one: Bits, none: Bits) -> Bits:
        if isinstance(one, int) and isinstance(none, int) and one == none:
            return one
        chosen, other = d.and_(selector, one, width), d.and_(d.not_(selector, width), none, width)
        return d.or_(chosen, other, width)

    ones = (1 << width) - 1
    of_c = [0, d.not_(c, width), c, ones]
    of_bc = [choose(b, of_c[half >> 2 & 3], of_c[half & 3]) for half in (table & 15, table >> 4 & 15)]
    return choose(a, of_bc[1], of_bc[0]) if table & 15 != table >> 4 & 15 else of_bc[0]


def _ternlog(width: int, x: Execution) -> None:
    lanewise(lambda d, *inputs: ternary(d, x.immediate(), *inputs), width, x, number=3)


def _affine(x: Execution) -> None:
    """Execute gf2p8affineqb: multiply each byte by the 8 by 8 bit matrix of its lane, and xor the immediate."""
    matrices = x.sources(64, 2)[1]
    products = []
    for place, byte in enumerate(x.sources(8, 2)[0]):
        matrix, result = matrices[place // 8], []
        for row in range(8):
            # Bit 0 of a result byte is the product with the matrix's highest byte.
            product = _product(x, x.domain.extract(matrix, 8 * (7 - row), 8, 64), byte)
            result.append(x.domain.xor(product, x.immediate() >> row & 1, 1))
        products.append(x.concat_bits(result))
    x.put_elements(products, 8)


def _product(x: Execution, row: Bits, byte: Bits) -> Bits:
    """Return the parity of the bitwise and of two bytes; a constant row selects bits of `byte` without an and."""
    chosen = row if isinstance(row, int) else 0xFF
    common = byte if isinstance(row, int) else x.domain.and_(row, byte, 8)
    bits = [x.bit(common, place, 8) for place in range(8) if chosen >> place & 1]
    return reduce(lambda a, b: x.domain.xor(a, b, 1), bits, 0)


# ---- comparisons


def _put_truths(x: Execution, truths: Sequence[Bits], width: int) -> None:
    """Write a truth for each element: to a mask register as a bit, 0 if masked out, to a vector as all ones or 0."""
    if x.file(0) != "mask":
        x.put_elements([x.sign_extend(truth, 1, width) for truth in truths], width)
        return
    wanted = x.mask_bits(len(truths)) or [1] * len(truths)
    bits = [x.domain.and_(a, b, 1) for a, b in zip(truths, wanted, strict=True)]
    x.put(0, x.extend(x.concat_bits(bits), len(bits), 64))


def _sum_of_distances(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    """Return the sum of the distances between the bytes of two elements."""
    total: Bits = 0
    for at in range(0, width, 8):
        one, other = d.extract(a, at, 8, width), d.extract(b, at, 8, width)
        apart = d.ite(d.ult(one, other, 8), d.sub(other, one, 8), d.sub(one, other, 8), 8)
        total = d.add(total, d.concat(0, apart, width - 8, 8), width)
    return total


def _put_chosen_bits(x: Execution) -> None:
    """Execute vpshufbitqmb: select a bit of each 64-bit lane by each byte of the second source's lane."""
    lanes, indices = x.sources(64, 2)[0], x.sources(8, 2)[1]
    places = [x.extend(x.domain.extract(index, 0, 6, 8), 6, 64) for index in indices]
    _put_truths(x, [x.bit(x.domain.shr(lanes[at // 8], by, 64), 0, 64) for at, by in enumerate(places)], 8)


def _multishift(x: Execution) -> None:
    """Execute vpmultishiftqb: select eight bits of a 64-bit lane, from the bit on that each byte of the control names.

    The lane counts as a ring.
    """
    d, control, lanes = x.domain, x.sources(8, 2)[0], x.sources(64, 2)[1]
    counts = [x.extend(count, 8, 64) for count in control]
    rings = [rotated(False, d, lanes[at // 8], count, 64) for at, count in enumerate(counts)]
    x.put_elements([d.extract(ring, 0, 8, 64) for ring in rings], 8)


def _conflicts(width: int, x: Execution) -> None:
    """Execute vpconflict: mark, in each element, the lower elements that are equal to it."""
    (elements,) = x.sources(width, 1)
    marks = [[x.domain.eq(a, b, width) for b in elements[:place]] for place, a in enumerate(elements)]
    x.put_elements([x.extend(x.concat_bits([*bits, 0]), len(bits) + 1, width) for bits in marks], width)


def _absolute(d: Domain, a: Bits, width: int) -> Bits:
    return d.ite(d.extract(a, width - 1, 1, width), d.sub(0, a, width), a, width)


def _multiply_pairs(x: Execution) -> None:
    """Execute pmaddwd: multiply signed words, and add each two neighbouring products."""
    products = []
    for pair in zip(*x.sources(16, 2), strict=True):
        one, other = (x.sign_extend(factor, 16, 32) for factor in pair)
        products.append(x.domain.mul(one, other, 32))
    _put_sums(x, products, 32)


def _multiply_bytes(x: Execution) -> None:
    """Execute pmaddubsw: multiply unsigned by signed bytes, and add each two neighbouring products with saturation."""
    d, products = x.domain, list[Bits]()
    for unsigned, signed in zip(*x.sources(8, 2), strict=True):
        products.append(d.mul(x.extend(unsigned, 8, 32), x.sign_extend(signed, 8, 32), 32))
    sums = (d.add(a, b, 32) for a, b in zip(products[::2], products[1::2], strict=True))
    least, most = 0xFFFF_8000, 0x7FFF
    kept = (_smaller(True, True, d, _smaller(True, False, d, each, least, 32), most, 32) for each in sums)
    x.put_elements([d.extract(each, 0, 16, 32) for each in kept], 16)


def _multiply_without_carry(x: Execution) -> None:
    """Execute pclmulqdq: the carry-less product of one 64-bit half of each 128 bits of both sources."""
    d, (first, second), chosen = x.domain, x.sources(64, 2), x.immediate()
    lanes = list[Bits]()
    for at in range(0, len(first), 2):
        a, b = x.extend(first[at + (chosen & 1)], 64, 128), second[at + (chosen >> 4 & 1)]
        shifted = (d.ite(x.bit(b, place, 64), d.shl(a, place, 128), 0, 128) for place in range(64))
        product = reduce(lambda one, other: d.xor(one, other, 128), shifted)
        lanes += [d.extract(product, 0, 64, 128), d.extract(product, 64, 64, 128)]
    x.put_elements(lanes, 64)


def _shift_pair(is_left: bool, width: int, x: Execution) -> None:
    """Execute vpshld, vpshrd, or with a third vector of counts vpshldv, vpshrdv: shift bits of the second source in."""
    d = x.domain
    if x.file(x.count - 1) == "immediate":
        columns = [*x.sources(width, 2), [x.immediate()] * (x.width() // width)]
    else:
        columns = [x.elements(0, width), *x.sources(width, 2)]
    shifted = []
    for a, b, given in zip(*columns, strict=True):
        count = x.extend(d.and_(given, width - 1, width), width, 2 * width)
        pair = d.concat(a, b, width, width) if is_left else d.concat(b, a, width, width)
        moved = d.shl(pair, count, 2 * width) if is_left else d.shr(pair, count, 2 * width)
        shifted.append(d.extract(moved, width if is_left else 0, width, 2 * width))
    x.put_elements(shifted, width)


def _put_sums(x: Execution, elements: Sequence[Bits], width: int) -> None:
    """Write the sums of each two neighbouring elements."""
    pairs = zip(elements[::2], elements[1::2], strict=True)
    x.put_elements([x.domain.add(a, b, width) for a, b in pairs], width)


def _add_neighbours(width: int, x: Execution) -> None:
    """Execute phadd: the sums of neighbours, of the first source below those of the second within each 128 bits."""
    (a, b), each = x.sources(width, 2), 128 // width
    _put_sums(x, [one for at in range(0, len(a), each) for one in (*a[at : at + each], *b[at : at + each])], width)


def _compare(predicate: BinaryOperation, width: int, x: Execution) -> None:
    pairs = zip(*x.sources(width, 2, masked=True), strict=True)
    _put_truths(x, [predicate(x.domain, a, b, width) for a, b in pairs], width)


def _compare_by_number(less: BinaryOperation, width: int, x: Execution) -> None:
    number = x.immediate() & 7

    def predicate(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
        same = d.eq(a, b, width)
        truth = [same, less(d, a, b, width), d.or_(same, less(d, a, b, width), 1), 0][number & 3]
        return d.not_(truth, 1) if number & 4 else truth

    _compare(predicate, width, x)


def _are_apart(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    return d.eq(d.and_(a, b, width), 0, width)


def _set_test_flags(x: Execution, zeros: Bits, carries: Bits, width: int) -> None:
    """Set ZF to whether `zeros` is 0 and CF to whether `carries` is 0, both of `width` bits; clear the other flags."""
    clear = dict.fromkeys(("of", "sf", "pf", "af"), zero)
    x.set_flags({**clear, "zf": lambda: x.is_zero(zeros, width), "cf": lambda: x.is_zero(carries, width)})


def _ptest(x: Execution) -> None:
    pairs, d = [*zip(*x.sources(64, 2), strict=True)], x.domain
    both, rest = (
        reduce(lambda a, b: d.or_(a, b, 64), [operation(d, a, b, 64) for a, b in pairs])
        for operation in (Domain.and_, _not_and)
    )
    _set_test_flags(x, both, rest, 64)


# ---- mask registers


def _of_masks(operation: Callable[..., Bits], width: int, x: Execution) -> None:
    result = operation(x.domain, *(x.get(place, width) for place in range(1, x.count)), width)
    x.put(0, x.extend(result, width, 64))


def _mask_unpack(half: int, x: Execution) -> None:
    x.put(0, x.extend(x.domain.concat(x.get(1, half), x.get(2, half), half, half), 2 * half, 64))


def _mask_test(ored: bool, width: int, x: Execution) -> None:
    d, a, b = x.domain, x.get(0, width), x.get(1, width)
    either = d.or_(a, b, width)
    if ored:
        _set_test_flags(x, either, d.not_(either, width), width)
    else:
        _set_test_flags(x, d.and_(a, b, width), _not_and(d, a, b, width), width)


def with_twins(meanings: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """Return semantics by mnemonic, with VEX and EVEX versions (v...) added for names that do not begin with v or k."""
    return {**meanings, **{"v" + name: meaning for name, meaning in meanings.items() if name[0] not in "vk"}}


def of_each_width(*rows: tuple[str, WidthMeaning]) -> dict[str, Meaning]:
    """Return semantics by mnemonic from rows of names and semantics for an element width.

    The names of a row are separated by commas. The suffixes of a name follow it.
    """
    return {
        name + ending: partial(meaning, WIDTHS[ending])
        for names, meaning in rows
        for name, *endings in map(str.split, names.split(","))
        for ending in endings
    }


def _logics() -> dict[str, Meaning]:
    table: dict[str, Meaning] = {}
    for name, operation in (("and", Domain.and_), ("andn", _not_and), ("or", Domain.or_), ("xor", Domain.xor)):
        logic = partial(_logic, operation)
        table["p" + name] = partial(logic, 64)
        masks = partial(_of_masks, operation)
        table |= of_each_width((f"{name} ps pd, vp{name} d q", logic), (f"k{name} b w d q", masks))
    return table


TABLE: Mapping[str, Meaning] = with_twins(
    {
        **_logics(),
        **of_each_width(
            ("padd b w d q", partial(lanewise, Domain.add)),
            ("psub b w d q", partial(lanewise, Domain.sub)),
            ("paddus b w", partial(lanewise, _add_saturated)),
            ("psubus b w", partial(lanewise, _subtract_saturated)),
            ("pmull w d, vpmull q", partial(lanewise, Domain.mul)),
            ("pmins b w d, vpmins q", partial(lanewise, partial(_smaller, True, True))),
            ("pmaxs b w d, vpmaxs q", partial(lanewise, partial(_smaller, True, False))),
            ("pminu b w d, vpminu q", partial(lanewise, partial(_smaller, False, True))),
            ("pmaxu b w d, vpmaxu q", partial(lanewise, partial(_smaller, False, False))),
            ("psll w d q", partial(_shift, Domain.shl)),
            ("psrl w d q", partial(_shift, Domain.shr)),
            ("psra w d, vpsra q", partial(_shift, Domain.sar)),
            ("vpsllv w d q", partial(lanewise, Domain.shl)),
            ("vpsrlv w d q", partial(lanewise, Domain.shr)),
            ("vpsrav w d q", partial(lanewise, Domain.sar)),
            ("vprol d q", partial(_rotate, True)),
            ("vpror d q", partial(_rotate, False)),
            ("vprolv d q", partial(lanewise, partial(rotated, True))),
            ("vprorv d q", partial(lanewise, partial(rotated, False))),
            ("vpshld w d q, vpshldv w d q", partial(_shift_pair, True)),
            ("vpshrd w d q, vpshrdv w d q", partial(_shift_pair, False)),
            ("vpternlog d q", _ternlog),
            ("vpopcnt b w d q", partial(lanewise, population, number=1)),
            ("vplzcnt d q", partial(lanewise, leading_zeros, number=1)),
            ("pabs b w d, vpabs q", partial(lanewise, _absolute, number=1)),
            ("phadd w d", _add_neighbours),
            ("vpconflict d q", _conflicts),
            ("pcmpeq b w d q", partial(_compare, Domain.eq)),
            ("pcmpgt b w d q", partial(_compare, lambda d, a, b, width: below(d, b, a, width))),
            ("vpcmp b w d q", partial(_compare_by_number, below)),
            ("vpcmpu b w d q", partial(_compare_by_number, Domain.ult)),
            ("vptestm b w d q", partial(_compare, lambda d, *pair: d.not_(_are_apart(d, *pair), 1))),
            ("vptestnm b w d q", partial(_compare, _are_apart)),
            ("kxnor b w d q", partial(_of_masks, lambda d, a, b, width: d.not_(d.xor(a, b, width), width))),
            ("kadd b w d q", partial(_of_masks, Domain.add)),
            ("knot b w d q", partial(_of_masks, Domain.not_)),
            ("kshiftl b w d q", partial(_of_masks, Domain.shl)),
            ("kshiftr b w d q", partial(_of_masks, Domain.shr)),
            ("kortest b w d q", partial(_mask_test, True)),
            ("ktest b w d q", partial(_mask_test, False)),
            ("kunpck bw wd dq", _mask_unpack),
        ),
        "pmuludq": partial(lanewise, _multiply_halves, 64),
        "pmaddwd": _multiply_pairs,
        "pmaddubsw": _multiply_bytes,
        "pclmulqdq": _multiply_without_carry,
        "psadbw": partial(lanewise, _sum_of_distances, 64),
        "ptest": _ptest,
        "vpmultishiftqb": _multishift,
        "vpshufbitqmb": _put_chosen_bits,
        "gf2p8affineqb": _affine,
    }
)
