"""Loops proved by one step, for all rounds at once: what holds at the head before each round, and why it ends.

A loop on an unknown condition is unrolled as long as another round is possible. Where that is often (a carry that may
walk through 64 bits) or without bound (an array of n boards) an invariant takes its place. Its form is given here;
which registers or stack words it speaks of is found by trying. All of it is proved: it holds where the loop is entered,
a round keeps it, and something that has an end rises with every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import cast

from analysis.decode import Decoded, Mem
from analysis.domains import Value
from analysis.memory import GapError, Space
from analysis.pointers import Addresses, Pointer
from analysis.symbolic import Code, Exit, Explorer, Path, Stop

Place = str | tuple[int, int]  # a general register, or a stack word: its offset and its width


@dataclass(frozen=True, slots=True)
class Form:
    """An invariant about two places: what must hold, and what rises from round to round.

    Of `may_hold` the first that can be kept holds as well; each says more than the next, and the last says nothing.
    With `frontier` the first place counts the boards that are done. `what` says it in words, `telling` is a condition
    under which the wrong places are easily told from the right ones.
    """

    what: str
    holds: Callable[[Value, Value], Sequence[Value]]
    may_hold: Callable[[Value, Value], Sequence[Value]]
    rises: Callable[[Value, Value], Value]
    telling: Value = 1
    frontier: bool = False


def carry(domain: Addresses, total: Value, bits: int) -> Form:
    """Sum and carries that still have to be added, in this order: a + 2 b is the whole sum; the lowest carry rises."""
    mask = (1 << bits) - 1

    def holds(a: Value, b: Value) -> list[Value]:
        whole = domain.and_(domain.add(a, domain.shl(b, 1, 64), 64), mask, 64)
        small = [domain.eq(domain.shr(one, bits, 64), 0, 64) for one in (a, b)]
        return [domain.eq(whole, total, 64), *(small if bits < 64 else [])]

    def lowest(b: Value) -> Value:
        return domain.and_(b, domain.sub(0, b, 64), 64)

    return Form("a + 2 b is the sum, and the lowest bit of b rises", holds, lambda a, b: [1], lambda _, b: lowest(b))


def boards(domain: Addresses, count: Value) -> Form:
    """Boards done and boards left: together they are all; at least as many as a round takes are left."""

    def holds(a: Value, b: Value) -> list[Value]:
        return [domain.eq(domain.add(a, b, 64), count, 64), domain.not_(domain.ult(count, a, 64), 1)]

    def may_hold(_: Value, b: Value) -> list[Value]:
        return [*(domain.not_(domain.ult(b, least, 64), 1) for least in (16, 8, 4, 2, 1)), 1]

    what = "a boards are done and right, b are left, and a rises"
    return Form(what, holds, may_hold, lambda a, _: a, domain.ult(1000, count, 64), frontier=True)


class Loops:
    """Takes paths through loops by the step; `settle` closes a round over arrays, or raises GapError."""

    def __init__(self, explorer: Explorer, form: Form, settle: Callable[[Path], None]) -> None:
        self.explorer, self.form, self.settle = explorer, form, settle
        self.domain, self.solver = explorer.domain, explorer.solver
        self.used = ""

    def enter(self, path: Path) -> list[Exit | Stop | Path]:
        """The ways on from a loop's head, after any number of rounds; a Stop if no invariant is found."""
        head = path.offset
        if head in path.inside:
            return [Stop("comes back to a loop from another one", head, path)]
        once = path.fork(head, 1)
        once.inside |= {head}
        found = self._by_step(path)
        if not isinstance(found, str):
            return found
        # What looks like a loop is none if no path comes back.
        backs, rest = self._round(once)
        if backs or any(isinstance(one, Stop) for one in rest):
            return [Stop(found, head, path)]
        return rest

    def _by_step(self, path: Path) -> list[Exit | Stop | Path] | str:
        """The ways on, by an invariant; or why there is none."""
        head = path.offset
        try:
            self.settle(path)
        except GapError as error:
            return str(error)
        body = _body(self.explorer.code, head)
        places = [*_places(body, path)]
        why = f"no invariant is found for the loop at {head:#x}"
        model = self.explorer.model(path, self.form.telling) or self.explorer.model(path)
        if model is None:
            return []
        for pair in permutations([place for place in places if _is_word(place)], 2):
            a, b = self._values(path, pair)
            holds = self._at(path, a, b)
            if not all(model(one, 1) for one in holds) or not self._sure(path, holds):
                continue
            found = self._try(path, places, pair)
            if not isinstance(found, str):
                self.used = self.form.what
                return found
            why = f"the loop at {head:#x}: {found}"
        return why

    def _at(self, path: Path, a: Value, b: Value) -> list[Value]:
        arrays = self.explorer.space(path).arrays
        tied = [self.domain.eq(a, arrays.frontier, 64)] if self.form.frontier and arrays else []
        return [*self.form.holds(a, b), *tied]

    def _sure(self, path: Path, conditions: Sequence[Value]) -> bool:
        """Whether all conditions hold on this path."""
        wrong: Value = 0
        for one in conditions:
            wrong = self.domain.or_(wrong, self.domain.not_(one, 1), 1)
        return not self.explorer.possible(path, wrong)

    def _try(self, path: Path, places: Sequence[Place], pair: tuple[Place, Place]) -> list[Exit | Stop | Path] | str:
        """The ways on if the invariant about these two places is one, else what is wrong with it."""
        why = ""
        for at, more in enumerate(self.form.may_hold(*self._values(path, pair))):
            if self._sure(path, [more]):
                found = self._keeps(path, places, pair, at)
                if not isinstance(found, str):
                    return found
                why = found
        return why

    def _keeps(
        self, path: Path, places: Sequence[Place], pair: tuple[Place, Place], more: int
    ) -> list[Exit | Stop | Path] | str:
        start = self._anew(path, places, pair, more)
        tells = self._sure(path, [self._tells(path, pair)])
        if tells:
            start.conditions = (*start.conditions, self._tells(start, pair))
        before = self._values(start, pair)
        backs, rest = self._round(start.fork(start.offset, 1))
        stop = next((one for one in rest if isinstance(one, Stop)), None)
        if stop is not None:
            return stop.what
        for back in backs:
            try:
                self.settle(back)
            except GapError as error:
                return str(error)
            after = self._values(back, pair)
            if any(flag and not back.state.flags[name] for name, flag in start.state.flags.items()):
                return "a round leaves a flag undefined"
            if not self._unchanged(start, back, places):
                return "a round changes what no instruction in it seems to change"
            rises = self.domain.ult(self.form.rises(*before), self.form.rises(*after), 64)
            if not self._sure(back, [rises]):
                return "it is not shown to end"
            kept = [*self._at(back, *after), self.form.may_hold(*after)[more]]
            if not self._sure(back, [*kept, self._tells(back, pair)] if tells else kept):
                return "a round does not keep the invariant"
        return rest

    def _tells(self, path: Path, pair: tuple[Place, Place]) -> Value:
        """Whether the zero flag says that the second place is 0, as where a loop is entered before its test."""
        flag = path.state.flags.get("zf")
        return 0 if flag is None else self.domain.eq(flag(), self.domain.eq(self._values(path, pair)[1], 0, 64), 1)

    def _values(self, path: Path, pair: tuple[Place, Place]) -> tuple[Value, Value]:
        space = self.explorer.space(path)
        return _value(space, path, pair[0]), _value(space, path, pair[1])

    def _round(self, start: Path) -> tuple[list[Path], list[Exit | Stop | Path]]:
        """The paths that come back to the head, and all others."""
        head = start.offset
        backs: list[Path] = []
        rest: list[Exit | Stop | Path] = []
        waiting = self._on(start, rest)
        while waiting:
            path = waiting.pop()
            if len(waiting) + len(backs) + len(rest) > self.explorer.limits.paths:
                return [], [Stop("takes too many paths", path.offset, path)]
            if path.offset == head:
                backs.append(path)
            elif path.offset in self.explorer.heads:
                rest.append(path)
            else:
                waiting += self._on(path, rest)
        return backs, rest

    def _on(self, path: Path, rest: list[Exit | Stop | Path]) -> list[Path]:
        """The ways that the path goes on; its end is added to the rest."""
        found = self.explorer.follow(path)
        if isinstance(found, list):
            return found
        rest.append(found)
        return []

    def _anew(self, path: Path, places: Sequence[Place], pair: tuple[Place, Place], more: int) -> Path:
        """The head before any round: what the loop changes is unknown, but for the invariant."""
        start = path.fork(path.offset, 1)
        start.conditions, start.inside = (), path.inside | {path.offset}
        state, space, unknown = start.state, self.explorer.space(start), self.explorer.unknown
        for place in places:
            # By its part in the invariant, so that loops that differ in registers have their questions in common.
            part = f"place {pair.index(place)}" if place in pair else f"{place}"
            name = f"{part} of loop {len(path.inside)}"
            if isinstance(place, tuple):
                value = unknown(name, place[1])
                space.store(Pointer(space.stack, place[0] % (1 << 64)), place[1], value)
            elif place in state.vectors:
                state.vectors[place] = tuple(unknown(f"{name}.{lane}", 64) for lane in range(8))
            else:
                state.registers[place] = unknown(name, 64)
        lost = frozenset().union(*(one.flags_undefined for one in _body(self.explorer.code, path.offset)))
        for name, flag in state.flags.items():
            known = flag is not None and name not in lost
            state.flags[name] = partial(unknown, f"{name} of loop {len(path.inside)}", 1) if known else None
        a, b = self._values(start, pair)
        if self.form.frontier and space.arrays:
            space.arrays = replace(space.arrays, frontier=a)
        start.conditions = (*self.form.holds(a, b), self.form.may_hold(a, b)[more])
        return start

    def _unchanged(self, start: Path, back: Path, places: Sequence[Place]) -> bool:
        """Whether all but these places is the same at the end of a round."""
        registers = all(back.state.registers[name] is value for name, value in start.state.registers.items()
                        if name not in places)  # fmt: skip
        vectors = all(back.state.vectors[name] is value for name, value in start.state.vectors.items()
                      if name not in places)  # fmt: skip
        words = [place for place in places if isinstance(place, tuple)]
        known = {offset + at for offset, width in words for at in range(width // 8)}
        one, other = self.explorer.space(start), self.explorer.space(back)
        for base, cells in other.cells.items():
            before = one.cells[base].content
            changed = {at for at, byte in cells.content.items() if before.get(at) != byte}
            if changed - (known if base == one.stack else set()):
                return False
        return registers and vectors


def _is_word(place: Place) -> bool:
    return place[1] == 64 if isinstance(place, tuple) else not place.startswith(("zmm", "k"))


def _value(space: Space, path: Path, place: Place) -> Value:
    if isinstance(place, tuple):
        return space.load(Pointer(space.stack, place[0] % (1 << 64)), place[1])
    return path.state.registers[place]


def _body(code: Code, head: int) -> list[Decoded]:
    """The instructions from the head to the last branch back to it."""
    last = max(one.offset for one in code.instructions if one.target == head)
    return [one for one in code.instructions if head <= one.offset <= last]


def _places(body: Sequence[Decoded], path: Path) -> Iterator[Place]:
    """What these instructions write: registers, and words of the stack."""
    written = sorted(set().union(*(one.writes for one in body)))
    yield from (name for name in written if name in path.state.registers or name in path.state.vectors)
    found: set[tuple[int, int]] = set()
    for one in body:
        target = one.operands[0] if one.stores and one.operands else None
        if isinstance(target, Mem) and target.base is not None and target.index is None:
            address = path.state.registers.get(target.base.full)
            if isinstance(address, Pointer) and address.base == cast(Space, path.state.memory).stack:
                offset = (address.offset + target.displacement) % (1 << 64)
                offset -= (1 << 64) if offset >> 63 else 0
                each = min(64, target.bits)
                found |= {(offset + low // 8, each) for low in range(0, target.bits, each)}
    yield from sorted(found)
