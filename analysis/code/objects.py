"""Functions of ELF objects, programs and shared libraries, as `Binary` like assembled kernels."""

import difflib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from setwise.analysis.code.decode import Binary, DecodeError
from setwise.analysis.code.elf_reader import EXECINSTR, Elf, ElfError, read
from setwise.analysis.code.extraction import Extraction, FunctionSymbol

_OFFERED = 2000  # the most names that are compared with a misspelt one


class ObjectError(ValueError):
    """A file, or a function in it, that cannot be judged. The message is one line."""


@dataclass(frozen=True, slots=True)
class ObjectFunction:
    """A function of an ELF object, program or shared library, named by its symbol."""

    file: str
    symbol: str

    @property
    def binary(self) -> Binary:
        """The function's code and data, as `load` returns them."""
        return load(self.file, self.symbol)

    @property
    def with_calls(self) -> Binary:
        """The function's code and data, with those of the functions that it calls, as `load` returns them."""
        return load(self.file, self.symbol, calls=True)


def functions(path: str | Path) -> tuple[str, ...]:
    """Return the names of the functions, but not of the labels, that a file defines: global ones first, each once.

    Raises ObjectError for a file that is missing, damaged or not ELF for x86-64.
    """
    with _opened(path) as elf:
        return tuple(dict.fromkeys(function.name for function in _functions(elf) if not function.symbol.is_label))


def load(path: str | Path, symbol: str, calls: bool = False) -> Binary:
    """Return the code of a function of an ELF file, with the read-only sections that its operands point into.

    With `calls`, the functions of the file that it calls follow its code; otherwise a call is refused. Raises
    ObjectError if the function cannot be found or extracted, for instance because it needs more than that.
    """
    with _opened(path) as elf:
        known = _functions(elf)
        wanted = symbol.encode("utf-8", "surrogateescape")
        named = [function for function in known if function.is_called(wanted)]
        if not named:
            names = (function.name for function in known if not function.symbol.is_label)
            raise ObjectError(f"{path}: no function '{symbol}': {_suggest(symbol, [*islice(names, _OFFERED)])}")
        try:
            return Extraction(elf, _choose(named), known, calls).binary()
        except (ElfError, DecodeError) as error:
            raise ObjectError(f"{path}: {symbol} {error}") from None


def load_all(path: str | Path, wanted: Container[str]) -> dict[str, Binary | ObjectError]:
    """Return by name each function of the file, labels excluded, whose name is in `wanted`.

    The value is an ObjectError for a function that cannot be extracted. Raises ObjectError for a file that is missing,
    damaged or not ELF for x86-64.
    """
    made: dict[str, Binary | ObjectError] = {}
    with _opened(path) as elf:
        known = _functions(elf)
        named: dict[str, list[FunctionSymbol]] = {}
        for function in known:
            if not function.symbol.is_label and (name := function.name) in wanted:
                named.setdefault(name, []).append(function)
        for name, candidates in named.items():
            try:
                made[name] = Extraction(elf, _choose(candidates), known).binary()
            except (ElfError, DecodeError) as error:
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


def _functions(elf: Elf) -> list[FunctionSymbol]:
    """Return functions and labels of both symbol tables: global symbols before local ones, each in order of value."""
    found: list[FunctionSymbol] = []
    for table in elf.tables():
        names = elf.names(table)
        for symbol in elf.symbols(table):
            section = elf.section(symbol.section)
            if not symbol.may_be_code or section is None or not section.flags & EXECINSTR:
                continue
            if not symbol.name or names[symbol.name : symbol.name + 1] in (b"", b"\0"):
                continue
            offset = symbol.value - (section.address if elf.linked else 0)
            found.append(FunctionSymbol(names, symbol, offset))
    return sorted(found, key=lambda function: (function.symbol.is_local, function.symbol.value))


def _choose(named: Sequence[FunctionSymbol]) -> FunctionSymbol:
    """Return the function that a linker would choose among several of one name.

    A global symbol precedes a local one, and the default version precedes hidden ones. Of several symbols for one
    place the result is the one with the largest size. Raises ElfError if several places remain.
    """
    if not all(function.symbol.is_local for function in named):
        named = [function for function in named if not function.symbol.is_local]
    if not all(function.symbol.hidden for function in named):
        named = [function for function in named if not function.symbol.hidden]
    if len({(function.symbol.section, function.offset) for function in named}) > 1:
        raise ElfError(f"names {len(named)} different functions: give each a unique name")
    return max(named, key=lambda function: function.symbol.size)


def _suggest(name: str, known: Sequence[str]) -> str:
    if not known:
        return "the file defines no functions"
    short = [one for one in known if len(one) < 100] if len(name) < 100 else []
    near = difflib.get_close_matches(name, short, n=5, cutoff=0.4) or list(dict.fromkeys(known))[:5]
    return f"it has {', '.join(near)}{' ...' if len(set(known)) > len(near) else ''}"
