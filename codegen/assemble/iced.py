"""Encoding of one instruction by iced-x86. The instruction form is chosen by iced's own description of every opcode."""

from dataclasses import replace
from functools import cache

import iced_x86
from iced_x86 import EncodingKind, MemorySizeInfo, Mnemonic, OpCodeInfo, OpCodeOperandKind, OpKind

from setwise.codegen.assemble.labels import NotEncodable
from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register

# By iced's kind of operand in an opcode: bits of the immediate field, bits after sign extension, OpKind to encode it.
_IMMEDIATES = {
    "IMM8": (8, 8, OpKind.IMMEDIATE8),
    "IMM8SEX32": (8, 32, OpKind.IMMEDIATE8TO32),
    "IMM8SEX64": (8, 64, OpKind.IMMEDIATE8TO64),
    "IMM32": (32, 32, OpKind.IMMEDIATE32),
    "IMM32SEX64": (32, 64, OpKind.IMMEDIATE32TO64),
    "IMM64": (64, 64, OpKind.IMMEDIATE64),
}
_CONDITIONS = {
    "z": "e", "nz": "ne", "c": "b", "nc": "ae", "nae": "b", "nb": "ae", "na": "be", "nbe": "a",
    "nge": "l", "nl": "ge", "ng": "le", "nle": "g", "pe": "p", "po": "np",
}  # fmt: skip


_KIND_NAMES = {value: name for name, value in vars(OpCodeOperandKind).items() if isinstance(value, int)}


@cache
def _opcodes() -> dict[int, list[OpCodeInfo]]:
    """Return all opcodes of 64-bit mode by iced's mnemonic number, without those that need a decoder option."""
    opcodes: dict[int, list[OpCodeInfo]] = {}
    for name in vars(iced_x86.Code):
        if name.isupper():
            info = OpCodeInfo(getattr(iced_x86.Code, name))
            if info.is_instruction and info.mode64 and not info.decoder_option:
                opcodes.setdefault(info.mnemonic, []).append(info)
    return opcodes


def _forms(mnemonic: str) -> list[OpCodeInfo]:
    for prefix in ("cmov", "set", "j"):
        if mnemonic.startswith(prefix) and mnemonic.removeprefix(prefix) in _CONDITIONS:
            mnemonic = prefix + _CONDITIONS[mnemonic.removeprefix(prefix)]
    return _opcodes().get(getattr(Mnemonic, mnemonic.upper(), -1), [])


def _kinds(form: OpCodeInfo) -> list[str]:
    return [_KIND_NAMES[kind] for kind in form.op_kinds()]


def _fits(form: OpCodeInfo, kind: str, operand: Operand) -> bool:
    """Return whether a form takes an operand as this kind. A register always passes: iced's encoder checks it later."""
    if isinstance(operand, Register):
        return True
    if isinstance(operand, Memory):
        if not (kind == "MEM" or kind.endswith("_OR_MEM")):
            return False
        if operand.broadcast:
            element = MemorySizeInfo(form.broadcast_memory_size).element_size
            return form.can_broadcast and operand.bits == 8 * element
        return 8 * MemorySizeInfo(form.memory_size).size in (0, operand.bits)
    if isinstance(operand, Label):
        return kind.startswith("BR64_")
    if kind == "IMM8_CONST_1":
        return operand == 1
    return kind in _IMMEDIATES and _immediate(kind, operand) is not None


def _immediate(kind: str, value: int) -> int | None:
    """Return the value as iced takes it for this kind of operand, or None if it does not fit in the field."""
    field, width, _ = _IMMEDIATES[kind]
    if not -(1 << width - 1) <= value < 1 << width:
        return None
    if field == width:
        return value & (1 << width) - 1
    signed = value - (1 << width) if value >> width - 1 > 0 else value
    return signed if -(1 << field - 1) <= signed < 1 << field - 1 else None


def _register(register: Register) -> iced_x86._iced_x86_py.Register:
    name = register.name.upper()
    if register.file == "general" and register.bits == 8 and register.number > 7:
        name = name.replace("B", "L")
    number: iced_x86._iced_x86_py.Register = getattr(iced_x86.Register, name)
    return number


