"""Loops proved by induction, for all rounds at once: an invariant at the head before each round.

A loop on an unknown condition is unrolled as long as another round is possible. Where that has no bound, as for arrays
of n boards, an invariant takes its place, which `invariants` guesses. All of it is proved: it holds where the loop is
entered, a round keeps it, and it bounds the number of rounds. Of further guesses those are left out that do not hold at
first or that a round does not keep (Houdini: Flanagan and Leino 2001). Every part of the state that a round changes, as
`state.changed` finds it, is unknown at the head but for the invariant. Where a round from there changes more, that is
unknown, too, until a round changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from setwise.analysis.proof.invariants import Invariant, LoopHead, guess
from setwise.analysis.proof.memory import GapError, Round
from setwise.analysis.proof.path_state import Key, Variable, changed, drop, get, is_byte, put, variables
from setwise.analysis.proof.symbolic import Explorer, Path, Stop, Ways
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.table import SemanticsError

_TRIES = 16
_FORGOTTEN = ("registers", "vectors", "flags")  # these, and bytes of memory, may be unknown at a loop's head
_OF_INVARIANT = (("memory", "arrays", "frontier"), ("memory", "arrays", "round"))


@dataclass(slots=True)
class _Changes:
    """All that rounds change: variables and lost bytes.

    A round does not keep the values that the invariant gives to `forgotten` variables.
    """

    variables: list[Variable] = field(default_factory=list)
    forgotten: set[Variable] = field(default_factory=set)
    lost: set[Key] = field(default_factory=set)

    def known(self) -> set[Key]:
        """Return the keys of all leaves that are unknown at the head."""
        return {key for variable in self.variables for key in _keys(variable)} | self.lost


class Loops:
    """Takes paths through loops over `count` boards by induction; `settle` closes a round, or raises GapError."""

    def __init__(self, explorer: Explorer, count: Bits, settle: Callable[[Path], None]) -> None:
        self.explorer, self.count, self.settle = explorer, count, settle
        self.domain = explorer.domain
        self.used = ""

    def enter(self, path: Path) -> Ways:
        """Return the ways on from a loop's head, after any number of rounds; a Stop if no invariant is found."""
        try:
            return self._enter(path)
        except SemanticsError as error:
            return [Stop(str(error), path.offset, path)]

    def _enter(self, path: Path) -> Ways:
        head = path.offset
        if head in path.inside:
            raise GapError("comes back to a loop from another one")
        once = path.fork(head, 1)
        once.inside |= {head}
        backs, rest = self._round(once)
        if not backs:
            return rest  # its branch back is never taken
        if path.space.arrays and backs[0].space.arrays:
            # All rounds count from the end that the first one chose: where no board is done both ends are true.
            path.space.arrays.upward = backs[0].space.arrays.upward
        changes = _Changes()
        self._note(changes, path, backs)
        invariant = guess(self.domain, self.count, path, backs, changes.variables)
        self.settle(path)
        if not self.explorer.possible(path):
            return []
        if not all(self.explorer.sure(path, claim) for _, claim in self._claims(path, invariant.head(0))):
            raise GapError(f"no invariant is found for the loop at {head:#x}")
        for tried in (replace(invariant, limits=()), invariant):  # whether limits hold is hard to answer
            guesses = self._guesses(path, tried.head(0))
            held = {at for at, one in enumerate(guesses) if self.explorer.sure(path, one)}
            for _ in range(_TRIES):
                found = self._keeps(path, changes, tried, held)
                if found is not None:
                    break
            if isinstance(found, list):
                self.used = "a boards are done and right, and a rises to n"
                return found
        raise GapError(f"the loop at {head:#x}: {found or 'each round changes something else'}")

    def _keeps(self, path: Path, changes: _Changes, invariant: Invariant, held: set[int]) -> Ways | str | None:
        """Return the ways on if this is an invariant with the guesses `held`, else why not.

        None asks for another try: guesses that a round does not keep are no longer held, and more is unknown.
        """
        rounds = self.explorer.unknown(f"rounds of loop {len(path.inside)}", 64)
        before, after = invariant.head(rounds), invariant.head(self.domain.add(rounds, 1, 64))
        start = self._anew(path, changes, before)
        guesses = self._guesses(start, before)
        start.conditions = (*start.conditions, *(guesses[at] for at in sorted(held)))
        if self.explorer.model(start) is None:
            return "its invariant holds nowhere"
        backs, rest = self._round(start.fork(start.offset, 1))
        stop = next((end for end in rest if isinstance(end, Stop)), None)
        if stop is not None:
            return stop.complaint
        try:
            for back in backs:
                self.settle(back)
        except GapError as error:
            return str(error)
        if self._note(changes, start, backs):
            return None
        kept = True
        for back in backs:
            for variable, condition in self._claims(back, after):
                if variable in changes.forgotten:
                    continue
                if not self.explorer.sure(back, condition):
                    if variable is None:
                        return "a round does not keep the invariant"
                    changes.forgotten.add(variable)
                    kept = False
            guesses = self._guesses(back, after)
            lost = {at for at in held if not self.explorer.sure(back, guesses[at])}
            held -= lost
            kept = kept and not lost
        return rest if kept else None

    def _note(self, changes: _Changes, start: Path, backs: Sequence[Path]) -> bool:
        """Add the leaves that these rounds change and that are not in `changes`; return whether there are any."""
        known, there = changes.known(), dict[Key, bool]()
        for back in backs:
            for key, is_there in changed(start.state, back.state).items():
                if key not in known and key[:3] not in _OF_INVARIANT:
                    there[key] = there.get(key, True) and is_there
        for key, is_there in there.items():
            if key[1:] == ("rsp",) or not (key[0] in _FORGOTTEN or is_byte(key)):
                raise GapError(f"a round changes {'.'.join(map(str, key[-2:]))}, which is to stay")
            if not is_there:
                changes.lost.add(key)
        if there:
            changes.variables += variables({key for key in there if there[key]}, backs[0].state)
        return bool(there)

    def _claims(self, path: Path, head: LoopHead) -> list[tuple[Variable | None, Bits]]:
        """Return the conditions for the path to come to that head, each with the variable that it is about."""
        claims: list[tuple[Variable | None, Bits]] = [(None, condition) for condition in head.conditions]
        if path.space.arrays is not None:
            claims.append((None, self._is_same(path.space.arrays.frontier, head.frontier)))
        claims += [(of, self._is_same(get(path.state, of), value)) for of, value in head.values.items()]
        return claims

    def _is_same(self, one: Bits, other: Bits) -> Bits:
        return 1 if self.domain.distance(one, other) == 0 else self.domain.eq(one, other, 64)

    def _guesses(self, path: Path, head: LoopHead) -> list[Bits]:
        """Return the head's guesses; also that the zero flag tells of its word, as where a test is before the loop."""
        flag = path.state.flags.get("zf")
        tells = 0 if flag is None else self.domain.eq(flag(), self.domain.eq(head.left, 0, 64), 1)
        return [tells, *head.guesses]

    def _round(self, start: Path) -> tuple[list[Path], Ways]:
        """Return the paths that come back to the head, and all others."""
        head, backs, rest = start.offset, list[Path](), Ways()
        for end in self.explorer.run(start, one_round=True):
            if isinstance(end, Path) and end.offset == head:
                backs.append(end)
            else:
                rest.append(end)
        return backs, rest

    def _anew(self, path: Path, changes: _Changes, head: LoopHead) -> Path:
        """Return the head before any round: all that the loop changes is unknown, but for the invariant."""
        start = path.fork(path.offset, 1)
        start.conditions, start.inside = (*path.conditions, *head.conditions), path.inside | {path.offset}
        space, unknown = start.space, self.explorer.unknown
        if space.arrays:
            # A round of its own, for the conditions so far are about the boards of earlier ones.
            again = Round(space.arrays.round.number + 1)
            space.arrays = replace(space.arrays, frontier=head.frontier, round=again)
        for key in changes.lost:
            drop(start.state, key)
        for variable in changes.variables:
            value = None if variable in changes.forgotten else head.values.get(variable)
            if value is None:
                # Not by the loop's offset, so that loops that are alike have their questions in common.
                value = unknown(f"{variable.name} of loop {len(path.inside)}", variable.width)
            put(start.state, variable, value)
        return start


def _keys(variable: Variable) -> list[Key]:
    *path, last = variable.key
    number = variable.width // 8 if variable.kind == "memory" else 1
    return [(*path, last + at) for at in range(number)] if number > 1 else [variable.key]
