"""Writer of COFF objects (Microsoft PE and COFF specification): .obj files of Windows."""

import struct
from collections.abc import Mapping

from setwise.codegen.export.objects.relocatable import ObjectFile, Role, Section

_NAMES = {"text": b".text", "data": b".rdata", "unwind": b".xdata", "frames": b".pdata", "remark": b".comment"}
_CODE, _INITIALIZED, _EXECUTE, _READ = 0x20, 0x40, 0x2000_0000, 0x4000_0000
_INFO, _REMOVE = 0x200, 0x800
_FLAGS: Mapping[Role, int] = {"text": _CODE | _EXECUTE | _READ, "remark": _INFO | _REMOVE}
_ADDR32NB, _REL32 = 3, 4
_EXTERNAL, _STATIC, _FUNCTION = 2, 3, 0x20
_MACHINE = 0x8664


def coff(file: ObjectFile) -> bytes:
    """Return the bytes of the COFF file. Its timestamp is 0, so equal code makes equal files."""
    strings = symbols = b""
    numbers: dict[Role, int] = {}
    for at, section in enumerate(file.sections):
        numbers[section.role] = 2 * at  # each section symbol is followed by an auxiliary record
        symbols += _symbol(_NAMES[section.role], at + 1, 0, _STATIC)
        symbols += struct.pack("<IHHIHB3x", len(section.content), len(section.relocations), 0, 0, at + 1, 0)
    for name in filter(None, (file.symbol, file.decorated)):
        field = name.encode().ljust(8, b"\0")
        if len(field) > 8:
            field = struct.pack("<II", 0, 4 + len(strings))
            strings += name.encode() + b"\0"
        symbols += _symbol(field, 1, _FUNCTION, _EXTERNAL)
    place = 20 + 40 * len(file.sections)
    heads, contents = b"", b""
    for section in file.sections:
        # A distance is measured from the end of its field.
        content = section.with_addends(lambda relocation: relocation.addend + 4 * relocation.relative)
        body = content + _relocations(section, numbers)
        body += bytes(-len(body) % 4)
        at = place + len(contents)
        relocations_at = at + len(section.content) if section.relocations else 0
        flags = _FLAGS.get(section.role, _INITIALIZED | _READ) | section.alignment.bit_length() << 20
        fields = 0, 0, len(section.content), at, relocations_at, 0, len(section.relocations), 0, flags
        heads += struct.pack("<8sIIIIIIHHI", _NAMES[section.role], *fields)
        contents += body
    table = place + len(contents)
    head = struct.pack("<HHIIIHH", _MACHINE, len(file.sections), 0, table, len(symbols) // 18, 0, 0)
    return head + heads + contents + symbols + struct.pack("<I", 4 + len(strings)) + strings


def _relocations(section: Section, symbols: Mapping[Role, int]) -> bytes:
    return b"".join(
        struct.pack("<IIH", relocation.offset, symbols[relocation.target], _REL32 if relocation.relative else _ADDR32NB)
        for relocation in section.relocations
    )


def _symbol(name: bytes, section: int, kind: int, storage: int) -> bytes:
    return struct.pack("<8sIhHBB", name, 0, section, kind, storage, int(storage == _STATIC))
