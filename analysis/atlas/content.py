"""What the atlas says of a routine: its kernels with the lines that they come from, counts, cycles, proofs, compilers.

All figures are read off bytes, by the rooms that commands ask: nothing is worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from setwise.analysis.atlas.source_lines import SourceLines, source_of
from setwise.analysis.bench.compilers import FOR_SCALE, Compiled
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.compare import disassembly
from setwise.analysis.code.count import UnclassifiedError, count
from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.cost.part import part_of
from setwise.analysis.cost.processors import PROCESSORS, Processor, UnknownCost
from setwise.analysis.exports.export_request import ExportRequest, files_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.assemble import NotEncodable
from setwise.codegen.ir.lines import recorded
from setwise.codegen.ir.routine import Parameter, Routine
from setwise.codegen.kernel import Kernel, widths
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused

CONVENTIONS = ("sysv", "win64")
_PROOF = 30.0
"""Seconds that a proof may take: on a quiet core none takes more than a few."""

Row = dict[str, Any]


def content(routine: Routine, compiled: Sequence[Compiled] = ()) -> Row:
    """Return all that the page shows of a routine; `compiled` holds the compilers' code for it."""
    kernels = list(_kernels(recorded(routine)))
    lines = (instruction.line for kernel in kernels for instruction in kernel.code.instructions)
    source = source_of(dict.fromkeys(line for line in lines if line is not None))
    prover = _prover()
    rows = [_row(kernel, source, prover, compiled) for kernel in kernels]
    return {
        "name": routine.name,
        "description": source.as_dict(),
        "javascript": _exported(kernels[0], "javascript", proved=_proved(rows[0])),
        "kernels": rows,
    }


def entry(routine: Routine, shown: Row) -> Row:
    """The routine in the list of all: what it takes and gives, and which of its kernels there are."""
    contract = routine.contract
    choice = ("set", "lanes", "convention", "objective")
    return {
        "name": routine.name,
        "family": routine.family,
        "says": f"{routine.summary[:1].upper()}{routine.summary[1:]}.",
        "source": routine.source,
        "direction": contract.direction,
        "numbering": contract.numbering.name,
        "requires": list(contract.required),
        "parameters": [_parameter(each) for each in contract.parameters],
        "elements": [_parameter(each) for each in contract.elements],
        "results": list(contract.results),
        "kernels": [{key: row[key] for key in choice} for row in shown["kernels"]],
    }


def _parameter(parameter: Parameter) -> Row:
    return {"name": parameter.name, "kind": parameter.kind, "below": parameter.below}


def _kernels(routine: Routine) -> Iterator[Kernel]:
    """Yield the kernel of each instruction set, number of lanes and convention that can be made.

    For routines on arrays the default number of lanes stands for all, because it does not change the interface.
    """
    most = 1 if routine.contract.elements else None
    for isa in routine.isas:
        for lanes, abi in product(widths(routine, TARGETS[isa])[:most], CONVENTIONS):
            try:
                kernel = lower(routine, isa, abi, lanes)
                binary_of(kernel)
            except (Refused, NotEncodable):
                continue
            yield kernel


def _row(kernel: Kernel, source: SourceLines, prover: Prover | None, compiled: Sequence[Compiled]) -> Row:
    binary = binary_of(kernel)
    decoded = decode(binary.text)
    ours = kernel.convention.name == "sysv"
    row: Row = {
        "set": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "convention": kernel.convention.name,
        "objective": "size",
        "variant": kernel.variant or None,
        "counts": count(binary).as_dict(),
        "listing": _listing(kernel, decoded, source),
        "cycles": {on.name: _cycles(binary, decoded, on) for on in PROCESSORS},
        "proof": _proof(kernel, binary, prover),
        "compilers": [*_shortest(each for each in compiled if _alike(each, kernel))] if ours else None,
    }
    return {**row, "header": _exported(kernel, "c", proved=_proved(row)) if ours else None}


def _listing(kernel: Kernel, decoded: Sequence[Decoded], source: SourceLines) -> list[Row]:
    """Each instruction: its text and bytes, the line that made its value, and the instructions that it waits for.

    `at` is the name of the place where it stands, if code jumps there.
    """
    rows: list[Row] = []
    place: Row = {}
    index, waits = source.index, reads(decoded)
    instructions = zip(decoded, kernel.code.instructions, strict=True)
    for text in disassembly(decoded):
        if text.endswith(":"):
            place = {"at": text[:-1]}
            continue
        instruction, made = next(instructions)
        line = index[made.line] if made.line else None
        rows.append({"text": text, "bytes": instruction.raw.hex(), "line": line, "reads": next(waits), **place})
        place = {}
    return rows


