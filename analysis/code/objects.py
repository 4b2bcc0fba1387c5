"""Functions out of ELF files, so that somebody else's code is judged as ours is: objects, programs, shared libraries.

A function is taken out with the read-only sections that its operands point into: in an object laid out behind it and
displacements set anew, as a linker does; in a linked file at the distance that they have. What cannot stand alone is
refused by name: calls, writable data, fixed addresses.
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_RELOC_TYPE_x64
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, Mem, decode

_ALIGNMENT = 64  # a line of the cache: as much as any operand needs
_RELATIVE = frozenset({"R_X86_64_PC32", "R_X86_64_PLT32"})
_THROUGH_TABLE = frozenset({"R_X86_64_GOTPCREL", "R_X86_64_GOTPCRELX", "R_X86_64_REX_GOTPCRELX"})


class ObjectError(ValueError):
    """A file or a function in it that cannot be judged; the message is one line."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function's place: its section, where in that it begins, and its size (0: the file does not say).

    A label is a name that only an assembler's source knows, perhaps of a place within a function.
    """

    name: str
    section: int
    offset: int
    size: int
    label: bool = False


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
        found = next((function for function in known if function.name == symbol), None)
        if found is None:
            names = [function.name for function in known if not function.label]
            raise ObjectError(f"{path}: no function '{symbol}': {_offer(symbol, names)}")
        try:
            return _Extraction(elf, found, known).binary()
        except (ObjectError, DecodeError) as error:
            raise ObjectError(f"{path}: {symbol} {error}") from None


def load_all(path: str | Path, wanted: Container[str]) -> dict[str, Binary | ObjectError]:
    """As `load`, every function of the file whose name is wanted, and for those that cannot be judged the reason."""
    made: dict[str, Binary | ObjectError] = {}
    with _opened(path) as elf:
        known = _functions(elf)
        for function in known:
            if function.name in wanted and function.name not in made and not function.label:
                try:
                    made[function.name] = _Extraction(elf, function, known).binary()
                except (ObjectError, DecodeError) as error:
                    made[function.name] = ObjectError(f"{function.name} {error}")
    return made


class _Elf(ELFFile):
    """An ELF file whose sections are read once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._sections: dict[int, Any] = {}
        super().__init__(stream)

    def get_section(self, n: int, type: Any = None) -> Any:
        """Section number n."""
        if n not in self._sections:
            self._sections[n] = super().get_section(n, type)
        return self._sections[n]


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    try:
        with Path(path).open("rb") as stream:
            elf = _Elf(stream)
            if elf["e_machine"] != "EM_X86_64" or elf.elfclass != 64:
                raise ObjectError(f"{path}: made for {elf.get_machine_arch()}, not for x86-64")
            yield elf
    except OSError as error:
        raise ObjectError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ELFError:
        raise ObjectError(f"{path}: not an ELF file: give an object, program or shared library of Linux") from None


def _functions(elf: Any) -> list[Symbol]:
    """All functions, global ones first where a name comes twice."""
    linked = elf["e_type"] != "ET_REL"
    found: list[tuple[bool, int, Symbol]] = []
    for table in elf.iter_sections():
        if not isinstance(table, SymbolTableSection):
            continue
        for symbol in table.iter_symbols():
            number = symbol["st_shndx"]
            if not isinstance(number, int) or symbol["st_info"]["type"] not in ("STT_FUNC", "STT_NOTYPE"):
                continue
            section = elf.get_section(number)
            if not symbol.name or not section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
                continue
            offset = symbol["st_value"] - (section["sh_addr"] if linked else 0)
            local, untyped = symbol["st_info"]["bind"] == "STB_LOCAL", symbol["st_info"]["type"] == "STT_NOTYPE"
            function = Symbol(symbol.name, number, offset, symbol["st_size"], label=local and untyped)
            found.append((local, symbol["st_value"], function))
    return [function for _, _, function in sorted(found, key=lambda entry: entry[:2])]


def _offer(name: str, known: Sequence[str]) -> str:
    if not known:
        return "the file names none"
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.4) or list(dict.fromkeys(known))[:5]
    return f"it has {', '.join(near)}{' ...' if len(set(known)) > len(near) else ''}"


