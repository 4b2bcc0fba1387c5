"""The atlas data of a routine: its kernels with their source lines, counts, cycles, proofs, and compilers' code."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
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
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.assemble import NotEncodable
from setwise.codegen.export.sources.javascript import JavaScript
from setwise.codegen.export.sources.source import body
from setwise.codegen.ir.lines import recorded
from setwise.codegen.ir.routine import Routine
from setwise.codegen.ir.values import Value
from setwise.codegen.kernel import Kernel, widths
from setwise.codegen.literature import FUNCTIONS
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Line
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused

CONVENTIONS = ("sysv", "win64")
_PROOF = 30.0
"""The time limit of a proof in seconds of processor time."""

Row = dict[str, Any]


def content(routine: Routine, compiled: Sequence[Compiled] = ()) -> Row:
    """Return the data for JSON that the page shows of a routine; `compiled` holds the compilers' code for it."""
    kernels = list(_kernels(recorded(routine)))
    lines = (instruction.line for kernel in kernels for instruction in kernel.code.instructions)
    source = source_of(dict.fromkeys(line for line in lines if line is not None))
    prover = Prover() if find_spec("bitwuzla") else None
    rows = [_row(kernel, source, prover, compiled) for kernel in kernels]
    return {
        "name": routine.name,
        "description": source.as_dict(),
        "javascript": [line for line in body(kernels[0], _Located(source)) if not line.startswith("//")],
        "kernels": rows,
    }


def entry(routine: Routine, shown: Row) -> Row:
    """Return a routine's entry in the index: its interface, and the list of its kernels, from its `content`."""
    contract = routine.contract
    choice = ("set", "lanes", "convention")
    return {
        "name": routine.name,
        "family": routine.family,
        "says": f"{routine.summary[:1].upper()}{routine.summary[1:]}.",
        "source": routine.source,
        "printed": [f"{each.name} ({each.place})" for each in FUNCTIONS if routine.name in (each.routine, *each.also)],
        "direction": contract.direction,
        "numbering": contract.numbering.name,
        "requires": list(contract.required),
        "parameters": list(map(asdict, contract.parameters)),
        "elements": list(map(asdict, contract.elements)),
        "results": list(contract.results),
        "kernels": [{key: row[key] for key in choice} for row in shown["kernels"]],
    }


def _kernels(routine: Routine) -> Iterator[Kernel]:
    """Yield the kernel of each instruction set, number of lanes and convention that can be made.

    Routines on arrays have only the default number of lanes here, because the number does not change the interface.
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
    return {
        "set": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "convention": kernel.convention.name,
        "variant": kernel.variant or None,
        "counts": count(binary).as_dict(),
        "listing": _listing(kernel, decoded, source),
        "cycles": {on.name: _cycles(binary, decoded, on) for on in PROCESSORS},
        "proof": _proof(kernel, binary, prover),
        "compilers": [*_shortest(each for each in compiled if _alike(each, kernel))],
    }


def _listing(kernel: Kernel, decoded: Sequence[Decoded], source: SourceLines) -> list[Row]:
    """Return a row for each instruction: text, bytes, the index of its value's source line, and `reads`.

    `at` is the label before the instruction, if code jumps there.
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
        line = index[made.line[:2]] if made.line else None
        rows.append({"text": text, "bytes": instruction.raw.hex(), "line": line, "reads": next(waits), **place})
        place = {}
    return rows


def reads(decoded: Sequence[Decoded]) -> Iterator[list[int]]:
    """Yield for each instruction the indices of the earlier ones whose results it reads, in registers, flags and slots.

    Slots are stack memory addressed by rsp. Jumps are not followed. Dependences through rsp itself are ignored.

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
    """Return bounds as by `setwise cost`, or None without any. `path` has the critical path's indices in `decoded`."""
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


def _proof(kernel: Kernel, binary: Binary, prover: Prover | None) -> Row:
    """Return a proof's status (None without a solver) and the code's digest. Raises ValueError for a refuted kernel."""
    status = None if prover is None else prover.prove(binary, task_of(kernel), _PROOF).status
    if status == "refuted":
        raise ValueError(f"{kernel.name} for {kernel.target.name} is refuted: setwise prove shows the counterexample")
    return {"status": status, "digest": binary.sha256}


class _Located(JavaScript):
    """JavaScript with a comment after each value: [source line's index (-1: not shown), columns], [] for no line."""

    NESTED_LANES = 0

    def __init__(self, source: SourceLines) -> None:
        self.places = source.index
        self.line: Line | None = None

    def operation(self, value: Value, operands: Sequence[str]) -> str:
        self.line = value.line
        return super().operation(value, operands)

    def declaration(self, name: str, lanes: int, text: str, *, carried: bool = False) -> str:
        line, self.line = self.line, None
        place = [self.places.get(line[:2], -1), *line.columns] if line else []
        return f"{super().declaration(name, lanes, text, carried=carried)} // {place}"


def _alike(compiled: Compiled, kernel: Kernel) -> bool:
    """Return whether the page compares compiled code with a kernel of the same routine.

    The kernel is sysv. Both have one instruction set and, if calls take vectors, as many lanes. Look-ups are left out.
    """
    boards = kernel.routine.batched and not kernel.routine.contract.elements
    lanes = compiled.lanes == kernel.layout.lanes or not boards
    isa = compiled.isa == kernel.target.name and kernel.convention.name == "sysv"
    return isa and lanes and not compiled.kind.startswith(FOR_SCALE)


def _shortest(compiled: Iterable[Compiled]) -> Iterator[Row]:
    """Yield a row for each compiler with its code of the fewest instructions."""
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
