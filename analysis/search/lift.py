"""The translation of bytes to a program: without registers, moves, stack slots; loaded read-only data are constants."""

from dataclasses import dataclass, field, replace

from setwise.analysis.code.decode import Binary, Decoded, Imm, Mem, Reg, decode, signed
from setwise.analysis.proof.image import MemoryImage
from setwise.analysis.search.forms import Address, Form, Hole, SearchError, Spelling, Written, folding, overwrites
from setwise.analysis.search.program import Argument, Known, Program, ProgramInput, ProgramStep
from setwise.analysis.semantics.samples import Samples
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, SemanticsError
from setwise.analysis.spec.task import Task
from setwise.codegen.assemble import NotEncodable
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.targets.table import Row, Target

_NAMES = {
    spelling: name
    for name, spellings in {
        "and": "and pand vpand vpandd vpandq",
        "or": "or por vpor vpord vporq",
        "xor": "xor pxor vpxor vpxord vpxorq",
        "add": "add paddq vpaddq paddb vpaddb",
    }.items()
    for spelling in spellings.split()
}
"""Codegen's commutative operation by mnemonic, whatever the width of the elements."""

_MOVES = frozenset({"mov", "movq", "vmovq", "movdqa", "movdqu", "movaps", "movups", "movapd", "movupd", "kmovq"}) | {
    f"vmov{name}"
    for name in ("dqa", "dqa32", "dqa64", "dqu", "dqu8", "dqu16", "dqu32", "dqu64", "aps", "ups", "apd", "upd")
}
_IDLE = frozenset({"vzeroupper", "endbr64", "nop"})
"""Instructions without a result for the routine."""

_CONSTANT = 8  # the number of samples by which a constant result is recognized


