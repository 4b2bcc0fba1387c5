"""Writer of kernels in the Plan 9 syntax of Go's assembler, and their declarations in Go.

Arguments and result are on the stack (ABI0). Arguments are loaded into the registers of the System V kernel; those that
the kernel reads from the stack stay there. The kernel's instructions follow unchanged, without those that save and
restore registers: in Go only the frame pointer is callee-saved, and Go's assembler creates the frame. It encodes some
instructions in other bytes. It aligns data to at most 32 bytes, so constants of 64 bytes use an unaligned load.
"""

from collections.abc import Iterator, Mapping, Sequence

from setwise.codegen.assemble import assemble
from setwise.codegen.export.banner import about, command, counts_text
from setwise.codegen.export.listings.dialects import number_text
from setwise.codegen.export.names import go_name, symbol
from setwise.codegen.export.order import Facts
from setwise.codegen.export.prototypes import boards_a_call, returns
from setwise.codegen.export.sources.language import commented
from setwise.codegen.export.unwind import UnwindOperation, prologue, stack_bytes
from setwise.codegen.ir.routine import Parameter
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code, Datum, Instruction, Item, Label, Memory, Operand, Register, general
from setwise.codegen.targets import SCALARS
from setwise.codegen.targets.operands import RSP

RBP = general("rbp")

_LETTERS = ("AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI")
_SUFFIXES = {8: "B", 16: "W", 32: "L", 64: "Q"}
_VECTORS = {128: "X", 256: "Y", 512: "Z"}
_NAMES = {
    "jz": "JEQ", "jnz": "JNE", "je": "JEQ", "jne": "JNE", "jb": "JCS", "jae": "JCC", "js": "JMI", "jns": "JPL",
    "jmp": "JMP", "ret": "RET",
    "movdqa": "MOVO", "movdqu": "MOVOU", "movsxd": "MOVLQSX", "sete": "SETEQ", "setne": "SETNE",
}  # fmt: skip
_ALIGNED = 256  # in bits: the largest vector that Go's assembler aligns in data


def assembly(kernel: Kernel, facts: Facts) -> str:
    """Return a kernel in Go's assembly syntax. Raise a one-line ValueError if Go cannot express it."""
    _check(kernel)
    name = symbol(kernel)
    places, operations = list(_places(kernel)), prologue(kernel.code, assemble(kernel.code))
    given = len(kernel.routine.contract.parameters)
    figures = f"Counts: {counts_text(facts)}.", f"SHA-256: {facts.sha256} of the code."
    lines = commented(
        about(kernel, facts, *figures, f"Changes: {', '.join(facts.changed)}.", f"Made by {command(kernel, 'go')}.")
    )
    lines += ["", '#include "textflag.h"', ""]
    for datum in kernel.code.data:
        lines += [*_data(datum, name), ""]
    lines.append(f"// {declared(kernel)}")
    lines.append(f"TEXT ·{go_name(kernel)}(SB), NOSPLIT, ${_frame(operations)}-{8 * len(places)}")
    lines += [f"    MOVQ {at}, {_register(place)}" for at, place in places[:given] if isinstance(place, Register)]
    at_entry = stack_bytes(operations)
    arguments = {at_entry + place: at for at, place in places if isinstance(place, int)}
    for item in _body(kernel.code, operations):
        if isinstance(item, Label):
            lines.append(f"{item.name}:")
            continue
        if item.mnemonic == "ret" and returns(kernel):
            lines.append(f"    MOVQ {_register(kernel.convention.result)}, {places[-1][0]}")
        lines.append(f"    {_spelled(item, name, arguments)}")
    return "\n".join(lines) + "\n"


def _check(kernel: Kernel) -> None:
    """Raise ValueError for a kernel that Go cannot express."""
    if kernel.convention.name != "sysv":
        raise ValueError(f"Go uses its own calling convention, not {kernel.convention.name}: omit --abi")
    if boards_a_call(kernel) > 1:
        raise ValueError(
            f"{kernel.name} for {kernel.target.name} takes vectors, which Go cannot pass: "
            f"use {', '.join(SCALARS)} or a routine over arrays (.batch)"
        )
    if any(isinstance(value, Label) for datum in kernel.code.data for value in datum.values):
        remedy = "use another format, or --variant compares"
        raise ValueError(f"{kernel.name} has a jump table, which Go's assembler does not support: {remedy}")


def _body(code: Code, operations: Sequence[UnwindOperation]) -> Iterator[Item]:
    """Yield the code without its prologue (`operations`) and epilogue, with the final ret."""
    saved = {operation.item for operation in operations}
    *rest, end = (item for at, item in enumerate(code.items) if at not in saved)
    while saved and isinstance(rest[-1], Instruction) and _restores(rest[-1]):
        rest.pop()
    yield from (*rest, end)


