"""Steps decoded code over integers: what was executed, what each step wrote, where it left the memory."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from setwise.analysis.code.count import Counts, tally
from setwise.analysis.code.decode import Binary, Decoded, Reg, decode
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, AddressSpace
from setwise.analysis.semantics.table import MachineState, SemanticsError, execute

CODE = 0x0040_0000
STACK = 0x7FFF_0000_0000
BUFFERS = 0x1000_0000
BACK = 0x0BAD_0C0D_E000  # where the final ret goes

_STACK_BELOW = 1 << 16
_STACK_ABOVE = 8 + 32 + 64  # the return address, the space that Windows reserves for the callee, stack arguments
_BUFFER_DISTANCE = 1 << 24
_LANE = 0xFFFF_FFFF_FFFF_FFFF

Start = int | str | Sequence[int]


class StepError(SemanticsError):
    """Code that runs away: into no instruction, into no memory, or for too long."""


@dataclass(frozen=True, slots=True)
class RegisterWrite:
    """A register that a step wrote, under the name that the instruction uses, in lanes of 64 bits, lowest first."""

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

    `registers` and `vectors` (eight lanes of 64 bits each) are as the run leaves them, `buffers` the named memory.
    """

    binary: Binary
    steps: tuple[Step, ...]
    registers: Mapping[str, int]
    vectors: Mapping[str, tuple[int, ...]]
    buffers: Mapping[str, bytes]

    @property
    def instructions(self) -> tuple[Decoded, ...]:
        """What was executed, the final ret included."""
        return tuple(step.instruction for step in self.steps)


@dataclass(slots=True)
class MemoryRange:
    """A named piece of memory, of which the first `barred` bytes may not be touched."""

    name: str
    start: int
    content: bytearray
    writable: bool = True
    barred: int = 0


@dataclass(slots=True)
class MemoryRanges(AddressSpace):
    """Memory of a few pieces with nothing between them; any access outside is an error that says where."""

    regions: list[MemoryRange] = field(default_factory=list)

    def load(self, address: int, bits: int, wanted: int = 1) -> int:
        """Little-endian; raises StepError outside."""
        region, place = self._find(address, bits // 8, "reads")
        return int.from_bytes(region.content[place : place + bits // 8], "little")

    def store(self, address: int, bits: int, value: int, wanted: int = 1) -> None:
        """Little-endian; raises StepError outside, and where the memory is read-only."""
        region, place = self._find(address, bits // 8, "writes")
        if not region.writable:
            raise StepError(f"writes {bits // 8} bytes at byte {place} of {region.name}, which is read-only")
        region.content[place : place + bits // 8] = value.to_bytes(bits // 8, "little")

    def _find(self, address: int, size: int, does: str) -> tuple[MemoryRange, int]:
        for region in self.regions:
            place = address - region.start
            if 0 <= place < region.barred:
                raise StepError(
                    f"{does} {size} bytes {region.barred - place} below what is the routine's of {region.name}"
                )
            if place >= 0 and place + size <= len(region.content):
                return region, place
        near = min(self.regions, key=lambda region: abs(address - region.start))
        raise StepError(
            f"{does} {size} bytes at {address:#x}, outside all memory: "
            f"byte {address - near.start} of {near.name}, which has {len(near.content)}"
        )


class Interpreter:
    """Code, its memory and its registers, to be stepped.

    `registers` gives the registers' values at entry by name (rdi, ecx, xmm2, k1): integers, for vector registers also
    lanes of 64 bits, or the name of a buffer for its address. All other registers hold arbitrary values, so that
    code which relies on them is found out. Buffers lie at multiples of 8, not of 16, with nothing on either side.
    `instructions` saves decoding the text again; `entry` is the offset that the code starts at. `stack` gives arguments
    on the stack by their offset from rsp at entry, as registers are given. `rsp` is where the return address lies, and
    `above` how many bytes there are from there up. `code` is where the code's first byte lies.

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
        entry: int = 0,
        stack: Mapping[int, int | str] | None = None,
        rsp: int = STACK + 8,  # 8 above a multiple of 16, as a call leaves it
        above: int = _STACK_ABOVE,
        code: int = CODE,
    ) -> None:
        decoded = decode(binary.text) if instructions is None else instructions
        self.binary, self.code = binary, code
        self.at = {instruction.offset: instruction for instruction in decoded}
        self.offset: int | None = entry  # of the next instruction; None after the final ret
        self.buffers = {
            name: MemoryRange(f"buffer '{name}'", BUFFERS + number * _BUFFER_DISTANCE + 8, bytearray(content))
            for number, (name, content) in enumerate((memory or {}).items())
        }
        content = bytearray(_STACK_BELOW) + BACK.to_bytes(8, "little") + bytes(above - 8)
        image = MemoryRange("the code and its data", code, bytearray(binary.image), writable=False)
        self.stack = MemoryRange("the stack", rsp - _STACK_BELOW, content)
        self.state = MachineState(Integers(), MemoryRanges([*self.buffers.values(), self.stack, image]), code)
        for name in (*GENERAL, *MASKS):
            self.state.registers[name] = _arbitrary(name)
        for name in VECTORS:
            self.state.vectors[name] = tuple(_arbitrary(f"{name}.{lane}") for lane in range(8))
        self.state.registers["rsp"] = self.rsp = rsp
        for name, value in (registers or {}).items():
            self._start(name, value)
        for offset, word in (stack or {}).items():
            value = self._address(word, "the stack") if isinstance(word, str) else word
            self.state.memory.store(rsp + offset, 64, value & _LANE)

    def step(self) -> Step:
        """Executes the next instruction."""
        if self.offset is None:
            raise StepError("the code has returned")
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
        """The instruction that begins there; StepError if none does."""
        if offset not in self.at:
            raise StepError(f"runs into offset {offset:#x}, where no instruction begins")
        return self.at[offset]

    def run(self, limit: int = 1_000_000) -> Trace:
        """Steps until the final ret; raises StepError after `limit` instructions."""
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
        if name[0] in "xyz" and name[1:3] == "mm":
            if isinstance(value, str):
                raise ValueError(f"{name} cannot hold the address of a buffer: give it an integer or lanes of 64 bits")
            lanes = [value >> shift & _LANE for shift in range(0, 512, 64)] if isinstance(value, int) else [*value]
            if len(lanes) > 8:
                raise ValueError(f"{name} has at most 8 lanes of 64 bits, not {len(lanes)}")
            # What the argument does not say is arbitrary.
            given = {"x": 2, "y": 4, "z": 8}[name[0]] if isinstance(value, int) else len(lanes)
            full = "z" + name[1:]
            self.state.vectors[full] = (*lanes[:given], *self.state.vectors[full][given:])
        elif name in self.state.registers:
            if isinstance(value, str):
                value = self._address(value, name)
            if not isinstance(value, int):
                raise ValueError(f"{name} takes one integer or the name of a buffer")
            self.state.registers[name] = value & _LANE
        else:
            raise ValueError(f"no register {name!r}: name a 64-bit general register, xmm, ymm, zmm or k register")

    def _address(self, buffer: str, place: str) -> int:
        if buffer not in self.buffers:
            raise ValueError(f"no buffer {buffer!r} for {place}: name it in memory")
        return self.buffers[buffer].start

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
    """The counts of what was executed, each instruction as often as it was; the final ret is not counted."""
    return tally(trace.instructions[:-1], bytes=len(trace.binary.text), data_bytes=len(trace.binary.data))


def _arbitrary(name: str) -> int:
    """A value that is the same in every run and that nothing should depend on."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