@dataclass
class _Lifting:
    image: MemoryImage
    task: Task
    target: Target
    at: dict[str, Argument] = field(default_factory=dict)
    """The value in each register, by the name of the whole register: rax, zmm0, k1."""
    slots: dict[int, Argument] = field(default_factory=dict)
    """The value in each stack slot, by the slot's offset from rsp at entry."""
    bits: dict[int, int] = field(default_factory=dict)
    """The width of each value in bits, by its number; the bits above are zero or undefined."""
    depth: int = 0
    """The current distance in bytes of rsp below its value at entry."""
    parameters: list[ProgramInput] = field(default_factory=list)
    steps: list[ProgramStep] = field(default_factory=list)
    given: int = 0
    """The number of parameters that are the routine's; the others are callee-saved or undefined registers."""
    setter: ProgramStep | None = None
    """The step that set the carry flag last, or None if no step did."""
    entry: dict[str, Argument] = field(default_factory=dict)
    """The number of the parameter in each register at entry, by the name of the whole register."""

    def begin(self) -> None:
        for argument in self.task.arguments:
            place = argument.place
            file: RegisterFile = "vector" if place.file == "vector" else "general"
            number = self._enter(file, place.register, place.lanes)
            if place.file == "stack":
                self.slots[place.offset] = number
        self.given = len(self.parameters)
        for name in (*GENERAL, *MASKS, *VECTORS):
            if name not in self.at:
                found: RegisterFile = "vector" if name in VECTORS else "mask" if name in MASKS else "general"
                self._enter(found, name, 8 if found == "vector" else 1)
        self.entry = dict(self.at)

    def _enter(self, file: RegisterFile, register: str, lanes: int) -> int:
        number = len(self.parameters)
        self.parameters.append(ProgramInput(number, file, lanes))
        self.bits[number] = 512 if file == "vector" else 64
        if register:
            self.at[register] = number
        return number

    def lift(self, instruction: Decoded) -> None:
        name, operands = instruction.mnemonic, instruction.operands
        if name in _IDLE:
            return
        made = len(self.steps)
        known = {*self.at, *(["rsp"] if name in ("add", "sub") else [])}
        strange = next((o for o in operands if isinstance(o, Reg) and o.full not in known), None)
        if strange:
            raise self.refusal(instruction, f"the register {strange.name} is not supported")
        if name in ("push", "pop") or "rsp" in instruction.writes:
            self._stack(instruction)
        elif name == "xchg" and all(isinstance(o, Reg) and o.bits == 64 for o in operands):
            first, second = (o.full for o in operands if isinstance(o, Reg))
            self.at[first], self.at[second] = self.at[second], self.at[first]
        elif not self._moved(instruction):
            self._operation(instruction)
        if "cf" in instruction.flags_written | instruction.flags_undefined:
            self.setter = self.steps[-1] if self.steps[made:] and "cf" in instruction.flags_written else None

    def refusal(self, instruction: Decoded, why: str) -> SearchError:
        return SearchError(f"{instruction.title}: {why}")

    # ---- the stack

    def _stack(self, instruction: Decoded) -> None:
        name, operands = instruction.mnemonic, instruction.operands
        first = operands[0] if operands else None
        if name == "push" and isinstance(first, Reg) and first.bits == 64:
            self.depth += 8
            self.slots[-self.depth] = self.at[first.full]
        elif name == "pop" and isinstance(first, Reg) and first.bits == 64 and -self.depth in self.slots:
            self.at[first.full] = self.slots[-self.depth]
            self.depth -= 8
        elif name in ("add", "sub") and isinstance(operands[-1], Imm) and first == _RSP:
            by = signed(operands[-1].value)
            self.depth += by if name == "sub" else -by
        else:
            raise self.refusal(instruction, "this use of the stack is not supported")

    def _slot(self, memory: Mem) -> int | None:
        """Return the stack slot of a memory operand, as its offset from rsp at entry, or None for another operand."""
        if memory.base != _RSP or memory.index is not None or memory.segment:
            return None
        return memory.displacement - self.depth

    # ---- moves

    def _moved(self, instruction: Decoded) -> bool:
        """Record a move of a whole value between registers or stack slots. Return whether the instruction is one."""
        if instruction.mnemonic not in _MOVES or instruction.mask is not None or len(instruction.operands) != 2:
            return False
        to, source = instruction.operands
        if isinstance(to, Mem):
            slot = self._slot(to)
            if slot is None:
                return False
            if not isinstance(source, Reg):
                raise self.refusal(instruction, "this use of the stack is not supported")
            value = self.at[source.full]
            cut = source.bits != to.bits or (isinstance(value, int) and self.bits[value] > to.bits)
            junk = value in range(self.given, len(self.parameters))  # in a register that holds no argument
            if cut and not (source.file == "vector" and junk):
                raise self.refusal(instruction, "storing a part of a register is not supported")
            self.slots[slot] = value
            return True
        if not isinstance(to, Reg):
            return False
        if isinstance(source, Mem):
            slot = self._slot(source)
            if slot is None or slot not in self.slots:
                return False
            value = self.slots[slot]
            if self.file_of(value) != to.file or source.bits != to.bits:
                return False
            self.at[to.full] = value
            return True
        if not isinstance(source, Reg) or source.file != to.file or to.bits < 64:
            return False
        value = self.at[source.full]
        whole = to.bits == source.bits == 64 if to.file != "vector" else instruction.mnemonic not in ("movq", "vmovq")
        if not whole or (to.file == "vector" and isinstance(value, int) and self.bits[value] > to.bits):
            return False
        self.at[to.full] = value
        return True

    def file_of(self, arg: Argument) -> RegisterFile:
        files = Program(tuple(self.parameters), tuple(self.steps), ()).files
        return arg.file if isinstance(arg, Known) else files[arg]

    # ---- operations

    def _operation(self, instruction: Decoded) -> None:
        if instruction.flags_read and (instruction.flags_read != {"cf"} or self.setter is None):
            raise self.refusal(instruction, "code that reads flags is not supported, but for the carry of an operation")
        if instruction.mask is not None:
            raise self.refusal(instruction, "write masks are not supported")
        if not instruction.writes and not instruction.stores:
            return  # a comparison sets only flags, and instructions that read flags are refused
        first = instruction.operands[0] if instruction.operands else None
        if isinstance(first, Mem):
            self._write(instruction, first)
            return
        if not isinstance(first, Reg) or instruction.writes != {first.full}:
            raise self.refusal(instruction, "instructions with several results are not supported")
        if first.file == "general" and first.bits < 32:
            raise self.refusal(instruction, "writing a part of a register is not supported")
        reading = _Reading(self, instruction)
        result = Hole("d", _file(first), first.bits)
        parts = (result, *(reading.part(operand) for operand in instruction.operands[1:]))
        over = overwrites(instruction.mnemonic, parts)
        if over:
            parts = tuple(_after_first(part) for part in parts)
            reading.args.insert(0, self.at[first.full])
        if len(reading.args) > 3:
            raise self.refusal(instruction, "instructions with more than three arguments are not supported")
        files = tuple(self.file_of(arg) for arg in reading.args)
        name = instruction.mnemonic
        plain = _NAMES.get(name, "lifted") if first.bits != 32 else "lifted"
        op = "nonzero-bytes-mask" if first.file == "mask" else plain
        if op in ("and", "or", "xor", "add") and len(reading.args) != 2:
            op = "lifted"
        row: Row = Spelling(op, name, "", file=_file(first), parts=parts, over=over)
        form = folding(Form(row, op, None, files, _file(first), first.bits))
        if name == "vpternlogq" and self.target.has("ternary", 2) and isinstance(parts[-1], int):
            (own,) = (row for row in self.target.rows if row.op == "ternary")
            form = Form(own, "ternary", parts[-1], files, "vector", first.bits)
        if instruction.flags_read and self.setter is not None:
            form = replace(form, carry=self.setter.form)
            reading.args += [*self.setter.args, self.setter.number]
        known = self._known(form, reading.args, instruction)
        if known is not None:
            self.at[first.full] = known
            return
        number = self._number()
        self.steps.append(ProgramStep(number, form, tuple(reading.args), instruction.title))
        self.bits[number] = first.bits
        self.at[first.full] = number

    def _known(self, form: Form, args: list[Argument], instruction: Decoded) -> Known | None:
        """Return the result as a constant if it folds to one for arbitrary arguments, as a xor a does, else None."""
        domain = Samples(_CONSTANT)
        given = []
        for place, arg in enumerate(args):
            lanes = 8 if self.file_of(arg) == "vector" else 1
            words = [domain.of(_arbitrary(place, lane, at) for at in range(_CONSTANT)) for lane in range(lanes)]
            given.append(arg.words if isinstance(arg, Known) else words)
        # Equal arguments get equal samples.
        given = [given[args.index(arg)] for arg in args]
        try:
            result = form.result(domain, [tuple(lanes) for lanes in given])
        except SemanticsError as error:
            raise self.refusal(instruction, str(error)) from None
        return Known(tuple(result)) if all(isinstance(lane, int) for lane in result) else None

    def _write(self, instruction: Decoded, memory: Mem) -> None:
        pointer = self.at.get(memory.base.full) if memory.base is not None else None
        source = instruction.operands[-1]
        moved = instruction.mnemonic in _MOVES | {"vmovlps", "movlps"} and len(instruction.operands) == 2
        to_results = (
            isinstance(pointer, int) and pointer < self.given and self.task.arguments[pointer].kind == "results"
        )
        whole = memory.index is None and memory.bits % 64 == 0
        if not (moved and to_results and whole and isinstance(source, Reg) and isinstance(pointer, int)):
            raise self.refusal(instruction, "this store is not supported")
        value = self.at[source.full]
        parts = (
            Address(memory.bits, Hole("a", "general", 64), None, 1, memory.displacement),
            Hole("b", _file(source), source.bits),
        )
        row = Spelling("put", instruction.mnemonic, "", file=_file(source), parts=parts)
        form = Form(row, "put", None, ("general", _file(source)), None, memory.bits)
        self.steps.append(ProgramStep(self._number(), form, (pointer, value), instruction.title))

    def _number(self) -> int:
        return len(self.parameters) + len(self.steps)

    def end(self) -> Program:
        for name in self.task.saved:
            if self.at[name] != self.entry[name]:
                raise SearchError(f"{name} is not restored, as the convention demands: restore it, or change --abi")
        results = [self.at[r.place.register] for r in self.task.results if r.place.file in ("general", "vector")]
        return Program(tuple(self.parameters), tuple(self.steps), tuple(results)).needed()