def _restores(instruction: Instruction) -> bool:
    return instruction.mnemonic == "pop" or (instruction.mnemonic == "add" and instruction.operands[0] == RSP)


def _frame(operations: Sequence[UnwindOperation]) -> int:
    """Return the frame size in bytes: the spill slots, at least 8 if rbp is saved, as Go saves it only in a frame."""
    slots = sum(operation.amount for operation in operations if operation.kind == "allocate")
    return slots or 8 * any(operation.register == RBP for operation in operations)


def _places(kernel: Kernel) -> Iterator[tuple[str, Register | int]]:
    """Yield Go's name of each word of the argument frame, with its place in the kernel; the result comes last.

    The place is a register, or for an argument that the kernel reads from the stack the offset from rsp at entry.
    """
    contract, convention = kernel.routine.contract, kernel.convention
    places = convention.places([1] * len(contract.parameters))
    for number, (parameter, place) in enumerate(zip(contract.parameters, places, strict=True)):
        yield f"{parameter.name}+{8 * number}(FP)", place
    if returns(kernel):
        yield f"{contract.results[0]}+{8 * len(places)}(FP)", convention.result


def declared(kernel: Kernel, name: str = "") -> str:
    """Return the declaration of the kernel's function, or of one with another name and without a name of its result."""
    contract = kernel.routine.contract
    parameters = ", ".join(f"{parameter.name} {_type(kernel, parameter)}" for parameter in contract.parameters)
    result = " uint64" if name else f" ({contract.results[0]} uint64)"
    return f"func {name or go_name(kernel)}({parameters}){result if returns(kernel) else ''}"


def _type(kernel: Kernel, parameter: Parameter) -> str:
    if parameter.kind == "results":
        return f"*[{len(kernel.routine.contract.results)}]uint64"
    return "*uint64" if parameter.kind == "boards" else "uint64"


def _data(datum: Datum, name: str) -> Iterator[str]:
    where = f"{name}_{datum.label}<>"
    mask = (1 << 8 * datum.size) - 1
    for at, value in enumerate(datum.values):
        assert isinstance(value, int)
        yield f"DATA {where}+{datum.size * at}(SB)/{datum.size}, $0x{value & mask:0{2 * datum.size}x}"
    yield f"GLOBL {where}(SB), RODATA|NOPTR, ${datum.size * len(datum.values)}"


def _spelled(instruction: Instruction, name: str, arguments: Mapping[int, str]) -> str:
    """Return an instruction in Go's syntax, with its operands in reverse order, except for cmp.

    `name` is the kernel's symbol. `arguments` gives Go's names of stack arguments by their distance from rsp.
    """
    mnemonic, operands = instruction.mnemonic, instruction.operands
    words = [_operand(operand, name, arguments) for operand in operands]
    if mnemonic != "cmp":
        words.reverse()
    if instruction.mask is not None:
        words.insert(-1, _register(instruction.mask))
    broadcast = any(isinstance(operand, Memory) and operand.broadcast for operand in operands)
    ending = (".BCST" if broadcast else "") + (".Z" if instruction.zeroing else "")
    return f"{_mnemonic(instruction)}{ending} {', '.join(words)}".rstrip()


def _mnemonic(instruction: Instruction) -> str:
    name, operands = instruction.mnemonic, instruction.operands
    sizes = [operand.bits for operand in operands if isinstance(operand, Register | Memory)]
    if name in _NAMES:
        return _NAMES[name]
    if name == "movzx":
        return f"MOV{_SUFFIXES[sizes[1]]}{_SUFFIXES[sizes[0]]}ZX"
    if name == "vmovdqa64" and isinstance(operands[1], Memory) and operands[1].bits > _ALIGNED:
        return "VMOVDQU64"
    if not sizes or any(isinstance(operand, Register) and operand.file != "general" for operand in operands):
        return name.upper()
    if name == "imul" and len(operands) == 3:
        return f"IMUL3{_SUFFIXES[sizes[0]]}"
    return name.upper() + _SUFFIXES[sizes[0]]


def _operand(operand: Operand, name: str, arguments: Mapping[int, str]) -> str:
    if isinstance(operand, Register):
        return _register(operand)
    if isinstance(operand, Label):
        return operand.name
    if isinstance(operand, int):
        return f"${number_text(operand)}"
    if operand.symbol is not None:
        return f"{name}_{operand.symbol}<>+{operand.displacement}(SB)"
    if operand.base == RSP and operand.displacement in arguments:
        return arguments[operand.displacement]
    base = f"({_register(operand.base)})" if operand.base else ""
    index = f"({_register(operand.index)}*{operand.scale})" if operand.index else ""
    return f"{operand.displacement or ''}{base}{index}"


def _register(register: Register) -> str:
    if register.file == "vector":
        return f"{_VECTORS[register.bits]}{register.number}"
    if register.file == "mask":
        return f"K{register.number}"
    return _LETTERS[register.number] if register.number < 8 else f"R{register.number}"
