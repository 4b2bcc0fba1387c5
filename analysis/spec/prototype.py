"""Contracts from C prototypes, for a function that is compared with a reference function.

The convention is System V's. Callers extend narrow integers to 32 bits, as gcc and clang do; the upper 32 bits are
unknown. A pointer is the address of one value or of an array of known size, aligned as its elements. Blocks that are
not const are results, too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod

from setwise.analysis.spec.elements import Shape, from_elements
from setwise.analysis.spec.task import Argument, ItemList, MemoryBlock, Place, ReferenceFunction, Result, Task
from setwise.codegen.files import read_checked
from setwise.codegen.ir.routine import Written
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.own.user_files import function_named

_WIDE = "unsigned __int128"  # only as a result
_IGNORED = {"const", "extern", "static", "inline", "restrict", "__restrict", "__restrict__"}
_MOST_TEXT = 1 << 20  # bytes of a C file
_MOST_BYTES = 4096  # in one block
_INSTEAD = (
    "write an integer such as uint64_t, __m128i, __m256i or __m512i, an array of these, or unsigned __int128 for two "
    "words returned"
)


@dataclass(frozen=True, slots=True)
class _Type:
    """A C type of `size` bytes: an integer, perhaps `signed`, or a vector. An integer is below `below`, if not 0."""

    size: int
    signed: bool = False
    vector: bool = False
    below: int = 0


_Parameter = tuple[str, _Type, MemoryBlock | None]

_PLAIN = {"char": 1, "short": 2, "int": 4, "long": 8, "long long": 8}
_TYPES = {
    **{name: _Type(size, signed=True) for name, size in _PLAIN.items()},
    **{f"unsigned {name}": _Type(size) for name, size in _PLAIN.items()},
    **{f"int{8 * size}_t": _Type(size, signed=True) for size in (1, 2, 4, 8)},
    **{f"uint{8 * size}_t": _Type(size) for size in (1, 2, 4, 8)},
    **{f"__mmask{8 * size}": _Type(size) for size in (1, 2, 4, 8)},
    **{f"__m{8 * size}i": _Type(size, vector=True) for size in (16, 32, 64)},
    **dict.fromkeys(("bool", "_Bool"), _Type(1, below=2)),
    "size_t": _Type(8),
    _WIDE: _Type(16),
}
_WORDS = {"signed", *(word for name in _TYPES for word in name.split())}


def find_prototype(file: str, name: str) -> str:
    """Return the first declaration or definition of a function in a C file, without its body.

    The file is not preprocessed. Raises ValueError if there is none.
    """
    content = read_checked(file, _MOST_TEXT, links=True, larger="1 MiB", remedy="give a C file, or --prototype")
    text = content.decode(errors="replace")
    other = r"//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*#(?:\\\n|[^\n])*"  # comments and directives
    plain = re.sub(other, " ", text, flags=re.DOTALL | re.MULTILINE)
    declared = rf"[\w\s*]+[\s*]{re.escape(name)}\s*\([^;{{}}]*\)"
    found = re.search(rf'(?:^|[;{{}})"])(?!\s*return\b)({declared})\s*[;{{]', plain)
    if not found:
        raise ValueError(f"{file}: no declaration of '{name}': write it as --prototype")
    return " ".join(found[1].split())


@dataclass(frozen=True, slots=True)
class Prototype:
    """A C prototype, as text, with what it does not say.

    `bounds` are exclusive upper bounds of integer parameters by name; such a parameter is not negative either.
    `requires` are names of functions in Python, `mine.py:legal`, that are true for the inputs that count. `aliases` are
    pairs of pointer parameters that are equal. `pieces` and `items` are a `Task`'s.
    """

    text: str
    bounds: Mapping[str, int] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    pieces: str = ""
    items: ItemList | None = None

    def options(self) -> Iterator[str]:
        """Yield the arguments of `setwise prove` for it."""
        yield from ("--prototype", self.text)
        for name, bound in self.bounds.items():
            yield from ("--below", f"{name}={bound}")
        for name in self.requires:
            yield from ("--requires", name)
        for one, other in self.aliases:
            yield from ("--alias", f"{one}={other}")
        if self.items:
            yield from ("--list", self.items.block, *["--unordered"] * self.items.unordered)

    def task(self, specification: ReferenceFunction | Written) -> Task:
        """Return its task. Functions that a user wrote take the prototype's parameters, as `elements` says.

        Raises ValueError for a type that is not known, for a function without results, and for a name of no parameter
        or of one of another kind.
        """
        parts = re.fullmatch(r"([\w\s*]*?[\s*])(\w+)\s*\((.*)\)\s*;?\s*", self.text, re.DOTALL)
        if not parts:
            example = "'uint64_t f(uint64_t a, const uint8_t t[64])'"
            raise ValueError(f"'{self.text}' is no prototype: write one such as {example}")
        returned, _, listed = parts.groups()
        parameters = [*_parameters(listed)]
        self._check_bounds(parameters)
        parameters, held_by = self._aliased(parameters)
        arguments, blocks = _placed(parameters, held_by, self.bounds)
        returns = [*_returned(returned)]
        written = [block.name for block in blocks if block.written]
        results = [*returns, *(Result(each.name, each.place) for each in arguments if each.place.block in written)]
        if not results:
            raise ValueError("nothing to compare: let it return a value or take a pointer that is not to const")
        if self.items and not (len(returns) == 1 and returns[0].place.file == "general"):
            raise ValueError("it does not return the number of items: write a prototype that returns an integer")
        narrow = {block.name for block in blocks if block.alignment < 8}
        if self.items and self.items.block not in {*written} & {b.name for b in blocks if b.alignment <= 8}:
            raise ValueError(f"'{self.items.block}' is no array of integers that it writes: name one that is not const")
        taken = [(held_by.get(name, name), _shape(kind, block)) for name, kind, block in parameters]
        given = [_shape(_type(returned.split()), None)] if returns else []
        given += [_shape(kind, block) for name, kind, block in parameters if block and name in written]
        if isinstance(specification, Written):
            specification = _of_elements(specification, taken, given)
        required = [function_named(name, number) for number, name in enumerate(self.requires, 1)]
        return Task(
            specification,
            "",
            tuple(arguments),
            tuple(results),
            tuple(_of_elements(each, taken) for each in required),
            saved=tuple(register.name for register in SYSV.saved),
            red_zone=SYSV.red_zone,
            counts=tuple(each.name for each in results if each.place.bytes < 8 or each.place.block in narrow),
            blocks=tuple(blocks),
            pieces=self.pieces,
            items=self.items,
        )

    def _check_bounds(self, parameters: Iterable[_Parameter]) -> None:
        integers = {name: kind for name, kind, block in parameters if block is None and not kind.vector}
        for name, bound in self.bounds.items():
            if name not in integers:
                raise ValueError(f"'{name}' is no integer parameter: choose from {', '.join(integers) or 'none'}")
            most = integers[name].below or 1 << 8 * integers[name].size - integers[name].signed
            if bound > most:
                raise ValueError(f"'{name}' is always below {most}, which is less than {bound}: give at most that")

    def _aliased(self, parameters: Sequence[_Parameter]) -> tuple[list[_Parameter], dict[str, str]]:
        """Return the parameters with one block for equal pointers, and the name of the block of each further one."""
        blocks = {name: block for name, _, block in parameters if block}
        held_by: dict[str, str] = {}
        for pair in self.aliases:
            for name in pair:
                if name not in blocks:
                    raise ValueError(f"'{name}' is no pointer parameter: choose from {', '.join(blocks) or 'none'}")
            one, other = sorted(pair, key=[*blocks].index)
            first = held_by.get(one, one)
            here, there = blocks[first], blocks[other]
            if one == other or here.size != there.size or other in held_by:
                raise ValueError(f"'{one}' and '{other}' are no two arrays of one size: name two such parameters, once")
            held_by[other] = first
            widest = max(here.alignment, there.alignment)
            blocks[first] = replace(here, alignment=widest, written=here.written or there.written)
        return [(name, kind, blocks.get(name)) for name, kind, _ in parameters], held_by


def _parameters(listed: str) -> Iterator[_Parameter]:
    names = set[str]()
    texts = [] if listed.strip() in ("", "void") else listed.split(",")
    for at, text in enumerate(texts, 1):
        found = _parameter(text.strip(), f"argument{at}")
        if found[0] in names:
            raise ValueError(f"two parameters are called '{found[0]}': give each its own name")
        names.add(found[0])
        yield found


def _placed(
    parameters: Iterable[_Parameter], held_by: Mapping[str, str], bounds: Mapping[str, int]
) -> tuple[list[Argument], list[MemoryBlock]]:
    """Return the arguments in their places, and the blocks that pointers point to."""
    arguments, blocks = list[Argument](), list[MemoryBlock]()
    general, vectors, stack = iter(SYSV.arguments), iter(SYSV.vector_arguments), count(SYSV.stack_arguments, 8)
    for name, kind, block in parameters:
        if block is None and kind.vector:
            number = next(vectors, None)
            if number is None:
                raise ValueError(f"'{name}' is the ninth vector: pass at most eight by value")
            arguments += _words(name, Place("vector", f"zmm{number}"), kind, kind.size)
            continue
        register = next(general, None)
        place = Place("stack", offset=next(stack)) if register is None else Place("general", register.at(64).name)
        if block is None:
            place = replace(place, bytes=kind.size, signed=kind.signed)
            arguments.append(_argument(name, place, bounds.get(name, kind.below)))
            continue
        arguments.append(Argument(held_by.get(name, name), "block", place))
        if name not in held_by:
            blocks.append(block)
            arguments += _words(name, Place("memory", name), kind, block.size)
    return arguments, blocks


def _of_elements(written: Written, parameters: Sequence[tuple[str, Shape]], results: Sequence[Shape] = ()) -> Written:
    assert callable(written.given)
    return replace(written, given=from_elements(written.given, parameters, results))


def _shape(kind: _Type, block: MemoryBlock | None) -> Shape:
    if block is not None:
        size = 8 if kind.vector else kind.size
        return Shape(size, block.size // size)
    return Shape(8, kind.size // 8 if kind.size > 8 else 0)


def _parameter(text: str, default: str) -> _Parameter:
    """Return a parameter's name, the type of its value or elements, and the block that it points to, if any."""
    head, bracket, _ = text.partition("[")
    before, star, after = head.partition("*")
    names = [word for word in after.split() if word not in _IGNORED]
    if star and (bracket or len(names) > 1 or "*" in after):
        raise ValueError(
            f"'{text}' points to pointers or arrays: write an array of known size, such as 'uint64_t a[8]'"
        )
    words = before.split()
    if not star and len(words) > 1 and words[-1] not in _WORDS | _IGNORED:
        names = [words.pop()]
    name, kind = (names or [default])[0], _type(words)
    if kind.size == 16 and not kind.vector:
        raise ValueError(f"'{text}' is a parameter of type {_WIDE}: write two of uint64_t")
    if not star and not bracket:
        return name, kind, None
    if kind.below:
        raise ValueError(f"'{text}' points to bool: write uint8_t")
    sizes = [re.sub(r"\b(static|const|restrict)\b", "", size).strip() for size in re.findall(r"\[(.*?)\]", text)]
    for size in sizes:
        if not size.isdecimal() or not int(size):
            raise ValueError(f"'{text}' has the size '{size}': write the number of its elements")
    whole = kind.size * prod(map(int, sizes))
    if whole > _MOST_BYTES:
        raise ValueError(f"'{text}' has {whole:,} bytes: write at most {_MOST_BYTES:,}")
    return name, kind, MemoryBlock(name, whole, kind.size, "const" not in words)


