"""Counts and lower bounds of every kernel, read off its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from setwise.analysis.code.count import Counts, count, tally
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.part import Part, part_of
from setwise.analysis.cost.processors import PROCESSORS
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import widths
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS

Key = tuple[str, str, int]
"""Name, instruction set, lanes."""
_CHUNK = 8  # kernels a task


@dataclass(frozen=True, slots=True)
class Bound:
    """Lower bounds in cycles: a call, or a board of an array, which has no latency."""

    latency: float | None
    throughput: float


@dataclass(frozen=True, slots=True)
class KernelFigures:
    """A kernel in the System V convention, and the figures of its bytes.

    `counts` are those of the code, of arrays those of one round of the loop. `boards` is the number of boards of a call
    or of that round. `bounds` are by processor; code that branches on its arguments has none.
    """

    name: str
    isa: str
    lanes: int
    shape: Literal["straight", "branches", "arrays"]
    boards: int
    counts: Counts
    digest: str
    bounds: Mapping[str, Bound]

    @property
    def length(self) -> float:
        """Instructions a call, or a board of an array."""
        return self.counts.instructions / (self.boards if self.shape == "arrays" else 1)


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

        def shared(kernel: KernelFigures) -> bool:
            older = TARGETS[kernel.isa].extends
            same = self.get((kernel.name, older.name, kernel.lanes)) if older else None
            return same is not None and same == replace(kernel, isa=same.isa)

        return Figures((key, kernel) for key, kernel in self.items() if not shared(kernel))


def keys() -> list[Key]:
    """Return the keys of all kernels. Code for one direction is the same for any number of lanes: it has one key."""
    return [
        (routine.name, isa, lanes)
        for routine in catalogue().values()
        for isa in routine.isas
        for lanes in widths(routine, TARGETS[isa])[: 1 if routine.boards else None]
    ]


def gather(workers: Workers, wanted: Sequence[Key]) -> Iterator[KernelFigures]:
    """Yield the figures of these kernels, in their order."""
    for task in [workers.submit(_chunk, wanted[at : at + _CHUNK]) for at in range(0, len(wanted), _CHUNK)]:
        yield from task.result()


def figures_of(name: str, isa: str, lanes: int | None = None) -> KernelFigures:
    """Return the figures of one kernel."""
    kernel = lower(find(name), isa, "sysv", lanes)
    routine, binary = kernel.routine, binary_of(kernel)
    counts, part = count(binary), part_of(binary)
    boards = kernel.layout.lanes if routine.boards else 1
    digest = binary.image_sha256[:16]
    head = name, isa, kernel.layout.lanes
    if routine.contract.elements:
        return KernelFigures(*head, "arrays", boards, tally(part.stream), digest, _bounds(part, boards))
    if counts.branches:
        return KernelFigures(*head, "branches", boards, counts, digest, {})
    return KernelFigures(*head, "straight", boards, counts, digest, _bounds(part, None))


def _bounds(part: Part, boards: int | None) -> dict[str, Bound]:
    """Return the bounds on each processor that has the instructions; of arrays those of a board."""
    costs = {on.name: part.cost(on) for on in PROCESSORS if not on.lacking(part.stream)}
    return {
        name: Bound(None if boards else round(cost.latency, 3), round(cost.bound / (boards or 1), 3))
        for name, cost in costs.items()
    }


def _chunk(wanted: Sequence[Key]) -> list[KernelFigures]:
    """Return the figures of some kernels, in another process."""
    return [figures_of(*key) for key in wanted]
