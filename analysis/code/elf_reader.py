"""ELF files for x86-64 as they are: sections, segments, symbols, relocations, each number checked before it is used.

Field by field after the System V ABI and its supplement for AMD64. A file that cannot be read so is an ElfError, in one
line; nothing is read that the file does not have.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from setwise.codegen.files import NotRegularError, regular_content

PAGE = 4096  # what loaders put linked files at a multiple of
_LARGEST = 1 << 27  # bytes of a file
_MOST = 500_000  # symbols or relocations in a table
_LONGEST_NAME = 1 << 12
_TYPES = (1, 2, 3)  # an object, a program, a shared library
_NOTYPE, _OBJECT, _FUNC, _SECTION = range(4)
_MACHINES = {3: "x86", 8: "MIPS", 20: "PowerPC", 21: "64-bit PowerPC", 22: "S/390", 40: "ARM", 183: "AArch64"}
_MACHINES |= {243: "RISC-V", 258: "LoongArch"}

# Flags of sections and of segments, and what the loader is told that writes into code and constants.
WRITE, ALLOC, EXECINSTR, MERGE, STRINGS, GROUP = 0x1, 0x2, 0x4, 0x10, 0x20, 0x200
_LOAD, _DYNAMIC = 1, 2
EXECUTABLE, WRITABLE, READABLE = 1, 2, 4
_DT_TEXTREL, _DT_FLAGS, _DF_TEXTREL = 22, 30, 4

PROGBITS, _SYMTAB, _STRTAB, _RELA, NOBITS, _DYNSYM, _GROUP, _VERSIONS = 1, 2, 3, 4, 8, 11, 17, 0x6FFFFFFF
_RELOCATING = {_RELA, 9, 19, 0x4000_0014, 0x6000_0001, 0x6000_0002}  # REL, RELR, CREL, Android's two


_KINDS = (
    "NONE", "64", "PC32", "GOT32", "PLT32", "COPY", "GLOB_DAT", "JUMP_SLOT", "RELATIVE", "GOTPCREL", "32", "32S",
    "16", "PC16", "8", "PC8", "DTPMOD64", "DTPOFF64", "TPOFF64", "TLSGD", "TLSLD", "DTPOFF32", "GOTTPOFF",
    "TPOFF32", "PC64", "GOTOFF64", "GOTPC32", "GOT64", "GOTPCREL64", "GOTPC64", "GOTPLT64", "PLTOFF64", "SIZE32",
    "SIZE64", "GOTPC32_TLSDESC", "TLSDESC_CALL", "TLSDESC", "IRELATIVE", "RELATIVE64", "39", "40", "GOTPCRELX",
    "REX_GOTPCRELX",
)  # fmt: skip
THROUGH_TABLE = frozenset({"GOTPCREL", "GOTPCRELX", "REX_GOTPCRELX"})
_WIDTHS = {1: ("8", "PC8"), 2: ("16", "PC16"), 4: ("32", "32S", "PC32", "PLT32", "SIZE32", "TPOFF32", "DTPOFF32")}
_WIDTHS |= {8: ("64", "PC64", "SIZE64", "GOTOFF64"), 0: ("NONE",)}
_SIZES = {kind: width for width, kinds in _WIDTHS.items() for kind in kinds}
# Linkers rewrite the instruction around others, as much as 16 bytes for what is a thread's own.
_AROUND = 16


class ElfError(ValueError):
    """What cannot be read as an ELF file for x86-64, or not be taken out of one; the message is one line."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section's header; `name` may be empty."""

    number: int
    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass(frozen=True, slots=True)
class Segment:
    """What is loaded: `size` bytes of the file from `offset` on, to `address`, where `memory` bytes are taken."""

    type: int
    flags: int
    offset: int
    address: int
    size: int
    memory: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol's entry; `name` is where its name begins in its table's names, `hidden` a version not the default."""

    name: int
    type: int
    bind: int
    visibility: int
    section: int
    value: int
    size: int
    hidden: bool = False

    @property
    def is_local(self) -> bool:
        """Whether it is of its file alone."""
        return self.bind == 0

    @property
    def is_plain(self) -> bool:
        """Whether it is a place in a section, and nobody else's: not weak, not unique, not a thread's, not indirect."""
        return self.type in (_NOTYPE, _OBJECT, _FUNC, _SECTION) and self.bind in (0, 1)

    @property
    def is_section(self) -> bool:
        """Whether it stands for a whole section."""
        return self.type == _SECTION

    @property
    def may_be_code(self) -> bool:
        """Whether it may be a function."""
        return self.type in (_NOTYPE, _FUNC)

    @property
    def is_label(self) -> bool:
        """Whether only an assembler's source knows it."""
        return self.is_local and self.type == _NOTYPE

    @property
    def is_exported(self) -> bool:
        """Whether another file's of that name may take its place when a library is loaded."""
        return not self.is_local and self.visibility == 0