def reads(decoded: Sequence[Decoded]) -> Iterator[list[int]]:
    """Of each instruction those before it whose results it reads, in registers, flags and slots of the stack.

    Jumps are not followed. Where the stack is nobody waits for.

    >>> [*reads(decode(bytes.fromhex("48897c2408488b44240848c1e808c3")))]  # stored, fetched, shifted
    [[], [0], [1], []]
    """
    made: dict[str, int] = {}
    for at, instruction in enumerate(decoded):
        memory = instruction.memory
        slot = f"rsp{memory.displacement:+}" if memory and memory.base and memory.base.full == "rsp" else "memory"
        read = {*instruction.reads, *instruction.flags_read, *([slot] if instruction.loads else [])}
        yield sorted({made[name] for name in read - {"rsp", "memory"} if name in made})
        written = {*instruction.writes, *instruction.flags_written, *([slot] if instruction.stores else [])}
        made |= dict.fromkeys(written, at)


def _cycles(binary: Binary, decoded: Sequence[Decoded], on: Processor) -> Row | None:
    """As `setwise cost` has it; None where the processor has not the instructions, or nobody sees where code jumps."""
    try:
        part = part_of(binary)
        if on.lacking(part.stream):
            return None
        cost = part.cost(on)
    except (UnknownCost, ValueError):
        return None
    at = {instruction.offset: number for number, instruction in enumerate(decoded)}
    path = sorted(at[part.stream[step].offset] for step in cost.critical)
    return {"part": part.kind, "latency": cost.latency, "throughput": round(cost.bound, 2), "path": path}


def _prover() -> Prover | None:
    """A prover; None where there is no solver, and nothing is proved."""
    try:
        return Prover()
    except ModuleNotFoundError:
        return None


def _proof(kernel: Kernel, binary: Binary, prover: Prover | None) -> Row:
    """How a proof of these bytes ended here; None as status where it takes longer than it may, or there is no solver.

    ValueError where they are refuted.
    """
    certificate = None if prover is None else prover.prove(binary, task_of(kernel), _PROOF)
    if certificate and certificate.status == "refuted":
        raise ValueError(f"{kernel.name} for {kernel.target.name} is refuted: setwise prove says by what")
    if certificate is None or certificate.status == "not proved":
        return {"status": None, "seconds": None, "digest": binary.sha256}
    return {"status": certificate.status, "seconds": round(certificate.seconds, 2), "digest": binary.sha256}


def _proved(row: Row) -> bool:
    return bool(row["proof"]["status"] == "proved")


def _exported(kernel: Kernel, form: str, *, proved: bool) -> str | None:
    """The text of the one file that an export has; None where the format does not hold the kernel."""
    name, isa, lanes = kernel.name, kernel.target.name, kernel.layout.lanes
    if form == "javascript" and isa != "x86-64":
        return None
    asked = None if lanes == widths(kernel.routine, kernel.target)[0] else lanes
    variants = ((name, isa, kernel.variant),) if kernel.variant else ()
    try:
        files = files_of(ExportRequest(form, (name,), (isa,), "sysv", proved, asked, variants=variants), [kernel])
    except ValueError:
        return None
    (text,) = files.values()
    return text.decode("ascii")


def _alike(compiled: Compiled, kernel: Kernel) -> bool:
    """Whether it does the same on as many boards; tables of attacks are no fills."""
    boards = kernel.routine.boards and not kernel.routine.contract.elements
    lanes = compiled.lanes == kernel.layout.lanes or not boards
    return compiled.isa == kernel.target.name and lanes and not compiled.kind.startswith(FOR_SCALE)


def _shortest(compiled: Iterable[Compiled]) -> Iterator[Row]:
    """The shortest code of each compiler."""
    shortest: dict[str, Row] = {}
    for each in compiled:
        if each.binary is None:
            continue
        try:
            counts = count(each.binary).as_dict()
        except UnclassifiedError:
            continue
        name = each.compiler.name
        if name not in shortest or counts["instructions"] < shortest[name]["counts"]["instructions"]:
            options = f"-O3 {' '.join(each.flags)} ({each.kind})"
            texts = [*disassembly(decode(each.binary.text))]
            shortest[name] = {"compiler": name, "options": options, "counts": counts, "listing": texts}
    yield from shortest.values()
