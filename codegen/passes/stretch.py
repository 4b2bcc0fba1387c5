"""Values in a row, without control flow between them, as numbers: what each reads, overwrites and needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import chain

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.orders import overwritable
from setwise.codegen.describe.values import Value, in_register
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.machine.convention import MASKS
from setwise.codegen.passes.live import in_registers
from setwise.codegen.targets.table import Target

_UNITES = WRITES | {"or"}


class Stretch:
    """A stretch of `values`, behind which some are needed; `room` is how many general registers there are for it.

    In here a value is a number: its position, or for those from outside one behind the last position. Two are equal
    that no order can tell apart.
    """

    def __init__(self, values: list[Value], needed_after: Collection[Value], target: Target, room: int) -> None:
        read = [tuple(dict.fromkeys(in_registers(value.args))) for value in values]
        named = chain(values, chain.from_iterable(read), filter(in_register, needed_after))
        number = {value: i for i, value in enumerate(dict.fromkeys(named))}
        self.args = [tuple([number[arg] for arg in args]) for args in read]
        """What each reads."""
        self.before = [tuple([arg for arg in args if arg < len(values)]) for args in self.args]
        """What of it comes from the stretch."""
        self.overwritable = [tuple([number[arg] for arg in _overwritable(value, target)]) for value in values]
        """What of it each could overwrite; none where some form leaves all arguments alone."""
        users: list[list[int]] = [[] for _ in number]
        for i, args in enumerate(self.args):
            for arg in args:
                users[arg].append(i)
        self.users = [*map(tuple, users)]
        """For every value who reads it."""
        self.stays = {number[value] for value in needed_after if value in number}
        """Values that are needed after the stretch."""
        self.uses = [len(readers) + (value in self.stays) for value, readers in enumerate(users)]
        """For each value how many read it; one more if it is needed after the stretch."""
        self.makes = [value.op not in WRITES for value in values]
        """Whether each makes a value that takes a register."""
        self.joins = [
            value.op in _UNITES or (value.op == "and" and len(read[i]) == 1) for i, value in enumerate(values)
        ]
        """Whether each unites others, or masks or writes what does."""
        self.file = [value.file for value in number]
        """The registers that may hold a value."""
        self.cycles = [value.operation.cycles for value in values]
        """About how many cycles each takes."""
        self.spare: dict[RegisterFile, int] = {"general": room, "vector": target.vectors, "mask": len(MASKS)}
        """How many registers of each file are left at the start, or are too few; of more than can be taken as many."""
        for file in self.file[len(values) :]:
            self.spare[file] -= 1
        for file, left in self.spare.items():
            self.spare[file] = min(left, self.file[: len(values)].count(file))
        lists: tuple[Iterable[object], ...] = (
            self.args,
            self.overwritable,
            self.makes,
            self.joins,
            self.file,
            self.cycles,
        )
        self._told = (*map(tuple, lists), *self.spare.values(), *sorted(self.stays))

    def __len__(self) -> int:
        return len(self.args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stretch) and self._told == other._told

    def __hash__(self) -> int:
        return hash(self._told)

    @cached_property
    def _rows(self) -> list[tuple[tuple[int, ...], tuple[int, ...], bool, RegisterFile]]:
        """For each value what it reads, what of it it could overwrite, whether it takes a register, and of which."""
        return [*zip(self.args, self.overwritable, self.makes, self.file, strict=False)]

    def cost(self, order: Iterable[int]) -> int:
        """What an order costs: its moves, and twice the registers beyond those there are.

        A value needs a move where it could overwrite an argument, but is the last to read none of these.
        """
        file, left = self.file, [*self.uses]
        spare = dict(self.spare)
        least = dict(spare)
        moves = 0
        for args, could, makes, its in map(self._rows.__getitem__, order):
            overwrites = not could
            for arg in args:
                left[arg] -= 1
                if not left[arg]:
                    spare[file[arg]] += 1
                    overwrites = overwrites or arg in could
            if not overwrites:
                moves += 1
            if makes:
                spare[its] -= 1
                if spare[its] < least[its]:
                    least[its] = spare[its]
        return moves + crowding(least.values())

    def forced(self) -> int:
        """Moves that every order needs: a user gets an argument to overwrite, an argument goes to one user at most.

        All users but those of a largest matching: one more is matched where a way leads, from a user to what it could
        overwrite and on to who overwrites that so far, to a value that nobody does.
        """
        overwriter: dict[int, int] = {}
        overwritten: dict[int, int] = {}
        in_vain: set[int] = set(self.stays)
        unmatched = 0
        for user, args in enumerate(self.overwritable):
            came: dict[int, int] = {}
            pending = [user]
            end = None
            while pending and end is None:
                at = pending.pop()
                for arg in self.overwritable[at]:
                    if arg not in came and arg not in in_vain:
                        came[arg] = at
                        if arg not in overwriter:
                            end = arg
                            break
                        pending.append(overwriter[arg])
            if end is None:
                # No way from here ever leads to the end, so none through here does.
                in_vain.update(came)
                unmatched += bool(args)
            while end is not None:
                at = came[end]
                overwriter[end] = at
                overwritten[at], end = end, overwritten.get(at)
        return unmatched


class Pressure:
    """Register pressure as an order of a stretch goes on: registers that are left, and readers that each value has."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.left = [*stretch.uses]
        self.spare = dict(stretch.spare)

    def taken(self, i: int) -> int:
        """How many registers a value takes, or leaves free where that is below zero, were it next."""
        stretch, left, file = self.stretch, self.left, self.stretch.file
        return stretch.makes[i] - sum([left[arg] == 1 and file[arg] == file[i] for arg in stretch.args[i]])

    def take(self, i: int) -> None:
        """It is next."""
        stretch, left, spare, file = self.stretch, self.left, self.spare, self.stretch.file
        spare[file[i]] -= stretch.makes[i]
        for arg in stretch.args[i]:
            left[arg] -= 1
            spare[file[arg]] += not left[arg]


def crowding(least: Iterable[int]) -> int:
    """What it costs that so few registers of each file are left at the worst."""
    return 2 * sum([-rooms for rooms in least if rooms < 0])


def _overwritable(value: Value, target: Target) -> tuple[Value, ...]:
    if value.op == "copy" or not target.overwrites(value):
        return ()
    return tuple([arg for arg in overwritable(value) if in_register(arg)])
