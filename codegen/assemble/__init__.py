"""Assembly of code to bytes by PeachPy or iced-x86, with equal results."""

from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from setwise.codegen.assemble.labels import Encode, NotEncodable
from setwise.codegen.assemble.labels import assemble as lay_out
from setwise.codegen.machine.code import Assembled, Code

__all__ = ["NotEncodable", "assemble", "available"]

_PACKAGES = {"peachpy": ("peachpy", "six"), "iced": ("iced_x86",)}  # the packages that each assembler imports


@cache
def available() -> tuple[str, ...]:
    """Return the installed assemblers, the preferred one first."""
    return tuple(name for name, packages in _PACKAGES.items() if all(map(find_spec, packages)))


def assemble(code: Code, assembler: str | None = None) -> Assembled:
    """Return the bytes of `code`, with fixups and labels, assembled by "peachpy" or "iced".

    Without a name PeachPy is used if it is installed and can encode all of it, otherwise iced-x86. Both make the same
    bytes. Raise NotEncodable, a one-line ValueError, for code that the assembler cannot encode, and ValueError for an
    assembler that is unknown or not installed.

    >>> from setwise.codegen.machine.code import Instruction, general
    >>> rax, rdx = general("rax"), general("rdx")
    >>> assemble(Code("both", (Instruction("and", (rax, rdx)), Instruction("ret")))).text.hex(" ")
    '48 21 d0 c3'
    """
    if assembler is not None:
        return lay_out(code, _encoder(assembler))
    first, *others = available() or ("iced",)
    try:
        return lay_out(code, _encoder(first))
    except NotEncodable:
        if not others:
            raise
        return lay_out(code, _encoder(others[0]))


@cache
def _encoder(name: str) -> Encode:
    if name not in _PACKAGES:
        raise ValueError(f"unknown assembler {name!r}: choose one of {', '.join(_PACKAGES)}")
    if name not in available():
        raise ValueError(f"the assembler {name!r} is not installed: choose from {', '.join(available()) or 'none'}")
    return lru_cache(1 << 14)(cast(Encode, import_module(f"setwise.codegen.assemble.{name}").encode))
