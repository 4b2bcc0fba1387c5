"""Orders of unions: their parts one after the other, each with what it is made of, joined as soon as they are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, permutations
from operator import itemgetter
from typing import NamedTuple

from setwise.codegen.passes.stretch import Stretch

MOST_PARTS, MOST_GROUPS = 32, 8
"""Of how many parts, in how many groups, other turns are tried."""


class _Union(NamedTuple):
    """The unions that nobody in a stretch reads."""

    parts: dict[int, None]
    joints: dict[int, int]
    """What joins or writes parts, numbered from the end inward."""
    into: dict[int, list[int]]
    """For parts and joints the joints that read them."""


class Parts:
    """The parts of the unions that a stretch ends in: of whatever is left, or written, for others."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch

    def by_kinship(self) -> list[int]:
        """An order by the parts of the unions: next comes the part that shares most with what is already there."""
        return self._order(self._akin)

    def from_the_last(self) -> list[int]:
        """An order by whole unions, the last first, where the description has the first first."""
        order: list[int] = []
        done = 0
        for end in self._ends:
            below = self._below(end, done)
            order += _members(below)
            done |= below
        return order

    def by_groups(self, forced: int) -> list[int]:
        """The same with groups of parts in other turns, as long as that spares moves."""
        groups = self._groups

        def cost(groups: list[list[int]]) -> int:
            return self.stretch.cost(self._order([*chain(*groups)]))

        least = cost(groups)
        while forced < least and len(groups) <= MOST_GROUPS:
            others = [(cost(turns), turns) for turns in _moved(groups)]
            found, turns = min(others, key=itemgetter(0), default=(least, groups))
            if found >= least:
                break
            least, groups = found, turns
        return self._order([*chain(*groups)])

    def by_groups_from_the_last(self) -> list[int]:
        """The same with the groups the other way round."""
        return self._order([*chain(*reversed(self._groups))])

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Parts that read what fewer than half of all do: both rays of an axis, with its runs."""
        parts, reads = self._akin, self._reads
        if len(parts) > MOST_PARTS:
            return [parts]
        readers = [sum([reads[part] >> i & 1 for part in parts]) for i in range(len(self.stretch))]
        few = sum([1 << i for i, count in enumerate(readers) if 1 < count < len(parts) / 2])
        groups: list[list[int]] = []
        for part in parts:
            kin = (group for group in groups if any(reads[part] & reads[other] & few for other in group))
            if (group := next(kin, None)) is None:
                groups.append([part])
            else:
                group.append(part)
        return groups

    @cached_property
    def _akin(self) -> list[int]:
        """The parts of the unions, each but the first the one that shares most with those before."""
        reads = self._reads
        parts = dict.fromkeys(self._union.parts)
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
        joints, into = self._union.joints, self._union.into
        waiting = {joint: len(self.stretch.before[joint]) for joint in joints}
        joined: list[int] = []
        done = 0
        order: list[int] = []
        innermost = [*joints]
        for part in ranked:
            below = self._below(part, done)
            done |= below
            finished = _members(below)
            while finished:
                order += finished
                for i in finished:
                    for joint in into.get(i, ()):
                        waiting[joint] -= 1
                        if not waiting[joint]:
                            heappush(joined, -joints[joint])
                finished = [innermost[-heappop(joined)]] if joined else []
        return list(dict.fromkeys((*order, *range(len(self.stretch)))))

    @cached_property
    def _union(self) -> _Union:
        stretch = self.stretch
        parts: dict[int, None] = {}
        joints: dict[int, int] = {}
        into: dict[int, list[int]] = {}
        pending = [*self._ends]
        while pending:
            i = pending.pop()
            if len(stretch.users[i]) <= 1 and stretch.joins[i] and stretch.before[i]:
                joints[i] = len(joints)
                pending += reversed(stretch.before[i])
                for joined in stretch.before[i]:
                    into.setdefault(joined, []).append(i)
            else:
                parts[i] = None
        return _Union(parts, joints, into)

    @cached_property
    def _ends(self) -> list[int]:
        """The values that nobody here reads, the last first."""
        return [i for i in reversed(range(len(self.stretch))) if not self.stretch.users[i]]

    def _below(self, i: int, done: int) -> int:
        """A value and all in this stretch that it is made of, but for what is done."""
        return (self._reads[i] | 1 << i) & ~done & (1 << len(self.stretch)) - 1


def _members(values: int) -> list[int]:
    """The values of a set, in order."""
    members: list[int] = []
    while values:
        lowest = values & -values
        members.append(lowest.bit_length() - 1)
        values ^= lowest
    return members


def _moved(groups: list[list[int]]) -> Iterator[list[list[int]]]:
    """The groups with one of them elsewhere, each order once: to exchange neighbours either may move."""
    for at, to in permutations(range(len(groups)), 2):
        if to == at - 1:
            continue
        others = [*groups[:at], *groups[at + 1 :]]
        yield [*others[:to], groups[at], *others[to:]]
