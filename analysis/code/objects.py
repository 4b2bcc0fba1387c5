"""Functions out of ELF files, so that somebody else's code is judged as ours is: objects, programs, shared libraries.

A function is taken out with the read-only sections that its operands point into: in an object laid out behind it and
displacements set anew, as a linker does; in a linked file at the distance that they have. What of this is so in every
program that links or loads the file is said beside it (`Layout`). What cannot stand alone is refused by name: calls,
writable data, fixed addresses.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, decode, signed
from setwise.analysis.code.elf import (
    ALLOC,
    EXECINSTR,
    EXECUTABLE,
    MERGE,
    PAGE,
    PROGBITS,
    READABLE,
    STRINGS,
    WRITABLE,
    WRITE,
    Elf,
    ElfError,
    Relocation,
    Section,
    Symbol,
    name_at,
    read,
)
from setwise.analysis.code.layout import Layout, Piece

_ALIGNMENT = 64  # a line of the cache: as much as any operand needs
_LONGEST = 1 << 16  # bytes of a function
_FARTHEST = 1 << 26  # bytes of constants, and of what lies between them
_OFFERED = 2000  # names that a mistaken one is compared with

_NOTYPE, _OBJECT, _FUNC, _SECTION = range(4)
_LOCAL, _GLOBAL = 0, 1
_DEFAULT = 0  # visibility
_KINDS = (
    "NONE", "64", "PC32", "GOT32", "PLT32", "COPY", "GLOB_DAT", "JUMP_SLOT", "RELATIVE", "GOTPCREL", "32", "32S",
    "16", "PC16", "8", "PC8", "DTPMOD64", "DTPOFF64", "TPOFF64", "TLSGD", "TLSLD", "DTPOFF32", "GOTTPOFF",
    "TPOFF32", "PC64", "GOTOFF64", "GOTPC32", "GOT64", "GOTPCREL64", "GOTPC64", "GOTPLT64", "PLTOFF64", "SIZE32",
    "SIZE64", "GOTPC32_TLSDESC", "TLSDESC_CALL", "TLSDESC", "IRELATIVE", "RELATIVE64", "39", "40", "GOTPCRELX",
    "REX_GOTPCRELX",
)  # fmt: skip
_RELATIVE = frozenset({"PC32", "PLT32"})
_THROUGH_TABLE = frozenset({"GOTPCREL", "GOTPCRELX", "REX_GOTPCRELX"})
_WIDTHS = {1: ("8", "PC8"), 2: ("16", "PC16"), 4: ("32", "32S", "PC32", "PLT32", "SIZE32", "TPOFF32", "DTPOFF32")}
_WIDTHS |= {8: ("64", "PC64", "SIZE64", "GOTOFF64"), 0: ("NONE",)}
_SIZES = {kind: width for width, kinds in _WIDTHS.items() for kind in kinds}
# As linkers' own scripts leave them; what has another name with a point in front is put together by other rules.
_CONSTANTS = re.compile(r"\.l?rodata(\..*)?$|[^.]")
_GROUP = 0x200  # a section of which linkers keep one of several
_NOBITS = 8
# Linkers rewrite the instruction around others, as much as 16 bytes for what is a thread's own.
_AROUND = 16


class ObjectError(ValueError):
    """A file or a function in it that cannot be judged; the message is one line."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A function's place: its section, where in that it begins, and its size (0: the file does not say).

    A label is a name that only an assembler's source knows, perhaps of a place within a function. The name stands in
    `names` at `at`.
    """

    names: bytes
    at: int
    section: int
    offset: int
    size: int
    local: bool
    label: bool
    hidden: bool

    @property
    def name(self) -> str:
        """Its name."""
        return name_at(self.names, self.at)

    def is_called(self, name: bytes) -> bool:
        """Whether that is its name."""
        return self.names.startswith(name + b"\0", self.at)


def functions(path: str | Path) -> tuple[str, ...]:
    """The names of the functions that the file defines, global ones first; ObjectError if it is no ELF file."""
    with _opened(path) as elf:
        return tuple(dict.fromkeys(function.name for function in _functions(elf) if not function.label))


def load(path: str | Path, symbol: str) -> Binary:
    """The bytes of a function of an ELF object, program or shared library, with the read-only data that it reads.

    Raises ObjectError: no such file or function, not for x86-64, or it needs more than its own code and constants.
    """
    with _opened(path) as elf:
        known = _functions(elf)
        wanted = symbol.encode("utf-8", "surrogateescape")
        named = [function for function in known if function.is_called(wanted)]
        if not named:
            names = (function.name for function in known if not function.label)
            raise ObjectError(f"{path}: no function '{symbol}': {_offer(symbol, [*islice(names, _OFFERED)])}")
        try:
            return _Extraction(elf, _meant(named), known).binary()
        except (ObjectError, DecodeError, ElfError) as error:
            raise ObjectError(f"{path}: {symbol} {error}") from None


def load_all(path: str | Path, wanted: Container[str]) -> dict[str, Binary | ObjectError]:
    """As `load`, every function of the file whose name is wanted, and for those that cannot be judged the reason."""
    made: dict[str, Binary | ObjectError] = {}
    with _opened(path) as elf:
        known = _functions(elf)
        named: dict[str, list[_Function]] = {}
        for function in known:
            if not function.label and (name := function.name) in wanted:
                named.setdefault(name, []).append(function)
        for name, candidates in named.items():
            try:
                made[name] = _Extraction(elf, _meant(candidates), known).binary()
            except (ObjectError, DecodeError, ElfError) as error:
                made[name] = ObjectError(f"{name} {error}")
    return made


@contextmanager
def _opened(path: str | Path) -> Iterator[Elf]:
    try:
        yield read(path)
    except OSError as error:
        raise ObjectError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ElfError as error:
        raise ObjectError(f"{path}: {error}") from None


def _functions(elf: Elf) -> list[_Function]:
    """All functions, global ones first where a name comes twice."""
    found: list[tuple[bool, int, _Function]] = []
    for table in elf.tables():
        names = elf.names(table)
        for symbol in elf.symbols(table):
            section = elf.section(symbol.section)
            if symbol.type not in (_FUNC, _NOTYPE) or section is None or not section.flags & EXECINSTR:
                continue
            if not symbol.name or names[symbol.name : symbol.name + 1] in (b"", b"\0"):
                continue
            offset = symbol.value - (section.address if elf.linked else 0)
            local, label = symbol.bind == _LOCAL, symbol.bind == _LOCAL and symbol.type == _NOTYPE
            place = names, symbol.name, section.number, offset, symbol.size
            found.append((local, symbol.value, _Function(*place, local, label, symbol.hidden)))
    return [function for _, _, function in sorted(found, key=lambda entry: entry[:2])]


def _meant(named: Sequence[_Function]) -> _Function:
    """Of functions of one name the one that a linker would take: global, and of the version that is the default."""
    if not all(function.local for function in named):
        named = [function for function in named if not function.local]
    if not all(function.hidden for function in named):
        named = [function for function in named if not function.hidden]
    if len({(function.section, function.offset) for function in named}) > 1:
        raise ObjectError(f"names {len(named)} functions, and nothing says which is meant")
    return max(named, key=lambda function: function.size)


def _offer(name: str, known: Sequence[str]) -> str:
    if not known:
        return "the file names none"
    short = [one for one in known if len(one) < 100] if len(name) < 100 else []
    near = difflib.get_close_matches(name, short, n=5, cutoff=0.4) or list(dict.fromkeys(known))[:5]
    return f"it has {', '.join(near)}{' ...' if len(set(known)) > len(near) else ''}"


@dataclass
class _Extraction:
    """One function on its way out of its file; what it points into is appended to `data`, a section at a time."""

    elf: Elf
    function: _Function
    known: Sequence[_Function]
    text: bytearray = field(default_factory=bytearray)
    data: bytearray = field(default_factory=bytearray)
    places: dict[int, int] = field(default_factory=dict)
    """A section's number to its offset in `data`."""
    pieces: list[Piece] = field(default_factory=list)
    unknown: set[int] = field(default_factory=set)
    targets: dict[int, tuple[int, int]] = field(default_factory=dict)
    entries: dict[int, int] = field(default_factory=dict)
    end: str = ""

    @property
    def section(self) -> Section:
        """The function's."""
        return self.elf.sections[self.function.section]

    @property
    def data_offset(self) -> int:
        """Where an object's data is laid out, from the function's start."""
        return -(-len(self.text) // _ALIGNMENT) * _ALIGNMENT

    @property
    def origin(self) -> int:
        """How far the function begins from a place of known alignment."""
        address = self.function.offset + (self.section.address if self.elf.linked else 0)
        return address % self._alignment(self.section)

    def binary(self) -> Binary:
        """The function alone."""
        section, start = self.section, self.function.offset
        self._check_code(section)
        if not 0 <= start < section.size:
            raise ObjectError("has no code: its place is not in its section")
        size = self.function.size or min(section.size, self._next()) - start
        if start + size > section.size:
            raise ObjectError("has more code than its section")
        if self.elf.linked:
            content, flags = self.elf.loaded(section.address + start, min(size, _LONGEST + 1))
            if not flags & EXECUTABLE or flags & WRITABLE:
                raise ObjectError("is not loaded as code that nothing can change")
            if self.elf.relocates_text:
                raise ObjectError("is of a file whose code and constants are changed when it is loaded: use -fPIC")
        else:
            content = self.elf.bytes_of(section)[start : start + min(size, _LONGEST + 1)]
        self.text[:] = content if self.function.size else content[: self._extent(content)]
        if len(self.text) > _LONGEST:
            raise ObjectError(f"has more than {_LONGEST:,} bytes of code")
        self._piece("code", section, self.origin, 0, len(self.text))
        if self.elf.linked:
            self._check_branches()
            return self._in_place(section.address + start)
        self._relocate_text()
        self._check_branches()
        return self._made(self.data_offset)

    def _made(self, data_offset: int) -> Binary:
        targets = tuple((at, *where) for at, where in sorted(self.targets.items()))
        entries = tuple(sorted(self.entries.items()))
        layout = Layout(tuple(self.pieces), frozenset(self.unknown), targets, entries, self.end)
        return Binary(bytes(self.text), bytes(self.data), data_offset if self.data else 0, layout)

    def _in_place(self, start: int) -> Binary:
        """A linked function: with all sections from the first to the last that it reads, where they are."""
        wanted = {}
        for instruction in decode(bytes(self.text)):
            memory = instruction.memory
            if memory is None or memory.target is None or 0 <= memory.target < len(self.text):
                continue
            section = self._section_at(start + memory.target)
            self._check_constant(section, f"{start + memory.target:#x}")
            if section.address < start + len(self.text):
                raise ObjectError(
                    f"reads {section.name} in front of it: only constants behind the code are taken along"
                )
            wanted[section.address] = section
        if not wanted:
            return self._made(0)
        first, end = min(wanted), max(section.address + section.size for section in wanted.values())
        if end - start > _FARTHEST:
            raise ObjectError(f"reads constants that lie further than {_FARTHEST >> 20} MiB away")
        self.data[:] = bytes(end - first)
        for address, section in sorted(wanted.items()):
            content, flags = self.elf.loaded(address, section.size)
            if not flags & READABLE or flags & WRITABLE:
                raise ObjectError(f"reads {section.name}, which is not loaded as constant")
            self.data[address - first : address - first + section.size] = content
            place = address - start
            self._piece("code", self.section, place + self.origin, place, place + section.size)
        return self._made(first - start)

    def _section_at(self, address: int) -> Section:
        for section in self.elf.sections:
            if section.flags & ALLOC and 0 <= address - section.address < section.size:
                return section
        raise ObjectError(f"reads {address:#x}, which lies in no section")

    def _check_code(self, section: Section) -> None:
        if section.type != PROGBITS or section.flags & ~_GROUP != ALLOC | EXECINSTR:
            raise ObjectError(f"lies in {section.name}, which is no code that is loaded as it is")

    def _check_constant(self, section: Section, name: str) -> None:
        if section.flags & EXECINSTR:
            cold = "gcc's -fno-reorder-blocks-and-partition keeps rare parts inside"
            hint = cold if section.name == ".text.unlikely" else "only code that stands alone is judged"
            raise ObjectError(f"calls or reads '{name}', which is other code: {hint}")
        if section.flags & WRITE or section.type == _NOBITS:
            raise ObjectError(f"uses '{name}' in {section.name}, which is not constant")
        plain = section.type == PROGBITS and section.flags & ~(MERGE | STRINGS) == ALLOC
        if not plain or not (self.elf.linked or _CONSTANTS.match(section.name)):
            raise ObjectError(f"uses '{name}' in {section.name}, of which linkers need not keep what it holds")

    def _next(self) -> int:
        """Where the next function of the section begins."""
        others = (
            function.offset
            for function in self.known
            if function.section == self.function.section and not function.label
        )
        return min((offset for offset in others if offset > self.function.offset), default=1 << 62)

    def _extent(self, content: bytes) -> int:
        """How far code goes whose size is not given: to the first way out that no branch leads past.

        Where it jumps by a table, nobody knows what that leads past: then to the next function.
        """
        at = furthest = 0
        while at < len(content):
            instruction = _first(content[at : at + 15])
            at += instruction.length
            if instruction.target is not None:
                furthest = max(furthest, at - instruction.length + instruction.target)
            if instruction.flow == "indirect":
                break
            if instruction.flow in ("return", "jump", "exception") and at > furthest:
                self.end = f"taken to be at offset {at:#x}, where nothing leads past: the file gives no size"
                return at
        self.end = f"taken to be at offset {len(content):#x}, before the next function: the file gives no size"
        return len(content)

    # ---- relocations of objects

    def _relocate_text(self) -> None:
        table, relocations = self.elf.relocations(self.section)
        instructions = decode(bytes(self.text))
        at_offset = {at: one for one in instructions for at in range(one.offset, one.end)}
        relocated = set()
        for relocation in relocations:
            at = relocation.offset - self.function.offset
            touched = [place for place in _touched(relocation, at) if 0 <= place < len(self.text)]
            if table is None or not touched:
                continue
            if not self.unknown.isdisjoint(touched):
                raise ObjectError(f"is relocated twice at offset {at:#x}")
            instruction = at_offset.get(at)
            symbol, name = self._symbol(table, relocation)
            if instruction is None or instruction.end < at + 4:
                raise ObjectError(f"refers to '{name}' at offset {at:#x}, where no operand lies")
            relocated.add(instruction.offset)
            self._relocate(instruction, at, relocation, symbol, name)
            self.unknown.update(touched)
        for instruction in instructions:
            if instruction.offset not in relocated:
                self._move_displacement(instruction)

    def _relocate(self, instruction: Decoded, at: int, relocation: Relocation, symbol: Symbol, name: str) -> None:
        """Sets an operand's displacement, or a branch's."""
        kind, branches = _kind(relocation), instruction.target is not None
        direct = kind in _RELATIVE and (kind == "PC32" or symbol.bind == _LOCAL)
        table = kind in _THROUGH_TABLE and _takes_address(instruction) and at + 4 == instruction.end
        if not (direct or (table and relocation.addend == -4)):
            raise ObjectError(
                f"refers to '{name}' by R_X86_64_{kind}: compile it with -fPIC, so that addresses are relative"
            )
        field = instruction.end - 4 if branches else instruction.offset + _displacement(instruction)
        if at != field:
            raise ObjectError(f"refers to '{name}' at offset {at:#x}, where no displacement lies")
        if table:
            self.text[at - 2] = 0x8D  # mov from the table of addresses to lea, as linkers do
        offset = symbol.value + relocation.addend + instruction.end - at
        place = self._place(instruction, symbol.section, offset, name, symbol)
        self._set(self.text, at, place - instruction.end)
        if table and symbol.bind != _LOCAL and symbol.visibility == _DEFAULT and symbol.section in self.places:
            start = self.data_offset + self.places[symbol.section]  # another file may define it in its stead
            self.unknown.update(range(start, start + self.elf.sections[symbol.section].size))

    def _symbol(self, table: Section, relocation: Relocation) -> tuple[Symbol, str]:
        """The symbol that is meant, and its name; refused is one that another file may define, or that is no place."""
        symbol = self.elf.symbol(table, relocation.symbol)
        section = self.elf.section(symbol.section)
        own = name_at(self.elf.names(table), symbol.name) if symbol.name else ""
        name = own or (section.name if section is not None else "a symbol without a name")
        if section is None:
            raise ObjectError(f"needs '{name}', which the file does not define: only code that stands alone is judged")
        if symbol.type not in (_NOTYPE, _OBJECT, _FUNC, _SECTION) or symbol.bind not in (_LOCAL, _GLOBAL):
            raise ObjectError(f"needs '{name}', which is weak or no plain symbol: another may take its place")
        return symbol, name

    def _place(self, instruction: Decoded, number: int, offset: int, name: str, symbol: Symbol | None = None) -> int:
        """Where that part of a section lies in the image, from the function's start; a new section is taken along."""
        inside = offset - self.function.offset
        own = number == self.function.section  # there constants among the code are meant
        if own and 0 <= inside < len(self.text):
            return inside
        section = self.elf.sections[number]
        if not own:
            self._check_constant(section, name)
        if not 0 <= offset <= section.size:
            raise ObjectError(f"points to '{name}' outside of {section.name}: what lies there nobody knows")
        if number not in self.places:
            self._take(section, own)
        if own:
            self.targets[instruction.offset] = 0, inside + self.origin
        elif section.flags & MERGE:
            entry = self._entry(section, offset, name, symbol)
            self.targets[instruction.offset] = entry, offset - self.pieces[entry].start + self._start(section)
        else:
            self.targets[instruction.offset] = self._piece_of(section), offset
        return self._start(section) + offset

    def _take(self, section: Section, own: bool) -> None:
        self.data.extend(bytes(-len(self.data) % _ALIGNMENT))
        self.places[section.number] = len(self.data)
        content = self.elf.bytes_of(section)
        if len(self.data) + len(content) > _FARTHEST:
            raise ObjectError(f"reads more than {_FARTHEST >> 20} MiB of constants")
        self.data.extend(content)
        start, end = self._start(section), self._start(section) + len(content)
        if own:
            self._piece("code", section, self.origin - self.function.offset, start, end)
        elif not section.flags & MERGE:
            self._piece(f"section {section.number}", section, 0, start, end)
        self._relocate_data(section, own)

    def _start(self, section: Section) -> int:
        return self.data_offset + self.places[section.number]

    def _piece_of(self, section: Section) -> int:
        start = self._start(section)
        return next(number for number, piece in enumerate(self.pieces) if number and piece.start == start)

    def _entry(self, section: Section, offset: int, name: str, symbol: Symbol | None) -> int:
        """The piece that one constant of a mergeable section is; of equal ones, anywhere, a linker keeps one."""
        content, size = self.elf.bytes_of(section), section.entry_size
        value = -1 if symbol is None or symbol.type == _SECTION else symbol.value
        if size not in (1, 2, 4, 8, 16, 32, 64) or not 0 <= value < len(content):
            raise ObjectError(f"uses '{name}' in {section.name}, whose constants are merged, without saying which")
        low = value // size * size
        high = low + size
        if section.flags & STRINGS:
            while low and any(content[low - size : low]):
                low -= size
            while high <= len(content) and any(content[high - size : high]):
                high += size
        if not low <= offset < high or high > len(content):
            raise ObjectError(f"uses '{name}' in {section.name} beyond its end, where constants are merged")
        start = self._start(section) + low
        known = [number for number, piece in enumerate(self.pieces) if number and piece.start == start]
        if known:
            return known[0]
        self._piece(f"section {section.number} at {low}", section, 0, start, start + high - low)
        return len(self.pieces) - 1

    def _piece(self, base: str, section: Section, origin: int, start: int, end: int) -> None:
        alignment = self._alignment(section)
        if section.flags & MERGE:
            alignment = 1 if section.flags & STRINGS else min(alignment, section.entry_size)
        self.pieces.append(Piece(base, alignment, origin, start, end))

    def _alignment(self, section: Section) -> int:
        """What a section's place is a multiple of; of a linked file, of all that is loaded."""
        if self.elf.linked:
            return PAGE
        alignment = section.alignment or 1
        if alignment & (alignment - 1):
            raise ObjectError(f"needs {section.name}, whose alignment is {alignment}, which is no power of 2")
        return min(alignment, PAGE)

    def _relocate_data(self, section: Section, own: bool) -> None:
        """Tables of distances from the table to the code, as switches have them; all else is unknown."""
        table, relocations = self.elf.relocations(section)
        start = self._start(section)
        for relocation in relocations:
            at, kind = start + relocation.offset, _kind(relocation)
            touched = [one for one in _touched(relocation, at) if start <= one < start + section.size]
            if self.unknown.isdisjoint(touched) and table is not None and touched and not own:
                self._enter(self.elf.symbol(table, relocation.symbol), relocation.addend, kind, at)
            else:
                self.entries = {
                    place: to for place, to in self.entries.items() if {*range(place, place + 4)}.isdisjoint(touched)
                }
            self.unknown.update(touched)

    def _enter(self, symbol: Symbol, addend: int, kind: str, at: int) -> None:
        """A distance that stands at that place of the image, to the function or to what is not known."""
        if kind not in _RELATIVE:
            raise ObjectError(f"has a table of addresses (R_X86_64_{kind}): with -fPIC they would be relative")
        place = symbol.value + addend - self.function.offset
        if symbol.section == self.function.section:
            self._set(self.data, at - self.data_offset, place - at)
            if kind == "PC32" and symbol.bind == _LOCAL:
                self.entries[at] = place

    def _move_displacement(self, instruction: Decoded) -> None:
        """An operand that the assembler resolved: constants of the function's own section, perhaps outside of it."""
        memory = instruction.memory
        if memory is not None and memory.target is not None and not 0 <= memory.target < len(self.text):
            offset = self.function.offset + memory.target
            place = self._place(instruction, self.function.section, offset, f"offset {offset:#x}")
            at = instruction.offset + _displacement(instruction)
            self._set(self.text, at, place - instruction.end)
            self.unknown.update(range(at, at + 4))

    def _check_branches(self) -> None:
        """Refuses what leaves the function other than by ret."""
        for instruction in decode(bytes(self.text)):
            target, memory = instruction.target, instruction.memory
            far = instruction.flow == "indirect" and memory is not None and memory.bits != 64
            if far or instruction.flow == "call" or (target is not None and not 0 <= target < len(self.text)):
                text = instruction.text()
                raise ObjectError(f"leaves its own code by '{text}': only code that stands alone is judged")

    def _set(self, content: bytearray, at: int, value: int) -> None:
        if not -(1 << 31) <= value < 1 << 31:
            raise ObjectError("points further than 2 GiB")
        content[at : at + 4] = value.to_bytes(4, "little", signed=True)


def _kind(relocation: Relocation) -> str:
    return _KINDS[relocation.kind] if relocation.kind < len(_KINDS) else str(relocation.kind)


def _touched(relocation: Relocation, at: int) -> range:
    """The places that a linker may change for a relocation there."""
    kind = _kind(relocation)
    if kind in _SIZES:
        return range(at, at + _SIZES[kind])
    if kind in _THROUGH_TABLE:
        return range(at - 3, at + 4)
    return range(at - _AROUND, at + _AROUND)


def _takes_address(instruction: Decoded) -> bool:
    """Whether it is a mov of 64 bits from memory, which a linker may turn into lea."""
    return instruction.mnemonic == "mov" and instruction.raw[1:2] == b"\x8b" and instruction.raw[0] & 0xF8 == 0x48


_PROBE = bytes.fromhex("11335577")


def _displacement(instruction: Decoded) -> int:
    """Where the displacement of a rip-relative operand stands: tried, for behind it may be an immediate."""
    for behind in (0, 1, 2, 4):
        at = instruction.length - 4 - behind
        if instruction.memory is None or instruction.memory.target is None or at < 1:
            break
        (probed,) = decode(instruction.raw[:at] + _PROBE + instruction.raw[at + 4 :])[:1]
        memory = probed.memory
        if memory is not None and memory.target == signed(int.from_bytes(_PROBE, "little"), 32) + instruction.length:
            return at
    raise ObjectError(f"has no displacement in '{instruction.text()}'")


def _first(content: bytes) -> Decoded:
    for length in range(1, len(content) + 1):
        try:
            return decode(content[:length])[0]
        except DecodeError:
            continue
    raise DecodeError(f"holds no instruction at {content.hex(' ')}")
