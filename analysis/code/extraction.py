"""Extraction of one function from an ELF file, with the read-only sections that its operands point into.

The sections of an object file are appended behind the code, and displacements are relocated as a linker would do it.
The sections of a linked file keep their distances. `SectionLayout` records the parts of this layout that every linker
and loader preserves. The distance between two sections of an object is not among them, nor are bytes that a linker or
loader sets. Extraction raises ElfError for a function that needs anything but its code and these sections.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from setwise.analysis.code import elf_reader as elf
from setwise.analysis.code.decode import Binary, Decoded, decode, decode_from, displacement
from setwise.analysis.code.elf_reader import Elf, ElfError, ElfRelocation, ElfSection, Symbol, name_at
from setwise.analysis.code.section_layout import Piece, Ranges, SectionLayout

_ALIGNMENT = 64  # a cache line: the largest alignment that an operand needs
_LONGEST = 1 << 16  # the most bytes of a function
_FARTHEST = 1 << 26  # the most bytes of an object's data, and from a linked function's start to the end of its data
_MOST_CALLED = 64  # functions that are followed with one
_MOST_SECTIONS = 1000  # in a linked file whose functions can be extracted
_BETWEEN, _PITCH = b"\xcc", 16  # int3 between two functions, and the alignment of the second
_PLACE = b"\xc3"  # of a function of the C library
_RELATIVE = frozenset({"PC32", "PLT32"})
_ABSOLUTE = frozenset({"32", "32S", "64"})
_ALONE = "only self-contained functions can be analyzed"
_DEFINED = "join it with the file that does by ld -r; memcpy and memset are known if they are called directly"
_LINKED = "give the linked program"
_LIBRARY = frozenset({"memcpy", "memset"})
# Sections that default linker scripts copy unchanged; other names that begin with a dot have rules of their own.
_CONSTANTS = re.compile(r"\.l?rodata(\..*)?$|[^.]")


@dataclass(frozen=True, slots=True)
class FunctionSymbol:
    """A function's symbol, its offset in its section, and the string table that holds its name.

    A size of 0 in the symbol means that the file gives none.
    """

    names: bytes
    symbol: Symbol
    offset: int

    @property
    def name(self) -> str:
        """The function's name."""
        return name_at(self.names, self.symbol.name)

    def is_called(self, name: bytes) -> bool:
        """Return whether the function has that name."""
        return self.names.startswith(name + b"\0", self.symbol.name)


@dataclass(frozen=True, slots=True)
class Part:
    """The code of one function in a text, from `start` to below `end`; `shift` leads from there to its section."""

    function: FunctionSymbol
    start: int
    end: int

    @property
    def shift(self) -> int:
        """The offset in the section of the text's start, if all of the text were at the distances of this part."""
        return self.function.offset - self.start


