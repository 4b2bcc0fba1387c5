"""The kernels that the reports speak of, each made, decoded and counted once, as plain data."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from setwise.analysis.code.count import Counts, count, tally
from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.report.bounds import Estimate, Shape, estimates_of
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.steps import Machine, Start
from setwise.analysis.run.task import Task
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, widths
from setwise.codegen.lower import lower
from setwise.codegen.run.call import is_batch
from setwise.codegen.targets import TARGETS

FigureKey = tuple[str, str, int]
"""Name, instruction set, lanes."""


@dataclass(frozen=True, slots=True)
class KernelFigures:
    """A kernel in the System V convention, and what its bytes say.

    `shape` is "straight" for code without branches, "arrays" for routines on arrays, else "branches". Counts are of
    the code; for arrays of one round of its loop, which does `boards` boards. Else `boards` is how many a call does.
    `code_bytes` and `data_bytes` are those of the whole. Bounds are by processor.
    """

    name: str
    family: str
    form: str
    direction: str
    isa: str
    lanes: int
    shape: Shape
    boards: int
    counts: Counts
    code_bytes: int
    data_bytes: int
    bounds: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def key(self) -> FigureKey:
        """Name, instruction set, lanes."""
        return self.name, self.isa, self.lanes

    @property
    def per_board(self) -> float:
        """Instructions a board."""
        return self.counts.instructions / self.boards

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with any count and any size."""
        return hashlib.sha256(json.dumps(self.as_dict()).encode()).hexdigest()[:16]

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        head = ("name", "family", "form", "direction", "isa", "lanes", "shape", "boards")
        counts = {key: number for key, number in self.counts.as_dict().items() if "bytes" not in key}
        sizes = {"code_bytes": self.code_bytes, "data_bytes": self.data_bytes}
        return {**{key: getattr(self, key) for key in head}, **counts, **sizes}


class Figures(dict[FigureKey, KernelFigures]):
    """The kernels by their keys, in the catalogue's order."""

    def of(self, isa: str, *names: str) -> list[KernelFigures]:
        """The kernels of these routines for an instruction set, those with the most lanes first."""
        kernels = (kernel for kernel in self.values() if kernel.isa == isa and kernel.name in names)
        return sorted(kernels, key=lambda kernel: -kernel.lanes)

    def usual(self, isa: str, name: str) -> KernelFigures | None:
        """The kernel with the usual number of lanes, if there is one."""
        return next(iter(self.of(isa, name)), None)

    @property
    def differing(self) -> Figures:
        """All but those that an instruction set takes as they are from the one that it extends."""

        def taken(kernel: KernelFigures) -> bool:
            older = TARGETS[kernel.isa].extends
            return older is not None and replace(kernel, isa=older.name) == self.get(
                (kernel.name, older.name, kernel.lanes)
            )

        return Figures((key, kernel) for key, kernel in self.items() if not taken(kernel))

    @property
    def fingerprints(self) -> dict[FigureKey, str]:
        """The kernels' fingerprints."""
        return {key: kernel.fingerprint for key, kernel in self.items()}

    def names(self, wanted: Callable[[KernelFigures], bool]) -> list[str]:
        """The names of the routines whose kernels are wanted."""
        return list(dict.fromkeys(kernel.name for kernel in self.values() if wanted(kernel)))


def keys(routines: Sequence[Routine] | None = None) -> list[FigureKey]:
    """The kernels of these routines, by default all: each instruction set, and each number of lanes that differs.

    One of a direction does the same with any number of lanes, so that the usual number stands for all.
    """
    return [
        (routine.name, isa, lanes)
        for routine in (catalogue().values() if routines is None else routines)
        for isa in routine.isas
        for lanes in widths(routine, TARGETS[isa])[: 1 if routine.boards else None]
    ]


def figures_of(key: FigureKey) -> KernelFigures:
    """The figures of one kernel."""
    name, isa, lanes = key
    return figures_from(lower(find(name), isa, "sysv", lanes))


def figures_from(kernel: Kernel) -> KernelFigures:
    """The same of a kernel that is made already."""
    routine, binary, lanes = kernel.routine, binary_of(kernel), kernel.layout.lanes
    total = count(binary)
    shape = shape_of(kernel, total)
    boards = lanes if routine.boards else 1
    arrays = shape == "arrays"
    # What is executed: code without the final ret, or a round of a loop over arrays.
    executed = round_of(binary, task_of(kernel), lanes) if arrays else decode(binary.text)[:-1]
    return KernelFigures(
        name=kernel.name,
        family=routine.family,
        form=routine.form,
        direction=routine.contract.direction,
        isa=kernel.target.name,
        lanes=lanes,
        shape=shape,
        boards=boards,
        counts=tally(executed) if arrays else total,
        code_bytes=total.bytes,
        data_bytes=total.data_bytes,
        bounds=estimates_of(executed, shape, boards),
    )


def shape_of(kernel: Kernel, counts: Counts) -> Shape:
    """What kind of code it is."""
    return "arrays" if is_batch(kernel.routine) else "branches" if counts.branches else "straight"


def round_of(binary: Binary, task: Task, boards: int, rounds: int = 4) -> tuple[Decoded, ...]:
    """What a routine on arrays executes for each `boards` boards, its loop's control included."""
    decoded = decode(binary.text)
    arrays = {name: bytes(8 * rounds * boards) for name in (argument.name for argument in task.arguments)}
    registers: dict[str, Start] = {}
    stack: dict[int, int | str] = {}
    for argument in task.arguments:
        value: int | str = rounds * boards if argument.kind == "count" else argument.name
        if argument.place.file == "stack":
            stack[argument.place.offset] = value
        else:
            registers[argument.place.register] = value
    steps = Machine(binary, registers, arrays, decoded, stack=stack).run().steps
    executed = Counter(step.instruction.offset for step in steps)
    # The branch that ends the loop is not taken once less; what only some rounds do is not of the round.
    return tuple(instruction for instruction in decoded if executed[instruction.offset] >= rounds)
