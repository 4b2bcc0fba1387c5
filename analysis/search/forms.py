"""Instructions without their registers: their spelling and their effect on arguments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from setwise.analysis.code.decode import Decoded, decode
from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.state import AddressSpace, MachineState, SemanticsError
from setwise.analysis.semantics.table import execute
from setwise.codegen.assemble import NotEncodable, assemble
from setwise.codegen.ir.values import Value
from setwise.codegen.machine.code import Code, Datum, Instruction, Memory, Operand, Register, RegisterFile
from setwise.codegen.targets.operands import OperandForm
from setwise.codegen.targets.table import Row

Lanes = tuple[Bits, ...]
"""The content of a register: one 64-bit word, or eight for a vector register, the lowest first."""

_RESULT = {"general": Register("general", 0, 64), "vector": Register("vector", 0, 512), "mask": Register("mask", 1, 64)}
_ARGUMENTS = {
    "general": [Register("general", number, 64) for number in (6, 7, 8)],
    "vector": [Register("vector", number, 512) for number in (1, 2, 3)],
    "mask": [Register("mask", number, 64) for number in (2, 3, 4)],
}
_FOLDED = "constant"


class SearchError(ValueError):
    """Code that cannot be searched. The message is one line."""


@dataclass(frozen=True, slots=True)
class Hole:
    """An open register operand of `bits` bits: d is the result, a, b and c are the arguments."""

    letter: str
    file: RegisterFile
    bits: int


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand, or the address of a lea, with open registers."""

    bits: int
    base: Hole | None
    index: Hole | None
    scale: int
    displacement: int


Written = Hole | Address | int


@dataclass(frozen=True)
class Spelling(Row):
    """A row derived from one instruction of the lifted code."""

    parts: tuple[Written, ...] = ()
    over: bool = False
    """Whether the instruction overwrites argument a, which then is not among `parts`."""
    foldable: str = ""
    """The letter of the argument that may be a memory operand if it is constant, or ""."""
    lanes_alike: bool = False
    """Whether that memory operand is broadcast, so that the constant must have equal lanes."""

    @cached_property
    def words(self) -> tuple[OperandForm, ...]:
        """The operand forms of the parts."""
        return tuple(self._word(part) for part in self.parts)

    @cached_property
    def tied(self) -> bool:
        """Whether the result overwrites argument a."""
        return self.over

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """All open registers of the parts, in order."""
        inside = [(p.base, p.index) if isinstance(p, Address) else (p,) for p in self.parts]
        return tuple(hole for group in inside for hole in group if isinstance(hole, Hole))

    def _word(self, part: Written) -> OperandForm:
        if isinstance(part, Hole):
            folds = part.letter if part.letter == self.foldable else ""
            return OperandForm(_filled(part), part.letter == "a", folds, bool(folds) and not self.lanes_alike)
        if isinstance(part, Address):
            return OperandForm(_addressed(part), source=True)
        return OperandForm(lambda *_: part)


def _filled(hole: Hole) -> Callable[[Value, Register, Sequence[Operand]], Operand]:
    """Return a function that fills a hole with the result's register or with an argument's operand."""

    def make(_: Value, result: Register, args: Sequence[Operand]) -> Operand:
        operand = result if hole.letter == "d" else args["abc".index(hole.letter)]
        return operand.at(hole.bits) if isinstance(operand, Register) and operand.file != "mask" else operand

    return make


def _addressed(address: Address) -> Callable[[Value, Register, Sequence[Operand]], Operand]:
    def make(value: Value, result: Register, args: Sequence[Operand]) -> Operand:
        def register(hole: Hole | None) -> Register | None:
            filled = _filled(hole)(value, result, args) if hole else None
            if filled is not None and not isinstance(filled, Register):
                raise TypeError(f"{filled} must be a register here")
            return filled

        base, index = register(address.base), register(address.index)
        return Memory(address.bits, base, index, address.scale, address.displacement)

    return make


@dataclass(frozen=True)
class Form:
    """An instruction without its registers: a row, and an operation with its number.

    `files` are the register files of the arguments, `bits` the width of the result or of the stored value. `file` is
    the result's register file, or None if the instruction only writes memory.
    """

    row: Row = field(repr=False)
    op: str
    number: int | tuple[int, ...] | None
    """A truth table, a shift count (of scaled-sum) or that of each lane; 0 or None for other operations."""
    files: tuple[RegisterFile, ...]
    file: RegisterFile | None
    bits: int
    carry: "Form | None" = None
    """An instruction whose carry this one reads. Its arguments follow this one's, and then the number of its result."""

    @property
    def offset(self) -> int:
        """The displacement in bytes of a store from its pointer."""
        assert isinstance(self.row, Spelling)
        return next(part.displacement for part in self.row.parts if isinstance(part, Address))

    @property
    def lanes(self) -> int:
        """The number of 64-bit words in the result."""
        return self.bits // 64 if self.file == "vector" else 1

    def value(self, *args: Value) -> Value:
        """Return the operation on these values as a value of codegen."""
        lanes = self.lanes if self.file is not None else 1
        return Value(self.op, args, self if isinstance(self.row, Spelling) else self.number, lanes)

    @property
    def example(self) -> tuple[Decoded, tuple[Register, ...], Register | None]:
        """The instruction decoded with example registers, those of its arguments, and that of its result (or None)."""
        return _example(self)

    def instruction(self, arguments: Sequence[Register], result: Register) -> Instruction:
        """Return the instruction with these registers."""
        lanes = {"general": 1, "mask": 1, "vector": max(2, self.lanes)}
        value = self.value(*(Value("param", lanes=lanes[file]) for file in self.files))
        return Instruction(self.row.mnemonic, tuple(word.make(value, result, arguments) for word in self.row.words))

    def result(self, domain: Domain, args: Sequence[Lanes]) -> Lanes:
        """Return the result of the instruction for these arguments; of a store, the words that it writes."""
        _, _, result = self.example
        memory = _Stores()
        state = MachineState(domain, memory)
        self._execute(state, args)
        if result is None:
            return tuple(memory.stored[at] for at in sorted(memory.stored))
        if result.file == "vector":
            return state.vectors[_full(result)]
        return (state.registers[_full(result)],)

    def _execute(self, state: MachineState, args: Sequence[Lanes]) -> None:
        decoded, places, result = self.example
        if self.carry is not None:
            self.carry._execute(state, args[len(places) : -1])
        if result is not None:
            _put(state, result, (0,) * 8 if result.file == "vector" else (0,))
        for place, lanes in zip(places, args, strict=self.carry is None):
            _put(state, place, lanes)
        try:
            execute(decoded, state)
        except TypeError as error:
            raise SearchError(f"'{decoded.text()}' cannot be searched: {error}") from None


