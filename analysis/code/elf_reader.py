"""A reader of x86-64 ELF files: sections, segments, symbols and relocations.

The fields follow the System V ABI and its AMD64 supplement. Damage in a part that is used raises ElfError.
Nothing outside the file's bytes is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from setwise.codegen.files import NotRegularError, read_regular

PAGE = 4096  # in bytes: loaders place linked files at multiples of this
_LARGEST = 1 << 27  # the most bytes of a file
_MOST = 500_000  # the most symbols or relocations in a table
_LONGEST_NAME = 1 << 12
_TYPES = (1, 2, 3)  # an object, a program, a shared library
_NOTYPE, _OBJECT, _FUNC, _SECTION = range(4)
_MACHINES = {3: "x86", 8: "MIPS", 20: "PowerPC", 21: "64-bit PowerPC", 22: "S/390", 40: "ARM", 183: "AArch64"}
_MACHINES |= {243: "RISC-V", 258: "LoongArch", 62: "x32"}

# Flags of sections, types and flags of segments, and the dynamic tags that announce relocations in read-only segments.
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
# Linkers may rewrite 16 bytes before and from the start of a field whose type is in neither _SIZES nor THROUGH_TABLE.
_AROUND = 16


class ElfError(ValueError):
    """A file that is not valid ELF for x86-64, or a function that cannot be extracted. The message is one line."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section header, its fields as in ELF but for `number`, its index, and `name`, which may be empty."""

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
    """A program header. For LOAD, `size` bytes at `offset` are loaded to `address`, then zeros up to `memory` bytes."""

    type: int
    flags: int
    offset: int
    address: int
    size: int
    memory: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """An entry of a symbol table.

    `name` is the offset of the symbol's name in the string table, `section` the number of a section. `hidden` marks a
    symbol version that is not the default.
    """

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
        """Whether the symbol is visible in its own file only."""
        return self.bind == 0

    @property
    def is_plain(self) -> bool:
        """Whether the symbol is local or global, not weak or unique, and of type NOTYPE, OBJECT, FUNC or SECTION."""
        return self.type in (_NOTYPE, _OBJECT, _FUNC, _SECTION) and self.bind in (0, 1)

    @property
    def is_section(self) -> bool:
        """Whether the symbol denotes a whole section."""
        return self.type == _SECTION

    @property
    def may_be_code(self) -> bool:
        """Whether the symbol may name a function: it is of type FUNC or has no type."""
        return self.type in (_NOTYPE, _FUNC)

    @property
    def is_label(self) -> bool:
        """Whether the symbol is a local symbol without a type, such as a label of assembly source."""
        return self.is_local and self.type == _NOTYPE

    @property
    def is_exported(self) -> bool:
        """Whether a definition in another file can replace this symbol when a library is loaded."""
        return not self.is_local and self.visibility == 0


@dataclass(frozen=True, slots=True)
class ElfRelocation:
    """A relocation: its offset, the number of its type, the number of its symbol, and the addend."""

    offset: int
    number: int
    symbol: int
    addend: int

    @property
    def kind(self) -> str:
        """The relocation type without the prefix R_X86_64_, or its number if it is unknown."""
        return _KINDS[self.number] if self.number < len(_KINDS) else str(self.number)

    def touched(self, at: int, low: int, high: int) -> tuple[int, int]:
        """Return the start and exclusive end of the bytes that a linker may change for it, clipped to `low` and `high`.

        `at` is the offset of the relocated field. If none are left, the start is not below the end.
        """
        before, behind = (0, _SIZES[self.kind]) if self.kind in _SIZES else (_AROUND, _AROUND)
        if self.kind in THROUGH_TABLE:
            before, behind = 3, 4
        return max(low, at - before), min(high, at + behind)


def read(path: str | Path) -> Elf:
    """Read an ELF file. Raises ElfError unless it is one for x86-64 up to 128 MiB, and OSError if it cannot be read."""
    try:
        content = read_regular(path, _LARGEST, links=True)
    except (NotRegularError, IsADirectoryError):
        raise ElfError("not a regular file: give an object, program or shared library of Linux") from None
    if len(content) > _LARGEST:
        raise ElfError(f"larger than {_LARGEST >> 20} MiB: give the object file of the function")
    return Elf(content)


