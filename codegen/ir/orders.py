"""Equivalent orders of an operation's arguments, the arguments that it may overwrite, and the path of a borrow."""

from dataclasses import replace
from itertools import permutations

from setwise.codegen.ir.operations import COMMUTATIVE
from setwise.codegen.ir.values import Value, in_register


def overwritable(value: Value) -> tuple[Value, ...]:
    """Return the arguments that a two-operand instruction could overwrite in some order of the arguments."""
    return value.args if value.op in COMMUTATIVE or value.op == "ternary" else value.args[:1]


def reordered(value: Value) -> tuple[Value, ...]:
    """Return the value with its arguments in each equivalent order. A last constant or memory operand stays last."""
    args = value.args
    if value.op in COMMUTATIVE and in_register(args[1]) and args[0] is not args[1]:
        return (value, value.on(args[::-1]))
    if value.op == "ternary":
        orders = [order for order in permutations(range(3)) if in_register(args[2]) or order[2] == 2]
        return tuple(
            replace(value, args=tuple([args[i] for i in order]), attr=permuted(value.attr, order)) for order in orders
        )
    return (value,)


def borrow_path(value: Value) -> tuple[Value, ...]:
    """Return the values from the shift that leaves the borrow of a "sub-borrow" to its second argument, in order."""
    path = [value.args[1]]
    while path[-1].op != "shr":
        path.append(path[-1].args[0])
    return tuple(path[::-1])


def permuted(truth: int, order: tuple[int, ...]) -> int:
    """Return a truth table (bit 4a + 2b + c for inputs a, b, c) for new inputs: number i is old input `order[i]`."""
    new = 0
    for row in range(8):
        old = sum((row >> 2 - place & 1) << 2 - which for place, which in enumerate(order))
        new |= (truth >> old & 1) << row
    return new
