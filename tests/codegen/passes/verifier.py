"""A verifier of the IR, as compilers have: types, one definition, dominance. It is run after every pass in tests."""

from collections.abc import Iterable

from setwise.codegen.ir.graph import Graph, dependencies
from setwise.codegen.ir.operations import OPERATIONS
from setwise.codegen.ir.values import Region, Value
from setwise.codegen.passes.state import Block, RegionBlock, State

LEAVES = frozenset({"const", "param", "phi", "place"})
"""Operations without an instruction: they are defined everywhere, phis in their body."""
MIXED = frozenset({"step", "run", "path", "unite", "overlap", "total", "beside"})
"""Operations of rays and of whole registers, which expand and select remove: their arguments may have other lanes."""


class InvalidIR(AssertionError):
    """The IR breaks a rule."""


def require(kept: bool, rule: str, value: object) -> None:
    if not kept:
        raise InvalidIR(f"{rule}: {value}")


def verify(state: State) -> None:
    """Raise InvalidIR if a graph or block of the state breaks a rule."""
    for graph in state.graphs:
        verify_graph(graph)
    if state.block.items:
        defined: set[Value] = set()
        verify_block(state.block, frozenset(), defined)
        for result in state.graph.results:
            require(result.op in LEAVES or result in defined, "a result without a definition", result)
    if state.spilled.block.items:
        defined = set()
        verify_block(state.spilled.block, frozenset(), defined)
        for result in state.spilled.results:
            require(result.op in LEAVES or result in defined, "a spilled result without a definition", result)


def verify_graph(graph: Graph) -> None:
    seen: set[Value] = set()
    for value in graph.order:
        verify_value(value)
        for below in dependencies(value):
            require(below in seen, "a value before its operand", value)
        seen.add(value)
    require(set(graph.results) <= seen, "a result outside of the order", graph.results)


def verify_value(value: Value) -> None:
    require(value.lanes in (1, 2, 4, 8), "a number of lanes that no register has", value)
    operation = OPERATIONS.get(value.op)
    if value.op == "const":
        require(isinstance(value.attr, tuple) and len(value.attr) == value.lanes, "a constant of other lanes", value)
    if operation is not None and operation.bitwise and value.op not in MIXED:
        require(all(arg.lanes == value.lanes for arg in value.args), "a bitwise operation on other lanes", value)
    if value.region is not None:
        verify_region(value.region)


def verify_region(region: Region) -> None:
    carried = len(region.inits)
    for phis, body in zip(region.phis, region.bodies, strict=True):
        require(len(phis) == carried and len(body) == carried, "a body that carries another number of values", region)
        for init, phi, following in zip(region.inits, phis, body, strict=True):
            require(phi.op == "phi", "a phi of another operation", phi)
            require(init.lanes == phi.lanes == following.lanes, "a carried value of other lanes", phi)


def verify_block(block: Block, outer: frozenset[Value], defined: set[Value]) -> None:
    """Each value is defined once, after its operands, in this block or in one around it."""
    here: set[Value] = set()

    def available(values: Iterable[Value], user: object) -> None:
        for value in values:
            require(value.op in LEAVES or value in here or value in outer, "an operand that does not dominate", user)

    for item in block.items:
        if isinstance(item, RegionBlock):
            available(item.region.outside, item.region)
            for number, body in enumerate(item.bodies):
                verify_block(body, frozenset(outer | here), defined)
                inside = {each for each in flat(body) if isinstance(each, Value)}
                for phi, following in item.phi_inputs(number):
                    require(
                        following.op in LEAVES or following in inside or following in here or following in outer,
                        "a carried value without a definition",
                        phi,
                    )
            made: tuple[Value, ...] = item.results
        else:
            available(item.args, item)
            made = (item,)
        for value in made:
            require(value not in defined, "a second definition", value)
            here.add(value)
            defined.add(value)


def flat(block: Block) -> Iterable[Value]:
    """Yield the values that a block defines, those of nested blocks left out."""
    for item in block.items:
        if isinstance(item, RegionBlock):
            yield from item.results
        else:
            yield item
