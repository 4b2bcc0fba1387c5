"""An interpreter of graphs, independent of the code that lowers them.

It gives an operation on lanes the meaning of `Operation.compute`, and has none for accesses to arrays. Steps along rays
are computed from files and ranks. A branch on an unknown word evaluates its bodies and selects results. Loops are
iterated. Words may be integers, arrays or bit-vectors, as everywhere in the specification. So the same interpreter
supplies expected results and the formulas of proofs.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from setwise.analysis.spec.raywalk import DIRECTIONS
from setwise.analysis.spec.words import clip, known_number, population
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import RESHAPES, Condition, Region, Value

WordLike = Any
"""A value that behaves like a word (`words.WordLike`)."""
Lanes = tuple[WordLike, ...]
Step = tuple[int, int]
"""A step: files to the east, ranks to the north."""
Scope = MutableMapping[Value | Region, Any]
"""The lanes of values and the results of regions. A region's body has a scope nested in the enclosing one."""

MOST_ROUNDS = 1 << 12  # most iterations of one loop


class EvaluationError(ValueError):
    """A graph that cannot be evaluated. The message is one line."""


def evaluate(
    graph: Graph, arguments: Sequence[WordLike | Lanes], possible: Callable[[WordLike], bool] | None = None
) -> tuple[Lanes, ...]:
    """Return the results of a graph for these arguments, each as a tuple of one word a lane.

    An argument is a word, a tuple of one word a lane, or None for an address. A store's result is the stored word.
    `possible` decides whether an unknown word may be 1; loops on unknown conditions need it. Raises EvaluationError
    for arrays in memory, an unknown operation, a known index out of range, or a loop whose end is not found.

    >>> from setwise.codegen.ir.values import parameter
    >>> squares = parameter(0)
    >>> evaluate(Graph((squares,), (squares << 8 | 1,)), (0xFF,))
    ((65281,),)
    """
    words = [argument if isinstance(argument, tuple) else (argument,) for argument in arguments]
    known = [lane for lanes in words for lane in lanes if lane is not None]
    evaluator = _Evaluator(known[0] ^ known[0] if known else 0, possible or _undecidable)
    scope: Scope = ChainMap(dict(zip(graph.parameters, words, strict=True)))
    return tuple(evaluator.lanes(result, scope) for result in graph.results)