@dataclass(frozen=True, slots=True)
class ElfRelocation:
    """What is to be set at `offset`: of the kind of that number, to the symbol of that number, with the addend."""

    offset: int
    number: int
    symbol: int
    addend: int

    @property
    def kind(self) -> str:
        """The kind's name, without what all begin with; of unknown ones the number."""
        return _KINDS[self.number] if self.number < len(_KINDS) else str(self.number)

    def touched(self, at: int, low: int, high: int) -> tuple[int, int]:
        """Return the start and the end of what a linker may change for it at that place, from `low` to below `high`."""
        before, behind = (0, _SIZES[self.kind]) if self.kind in _SIZES else (_AROUND, _AROUND)
        if self.kind in THROUGH_TABLE:
            before, behind = 3, 4
        return max(low, at - before), min(high, at + behind)


def read(path: str | Path) -> Elf:
    """The file; ElfError where it is none, OSError where it cannot be read."""
    try:
        content = regular_content(path, _LARGEST, links=True)
    except (NotRegularError, IsADirectoryError):
        raise ElfError("not a regular file: give an object, program or shared library of Linux") from None
    if len(content) > _LARGEST:
        raise ElfError(f"of more than {_LARGEST >> 20} MiB")
    return Elf(content)


class Elf:
    """An ELF file's parts, and what of it lies in memory."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._names: dict[int, bytes] = {}
        if content[:4] != b"\x7fELF" or len(content) < 64:
            raise ElfError("not an ELF file: give an object, program or shared library of Linux")
        kind, machine, version = struct.unpack_from("<HHI", content, 16)
        if content[4:6] != b"\2\1" or machine != 62:
            made_for = _MACHINES.get(machine, "another machine")
            raise ElfError(f"made for {made_for}, not for x86-64")
        if version != 1 or kind not in _TYPES:
            raise ElfError("neither an object nor a program nor a shared library")
        self.linked = kind != _TYPES[0]
        self.sections = self._sections()

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """All that is told to the loader; ElfError where pages would be mapped over one another."""
        (start,), (size, number) = (
            struct.unpack_from("<Q", self.content, 32),
            struct.unpack_from("<HH", self.content, 54),
        )
        if number and size != 56:
            raise ElfError(f"damaged: headers of segments have {size} bytes")
        fields = struct.iter_unpack("<IIQQQQQQ", self._part(start, 56 * number, "the table of segments"))
        found = tuple(Segment(kind, flags, *rest[:2], *rest[3:5]) for kind, flags, *rest in fields)
        end = 0
        for one in found:
            if one.type == _LOAD:
                self._part(one.offset, one.size, "a segment")
                outside = one.memory < one.size or one.address + one.memory >= 1 << 63
                if outside or one.address // PAGE * PAGE < end or (one.address - one.offset) % PAGE:
                    raise ElfError("damaged: its segments do not fit into memory one behind the other")
                end = -(-(one.address + one.memory) // PAGE) * PAGE
        return found

    @cached_property
    def grouped(self) -> frozenset[int]:
        """The numbers of the sections that a group lists: linkers keep that of another file in their stead."""
        groups = [section for section in self.sections if section.type == _GROUP]
        if sum(section.size for section in groups) > 8 * len(self.sections):  # a section is in one group at most
            raise ElfError("damaged: its groups list more sections than it has")
        listed = (struct.iter_unpack("<I", self.bytes_of(section)[4 : section.size // 4 * 4]) for section in groups)
        return frozenset(number for numbers in listed for (number,) in numbers)

    @cached_property
    def relocates_text(self) -> bool:
        """Whether the loader writes into code and constants; without this flag it would fail to."""
        for segment in self.segments:
            if segment.type == _DYNAMIC:
                content = self.loaded(segment.address, segment.size // 16 * 16)[0]
                for tag, value in struct.iter_unpack("<QQ", content):
                    if tag == _DT_TEXTREL or (tag == _DT_FLAGS and value & _DF_TEXTREL):
                        return True
        return False

    def loaded(self, address: int, size: int) -> tuple[bytes, int]:
        """What a linked file puts there, and its segment's flags; ElfError where that is not said."""
        for one in self.segments:
            if one.type == _LOAD and one.address <= address and address + size <= one.address + one.size:
                start = one.offset + address - one.address
                return self.content[start : start + size], one.flags
        raise ElfError(f"loads nothing at {address:#x}: no segment has it")

    def bytes_of(self, section: ElfSection) -> bytes:
        """A section's content in the file."""
        return b"" if section.type == NOBITS else self._part(section.offset, section.size, f"section {section.name}")

    def section(self, number: int) -> ElfSection | None:
        """The section of that number, None where there is none, as for absolute and undefined symbols."""
        return self.sections[number] if 0 < number < len(self.sections) else None

    def tables(self) -> Iterator[ElfSection]:
        """The tables of symbols, one of each kind."""
        for kind in (_SYMTAB, _DYNSYM):
            found = [one for one in self.sections if one.type == kind]
            if len(found) > 1:
                raise ElfError("damaged: it has several tables of symbols of one kind")
            yield from found

    def symbols(self, table: ElfSection) -> Iterator[Symbol]:
        """All entries of a table."""
        versions = next((one for one in self.sections if one.type == _VERSIONS and one.link == table.number), None)
        hidden = b"" if versions is None else self.bytes_of(versions)
        for number, fields in enumerate(struct.iter_unpack("<IBBHQQ", self._entries(table, 24))):
            yield _symbol(*fields, hidden=2 * number + 1 < len(hidden) and bool(hidden[2 * number + 1] & 0x80))

    def symbol(self, table: ElfSection, number: int) -> Symbol:
        """One entry."""
        if 24 * number + 24 > min(table.size, len(self.content) - table.offset):
            raise ElfError(f"damaged: it has no symbol {number}")
        return _symbol(*struct.unpack_from("<IBBHQQ", self.content, table.offset + 24 * number))

    def names(self, table: ElfSection) -> bytes:
        """The names of a table's symbols, each with a 0 behind it."""
        if table.number not in self._names:
            section = self.section(table.link)
            if section is None or section.type != _STRTAB:
                raise ElfError("damaged: a table of symbols has no names")
            self._names[table.number] = self.bytes_of(section)
        return self._names[table.number]

    def relocations(self, section: ElfSection) -> tuple[ElfSection | None, Iterator[ElfRelocation]]:
        """What is to be set in an object's section, and the table of the symbols that are meant."""
        found = [one for one in self.sections if one.type in _RELOCATING and one.info == section.number]
        if not found:
            return None, iter(())
        if len(found) > 1 or found[0].type != _RELA:
            raise ElfError(
                f"relocates {section.name} in a way that is not followed: by one table with addends it would"
            )
        table = self.section(found[0].link)
        if table is None or table.type != _SYMTAB:
            raise ElfError("damaged: relocations without a table of symbols")
        fields = struct.iter_unpack("<QIIq", self._entries(found[0], 24))
        return table, (ElfRelocation(*each) for each in fields)

    def _entries(self, section: ElfSection, size: int) -> bytes:
        if section.entry_size != size or section.size % size:
            raise ElfError(f"damaged: {section.name} has entries of {section.entry_size} bytes, not of {size}")
        if section.size > size * _MOST:
            raise ElfError(f"has more than {_MOST:,} entries in {section.name}")
        return self.bytes_of(section)

    def _part(self, start: int, size: int, what: str) -> bytes:
        if start + size > len(self.content):
            raise ElfError(f"damaged: {what} lies outside of the file")
        return self.content[start : start + size]

    def _sections(self) -> tuple[ElfSection, ...]:
        (start,), (size, number, names) = (
            struct.unpack_from("<Q", self.content, 40),
            struct.unpack_from("<HHH", self.content, 58),
        )
        if start == 0:
            return ()
        if size != 64 or number == 0 or names >= number:
            raise ElfError("damaged: its headers of sections are not as they should be, or more than 65,279")
        headers = [*struct.iter_unpack("<IIQQQQIIQQ", self._part(start, 64 * number, "the table of sections"))]
        _, kind, _, _, at, length, *_ = headers[names]
        text = self._part(at, length, "the table of sections' names") if kind != NOBITS else b""
        return tuple(ElfSection(place, name_at(text, name), *rest) for place, (name, *rest) in enumerate(headers))


def name_at(names: bytes, start: int) -> str:
    """The name that begins there in a table of names, in one line."""
    end = names.find(b"\0", start, start + _LONGEST_NAME)
    if end < 0 and (start or names):
        raise ElfError("damaged: a name without an end")
    name = names[start : max(end, start)].decode("utf-8", "backslashreplace")
    return name if name.isprintable() else name.encode("unicode_escape").decode()


def _symbol(name: int, info: int, other: int, section: int, value: int, size: int, *, hidden: bool = False) -> Symbol:
    return Symbol(name, info & 0xF, info >> 4, other & 3, section, value, size, hidden)
