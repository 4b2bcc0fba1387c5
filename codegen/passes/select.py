"""Instruction selection: rewrite each operation that is not free into ones with rows of the target, or refuse it."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import count

from setwise.codegen.ir.bits import demanded
from setwise.codegen.ir.graph import Graph, compose, cse, rewrite
from setwise.codegen.ir.numbers import is_immediate
from setwise.codegen.ir.operations import COMMUTATIVE
from setwise.codegen.ir.orders import permuted
from setwise.codegen.ir.values import ALL, Lanes, Region, Value, concatenated, constant, place_of, same
from setwise.codegen.machine.code import Datum, Label
from setwise.codegen.passes.lower_popcount import lanes_apart, lower_popcount
from setwise.codegen.passes.lower_words import lower_words
from setwise.codegen.passes.reduce_lanes import reduce_lanes
from setwise.codegen.passes.rewriting import apply_target_rules
from setwise.codegen.passes.state import CACHED_GRAPHS, State
from setwise.codegen.passes.ternary import map_ternary
from setwise.codegen.targets import SCALARS, TARGETS, in_words
from setwise.codegen.targets.table import Target, refusal

_KEEP_FLAGS = frozenset({"mov", "lea", "not", "bswap", "movzx", "pext", "pdep", "rorx", "shlx", "shrx", "sarx"})
_FARTHEST = 1 << 31  # bytes; displacements are below it


@lru_cache(CACHED_GRAPHS)
def select(graph: Graph, target: Target) -> tuple[Graph, tuple[Datum, ...]]:
    """Return the graph in operations of the target, and the tables that it reads. Raise Refused for a missing row."""
    graph, data = _tables(_canonical(graph), target)
    lowering = (apply_target_rules, reduce_lanes, lower_popcount, _lanes, _complement, _ternary)
    for step in (_tested, _displaced, lower_words, *lowering, _loosen, _borrow, _from_memory, _written, _loaded):
        graph = step(graph, target)
    return _checked(graph, target), data


def _canonical(graph: Graph) -> Graph:
    """Put the constant operand of a commutative operation second: instructions take it there.

    Subtract a number instead of adding its complement, if that is the lesser of the two.
    """

    def rule(value: Value, _: Value) -> Value:
        if value.args[0].constant is not None:
            value = replace(value, args=value.args[::-1])
        if value.op == "add" and min(value.args[1].constant or (0,)) >> 63:
            return replace(value, op="sub", args=(value.args[0], -value.args[1]))
        return value

    return rewrite(graph, rule, operations=COMMUTATIVE)


def _displaced(graph: Graph, _: Target) -> Graph:
    """Fold the constant part of the index of a load or store into the displacement."""

    def rule(value: Value, _: Value) -> Value:
        pointer, index, *boards = value.args
        sign = {"add": 1, "sub": -1}.get(index.op)
        if sign is None or index.args[1].constant is None:
            return value
        at = value.count + 8 * sign * index.args[1].number
        return replace(value, args=(pointer, index.args[0], *boards), attr=at) if abs(at) < _FARTHEST else value

    return rewrite(graph, rule, operations=("load", "put-entry"))


def _loosen(graph: Graph, target: Target) -> Graph:
    """Let a one-lane shift be a rotate if the bits that wrap round are not demanded."""
    shifts = {"shl": "shl-or-rotl", "shr": "shr-or-rotr"}
    if not target.has("shl-or-rotl", 1) or not any(value.op in shifts and value.lanes == 1 for value in graph.order):
        return graph
    uses = graph.users

    def narrowed(value: Value, old: Value) -> Value:
        """Remove from a mask the bits that a rotate in place of the shift would bring, if that may spare a copy."""
        shifted, mask = value.args
        if value.lanes > 1 or shifted.op not in shifts or not mask.constant or len(uses[old.args[0].args[0]]) == 1:
            return value
        bits = mask.number & shifted.operation.of(ALL, shifted.count)
        fits_as_before = is_immediate(bits) == is_immediate(mask.number)
        return replace(value, args=(shifted, constant(bits))) if fits_as_before else value

    graph = rewrite(graph, narrowed, operations=("and",))
    wanted = demanded(graph, loose=True)

    def rule(value: Value, old: Value) -> Value:
        lost = (want & ~value.operation.of(ALL, n) for want, n in zip(wanted[old], value.attr, strict=True))
        return value if value.lanes > 1 or any(lost) else replace(value, op=shifts[value.op])

    return rewrite(graph, rule, operations=shifts)


def _borrow(graph: Graph, target: Target) -> Graph:
    """Subtract `y & 1` with the borrow in `x - s - (y & 1)`: the bit that a shift `y >> 1`, from which s comes, drops.

    All instructions from the shift to s must keep the flags, and have no other users. In a graph with regions they
    might be moved apart.
    """
    uses = graph.users
    if not target.has("sub-borrow", 1) or any(value.region for value in graph.order):
        return graph

    def rule(value: Value, old: Value) -> Value:
        first, bit = old.args
        if first.op != "sub" or bit.op != "and" or bit.args[1].constant != (1,):
            return value
        made = Value("sub-borrow", value.args[0].args)
        end = first.args[1]
        while end.op != "shr" and len(uses[end]) == 1 and _keeps_flags(end, target):
            end = end.args[0]
        drops = end.op == "shr" and end.attr == (1,) and end.args[0] is bit.args[0] and len(uses[end]) == 1
        return made if drops else value

    return rewrite(graph, rule, operations=("sub",))


def _keeps_flags(value: Value, target: Target) -> bool:
    rows = target.rows_for(value)
    return bool(rows and value.args) and all(row.mnemonic in _KEEP_FLAGS for row in rows)


def _complement(graph: Graph, target: Target) -> Graph:
    """Select and-not for a complement whose users are all intersections, and xor if the target has no other form."""
    uses = graph.users

    def rule(value: Value, old: Value) -> Value:
        if value.op == "and" and target.has("andn", value.lanes):
            for at in (0, 1):
                if old.args[at].op == "not" and all(user.op == "and" for user in uses[old.args[at]]):
                    return Value("andn", (value.args[at].args[0], value.args[1 - at]), None, value.lanes)
        if value.op == "not" and not target.has("not", value.lanes) and not target.has("ternary", value.lanes):
            # If all users become and-nots, this value is dropped.
            return Value("xor", (value.args[0], constant(ALL, value.lanes)), None, value.lanes)
        return value

    return rewrite(graph, rule, operations=("and", "not"))


def _ternary(graph: Graph, target: Target) -> Graph:
    """Select three-input logic if the target has it."""
    widths = frozenset(lanes for lanes in target.widths if target.has("ternary", lanes))
    return map_ternary(graph, widths) if widths else graph


def _lanes(graph: Graph, target: Target) -> Graph:
    """Legalize operations on several lanes, and moves from them. Pairs may share the move of a board to a vector."""
    made = rewrite(graph, lambda value, _: _in_lanes(value, target))
    return cse(made) if "beside" in graph.operations else made


def _in_lanes(value: Value, target: Target) -> Value:
    lanes = value.lanes
    if lanes == 1:
        return _alone(value)
    if value.op == "beside":
        return _pair(target, *value.args)
    if value.op == "concatenate":
        low, high = value.args
        return value.on((Value("as-wide" if low.lanes == 2 else "extended", (low,), lanes=lanes), high))
    if value.op in ("load-some", "put-some"):
        *args, mask = value.args
        return value.on((*args, mask.args[0] if mask.op == "lanes-of-mask" else Value("nonzero-lanes", (mask,))))
    if value.op == "repeat":
        return value.on(tuple(Value("as-wide", (pair,), lanes=lanes) for pair in value.args))
    if value.op == "rotl" and set(value.attr) == {32} and target.has("rotl-half", lanes):
        return replace(value, op="rotl-half")
    if value.op == "rotl" and target.has("rotl-bytes", lanes) and not any(n % 8 for n in value.attr):
        order = constant(tuple(_rotated_bytes(lane, n // 8) for lane, n in enumerate(value.attr)))
        return replace(value, op="rotl-bytes", args=(*value.args, order))
    if value.op == "rotl" and not target.has("rotl", lanes):
        there, back = value.args[0] << value.attr, value.args[0] >> tuple((64 - n) % 64 for n in value.attr)
        return _in_lanes(there, target) | _in_lanes(back, target)
    if value.op in ("shl", "shr", "rotl") and len(set(value.attr)) > 1:
        return replace(value, args=(value.args[0], constant(value.attr)))
    if value.op == "broadcast" and not target.has("broadcast", lanes):
        low, splats = Value("from-general", value.args, lanes=2), target.has("splat", lanes)
        return Value("splat" if splats else "join", (low,) if splats else (low, low), lanes=lanes)
    if value.op == "select" and target.has("blend", lanes):
        return _blend(value, target)
    if value.op == "select" and sum(arg.constant is not None for arg in value.args) > 1:
        # Three-input logic takes at most one constant.
        mask, chosen, other = value.args
        return chosen & mask | other & ~mask
    return value


def _rotated_bytes(lane: int, n: int) -> int:
    """Return the byte numbers of a lane of 16 bytes that is rotated left by n bytes."""
    return int.from_bytes(bytes(8 * (lane % 2) + (at - n) % 8 for at in range(8)), "little")


def _alone(value: Value) -> Value:
    """Legalize a low lane, or by way of it the upper one of two, as a move to a general register. Keep all else."""
    if value.op == "high-half":
        return Value("to-general", (Value("high-half", value.args, lanes=2),))
    return Value("to-general", value.args) if value.op == "low-half" else value


def _pair(target: Target, first: Value, second: Value) -> Value:
    """Return a vector of two scalars, `first` in the low lane. A move into a vector register clears its upper lanes."""
    if first.constant == (0,):
        return Value("join", (constant(0, 2), Value("from-general", (second,), lanes=2)), lanes=2)
    low = Value("from-general", (first,), lanes=2)
    if second.constant == (0,):
        return low
    if target.has("insert", 2):
        return Value("insert", (low, second), lanes=2)
    return Value("join", (low, Value("from-general", (second,), lanes=2)), lanes=2)


def _blend(value: Value, target: Target) -> Value:
    """Legalize a choice by lane between two values. Two broadcast scalars become a pair in 2 lanes.

    In 4 lanes they become a permutation of a pair, if the target has one. All else becomes a blend.
    """
    mask, chosen, other = value.args
    picks = tuple(lane != 0 for lane in mask.attr)
    scalars = [v.args[0].args[0] for v in (chosen, other) if v.op == "splat" and v.args[0].op == "from-general"]
    if len(scalars) == 2 and (value.lanes == 2 or (value.lanes == 4 and target.has("permute", 4))):
        if value.lanes == 2:
            scalars = [scalars[0 if pick else 1] for pick in picks]
        pair = _pair(target, *scalars)
        if value.lanes == 2:
            return pair
        order = sum((0 if pick else 1) << 2 * at for at, pick in enumerate(picks))
        return Value("permute", (Value("as-wide", (pair,), lanes=value.lanes),), order, value.lanes)
    return Value("blend", (chosen, other), sum(3 << 2 * at for at, pick in enumerate(picks) if pick), value.lanes)


def _tables(graph: Graph, target: Target) -> tuple[Graph, tuple[Datum, ...]]:
    """Lower table look-ups to an address and an entry, and switches to jump tables. Return the graph and all tables.

    Without such jumps on the target, a switch stays and compares its index with the numbers of its cases.
    """
    data: dict[tuple[object, ...], Datum] = {}
    bases: dict[str, Value] = {}

    def address(datum: Datum) -> Value:
        return bases.setdefault(datum.label, Value("address", (), datum.label))

    def rule(value: Value, _: Value) -> Value:
        if value.op == "table":
            numbers, size = value.attr
            datum = data.setdefault((size, *numbers), Datum(f"t{len(data)}", numbers, size, size))
            (index,) = value.args
            apart = lanes_apart(index, target) if index.lanes > 1 else (index,)
            return concatenated([Value("entry", (address(datum), lane), size) for lane in apart])
        return value

    numbers = count()

    def region_rule(region: Region) -> Region:
        region = replace(region, name=f"L{next(numbers)}")
        if region.index is None or not target.has("distance", 1):
            return region
        labels = tuple(Label(f"{region.name}_{body}") for body in range(len(region.bodies)))
        datum = data.setdefault(labels, Datum(f"j{len(data)}", labels, 4, 4))
        base = address(datum)
        distance = Value("distance", (base, region.index), 4)
        return replace(region, index=Value("add", (base, distance), in_place=True), addressed=True)

    graph = rewrite(graph, rule, region_rule)
    return graph, tuple(data.values())


def _tested(graph: Graph, target: Target) -> Graph:
    """Let regions that test whether some lane is not zero test a mask, a vector, or the union of the lanes."""

    def region_rule(region: Region) -> Region:
        asked = region.condition
        if asked is None or asked.value.lanes == 1 or target.tests_vectors:
            return region
        op = "nonzero-lanes" if target.has("nonzero-lanes", asked.value.lanes) else "unite"
        return replace(region, condition=replace(asked, value=Value(op, (asked.value,))))

    return rewrite(graph, lambda value, _: value, region_rule)


def _from_memory(graph: Graph, target: Target) -> Graph:
    """Fold a vector load into its users if all can take a memory operand. Constants beside it are then loaded.

    With `hoist_constants`, a load with several uses is not folded.
    """
    if target.aligned_operands or "load" not in graph.operations:
        return graph  # arrays need not be aligned
    uses = graph.users

    def position(user: Value, board: Value) -> int | None:
        """Return the position among the arguments in which a user can take `board` from memory, or None."""
        others = [arg for arg in user.args if arg is not board]
        if sum(arg is board for arg in user.args) != 1 or any(arg in eager for arg in others):
            return None
        last = len(user.args) - 1
        at = last if user.op in COMMUTATIVE or user.op == "ternary" else place_of(board, user.args)
        rows = target.rows_for(user)
        return at if rows and all("abc"[at] in row.folds for row in rows) else None

    eager: set[Value] = set()
    position_of: dict[Value, int] = {}
    for value, found in uses.items():
        if value.op == "load" and value.lanes > 1:
            positions = {user: at for user in found if (at := position(user, value)) is not None}
            if len(positions) == len({*found}) and (len(found) == 1 or not target.hoist_constants):
                eager.add(value)
                position_of |= positions
    if not eager:
        return graph

    def rule(value: Value, old: Value) -> Value:
        if value in eager or not any(arg in eager for arg in old.args):
            return value
        at = next(i for i, arg in enumerate(old.args) if arg in eager)
        to = position_of[old]
        order = [i for i in range(len(value.args)) if i != at]
        order.insert(to, at)
        attr = permuted(value.attr, tuple(order)) if value.op == "ternary" else value.attr
        place = replace(value.args[at], op="place")
        args = tuple(
            place if i == at else load_constant(value.args[i]) if value.args[i].constant else value.args[i]
            for i in order
        )
        return replace(value, args=args, attr=attr)

    return rewrite(graph, rule)


def _written(graph: Graph, target: Target) -> Graph:
    """Store a lane of a vector directly, not through a general register, if only the store uses it."""
    uses = graph.users

    def rule(value: Value, old: Value) -> Value:
        pointer, board = value.args
        if board.op == "from-mask" and len(uses[old.args[1]]) == 1 and target.has("put-mask", 1):
            return replace(value, op="put-mask", args=(pointer, *board.args))
        if board.op not in ("to-general", "odd-to-general") or len(uses[old.args[1]]) > 1:
            return value
        (vector,) = board.args
        odd = board.op == "odd-to-general" or (vector.op == "high-half" and vector.args[0].lanes == 2)
        if odd and board.op == "to-general":
            (vector,) = vector.args
        return replace(value, op="put-odd" if odd else "put-low", args=(pointer, vector))

    return _side_by_side(rewrite(graph, rule, operations=("put",))) if target.has("put-low", 2) else graph


def _side_by_side(graph: Graph) -> Graph:
    """Store both lanes of a vector at once if they are results in this order."""
    results: list[Value] = []
    for value in graph.results:
        last = results[-1] if results else value
        if (
            (last.op, value.op) == ("put-low", "put-odd")
            and same(last.args, value.args)
            and value.attr == last.attr + 8
        ):
            results[-1] = replace(value, op="put", attr=last.attr, lanes=2)
        else:
            results.append(value)
    return replace(graph, results=tuple(results))


def _loaded(graph: Graph, target: Target) -> Graph:
    """Load constants that users cannot take as operands, and vector constants used repeatedly if `hoist_constants`."""
    loads: dict[Lanes, Value] = {}
    often = {lanes for lanes, number in _times(graph).items() if number > 1} if target.hoist_constants else set()

    def rule(value: Value, _: Value) -> Value:
        if "const" not in [arg.op for arg in value.args] or value.op == "load-constant":
            return value
        rows = target.rows_for(value)
        args = tuple(
            loads.setdefault(arg.constant, load_constant(arg))
            if rows
            and arg.constant is not None
            and (arg.constant in often or not any(letter in row.folds for row in rows))
            else arg
            for letter, arg in zip("abc", value.args, strict=False)
        )
        return replace(value, args=args) if not same(args, value.args) else value

    def region_rule(region: Region) -> Region:
        def loaded(value: Value) -> Value:
            return value if value.constant is None else loads.setdefault(value.constant, load_constant(value))

        asked = region.condition
        asked = None if asked is None else replace(asked, value=loaded(asked.value))
        return replace(region, condition=asked, index=None if region.index is None else loaded(region.index))

    return rewrite(graph, rule, region_rule)


def _times(graph: Graph) -> Counter[Lanes]:
    """Count the uses of each vector constant as an operand."""
    return Counter(
        arg.constant for value in graph.order for arg in value.args if arg.constant is not None and arg.lanes > 1
    )


def load_constant(value: Value) -> Value:
    """Return a value that loads a constant into a register."""
    if value.lanes > 1:
        return Value("load-constant", (value,), lanes=value.lanes)
    return Value("load-constant", (), value.constant)


def _checked(graph: Graph, target: Target) -> Graph:
    for value in graph.order:
        if not value.operation.free and not target.rows_for(value):
            others = tuple(name for name, other in TARGETS.items() if other.rows_for(value))
            remedy = f"use {in_words(others or SCALARS)}, or other operations"
            raise refusal(value, f"setwise has no {target.name} instruction for '{value.op}': {remedy}", "")
    return graph


def select_pass(state: State) -> State:
    """Select instructions for each stage; raise Refused for an operation without a row on the target."""
    data: list[Datum] = []

    def selected(graph: Graph) -> Graph:
        target = state.target
        regions = {value.region for value in graph.order if value.region and value.region.kind == "loop"}
        if sum(any(region.effects) for region in regions) > 1:
            target = replace(target, hoist_constants=True)  # an unrolled loop, and one for the boards that it leaves
        graph, its = select(graph, target)
        data.extend(its)
        return graph

    return replace(state.each(selected), masked=state.graphs, data=tuple(data))


def join_pass(state: State) -> State:
    """Join the stages into one graph."""
    graph = compose(state.graphs)
    return replace(state, before=(), graph=graph, selected=graph)
