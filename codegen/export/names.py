"""Names of kernels in C, Go and assembly, each determined by the kernel alone."""

import re

from setwise.codegen.kernel import Kernel


def symbol_of(name: str) -> str:
    """Return a routine's or instruction set's name as an identifier, without the name of its file.

    >>> symbol_of("kogge-stone.attacks.noEa"), symbol_of("mine.py:knights")
    ('kogge_stone_attacks_noEa', 'knights')
    """
    return re.sub("[^A-Za-z0-9_]", "_", name.rpartition(":")[2])


def symbol(kernel: Kernel) -> str:
    """Return the kernel's global symbol. It includes the number of lanes unless that is the default.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> symbol(lower(find("kogge-stone.attacks.sout")))
    'setwise_kogge_stone_attacks_sout_x86_64'
    >>> symbol(lower(find("kogge-stone.attacks.sout"), "avx2", lanes=2))
    'setwise_kogge_stone_attacks_sout_avx2_x2'
    """
    return f"{kernel.prefix}_{bare_symbol(kernel)}"


def bare_symbol(kernel: Kernel) -> str:
    """Return the kernel's symbol without its prefix, for languages in which a file is a namespace.

    That of a kernel with pext or pdep ends with _pext.
    """
    ending = "_pext" if uses_pext(kernel) else ""
    return f"{symbol_of(kernel.name)}_{symbol_of(kernel.target.name)}{_lanes(kernel)}{ending}"


GATHERS = frozenset({"pext", "pdep"})
SLOW_PEXT = "AMD before Zen 3, which executes pext and pdep by microcode"
"""The processors on which instructions of GATHERS are slow."""


def uses_pext(kernel: Kernel) -> bool:
    """Return whether the kernel has pext or pdep."""
    return any(instruction.mnemonic in GATHERS for instruction in kernel.code.instructions)


def isa_name(kernel: Kernel) -> str:
    """Return the name of the instruction set by which exported source names a kernel: bmi2-pext for one with pext."""
    return f"{kernel.target.name}-pext" if uses_pext(kernel) else kernel.target.name


def in_comment(text: str) -> str:
    """Return a user's text as one line of ASCII that cannot end a comment in any language.

    >>> in_comment("Springer: a */ b" + chr(92) + chr(10))
    'Springer: a * / b??'
    """
    ascii_alone = "".join(letter if " " <= letter <= "~" and letter != "\\" else "?" for letter in text)
    return ascii_alone.replace("*/", "* /").replace("/*", "/ *")


def go_name(kernel: Kernel) -> str:
    """Return the name of the kernel's exported function in Go.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> go_name(lower(find("kogge-stone.attacks.noEa"), "bmi2"))
    'KoggeStoneAttacksNoEaBMI2'
    """
    isa = kernel.target.name.partition("-")[0].upper()
    ending = "PEXT" if uses_pext(kernel) else ""
    return go_exported(symbol_of(kernel.name)) + isa + _lanes(kernel)[1:].upper() + ending


def go_exported(name: str) -> str:
    """Return an identifier of words joined by _ as Go writes a name that other packages may use. A last _ stays."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_")) + "_" * name.endswith("_")


def _lanes(kernel: Kernel) -> str:
    boards, widths, lanes = kernel.routine.batched, kernel.target.widths, kernel.layout.lanes
    usual = next((width for width in widths if boards or width > 2), widths[0])
    return "" if lanes == usual else f"_x{lanes}"
