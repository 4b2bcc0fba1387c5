"""An interpreter of graphs, independent of the code that lowers them.

It defines the operations of descriptions a second time, but not accesses to arrays. Steps along rays are computed from
files and ranks. A branch on an unknown word evaluates its bodies and selects results. Loops are iterated. Words may be
integers, arrays or bit-vectors, as everywhere in the specification. So the same interpreter supplies expected results
and the formulas of proofs.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import reduce
from operator import add, or_
from typing import Any

from setwise.analysis.spec.raywalk import DIRECTIONS
from setwise.analysis.spec.words import ALL, clip, known_number, population
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Condition, Region, Value

WordLike = Any
"""A value that behaves like a word (`words.WordLike`)."""
Lanes = tuple[WordLike, ...]
Step = tuple[int, int]
"""A step: files to the east, ranks to the north."""
Scope = MutableMapping[Value | Region, Any]
"""The lanes of values and the results of regions. A region's body has a scope nested in the enclosing one."""

MOST_ROUNDS = 1 << 12  # most iterations of one loop
_HIGHEST = 1 << 63
_LOW_BITS = 0x7F7F_7F7F_7F7F_7F7F


class EvaluationError(ValueError):
    """A graph that cannot be evaluated. The message is one line."""


def evaluate(
    graph: Graph,
    arguments: Sequence[WordLike | Lanes],
    possible: Callable[[WordLike], bool] | None = None,
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
        if value.op in _WHOLE:
            return _WHOLE[value.op](value, args)
        if value.op in ("shl", "shr", "rotl", "sar"):
            counted = [(lane if n < 64 else lane ^ lane, n) for lane, n in zip(args[0], value.attr, strict=True)]
            return tuple(clip(_EACH[f"{value.op}v"](*each)) for each in counted)
        if value.op not in _EACH:
            raise EvaluationError(f"cannot evaluate the operation '{value.op}'")
        return tuple(clip(_EACH[value.op](*lane)) for lane in zip(*args, strict=True))

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
        if condition.kind == "nonzero":
            return clip(word | clip(self.zero - word)) >> 63
        bound = self.number(condition.bound)
        under = clip((~word & bound) | (~(word ^ bound) & clip(word - bound))) >> 63
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
            return (
                carried
                if known_number(holds) == 0
                else _chosen(holds, self._body(region, 0, carried, scope)[0], carried)
            )
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
                entered = _at_most(index, number, len(region.bodies))
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


def _at_most(index: WordLike, number: int, bodies: int) -> WordLike:
    """Return 1 if the index, which is less than `bodies`, is at most `number`, else 0."""
    known = known_number(index)
    if known is not None:
        return int(known <= number)
    bits = (bodies - 1).bit_length() + 1
    return (index + ((1 << bits) - 1 - number)) >> bits & 1 ^ 1


# -- the operations


def _left(word: WordLike, n: int) -> WordLike:
    return clip(word << n) if n < 64 else word ^ word


def _right(word: WordLike, n: int) -> WordLike:
    return word >> n if n < 64 else word ^ word


def _add_bytes(a: WordLike, b: WordLike) -> WordLike:
    """Add byte by byte, each modulo 256. The highest bits are added separately, so that no carry leaves a byte."""
    return ((a & _LOW_BITS) + (b & _LOW_BITS)) ^ ((a ^ b) & (ALL ^ _LOW_BITS))


def _sub_bytes(a: WordLike, b: WordLike) -> WordLike:
    high = ALL ^ _LOW_BITS
    return ((a | high) - (b & _LOW_BITS)) ^ ((a ^ ~b) & high)


def _signed_shift(word: WordLike, n: int) -> WordLike:
    """Return the word shifted right by 0 to 63 with copies of its highest bit."""
    return word >> n | _ones_if(word >> 63) << 1 << (63 - n)


def _ones_if(truth: WordLike) -> WordLike:
    """Return all ones for 1 (or True), 0 for 0, in the kind of the word."""
    return clip(0 - truth)


def _gathered(word: WordLike, mask: WordLike) -> WordLike:
    """Return the bits at the squares of the mask, collected from the last square to the first."""
    result = word ^ word
    for square in reversed(range(64)):
        here = mask >> square & 1
        result = clip(result << here) | word >> square & here
    return result


def _scattered(word: WordLike, mask: WordLike) -> WordLike:
    """Return the lowest bits at the squares of the mask: each square of the mask takes the next bit."""
    result = word ^ word
    for square in range(64):
        here = mask >> square & 1
        result, word = result | (word & here) << square, word >> here
    return result


def _flipped(word: WordLike) -> WordLike:
    """Return the board with its ranks in reverse order."""
    return reduce(or_, ((word >> 8 * rank & 0xFF) << 8 * (7 - rank) for rank in range(8)))


def _behind(step: Step, n: int) -> int:
    """Return the squares with at least n squares of the board behind them, against the direction of the ray."""
    files, ranks = n * step[0], n * step[1]
    behind = ((file, rank) for rank in range(8) for file in range(8) if file - files in range(8))
    return sum(1 << 8 * rank + file for file, rank in behind if rank - ranks in range(8))


def _stepped(word: WordLike, step: Step, n: int) -> WordLike:
    """Return the board shifted by n steps along a ray, without the squares that leave it."""
    distance = n * (step[0] + 8 * step[1])
    staying = word & _behind((-step[0], -step[1]), n)
    return _left(staying, distance) if distance >= 0 else _right(staying, -distance)


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
    "copy": lambda a: a,
    "not": lambda a: ~a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "select": lambda a, b, c: a & b | ~a & c,
    "add-bytes": _add_bytes,
    "sub-bytes": _sub_bytes,
    "flip": _flipped,
    "popcount": population,
    "neg": lambda a: 0 - a,
    "isolate-lsb": lambda a: a & clip(0 - a),
    "clear-lsb": lambda a: a & clip(a - 1),
    "mask-to-lsb": lambda a: a ^ clip(a - 1),
    "tzcnt": lambda a: population(clip(~a & clip(a - 1))),
    "equal": lambda a, b: _ones_if(a ^ a | (a == b)),
    "less": lambda a, b: _ones_if(a ^ a | (a < b)),
    "less-signed": lambda a, b: _EACH["less"](a ^ _HIGHEST, b ^ _HIGHEST),
    "gather": _gathered,
    "scatter": _scattered,
    "sarv": lambda a, n: _signed_shift(a, n & 63),
    "shlv": lambda a, n: a << (n & 63),
    "shrv": lambda a, n: a >> (n & 63),
    "rotlv": lambda a, n: a << (n & 63) | a >> (~n + 1 & 63),
}
_WHOLE: Mapping[str, Callable[[Value, Sequence[Lanes]], Lanes]] = {
    "broadcast": lambda value, args: args[0] * value.lanes,
    "unite": lambda _, args: (reduce(or_, args[0]),),
    "total": lambda _, args: (clip(reduce(add, args[0])),),
    "beside": lambda _, args: (*args[0], *args[1]),
    "repeat": lambda _, args: (*args[0] * 2, *args[1] * 2),
    "extended": lambda value, args: (*args[0], *(word ^ word for word in args[0])),
    "exchange": lambda _, args: tuple(args[0][lane ^ 2] for lane in range(8)),
    "join": lambda _, args: tuple(args[lane % 2][lane - lane % 2] for lane in range(len(args[0]))),
    "join-odd": lambda _, args: tuple(args[lane % 2][lane | 1] for lane in range(len(args[0]))),
    "low-half": lambda _, args: args[0][: len(args[0]) // 2],
    "high-half": lambda _, args: args[0][len(args[0]) // 2 :],
    "put": lambda _, args: args[1],
}
