"""Relocatable object files read back by LIEF, which shares nothing with what wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise.codegen.machine.code import Assembled
from tests.conftest import require_module

# How far behind its field a relocation's distance counts from; fields of COFF hold the addend.
_COFF_DISTANCES = {f"AMD64_REL32{suffix}": 4 + n for n, suffix in enumerate(("", "_1", "_2", "_3", "_4", "_5"))}


@dataclass(frozen=True)
class Place:
    """Where a symbol or a relocation points: a section's name and the offset in it."""

    section: str
    offset: int


@dataclass(frozen=True)
class Relocatable:
    """An object file: sections' contents with the relocated fields zero, symbols, and what each field points to.

    A field's target is the place whose address minus the field's own is to stand there.
    """

    sections: Mapping[str, bytes]
    symbols: Mapping[str, Place]
    fields: Mapping[Place, Place]
    others: tuple[tuple[str, int, str, str], ...]
    """Relocations of other kinds: section, offset, kind, symbol."""


def read(path: Path) -> Relocatable:
    """An ELF or COFF file as LIEF sees it."""
    lief: Any = require_module("lief")
    elf = path.read_bytes()[:4] == b"\x7fELF"
    return _elf(lief.ELF.parse(str(path))) if elf else _coff(lief.COFF.parse(str(path)))


def _elf(file: Any) -> Relocatable:
    sections = {one.name: bytearray(one.content) for one in file.sections if one.name}
    symbols = {
        one.name: Place(file.sections[one.shndx].name, one.value)
        for one in file.symbols
        if one.name and 0 < one.shndx < 0xFF00
    }
    fields, others = {}, []
    for one in file.object_relocations:
        symbol, kind = one.symbol, str(one.type).rpartition(".")[2]
        if kind in ("X86_64_PC32", "X86_64_PLT32"):
            target = Place(file.sections[symbol.shndx].name, symbol.value + one.addend)
            fields[Place(one.section.name, one.address)] = target
        else:
            others.append((one.section.name, one.address, kind, symbol.name))
    return Relocatable({name: bytes(c) for name, c in sections.items()}, symbols, fields, tuple(others))


def _coff(file: Any) -> Relocatable:
    numbered = list(file.sections)
    sections = {one.name: bytearray(one.content) for one in numbered}
    symbols = {
        one.name: Place(numbered[one.section_idx - 1].name, one.value)
        for one in file.symbols
        if one.section_idx > 0 and not one.name.startswith(".")
    }
    fields, others = {}, []
    for section in numbered:
        for one in section.relocations:
            kind, symbol, at = str(one.type).rpartition(".")[2], one.symbol, one.address
            if kind not in _COFF_DISTANCES:
                others.append((section.name, at, kind, symbol.name))
                continue
            content = sections[section.name]
            addend = int.from_bytes(content[at : at + 4], "little", signed=True) - _COFF_DISTANCES[kind]
            content[at : at + 4] = bytes(4)
            target = Place(numbered[symbol.section_idx - 1].name, symbol.value + addend)
            fields[Place(section.name, at)] = target
    return Relocatable({name: bytes(c) for name, c in sections.items()}, symbols, fields, tuple(others))


def assert_holds(found: Relocatable, made: Assembled, symbol: str) -> None:
    """The file has these bytes at that symbol, the data's too, and every field points to where ours does."""
    start = found.symbols[symbol]
    text = found.sections[start.section][start.offset :][: len(made.text)]
    assert text.hex(" ") == made.text.hex(" "), symbol
    assert _fields(found, start, len(text)).keys() == {fixup.offset for fixup in made.text_fixups}, symbol
    if not made.data:
        return
    base = data_start(found, made, start)
    data = found.sections[base.section][base.offset :][: len(made.data)]
    assert data.hex(" ") == made.data.hex(" "), symbol
    wanted = {fixup.offset: made.symbols[fixup.label] + fixup.addend for fixup in made.text_fixups}
    got = _fields(found, start, len(text))
    assert {at: Place(base.section, base.offset + place) for at, place in wanted.items()} == got, symbol
    wanted = {fixup.offset: made.labels[fixup.label] + fixup.addend for fixup in made.data_fixups}
    got = _fields(found, base, len(data))
    assert {at: Place(start.section, start.offset + place) for at, place in wanted.items()} == got, symbol


def data_start(found: Relocatable, made: Assembled, start: Place) -> Place:
    """Where the data begins, by the first field that points into it."""
    fixup = made.text_fixups[0]
    target = found.fields[Place(start.section, start.offset + fixup.offset)]
    return Place(target.section, target.offset - made.symbols[fixup.label] - fixup.addend)


def _fields(found: Relocatable, start: Place, size: int) -> dict[int, Place]:
    return {
        field.offset - start.offset: target
        for field, target in found.fields.items()
        if field.section == start.section and 0 <= field.offset - start.offset < size
    }
