"""Upper bounds of values, for the indices of tables and switches."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import ALL, Value


def _ones(number: int) -> int:
    return (1 << number.bit_length()) - 1


_GREATEST: Mapping[str, Callable[..., int]] = MappingProxyType(
    {
        "and": min,
        "or": lambda a, b: _ones(a | b),
        "xor": lambda a, b: _ones(a | b),
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "shl": lambda a, n: a << n,
        "shr": lambda a, n: a >> n,
        "shrv": lambda a, _: a,
        "popcount": lambda _: 64,
        "copy": lambda a: a,
    }
)
"""The greatest result of each operation, for the greatest arguments and the shift count; ALL for further ones."""


def greatest(graph: Graph, parameters: Mapping[Value, int]) -> dict[Value, int]:
    """Return an upper bound of every value, ALL if none is known. `parameters` have exclusive bounds, 0 for none.

    >>> from setwise.codegen.ir.values import parameter
    >>> square = parameter(0)
    >>> rank, masked = (square >> 3) + 1, parameter(1) & 5
    >>> bounds = greatest(Graph((), (rank, masked)), {square: 64})
    >>> bounds[rank], bounds[masked]
    (8, 5)
    """
    bounds: dict[Value, int] = {}
    for value in graph.order:
        bounds[value] = min(_bound(value, bounds, parameters), ALL)
    return bounds


def _bound(value: Value, bounds: Mapping[Value, int], parameters: Mapping[Value, int]) -> int:
    if value.constant is not None:
        return max(value.constant)
    if value.op == "param":
        return (parameters.get(value, 0) - 1) & ALL
    if value.op == "table":
        return max(map(int, value.attr[0]))
    if value.region is not None and value.region.kind != "loop":
        return max(bounds[body[value.attr]] for body in (value.region.inits, *value.region.bodies))
    if value.op not in _GREATEST:
        return ALL
    counts = () if value.attr is None else (max(value.attr) if value.op == "shl" else min(value.attr),)
    return _GREATEST[value.op](*(bounds[arg] for arg in value.args), *counts)


def choices(graph: Graph) -> Iterator[tuple[Value, Value, int, str]]:
    """Yield each value that a table or switch gives, with the index, the number of choices, and what it is."""
    for value in graph.order:
        if value.op == "table":
            yield value, value.args[0], len(value.attr[0]), "a table"
        elif value.region is not None and value.region.index is not None:
            yield value, value.region.index, len(value.region.bodies), "a switch"
