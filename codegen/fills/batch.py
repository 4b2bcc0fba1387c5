"""Arrays of boards: a routine of boards run over n of them, as many at once as a register has lanes, then one by one.

Each round reads all its boards before it writes, so the result may be one of the inputs; arrays that overlap otherwise
may not be given. Any n, any alignment.
"""

from __future__ import annotations

from collections.abc import Callable

from setwise.codegen.describe.control import at_least, nonzero, while_
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Description
from setwise.codegen.describe.values import Value, constant, load, store


def over(packed: Description, single: Description, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """`packed` for every index, `single` where a register is not filled: two descriptions of the same.

    Parameters are the inputs' addresses, the result's address, and n.
    """
    *inputs, result, count = parameters

    def by(lanes: int, describe: Description) -> Callable[[Value, Value], tuple[Value, ...]]:
        def boards_at(index: Value, left: Value) -> tuple[Value, ...]:
            boards = (load(pointer, index, lanes) for pointer in inputs)
            (results,) = describe(Layout(lanes, boards=True), *boards)
            write = store(result, index, results)
            index += lanes
            left -= lanes
            return index, left, write

        return boards_at

    index, left = constant(0), count
    if layout.lanes > 1:
        index, left = while_(lambda _, left: at_least(left, layout.lanes), by(layout.lanes, packed), index, left)
    return (Value("done", while_(lambda _, left: nonzero(left), by(1, single), index, left)),)
