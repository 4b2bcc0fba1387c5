"""Semantics of shifts, rotates, bit tests, bit counts, BMI1 and BMI2."""

from collections.abc import Mapping, Sequence
from functools import partial, reduce

from setwise.analysis.code.decode import Reg
from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.state import UNDEFINED, BinaryOperation, Execution, Flag, Meaning, zero


def and_not(d: Domain, a: Bits, b: Bits, width: int) -> Bits:
    """Return a & ~b."""
    return d.and_(a, d.not_(b, width), width)


def rotate_left(d: Domain, a: Bits, count: Bits, width: int) -> Bits:
    """Return a value rotated left by `count`, a value below `width`. Both have `width` bits, a power of two."""
    if isinstance(count, int) and not count:
        return a
    back = d.and_(d.sub(0, count, width), width - 1, width)
    return d.or_(d.shl(a, count, width), d.shr(a, back, width), width)


def population(d: Domain, a: Bits, width: int) -> Bits:
    """Return the number of set bits as a value of `width` bits."""
    if isinstance(a, int):
        return a.bit_count()
    field = 1
    while field < width:
        low = sum(((1 << field) - 1) << start for start in range(0, width, 2 * field))
        a = d.add(d.and_(a, low, width), d.and_(d.shr(a, field, width), low, width), width)
        field *= 2
    return a


def trailing_zeros(d: Domain, a: Bits, width: int) -> Bits:
    """Return the number of zeros below the lowest set bit, or the width if no bit is set."""
    bits = width.bit_length() - 1
    place = chosen(d, lowest_bit(d, a, width), range(width), width, bits)
    return d.concat(0, d.concat(d.eq(a, 0, width), place, 1, bits), width - bits - 1, bits + 1)


def lowest_bit(d: Domain, a: Bits, width: int) -> Bits:
    """Return the lowest set bit alone, 0 if no bit is set."""
    return d.and_(a, d.sub(0, a, width), width)


def chosen(d: Domain, one: Bits, elements: Sequence[Bits], number: int, width: int) -> Bits:
    """Return the element of `width` bits at the place of the only set bit of `one`, which has `number` bits; or 0."""
    if all(isinstance(element, int) for element in elements):
        result: Bits = 0
        for at in reversed(range(width)):
            places = sum(1 << place for place, element in enumerate(elements) if element >> at & 1)
            bit = d.ne(d.and_(one, places, number), 0, number)
            result = bit if at == width - 1 else d.concat(result, bit, width - 1 - at, 1)
        return result
    each = (d.ite(d.extract(one, place, 1, number), element, 0, width) for place, element in enumerate(elements))
    return reduce(lambda a, b: d.or_(a, b, width), each)


def leading_zeros(d: Domain, a: Bits, width: int) -> Bits:
    """Return the number of zeros above the highest set bit, or the width if no bit is set."""
    distance = 1
    while distance < width:
        a = d.or_(a, d.shr(a, distance, width), width)
        distance *= 2
    return population(d, d.not_(a, width), width)


def _count(x: Execution, width: int) -> Bits:
    """Return the shift count (operand 1 or else 1), masked to 5 bits (6 if `width` is 64), with `width` bits."""
    value = x.get(1, 8) if x.count > 1 else 1
    return x.domain.and_(x.extend(value, 8, width) if width > 8 else value, 63 if width == 64 else 31, width)


def _if_counted(x: Execution, count: Bits, width: int, flags: Mapping[str, Flag | None]) -> None:
    """Set the flags of a shift or rotate, unless the count is 0, which changes no flag."""
    if isinstance(count, int):
        if count:
            x.set_flags(flags)
        return
    stays = x.is_zero(count, width)
    for name, new in flags.items():
        # Computed now: a lazy flag that depends on the previous flag makes a chain as long as the code.
        value = x.domain.ite(stays, x.flag(name), x.domain.undefined(0, 1) if new is None else new(), 1)
        x.set_flags({name: partial(_same, value)})


def _same(value: Bits) -> Bits:
    return value


def _only_by_one(count: Bits, flag: Flag) -> Flag | None:
    return flag if isinstance(count, int) and count == 1 else None


def _shift(shift: BinaryOperation, x: Execution) -> None:
    width, d, a = x.width(), x.domain, x.get(0)
    count, left, arithmetic = _count(x, width), shift is Domain.shl, shift is Domain.sar
    result = shift(d, a, count, width)
    x.put(0, result)

    def carry() -> Bits:
        # An extra bit, above for a left shift and below for a right one, receives the last bit shifted out.
        wide = x.extend(a, width, width + 1) if left else d.concat(a, 0, width, 1)
        return x.bit(shift(d, wide, x.extend(count, width, width + 1), width + 1), width if left else 0, width + 1)

    def overflow() -> Bits:
        if left:
            return d.xor(carry(), x.bit(result, width - 1, width), 1)
        return 0 if arithmetic else x.bit(a, width - 1, width)

    # The carry of shl and shr is undefined for a count of the width or more, which only 8 and 16 bits allow.
    has_carry = arithmetic or width >= 32 or (isinstance(count, int) and count < width)
    flags = x.result_flags(result, width) | {"cf": carry if has_carry else None, "af": None}
    _if_counted(x, count, width, flags | {"of": _only_by_one(count, overflow)})


