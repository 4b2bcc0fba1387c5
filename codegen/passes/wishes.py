"""An order with as many wishes met as spare moves: that a user of a value be its last, so that it can overwrite it.

A wish changes a window of the order alone: from its user, before whom the others now come, to the last of these. So it
is judged by that window, once, until another wish changes a window that overlaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from operator import itemgetter

from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.passes.stretch import Stretch, crowding

EFFORT = 1 << 14
"""How many positions of windows are judged for one order; what is best by then is taken. The catalogue needs 6,000."""

Spare = dict[RegisterFile, list[int]]
"""How many registers of each file are left behind each position; fewer than none where values crowd."""


@dataclass(frozen=True, eq=False, slots=True)
class _Window:
    """The positions from `begin` to before `end` in another order, and what that costs there.

    The order is empty where nothing changes, or where wishes go round in a circle.
    """

    begin: int
    end: int
    order: list[int]
    moves: list[bool]
    """Who needs one."""
    spare: Spare
    cost: int
    """How many do."""
    least: dict[RegisterFile, int]
    """How many registers of each file are left at the worst."""


class Line:
    """An order of a stretch, and what it costs there."""

    def __init__(self, stretch: Stretch, order: Sequence[int]) -> None:
        self.stretch = stretch
        self.order = list(order)
        self.rank = [0] * len(order)
        self.firsts = [*stretch.before]
        """What must come before each: what it reads, and whom a wish put there."""
        self.effort = EFFORT
        self.needed_until = [len(order) if i in stretch.stays else -1 for i in range(len(stretch.users))]
        """The position of each value's last reader; one behind the last where it is needed after the stretch."""
        self.moves = [False] * len(order)
        self.spare: Spare = {file: [0] * len(order) for file in dict.fromkeys(stretch.file)}
        self._take(self._judged(0, self.order))

    def improve(self, least: int) -> None:
        """Meet one wish after the other, always the one that spares most, while the cost is above `least`."""
        windows: dict[tuple[int, int], _Window] = {}
        while self.cost > least:
            offers = []
            for user, arg in self._wishes():
                if (user, arg) not in windows and self.effort > 0:
                    windows[user, arg] = self._window(user, arg)
                window = windows.get((user, arg))
                if window is not None and window.order:
                    offers.append((self._cost_with(window), user, arg))
            cost, user, arg = min(offers, key=itemgetter(0), default=(self.cost, 0, 0))
            if cost >= self.cost:
                return
            taken = windows[user, arg]
            self.firsts[user] += tuple(other for other in self.stretch.users[arg] if other != user)
            self._take(taken)
            windows = {w: kept for w, kept in windows.items() if kept.end <= taken.begin or taken.end <= kept.begin}

    def _wishes(self) -> Iterator[tuple[int, int]]:
        """Who needs a move, with each value that it could overwrite were it the last to read it."""
        for user in compress(self.order, self.moves):
            for arg in self.stretch.overwritable[user]:
                if arg not in self.stretch.stays:
                    yield user, arg

    def _window(self, user: int, arg: int) -> _Window:
        """The window in which all others who read a value come before this one, behind what must come before them."""
        begin, rank = self.rank[user], self.rank
        others = [other for other in self.stretch.users[arg] if rank[other] > begin]
        if not others:
            return _Window(begin, begin + 1, [], [], {}, 0, {})
        moved: dict[int, None] = {}
        begun = {user}
        stack = [user]
        while stack:
            i = stack[-1]
            firsts = (*self.firsts[i], *others) if i == user else self.firsts[i]
            waiting = [rank[first] for first in firsts if rank[first] >= begin and first not in moved]
            if not waiting:
                moved[stack.pop()] = None
                continue
            needed = self.order[min(waiting)]
            if needed in begun:
                return _Window(begin, max(map(rank.__getitem__, begun)) + 1, [], [], {}, 0, {})
            begun.add(needed)
            stack.append(needed)
        end = max(map(rank.__getitem__, moved)) + 1
        return self._judged(begin, [*moved, *[i for i in self.order[begin:end] if i not in moved]])

    def _judged(self, begin: int, order: list[int]) -> _Window:
        """What the positions from `begin` on cost in that order of the same values."""
        self.effort -= len(order)
        end = begin + len(order)
        stretch, needed_until = self.stretch, self.needed_until
        args, files, makes, overwritable = stretch.args, stretch.file, stretch.makes, stretch.overwritable
        last_readers = {arg: i for i in order for arg in args[i]}
        rooms = {file: behind[begin - 1] if begin else stretch.spare[file] for file, behind in self.spare.items()}
        behind: Spare = {file: [] for file in rooms}
        moves: list[bool] = []
        for i in order:
            overwrites = False
            for arg in args[i]:
                if last_readers[arg] == i and needed_until[arg] < end:
                    rooms[files[arg]] += 1
                    overwrites = overwrites or arg in overwritable[i]
            if makes[i]:
                rooms[files[i]] -= 1
            moves.append(not overwrites and bool(overwritable[i]))
            for file, room in rooms.items():
                behind[file].append(room)
        least = {file: min(left, default=rooms[file]) for file, left in behind.items()}
        return _Window(begin, end, order, moves, behind, sum(moves), least)

    def _take(self, window: _Window) -> None:
        """The window's order becomes that of the line."""
        at = slice(window.begin, window.end)
        self.order[at] = window.order
        self.moves[at] = window.moves
        for rank, i in enumerate(window.order, window.begin):
            self.rank[i] = rank
            for arg in self.stretch.args[i]:
                if self.needed_until[arg] < window.end:
                    self.needed_until[arg] = rank
        for file, rooms in window.spare.items():
            self.spare[file][at] = rooms
        start = self.stretch.spare
        self.least_before = {file: [*accumulate(s, min, initial=start[file])] for file, s in self.spare.items()}
        self.least_after = {
            file: [*accumulate(s[::-1], min, initial=start[file])][::-1] for file, s in self.spare.items()
        }
        self.moves_before = [*accumulate(self.moves, initial=0)]
        self.cost = self.moves_before[-1] + crowding(least[-1] for least in self.least_before.values())

    def _cost_with(self, window: _Window) -> int:
        """What the line would cost with this window."""
        begin, end = window.begin, window.end
        inside = self.moves_before[end] - self.moves_before[begin]
        least = (
            min(self.least_before[file][begin], self.least_after[file][end], rooms)
            for file, rooms in window.least.items()
        )
        return self.moves_before[-1] - inside + window.cost + crowding(least)
