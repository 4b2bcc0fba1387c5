"""A kernel as a relocatable object file, before it is known for which system: sections, symbols, relocations.

No library on PyPI that is looked after writes such files: LIEF changes files that there are and says that it makes none
afresh, makeelf rests since 2019 and knows ELF alone, and llvmlite, which could make all three, is 57 MB and brings an
assembler of its own between our bytes and the file. So elf, coff, macho and archive write the few structures that one
function and its constants need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from setwise.codegen.assemble import assemble
from setwise.codegen.export.names import symbol
from setwise.codegen.export.prototypes import VECTORS, boards_a_call
from setwise.codegen.export.unwind import prologue, unwind_info
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Instruction, Item, Label

Role = Literal["text", "data", "unwind", "frames", "remark"]


@dataclass(frozen=True, slots=True)
class Relocation:
    """A 4-byte field that waits for addresses: that of the target section, plus `addend`, minus, where it is
    `relative`, the field's own; else it counts from the start of the image.
    """

    offset: int
    target: Role
    addend: int
    relative: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """Bytes that lie together: the code, its read-only data, how to unwind (Win64), and for which code that holds.

    A remark is for people who look into the file: linkers leave it out, or put it where it is not loaded.
    """

    role: Role
    content: bytes
    alignment: int
    relocations: tuple[Relocation, ...] = ()

    def with_addends(self, addend: Callable[[Relocation], int]) -> bytes:
        """The content with these addends in its fields, for formats that keep them there."""
        block = bytearray(self.content)
        for relocation in self.relocations:
            block[relocation.offset : relocation.offset + 4] = addend(relocation).to_bytes(4, "little", signed=True)
        return bytes(block)


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """One function, global at the start of its code; all fields that relocations speak of are zero."""

    symbol: str
    sections: tuple[Section, ...]
    endbr64: bool = False
    """Whether every place that an indirect jump or call may go to has an endbr64."""
    decorated: str = ""
    """Another name of the function, which Windows compilers give to one that takes vectors."""


def object_file(kernel: Kernel, remark: str = "") -> ObjectFile:
    """The kernel's object; where Win64 asks for it, with what the system needs to unwind its stack."""
    code, assembled = kernel.code, assemble(kernel.code)
    text = tuple(
        Relocation(fixup.offset, "data", assembled.symbols[fixup.label] + fixup.addend)
        for fixup in assembled.text_fixups
    )
    sections = [Section("text", assembled.text, 16, text)]
    if assembled.data:
        data = tuple(
            Relocation(fixup.offset, "text", assembled.labels[fixup.label] + fixup.addend)
            for fixup in assembled.data_fixups
        )
        sections.append(Section("data", assembled.data, assembled.data_alignment, data))
    unwinding = unwind_info(prologue(code, assembled)) if kernel.convention.name == "win64" else b""
    if unwinding:
        entry = (Relocation(0, "text", 0, False), Relocation(4, "text", len(assembled.text), False))
        sections.append(Section("unwind", unwinding, 4))
        sections.append(Section("frames", bytes(12), 4, (*entry, Relocation(8, "unwind", 0, False))))
    if remark:
        sections.append(Section("remark", remark.encode("ascii") + b"\0", 1))
    return ObjectFile(symbol(kernel), tuple(sections), code.begins_with_endbr64, _decorated(kernel))


def _decorated(kernel: Kernel) -> str:
    """As __vectorcall names functions: behind the name the bytes of the parameters."""
    lanes = boards_a_call(kernel)
    if kernel.convention.name != "win64" or lanes not in VECTORS:
        return ""
    taken = sum(8 if parameter.scalar else 8 * lanes for parameter in kernel.routine.contract.parameters)
    return f"{symbol(kernel)}@@{taken}"


def with_endbr64(kernel: Kernel) -> Kernel:
    """The kernel with endbr64 at its start and wherever its tables of jumps lead, for processors that check.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> with_endbr64(lower(find("dumb7.attacks.sout"))).code.instructions[0].mnemonic
    'endbr64'
    """
    code = kernel.code
    reached = {value.name for datum in code.data for value in datum.values if isinstance(value, Label)}
    landing = Instruction("endbr64")
    items: list[Item] = [landing]
    for item in code.items:
        items.append(item)
        if isinstance(item, Label) and item.name in reached:
            items.append(landing)
    return replace(kernel, code=replace(code, items=tuple(items)))
