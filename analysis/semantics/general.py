"""Semantics of instructions on general registers (moves, arithmetic, logic, stack), branches, flags and nops."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from setwise.analysis.code.decode import Mem
from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.state import UNDEFINED, BinaryOperation, Execution, Goto, Meaning, zero

Widening = Callable[[Execution, Bits, int, int], Bits]  # extends a value from one width to another

# ---- moves, extensions, stack


def _mov_wider(widen: Widening, x: Execution) -> None:
    x.put(0, widen(x, x.get(1), x.width(1), x.width(0)))


def _lea(x: Execution) -> None:
    memory = x.instruction.operands[1]
    if not isinstance(memory, Mem):
        raise x.unknown()
    x.put(0, x.domain.extract(x.address(memory), 0, x.width(0), 64))


def _xchg(x: Execution) -> None:
    first, second = x.get(0), x.get(1)
    x.put(0, second)
    x.put(1, first)


def _reverse_bytes(source: int, x: Execution) -> None:
    """Execute bswap (`source` 0) or movbe (1)."""
    width, value = x.width(), x.get(source)
    if width < 32 and not source:
        raise x.unknown("its result is undefined")
    result = x.domain.extract(value, 0, 8, width)
    for low in range(8, width, 8):
        result = x.domain.concat(result, x.domain.extract(value, low, 8, width), low, 8)
    x.put(0, result)


def _extend_rax(width: int, x: Execution) -> None:
    half = x.domain.extract(x.register("rax"), 0, width // 2, 64)
    x.state.registers["rax"] = x.extend(x.sign_extend(half, width // 2, width), width, 64)


def _sign_to_rdx(width: int, x: Execution) -> None:
    sign = x.bit(x.register("rax"), width - 1, 64)
    x.state.registers["rdx"] = x.domain.ite(sign, (1 << width) - 1, 0, 64)


def push_value(x: Execution, value: Bits) -> None:
    """Push 64 bits onto the stack."""
    top = x.domain.sub(x.register("rsp"), 8, 64)
    x.set_register("rsp", top)
    x.store(top, 64, value)


def pop_value(x: Execution) -> Bits:
    """Pop 64 bits from the stack."""
    top = x.register("rsp")
    value = x.load(top, 64)
    x.set_register("rsp", x.domain.add(top, 8, 64))
    return value


def _push(x: Execution) -> None:
    if x.file(0) != "immediate" and x.width(0) != 64:
        raise x.unknown("only a push of 64 bits is supported")
    push_value(x, x.get(0, 64))


def _pop(x: Execution) -> None:
    if x.width(0) != 64 or x.file(0) == "memory":
        raise x.unknown("only a pop of a 64-bit register is supported")
    x.put(0, pop_value(x))


def _leave(x: Execution) -> None:
    x.set_register("rsp", x.register("rbp"))
    x.state.registers["rbp"] = pop_value(x)


# ---- arithmetic and logic


def _logic(operation: BinaryOperation, x: Execution) -> None:
    width = x.width()
    x.put_result(operation(x.domain, x.get(0), x.get(1, width), width), width, cf=zero, of=zero, af=None)


def _test(x: Execution) -> None:
    width = x.width()
    result = x.domain.and_(x.get(0), x.get(1, width), width)
    x.set_flags(x.result_flags(result, width) | {"cf": zero, "of": zero, "af": None})


def _sum(x: Execution, subtract: bool, a: Bits, b: Bits, carry: Bits = 0) -> Bits:
    """Return a + b + carry, or with `subtract` a - b - carry, and set all six status flags. The carry is one bit."""
    d, width = x.domain, x.width()
    combine = d.sub if subtract else d.add
    result = combine(combine(a, b, width), x.extend(carry, 1, width), width)

    def carry_out() -> Bits:
        if subtract and isinstance(carry, int) and carry == 0:
            return d.ult(a, b, width)
        wide = [x.extend(term, bits, width + 1) for term, bits in ((a, width), (b, width), (carry, 1))]
        return x.bit(combine(combine(wide[0], wide[1], width + 1), wide[2], width + 1), width, width + 1)

    def overflow() -> Bits:
        signs = d.xor(a, b, width) if subtract else d.xor(b, result, width)
        return x.bit(d.and_(d.xor(a, result, width), signs, width), width - 1, width)

    def half_carry() -> Bits:
        return x.bit(d.xor(d.xor(a, b, width), result, width), 4, width)

    x.set_flags(x.result_flags(result, width) | {"cf": carry_out, "of": overflow, "af": half_carry})
    return result


def _add(subtract: bool, with_carry: bool, x: Execution) -> None:
    x.put(0, _sum(x, subtract, x.get(0), x.get(1, x.width()), x.flag("cf") if with_carry else 0))


def _cmp(x: Execution) -> None:
    _sum(x, True, x.get(0), x.get(1, x.width()))


def _add_one(subtract: bool, x: Execution) -> None:
    carry = x.state.flags.get("cf")
    x.put(0, _sum(x, subtract, x.get(0), 1))
    x.set_flags({"cf": carry})


def _imul(x: Execution) -> None:
    width = x.width()
    if x.count == 1:
        _multiply_rax(Execution.sign_extend, x)
        return
    a, b = (x.get(1), x.get(2, width)) if x.count == 3 else (x.get(0), x.get(1))
    result = x.domain.mul(a, b, width)
    x.put(0, result)

    def overflow() -> Bits:
        whole = x.domain.mul(x.sign_extend(a, width, 2 * width), x.sign_extend(b, width, 2 * width), 2 * width)
        return x.domain.not_(x.domain.eq(whole, x.sign_extend(result, width, 2 * width), 2 * width), 1)

    x.set_flags({**UNDEFINED, "cf": overflow, "of": overflow})


def _multiply_rax(widen: Widening, x: Execution) -> None:
    width, d = x.width(), x.domain
    if width < 32:
        raise x.unknown("this width")
    a, b = d.extract(x.register("rax"), 0, width, 64), x.get(0)
    whole = d.mul(widen(x, a, width, 2 * width), widen(x, b, width, 2 * width), 2 * width)
    low, high = d.extract(whole, 0, width, 2 * width), d.extract(whole, width, width, 2 * width)
    x.state.registers["rax"], x.state.registers["rdx"] = x.extend(low, width, 64), x.extend(high, width, 64)

    def overflow() -> Bits:
        return d.not_(d.eq(whole, widen(x, low, width, 2 * width), 2 * width), 1)

    x.set_flags({**UNDEFINED, "cf": overflow, "of": overflow})


# ---- conditions and branches

Condition = Callable[[Execution], Bits]


def _less(x: Execution) -> Bits:
    return x.domain.xor(x.flag("sf"), x.flag("of"), 1)


def _opposite(condition: Condition, x: Execution) -> Bits:
    return x.domain.not_(condition(x), 1)


# The suffix in mnemonics of a condition, the suffix of its opposite, and the function that computes the condition.
_CONDITIONS: Sequence[tuple[str, str, Condition]] = (
    ("o", "no", lambda x: x.flag("of")),
    ("b", "ae", lambda x: x.flag("cf")),
    ("e", "ne", lambda x: x.flag("zf")),
    ("be", "a", lambda x: x.domain.or_(x.flag("cf"), x.flag("zf"), 1)),
    ("s", "ns", lambda x: x.flag("sf")),
    ("p", "np", lambda x: x.flag("pf")),
    ("l", "ge", _less),
    ("le", "g", lambda x: x.domain.or_(x.flag("zf"), _less(x), 1)),
)
CONDITIONS: Mapping[str, Condition] = {
    **{name: condition for name, _, condition in _CONDITIONS},
    **{opposite: partial(_opposite, condition) for _, opposite, condition in _CONDITIONS},
}


def _cmovcc(condition: str, x: Execution) -> None:
    width = x.width()
    # Whether or not the condition holds, the source is read and a 32-bit register is zero-extended.
    x.put(0, x.domain.ite(CONDITIONS[condition](x), x.get(1), x.get(0), width))


def _place(x: Execution) -> Bits:
    if x.instruction.target is None:
        raise x.unknown()
    return x.place(x.instruction.target)


def _destination(x: Execution) -> Bits:
    return x.get(0) if x.count else _place(x)


def _call(x: Execution) -> Goto:
    place = _destination(x)
    push_value(x, x.domain.add(x.state.base, x.instruction.end, 64))
    return Goto(place)


def _ret(x: Execution) -> Goto:
    place = pop_value(x)
    if x.count:
        x.set_register("rsp", x.domain.add(x.register("rsp"), x.immediate(0), 64))
    return Goto(place)


def nothing(x: Execution) -> None:
    """Change no register, flag or memory."""


def _set_carry(value: int, x: Execution) -> None:
    x.set_flags({"cf": lambda: value})


def _cmc(x: Execution) -> None:
    carry = x.flag("cf")
    x.set_flags({"cf": lambda: x.domain.not_(carry, 1)})


def _conditional(prefix: str, meaning: Callable[[str, Execution], Goto | None]) -> dict[str, Meaning]:
    return {prefix + condition: partial(meaning, condition) for condition in CONDITIONS}


TABLE: Mapping[str, Meaning] = {
    "mov": lambda x: x.put(0, x.get(1, x.width(0))),
    "movzx": partial(_mov_wider, Execution.extend),
    "movsx": partial(_mov_wider, Execution.sign_extend),
    "movsxd": partial(_mov_wider, Execution.sign_extend),
    "lea": _lea,
    "xchg": _xchg,
    "bswap": partial(_reverse_bytes, 0),
    "movbe": partial(_reverse_bytes, 1),
    "cwde": partial(_extend_rax, 32),
    "cdqe": partial(_extend_rax, 64),
    "cdq": partial(_sign_to_rdx, 32),
    "cqo": partial(_sign_to_rdx, 64),
    "push": _push,
    "pop": _pop,
    "leave": _leave,
    "and": partial(_logic, Domain.and_),
    "or": partial(_logic, Domain.or_),
    "xor": partial(_logic, Domain.xor),
    "test": _test,
    "not": lambda x: x.put(0, x.domain.not_(x.get(0), x.width())),
    "add": partial(_add, False, False),
    "adc": partial(_add, False, True),
    "sub": partial(_add, True, False),
    "sbb": partial(_add, True, True),
    "cmp": _cmp,
    "neg": lambda x: x.put(0, _sum(x, True, 0, x.get(0))),
    "inc": partial(_add_one, False),
    "dec": partial(_add_one, True),
    "imul": _imul,
    "mul": partial(_multiply_rax, Execution.extend),
    **_conditional("set", lambda condition, x: x.put(0, x.extend(CONDITIONS[condition](x), 1, 8))),
    **_conditional("cmov", _cmovcc),
    **_conditional("j", lambda condition, x: Goto(_place(x), CONDITIONS[condition](x))),
    "jmp": lambda x: Goto(_destination(x)),
    "call": _call,
    "ret": _ret,
    "stc": partial(_set_carry, 1),
    "clc": partial(_set_carry, 0),
    "cmc": _cmc,
    **dict.fromkeys(("nop", "endbr64", "endbr32", "pause"), nothing),
    **dict.fromkeys(("prefetcht0", "prefetcht1", "prefetcht2", "prefetchnta"), nothing),
}