def rotated(left: bool, d: Domain, a: Bits, count: Bits, width: int) -> Bits:
    """Return a value rotated by a count of `width` bits, taken modulo `width`: to the left, or right if not `left`."""
    return rotate_left(d, a, d.and_(count if left else d.sub(0, count, width), width - 1, width), width)


def _rotate(left: bool, x: Execution) -> None:
    width, d, a = x.width(), x.domain, x.get(0)
    count = _count(x, width)
    result = rotated(left, d, a, count, width)
    x.put(0, result)

    def carry() -> Bits:
        return x.bit(result, 0 if left else width - 1, width)

    def overflow() -> Bits:
        other = carry() if left else x.bit(result, width - 2, width)
        return d.xor(x.bit(result, width - 1, width), other, 1)

    _if_counted(x, count, width, {"cf": carry, "of": _only_by_one(count, overflow)})


def _double_shift(left: bool, x: Execution) -> None:
    width, d, a, b = x.width(), x.domain, x.get(0), x.get(1)
    if width < 32:
        raise x.unknown("this width")
    count = d.and_(x.extend(x.get(2, 8), 8, width), width - 1, width)
    # An extra bit, above for a left shift and below for a right one, receives the last bit shifted out.
    wide_count = x.extend(count, width, 2 * width + 1)
    if left:
        wide = d.shl(x.extend(d.concat(a, b, width, width), 2 * width, 2 * width + 1), wide_count, 2 * width + 1)
    else:
        wide = d.shr(d.concat(d.concat(b, a, width, width), 0, 2 * width, 1), wide_count, 2 * width + 1)
    result = d.extract(wide, width if left else 1, width, 2 * width + 1)
    x.put(0, result)
    flags = x.result_flags(result, width) | {"af": None}
    flags["cf"] = lambda: x.bit(wide, 2 * width if left else 0, 2 * width + 1)
    flags["of"] = _only_by_one(count, lambda: x.bit(d.xor(a, result, width), width - 1, width))
    _if_counted(x, count, width, flags)


def _bit_test(change: BinaryOperation | None, x: Execution) -> None:
    width, d = x.width(), x.domain
    if x.file(0) == "memory" and x.file(1) != "immediate":
        raise x.unknown("a bit string in memory is not supported")
    place, value = d.and_(x.get(1, width), width - 1, width), x.get(0)
    if change is not None:
        x.put(0, change(d, value, d.shl(1, place, width), width))
    # ZF counts as undefined, as in AMD's manual, though Intel's preserves it from 2024 on.
    x.set_flags({**UNDEFINED, "cf": lambda: x.bit(d.shr(value, place, width), 0, width)})


def _scan(reverse: bool, x: Execution) -> None:
    width, d, a = x.width(), x.domain, x.get(1)
    none = x.is_zero(a, width)
    found = trailing_zeros(d, a, width)
    if reverse:
        found = d.sub(width - 1, leading_zeros(d, a, width), width)
    target = x.instruction.operands[0]
    if width < 32 or not isinstance(target, Reg):
        raise x.unknown("this width")
    # For a zero source the result is undefined. CPUs keep the register; in 32-bit forms some clear its upper half.
    old, above = x.register(target.full), 64 - width
    rest = d.undefined(d.extract(old, width, above, 64), above) if above else 0
    kept = d.concat(rest, d.extract(old, 0, width, 64), above, width)
    x.state.registers[target.full] = d.ite(none, kept, x.extend(found, width, 64), 64)
    x.set_flags({**UNDEFINED, "zf": lambda: none})


def _zeros(leading: bool, x: Execution) -> None:
    width, d, a = x.width(), x.domain, x.get(1)
    result = (leading_zeros if leading else trailing_zeros)(d, a, width)
    x.put(0, result)
    x.set_flags({**UNDEFINED, "cf": lambda: x.is_zero(a, width), "zf": lambda: x.is_zero(result, width)})


def _popcnt(x: Execution) -> None:
    width, a = x.width(), x.get(1)
    x.put(0, population(x.domain, a, width))
    x.set_flags({**dict.fromkeys(("cf", "of", "sf", "pf", "af"), zero), "zf": lambda: x.is_zero(a, width)})


