"""Facts about a kernel for exporters, derived from its bytes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.code.decode import Decoded, decode, features
from setwise.codegen.export.order import Facts
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.convention import Convention


def facts_of(kernel: Kernel) -> Facts:
    """Return the facts about a kernel's bytes.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> facts = facts_of(lower(find("dumb7.attacks.sout")))
    >>> facts.counts["instructions"], facts.features, facts.changed
    (20, (), ('rax', 'rdi', 'flags'))
    """
    binary = binary_of(kernel)
    decoded = decode(binary.text)
    return Facts(
        counts=count(binary).as_dict(),
        features=tuple(sorted(features(decoded) - {"x86-64"})),
        changed=changed(decoded, kernel.convention),
        sha256=binary.sha256,
    )


def changed(decoded: Sequence[Decoded], convention: Convention) -> tuple[str, ...]:
    """Return as text the registers that the code changes for its caller, and "flags" if it changes those.

    A vector register has the widest name of the code's instruction set, because VEX and EVEX instructions also write
    the upper lanes. Of a vector register that the convention preserves, only the upper lanes may be listed.
    """
    written = frozenset().union(*(instruction.writes for instruction in decoded))
    saved = {register.name for register in convention.saved} | {"rsp"}
    registers = [name for name in _GENERAL if name in written - saved]
    numbers = sorted(int(name[3:]) for name in written if name.startswith("zmm"))
    letter = _letter(features(decoded))
    registers += _ranges([n for n in numbers if n not in convention.saved_vectors], f"{letter}mm")
    if letter != "x":
        kept = _ranges([n for n in numbers if n in convention.saved_vectors], f"{letter}mm")
        registers += [f"upper lanes of {each}" for each in kept]
    registers += _ranges(sorted(int(name[1:]) for name in written if re.fullmatch("k[0-7]", name)), "k")
    flags = any(instruction.flags_written or instruction.flags_undefined for instruction in decoded)
    return (*registers, "flags") if flags else tuple(registers)


_GENERAL = ("rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", *(f"r{number}" for number in range(8, 16)))


def _letter(needed: Iterable[str]) -> str:
    names = set(needed)
    return "z" if any(name.startswith("avx512") for name in names) else "y" if {"avx", "avx2"} & names else "x"


def _ranges(numbers: Sequence[int], name: str) -> Iterator[str]:
    """Yield runs of consecutive register numbers as text, such as xmm6-xmm9 or xmm11 for `name` xmm."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        yield f"{name}{members[0]}" + (f"-{name}{members[-1]}" if len(members) > 1 else "")
