"""An interpreter of decoded code over integers, which records each step's register writes and the final state."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from setwise.analysis.code.count import Counts, tally
from setwise.analysis.code.decode import Binary, Decoded, Reg, decode
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, AddressSpace, MachineState, SemanticsError
from setwise.analysis.semantics.table import execute

CODE = 0x0040_0000
STACK = 0x7FFF_0000_0000
BUFFERS = 0x1000_0000
BACK = 0x0BAD_0C0D_E000  # the return address of the final ret

_STACK_BELOW = 1 << 16
_STACK_ABOVE = 8 + 32 + 64  # in bytes: return address, the space that Windows reserves for the callee, arguments
_BUFFER_DISTANCE = 1 << 24
_LANE = 0xFFFF_FFFF_FFFF_FFFF

Start = int | str | Sequence[int]


class StepError(SemanticsError):
    """An execution error: a jump to no instruction, a forbidden memory access, or no proper return within the limit."""


@dataclass(frozen=True, slots=True)
class RegisterWrite:
    """A register after a step that wrote it: the full name, or a vector operand's own; and its lanes, lowest first."""

    name: str
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One executed instruction and the registers that it wrote."""

    instruction: Decoded
    written: tuple[RegisterWrite, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole run, from the entry to the final ret.

    `registers` and `vectors` (eight lanes of 64 bits each) are the final values. `buffers` is the final content of the
    named memory.
    """

    binary: Binary
    steps: tuple[Step, ...]
    registers: Mapping[str, int]
    vectors: Mapping[str, tuple[int, ...]]
    buffers: Mapping[str, bytes]

    @property
    def instructions(self) -> tuple[Decoded, ...]:
        """The executed instructions, the final ret included."""
        return tuple(step.instruction for step in self.steps)


@dataclass(slots=True)
class MemoryRange:
    """A named range of memory; the first `barred` bytes are inaccessible."""

    name: str
    start: int
    content: bytearray
    writable: bool = True
    barred: int = 0