def _type(words: Sequence[str]) -> _Type:
    plain = [word for word in words if word not in {*_IGNORED, "signed", "unsigned"}]
    if len(plain) > 1 and "int" in plain:
        plain.remove("int")
    name = " ".join(plain) or ("int" if {"signed", "unsigned"} & {*words} else "")
    name = f"unsigned {name}" if "unsigned" in words else name
    if name not in _TYPES:
        raise ValueError(f"unknown type '{name}': {_INSTEAD}")
    return _TYPES[name]


def _argument(name: str, place: Place, below: int = 0) -> Argument:
    kind = "square" if below == 64 else "word" if place.bytes == 8 and not below else "number"
    return Argument(name, kind, place, below or (1 << 8 * place.bytes) % (1 << 64))


def _words(name: str, start: Place, kind: _Type, size: int) -> Iterator[Argument]:
    """Yield the words that make up a vector or block, named by the range of elements that they hold."""
    each = 8 if kind.vector else kind.size
    for offset in range(0, size, 8):
        first, last = offset // each, (min(offset + 8, size) - 1) // each
        index = f"[{first}]" if first == last else f"[{first}..{last}]"
        found = _argument(name + index, replace(start, offset=offset, bytes=min(8, size - offset)))
        yield found if each == 8 else replace(found, kind="number")


def _returned(text: str) -> Iterator[Result]:
    """Yield the results that are returned in registers."""
    words = text.replace("*", " * ").split()
    if "*" in words:
        raise ValueError(f"it returns a pointer, '{' '.join(words)}': write an array parameter that it writes to")
    if words[-1:] == ["void"]:
        return
    kind = _type(words)
    if kind.vector:
        yield from (Result(one.name, one.place) for one in _words("result", Place("vector", "zmm0"), kind, kind.size))
        return
    yield Result("result", Place("general", "rax", bytes=min(8, kind.size)))
    if kind.size == 16:
        yield Result("result.high", Place("general", "rdx"))
