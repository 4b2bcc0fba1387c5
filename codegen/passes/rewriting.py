"""Apply the table of rewriting rules to a graph."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import CodeType
from typing import Any

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.numbers import is_immediate
from setwise.codegen.ir.operations import ALL, COMMUTATIVE, OPERATIONS
from setwise.codegen.ir.values import Value, constant, make
from setwise.codegen.passes.rules import RULES, TARGET_RULES
from setwise.codegen.targets.table import Target

Bindings = Mapping[str, Any]
"""The value or shift count of each name of a pattern."""

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.Invert: "not",
    ast.USub: "neg",
}


def _exponent(number: Value) -> int:
    """Return the exponent of a power of two that is equal in all lanes. Raise ValueError for another number."""
    (lane,) = set(number.attr)
    if lane.bit_count() != 1:
        raise ValueError(f"{lane} is no power of two")
    return int(lane).bit_length() - 1


def _operation(op: str) -> Callable[..., Value]:
    """Return the function that makes the value of an operation from its arguments and its shift count, if any."""

    def made(*args: Value | int) -> Value:
        values = [arg for arg in args if isinstance(arg, Value)]
        counts = tuple([arg for arg in args if isinstance(arg, int)] * values[0].lanes)
        return make(op, *values, attr=counts or None)

    return made


_NAMES: Mapping[str, Any] = {
    **{op.replace("-", "_"): _operation(op) for op in OPERATIONS},
    "ALL": ALL,
    "log2": _exponent,
    "inverse": lambda number, other: number.constant == (~other).constant,
    "chooses": lambda number: all(byte & byte - 1 == 0 for lane in number.attr for byte in lane.to_bytes(8)),
    "signed": lambda number: is_immediate(number.attr[0]),
    "rotl": lambda value, count: value.rotate(count),  # by any count
}


@dataclass(frozen=True)
class Pattern:
    """An operation, with the pattern of each argument and of the shift count, if any. A string is a name."""

    op: str
    args: tuple["Pattern | str | int", ...]
    count: str | int | None = None

    def may_match(self, op: str, args: tuple[str, ...]) -> bool:
        """Return whether a value of this operation, with arguments of these operations, may match."""
        orders = (args, args[::-1]) if op in COMMUTATIVE else (args,)
        return op == self.op and any(all(map(_may_be, self.args, order)) for order in orders)


def _may_be(pattern: Pattern | str | int, op: str) -> bool:
    if isinstance(pattern, Pattern):
        return pattern.op == op
    if isinstance(pattern, int):
        return op == "const"
    return pattern in "xyz" or pattern.isupper() == (op == "const")


@dataclass(frozen=True)
class Rule:
    """A line of the table. A `canonical` rule applies where it makes nothing longer, others where they shorten."""

    text: str
    pattern: Pattern
    replacement: CodeType
    condition: CodeType
    canonical: bool

    def holds(self, names: Bindings, has: Callable[[str], bool]) -> bool:
        """Return whether the condition holds. `has` returns whether the target has an operation."""
        return bool(eval(self.condition, {**_NAMES, **names, "has": has, "lacks": lambda op: not has(op)}))

    def build(self, names: Bindings, lanes: int) -> Value | None:
        """Return the replacement, or None if a function of it is not defined for these constants."""
        try:
            made = eval(self.replacement, {**_NAMES, **names})
        except ValueError:
            return None
        return made if isinstance(made, Value) else constant(made, lanes)


def _pattern(node: ast.expr) -> Pattern | str | int:
    match node:
        case ast.Name("ALL"):
            return ALL
        case ast.Name(name):
            return name
        case ast.Constant(int(number)):
            return number
        case ast.UnaryOp(op, operand):
            return Pattern(_OPERATORS[type(op)], (_pattern(operand),))
        case ast.BinOp(left, (ast.LShift() | ast.RShift()) as op, right):
            return Pattern(_OPERATORS[type(op)], (_pattern(left),), _count(right))
        case ast.BinOp(left, op, right):
            return Pattern(_OPERATORS[type(op)], (_pattern(left), _pattern(right)))
        case ast.Call(ast.Name(name), [value]):
            return Pattern(name.replace("_", "-"), (_pattern(value),))
        case ast.Call(ast.Name(name), [value, right]):
            return Pattern(name, (_pattern(value),), _count(right))
        case ast.Call(ast.Name(name), [value, other, right]):
            return Pattern(name, (_pattern(value), _pattern(other)), _count(right))
    raise ValueError(f"no pattern: {ast.unparse(node)}")


def _count(node: ast.expr) -> str | int:
    count = _pattern(node)
    assert not isinstance(count, Pattern)
    return count


def parse(line: str) -> Rule:
    """Return the rule of a line.

    >>> parse("x << n << m -> x << n + m").pattern
    Pattern(op='shl', args=(Pattern(op='shl', args=('x',), count='n'),), count='m')
    """
    text, *definitions = line.split(" where ")
    text, _, condition = text.partition(" if ")
    left, arrow, right = text.partition("=>" if "=>" in text else "->")
    for name, _, meaning in (definition.partition(" = ") for definition in definitions):
        left = re.sub(rf"\b{name}\b", f"({meaning})", left)
    pattern = _pattern(ast.parse(left.strip(), mode="eval").body)
    assert isinstance(pattern, Pattern)
    made, holds = (compile(part.strip(), line, "eval") for part in (right, condition or "True"))
    return Rule(line, pattern, made, holds, arrow == "=>")


@cache
def rules(table: str) -> tuple[Rule, ...]:
    """Return the rules of a table."""
    parted = (line.partition(" for ") for line in table.replace("\n ", " ").splitlines() if line)
    return tuple(parse(text.replace("@", sign)) for text, _, signs in parted for sign in signs.split() or "@")


@cache
def _candidates(table: str, op: str, args: tuple[str, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules(table) if rule.pattern.may_match(op, args))


Match = tuple[Bindings, tuple[Value, ...]]
"""The bindings of a pattern's names, and the values of its operations, users first."""


