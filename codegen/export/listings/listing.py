"""Listings of kernels: source that assembles to the same bytes, except in Go. The dialects are in `dialects`."""

from collections.abc import Callable, Iterator

from setwise.codegen.assemble import assemble
from setwise.codegen.export.banner import banner, command
from setwise.codegen.export.listings import go
from setwise.codegen.export.listings.dialects import DIALECTS, Dialect, Flavour
from setwise.codegen.export.names import symbol
from setwise.codegen.export.order import Facts
from setwise.codegen.export.renamed import renamed
from setwise.codegen.export.unwind import prologue, unwind_info
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code, Datum, Label

SYNTAXES = (*DIALECTS, "go")


def listing(kernel: Kernel, facts: Facts, syntax: str = "nasm") -> str:
    """Return a kernel as assembly source. Raise ValueError for an unknown syntax, or one that cannot express it."""
    if syntax not in SYNTAXES:
        raise ValueError(f"unknown syntax '{syntax}': use one of {', '.join(SYNTAXES)}")
    kernel = renamed(kernel, "Go" if syntax == "go" else "C")
    if syntax == "go":
        return go.assembly(kernel, facts)
    dialect = DIALECTS[syntax]
    about = (f"{dialect.comment} {line}".rstrip() for line in banner(kernel, facts, command(kernel, syntax)))
    flavour: Flavour = "coff" if kernel.convention.name == "win64" else "elf"
    return "\n".join((*about, *source(kernel.code, symbol(kernel), dialect, flavour))) + "\n"


def source(code: Code, symbol: str, dialect: Dialect, flavour: Flavour = "elf") -> Iterator[str]:
    """Yield the lines of source, without the banner, for code with this global symbol, in this object format."""
    scaffold, assembled = dialect.scaffolds[flavour], assemble(code)
    operations = prologue(code, assembled) if scaffold.unwound_head else ()
    behind = {operation.item: operation for operation in operations}
    labels = {item.name for item in code.items if isinstance(item, Label)}

    def full(name: str) -> str:
        return dialect.named.format(symbol=symbol, label=name) if name in labels else f"{symbol}_{name}"

    yield from (line.format(symbol=symbol) for line in (scaffold.unwound_head if operations else scaffold.head))
    for at, item in enumerate(code.items):
        if isinstance(item, Label):
            yield dialect.place.format(symbol=symbol, label=item.name)
            continue
        operands = [dialect.operand(item, operand, full) for operand in item.operands]
        if any(isinstance(operand, Label) for operand in item.operands):
            size = assembled.starts[at + 1] - assembled.starts[at]
            operands = [dialect.near.format(place=place) if size == 2 else place for place in operands]
        if item.mask is not None:
            mask = f"%{item.mask}" if dialect.results_last else f"{item.mask}"
            operands[0] += f"{{{mask}}}" + ("{z}" if item.zeroing else "")
        if dialect.results_last != (item.mnemonic in dialect.turned):  # two reversals cancel each other
            operands.reverse()
        line = f"{dialect.mnemonic(item)} {', '.join(operands)}".rstrip()
        if dialect.lengthens(item):
            encoded = assembled.text[assembled.starts[at] : assembled.starts[at + 1]]
            line = f"{dialect.data[1]} {', '.join(f'0x{byte:02x}' for byte in encoded)} {dialect.comment} {line}"
        yield f"    {line}"
        if at in behind and behind[at].kind in scaffold.unwind:
            operation = behind[at]
            yield "    " + scaffold.unwind[operation.kind].format(register=operation.register, amount=operation.amount)
            if operation == operations[-1]:
                yield f"    {scaffold.unwind_end}"
    unwind = ", ".join(f"0x{byte:02x}" for byte in unwind_info(operations))
    yield from (
        line.format(symbol=symbol, unwind=unwind) for line in (scaffold.unwound_foot if operations else scaffold.foot)
    )
    if code.data:
        alignment = max(datum.alignment for datum in code.data)
        yield from (line.format(symbol=symbol, alignment=alignment) for line in scaffold.data)
        for datum in code.data:
            yield from _data(datum, dialect, full)
        yield from scaffold.data_foot
    yield from scaffold.end


def _data(datum: Datum, dialect: Dialect, full: Callable[[str], str]) -> Iterator[str]:
    name = full(datum.label)
    yield dialect.align.format(alignment=datum.alignment)
    mask = (1 << 8 * datum.size) - 1
    values = [
        f"{full(value.name)} - {name}" if isinstance(value, Label) else dialect.number(value & mask, 2 * datum.size)
        for value in datum.values
    ]
    in_line = max(1, 32 // datum.size)
    for start in range(0, len(values), in_line):
        lead = "    " if start else dialect.datum.format(name=name)
        yield f"{lead}{dialect.data[datum.size]} {', '.join(values[start : start + in_line])}"