def _andn(x: Execution) -> None:
    width, d = x.width(), x.domain
    result = d.and_(d.not_(x.get(1), width), x.get(2), width)
    x.put_result(result, width, cf=zero, of=zero, pf=None, af=None)


def _lowest_bit(operation: BinaryOperation, of_none: int, x: Execution) -> None:
    """Execute blsr, blsi or blsmsk: `operation` on a value and the value minus one; `of_none` is CF for the value 0."""
    width, d, a = x.width(), x.domain, x.get(1)
    result = operation(d, a, d.sub(a, 1, width), width)

    def carry() -> Bits:
        return d.eq(x.is_zero(a, width), of_none, 1)

    x.put_result(result, width, cf=carry, of=zero, pf=None, af=None)


def _bextr(x: Execution) -> None:
    width, d, control = x.width(), x.domain, x.get(2)
    start, length = (x.extend(d.extract(control, low, 8, width), 8, width) for low in (0, 8))
    kept = d.sub(d.shl(1, length, width), 1, width)
    result = d.and_(d.shr(x.get(1), start, width), kept, width)
    x.put(0, result)
    x.set_flags({**UNDEFINED, "zf": lambda: x.is_zero(result, width), "cf": zero, "of": zero})


def _bzhi(x: Execution) -> None:
    width, d = x.width(), x.domain
    count = x.extend(d.extract(x.get(2), 0, 8, width), 8, width)
    result = d.and_(x.get(1), d.sub(d.shl(1, count, width), 1, width), width)
    beyond = d.not_(d.ult(count, width, width), 1)
    x.put_result(result, width, cf=lambda: beyond, of=zero, pf=None, af=None)


def _rorx(x: Execution) -> None:
    width = x.width()
    x.put(0, rotate_left(x.domain, x.get(1), -x.immediate() % width, width))


def _flagless_shift(shift: BinaryOperation, x: Execution) -> None:
    width = x.width()
    x.put(0, shift(x.domain, x.get(1), x.domain.and_(x.get(2), width - 1, width), width))


def _mulx(x: Execution) -> None:
    width, d = x.width(), x.domain
    factor = x.extend(d.extract(x.register("rdx"), 0, width, 64), width, 2 * width)
    whole = d.mul(factor, x.extend(x.get(2), width, 2 * width), 2 * width)
    # Operand 0, the high half, is written last: if both destinations are one register, it gets that half.
    x.put(1, d.extract(whole, 0, width, 2 * width))
    x.put(0, d.extract(whole, width, width, 2 * width))


def _pext(x: Execution) -> None:
    width, d = x.width(), x.domain
    source, mask = x.get(1), x.get(2)
    result: Bits = 0
    for place in reversed(range(width)):
        longer = d.concat(d.extract(result, 0, width - 1, width), x.bit(source, place, width), width - 1, 1)
        result = d.ite(x.bit(mask, place, width), longer, result, width)
    x.put(0, result)


def _pdep(x: Execution) -> None:
    width, d = x.width(), x.domain
    source, mask = x.get(1), x.get(2)
    bits: list[Bits] = []
    for place in range(width):
        wanted = x.bit(mask, place, width)
        bits.append(d.and_(wanted, x.bit(source, 0, width), 1))
        source = d.ite(wanted, d.shr(source, 1, width), source, width)
    x.put(0, x.concat_bits(bits))


TABLE: Mapping[str, Meaning] = {
    "shl": partial(_shift, Domain.shl),
    "sal": partial(_shift, Domain.shl),
    "shr": partial(_shift, Domain.shr),
    "sar": partial(_shift, Domain.sar),
    "rol": partial(_rotate, True),
    "ror": partial(_rotate, False),
    "shld": partial(_double_shift, True),
    "shrd": partial(_double_shift, False),
    "bt": partial(_bit_test, None),
    "bts": partial(_bit_test, Domain.or_),
    "btr": partial(_bit_test, and_not),
    "btc": partial(_bit_test, Domain.xor),
    "bsf": partial(_scan, False),
    "bsr": partial(_scan, True),
    "tzcnt": partial(_zeros, False),
    "lzcnt": partial(_zeros, True),
    "popcnt": _popcnt,
    "andn": _andn,
    "blsr": partial(_lowest_bit, Domain.and_, 1),
    "blsi": partial(_lowest_bit, and_not, 0),
    "blsmsk": partial(_lowest_bit, Domain.xor, 1),
    "bextr": _bextr,
    "bzhi": _bzhi,
    "rorx": _rorx,
    "shlx": partial(_flagless_shift, Domain.shl),
    "shrx": partial(_flagless_shift, Domain.shr),
    "sarx": partial(_flagless_shift, Domain.sar),
    "mulx": _mulx,
    "pext": _pext,
    "pdep": _pdep,
}