class Elf:
    """An ELF file: its sections, segments, symbol tables, relocations and loaded bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._names: dict[int, bytes] = {}
        if content[:4] != b"\x7fELF" or len(content) < 64:
            raise ElfError("not an ELF file: give an object, program or shared library of Linux")
        self._header = struct.unpack_from("<16xHHIQQQIHHHHHH", content)
        kind, machine, version, *_ = self._header
        if content[4:6] != b"\2\1" or machine != 62:
            made_for = _MACHINES.get(machine, "another machine")
            raise ElfError(f"made for {made_for}, not for x86-64: compile it for x86-64")
        if version != 1 or kind not in _TYPES:
            raise ElfError("neither an object nor a program nor a shared library: give one of these")
        self.linked = kind != _TYPES[0]
        self.sections = self._sections()

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The program headers. Raises ElfError if they are invalid, for instance if loaded segments share a page."""
        start, size, number = self._header[4], *self._header[8:10]
        if number and size != 56:
            raise ElfError(f"damaged: program headers have {size} bytes, not 56")
        fields = struct.iter_unpack("<IIQQQQQQ", self._part(start, 56 * number, "the program header table"))
        found = tuple(Segment(kind, flags, *rest[:2], *rest[3:5]) for kind, flags, *rest in fields)
        end = 0
        for one in found:
            if one.type == _LOAD:
                self._part(one.offset, one.size, "a segment")
                outside = one.memory < one.size or one.address + one.memory >= 1 << 63
                if outside or one.address // PAGE * PAGE < end or (one.address - one.offset) % PAGE:
                    raise ElfError("damaged: its segments overlap in memory, or are not aligned to pages")
                end = -(-(one.address + one.memory) // PAGE) * PAGE
        return found

    @cached_property
    def grouped(self) -> frozenset[int]:
        """The numbers of the sections in groups, instead of which a linker may keep another file's copies."""
        groups = [section for section in self.sections if section.type == _GROUP]
        if sum(section.size for section in groups) > 8 * len(self.sections):  # a section belongs to at most one group
            raise ElfError("damaged: its groups list more sections than it has")
        listed = (struct.iter_unpack("<I", self.bytes_of(section)[4 : section.size // 4 * 4]) for section in groups)
        return frozenset(number for numbers in listed for (number,) in numbers)

    @cached_property
    def relocates_text(self) -> bool:
        """Whether a dynamic tag lets the loader relocate read-only segments. Without it such relocations would fail."""
        for segment in self.segments:
            if segment.type == _DYNAMIC:
                content = self.loaded(segment.address, segment.size // 16 * 16)[0]
                for tag, value in struct.iter_unpack("<QQ", content):
                    if tag == _DT_TEXTREL or (tag == _DT_FLAGS and value & _DF_TEXTREL):
                        return True
        return False

    def loaded(self, address: int, size: int) -> tuple[bytes, int]:
        """Return the `size` bytes that a linked file loads at an address, and the flags of their segment.

        Raises ElfError if no single segment loads all of them from the file.
        """
        for one in self.segments:
            if one.type == _LOAD and one.address <= address and address + size <= one.address + one.size:
                start = one.offset + address - one.address
                return self.content[start : start + size], one.flags
        raise ElfError(f"damaged: refers to address {address:#x}, which no segment of the file loads")

    def bytes_of(self, section: ElfSection) -> bytes:
        """Return the content of a section in the file; of a section without content (NOBITS) no bytes."""
        return b"" if section.type == NOBITS else self._part(section.offset, section.size, f"section {section.name}")

    def section(self, number: int) -> ElfSection | None:
        """Return the section of that number, or None if there is none, as for absolute and undefined symbols."""
        return self.sections[number] if 0 < number < len(self.sections) else None

    def tables(self) -> Iterator[ElfSection]:
        """Yield the symbol tables: the static one, then the dynamic one, as far as they exist."""
        for kind in (_SYMTAB, _DYNSYM):
            found = [one for one in self.sections if one.type == kind]
            if len(found) > 1:
                raise ElfError("damaged: it has several symbol tables of one type")
            yield from found

    def symbols(self, table: ElfSection) -> Iterator[Symbol]:
        """Yield all entries of a symbol table."""
        versions = next((one for one in self.sections if one.type == _VERSIONS and one.link == table.number), None)
        hidden = b"" if versions is None else self.bytes_of(versions)
        for number, fields in enumerate(struct.iter_unpack("<IBBHQQ", self._entries(table, 24))):
            yield _symbol(*fields, hidden=2 * number + 1 < len(hidden) and bool(hidden[2 * number + 1] & 0x80))

    def symbol(self, table: ElfSection, number: int) -> Symbol:
        """Return entry `number` of a symbol table, with `hidden` false in any case."""
        if 24 * number + 24 > min(table.size, len(self.content) - table.offset):
            raise ElfError(f"damaged: it has no symbol {number}")
        return _symbol(*struct.unpack_from("<IBBHQQ", self.content, table.offset + 24 * number))

    def names(self, table: ElfSection) -> bytes:
        """Return the string table of a symbol table: names, each terminated by a 0 byte."""
        if table.number not in self._names:
            section = self.section(table.link)
            if section is None or section.type != _STRTAB:
                raise ElfError("damaged: a symbol table has no string table")
            self._names[table.number] = self.bytes_of(section)
        return self._names[table.number]

    def relocations(self, section: ElfSection) -> tuple[ElfSection | None, Iterator[ElfRelocation]]:
        """Return the symbol table for an object section's relocations (None if none), and the relocations."""
        found = [one for one in self.sections if one.type in _RELOCATING and one.info == section.number]
        if not found:
            return None, iter(())
        if len(found) > 1 or found[0].type != _RELA:
            raise ElfError(f"has relocations of {section.name} that are no single RELA table: give the linked program")
        table = self.section(found[0].link)
        if table is None or table.type != _SYMTAB:
            raise ElfError("damaged: relocations without a symbol table")
        fields = struct.iter_unpack("<QIIq", self._entries(found[0], 24))
        return table, (ElfRelocation(*each) for each in fields)

    def _entries(self, section: ElfSection, size: int) -> bytes:
        if section.entry_size != size or section.size % size:
            raise ElfError(f"damaged: {section.name} has entries of {section.entry_size} bytes, not of {size}")
        if section.size > size * _MOST:
            raise ElfError(f"has more than {_MOST:,} entries in {section.name}: give an object with fewer functions")
        return self.bytes_of(section)

    def _part(self, start: int, size: int, what: str) -> bytes:
        if start + size > len(self.content):
            raise ElfError(f"damaged: {what} is outside the file")
        return self.content[start : start + size]

    def _sections(self) -> tuple[ElfSection, ...]:
        start, size, number, names = self._header[5], *self._header[10:]
        if start == 0:
            return ()
        if size != 64 or number == 0 or names >= number:
            raise ElfError("damaged: its section headers are invalid, or there are more than 65,279 of them")
        headers = [*struct.iter_unpack("<IIQQQQIIQQ", self._part(start, 64 * number, "the section header table"))]
        _, kind, _, _, at, length, *_ = headers[names]
        text = self._part(at, length, "the table of section names") if kind != NOBITS else b""
        return tuple(ElfSection(place, name_at(text, name), *rest) for place, (name, *rest) in enumerate(headers))


def name_at(names: bytes, start: int) -> str:
    """Return the name at an offset of a string table, escaped if unprintable; ElfError if not ended in 4096 bytes."""
    end = names.find(b"\0", start, start + _LONGEST_NAME)
    if end < 0 and (start or names):
        raise ElfError("damaged: a name is not terminated")
    name = names[start : max(end, start)].decode("utf-8", "backslashreplace")
    return name if name.isprintable() else name.encode("unicode_escape").decode()


def _symbol(name: int, info: int, other: int, section: int, value: int, size: int, *, hidden: bool = False) -> Symbol:
    return Symbol(name, info & 0xF, info >> 4, other & 3, section, value, size, hidden)