@cache
def _example(form: Form) -> tuple[Decoded, tuple[Register, ...], Register | None]:
    taken = {file: iter(registers) for file, registers in _ARGUMENTS.items()}
    arguments = [next(taken[file]) for file in form.files]
    result = _RESULT[form.file] if form.file else _RESULT["general"]
    if form.row.tied and form.file:
        arguments[0] = result
    if "cl" in form.row.spellings:
        arguments[1] = Register("general", 1, 64)
    instruction = form.instruction(arguments, result)
    (decoded, *_) = decode(assemble(Code(_FOLDED, (instruction,))).text)
    return decoded, tuple(arguments), result if form.file else None


def _full(register: Register) -> str:
    return register.at(512).name if register.file == "vector" else register.at(64).name


def _put(state: MachineState, register: Register, lanes: Lanes) -> None:
    if register.file == "vector":
        state.vectors[_full(register)] = tuple(lanes)
    else:
        (state.registers[_full(register)],) = lanes


def with_carry(mnemonic: str, carry: Form) -> Form:
    """Return the form of adc or sbb of two registers and the carry of an instruction."""
    parts = (Hole("d", "general", 64), Hole("b", "general", 64))
    row = Spelling("lifted", mnemonic, "", parts=parts, over=True)
    return Form(row, "lifted", None, ("general", "general"), "general", 64, carry)


class _Stores(AddressSpace):
    """Write-only memory that records stored words by address."""

    def __init__(self) -> None:
        self.stored: dict[int, Bits] = {}

    def load(self, address: Bits, bits: int, wanted: Bits = 1) -> Bits:
        raise SemanticsError("reads memory")

    def store(self, address: Bits, bits: int, value: Bits, wanted: Bits = 1) -> None:
        if not isinstance(address, int) or bits != 64 or wanted != 1:
            raise SemanticsError("does not write exactly one whole register")
        self.stored[address] = value


def folding(form: Form) -> Form:
    """Return the form with its last argument that can be a memory operand marked as foldable, if there is one."""
    row = form.row
    if not isinstance(row, Spelling):
        return form
    for part in reversed(row.parts):
        if not isinstance(part, Hole) or part.letter == "d" or (part.file, part.bits) in _NARROW:
            continue
        for alike in (True, False) if part.file == "vector" else (False,):
            memory = Memory(64 if alike else part.bits, symbol=_FOLDED, broadcast=alike)
            parts = tuple(memory if other is part else _register(other) for other in row.parts)
            if _encodable(row.mnemonic, parts):
                folding_row = replace(row, foldable=part.letter, lanes_alike=alike)
                return replace(form, row=folding_row)
    return form


_NARROW = {("general", 8), ("general", 32), ("mask", 64)}


def _register(part: Written) -> Operand:
    """Return the operand of a part, with distinct example registers in its holes."""
    if isinstance(part, Address):
        return Memory(part.bits, _of(part.base), _of(part.index), part.scale, part.displacement)
    return _of(part) or 0 if isinstance(part, Hole) else part


def _of(hole: Hole | None, first: int = 0) -> Register | None:
    return Register(hole.file, first + "dabc".index(hole.letter), hole.bits) if hole else None


def takes_all_registers(form: Form) -> bool:
    """Return whether the vector registers of a form, if any, may be 16 and up; always true for rows of the target."""
    if not isinstance(form.row, Spelling) or "vector" not in (form.file, *form.files):
        return True
    parts = tuple(
        _of(part, 16) or 0 if isinstance(part, Hole) and part.file == "vector" else _register(part)
        for part in form.row.parts
    )
    return _encodable(form.row.mnemonic, parts)


@cache
def _encodable(mnemonic: str, operands: tuple[Operand, ...]) -> bool:
    code = Code(_FOLDED, (Instruction(mnemonic, operands),), (Datum(_FOLDED, (0,) * 8, 8, 64),))
    try:
        assemble(code)
    except NotEncodable:
        return False
    return True


def overwrites(mnemonic: str, parts: tuple[Written, ...]) -> bool:
    """Return whether an instruction also reads its first operand. Raises NotEncodable if no assembler can encode it."""
    operands = tuple(_register(part) for part in parts)
    (decoded, *_) = decode(assemble(Code(_FOLDED, (Instruction(mnemonic, operands),))).text)
    first = operands[0]
    return isinstance(first, Register) and _full(first) in decoded.reads
