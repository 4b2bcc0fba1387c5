"""Writer of Mach-O relocatable objects (Apple's <mach-o/loader.h>, <mach-o/reloc.h>): .o files of macOS.

The file does not set MH_SUBSECTIONS_VIA_SYMBOLS, so linkers keep the code and the data whole. Symbols get a leading
underscore, as in C on macOS.
"""

import struct
from collections.abc import Mapping

from setwise.codegen.export.objects.relocatable import ObjectFile, Relocation, Role, Section

_SEGMENT, _SYMTAB, _DYSYMTAB, _BUILD_VERSION = 0x19, 0x02, 0x0B, 0x32
_X86_64, _ALL, _OBJECT = 0x0100_0007, 3, 1
_NAMES: Mapping[Role, tuple[bytes, bytes, int]] = {
    "text": (b"__text", b"__TEXT", 0x8000_0400),  # instructions only
    "data": (b"__const", b"__TEXT", 0),
    "remark": (b"__comment", b"__DWARF", 0x0200_0000),  # for debuggers; linkers drop it
}
"""The names of section and segment, and the flags, by role."""
_UNSIGNED, _SIGNED, _SUBTRACTOR = 0, 1, 5
_MACOS_11 = 11 << 16
_LOCAL, _EXTERNAL = 0x0E, 0x0F  # defined in a section; the second also visible outside
_HEADER, _SECTION, _SYMBOL = 32, 80, 16


def macho(file: ObjectFile) -> bytes:
    """Return the bytes of the Mach-O file. Sections for Win64 unwinding are left out, since macOS does not use them."""
    sections = [section for section in file.sections if section.role in _NAMES]
    addresses, end = _addresses(sections)
    # Local symbols come first: the data symbol. The function's symbol is last.
    has_data = any(section.role == "data" for section in sections)
    names = [f"_{file.symbol}_data"] * has_data + [f"_{file.symbol}"]
    symbols: Mapping[Role, int] = {"data": 0, "text": len(names) - 1}
    commands = 72 + _SECTION * len(sections) + 24 + 24 + 80
    start = -(-(_HEADER + commands) // 64) * 64
    place = start + -(-end // 8) * 8
    heads = relocations = b""
    for section in sections:
        entries = _relocations(section, symbols)
        at = place + len(relocations) if entries else 0
        heads += _section(section, addresses[section.role], start, at, len(entries) // 8)
        relocations += entries
    place += len(relocations)
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    strings += bytes(-len(strings) % 8)
    segment = struct.pack("<II16sQQQQiiII", _SEGMENT, 72 + len(heads), b"", 0, end, start, end, 7, 7, len(sections), 0)
    build = struct.pack("<IIIIII", _BUILD_VERSION, 24, 1, _MACOS_11, 0, 0)
    table = struct.pack("<IIIIII", _SYMTAB, 24, place, len(names), place + _SYMBOL * len(names), len(strings))
    local = len(names) - 1
    kinds = struct.pack("<II18I", _DYSYMTAB, 80, 0, local, local, 1, local + 1, *[0] * 13)
    header = struct.pack("<IIIIIIII", 0xFEED_FACF, _X86_64, _ALL, _OBJECT, 4, commands, 0, 0)
    block = (header + segment + heads + build + table + kinds).ljust(start, b"\0")
    for section in sections:
        block = block.ljust(start + addresses[section.role], b"\0") + _content(section)
    block = block.ljust(start + -(-end // 8) * 8, b"\0") + relocations
    if has_data:
        block += struct.pack("<IBBHQ", 1, _LOCAL, 2, 0, addresses["data"])
    return block + struct.pack("<IBBHQ", strings.index(names[-1].encode() + b"\0"), _EXTERNAL, 1, 0, 0) + strings


def _addresses(sections: list[Section]) -> tuple[dict[Role, int], int]:
    """Return the address of each section by role, and the end of the last one, in bytes from the first one's start."""
    addresses: dict[Role, int] = {}
    end = 0
    for section in sections:
        end = -(-end // section.alignment) * section.alignment
        addresses[section.role] = end
        end += len(section.content)
    return addresses, end


def _section(section: Section, address: int, start: int, relocations_at: int, relocations: int) -> bytes:
    name, segment, flags = _NAMES[section.role]
    alignment = section.alignment.bit_length() - 1
    places = (address, len(section.content), start + address, alignment, relocations_at, relocations, flags, 0, 0, 0)
    return struct.pack("<16s16sQQIIIIIIII", name, segment, *places)


def _content(section: Section) -> bytes:
    """Return the content with addends: from the end of the field in code, from the section's start in data."""
    if section.role == "text":
        return section.with_addends(lambda relocation: relocation.addend + 4)
    return section.with_addends(lambda relocation: relocation.addend - relocation.offset)


def _relocations(section: Section, symbols: Mapping[Role, int]) -> bytes:
    return b"".join(
        part for relocation in reversed(section.relocations) for part in _pair(section, relocation, symbols)
    )


def _pair(section: Section, relocation: Relocation, symbols: Mapping[Role, int]) -> list[bytes]:
    """Return the entries of a relocation: one for a distance from code to data, two for an entry of a jump table."""
    if section.role == "text":
        return [_entry(relocation.offset, symbols[relocation.target], True, _SIGNED)]
    return [
        _entry(relocation.offset, symbols["data"], False, _SUBTRACTOR),
        _entry(relocation.offset, symbols[relocation.target], False, _UNSIGNED),
    ]


def _entry(offset: int, symbol: int, relative: bool, kind: int) -> bytes:
    """Return a relocation_info: 24 bits of symbol, pc-relative, length 2**2, external, kind."""
    return struct.pack("<iI", offset, symbol | relative << 24 | 2 << 25 | 1 << 27 | kind << 28)
