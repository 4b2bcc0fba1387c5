"""The operand words of rows, each with the operand that it becomes.

d d32       the result; its lower 32 bits
a b c       the first, second, third argument, in a register
A B C       an argument that may also be a constant: a memory operand, or an immediate of a general instruction
B8          B for bytes: the constant in memory must hold all lanes and is never broadcast
A1 #b       a constant argument a, in memory as one number for all lanes; a constant argument b, as an immediate
n -n 2^n    the operation's number (a count, a truth table); 64 minus it; 2 to the power of it
#           the number of a constant that is loaded
7           this number
cl          the low byte of rcx, which holds argument b
a8 a16 a32  the low byte, word or half of argument a, in a register; argument b is a constant that the row does not use
[...]       memory: an address of arguments and n, where the last argument may be scaled by 8, by 2**n or by an entry
            size of n bytes, plus a constant argument #b or #c; or a named place: the data, a stack slot (slot1: its
            first board), a stack argument
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from setwise.codegen.ir.numbers import signed
from setwise.codegen.ir.values import Value
from setwise.codegen.machine.code import Memory, Operand, Register, general

ARGUMENT = "stack argument"
"""The symbol of a memory operand for a stack argument, which rsp replaces once the frame size is known."""
RSP = general("rsp")
CL = Register("general", 1, 8)

Maker = Callable[[Value, Register, Sequence[Operand]], Operand]


@dataclass(frozen=True, slots=True)
class OperandForm:
    """The operand of a row, with the function that makes it.

    A row with a `source` operand (argument a, a loaded constant, a word in brackets) leaves argument a as it is; others
    with a result overwrite it. `folds` is the letter of the argument that may be a constant in memory or an immediate,
    "" for none. That memory must hold all lanes if `whole`.
    """

    make: Maker
    source: bool = False
    folds: str = ""
    whole: bool = False


def word_of(text: str) -> OperandForm:
    """Return the operand form of one word in `Row.operands`. Raise ValueError for an unknown word.

    >>> from setwise.codegen.ir.values import parameter
    >>> value = Value("entry", (parameter(0), parameter(1)), 4)
    >>> word_of("[a+b*n]").make(value, general("rax"), (general("rcx"), general("rdx"))).scale
    4
    """
    if text in _WORDS:
        return _WORDS[text]
    if text.isdecimal():
        return OperandForm(lambda *_: int(text))
    if address := _ADDRESS.fullmatch(text):
        return OperandForm(_address(*address.groups()), source=True, folds=(address[5] or "")[2:])
    raise ValueError(f"unknown operand word '{text}'")


def sized(register: Register, lanes: int) -> Register:
    """Return a vector register at the operand size of a value with this many lanes, and any other unchanged."""
    return register.at(max(128, 64 * lanes)) if register.file == "vector" else register


def _argument(at: int) -> Maker:
    def make(value: Value, _: Register, args: Sequence[Operand]) -> Operand:
        operand = args[at]
        return sized(operand, value.args[at].lanes) if isinstance(operand, Register) else operand

    return make


def _number_of_all(_: Value, __: Register, args: Sequence[Operand]) -> Operand:
    if not isinstance(args[0], Memory) or not args[0].broadcast:
        raise TypeError(f"{args[0]} must be a broadcast memory operand")
    return replace(args[0], broadcast=False)


def _low(bits: int) -> OperandForm:
    def make(value: Value, register: Register, args: Sequence[Operand]) -> Operand:
        assert isinstance(args[0], Register)
        return args[0].at(bits)

    return OperandForm(make, source=True, folds="b")


_WORDS: Mapping[str, OperandForm] = MappingProxyType(
    {
        "d": OperandForm(lambda value, result, _: sized(result, value.lanes)),
        "d32": OperandForm(lambda _, result, __: result.at(32)),
        **{letter: OperandForm(_argument(at), letter == "a") for at, letter in enumerate("abc")},
        **{letter.upper(): OperandForm(_argument(at), letter == "a", letter) for at, letter in enumerate("abc")},
        **{f"a{bits}": _low(bits) for bits in (8, 16, 32)},
        "B8": OperandForm(_argument(1), folds="b", whole=True),
        "A1": OperandForm(_number_of_all, True, "a"),
        "#b": OperandForm(lambda value, *_: signed(value.args[1].number), folds="b"),
        "n": OperandForm(lambda value, *_: value.count),
        "-n": OperandForm(lambda value, *_: 64 - value.count),
        "2^n": OperandForm(lambda value, *_: 1 << value.count),
        "#": OperandForm(lambda value, *_: value.count, source=True),
        "cl": OperandForm(lambda *_: CL),
        "[data]": OperandForm(lambda value, *_: Memory(64, symbol=str(value.attr)), source=True),
        "[slot1]": OperandForm(lambda value, *_: Memory(64, RSP, displacement=8 * value.count), source=True),
        "[slot]": OperandForm(
            lambda value, *_: Memory(64 * value.lanes, RSP, displacement=8 * value.count), source=True
        ),
        "[argument]": OperandForm(lambda value, *_: Memory(64, symbol=ARGUMENT, displacement=value.count), source=True),
    }
)
_ADDRESS = re.compile(r"\[(?:(a)\+)?([abn])(?:\*(8|n|2\^n))?(\+n)?([+-]#[bc])?\]")

_SCALES: Mapping[str | None, Callable[[Value], int]] = MappingProxyType(
    {None: lambda _: 1, "8": lambda _: 8, "n": lambda value: value.count, "2^n": lambda value: 1 << value.count}
)


def _address(base: str | None, last: str, scale: str | None, beyond: str | None, plus: str | None) -> Maker:
    """Return the maker of the address that the terms of a word spell: base, last term, its scale, "+n", and a constant.

    The access is as wide as the value, or n bytes for a table entry.
    """

    def make(value: Value, _: Register, args: Sequence[Operand]) -> Operand:
        def register(letter: str | None) -> Register | None:
            operand = args["ab".index(letter)] if letter else None
            if operand is not None and not isinstance(operand, Register):
                raise TypeError(f"{operand} must be a register here")
            return operand

        if last == "n":
            return Memory(64 * value.lanes, register(base), displacement=value.count)
        times = _SCALES[scale](value)
        bits = 8 * times if scale == "n" else 64 * value.lanes
        displacement = value.count if beyond else 0
        if plus is not None:
            displacement += signed(value.args["abc".index(plus[-1])].number) * (1 if plus[0] == "+" else -1)
        if base is None and times == 1:
            return Memory(bits, register(last), displacement=displacement)
        return Memory(bits, register(base), register(last), times, displacement)

    return make
