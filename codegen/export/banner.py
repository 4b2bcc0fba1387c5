"""The comment block above each exported routine: computation, calling convention, cost and digest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

from setwise.codegen.assemble import assemble
from setwise.codegen.export.names import in_comment
from setwise.codegen.export.order import Facts, Order
from setwise.codegen.export.prototypes import prototype, registers
from setwise.codegen.export.unwind import prologue, stack_bytes
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Memory
from setwise.codegen.machine.convention import SYSV, WIN64
from setwise.codegen.targets.operands import RSP
from setwise.codegen.version import version

_TITLES = {"sysv": "System V", "win64": "Win64", "wiki": "the literature's registers"}
_WIDTH = 12
_NO_ALIGNMENT = "none is asked for"


LICENCE = "SPDX-License-Identifier: MIT-0", "Generated code: yours to use under any licence."


def head(order: Order, file: str) -> tuple[str, ...]:
    """Return the first lines of every text file, without comment signs: licence, origin, and state of the proof."""
    proved = "our code of each kernel is proved for every input, `setwise verify` proves it again"
    return (
        *LICENCE,
        f"{file}, made by {order.made_by}",
        f"with setwise {version()}; {proved if order.proved else 'not proved'}.",
    )


def banner(kernel: Kernel, facts: Facts, made_by: str, *more: tuple[str, str]) -> tuple[str, ...]:
    """Return the lines above a listing, in ASCII and without comment signs.

    `made_by` is the command that prints the listing. `more` holds further titles and texts. The distances from the code
    to its data are unknown before linking, so the digest counts them as zeros.
    """
    callable_from_c = kernel.convention.name != "wiki"
    declared = f"{prototype(kernel)};" if callable_from_c else "no C compiler calls with these registers"
    stack = stack_bytes(prologue(kernel.code, assemble(kernel.code))) + _below(kernel)
    entries = (
        ("prototype", declared),
        *_registers(kernel),
        *_contract(kernel),
        ("features", _features(facts)),
        ("counts", _counts(facts)),
        ("changes", ", ".join(facts.changed) or "nothing"),
        ("stack", f"{stack} bytes below the return address" if stack else "not used"),
        ("SHA-256", f"{facts.sha256} of the code{_distances(facts)}"),
        ("made by", in_comment(made_by)),
        *more,
    )
    return _lines(kernel, f", {_TITLES[kernel.convention.name]}", entries)


def about(
    kernel: Kernel, facts: Facts, *more: tuple[str, str], word: str = "", returned: bool = False
) -> tuple[str, ...]:
    """Return the lines above source that another compiler or assembler translates, without registers.

    Counts and digest are those of setwise's own code. `more` holds further titles and texts. `word` is the language's
    type of a board: pointers need its alignment, although setwise's own code needs none. `returned` states that several
    results are returned by value.
    """
    entries = (
        *_contract(kernel, f"that of {word}, as the language wants it" if word else _NO_ALIGNMENT, returned=returned),
        ("features", _features(facts)),
        ("our code", _counts(facts)),
        ("SHA-256", f"{facts.sha256} of our code{_distances(facts)}"),
        *more,
    )
    return _lines(kernel, "", entries)


def command(kernel: Kernel, syntax: str) -> str:
    """Return the command that prints a kernel's listing.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> command(lower(find("dumb7.attacks.sout"), "avx2"), "gas")
    'setwise listing dumb7.attacks.sout --isa avx2 --lanes 4 --abi sysv --syntax gas'
    """
    lanes = f" --lanes {kernel.layout.lanes}" if kernel.layout.lanes > 1 else ""
    variant = f" --variant {kernel.variant}" if kernel.variant else ""
    landing = " --endbr64" if kernel.code.begins_with_endbr64 else ""
    prefix = f" --prefix {kernel.prefix}" if kernel.prefix != "setwise" else ""
    shape = f"--isa {kernel.target.name}{lanes}{variant} --abi {kernel.convention.name}{landing}{prefix}"
    return f"setwise listing {kernel.name} {shape} --syntax {syntax}"


def _lines(kernel: Kernel, convention: str, entries: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    lanes = f", {kernel.layout.lanes} lanes" if kernel.layout.lanes > 1 else ""
    return (
        in_comment(f"{kernel.name} for {kernel.target.name}{lanes}{convention}"),
        "",
        *_folded("computes", in_comment(kernel.routine.summary)),
        *_folded("after", in_comment(kernel.routine.source)),
        *(line for title, text in entries for line in _folded(title, text)),
    )


def _contract(kernel: Kernel, alignment: str = _NO_ALIGNMENT, *, returned: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the meaning of numbers, the requirements, and the rules on aliasing and alignment of pointers."""
    contract = kernel.routine.contract
    yield from contract.numbers
    yield "requires", in_comment(" and ".join(contract.required)) or "nothing of the boards"
    if contract.outside:
        yield "outside", contract.outside
    if contract.elements:
        yield "aliasing", "result may be exactly one of the inputs or lie apart from all of them; inputs may overlap"
        yield "alignment", f"{alignment}; with n = 0 nothing is read or written"
    elif not returned and any(parameter.kind == "results" for parameter in contract.parameters):
        yield "aliasing", "results are only written; no input is read from memory that they could overlap"
        yield "alignment", alignment


def _features(facts: Facts) -> str:
    return " ".join(facts.features) or "none beyond x86-64"


def _distances(facts: Facts) -> str:
    return ", data distances zero" if facts.counts["data_bytes"] else ""


def _registers(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Yield the registers of arguments and result in this kernel's convention and in the others."""
    for convention in dict.fromkeys((kernel.convention, SYSV, WIN64)):
        places = registers(kernel, convention)
        text = ", ".join(f"{name} {place}" for name, place in places)
        if convention == WIN64 and any(re.match("[xyz]mm", place) for _, place in places):
            text += " (__vectorcall)"
        other = "" if convention == kernel.convention else f" (with --abi {convention.name})"
        yield "registers" if not other else "", f"{_TITLES[convention.name]}: {text}{other}"


def _counts(facts: Facts) -> str:
    counts = facts.counts
    classes = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
    parts = ", ".join(f"{counts[name]} {name}" for name in classes if counts[name])
    operands = f"; {counts['memory_operands']} memory operands" if counts["memory_operands"] else ""
    data = f" and {counts['data_bytes']} of data" if counts["data_bytes"] else ""
    ending = f"{operands}; {counts['bytes']} bytes of code{data}"
    return f"{counts['instructions']} instructions and ret: {parts}{ending}"


def _folded(title: str, text: str, width: int = 116) -> Iterator[str]:
    """Yield an entry in lines of at most `width` characters. A prototype is broken only after commas."""
    lead = f"{title:{_WIDTH}}"
    kept = re.sub("(?<!,) ", "\0", text) if title == "prototype" else text
    for line in wrap(kept, width - _WIDTH, break_long_words=False, break_on_hyphens=False):
        yield lead + line.replace("\0", " ")
        lead = " " * _WIDTH


def _below(kernel: Kernel) -> int:
    """Return the number of bytes below the stack pointer that the code writes (red zone)."""
    operands = (operand for instruction in kernel.code.instructions for operand in instruction.operands)
    return max([0, *(-o.displacement for o in operands if isinstance(o, Memory) and o.base == RSP)])
