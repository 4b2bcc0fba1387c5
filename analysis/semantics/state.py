"""The machine state over a domain of values, and the execution of one instruction on it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

from setwise.analysis.code.decode import Decoded, Imm, Mem, Reg
from setwise.analysis.semantics.domains import Bits, Domain

Flag = Callable[[], Bits]  # flags are rarely read, so they are computed lazily
BinaryOperation = Callable[[Domain, Bits, Bits, int], Bits]

UNDEFINED: Mapping[str, Flag | None] = dict.fromkeys(("cf", "of", "sf", "zf", "pf", "af"))
"""All status flags, each undefined."""

GENERAL = (
    "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
"""The general registers except rsp."""
MASKS = tuple(f"k{number}" for number in range(8))
VECTORS = tuple(f"zmm{number}" for number in range(32))


class SemanticsError(ValueError):
    """An operation that is not allowed, or not followed, in this state; the message gives the reason.

    It violates the routine's contract if the one-bit value `allowed` is 0.
    """

    allowed: Bits = 1


class Unsupported(SemanticsError):
    """Code that the semantics or the prover cannot follow; it violates the contract if `allowed` can be 0."""

    def __init__(self, message: str, allowed: Bits = 1) -> None:
        super().__init__(message)
        self.allowed = allowed


class ContractViolation(SemanticsError):
    """A violation by the routine, such as a fault or an access outside its memory."""

    allowed = 0


class AddressSpace(Protocol):
    """The interface of memory: little-endian, 64-bit byte addresses, accesses of 8 to 64 bits."""

    def load(self, address: Bits, bits: int, wanted: Bits = 1) -> Bits:
        """Return the value at an address. There is no access if the bit `wanted`, never the constant 0, is 0."""

    def store(self, address: Bits, bits: int, value: Bits, wanted: Bits = 1) -> None:
        """Write a value, unless `wanted` is 0."""

    def move_stack(self, rsp: Bits) -> None:
        """Receive the new stack pointer before it is set; here do nothing."""
        return

    def require(self, condition: Bits, what: str) -> None:
        """Demand that a one-bit condition holds; here raise ContractViolation(what) unless it is the constant 1."""
        if not (isinstance(condition, int) and condition):
            raise ContractViolation(what)


@dataclass(frozen=True, slots=True)
class Goto:
    """A jump: its target, an absolute 64-bit address, and its one-bit condition (None: always)."""

    place: Bits
    condition: Bits | None = None


@dataclass(slots=True)
class MachineState:
    """Registers by their full names, flags and memory; `base` is the address of the code's first byte.

    `registers` holds general and mask registers, 64 bits each, `vectors` eight lanes of 64 bits each, lowest first. A
    flag that is missing or None is undefined: an arbitrary bit that is fixed at the first read. `targets` maps offsets
    of instructions to the addresses of their rip-relative operands or of the destinations of their branches; one that
    is not listed is at its distance from `base`.
    """

    domain: Domain
    memory: AddressSpace
    base: Bits = field(default=0, metadata={"apart": True})  # as in `path_state`: it follows from the code's offset
    registers: dict[str, Bits] = field(default_factory=dict)
    vectors: dict[str, tuple[Bits, ...]] = field(default_factory=dict)
    flags: dict[str, Flag | None] = field(default_factory=dict)
    targets: Mapping[int, Bits] = field(default_factory=dict)


# The first set's instructions fault if their memory operand is not aligned to its size. So does every legacy SSE
# instruction with a 128-bit memory operand, except those of the second set.
_ALIGNED = frozenset(
    {"vmovdqa", "vmovdqa32", "vmovdqa64", "vmovaps", "vmovapd", "vmovntdqa", "vmovntdq", "vmovntps", "vmovntpd"}
)
_UNALIGNED = frozenset({"movdqu", "movups", "movupd", "lddqu"})


@dataclass(frozen=True, slots=True)
class Execution:
    """The execution of one instruction on a state."""

    instruction: Decoded
    state: MachineState

    @property
    def domain(self) -> Domain:
        """The domain of the values."""
        return self.state.domain

    @property
    def count(self) -> int:
        """The number of operands."""
        return len(self.instruction.operands)

    def unknown(self, what: str = "") -> Unsupported:
        """Return the error for this instruction, which has no semantics; `what` says why."""
        return Unsupported(f"no semantics for {self.instruction.title}{what and ': ' + what}")

    # ---- general and mask registers, immediates, memory

    def file(self, operand: int) -> str:
        """Return the kind of an operand: the file of a register, such as general or mask, or memory or immediate."""
        found = self.instruction.operands[operand]
        return found.file if isinstance(found, Reg) else "memory" if isinstance(found, Mem) else "immediate"

    def width(self, operand: int = 0) -> int:
        """Return the width of a register or memory operand in bits. Raises Unsupported for an immediate."""
        found = self.instruction.operands[operand]
        if isinstance(found, Imm):
            raise self.unknown("an immediate operand is not supported here")
        return found.bits

    def immediate(self, operand: int = -1) -> int:
        """Return the value of an immediate operand, by default the last. Raises Unsupported if it is none."""
        found = self.instruction.operands[operand]
        if not isinstance(found, Imm):
            raise self.unknown("only an immediate operand is supported here")
        return found.value

    def get(self, operand: int, width: int | None = None) -> Bits:
        """Return a non-vector operand, or its lowest `width` bits; an immediate's default is operand 0's width."""
        found = self.instruction.operands[operand]
        if isinstance(found, Imm):
            return found.value & ((1 << (width or self.width())) - 1)
        width = width or found.bits
        if isinstance(found, Mem):
            return self.load(self.address(found), width)
        return self.read(found, width)

    def put(self, operand: int, value: Bits) -> None:
        """Write a whole operand that is a general register, a mask register or memory."""
        found = self.instruction.operands[operand]
        if isinstance(found, Mem):
            self.store(self.address(found), found.bits, value)
        elif isinstance(found, Reg):
            self.write(found, value)

    def read(self, register: Reg, width: int | None = None) -> Bits:
        """Return a general or mask register, or its lowest `width` bits."""
        if register.file not in ("general", "mask"):
            raise self.unknown(f"the register {register.name} is not supported")
        return self.domain.extract(self.register(register.full), register.low, width or register.bits, 64)

    def write(self, register: Reg, value: Bits) -> None:
        """Write a general or mask register: 32 bits clear the upper half, fewer bits keep the rest."""
        if register.file not in ("general", "mask"):
            raise self.unknown(f"the register {register.name} is not supported")
        if register.bits == 32:
            value = self.domain.concat(0, value, 32, 32)
        elif register.bits < 32:
            old, end = self.register(register.full), register.low + register.bits
            value = self.domain.concat(
                value, self.domain.extract(old, 0, register.low, 64), register.bits, register.low
            )
            value = self.domain.concat(self.domain.extract(old, end, 64 - end, 64), value, 64 - end, end)
        self.set_register(register.full, value)

    def set_register(self, full: str, value: Bits) -> None:
        """Write all 64 bits of a general or mask register, and report a new stack pointer to the memory."""
        if full == "rsp":
            with self._located():
                self.state.memory.move_stack(value)
        self.state.registers[full] = value

    def register(self, full: str) -> Bits:
        """Return all 64 bits of a general or mask register by its full name. Raises SemanticsError without a value."""
        if full not in self.state.registers:
            raise SemanticsError(f"{self.instruction.title} reads {full}, which has no value")
        return self.state.registers[full]

    def address(self, memory: Mem) -> Bits:
        """Return the address of a memory operand."""
        if memory.segment:
            raise self.unknown(f"addresses in the segment {memory.segment} are not supported")
        if memory.target is not None:
            return self.place(memory.target)
        total: Bits = memory.displacement % (1 << 64)
        for register, scale in ((memory.base, 1), (memory.index, memory.scale)):
            if register is None:
                continue
            if register.file != "general" or register.bits != 64:
                raise self.unknown(f"addresses must be in 64-bit general registers, not in {register.name}")
            scaled = self.domain.shl(self.register(register.full), scale.bit_length() - 1, 64)
            total = self.domain.add(total, scaled, 64)
        return total

    def place(self, target: int) -> Bits:
        """Return the address to which the rip-relative operand or the direct branch points, by its offset."""
        known = self.state.targets.get(self.instruction.offset)
        return self.domain.add(self.state.base, target % (1 << 64), 64) if known is None else known

    def require(self, condition: Bits, what: str) -> None:
        """Demand that a one-bit condition holds, else complain that this instruction does `what`."""
        with self._located():
            self.state.memory.require(condition, what)

    def load(self, address: Bits, bits: int, wanted: Bits = 1) -> Bits:
        """Return the value at an address. If the bit `wanted` is 0, there is no access, and the value is arbitrary."""
        if isinstance(wanted, int) and not wanted:
            return 0
        with self._located():
            return self.state.memory.load(address, bits, wanted)

    def store(self, address: Bits, bits: int, value: Bits, wanted: Bits = 1) -> None:
        """Write memory, unless `wanted` is 0."""
        if isinstance(wanted, int) and not wanted:
            return
        with self._located():
            self.state.memory.store(address, bits, value, wanted)

    @contextmanager
    def _located(self) -> Iterator[None]:
        """Add this instruction to the message of a SemanticsError that the memory raises."""
        try:
            yield
        except SemanticsError as error:
            error.args = (f"{self.instruction.title} {error}",)
            raise

    # ---- flags

    def flag(self, name: str) -> Bits:
        """Return a flag as one bit; an undefined flag gets an arbitrary bit, which it keeps."""
        found = self.state.flags.get(name)
        if found is None:
            bit = self.domain.undefined(0, 1)
            found = self.state.flags[name] = lambda: bit
        return found()

    def set_flags(self, flags: Mapping[str, Flag | None]) -> None:
        """Set these flags; None makes a flag undefined."""
        self.state.flags.update(flags)

    # ---- values

    def bit(self, a: Bits, place: int, width: int) -> Bits:
        """Return bit number `place` of a value of `width` bits."""
        return self.domain.extract(a, place, 1, width)

    def extend(self, a: Bits, width: int, to: int) -> Bits:
        """Return the value zero-extended from `width` to `to` bits."""
        return a if to == width else self.domain.concat(0, a, to - width, width)

    def sign_extend(self, a: Bits, width: int, to: int) -> Bits:
        """Return the value sign-extended from `width` to `to` bits."""
        if to == width:
            return a
        above = self.domain.ite(self.bit(a, width - 1, width), (1 << (to - width)) - 1, 0, to - width)
        return self.domain.concat(above, a, to - width, width)

    def concat_bits(self, bits: Sequence[Bits]) -> Bits:
        """Return a value as wide as the number of `bits`, which are its bits, the lowest first."""
        result = bits[0]
        for place, higher in enumerate(bits[1:], 1):
            result = self.domain.concat(higher, result, 1, place)
        return result

    def is_zero(self, a: Bits, width: int) -> Bits:
        """Return 1 if the value is 0, else 0."""
        return self.domain.eq(a, 0, width)

    def result_flags(self, result: Bits, width: int) -> dict[str, Flag | None]:
        """Return functions that compute ZF, SF and PF of a result, by the flags' names in lower case."""

        def parity() -> Bits:
            return reduce(lambda odd, place: self.domain.xor(odd, self.bit(result, place, width), 1), range(8), 1)

        return {
            "zf": lambda: self.is_zero(result, width),
            "sf": lambda: self.bit(result, width - 1, width),
            "pf": parity,
        }

    def put_result(self, result: Bits, width: int, **flags: Flag | None) -> None:
        """Write the result to the first operand, set ZF, SF and PF by it, then set `flags`, which take precedence."""
        self.put(0, result)
        self.set_flags({**self.result_flags(result, width), **flags})

    # ---- vector registers

    def elements(self, operand: int, width: int, bits: int | None = None, masked: bool = False) -> list[Bits]:
        """Return the elements of `width` bits of a vector register or memory operand, lowest first, `bits` in total.

        The default of `bits` is the operand's size. A broadcast element is repeated, by default up to the size of the
        first operand. With `masked`, memory is not accessed for an element that the mask excludes.
        """
        found = self.instruction.operands[operand]
        if isinstance(found, Mem):
            return self._elements_in_memory(found, width, bits, masked)
        if not isinstance(found, Reg) or found.file != "vector":
            raise self.unknown()
        bits = bits or found.bits
        return self.split(self.lanes(found)[: max(1, bits // 64)], width)[: bits // width]

    def sources(self, width: int, number: int, masked: bool = False) -> list[list[Bits]]:
        """Return the `elements` of each of the last `number` operands, a final immediate not counted."""
        end = self.count - (self.file(self.count - 1) == "immediate")
        bits = self.width(end - number if number > 1 else 0)  # a single source has the result's width
        return [self.elements(place, width, bits, masked) for place in range(end - number, end)]

    def lanes(self, register: Reg) -> tuple[Bits, ...]:
        """Return the eight 64-bit lanes of a vector register, lowest first. Raises SemanticsError without a value."""
        if register.full not in self.state.vectors:
            raise SemanticsError(f"{self.instruction.title} reads {register.name}, which has no value")
        return self.state.vectors[register.full]

    def mask_bits(self, number: int) -> list[Bits] | None:
        """Return the lowest `number` bits of the write mask, one for each element, or None without a mask."""
        mask = self.instruction.mask
        if mask is None:
            return None
        return [self.domain.extract(self.register(mask.full), place, 1, 64) for place in range(number)]

    def put_elements(self, elements: Sequence[Bits], width: int, masked: bool = True) -> None:
        """Write elements to the first operand, memory or a vector register, under the write mask if there is one.

        If not `masked`, a register is written without it. Bits above are cleared, or in legacy SSE kept from 128 on.
        """
        found = self.instruction.operands[0]
        if isinstance(found, Mem):
            self._store_elements(found, elements, width)
            return
        if not isinstance(found, Reg) or found.file != "vector":
            raise self.unknown()
        bits = self.mask_bits(len(elements)) if masked else None
        if bits is not None:
            zeros = [0] * len(elements)
            old = zeros if self.instruction.zeroing else self.split(self.lanes(found), width)
            elements = [
                self.domain.ite(bit, new, kept, width)
                for bit, new, kept in zip(bits, elements, old[: len(elements)], strict=True)
            ]
        lanes = tuple(self.join([*elements, *[0] * (128 // width - len(elements))], width))
        above = (0,) * 8 if self.instruction.mnemonic.startswith("v") else self.lanes(found)
        self.state.vectors[found.full] = lanes + above[len(lanes) :]

    def split(self, lanes: Sequence[Bits], width: int) -> list[Bits]:
        """Return the elements of `width` bits that 64-bit lanes consist of, lowest first."""
        if width == 64:
            return list(lanes)
        return [self.domain.extract(lane, low, width, 64) for lane in lanes for low in range(0, 64, width)]

    def join(self, elements: Sequence[Bits], width: int) -> list[Bits]:
        """Return the 64-bit lanes that elements of `width` bits make, lowest first; the last lane may be incomplete."""
        each = 64 // width
        lanes = []
        for start in range(0, len(elements), each):
            lane = elements[start]
            for place, element in enumerate(elements[start + 1 : start + each], 1):
                lane = self.domain.concat(element, lane, width, place * width)
            lanes.append(lane)
        return lanes

    def _elements_in_memory(self, memory: Mem, width: int, bits: int | None, masked: bool) -> list[Bits]:
        address = self.address(memory)
        if memory.broadcast:
            number = (bits or self.width()) // memory.bits
            used = self.mask_bits(number) if masked else None
            any_used = 1 if used is None else reduce(lambda one, other: self.domain.or_(one, other, 1), used)
            return [self.load(address, memory.bits, any_used)] * number
        bits = bits or memory.bits
        self._check_alignment(address, bits)
        wanted = self.mask_bits(bits // width) if masked else None
        if wanted is None:
            if bits < 64:
                return [self.load(self._plus(address, low), width) for low in range(0, bits, width)]
            return self.split([self.load(self._plus(address, low), 64) for low in range(0, bits, 64)], width)
        return [self.load(self._plus(address, place * width), width, bit) for place, bit in enumerate(wanted)]

    def _store_elements(self, memory: Mem, elements: Sequence[Bits], width: int) -> None:
        address = self.address(memory)
        self._check_alignment(address, memory.bits)
        bits = self.mask_bits(len(elements))
        if bits is None:
            whole = self.join(elements, width) if memory.bits >= 64 else elements
            each = 64 if memory.bits >= 64 else width
            for place, element in enumerate(whole):
                self.store(self._plus(address, place * each), each, element)
            return
        for place, (bit, element) in enumerate(zip(bits, elements, strict=True)):
            self.store(self._plus(address, place * width), width, element, bit)

    def _plus(self, address: Bits, bits: int) -> Bits:
        return self.domain.add(address, bits // 8, 64)

    def _check_alignment(self, address: Bits, bits: int) -> None:
        name = self.instruction.mnemonic
        strict = name in _ALIGNED or (bits == 128 and not name.startswith("v") and name not in _UNALIGNED)
        if not strict:
            return
        rest = self.domain.extract(address, 0, (bits // 8).bit_length() - 1, 64)
        aligned = self.domain.eq(rest, 0, (bits // 8).bit_length() - 1)
        self.require(aligned, f"needs an address that is a multiple of {bits // 8}")


Meaning = Callable[[Execution], Goto | None]
"""The semantics of an instruction: a function that executes it."""


def zero() -> Bits:
    """Return 0, for a cleared flag."""
    return 0
