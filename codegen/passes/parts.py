"""Orders of unions: their parts one after the other, each with what it is made of, joined as soon as they are there."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, permutations
from operator import itemgetter

from setwise.codegen.passes.stretch import Stretch
from setwise.codegen.passes.wishes import Line

MOST_PARTS, MOST_GROUPS = 32, 8
"""Of how many parts, in how many groups, other turns are tried."""


class Parts:
    """The parts of the unions that a stretch ends in: of whatever is left, or written, for others."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch

    def by_kinship(self) -> list[int]:
        """An order by the parts of the unions: next comes the part that shares most with what is already there."""
        return self._order(self._akin)

    def from_the_last(self) -> list[int]:
        """An order by whole unions, the last first, where the description has the first first."""
        done: dict[int, None] = {}
        for end in self._ends:
            done.update(dict.fromkeys(sorted(self._below(end, done))))
        return list(done)

    def by_groups(self, forced: int) -> list[int]:
        """The same with groups of parts in other turns, as long as that spares moves.

        A group are parts that read what fewer than half of all do: both rays of an axis, with its runs.
        """
        parts, reads = self._akin, self._reads
        if len(parts) > MOST_PARTS:
            return self.by_kinship()
        readers = [sum([reads[part] >> i & 1 for part in parts]) for i in range(len(self.stretch))]
        few = sum([1 << i for i, count in enumerate(readers) if 1 < count < len(parts) / 2])
        groups: list[list[int]] = []
        for part in parts:
            kin = (group for group in groups if any(reads[part] & reads[other] & few for other in group))
            if (group := next(kin, None)) is None:
                groups.append([part])
            else:
                group.append(part)

        def cost(groups: list[list[int]]) -> int:
            return Line(self.stretch, self._order([*chain(*groups)])).cost

        least = cost(groups)
        while forced < least and len(groups) <= MOST_GROUPS:
            others = [(cost(turns), turns) for turns in _moved(groups)]
            found, turns = min(others, key=itemgetter(0), default=(least, groups))
            if found >= least:
                break
            least, groups = found, turns
        return self._order([*chain(*groups)])

    @cached_property
    def _akin(self) -> list[int]:
        """The parts of the unions, each but the first the one that shares most with those before."""
        reads = self._reads
        parts = dict.fromkeys(self._union[0])
        seen = 0
        ranked: list[int] = []
        while parts:
            nearest = max(parts, key=lambda part: (reads[part] & seen).bit_count())
            parts.pop(nearest)
            seen |= reads[nearest]
            ranked.append(nearest)
        return ranked

    @cached_property
    def _reads(self) -> list[int]:
        """For each value what it is made of; a set of values is an integer, a bit for each."""
        reads: list[int] = []
        for args in self.stretch.args:
            below = sum({1 << arg for arg in args})
            for arg in args:
                below |= reads[arg] if arg < len(reads) else 0
            reads.append(below)
        return reads

    def _order(self, ranked: Sequence[int]) -> list[int]:
        """The order that makes the parts of unions one after the other, and joins them as soon as they are there."""
        stretch = self.stretch
        _, joints = self._union
        done: dict[int, None] = {}
        waiting = {joint: len(stretch.before[joint]) for joint in joints}
        joined: list[int] = []

        def finish(i: int) -> None:
            done[i] = None
            for user in stretch.users[i]:
                if user in waiting:
                    waiting[user] -= 1
                    if not waiting[user]:
                        heappush(joined, -joints[user])

        innermost = [*joints]
        for part in ranked:
            for i in sorted(self._below(part, done)):
                finish(i)
            while joined:
                finish(innermost[-heappop(joined)])
        done.update(dict.fromkeys(range(len(stretch))))
        return list(done)

    @cached_property
    def _union(self) -> tuple[dict[int, None], dict[int, int]]:
        """The parts of the unions that nobody here reads, and what joins or writes them, numbered from there inward."""
        stretch = self.stretch
        parts: dict[int, None] = {}
        joints: dict[int, int] = {}
        pending = [*self._ends]
        while pending:
            i = pending.pop()
            if len(stretch.users[i]) <= 1 and stretch.joins[i] and stretch.before[i]:
                joints[i] = len(joints)
                pending += reversed(stretch.before[i])
            else:
                parts[i] = None
        return parts, joints

    @cached_property
    def _ends(self) -> list[int]:
        """The values that nobody here reads, the last first."""
        return [i for i in reversed(range(len(self.stretch))) if not self.stretch.users[i]]

    def _below(self, i: int, done: Container[int]) -> set[int]:
        """A value and all in this stretch that it is made of, but for what is done."""
        below: set[int] = set()
        pending = [i]
        while pending:
            at = pending.pop()
            if at not in below and at not in done:
                below.add(at)
                pending += self.stretch.before[at]
        return below


def _moved(groups: list[list[int]]) -> Iterator[list[list[int]]]:
    """The groups with one of them elsewhere."""
    for at, to in permutations(range(len(groups)), 2):
        others = [*groups[:at], *groups[at + 1 :]]
        yield [*others[:to], groups[at], *others[to:]]
