"""The formats of `setwise export`: a table from names to functions that make the files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from setwise.codegen.export.banner import head
from setwise.codegen.export.listings.dialects import DIALECTS
from setwise.codegen.export.listings.listing import listing
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.archive import archive
from setwise.codegen.export.objects.coff import coff
from setwise.codegen.export.objects.elf import elf
from setwise.codegen.export.objects.header import header
from setwise.codegen.export.objects.macho import macho
from setwise.codegen.export.objects.relocatable import ObjectFile, object_file
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c, go_package, javascript, rust, zig
from setwise.codegen.export.sources.language import commented
from setwise.codegen.kernel import Kernel
from setwise.codegen.targets import TARGETS

Writer = Callable[[Order], dict[str, bytes]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of exports.

    files      the function from an order to the contents of files by name; raises ValueError for an impossible order
    fallback   whether it chooses among kernels, so that those for plain x86-64 are added
    dispatch   whether the exported code can choose an instruction set at run time
    endbr64    whether functions may begin with endbr64
    abi        the default calling convention
    isas       the instruction sets that it can express
    """

    files: Writer
    fallback: bool = False
    dispatch: bool = False
    endbr64: bool = True
    abi: str = "sysv"
    isas: tuple[str, ...] = tuple(TARGETS)


def _source(text: Callable[[Order], str], ending: str, order: Order) -> dict[str, bytes]:
    return {f"{order.called}{ending}": text(order).encode("ascii")}


def _listings(syntax: str, ending: str, order: Order) -> dict[str, bytes]:
    """Return one file per kernel, by file name: the head and the listing that `setwise listing` prints."""

    def file(name: str, kernel: Kernel) -> str:
        lines = commented(head(replace(order, kernels=(kernel,)), name), DIALECTS[syntax].comment)
        return "\n".join((*lines, listing(kernel, order.facts(kernel), syntax)))

    names = {f"{symbol(kernel)}{ending}": kernel for kernel in order.kernels}
    return {name: file(name, kernel).encode("ascii") for name, kernel in names.items()}


def _objects(write: Callable[[ObjectFile], bytes], ending: str, order: Order) -> dict[str, bytes]:
    names = {f"{symbol(kernel)}{ending}": kernel for kernel in order.kernels}
    return {name: write(_object(kernel, order, name)) for name, kernel in names.items()} | _header(order)


def _object(kernel: Kernel, order: Order, name: str) -> ObjectFile:
    return object_file(kernel, "\n".join(head(replace(order, kernels=(kernel,)), name)))


def _library(order: Order) -> dict[str, bytes]:
    """Return a static library, of COFF files for Win64, otherwise of ELF files, and its C header."""
    windows = order.kernels[0].convention.name == "win64"
    objects = [_object(kernel, order, symbol(kernel)) for kernel in order.kernels]
    ending, write = (".obj", coff) if windows else (".o", elf)
    members = {f"{file.symbol}{ending}": write(file) for file in objects}
    symbols = {f"{file.symbol}{ending}": [file.symbol, *filter(None, (file.decorated,))] for file in objects}
    library = archive(members, symbols, microsoft=windows)
    return {f"{order.called}.lib" if windows else f"lib{order.called}.a": library} | _header(order)


def _header(order: Order) -> dict[str, bytes]:
    return {f"{order.called}.h": header(order).encode("ascii")}


_WITHOUT_GFNI = tuple(name for name in TARGETS if name != "gfni")
FORMATS: Mapping[str, Format] = {
    "nasm": Format(partial(_listings, "nasm", ".asm")),
    "gas": Format(partial(_listings, "gas", ".s")),
    "att": Format(partial(_listings, "att", ".s")),
    "masm": Format(partial(_listings, "masm", ".asm"), abi="win64"),
    "go": Format(go_package.files, fallback=True, dispatch=True, endbr64=False),
    "c": Format(c.files, fallback=True, dispatch=True, endbr64=False),
    "rust": Format(partial(_source, rust.module, ".rs"), fallback=True, dispatch=True, endbr64=False),
    "zig": Format(
        partial(_source, zig.module, ".zig"), fallback=True, dispatch=True, endbr64=False, isas=_WITHOUT_GFNI
    ),
    "javascript": Format(partial(_source, javascript.module, ".mjs"), endbr64=False, isas=("x86-64",)),
    "elf": Format(partial(_objects, elf, ".o")),
    "coff": Format(partial(_objects, coff, ".obj"), abi="win64"),
    "macho": Format(partial(_objects, macho, ".o")),
    "lib": Format(_library),
}
"""The formats by name. Listings, below a head, are those of `setwise listing --syntax`."""


ALIASES: Mapping[str, str] = {"cpp": "c", "c++": "c"}
"""Other names of formats. The C header is also one of C++."""

assert {*DIALECTS, "go"} <= FORMATS.keys()
