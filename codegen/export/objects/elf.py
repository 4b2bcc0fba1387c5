"""Writer of ELF relocatable objects (System V ABI, AMD64 supplement): .o files of Linux and the BSDs."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from setwise.codegen.export.objects.relocatable import ObjectFile, Role, Section

_PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOTE = 1, 2, 3, 4, 7
_ALLOC, _EXECINSTR, _INFO_LINK = 2, 4, 0x40
_SECTIONS: Mapping[Role, tuple[str, int]] = {
    "text": (".text", _ALLOC | _EXECINSTR),
    "data": (".rodata", _ALLOC),
    "remark": (".comment", 0),
}
"""The name and flags of a section, by its role."""
_PC32 = 2
_GLOBAL_FUNCTION, _LOCAL_SECTION = 0x12, 0x03
_SYMBOL, _RELOCATION, _HEADER = 24, 24, 64


@dataclass(frozen=True)
class _SectionHeader:
    """An entry of the section header table, with the section's content."""

    name: str
    kind: int
    flags: int = 0
    content: bytes = b""
    link: int = 0
    info: int = 0
    alignment: int = 1
    entry: int = 0


def elf(file: ObjectFile) -> bytes:
    """Return the bytes of the ELF file. Sections for Win64 unwinding are left out, since no ELF system uses them."""
    sections = [section for section in file.sections if section.role in _SECTIONS]
    numbers = {section.role: at for at, section in enumerate(sections, 1)}
    with_relocations = [section for section in sections if section.relocations]
    symbol_table = len(sections) + len(with_relocations) + 1
    headers = [_SectionHeader("", 0)]
    for section in sections:
        name, flags = _SECTIONS[section.role]
        headers.append(_SectionHeader(name, _PROGBITS, flags, section.content, alignment=section.alignment))
    for section in with_relocations:
        name, entries = f".rela{_SECTIONS[section.role][0]}", _relocations(section, numbers)
        places = symbol_table, numbers[section.role], 8, _RELOCATION
        headers.append(_SectionHeader(name, _RELA, _INFO_LINK, entries, *places))
    size = len(sections[0].content)
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    symbols += b"".join(struct.pack("<IBBHQQ", 0, _LOCAL_SECTION, 0, number, 0, 0) for number in numbers.values())
    symbols += struct.pack("<IBBHQQ", 1, _GLOBAL_FUNCTION, 0, numbers["text"], 0, size)
    names = b"\0" + file.symbol.encode() + b"\0"
    headers.append(_SectionHeader(".symtab", _SYMTAB, 0, symbols, symbol_table + 1, 1 + len(numbers), 8, _SYMBOL))
    headers.append(_SectionHeader(".strtab", _STRTAB, content=names))
    # An empty note without the execute flag requests a non-executable stack.
    headers.append(_SectionHeader(".note.GNU-stack", _PROGBITS))
    if file.endbr64:
        headers.append(_SectionHeader(".note.gnu.property", _NOTE, _ALLOC, _property_note(), alignment=8))
    return _laid_out(headers)


def _relocations(section: Section, symbols: Mapping[Role, int]) -> bytes:
    """Return the section's relocations. `symbols` gives the number of the symbol of each section, by role."""
    return b"".join(
        struct.pack("<QQq", relocation.offset, symbols[relocation.target] << 32 | _PC32, relocation.addend)
        for relocation in section.relocations
    )


def _property_note() -> bytes:
    """Return a note with GNU_PROPERTY_X86_FEATURE_1_AND: IBT, and SHSTK because all returns are plain."""
    description = struct.pack("<IIII", 0xC000_0002, 4, 3, 0)
    return struct.pack("<III4s", 4, len(description), 5, b"GNU\0") + description


def _laid_out(headers: list[_SectionHeader]) -> bytes:
    """Return the file: the ELF header, the content of all sections, and the section header table."""
    names = [*(header.name.encode() + b"\0" for header in headers), b".shstrtab\0"]
    places = accumulate(map(len, names), initial=0)
    headers = [*headers, _SectionHeader(".shstrtab", _STRTAB, content=b"".join(names))]
    block = bytearray(_HEADER)
    offsets = []
    for header in headers:
        block += bytes(-len(block) % header.alignment)
        offsets.append(len(block) if header.kind else 0)
        block += header.content
    block += bytes(-len(block) % 8)
    table = len(block)
    for header, name, offset in zip(headers, places, offsets, strict=False):
        alignment = header.alignment if header.kind else 0
        sizes = (offset, len(header.content), header.link, header.info, alignment, header.entry)
        block += struct.pack("<IIQQQQIIQQ", name, header.kind, header.flags, 0, *sizes)
    identity = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)  # 64 bits, little-endian, version 1, System V
    counts = (_HEADER, 0, 0, 64, len(headers), len(headers) - 1)
    block[:_HEADER] = identity + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, *counts)
    return bytes(block)
