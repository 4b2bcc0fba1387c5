"""A kernel as a relocatable object file in no particular format: sections, symbols, relocations.

No small maintained library on PyPI writes such files: LIEF only modifies them, and llvmlite puts an assembler between
setwise's bytes and the file. So elf, coff, macho and archive write the few structures that a function needs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from setwise.codegen.assemble import assemble
from setwise.codegen.export.names import symbol
from setwise.codegen.export.prototypes import VECTORS, boards_a_call
from setwise.codegen.export.unwind import prologue, unwind_info
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Fixup, Instruction, Item, Label

Role = Literal["text", "data", "unwind", "frames", "remark"]


@dataclass(frozen=True, slots=True)
class Relocation:
    """A 4-byte field, at byte `offset` of its section, for an address in the section `target`.

    The value is the address of that section plus `addend`. A `relative` field holds that value minus its own
    address, another one that value relative to the start of the image.
    """

    offset: int
    target: Role
    addend: int
    relative: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """A section: the code, its read-only data, the unwind information (Win64) or its table of functions, or a remark.

    A remark is for human readers. Linkers drop it or place it where it is not loaded.
    """

    role: Role
    content: bytes
    alignment: int
    relocations: tuple[Relocation, ...] = ()

    def with_addends(self, addend: Callable[[Relocation], int]) -> bytes:
        """Return the content with `addend(relocation)` in each relocated field, for formats that keep addends there."""
        block = bytearray(self.content)
        for relocation in self.relocations:
            block[relocation.offset : relocation.offset + 4] = addend(relocation).to_bytes(4, "little", signed=True)
        return bytes(block)


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object file with one global function at the start of its code. Relocated fields are zero."""

    symbol: str
    sections: tuple[Section, ...]
    endbr64: bool = False
    """Whether every target of an indirect jump or call begins with endbr64."""
    decorated: str = ""
    """A second name of a Win64 function that takes vectors, as Windows compilers decorate it; empty for others."""


def object_file(kernel: Kernel, remark: str = "") -> ObjectFile:
    """Return the kernel's object file, for Win64 with its unwind information. `remark` is text for human readers."""
    code, assembled = kernel.code, assemble(kernel.code)

    def relocations(fixups: Iterable[Fixup], target: Role, places: Mapping[str, int]) -> tuple[Relocation, ...]:
        return tuple(Relocation(fixup.offset, target, places[fixup.label] + fixup.addend) for fixup in fixups)

    sections = [Section("text", assembled.text, 16, relocations(assembled.text_fixups, "data", assembled.symbols))]
    if assembled.data:
        data = relocations(assembled.data_fixups, "text", assembled.labels)
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
    """Return the __vectorcall name, with the parameters' size in bytes, of a Win64 kernel with vectors, else ''."""
    lanes = boards_a_call(kernel)
    if kernel.convention.name != "win64" or lanes not in VECTORS:
        return ""
    taken = sum(8 if parameter.scalar else 8 * lanes for parameter in kernel.routine.contract.parameters)
    return f"{symbol(kernel)}@@{taken}"


def with_endbr64(kernel: Kernel) -> Kernel:
    """Return the kernel with endbr64 at its start and at the targets of its jump tables, for processors with IBT.

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