@dataclass
class _Extraction:
    """One function on its way out of its file; what it points into is appended to `data`, a section at a time."""

    elf: Any
    function: Symbol
    known: Sequence[Symbol]
    text: bytearray = field(default_factory=bytearray)
    data: bytearray = field(default_factory=bytearray)
    places: dict[int, int] = field(default_factory=dict)  # a section's number to its offset in `data`

    @property
    def linked(self) -> bool:
        """Whether a linker has set the displacements; else relocations say what they are to be."""
        return bool(self.elf["e_type"] != "ET_REL")

    @property
    def data_offset(self) -> int:
        """Where an object's data is laid out, from the function's start."""
        return -(-len(self.text) // _ALIGNMENT) * _ALIGNMENT

    def binary(self) -> Binary:
        """The function alone."""
        section = self.elf.get_section(self.function.section)
        content, start = section.data(), self.function.offset
        self.text[:] = content[start : start + (self.function.size or _extent(content[start : self._next()]))]
        if not self.text:
            raise ObjectError("has no code")
        if self.linked:
            self._check_branches()
            return self._in_place(section["sh_addr"] + start)
        relocations = {
            relocation["r_offset"] - start: relocation for relocation in self._relocations(self.function.section)
        }
        for instruction in decode(bytes(self.text)):
            if relocations.keys().isdisjoint(range(instruction.offset, instruction.end)):
                self._move_displacement(instruction)
        for at, relocation in relocations.items():
            if 0 <= at < len(self.text):
                self._relocate_text(at, relocation)
        self._check_branches()
        return Binary(bytes(self.text), bytes(self.data), self.data_offset if self.data else 0)

    def _in_place(self, start: int) -> Binary:
        """A linked function: with all sections from the first to the last that it reads, where they are."""
        wanted = {}
        for instruction in decode(bytes(self.text)):
            memory = instruction.memory
            if memory is None or memory.target is None or 0 <= memory.target < len(self.text):
                continue
            section = self._section_at(start + memory.target)
            self._check_constant(section, f"{start + memory.target:#x}")
            if section["sh_addr"] < start + len(self.text):
                raise ObjectError(
                    f"reads {section.name} in front of it: only constants behind the code are taken along"
                )
            wanted[section["sh_addr"]] = section
        if not wanted:
            return Binary(bytes(self.text))
        first = min(wanted)
        for address, section in sorted(wanted.items()):
            self.data.extend(bytes(address - first - len(self.data)))
            self.data.extend(section.data())
        return Binary(bytes(self.text), bytes(self.data), first - start)

    def _section_at(self, address: int) -> Any:
        for section in self.elf.iter_sections():
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and 0 <= address - section["sh_addr"] < section["sh_size"]:
                return section
        raise ObjectError(f"reads {address:#x}, which lies in no section")

    def _check_constant(self, section: Any, name: str) -> None:
        flags = section["sh_flags"]
        if flags & SH_FLAGS.SHF_EXECINSTR:
            cold = "gcc's -fno-reorder-blocks-and-partition keeps rare parts inside"
            hint = cold if section.name == ".text.unlikely" else "only code that stands alone is judged"
            raise ObjectError(f"calls or reads '{name}', which is other code: {hint}")
        if flags & SH_FLAGS.SHF_WRITE or section["sh_type"] == "SHT_NOBITS":
            raise ObjectError(f"uses '{name}' in {section.name}, which is not constant")

    def _next(self) -> int:
        """Where the next function of the section begins."""
        others = (
            function.offset
            for function in self.known
            if function.section == self.function.section and not function.label
        )
        return min((offset for offset in others if offset > self.function.offset), default=1 << 62)

    def _relocations(self, section: int) -> Iterator[Any]:
        for table in self.elf.iter_sections():
            if isinstance(table, RelocationSection) and table["sh_info"] == section:
                yield from table.iter_relocations()

    def _target(self, relocation: Any) -> tuple[str, str, int | None, int]:
        """A relocation's kind, and the name, section and offset of the symbol that it speaks of."""
        kind = next((n for n, v in ENUM_RELOC_TYPE_x64.items() if v == relocation["r_info_type"]), "of unknown kind")
        table = next(one for one in self.elf.iter_sections() if isinstance(one, SymbolTableSection))
        symbol = table.get_symbol(relocation["r_info_sym"])
        number = symbol["st_shndx"]
        known = number if isinstance(number, int) else None
        name = symbol.name or (self.elf.get_section(known).name if known is not None else "a symbol without a name")
        return kind, name, known, symbol["st_value"]

    def _relocate_text(self, at: int, relocation: Any) -> None:
        kind, name, section, value = self._target(relocation)
        if section is None:
            raise ObjectError(f"needs '{name}', which the file does not define: only code that stands alone is judged")
        if kind in _THROUGH_TABLE and self.text[at - 2] == 0x8B:
            self.text[at - 2] = 0x8D  # mov from the table of addresses to lea, as linkers do
        elif kind not in _RELATIVE:
            raise ObjectError(f"refers to '{name}' by {kind}: compile it with -fPIC, so that addresses are relative")
        # The displacement counts from the instruction's end, the addend makes up for that.
        addend = relocation["r_addend"]
        self._set(self.text, at, self._place(section, value + addend + 4, name) - 4 - at)

    def _place(self, section: int, offset: int, name: str) -> int:
        """Where that part of a section lies in the image, from the function's start; a new section is taken along."""
        inside = offset - self.function.offset
        if section == self.function.section and 0 <= inside < len(self.text):
            return inside
        if section not in self.places:
            found = self.elf.get_section(section)
            own = section == self.function.section  # there constants among the code are meant
            if not own:
                self._check_constant(found, name)
            self.data.extend(bytes(-len(self.data) % _ALIGNMENT))
            self.places[section] = len(self.data)
            self.data.extend(found.data())
            if not own:
                self._relocate_data(section)
        return self.data_offset + self.places[section] + offset

    def _relocate_data(self, section: int) -> None:
        """Tables of distances from the table to the code, as switches have them."""
        for relocation in self._relocations(section):
            kind, _, target, value = self._target(relocation)
            if kind not in _RELATIVE or target is None:
                raise ObjectError(f"has a table of addresses ({kind}): with -fPIC they would be relative")
            if target == self.function.section:
                at = self.places[section] + relocation["r_offset"]
                place = value + relocation["r_addend"] - self.function.offset
                self._set(self.data, at, place - (self.data_offset + at))

    def _move_displacement(self, instruction: Decoded) -> None:
        """An operand that the assembler resolved: constants of the function's own section, perhaps outside of it."""
        memory = instruction.memory
        if memory is not None and memory.target is not None and not 0 <= memory.target < len(self.text):
            offset = self.function.offset + memory.target
            place = self._place(self.function.section, offset, f"offset {offset:#x}")
            self.text[instruction.offset : instruction.end] = _pointed(instruction, memory, place)

    def _check_branches(self) -> None:
        """Refuses what leaves the function other than by ret."""
        for instruction in decode(bytes(self.text)):
            target = instruction.target
            if instruction.flow == "call" or (target is not None and not 0 <= target < len(self.text)):
                text = instruction.text()
                raise ObjectError(f"leaves its own code by '{text}': only code that stands alone is judged")

    def _set(self, content: bytearray, at: int, value: int) -> None:
        content[at : at + 4] = value.to_bytes(4, "little", signed=True)


def _pointed(instruction: Decoded, memory: Mem, place: int) -> bytes:
    """The instruction with another displacement, which stands last but for an immediate of at most four bytes."""
    old = ((memory.target or 0) - instruction.end).to_bytes(4, "little", signed=True)
    new = (place - instruction.end).to_bytes(4, "little", signed=True)
    for behind in (0, 1, 2, 4):
        at = instruction.length - 4 - behind
        if instruction.raw[at : at + 4] == old:
            return instruction.raw[:at] + new + instruction.raw[at + 4 :]
    raise ObjectError(f"has no displacement in '{instruction.text()}'")


def _extent(content: bytes) -> int:
    """How far code goes whose size is not given: to the first way out that no branch leads past."""
    at = furthest = 0
    while at < len(content):
        instruction = _first(content[at : at + 15])
        at += instruction.length
        if instruction.target is not None:
            furthest = max(furthest, at - instruction.length + instruction.target)
        if instruction.flow in ("return", "jump", "indirect", "exception") and at > furthest:
            return at
    return len(content)


def _first(content: bytes) -> Decoded:
    for length in range(1, len(content) + 1):
        try:
            return decode(content[:length])[0]
        except DecodeError:
            continue
    raise DecodeError(f"holds no instruction at {content.hex(' ')}")