@dataclass
class _Reading:
    """The arguments of one instruction, in the order of its operands."""

    lifting: _Lifting
    instruction: Decoded
    args: list[Argument] = field(default_factory=list)

    def take(self, value: Argument) -> str:
        self.args.append(value)
        return "abc"[min(len(self.args), 3) - 1]

    def hole(self, register: Reg) -> Hole:
        if register.file == "other" or register.low or register.bits == 16 or register.full == "rsp":
            raise self.lifting.refusal(self.instruction, f"the register {register.name} is not supported")
        letter = self.take(self.lifting.at[register.full])
        return Hole(letter, _file(register), register.bits)

    def part(self, operand: Reg | Imm | Mem) -> Written:
        if isinstance(operand, Reg):
            return self.hole(operand)
        if isinstance(operand, Imm):
            return signed(operand.value)
        if self.instruction.mnemonic == "lea":
            base = self.hole(operand.base) if operand.base else None
            index = self.hole(operand.index) if operand.index else None
            if operand.target is not None:
                raise self.lifting.refusal(self.instruction, "the address of data is not supported")
            return Address(operand.bits, base, index, operand.scale, operand.displacement)
        return self._memory(operand)

    def _memory(self, memory: Mem) -> Hole:
        """Return a hole for a stack slot or read-only data, as if in a register. Raises SearchError for others."""
        slot = self.lifting._slot(memory)
        first = self.instruction.operands[0]
        vectors = any(isinstance(o, Reg) and o.file == "vector" for o in self.instruction.operands)
        file: RegisterFile = "vector" if vectors and "pinsr" not in self.instruction.mnemonic else "general"
        if slot is not None and slot in self.lifting.slots and not memory.broadcast:
            value = self.lifting.slots[slot]
            if self.lifting.file_of(value) == file and (file == "vector" or memory.bits == 64):
                return Hole(self.take(value), file, memory.bits)
        words = self._constant(memory)
        if words is None:
            raise self.lifting.refusal(self.instruction, "this memory operand is not supported")
        if file == "vector":
            wide = max(128, memory.bits)
            if memory.broadcast and isinstance(first, Reg):
                wide = max(o.bits for o in self.instruction.operands if isinstance(o, Reg))
            lanes = words * (wide // 64) if memory.broadcast else words
            known = Known((*lanes[:8], *(0,) * (8 - len(lanes))))
            return Hole(self.take(known), "vector", wide)
        if file != "general" or memory.bits not in (32, 64):
            raise self.lifting.refusal(self.instruction, "this memory operand is not supported")
        return Hole(self.take(Known(words)), "general", memory.bits)

    def _constant(self, memory: Mem) -> tuple[int, ...] | None:
        """Return the words of read-only data that an operand reads, or None if they are unknown."""
        if memory.target is None or memory.bits not in (32, 64, 128, 256, 512):
            return None
        image = self.lifting.image
        place = image.targets.get(self.instruction.offset, image.place(memory.target))
        low = signed(place.offset)
        area = image.area(place.base, low, low + memory.bits // 8)
        if area is None or low < area.low or low + memory.bits // 8 > area.high:
            return None
        step = min(8, memory.bits // 8)
        words = [image.read(area, low + at, step) for at in range(0, memory.bits // 8, step)]
        known = tuple(word for word in words if isinstance(word, int))
        return known if len(known) == len(words) else None


_RSP = Reg("rsp", 64, "general", "rsp")


def _file(register: Reg) -> RegisterFile:
    if register.file == "other":
        raise SearchError(f"the register {register.name} is not supported")
    return register.file


def _after_first(part: Written) -> Written:
    """Return a part with the letters of its arguments advanced by one: a becomes b, and b becomes c."""
    if isinstance(part, Address):
        base, index = (hole and replace(hole, letter=_NEXT[hole.letter]) for hole in (part.base, part.index))
        return replace(part, base=base, index=index)
    return replace(part, letter=_NEXT[part.letter]) if isinstance(part, Hole) else part


_NEXT = {"d": "d", "a": "b", "b": "c", "c": "c"}


def _arbitrary(place: int, lane: int, sample: int) -> int:
    return (0x9E37_79B9_7F4A_7C15 * (1 + place * 64 + lane * 8 + sample)) % (1 << 64)


def lift(binary: Binary, task: Task, target: Target) -> Program:
    """Return the program of straight-line code. Raises SearchError, with a one-line message, for unsupported code."""
    instructions = decode(binary.text)
    if not instructions or instructions[-1].flow != "return":
        raise SearchError("only code that ends in ret can be searched")
    for instruction in instructions[:-1]:
        if instruction.flow != "next":
            raise SearchError(f"{instruction.title}: jumps and calls are not supported")
    lifting = _Lifting(MemoryImage(binary), task, target)
    lifting.begin()
    for instruction in instructions[:-1]:
        try:
            lifting.lift(instruction)
        except NotEncodable:
            raise lifting.refusal(instruction, "it has no form of registers alone: load by a move first") from None
    return lifting.end()
