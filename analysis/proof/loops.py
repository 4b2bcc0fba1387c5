"""Induction over loop iterations: an invariant at the loop's head replaces unrolling.

A loop on an unknown condition is unrolled while another iteration is possible. If there is no bound, as for arrays of
n boards, it is proved with an invariant that `invariants` guesses. The proof shows that the invariant holds on entry,
that an iteration preserves it, and that it bounds the number of iterations. Additional guesses are dropped if they
fail on entry or are not preserved (Houdini: Flanagan and Leino 2001). Every part of the state that an iteration
changes, as `state.changed` finds it, is unknown at the head except for the invariant. If an iteration from there
changes more, that becomes unknown too, until a fixed point is reached.
"""

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
    """The state that iterations change: variables and lost bytes.

    An iteration does not preserve the invariant's values of the `forgotten` variables.
    """

    variables: list[Variable] = field(default_factory=list)
    forgotten: set[Variable] = field(default_factory=set)
    lost: set[Key] = field(default_factory=set)

    def known(self) -> set[Key]:
        """Return the keys of all leaves that are already unknown at the head."""
        return {key for variable in self.variables for key in _keys(variable)} | self.lost


class Loops:
    """Induction over loops on `count` boards. `settle` verifies the writes of one iteration, or raises GapError."""

    def __init__(self, explorer: Explorer, count: Bits, settle: Callable[[Path], None]) -> None:
        self.explorer, self.count, self.settle = explorer, count, settle
        self.domain = explorer.domain
        self.used = ""

    def enter(self, path: Path) -> Ways:
        """Return the paths that leave a loop after any number of iterations, or a Stop if no invariant is found."""
        try:
            return self._enter(path)
        except SemanticsError as error:
            return [Stop(str(error), path.offset, path)]

    def _enter(self, path: Path) -> Ways:
        head = path.offset
        if head in path.inside:
            raise GapError(f"enters the loop at {head:#x} again from another loop, which is not followed")
        once = path.fork(head, 1)
        once.inside |= {head}
        backs, rest = self._round(once)
        if not backs:
            return rest  # the backward branch is never taken
        if path.space.arrays and backs[0].space.arrays:
            # All iterations count from the end that the first one chose; with no board done, either end is right.
            path.space.arrays.upward = backs[0].space.arrays.upward
        changes = _Changes()
        self._note(changes, path, backs)
        invariant = guess(self.domain, self.count, path, backs, changes.variables)
        self.settle(path)
        if not self.explorer.possible(path):
            return []
        if not all(self.explorer.sure(path, claim) for _, claim in self._claims(path, invariant.head(0))):
            raise GapError(f"no invariant is found for the loop at {head:#x}")
        for tried in (replace(invariant, limits=()), invariant):  # conditions about limits are hard for the solver
            guesses = self._guesses(path, tried.head(0))
            held = {at for at, one in enumerate(guesses) if self.explorer.sure(path, one)}
            for _ in range(_TRIES):
                found = self._keeps(path, changes, tried, held)
                if found is not None:
                    break
            if isinstance(found, list):
                self.used = "the first a boards are done and right, and a rises to n"
                return found
        raise GapError(f"the loop at {head:#x}: {found or 'no invariant of the values that it changes is found'}")

    def _keeps(self, path: Path, changes: _Changes, invariant: Invariant, held: set[int]) -> Ways | str | None:
        """Return the paths that leave the loop if the invariant with the guesses `held` is inductive, else the reason.

        Returns None to ask for another attempt, after it has dropped guesses or made more of the state unknown.
        """
        rounds = self.explorer.unknown(f"rounds of loop {len(path.inside)}", 64)
        before, after = invariant.head(rounds), invariant.head(self.domain.add(rounds, 1, 64))
        start = self._arbitrary(path, changes, before)
        guesses = self._guesses(start, before)
        start.conditions = (*start.conditions, *(guesses[at] for at in sorted(held)))
        if self.explorer.model(start) is None:
            return "the invariant is contradictory"
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
                        return "an iteration does not preserve the invariant"
                    changes.forgotten.add(variable)
                    kept = False
            guesses = self._guesses(back, after)
            lost = {at for at in held if not self.explorer.sure(back, guesses[at])}
            held -= lost
            kept = kept and not lost
        return rest if kept else None

    def _note(self, changes: _Changes, start: Path, backs: Sequence[Path]) -> bool:
        """Add the leaves that these iterations change to `changes`. Return whether there were new ones."""
        known, there = changes.known(), dict[Key, bool]()
        for back in backs:
            for key, is_there in changed(start.state, back.state).items():
                if key not in known and key[:3] not in _OF_INVARIANT:
                    there[key] = there.get(key, True) and is_there
        for key, is_there in there.items():
            if key[1:] == ("rsp",) or not (key[0] in _FORGOTTEN or is_byte(key)):
                raise GapError(f"an iteration changes {'.'.join(map(str, key[-2:]))} and does not restore it")
            if not is_there:
                changes.lost.add(key)
        if there:
            changes.variables += variables({key for key in there if there[key]}, backs[0].state)
        return bool(there)

    def _claims(self, path: Path, head: LoopHead) -> list[tuple[Variable | None, Bits]]:
        """Return the conditions for a path to satisfy that head, each with the variable that it concerns."""
        claims: list[tuple[Variable | None, Bits]] = [(None, condition) for condition in head.conditions]
        if path.space.arrays is not None:
            claims.append((None, self._is_same(path.space.arrays.frontier, head.frontier)))
        claims += [(of, self._is_same(get(path.state, of), value)) for of, value in head.values.items()]
        return claims

    def _is_same(self, one: Bits, other: Bits) -> Bits:
        return 1 if self.domain.distance(one, other) == 0 else self.domain.eq(one, other, 64)

    def _guesses(self, path: Path, head: LoopHead) -> list[Bits]:
        """Return the head's guesses, and the guess that the zero flag says whether no board is left."""
        flag = path.state.flags.get("zf")
        tells = 0 if flag is None else self.domain.eq(flag(), self.domain.eq(head.left, 0, 64), 1)
        return [tells, *head.guesses]

    def _round(self, start: Path) -> tuple[list[Path], Ways]:
        """Run one iteration from the head. Return the paths that come back to it, and all others."""
        head, backs, rest = start.offset, list[Path](), Ways()
        for end in self.explorer.run(start, one_round=True):
            if isinstance(end, Path) and end.offset == head:
                backs.append(end)
            else:
                rest.append(end)
        return backs, rest

    def _arbitrary(self, path: Path, changes: _Changes, head: LoopHead) -> Path:
        """Return the loop's head at an arbitrary iteration.

        All that the loop changes is unknown, except for the invariant.
        """
        start = path.fork(path.offset, 1)
        start.conditions, start.inside = (*path.conditions, *head.conditions), path.inside | {path.offset}
        space, unknown = start.space, self.explorer.unknown
        if space.arrays:
            # A round of its own, because the conditions so far are about boards of earlier rounds.
            again = Round(space.arrays.round.number + 1)
            space.arrays = replace(space.arrays, frontier=head.frontier, round=again)
        for key in changes.lost:
            drop(start.state, key)
        for variable in changes.variables:
            value = None if variable in changes.forgotten else head.values.get(variable)
            if value is None:
                # Named without the loop's offset, so that similar loops share solver queries.
                value = unknown(f"{variable.name} of loop {len(path.inside)}", variable.width)
            put(start.state, variable, value)
        return start


def _keys(variable: Variable) -> list[Key]:
    *path, last = variable.key
    number = variable.width // 8 if variable.kind == "memory" else 1
    return [(*path, last + at) for at in range(number)] if number > 1 else [variable.key]
