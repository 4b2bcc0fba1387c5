"""Induction over loop iterations: an invariant at the loop's head replaces unrolling.

A loop on an unknown condition is unrolled while another iteration is possible. But for arrays of n boards it is proved
with an invariant, if n is unknown. `guess` proposes one, which need not be right. The proof shows that the invariant
holds on entry, that an iteration preserves it, and that it bounds the number of iterations. Additional guesses
are dropped if they fail on entry or are not preserved (Houdini: Flanagan and Leino 2001). Every part of the state that
an iteration changes, as `path_state.changed` finds it, is unknown at the head except for the invariant. If an iteration
from there changes more, that becomes unknown too, until a fixed point is reached.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from setwise.analysis.code.decode import signed
from setwise.analysis.proof.path_state import Key, Variable, changed, drop, get, is_byte, put, variables
from setwise.analysis.proof.pointers import Addresses, Pointer
from setwise.analysis.proof.symbolic import Explorer, Path, Stop, Ways
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import SemanticsError, Unsupported
from setwise.analysis.spec.closure import Closure

MOST_BOARDS = 1 << 60  # more do not fit into the address space
_REMEDY = "let each iteration write the same number of boards, and count up to n or down to 0, or run setwise check"
_RISES = "the first a boards are done and right, and a rises to n"
_TRIES = 16  # most attempts to make an invariant inductive, without `limits` and again with them
_MOST_SETS = 6  # most words of which pairs are guessed about
_FORGOTTEN = ("registers", "vectors", "flags")  # these, and bytes of memory, may be unknown at a loop's head
_OF_INVARIANT = ("memory", "arrays")


@dataclass(frozen=True, slots=True)
class LoopHead:
    """An instance of an invariant at a loop's head.

    The variables have `values`, `conditions` hold, `frontier` boards are done and `left` remain from number `first` on.
    Each of the `guesses` may hold in addition.
    """

    values: Mapping[Variable, Bits]
    conditions: Sequence[Bits]
    frontier: Bits
    first: Bits
    left: Bits
    guesses: Sequence[Bits]


@dataclass(frozen=True)
class Invariant:
    """A loop invariant over arrays of `count` boards.

    `start` boards are done before the loop, all but those from number `first` on. Each iteration does `each` more, the
    next ones if `upward`, else the last ones. `moving` maps an induction variable to its initial value and its step in
    an iteration. A variable in a register may count up to one of `limits`.
    """

    domain: Addresses
    count: Bits
    start: Bits
    first: Bits
    upward: bool | None
    each: int
    moving: Mapping[Variable, tuple[Bits, int]]
    limits: Sequence[Bits]

    def head(self, rounds: Bits) -> LoopHead:
        """Return the invariant at the head of the loop after `rounds` iterations."""
        domain = self.domain
        done, all_left = self._times(rounds, self.each), domain.sub(self.count, self.start, 64)
        left = domain.sub(all_left, done, 64)
        values, guesses = {}, [domain.not_(domain.ult(left, self.each, 64), 1)]
        for variable, (before, rate) in self.moving.items():
            values[variable] = domain.add(before, self._times(rounds, rate), 64)
            if variable.kind != "registers" or isinstance(before, Pointer):
                continue
            if rate < 0:  # a count down to 0
                spent = self._times(rounds, -rate)
                guesses += [domain.ult(spent, before, 64), domain.not_(domain.ult(before, spent, 64), 1)]
            elif rate:  # a count up to a limit
                guesses += [domain.ult(values[variable], limit, 64) for limit in self.limits]
                guesses += [domain.not_(domain.ult(limit, values[variable], 64), 1) for limit in self.limits]
        conditions = [domain.ult(rounds, MOST_BOARDS, 64), domain.not_(domain.ult(all_left, done, 64), 1)]
        first = domain.add(self.first, done, 64) if self.upward else self.first
        return LoopHead(values, conditions, domain.add(self.start, done, 64), first, left, guesses)

    def _times(self, number: Bits, rate: int) -> Bits:
        if rate < 0:
            return self.domain.sub(0, self._times(number, -rate), 64)
        if rate & (rate - 1) == 0:
            return self.domain.shl(number, rate.bit_length() - 1, 64) if rate else 0
        return self.domain.mul(number, rate, 64)


class Guesses:
    """A loop invariant of guesses alone, those about closures."""

    def head(self, _: Bits) -> LoopHead:
        """Return the head, at which nothing else is known."""
        return LoopHead({}, (), 0, 0, 0, ())


def guess(
    domain: Addresses, count: Bits, path: Path, backs: Sequence[Path], variables: Sequence[Variable]
) -> Invariant:
    """Return a guessed invariant for the head of `path`, from one iteration, which ends in `backs`.

    `count` is the number of boards in each array, `variables` are the parts of the state that the iteration changes.
    Raises Unsupported unless there are arrays and all `backs` write the same number of boards, at least one, and at the
    same end.
    """
    arrays = path.space.arrays
    (each, *unlike) = {_written(back) - _written(path) for back in backs}
    (upward, *ends) = {back.space.arrays.upward if back.space.arrays else None for back in backs}
    if arrays is None or unlike or ends or each < 1:
        raise Unsupported(f"no invariant is found for the loop at {path.offset:#x}: {_REMEDY}")
    moving = {}
    for variable in variables:
        if variable.is_word:
            before = get(path.state, variable)
            moves = {domain.distance(get(back.state, variable), before) for back in backs}
            step = moves.pop()
            if not moves and step is not None:
                moving[variable] = before, signed(step, 64)
    changing = {variable.key for variable in variables}
    unchanged = [value for name, value in path.state.registers.items() if ("registers", name) not in changing]
    limits = [value for value in unchanged if not isinstance(value, (int, Pointer))]
    start, first = (domain.add(done, _written(path), 64) for done in (arrays.frontier, arrays.first))
    return Invariant(domain, count, start, first if upward else arrays.first, upward, each, moving, limits)


def _written(path: Path) -> int:
    arrays = path.space.arrays
    return len(arrays.written) // len(arrays.results) if arrays else 0


@dataclass(slots=True)
class _Changes:
    """The parts of the state that iterations change: `variables`, and the keys of bytes that they discard, `lost`.

    `keys` are the leaves of both. An iteration does not preserve the invariant's values of the `forgotten` variables.
    """

    keys: set[Key] = field(default_factory=set)
    variables: list[Variable] = field(default_factory=list)
    forgotten: set[Variable] = field(default_factory=set)
    lost: set[Key] = field(default_factory=set)


class Loops:
    """Induction over loops on arrays, and over those that fill until nothing changes, by the specification's closures.

    `settle` verifies a path's writes and moves its frontier, or raises Unsupported.
    """

    def __init__(self, explorer: Explorer, settle: Callable[[Path], None], closures: Sequence[Closure] = ()) -> None:
        self.explorer, self.settle, self.closures = explorer, settle, closures
        self.domain = explorer.domain
        self.used = ""  # the invariant of the last loop that was proved, in words; empty if none was

    def enter(self, path: Path) -> Ways:
        """Return the paths that leave the loop at whose head `path` is, after any number of iterations, or Stops."""
        try:
            return self._enter(path)
        except SemanticsError as error:
            return [Stop(str(error))]

    def _enter(self, path: Path) -> Ways:
        head = path.offset
        if head in path.inside:
            raise Unsupported(f"enters the loop at {head:#x} again from an outer loop: nest none, or run setwise check")
        if path.space.arrays and path.space.arrays.start is not None:
            self.settle(path)
        once = path.fork(head, 1)
        once.inside |= {head}
        backs, rest = self._round(once)
        if not backs:
            return rest  # no path comes back to the head
        changes = _Changes()
        self._note(changes, path, backs)
        invariants: list[Invariant | Guesses] = [Guesses()]
        if not self.closures:
            found = guess(self.domain, self.explorer.case.count, path, backs, changes.variables)
            invariants = [replace(found, limits=()), found]  # conditions about limits are hard for the solver
        self.settle(path)
        if not self.explorer.possible(path):
            return []
        if not all(self.explorer.sure(path, claim) for _, claim in self._claims(path, invariants[-1].head(0))):
            raise Unsupported(f"no invariant is found for the loop at {head:#x}: {_REMEDY}")
        for tried in invariants:
            guesses = self._guesses(path, tried.head(0), changes)
            held = {at for at, one in enumerate(guesses) if self.explorer.sure(path, one)}
            for _ in range(_TRIES):
                kept = self._keeps(path, changes, tried, held)
                if kept is not None:
                    break
            if isinstance(kept, list):
                self.used = "the squares grow within the closure" if self.closures else _RISES
                return kept
        raise Unsupported(f"the loop at {head:#x}: {kept or f'no invariant is found: {_REMEDY}'}")

    def _keeps(
        self, path: Path, changes: _Changes, invariant: "Invariant | Guesses", held: set[int]
    ) -> Ways | str | None:
        """Return the paths that leave the loop if the invariant with the guesses `held` is inductive, else the reason.

        `held` are indices into `_guesses`. Returns None to ask for another attempt, after it has removed some of them
        or added to `changes`.
        """
        rounds = self.domain.unknown(f"rounds of loop {len(path.inside)}")
        before, after = invariant.head(rounds), invariant.head(self.domain.add(rounds, 1, 64))
        start = self._arbitrary(path, changes, before)
        guesses = self._guesses(start, before, changes)
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
        except Unsupported as error:
            return str(error)
        if self._note(changes, start, backs):
            return None
        if self.closures and not set.intersection(*(self._growing(start, back, changes) for back in backs)):
            return "it is not shown to end"
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
            guesses = self._guesses(back, after, changes)
            lost = {at for at in held if not self.explorer.sure(back, guesses[at])}
            held -= lost
            kept = kept and not lost
        return rest if kept else None

    def _note(self, changes: _Changes, start: Path, backs: Sequence[Path]) -> bool:
        """Add leaves that these iterations change to `changes`, but not `_OF_INVARIANT`. Return whether any is new.

        Raises Unsupported if one of them, such as rsp, may not be unknown at the head.
        """
        there = dict[Key, bool]()
        for back in backs:
            for key, is_there in changed(start.state, back.state).items():
                if key not in changes.keys and key[:2] != _OF_INVARIANT:
                    there[key] = there.get(key, True) and is_there
        for key, is_there in there.items():
            if key[1:] == ("rsp",) or not (key[0] in _FORGOTTEN or is_byte(key)):
                raise Unsupported("an iteration does not restore rsp: let it pop what it pushes")
            if not is_there:
                changes.lost.add(key)
        changes.keys |= there.keys()
        changes.variables += variables([key for key in there if there[key]], backs[0].state)
        return bool(there)

    def _claims(self, path: Path, head: LoopHead) -> list[tuple[Variable | None, Bits]]:
        """Return the conditions for a path to satisfy that head, each with the variable that it concerns or None."""
        claims: list[tuple[Variable | None, Bits]] = [(None, condition) for condition in head.conditions]
        if path.space.arrays is not None:
            claims.append((None, self._is_same(path.space.arrays.frontier, head.frontier)))
            claims.append((None, self._is_same(path.space.arrays.first, head.first)))
        claims += [(of, self._is_same(get(path.state, of), value)) for of, value in head.values.items()]
        return claims

    def _is_same(self, one: Bits, other: Bits) -> Bits:
        return 1 if self.domain.distance(one, other) == 0 else self.domain.eq(one, other, 64)

    def _guesses(self, path: Path, head: LoopHead, changes: _Changes) -> list[Bits]:
        """Return the guess that the zero flag says whether no board is left, the head's guesses, those on closures."""
        flag = path.state.flags.get("zf")
        tells = 0 if flag is None else self.domain.eq(flag(), self.domain.eq(head.left, 0, 64), 1)
        words = self._words(path, changes)
        return [tells, *head.guesses, *(guess for each in self.closures for guess in self._of_squares(each, words))]

    def _of_squares(self, closure: Closure, words: Sequence[Bits]) -> Iterator[Bits]:
        """Yield guesses on words that change: what they hold, what holds them, and which have had their step."""
        for word in words:
            yield closure.within(closure.start, word)
            yield closure.within(word, closure.word)
        for word, other in permutations(words[:_MOST_SETS], 2):
            yield closure.within(closure.after(word), other)
            rest = self.domain.and_(word, self.domain.not_(other, 64), 64)  # all but those that are new
            yield closure.within(closure.after(rest), word)

    def _words(self, path: Path, changes: _Changes) -> list[Bits]:
        words = [get(path.state, each) for each in changes.variables if each.is_word]
        return [0 if isinstance(word, Pointer) or word is None else word for word in words]

    def _growing(self, start: Path, back: Path, changes: _Changes) -> set[int]:
        """Return the words, as indices, to which an iteration that comes back has added squares, and removed none.

        A word that grows in each iteration cannot do so for ever.
        """
        domain, found = self.domain, set[int]()
        for at, pair in enumerate(zip(self._words(start, changes), self._words(back, changes), strict=True)):
            is_kept = domain.eq(domain.and_(*pair, 64), pair[0], 64)
            if self.explorer.sure(back, domain.and_(is_kept, domain.ne(*pair, 64), 1)):
                found.add(at)
        return found

    def _round(self, start: Path) -> tuple[list[Path], Ways]:
        """Run one iteration from the head. Return the paths that come back to it, and all other paths and Stops."""
        head, backs, rest = start.offset, list[Path](), Ways()
        for end in self.explorer.run(start, one_round=True):
            if isinstance(end, Path) and end.offset == head and not end.settles:
                backs.append(end)
            else:
                rest.append(end)
        return backs, rest

    def _arbitrary(self, path: Path, changes: _Changes, head: LoopHead) -> Path:
        """Return `path` before an arbitrary iteration: all `changes` are unknown, except for the invariant `head`."""
        start = path.fork(path.offset, 1)
        start.conditions, start.inside = (*path.conditions, *head.conditions), path.inside | {path.offset}
        space = start.space
        if space.arrays:
            # Begin a new round, because the conditions so far are about boards of earlier rounds.
            space.arrays = space.arrays.moved(head.frontier, head.first)
        for key in changes.lost:
            drop(start.state, key)
        for variable in changes.variables:
            value = None if variable in changes.forgotten else head.values.get(variable)
            if value is None:
                # Name it by the number of loops passed, not this loop's offset: similar loops share solver queries.
                value = self.domain.unknown(f"{variable.name} of loop {len(path.inside)}", variable.width)
            put(start.state, variable, value)
        smallest = (each.smallest(word) for word in self._words(start, changes) for each in self.closures)
        start.conditions = (*start.conditions, *smallest)
        return start