class _Evaluator:
    """An evaluator of values in scopes; `zero` is the word 0 in the kind of the arguments."""

    def __init__(self, zero: WordLike, possible: Callable[[WordLike], bool]) -> None:
        self.zero, self.possible = zero, possible

    def lanes(self, value: Value, scope: Scope) -> Lanes:
        """Return the lanes of a value. Evaluate it and its operands first if they are not in the scope."""
        waiting = [value]
        while waiting:
            last = waiting[-1]
            below = [other for other in _needs(last) if other not in scope]
            if below and last not in scope:
                waiting += below[::-1]
                continue
            waiting.pop()
            if last not in scope:
                scope[last] = self._made(last, scope)
        made: Lanes = scope[value]
        return made

    def number(self, number: int) -> WordLike:
        """Return a constant as a word in the kind of the arguments."""
        return self.zero | number if number else self.zero

    def _made(self, value: Value, scope: Scope) -> Lanes:
        if value.region is not None:
            if value.region not in scope:
                scope[value.region] = self._carried(value.region, scope)
            carried: Lanes = scope[value.region][value.attr]
            return carried
        if value.op == "const":
            return tuple(map(self.number, value.attr))
        args: list[Lanes] = [scope[arg] for arg in value.args]
        if value.op in _RAYS:
            return self._along_rays(value, args)
        if value.op == "table":
            numbers, _ = value.attr
            return (self._entry([self.number(number) for number in numbers], args[0][0]),)
        if value.op in RESHAPES:
            return RESHAPES[value.op](args[0], value.lanes)
        if value.op in _WHOLE:
            return _WHOLE[value.op](*args)
        meaning = _EACH.get(value.op) or value.operation.compute
        if meaning is None:
            raise EvaluationError(f"cannot evaluate the operation '{value.op}'")
        columns = args if value.attr is None else [*args, value.attr]
        return tuple(clip(meaning(*lane)) for lane in zip(*columns, strict=True))

    # -- rays

    def _along_rays(self, value: Value, args: Sequence[Lanes]) -> Lanes:
        ray, n = value.attr
        meaning = _RAYS[value.op]
        squares = args[0]
        if ray is None:
            # The direction is a run-time number: select one of the eight outcomes.
            ((number,),) = args[1:]
            return tuple(
                self._entry([meaning(lane, step, n) for step in DIRECTIONS.values()], number) for lane in squares
            )
        directions = ray.directions if len(ray.directions) > 1 else ray.directions * len(squares)
        return tuple(
            meaning(lane, (direction.file_step, direction.rank_step), n)
            for lane, direction in zip(squares, directions, strict=True)
        )

    # -- choices

    def _entry(self, entries: Sequence[WordLike], index: WordLike) -> WordLike:
        """Return the entry at an index. Beyond the last, a known index is an error, an unknown one gives some entry."""
        known = known_number(index)
        if known is not None:
            if known >= len(entries):
                raise EvaluationError(f"index {known} is outside a table of {len(entries)} entries: mask it")
            return entries[known]
        bit = 0
        while len(entries) > 1:
            padded = [*entries, entries[-1]]  # pairs an odd last entry with itself
            chosen = index >> bit & 1
            entries = [_either(chosen, one, none) for none, one in zip(padded[::2], padded[1::2], strict=False)]
            bit += 1
        return entries[0]

    def _holds(self, condition: Condition, scope: Scope) -> WordLike:
        """Return 1 if the condition holds, else 0."""
        (word,) = self.lanes(condition.value, scope)
        under = self.zero | (word < self.number(condition.bound))
        return under if condition.kind == "below" else under ^ 1

    # -- regions

    def _carried(self, region: Region, scope: Scope) -> tuple[Lanes, ...]:
        if any(region.effects):
            raise EvaluationError("a routine over arrays cannot be a specification: name one of boards")
        carried = tuple(self.lanes(value, scope) for value in region.inits)
        if region.kind == "loop":
            return self._loop(region, carried, scope)
        if region.kind == "when":
            assert region.condition is not None
            holds = self._holds(region.condition, scope)
            if known_number(holds) == 0:
                return carried
            return _chosen(holds, self._body(region, 0, carried, scope)[0], carried)
        return self._switch(region, carried, scope)

    def _body(
        self, region: Region, number: int, carried: tuple[Lanes, ...], scope: Scope
    ) -> tuple[tuple[Lanes, ...], Scope]:
        """Return the next values that body `number` computes from the carried values, and its scope."""
        inner: Scope = ChainMap(dict(zip(region.phis[number], carried, strict=True)), scope)
        return tuple(self.lanes(value, inner) for value in region.bodies[number]), inner

    def _loop(self, region: Region, carried: tuple[Lanes, ...], scope: Scope) -> tuple[Lanes, ...]:
        assert region.condition is not None
        running = self.number(1)  # 1 while the loop runs; in arrays, for each element on its own
        for _ in range(MOST_ROUNDS):
            following, inner = self._body(region, 0, carried, scope)
            carried = _chosen(running, following, carried)
            running = running & self._holds(region.condition, inner)
            if not self._goes_on(running):
                return carried
        raise EvaluationError(f"a loop has not ended after {MOST_ROUNDS} iterations: let it end earlier")

    def _goes_on(self, running: WordLike) -> bool:
        """Return whether the word is or may be 1; for an array, whether any element is 1."""
        known = known_number(running)
        if known is not None:
            return known == 1
        some = getattr(getattr(running, "value", running), "any", None)
        return self.possible(running) if some is None else bool(some())

    def _switch(self, region: Region, carried: tuple[Lanes, ...], scope: Scope) -> tuple[Lanes, ...]:
        assert region.index is not None
        (index,) = self.lanes(region.index, scope)
        known = known_number(index)
        if known is not None and known >= len(region.bodies):
            raise EvaluationError(f"index {known} is outside a switch of {len(region.bodies)} functions: mask it")
        if region.falls:
            for number in range(len(region.bodies)):
                # Entered at its own number, or by falling through from an earlier body.
                entered = self.zero | (index < number + 1)
                if known_number(entered) != 0:
                    carried = _chosen(entered, self._body(region, number, carried, scope)[0], carried)
            return carried
        if known is not None:
            return self._body(region, known, carried, scope)[0]
        outcomes = [self._body(region, number, carried, scope)[0] for number in range(len(region.bodies))]
        return tuple(
            tuple(self._entry(entries, index) for entries in zip(*lanes, strict=True))
            for lanes in zip(*outcomes, strict=True)
        )