@dataclass(slots=True)
class MemoryRanges(AddressSpace):
    """Memory of a few disjoint ranges. An access outside them raises a StepError that names the address."""

    regions: list[MemoryRange] = field(default_factory=list)

    def load(self, address: int, bits: int, wanted: int = 1) -> int:
        """Return the little-endian value of `bits` bits. Raises StepError outside the accessible ranges."""
        region, place = self._find(address, bits // 8, "reads")
        return int.from_bytes(region.content[place : place + bits // 8], "little")

    def store(self, address: int, bits: int, value: int, wanted: int = 1) -> None:
        """Write a value of `bits` bits, little-endian. Raises StepError outside the accessible and writable ranges."""
        region, place = self._find(address, bits // 8, "writes")
        if not region.writable:
            raise StepError(f"writes {bits // 8} bytes at byte {place} of {region.name}, which is read-only")
        region.content[place : place + bits // 8] = value.to_bytes(bits // 8, "little")

    def _find(self, address: int, size: int, does: str) -> tuple[MemoryRange, int]:
        for region in self.regions:
            place = address - region.start
            if 0 <= place < region.barred:
                below = region.barred - place
                raise StepError(f"{does} {size} bytes of {region.name}, {below} bytes below the part that it may use")
            if place >= 0 and place + size <= len(region.content):
                return region, place
        near = min(self.regions, key=lambda region: abs(address - region.start))
        raise StepError(
            f"{does} {size} bytes at {address:#x}, which is not memory of the call; "
            f"the nearest is {near.name}: {len(near.content)} bytes at {near.start:#x}"
        )


class Interpreter:
    """An interpreter with code, memory and registers.

    `registers` gives register values at entry by name (rdi, xmm2, zmm2, k1; general registers of 64 bits): integers,
    for vector registers also 64-bit lanes, or the name of a buffer for its address. All others but rsp hold arbitrary
    values, so that code that relies on them is found out. `memory` gives the buffers' contents by name. Buffers begin
    at odd multiples of 8, or of their number in `aligned`, with unmapped memory on either side. `instructions` is the
    decoded text, if known. `stack` gives stack arguments, as numbers or buffers, by offset from rsp at entry. `rsp` is
    the address of the return address, `above` the number of bytes from there to the end of the stack. `code` is the
    address of the first byte of the code.

    >>> trace = Interpreter(Binary(bytes.fromhex("4889d048c1e808c3")), {"rdx": 0x1234}).run()
    >>> hex(trace.registers["rax"]), [step.written[0].lanes for step in trace.steps[:2]]
    ('0x12', [(4660,), (18,)])
    """

    def __init__(
        self,
        binary: Binary,
        registers: Mapping[str, Start] | None = None,
        memory: Mapping[str, bytes] | None = None,
        instructions: Sequence[Decoded] | None = None,
        stack: Mapping[int, int | str] | None = None,
        rsp: int = STACK + 8,  # 8 above a multiple of 16, as after a call
        above: int = _STACK_ABOVE,
        code: int = CODE,
        aligned: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        decoded = decode(binary.text) if instructions is None else instructions
        self.binary, self.code = binary, code
        self.at = {instruction.offset: instruction for instruction in decoded}
        self.offset: int | None = 0  # the offset of the next instruction; None after the final ret
        self.buffers = {
            name: MemoryRange(
                f"buffer '{name}'", BUFFERS + number * _BUFFER_DISTANCE + aligned.get(name, 8), bytearray(content)
            )
            for number, (name, content) in enumerate((memory or {}).items())
        }
        content = bytearray(_STACK_BELOW) + BACK.to_bytes(8, "little") + bytes(above - 8)
        image = MemoryRange("the code and its data", code, bytearray(binary.image), writable=False)
        self.stack = MemoryRange("the stack", rsp - _STACK_BELOW, content)
        places = {at: code + offset for at, offset in (binary.layout.branches if binary.layout else ())}
        ranges = MemoryRanges([*self.buffers.values(), self.stack, image])
        self.state = MachineState(Integers(), ranges, code, targets=places)
        for name in (*GENERAL, *MASKS):
            self.state.registers[name] = _arbitrary(name)
        for name in VECTORS:
            self.state.vectors[name] = tuple(_arbitrary(f"{name}.{lane}") for lane in range(8))
        self.state.registers["rsp"] = self.rsp = rsp
        for name, value in (registers or {}).items():
            self._start(name, value)
        for offset, word in (stack or {}).items():
            value = self.buffers[word].start if isinstance(word, str) else word
            self.state.memory.store(rsp + offset, 64, value & _LANE)

    def step(self) -> Step:
        """Execute the next instruction and return the step. Raises SemanticsError if that is impossible."""
        if self.offset is None:
            raise StepError("the code has returned: make a new interpreter to run it again")
        instruction = self.instruction(self.offset)
        goto = execute(instruction, self.state)
        if goto is None or goto.condition == 0:
            self.offset = instruction.end
        elif goto.place == BACK:
            self.offset = None
        else:
            self.offset = goto.place - self.code
        return Step(instruction, self._written(instruction))

    def instruction(self, offset: int) -> Decoded:
        """Return the instruction that begins at an offset. Raises StepError if none does."""
        if offset not in self.at:
            raise StepError(f"runs into offset {offset:#x}, where no instruction begins")
        return self.at[offset]

    def run(self, limit: int = 1_000_000) -> Trace:
        """Execute until the final ret. Raises StepError for none in `limit` instructions, or a wrong final rsp."""
        steps: list[Step] = []
        while self.offset is not None:
            if len(steps) == limit:
                raise StepError(f"has not returned after {limit} instructions")
            steps.append(self.step())
        if self.state.registers["rsp"] != self.rsp + 8:
            raise StepError(f"returns with rsp {self.state.registers['rsp'] - self.rsp - 8:+d} bytes from where it was")
        contents = {name: bytes(region.content) for name, region in self.buffers.items()}
        return Trace(self.binary, tuple(steps), dict(self.state.registers), dict(self.state.vectors), contents)

    def _start(self, name: str, value: Start) -> None:
        if isinstance(value, str):
            value = self.buffers[value].start
        if name[1:3] == "mm":
            lanes = [value >> shift & _LANE for shift in range(0, 512, 64)] if isinstance(value, int) else [*value]
            # Lanes that `value` does not give stay arbitrary.
            given = {"x": 2, "y": 4, "z": 8}[name[0]] if isinstance(value, int) else len(lanes)
            full = "z" + name[1:]
            self.state.vectors[full] = (*lanes[:given], *self.state.vectors[full][given:])
        else:
            assert isinstance(value, int)
            self.state.registers[name] = value & _LANE

    def _written(self, instruction: Decoded) -> tuple[RegisterWrite, ...]:
        named = {operand.full: operand for operand in instruction.operands if isinstance(operand, Reg)}
        written = []
        for full in sorted(instruction.writes):
            if full in self.state.registers:
                written.append(RegisterWrite(full, (self.state.registers[full],)))
            elif full in self.state.vectors:
                seen = named.get(full)
                lanes = self.state.vectors[full][: seen.bits // 64 if seen else 8]
                written.append(RegisterWrite(seen.name if seen else full, lanes))
        return tuple(written)


def executed_counts(trace: Trace) -> Counts:
    """Return the counts of executed instructions, repetitions included, without the final ret, and of all bytes."""
    return tally(trace.instructions[:-1], bytes=len(trace.binary.text), data_bytes=len(trace.binary.data))


def _arbitrary(name: str) -> int:
    """Return an arbitrary value for a register, the same in every run."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
