"""Counts and lower bounds of every kernel, read off its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from setwise.analysis.code.count import Counts, count, tally
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.part import part_of
from setwise.analysis.cost.processors import PROCESSORS
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import widths
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS

Key = tuple[str, str, int]
"""Name, instruction set, lanes."""
Bound = tuple[float | None, float]
"""Lower bounds in cycles, latency and throughput: a call's, or a board's of an array, which has no latency."""


@dataclass(frozen=True, slots=True)
class KernelFigures:
    """A kernel in the System V convention, and the figures of its bytes.

    `counts` are those of the code; of `arrays`, those of one round of the loop, which is for so many `boards`, else 1.
    `bounds` are by processor; code that branches on its arguments has none.
    """

    name: str
    isa: str
    lanes: int
    arrays: bool
    boards: int
    counts: Counts
    digest: str
    bounds: Mapping[str, Bound]

    @property
    def key(self) -> Key:
        """Name, instruction set, lanes."""
        return self.name, self.isa, self.lanes

    @property
    def length(self) -> float:
        """Instructions a call, or a board of an array."""
        return self.counts.instructions / self.boards


class Figures(dict[Key, KernelFigures]):
    """Kernels by their keys, in the order of the catalogue."""

    def of(self, isa: str, *names: str) -> list[KernelFigures]:
        """Return the kernels of these routines for an instruction set, those with the most lanes first."""
        kernels = (kernel for kernel in self.values() if kernel.isa == isa and kernel.name in names)
        return sorted(kernels, key=lambda kernel: -kernel.lanes)

    def usual(self, isa: str, name: str) -> KernelFigures | None:
        """Return the kernel with the default number of lanes, or None."""
        return next(iter(self.of(isa, name)), None)

    @property
    def differing(self) -> Figures:
        """All but the kernels that an instruction set shares with the one that it extends."""

        older = {isa: target.extends.name for isa, target in TARGETS.items() if target.extends}
        same = {key: replace(each, isa=older.get(each.isa, "")) for key, each in self.items()}
        return Figures((key, each) for key, each in self.items() if self.get(same[key].key) != same[key])


def keys() -> list[Key]:
    """Return the keys of all kernels. Code for one direction is the same for any number of lanes: it has one key."""
    return [
        (routine.name, isa, lanes)
        for routine in catalogue().values()
        for isa in routine.isas
        for lanes in widths(routine, TARGETS[isa])[: 1 if routine.boards else None]
    ]


def figures_of(name: str, isa: str, lanes: int | None = None) -> KernelFigures:
    """Return the figures of one kernel."""
    kernel = lower(find(name), isa, "sysv", lanes)
    routine, binary = kernel.routine, binary_of(kernel)
    counts, part, arrays = count(binary), part_of(binary), bool(routine.contract.elements)
    boards = kernel.layout.lanes if arrays and routine.boards else 1
    bounds: dict[str, Bound] = {}
    for on in PROCESSORS if arrays or not counts.branches else ():
        if not on.lacking(part.stream):
            cost = part.cost(on)
            bounds[on.name] = None if arrays else round(cost.latency, 3), round(cost.bound / boards, 3)
    counts, digest = tally(part.stream) if arrays else counts, binary.image_sha256[:16]
    return KernelFigures(routine.name, isa, kernel.layout.lanes, arrays, boards, counts, digest, bounds)