def _matches(pattern: Pattern | str | int, value: Value, match: Match) -> Iterator[Match]:
    """Yield the ways in which a pattern matches a value, beside the `match` of other parts."""
    names, inside = match
    if isinstance(pattern, Pattern):
        if value.op != pattern.op:
            return
        if pattern.count is not None:
            count = value.attr[0]
            if len(set(value.attr)) > 1 or count != names.get(str(pattern.count), count):
                return
            if isinstance(pattern.count, int) and count != pattern.count:
                return
            names = {**names, str(pattern.count): count}
        for args in (value.args, value.args[::-1])[: 1 + (pattern.op in COMMUTATIVE)]:
            yield from _all_match(pattern.args, args, (names, (*inside, value)))
    elif isinstance(pattern, int):
        if value.constant == (pattern,) * value.lanes:
            yield match
    elif pattern in names:
        bound = names[pattern]
        if bound is value or (value.op == "const" and bound.constant == value.constant):
            yield match
    elif _may_be(pattern, value.op):
        yield {**names, pattern: value}, inside


def _all_match(patterns: tuple[Pattern | str | int, ...], values: tuple[Value, ...], match: Match) -> Iterator[Match]:
    if not patterns:
        yield match
        return
    for found in _matches(patterns[0], values[0], match):
        yield from _all_match(patterns[1:], values[1:], found)


def _weight(value: Value) -> int:
    """Return the approximate number of instructions that a value takes by itself."""
    return 0 if value.operation.free else 2 if value.op == "mul" else 1


def _key(value: Value) -> tuple[Any, ...]:
    return value.op, value.args, value.attr, value.lanes


def apply_rules(graph: Graph) -> Graph:
    """Apply rules once where they shorten the graph; if none does, those that bring a value to its canonical form."""
    return _applied(graph, RULES, lambda op, lanes: False)


def apply_target_rules(graph: Graph, target: Target) -> Graph:
    """Apply the rules for a target until nothing changes."""
    while (after := _applied(graph, TARGET_RULES, target.has)) is not graph:
        graph = after
    return graph


def _applied(graph: Graph, table: str, has: Callable[[str, int], bool]) -> Graph:
    users = graph.users
    existing = {_key(value): value for value in graph.order}
    new: dict[Value, Value] = {}

    def rewritten(least: int, value: Value, old: Value) -> Value:
        """Return the first replacement that makes the graph shorter by `least`. If that is 0, it must be canonical."""
        new[old] = value
        for rule in _candidates(table, old.op, tuple([arg.op for arg in old.args])):
            for names, inside in _matches(rule.pattern, old, ({}, ())) if least or rule.canonical else ():
                if rule.holds(names, lambda op: has(op, old.lanes)):
                    made = rule.build(names, old.lanes)
                    if made is not None and gain(made, names, inside) >= least:
                        renewed = {name: new[v] if isinstance(v, Value) else v for name, v in names.items()}
                        again = rule.build(renewed, old.lanes)
                        new[old] = value if again is None else again
                        return new[old]
        return value

    def gain(made: Value, names: Bindings, inside: tuple[Value, ...]) -> int:
        """Return how much shorter the replacement is than the values that it makes unused."""
        unused = {inside[0]}
        for value in inside:
            if all(user in unused for user in users[value]):
                unused.add(value)
        saved = sum(map(_weight, unused))
        pending, seen = [made], {value for value in names.values() if isinstance(value, Value)}
        while pending:
            value = pending.pop()
            if value not in seen and existing.get(_key(value)) in {None, *unused}:
                saved -= _weight(value)
                pending += value.args
            seen.add(value)
        return saved

    shorter = rewrite(graph, partial(rewritten, 1))
    return rewrite(graph, partial(rewritten, 0)) if shorter is graph else shorter
