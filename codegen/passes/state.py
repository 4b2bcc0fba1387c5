"""What goes from pass to pass: a routine on its way down, and the blocks that its values lie in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from setwise.codegen.describe.graph import Graph, in_turn
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Description, Routine
from setwise.codegen.describe.values import Region, Value
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Code, Datum, Item, Register
from setwise.codegen.machine.convention import SYSV, Convention
from setwise.codegen.targets.general import X86_64
from setwise.codegen.targets.table import Target

CACHED_GRAPHS = 64
"""For how many graphs a pass keeps what it made of them: a stage of a routine comes again with others."""


@dataclass(frozen=True, slots=True, order=True)
class Masks:
    """Which of the allowed masks lie on a ray's path.

    `inner`: attack rays hold the path to squares that their opposites can enter too, the inner files (a flood need not
    pass an edge square to attack beyond it), so that one path serves both. `ranks`: the mask also leaves out the ranks
    that a shift empties, so that a rotate may stand for the shift.
    """

    inner: bool = False
    ranks: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Values in the order in which they are made, regions among them where they run."""

    items: tuple[Value | RegionBlock, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RegionBlock:
    """A region with a block for each of its bodies, and its results that somebody uses."""

    region: Region
    bodies: tuple[Block, ...]
    results: tuple[Value, ...]

    def phi_inputs(self, number: int) -> tuple[tuple[Value, Value], ...]:
        """What a body must leave: the phi of the first body where that belongs, and the value.

        After the last of bodies that fall, that is what somebody uses.
        """
        pairs = tuple(zip(self.region.phis[0], self.region.bodies[number], strict=True))
        if not self.region.falls or number < len(self.bodies) - 1:
            return pairs
        used = {int(result.attr) for result in self.results}
        return tuple(pair for at, pair in enumerate(pairs) if at in used)


@dataclass(frozen=True, eq=False, slots=True)
class Spilled:
    """The block with stores and reloads, the results as they are called now, and the stack slots of 8 bytes used."""

    block: Block
    results: tuple[Value, ...]
    slots: int


@dataclass(frozen=True)
class Allocation:
    """Instructions and labels with registers, the saved registers that they use, and whether the search was exact."""

    items: tuple[Item, ...]
    saved: tuple[Register, ...]
    exact: bool


class SizeLimit(NamedTuple):
    """How large code may be: so many instructions, and of that many some must be moves, which cost least."""

    instructions: float = inf
    moves: int = 0

    def besides(self, others: int) -> float:
        """How many instructions there may be where so many at least are no moves."""
        return self.instructions - (self.instructions - others < self.moves)


@dataclass(frozen=True)
class State:
    """A routine on its way down; each pass fills in the next field, from those above it alone."""

    routine: Routine
    layout: Layout
    describe: Description
    masks: Masks = Masks()
    target: Target = X86_64
    """Asked from selection on."""
    convention: Convention = SYSV
    """Asked once a graph has been selected."""
    most: SizeLimit = SizeLimit()
    """How large its code may be; none is made where it would be larger."""
    before: tuple[Graph, ...] = ()
    """What runs first: what each graph gives is the last parameter of the next, until they become one."""
    graph: Graph = Graph((), ())
    masked: tuple[Graph, ...] = ()
    """The graphs in shifts and masks, as they were selected from."""
    selected: Graph = Graph((), ())
    data: tuple[Datum, ...] = ()
    """The tables that the selected graph reads."""
    block: Block = Block(())
    spilled: Spilled = Spilled(Block(()), (), 0)
    allocated: Allocation = Allocation((), (), True)
    constants: tuple[Datum, ...] = ()
    """Those that the allocated instructions may read from memory."""
    code: Code = Code("", ())

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """All of them in turn."""
        return (*self.before, self.graph)

    @property
    def shape(self) -> tuple[Any, ...]:
        """What two units that describe the same code have in common."""
        return tuple([graph.shape for graph in self.graphs])

    @property
    def values(self) -> int:
        """How many values there are in all."""
        return sum(len(graph.order) for graph in self.graphs)

    @property
    def in_vectors(self) -> bool:
        """Whether some values lie in vector registers."""
        return any(value.file == "vector" for graph in self.graphs for value in graph.order)

    def each(self, rule: Callable[[Graph], Graph]) -> State:
        """The state with each graph as the rule makes it."""
        *before, graph = map(rule, self.graphs)
        return replace(self, before=tuple(before), graph=graph)

    @cached_property
    def kernel(self) -> Kernel:
        """What came of it."""
        return Kernel(
            self.routine,
            self.target,
            self.convention,
            self.layout,
            in_turn(self.masked),
            self.selected,
            self.code,
            self.allocated.exact,
        )


Pass = Callable[[State], State]