def _undecidable(_: WordLike) -> bool:
    raise EvaluationError("how often its loop runs depends on the input: use repeat, or Python's for")


def _needs(value: Value) -> tuple[Value, ...]:
    """Return the operands of a value; for a result of a region, the values that are needed to enter the region."""
    region = value.region
    if region is None:
        return value.args
    condition = (region.condition.value,) if region.kind == "when" and region.condition is not None else ()
    return (*region.inits, *condition, *(() if region.index is None else (region.index,)))


def _either(bit: WordLike, one: WordLike, none: WordLike) -> WordLike:
    """Return `one` if the bit is 1, else `none`."""
    known = known_number(bit)
    if known is not None:
        return one if known else none
    if one is none:
        return one
    mask = clip((bit ^ bit) - bit)
    return one & mask | none & ~mask


def _chosen(bit: WordLike, one: tuple[Lanes, ...], none: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """Return the carried values `one` if the bit is 1, else `none`. The bit may be an array."""
    return tuple(
        tuple(_either(bit, a, b) for a, b in zip(lanes, others, strict=True))
        for lanes, others in zip(one, none, strict=True)
    )


# -- the operations


def _squares(of: Callable[[int, int], bool]) -> int:
    """Return the set of squares whose file and rank satisfy a predicate."""
    return sum(1 << 8 * rank + file for rank in range(8) for file in range(8) if of(file, rank))


def _behind(step: Step, n: int) -> int:
    """Return the squares with at least n squares of the board behind them, against the direction of the ray."""
    files, ranks = n * step[0], n * step[1]
    return _squares(lambda file, rank: 0 <= file - files < 8 and 0 <= rank - ranks < 8)


def _stepped(word: WordLike, step: Step, n: int) -> WordLike:
    """Return the board shifted by n steps along a ray, without the squares that leave it."""
    distance = n * (step[0] + 8 * step[1])
    staying = word & _behind((-step[0], -step[1]), n)
    return clip(staying << distance) if distance >= 0 else staying >> -distance


def _run(word: WordLike, step: Step, n: int) -> WordLike:
    """Return the last of n squares in a row on a ray that are all in `word`, with a square behind them on the board."""
    run = word & _behind(step, n)
    for back in range(1, n):
        run = run & _stepped(word, step, back)
    return run


_RAYS: Mapping[str, Callable[[WordLike, Step, int], WordLike]] = {
    "step": _stepped,
    "run": _run,
    "path": lambda word, step, _: word & _behind(step, 1),
}
_EACH: Mapping[str, Callable[..., WordLike]] = {
    "popcount": population,
    "tzcnt": lambda word: population(clip(~word & clip(word - 1))),
}
"""The operations on a lane that `Operation.compute` defines for integers only."""
_WHOLE: Mapping[str, Callable[..., Lanes]] = {
    "total": lambda lanes: (clip(reduce(add, lanes)),),
    **dict.fromkeys(("beside", "concatenate"), lambda one, other: (*one, *other)),
    "repeat": lambda one, other: (*one * 2, *other * 2),
    "join": lambda *pair: tuple(pair[lane % 2][lane - lane % 2] for lane in range(len(pair[0]))),
    "join-odd": lambda *pair: tuple(pair[lane % 2][lane | 1] for lane in range(len(pair[0]))),
    "put": lambda _, lanes: lanes,
}
