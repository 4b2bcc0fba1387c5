"""Encoding of one instruction by PeachPy's instruction objects, without its functions or register allocation."""

from typing import Any

import peachpy.x86_64
from peachpy.stream import NullStream
from peachpy.x86_64 import registers
from peachpy.x86_64.operand import MemoryAddress, MemoryOperand, RIPRelativeOffset

from setwise.codegen.assemble.labels import NotEncodable
from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register

_REGISTERS = {
    ("general", 8): registers.GeneralPurposeRegister8,
    ("general", 16): registers.GeneralPurposeRegister16,
    ("general", 32): registers.GeneralPurposeRegister32,
    ("general", 64): registers.GeneralPurposeRegister64,
    ("vector", 128): registers.XMMRegister,
    ("vector", 256): registers.YMMRegister,
    ("vector", 512): registers.ZMMRegister,
}


def _register(register: Register) -> Any:
    if register.file == "mask":
        return registers.KRegister(register.number)
    return _REGISTERS[register.file, register.bits](register.number)


def encode(instruction: Instruction, distance: int) -> bytes:
    """Return the shortest encoding, VEX before EVEX, for a `distance` as of `Encode`, or raise NotEncodable."""
    made_by = getattr(peachpy.x86_64, instruction.mnemonic.upper(), None)
    if not isinstance(made_by, type):
        raise NotEncodable(f"PeachPy has no instruction {instruction.mnemonic!r}: use the assembler 'iced'")
    try:
        operands = [_operand(operand, instruction, distance) for operand in instruction.operands]
        if instruction.operands and isinstance(instruction.operands[0], Register):
            operands[0] = _masked(operands[0], instruction)
        with NullStream():
            form = made_by(*operands)
        texts = _texts(form, instruction)
    except (AssertionError, AttributeError, SyntaxError, TypeError, ValueError) as problem:
        raise NotEncodable(f"PeachPy cannot encode {instruction.mnemonic}: {problem}") from problem
    if not texts:
        raise NotEncodable(f"PeachPy has no encoding of {instruction.mnemonic} with these operands: use 'iced'")
    return min(texts, key=lambda text: (text[0] == 0x62, len(text)))


def _texts(form: Any, instruction: Instruction) -> list[bytes]:
    """Return the possible encodings of a form, those that PeachPy 0.2 gets wrong left out or corrected."""
    last = instruction.operands[-1] if instruction.operands else None
    if instruction.mnemonic == "imul" and isinstance(last, int) and 128 <= last <= 255:
        # PeachPy's first encoding has an 8-bit immediate, which the processor sign-extends.
        return [bytes(encoding(form.operands)) for _, encoding in form.encodings[1:]]
    element = next(
        (operand for operand in instruction.operands if isinstance(operand, Memory) and operand.broadcast), None
    )
    if element is not None and element.base is not None and element.displacement:
        # PeachPy scales the displacement by the vector size, but the unit is the size of the broadcast element.
        whole, rest = divmod(element.displacement, element.bits // 8)
        if rest or not -128 <= whole <= 127:
            return [bytes(encoding(form.operands, min_disp=4)) for _, encoding in form.encodings]
        form.memory_address.displacement = whole * _vector_bits(instruction) // 8
    return [bytes(text) for text in form.encode_options()]


def _operand(operand: Operand, instruction: Instruction, distance: int) -> Any:
    if isinstance(operand, Register):
        return _register(operand)
    if isinstance(operand, Label):
        return RIPRelativeOffset(distance)
    if isinstance(operand, int):
        return operand
    if operand.symbol is not None:
        address = RIPRelativeOffset(distance)
        address.base = address.index = None  # PeachPy's tests for an index register read these attributes
    else:
        address = MemoryAddress(
            None if operand.base is None else _register(operand.base),
            None if operand.index is None else _register(operand.index),
            None if operand.index is None else operand.scale,
            operand.displacement,
        )
    stored = operand is instruction.operands[0] and instruction.mask is not None
    return MemoryOperand(
        address,
        operand.bits // 8,
        _mask(instruction) if stored else None,
        _vector_bits(instruction) // operand.bits if operand.broadcast else None,
    )


def _masked(register: Any, instruction: Instruction) -> Any:
    assert isinstance(instruction.operands[0], Register)
    if instruction.operands[0].file == "mask" and instruction.mnemonic.startswith("v"):
        # Without an explicit write mask, PeachPy also uses the destination mask register of a comparison as one.
        return registers.MaskedRegister(register, _mask(instruction))
    return register if instruction.mask is None else registers.MaskedRegister(register, _mask(instruction))


def _mask(instruction: Instruction) -> Any:
    mask = instruction.mask or Register("mask", 0, 64)
    return registers.RegisterMask(_register(mask), instruction.zeroing)


def _vector_bits(instruction: Instruction) -> int:
    return max(
        operand.bits for operand in instruction.operands if isinstance(operand, Register) and operand.file == "vector"
    )