@dataclass
class Extraction:
    """The extraction of one function. `known` are all functions and labels of the file.

    With `calls`, the functions that it calls or jumps to, and theirs, are appended to its code. The bytes of the
    sections that they read are collected in `data`.
    """

    elf: Elf
    function: FunctionSymbol
    known: Sequence[FunctionSymbol]
    calls: bool = False
    parts: list[Part] = field(default_factory=list)
    branches: dict[int, int] = field(default_factory=dict)
    relocated: set[int] = field(default_factory=set)
    """The offsets of those `branches` whose destinations a linker sets."""
    library: dict[str, int] = field(default_factory=dict)
    """The offset in `text` of the place of each function of the C library."""
    text: bytearray = field(default_factory=bytearray)
    data: bytearray = field(default_factory=bytearray)
    places: dict[int, int] = field(default_factory=dict)
    """For an object the offset in `data` of each section that is in it, by section number."""
    pieces: list[Piece] = field(default_factory=list)
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    """The index in `pieces` by section number and offset: of a whole section (0), or of one mergeable constant."""
    unknown: Ranges = field(default_factory=Ranges)
    targets: dict[int, tuple[int, int]] = field(default_factory=dict)
    entries: dict[int, tuple[int, int]] = field(default_factory=dict)
    end: str = ""

    @property
    def section(self) -> ElfSection:
        """The section that holds the function."""
        return self.elf.sections[self.function.symbol.section]

    @property
    def data_offset(self) -> int:
        """The offset of an object's data from the function's start: the code size rounded up to a cache line."""
        return -(-len(self.text) // _ALIGNMENT) * _ALIGNMENT

    @property
    def origin(self) -> int:
        """The function's address (in an object its offset in its section) modulo `_alignment` of its section."""
        address = self.function.offset + (self.section.address if self.elf.linked else 0)
        return address % self._alignment(self.section)

    def binary(self) -> Binary:
        """Return the function's code with the sections that it reads. Raises ElfError or DecodeError if refused."""
        self._append(self.function)
        if self.calls:
            self._follow()
        if self.elf.linked:
            self._check_branches()
            return self._in_place(self.section.address + self.function.offset)
        decoded = decode(bytes(self.text))
        for part in self.parts:
            self._relocate_text(part, [each for each in decoded if part.start <= each.offset < part.end])
        self._check_branches()
        return self._made(self.data_offset)

    def _append(self, function: FunctionSymbol) -> Part:
        """Append the code of a function to `text`. Raises ElfError or DecodeError if it is refused."""
        section, start = self.elf.sections[function.symbol.section], function.offset
        if section.type != elf.PROGBITS or section.flags & ~elf.GROUP != elf.ALLOC | elf.EXECINSTR:
            raise ElfError(f"is in {section.name}, which is not a section of read-only code: put it into .text")
        if not 0 <= start < section.size:
            raise ElfError("has no code: its address is outside its section: name another function")
        size = function.symbol.size or min(section.size, self._next(function)) - start
        if start + size > section.size:
            raise ElfError("extends beyond the end of its section: the file is damaged")
        if self.elf.linked:
            content, flags = self.elf.loaded(section.address + start, min(size, _LONGEST + 1))
            if not flags & elf.EXECUTABLE or flags & elf.WRITABLE:
                raise ElfError("is in a segment that is writable or not executable: link it as read-only code")
            if self.elf.relocates_text:
                raise ElfError(
                    "needs load-time relocations of its code (text relocations): compile the file with -fPIC"
                )
        else:
            content = self.elf.bytes_of(section)[start : start + min(size, _LONGEST + 1)]
        if not function.symbol.size:
            end, own = self._extent(content)
            content, self.end = content[:end], self.end if self.parts else own
        if self.parts:
            self.text += _BETWEEN * (_PITCH - len(self.text) % _PITCH)
        part = Part(function, len(self.text), len(self.text) + len(content))
        self.text += content
        if part.end > _LONGEST:
            raise ElfError(f"has more than {_LONGEST:,} bytes of code: give a shorter function")
        if self.elf.linked or section == self.section:
            origin = self.origin + self._address(function) - self._address(self.function)
            self._piece("code", section, origin, part.start, part.end)
        else:
            self._piece(f"section {section.number}", section, start, part.start, part.end)
        self.parts.append(part)
        return part

    def _address(self, function: FunctionSymbol) -> int:
        """Return the address of a function, in an object its offset in its section."""
        return function.offset + (self.elf.sections[function.symbol.section].address if self.elf.linked else 0)

    # ---- functions that are called

    def _follow(self) -> None:
        """Append the functions that `parts` call or jump to, and list the branches to them.

        Raises ElfError for more than _MOST_CALLED functions, for recursion, and for what is no function of the file.
        """
        edges: dict[int, set[int]] = {}
        called: list[tuple[Part, Part]] = []
        for part in self.parts:  # which grows
            decoded = decode(bytes(self.text[part.start : part.end]))
            relocated = {} if self.elf.linked else self._relocated_branches(part, decoded)
            for instruction in decoded:
                at, target = instruction.offset + part.start, instruction.target
                if target is None or (at not in relocated and 0 < target < part.end - part.start):
                    continue
                if target == 0 and at not in relocated and instruction.flow != "call":
                    continue
                found = relocated.get(at) or self._destination(part, target)
                if isinstance(found, str):
                    self.branches[at] = self._library(found)
                    continue
                number, offset, name = found
                other = self._part(number, offset, name)
                self.branches[at] = other.start + offset - other.function.offset
                edges.setdefault(part.start, set()).add(other.start)
                if instruction.flow == "call":
                    called.append((part, other))
        for part, other in called:
            reached, waiting = set[int](), [other.start]
            while waiting:
                reached |= (new := edges.get(waiting.pop(), set()) - reached)
                waiting += new
            if part is other or part.start in reached:
                raise ElfError(f"calls '{part.function.name}', which calls itself: write the recursion as a loop")

    def _relocated_branches(self, part: Part, decoded: Sequence[Decoded]) -> dict[int, str | tuple[int, int, str]]:
        """Return the destination of each branch of a part that a linker sets, by the branch's offset in the text.

        It is the name of a function of the C library, or section, offset and name. Raises ElfError if it is neither.
        """
        table, relocations = self.elf.relocations(self.elf.sections[part.function.symbol.section])
        fields = {each.end + part.start - 4: each for each in decoded}
        found: dict[int, str | tuple[int, int, str]] = {}
        for relocation in relocations:
            instruction = fields.get(relocation.offset - part.shift)
            relative = relocation.kind in _RELATIVE
            if table is None or instruction is None or instruction.target is None or not relative:
                continue
            symbol = self.elf.symbol(table, relocation.symbol)
            name = name_at(self.elf.names(table), symbol.name) if symbol.name else ""
            at = instruction.offset + part.start
            self.relocated.add(at)
            if symbol.section == 0 and name in _LIBRARY and symbol.is_plain and relocation.addend == -4:
                found[at] = name
            else:
                symbol, name = self._symbol(table, relocation)
                found[at] = symbol.section, symbol.value + relocation.addend + 4, name
        return found

    def _destination(self, part: Part, target: int) -> tuple[int, int, str]:
        """Return section, offset and name of the destination of a branch, whose target counts from its part's start."""
        number, offset = part.function.symbol.section, part.function.offset + target
        if self.elf.linked:
            section = self._section_at(self.elf.sections[number].address + offset)
            number, offset = section.number, self.elf.sections[number].address + offset - section.address
        return number, offset, f"offset {offset:#x} of {self.elf.sections[number].name}"

    def _part(self, number: int, offset: int, name: str) -> Part:
        """Return the part with the function that holds an offset of a section, and append it if it is new."""
        for part in self.parts:
            if part.function.symbol.section == number and part.start <= offset - part.shift < part.end:
                return part
        here = [each for each in self.known if each.symbol.section == number and not each.symbol.is_label]
        named = [function for function in here if 0 <= offset - function.offset < (function.symbol.size or 1)]
        if not named:
            hint = "give the object file" if self.elf.linked else _DEFINED
            raise ElfError(f"calls or jumps to {name}, which is no function of the file: {hint}")
        plain = all(function.symbol.is_plain for function in named) and number not in self.elf.grouped
        if not plain and not self.elf.linked:
            raise ElfError(f"calls '{named[0].name}', which another file may define: make it static")
        if len(self.parts) == _MOST_CALLED:
            raise ElfError(f"calls more than {_MOST_CALLED} functions, directly or not: inline some")
        return self._append(max(named, key=lambda function: function.symbol.size))

    def _library(self, name: str) -> int:
        """Return the place in the text of a function of the C library."""
        if name not in self.library:
            self.text += _BETWEEN
            self.library[name] = len(self.text)
            self.text += _PLACE
            self.pieces.append(Piece(name, 1, 0, len(self.text) - 1, len(self.text)))
        return self.library[name]

    def _made(self, data_offset: int) -> Binary:
        targets = tuple((at, *where) for at, where in sorted(self.targets.items()))
        entries = tuple((at, *where) for at, where in sorted(self.entries.items()))
        others = tuple(sorted(self.branches.items())), tuple((at, name) for name, at in self.library.items())
        layout = SectionLayout(tuple(self.pieces), tuple(self.unknown.pairs), targets, entries, self.end, *others)
        return Binary(bytes(self.text), bytes(self.data), data_offset if self.data else 0, layout)

    def _in_place(self, start: int) -> Binary:
        """Return a linked function at address `start` with the sections it points into, and zeros between these."""
        wanted = {}
        if len(self.elf.sections) > _MOST_SECTIONS:
            raise ElfError(f"is in a linked file with more than {_MOST_SECTIONS:,} sections: give the object file")
        for instruction in decode(bytes(self.text)):
            memory = instruction.memory
            if memory is None or memory.target is None:
                continue
            part = max((each for each in self.parts if each.start <= instruction.offset), key=attrgetter("start"))
            if part.start <= memory.target < part.end:
                continue
            address = self._address(part.function) - part.start + memory.target
            section = self._section_at(address)
            self._check_constant(section, f"{address:#x}")
            inside = displacement(instruction)
            if part.start and inside is not None:
                self.targets[instruction.offset] = 0, address - start + self.origin
                self._set(self.text, instruction.offset + inside, address - start - instruction.end)
                self.unknown.add(instruction.offset + inside, instruction.offset + inside + 4)
            if section.address < start + len(self.text):
                raise ElfError(f"reads {section.name}, which precedes the code: give the object file")
            wanted[section.address] = section
        if not wanted:
            return self._made(0)
        first, end = min(wanted), max(section.address + section.size for section in wanted.values())
        if end - start > _FARTHEST:
            raise ElfError(f"reads constants more than {_FARTHEST >> 20} MiB away: give the object file")
        self.data[:] = bytes(end - first)
        for address, section in sorted(wanted.items()):
            content, flags = self.elf.loaded(address, section.size)
            if not flags & elf.READABLE or flags & elf.WRITABLE:
                raise ElfError(f"reads {section.name}, which is not loaded as read-only data: make it const")
            self.data[address - first : address - first + section.size] = content
            place = address - start
            self._piece("code", self.section, place + self.origin, place, place + section.size)
        return self._made(first - start)

    def _section_at(self, address: int) -> ElfSection:
        for section in self.elf.sections:
            if section.flags & elf.ALLOC and 0 <= address - section.address < section.size:
                return section
        raise ElfError(f"reads {address:#x}, which is in no section: let it read constants of .rodata only")

    def _check_constant(self, section: ElfSection, name: str) -> None:
        if section.flags & elf.EXECINSTR:
            cold = "compile with -fno-reorder-blocks-and-partition to keep cold code inside the function"
            hint = cold if section.name == ".text.unlikely" else _ALONE
            raise ElfError(f"calls or reads '{name}', which is outside the function: {hint}")
        if section.flags & elf.WRITE or section.type == elf.NOBITS:
            addresses = section.name.startswith((".got", ".data.rel.ro"))
            hint = "read static const data that holds no addresses" if addresses else "make it const"
            raise ElfError(f"uses '{name}' in {section.name}, which is not constant: {hint}")
        plain = section.type == elf.PROGBITS and section.flags & ~(elf.MERGE | elf.STRINGS) == elf.ALLOC
        plain = plain and section.number not in self.elf.grouped
        if not plain or not (self.elf.linked or _CONSTANTS.match(section.name)):
            remedy = _LINKED if section.number in self.elf.grouped else "move it to .rodata"
            raise ElfError(f"uses '{name}' in {section.name}, not a section of plain constants: {remedy}")

    def _next(self, function: FunctionSymbol) -> int:
        """Return the offset of the next function in the section, labels excluded, or a huge number if there is none."""
        others = (
            other.offset
            for other in self.known
            if other.symbol.section == function.symbol.section and not other.symbol.is_label
        )
        return min((offset for offset in others if offset > function.offset), default=1 << 62)

    def _extent(self, content: bytes) -> tuple[int, str]:
        """Return the size of code whose symbol has none: up to the first exit that no earlier branch jumps beyond.

        Without such an exit, or if an indirect jump, whose targets are unknown, precedes it, return that of `content`.
        With it comes a line that says so.
        """
        furthest = 0
        for instruction in decode_from(content, 0):
            furthest = max(furthest, instruction.target or 0)
            if instruction.flow == "indirect":
                break
            if instruction.flow in ("return", "jump", "exception") and instruction.end > furthest:
                end = f"assumed at offset {instruction.end:#x}"
                return instruction.end, f"{end}, beyond which no branch jumps: the file gives no size"
        return len(content), f"assumed at offset {len(content):#x}, before the next function: the file gives no size"

    # ---- relocations of objects

    def _relocate_text(self, part: Part, decoded: Sequence[Decoded]) -> None:
        table, relocations = self.elf.relocations(self.elf.sections[part.function.symbol.section])
        at_offset = {at: one for one in decoded for at in range(one.offset, one.end)}
        relocated = set()
        for relocation in relocations:
            at = relocation.offset - part.shift
            low, high = relocation.touched(at, part.start, part.end)
            if table is None or low >= high:
                continue
            if self.unknown.overlaps(low, high):
                raise ElfError(f"has two relocations for its bytes at offset {at:#x}: the file is damaged")
            instruction = at_offset.get(at)
            if instruction is not None and instruction.offset in self.relocated and at + 4 == instruction.end:
                relocated.add(instruction.offset)
                self.unknown.add(low, high)
                continue
            symbol, name = self._symbol(table, relocation)
            if instruction is None or instruction.end < at + 4:
                raise ElfError(f"relocates '{name}' at offset {at:#x}, outside operands (data in the code?): {_LINKED}")
            relocated.add(instruction.offset)
            self._relocate(instruction, at, relocation, symbol, name)
            self.unknown.add(low, high)
        for instruction in decoded:
            if instruction.offset not in relocated:
                self._move_displacement(part, instruction)

    def _relocate(self, instruction: Decoded, at: int, relocation: ElfRelocation, symbol: Symbol, name: str) -> None:
        """Relocate a memory operand's or branch's displacement. A load from the global offset table becomes lea."""
        kind, branches = relocation.kind, instruction.target is not None
        direct = kind in _RELATIVE and (kind == "PC32" or symbol.is_local)
        table = kind in elf.THROUGH_TABLE and _takes_address(instruction) and at + 4 == instruction.end
        if not (direct or (table and relocation.addend == -4)):
            if branches:
                raise ElfError(f"calls or jumps to '{name}': {_ALONE}")
            hint = "compile it with -fPIC" if kind in _ABSOLUTE else "only addresses relative to rip: make it static"
            raise ElfError(f"refers to '{name}' by R_X86_64_{kind}: {hint}")
        inside = instruction.length - 4 if branches else displacement(instruction)
        if inside is None:
            raise ElfError(f"has no displacement in '{instruction.text()}' to relocate: the file is damaged")
        if at != instruction.offset + inside:
            raise ElfError(f"relocates '{name}' at offset {at:#x}, in an operand that is no address: {_LINKED}")
        if table:
            self.text[at - 2] = 0x8D  # turn the load from the global offset table into lea, as linkers do
        offset = symbol.value + relocation.addend + instruction.end - at
        place = self._place(instruction, symbol.section, offset, name, symbol)
        self._set(self.text, at, place - instruction.end)
        # A definition in another file may replace an exported symbol when the files are loaded.
        if table and symbol.is_exported:
            if symbol.section not in self.places:
                raise ElfError(
                    f"loads the address of '{name}', which another file may define: make it static or hidden"
                )
            section = self.elf.sections[symbol.section]
            start, end = self._start(section), self._start(section) + section.size
            self.unknown.add(start, end)
            # The alignment and size of that definition, and its distance from its neighbours, are unknown too.
            self.pieces.append(Piece(f"symbol {relocation.symbol}", 1, 0, start + symbol.value, end))
            self.targets[instruction.offset] = len(self.pieces) - 1, offset - symbol.value

    def _symbol(self, table: ElfSection, relocation: ElfRelocation) -> tuple[Symbol, str]:
        """Return a relocation's symbol and a name for it. Raises ElfError if it is in no section or not plain."""
        symbol = self.elf.symbol(table, relocation.symbol)
        section = self.elf.section(symbol.section)
        own = name_at(self.elf.names(table), symbol.name) if symbol.name else ""
        name = own or (section.name if section is not None else "an unnamed symbol")
        if section is None:
            raise ElfError(f"needs '{name}', which the file does not define: {_DEFINED if self.calls else _ALONE}")
        if not symbol.is_plain:
            hint = "inline it if it is a function, else give the linked program"
            raise ElfError(f"needs '{name}', which is weak, thread-local or replaceable: {hint}")
        return symbol, name

    def _place(self, instruction: Decoded, number: int, offset: int, name: str, symbol: Symbol | None = None) -> int:
        """Return the distance in the image of an offset in section `number` from the function's start.

        For an offset outside the function append the section to `data` if it is new, and add the operand to `targets`.
        """
        inside = offset - self.function.offset
        own = number == self.function.symbol.section  # constants among the code
        if own and 0 <= inside < self.parts[0].end:
            if instruction.offset >= self.parts[0].end:
                self.targets[instruction.offset] = 0, inside + self.origin
            return inside
        section = self.elf.sections[number]
        if not own:
            self._check_constant(section, name)
        if not 0 <= offset <= section.size:
            raise ElfError(f"points to '{name}' outside {section.name}, to unknown contents: {_LINKED}")
        if number not in self.places:
            self._take(section, own)
        if own:
            self.targets[instruction.offset] = 0, inside + self.origin
        else:
            low = self._entry(section, offset, name, symbol) if section.flags & elf.MERGE else 0
            self.targets[instruction.offset] = self.numbers[number, low], offset - low
        return self._start(section) + offset

    def _take(self, section: ElfSection, own: bool) -> None:
        self.data.extend(bytes(-len(self.data) % _ALIGNMENT))
        self.places[section.number] = len(self.data)
        content = self.elf.bytes_of(section)
        if len(self.data) + len(content) > _FARTHEST:
            raise ElfError(f"reads sections with more than {_FARTHEST >> 20} MiB: compile it in a file of its own")
        self.data.extend(content)
        start, end = self._start(section), self._start(section) + len(content)
        if own:
            self._piece("code", section, self.origin - self.function.offset, start, end)
        elif not section.flags & elf.MERGE:
            self.numbers[section.number, 0] = self._piece(f"section {section.number}", section, 0, start, end)
        self._relocate_data(section, own)

    def _start(self, section: ElfSection) -> int:
        return self.data_offset + self.places[section.number]

    def _entry(self, section: ElfSection, offset: int, name: str, symbol: Symbol | None) -> int:
        """Add to `pieces` the constant that `symbol` marks in a mergeable section, and return its offset there.

        A linker keeps one copy of equal constants, anywhere in the merged section, so only the symbol tells which is
        meant. Raises ElfError if no single constant is marked, or if `offset` is outside it.
        """
        start, size = self._start(section), section.entry_size
        value = -1 if symbol is None or symbol.is_section else symbol.value
        if section.flags & elf.STRINGS or size not in (1, 2, 4, 8, 16, 32, 64) or not 0 <= value < section.size:
            raise ElfError(f"uses '{name}' in {section.name}, whose constants a linker merges: {_LINKED}")
        low = value // size * size
        high = low + size
        if not low <= offset < high <= section.size:
            raise ElfError(f"reads beyond the constant '{name}' in {section.name}, which a linker may move: {_LINKED}")
        if (section.number, low) not in self.numbers:
            base = f"section {section.number} at {low}"
            self.numbers[section.number, low] = self._piece(base, section, 0, start + low, start + high)
        return low

    def _piece(self, base: str, section: ElfSection, origin: int, start: int, end: int) -> int:
        """Append a piece and return its index."""
        alignment = self._alignment(section)
        if section.flags & elf.MERGE:
            alignment = min(alignment, section.entry_size)
        self.pieces.append(Piece(base, alignment, origin, start, end))
        return len(self.pieces) - 1

    def _alignment(self, section: ElfSection) -> int:
        """Return the alignment of a section in bytes, at most the page size; in a linked file the page size."""
        if self.elf.linked:
            return elf.PAGE
        alignment = section.alignment or 1
        if alignment & (alignment - 1):
            raise ElfError(f"needs {section.name} with alignment {alignment}, no power of 2: the file is damaged")
        return min(alignment, elf.PAGE)

    def _relocate_data(self, section: ElfSection, own: bool) -> None:
        """Write a section's jump table entries, which are distances, and mark all its relocated bytes as unknown.

        Nothing is written for a relocation that overlaps an earlier one, nor with `own`, for the function's section.
        """
        table, relocations = self.elf.relocations(section)
        start = self._start(section)
        for relocation in relocations:
            at, kind = start + relocation.offset, relocation.kind
            low, high = relocation.touched(at, start, start + section.size)
            if not self.unknown.overlaps(low, high) and table is not None and low < high and not own:
                self._enter(self.elf.symbol(table, relocation.symbol), relocation.addend, kind, at)
            else:
                for before in range(low - 3, high):
                    self.entries.pop(before, None)
            self.unknown.add(low, high)

    def _enter(self, symbol: Symbol, addend: int, kind: str, at: int) -> None:
        """Write at `at` in the image the distance of a symbol in a part's section. ElfError if it is not relative."""
        if kind not in _RELATIVE:
            raise ElfError(
                f"has a table of absolute addresses (R_X86_64_{kind}): compile it with -fPIC, or store distances"
            )
        part = next((each for each in self.parts if each.function.symbol.section == symbol.section), None)
        if part is not None:
            place = symbol.value + addend - part.shift
            self._set(self.data, at - self.data_offset, place - at)
            if kind == "PC32" and symbol.is_local:
                self.entries[at] = place, part.start

    def _move_displacement(self, part: Part, instruction: Decoded) -> None:
        """Adjust an operand without relocation that points outside the function, to constants in its section."""
        memory, inside = instruction.memory, displacement(instruction)
        if inside and memory and memory.target is not None and not part.start <= memory.target < part.end:
            number, offset = part.function.symbol.section, part.shift + memory.target
            if not 0 <= offset <= self.elf.sections[number].size:
                return  # probably not an instruction but constants among the code
            place = self._place(instruction, number, offset, f"offset {offset:#x}")
            at = instruction.offset + inside
            self._set(self.text, at, place - instruction.end)
            self.unknown.add(at, at + 4)

    def _check_branches(self) -> None:
        """Raise ElfError for a far jump, and for a call or a direct branch out of the function that is not followed."""
        for instruction in decode(bytes(self.text)):
            target, memory = instruction.target, instruction.memory
            far = instruction.flow == "indirect" and memory is not None and memory.bits != 64
            call = instruction.flow == "call" and (target is None or not self.calls)
            leaves = target is not None and not self.calls and not 0 <= target < len(self.text)
            if far or call or leaves:
                hint = "only calls of functions by name are followed" if self.calls and not far else _ALONE
                raise ElfError(f"leaves the function by '{instruction.text()}': {hint}")

    def _set(self, content: bytearray, at: int, value: int) -> None:
        if not -(1 << 31) <= value < 1 << 31:
            raise ElfError("has an operand more than 2 GiB away from its instruction: the file is damaged")
        content[at : at + 4] = value.to_bytes(4, "little", signed=True)


def _takes_address(instruction: Decoded) -> bool:
    """Return whether the instruction is a 64-bit mov with opcode 8B; a linker may turn such a load into lea."""
    return instruction.mnemonic == "mov" and instruction.raw[1:2] == b"\x8b" and instruction.raw[0] & 0xF8 == 0x48