def encode(instruction: Instruction, distance: int) -> bytes:
    """Return the shortest encoding of `instruction`, for a `distance` as of `Encode`. Raise NotEncodable if none fits.

    Among equal lengths the one without W is preferred, then iced's first, as in other assemblers. VEX is preferred to
    EVEX at any length: only instructions that need AVX-512 may require it.
    """
    if instruction.mnemonic == "xchg" and str(instruction.operands[0]) in ("eax", "rax"):
        # The short form takes the accumulator as its last operand.
        instruction = replace(instruction, operands=instruction.operands[::-1])
    forms = _forms(instruction.mnemonic)
    if not forms:
        raise NotEncodable(f"iced-x86 has no instruction {instruction.mnemonic!r}")
    encodings = [
        (form.encoding == EncodingKind.EVEX, len(text), form.operand_size == 64 or form.w == 1, text)
        for form in forms
        if _accepts(form, instruction) and (text := _encode(form, instruction, distance)) is not None
    ]
    if not encodings:
        operands = ", ".join(map(str, instruction.operands))
        raise NotEncodable(f"iced-x86 has no form of {instruction.mnemonic} for the operands {operands}")
    return min(encodings, key=lambda encoding: encoding[:3])[3]


def _accepts(form: OpCodeInfo, instruction: Instruction) -> bool:
    return (
        form.op_count == len(instruction.operands)
        and (instruction.mask is None or form.can_use_op_mask_register)
        and (not instruction.zeroing or form.can_use_zeroing_masking)
        and all(_fits(form, kind, operand) for kind, operand in zip(_kinds(form), instruction.operands, strict=True))
    )


def _encode(form: OpCodeInfo, instruction: Instruction, distance: int) -> bytes | None:
    encoded, kinds = iced_x86.Instruction.create(form.code), _kinds(form)
    branch = rip = False
    for at, (kind, operand) in enumerate(zip(kinds, instruction.operands, strict=True)):
        if isinstance(operand, Register):
            encoded.set_op_kind(at, OpKind.REGISTER)
            encoded.set_op_register(at, _register(operand))
        elif isinstance(operand, Memory):
            encoded.set_op_kind(at, OpKind.MEMORY)
            _set_memory(encoded, operand)
            rip = operand.symbol is not None
        elif isinstance(operand, Label):
            if kind == "BR64_1" and not -128 <= distance <= 127:
                return None
            encoded.set_op_kind(at, OpKind.NEAR_BRANCH64)
            branch = True
        else:
            encoded.set_op_kind(at, _IMMEDIATES[kind][2] if kind in _IMMEDIATES else OpKind.IMMEDIATE8)
            value = _immediate(kind, operand) if kind in _IMMEDIATES else operand
            encoded.set_immediate_u64(at, (value or 0) & (1 << 64) - 1)
    if instruction.mask is not None:
        encoded.op_mask = _register(instruction.mask)
        encoded.zeroing_masking = instruction.zeroing
    encoder = iced_x86.Encoder(64)
    try:
        encoder.encode(encoded, 0)
    except ValueError:
        return None
    text = encoder.take_buffer()
    if branch:
        size = 1 if kinds[0] == "BR64_1" else 4
        return text[:-size] + distance.to_bytes(size, "little", signed=True)
    if rip:
        field = encoder.get_constant_offsets().displacement_offset
        return text[:field] + distance.to_bytes(4, "little", signed=True) + text[field + 4 :]
    return text


def _set_memory(encoded: iced_x86.Instruction, memory: Memory) -> None:
    encoded.is_broadcast = memory.broadcast
    if memory.symbol is not None:
        encoded.memory_base = iced_x86.Register.RIP
        encoded.memory_displ_size = 8
        return
    if memory.base is not None:
        encoded.memory_base = _register(memory.base)
    if memory.index is not None:
        encoded.memory_index = _register(memory.index)
        encoded.memory_index_scale = memory.scale
    encoded.memory_displacement = memory.displacement & (1 << 64) - 1
    # A size of 1 lets iced choose the shortest field, scaled for EVEX. Without a base the field always has 4 bytes.
    encoded.memory_displ_size = 4 if memory.base is None else int(memory.displacement != 0)
