"""The state of a routine between passes, and its blocks of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

from setwise.codegen.ir.graph import Graph, compose
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Description, Routine
from setwise.codegen.ir.values import Region, Value
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code, Datum, Item, Register
from setwise.codegen.machine.convention import SYSV, Convention
from setwise.codegen.targets.general import X86_64
from setwise.codegen.targets.table import Target

CACHED_GRAPHS = 64
"""The number of graphs whose rewriting a pass remembers: several forms of a routine share a stage."""


@dataclass(frozen=True, slots=True, order=True)
class Masks:
    """The choice of masks on a ray's path, two switches.

    `inner`: the path of an attack ray keeps only squares that the opposite ray can enter too, so that both rays share
    it, unless others are demanded: a ray attacks nothing beyond the edge. `ranks`: the mask also clears the ranks that
    a shift of one lane empties, so that a rotate may replace the shift.
    """

    inner: bool = False
    ranks: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Values and regions in the order of execution."""

    items: tuple[Value | RegionBlock, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RegionBlock:
    """A region with a block for each of its bodies, and those of its results that have users."""

    region: Region
    bodies: tuple[Block, ...]
    results: tuple[Value, ...]

    def phi_inputs(self, number: int) -> tuple[tuple[Value, Value], ...]:
        """Return the phi inputs of a body: pairs of a phi of the first body and its next value.

        If bodies fall through, the last one has only inputs of results with users.
        """
        pairs = tuple(zip(self.region.phis[0], self.region.bodies[number], strict=True))
        if not self.region.falls or number < len(self.bodies) - 1:
            return pairs
        used = {int(result.attr) for result in self.results}
        return tuple(pair for at, pair in enumerate(pairs) if at in used)


@dataclass(frozen=True, eq=False, slots=True)
class Spilled:
    """A block after spilling: with stores and reloads, the routine's results in it, and the number of 8-byte slots."""

    block: Block
    results: tuple[Value, ...]
    slots: int


@dataclass(frozen=True)
class Allocation:
    """The result of register allocation: instructions, callee-saved registers in use, whether the search was exact."""

    items: tuple[Item, ...]
    saved: tuple[Register, ...]
    exact: bool


@dataclass(frozen=True)
class State:
    """The state of a routine between passes. Fields are set from top to bottom; some passes rewrite `graph` again."""

    routine: Routine
    layout: Layout
    describe: Description
    masks: Masks = Masks()
    target: Target = X86_64
    """Set before selection, where it is first read."""
    convention: Convention = SYSV
    """Set after selection. The estimates of the pipeline precede it, and assume the default."""
    most: float = inf
    """The most instructions that its code may have; allocation raises TooLong for more."""
    before: tuple[Graph, ...] = ()
    """The stages in front of `graph`, until they are joined: the result of each is the last parameter of the next."""
    graph: Graph = Graph((), ())
    masked: tuple[Graph, ...] = ()
    """All stages in shifts and masks, before selection."""
    selected: Graph = Graph((), ())
    data: tuple[Datum, ...] = ()
    """The tables that the selected graph reads."""
    block: Block = Block(())
    spilled: Spilled = Spilled(Block(()), (), 0)
    allocated: Allocation = Allocation((), (), True)
    constants: tuple[Datum, ...] = ()
    """The constants that the allocated instructions may read from memory."""
    code: Code = Code("", ())

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """All stages, in order."""
        return (*self.before, self.graph)

    @property
    def shape(self) -> tuple[Any, ...]:
        """A key of the stages. Stages with equal keys produce the same code."""
        return tuple([graph.shape for graph in self.graphs])

    @property
    def in_vectors(self) -> bool:
        """Whether some values are in vector registers."""
        return any(value.file == "vector" for graph in self.graphs for value in graph.order)

    def each(self, rule: Callable[[Graph], Graph]) -> State:
        """Return the state with each stage rewritten by a rule."""
        *before, graph = map(rule, self.graphs)
        return replace(self, before=tuple(before), graph=graph)

    @cached_property
    def kernel(self) -> Kernel:
        """The finished kernel."""
        return Kernel(
            self.routine,
            self.target,
            self.convention,
            self.layout,
            compose(self.masked),
            self.selected,
            self.code,
            self.allocated.exact,
        )


Pass = Callable[[State], State]
