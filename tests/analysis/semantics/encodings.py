"""Every encoding that the semantics follow as instructions: of registers, of memory, broadcast and masked.

They are made from iced's description of each encoding, so none can be forgotten; `forms` has what matters beside,
such as edges of counts. rsi points to memory here too.
"""

import re
from collections.abc import Iterator
from itertools import product

import iced_x86 as iced

from setwise.analysis.semantics.table import FOLLOWED

_NUMBERS = {
    "8": iced.OpKind.IMMEDIATE8,
    "16": iced.OpKind.IMMEDIATE16,
    "32": iced.OpKind.IMMEDIATE32,
    "64": iced.OpKind.IMMEDIATE64,
    "8sex16": iced.OpKind.IMMEDIATE8TO16,
    "8sex32": iced.OpKind.IMMEDIATE8TO32,
    "8sex64": iced.OpKind.IMMEDIATE8TO64,
    "32sex64": iced.OpKind.IMMEDIATE32TO64,
}
_GENERAL = {
    "8": ("DL", "CL", "AL"),
    "16": ("DX", "CX", "AX"),
    "32": ("EDX", "ECX", "EAX"),
    "64": ("RDX", "RCX", "RAX"),
}
_CODES = {name.lower(): code for name, code in vars(iced.Code).items() if name.isupper()}
_KINDS = {kind: name.lower() for name, kind in vars(iced.OpCodeOperandKind).items() if name.isupper()}
# They go elsewhere: test_machines.py has them in programs of a few instructions.
FLOW = frozenset(name for name in FOLLOWED if re.match(r"j[a-z]+_|call_|retn", name))


def encoded(name: str, memory: int) -> list[bytes]:
    """Instructions in that encoding, with each kind of operand and way of masking; `memory` is the fixed address."""
    info = iced.OpCodeInfo(_CODES[name])
    kinds = [_KINDS[info.op_kind(place)] for place in range(info.op_count)]
    either, always = any(kind.endswith("or_mem") for kind in kinds), "mem" in kinds
    made = []
    chosen = product(*([False, True] if chance else [False] for chance in (either, True, True, True)))
    for (in_memory, broadcast, masked, zeroing), number in product(chosen, (3, 0xB5, 0xC1)):
        in_memory = in_memory or always
        if (broadcast and not (in_memory and info.can_broadcast)) or (zeroing and not masked):
            continue
        if (masked and not info.can_use_op_mask_register) or (zeroing and not info.can_use_zeroing_masking):
            continue
        if number != 3 and not any(kind in ("imm8", "imm16", "imm32") for kind in kinds):
            continue
        instruction = iced.Instruction()
        instruction.code, instruction.is_broadcast, instruction.zeroing_masking = _CODES[name], broadcast, zeroing
        if masked:
            instruction.op_mask = iced.Register.K1
        for place, kind in enumerate(kinds):
            _operand(instruction, place, kind, memory if kind == "mem_offs" else in_memory, number)
        encoder = iced.Encoder(64)
        encoder.encode(instruction, 0)
        made.append(encoder.take_buffer())
    return made


def _operand(instruction: iced.Instruction, place: int, kind: str, in_memory: bool | int, number: int) -> None:
    if kind == "mem" or (in_memory and kind.endswith("or_mem")):
        instruction.set_op_kind(place, iced.OpKind.MEMORY)
        instruction.memory_base = iced.Register.RSI
    elif kind == "mem_offs":
        instruction.set_op_kind(place, iced.OpKind.MEMORY)
        instruction.memory_displacement, instruction.memory_displ_size = in_memory, 8
    elif kind.startswith("imm"):
        constant = kind.endswith("const_1")
        instruction.set_op_kind(place, _NUMBERS["8" if constant else kind[3:]])
        instruction.set_immediate_i32(place, 1 if constant else number)
    else:
        instruction.set_op_kind(place, iced.OpKind.REGISTER)
        instruction.set_op_register(place, getattr(iced.Register, _register(kind, place)))


def _register(kind: str, place: int) -> str:
    general = re.match(r"r(\d+)_", kind)
    if general is not None:
        return _GENERAL[general[1]][place]
    file = re.match(r"([xyz]mm|k)_", kind)
    return kind.upper() if file is None else f"{file[1]}{place + 1}".upper()


def every(memory: int) -> Iterator[tuple[str, bytes]]:
    """Encodings with their instructions; memory lies at that address."""
    for name in sorted(FOLLOWED - FLOW):
        for raw in encoded(name, memory):
            yield name, raw
