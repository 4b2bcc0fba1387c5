"""Symbolic execution of all paths of a routine's decoded bytes, from entry to return.

A branch on an unknown condition forks if the solver finds both directions possible. So a loop is unrolled until
another iteration is impossible, which proves its bound, unless `through` uses an invariant. A jump through a table is
followed to each target. Every path returns to its caller, or ends in a Stop with a complaint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, decode, decode_from, signed
from setwise.analysis.proof.claims import Case, EntryUnknowns, places
from setwise.analysis.proof.image import MemoryImage
from setwise.analysis.proof.memory import Space, UndecidedError
from setwise.analysis.proof.path_state import fork
from setwise.analysis.proof.pointers import Addresses, Pointer
from setwise.analysis.proof.solver import Model, Solver
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.libc import library_function
from setwise.analysis.semantics.state import ContractViolation, Goto, MachineState, SemanticsError, Unsupported
from setwise.analysis.semantics.table import execute

RETURNED = -(1 << 64)
"""The offset of a path that returned to its caller; no address has it."""
MOST_PATHS = 2000
MOST_STEPS = 20_000  # most instructions between forks, and in a replay
_MOST_ROUNDS = 80  # most times that a path takes one backward branch on an unknown condition
_SUSPECT = 12  # such times, more than any fill needs, after which a replay shows whether the loop is endless
_CHOICES = 256  # most values of an unknown address that are followed


@dataclass(slots=True)
class Path:
    """A path through the code: the state, the offset of the next instruction, and the path condition."""

    state: MachineState
    offset: int
    conditions: tuple[Bits, ...] = ()
    rounds: dict[int, int] = field(default_factory=dict)
    """The number of times that each branch on an unknown condition went back, by the offset of the branch."""
    inside: frozenset[int] = frozenset()
    """The heads of the loops that this path passed through by an invariant."""
    witness: Model | None = None
    """A model of the path condition, or of an earlier one with fewer conditions."""
    settles: bool = False
    """Whether the frontier of the arrays must move before the path can continue."""

    @property
    def space(self) -> Space:
        """The path's memory."""
        return cast(Space, self.state.memory)

    def fork(self, offset: int, condition: Bits) -> Path:
        """Return a copy of the path that continues at an offset under an additional condition."""
        conditions = (*self.conditions, condition)
        return replace(self, state=fork(self.state), offset=offset, conditions=conditions, rounds=dict(self.rounds))


@dataclass(frozen=True, slots=True)
class Stop:
    """A path that did not return; `complaint` says why.

    With a model it is a contract violation, which that model reaches. Without one the prover cannot follow or gives up.
    """

    complaint: str
    model: Model | None = None


Ways = list[Stop | Path]
"""Paths to continue, paths that returned to their caller, whose offset is RETURNED, and reasons to stop."""


class CodeMap:
    """The decoded instructions by offset. Other offsets are decoded when a path reaches them."""

    def __init__(self, binary: Binary) -> None:
        self.binary, self.image = binary, MemoryImage(binary)
        self.instructions = decode(binary.text)
        layout = binary.layout
        self._at = {each.offset: each for each in self.instructions if self._is_inside(each)}
        self._at |= {at: library_function(name, at) for at, name in (layout.library if layout else ())}
        others = dict(layout.branches if layout else ())
        ways = [(i.offset, others.get(i.offset, i.target)) for i in self.instructions if i.flow != "call"]
        self.heads = frozenset(target for offset, target in ways if target is not None and target <= offset)
        """The targets of backward branches."""

    def at(self, offset: int) -> Decoded:
        """Return the instruction at an offset. Raises SemanticsError if there is none or a linker sets its bytes."""
        if offset not in self._at:
            part = self.image.part(offset)
            if part is None:
                where = f"offset {signed(offset % (1 << 64), 64):#x}"
                if self.binary.layout is None:
                    raise ContractViolation(f"leaves its code, to {where}")
                what = f"continues at {where}, outside the function's bounds in the file"
                raise Unsupported(f"{what}: let each path return within them")
            try:
                found = next(decode_from(self.binary.text[: part.end], offset))
            except DecodeError as error:
                what = f"continues at offset {offset:#x}, which holds no valid instruction"
                raise ContractViolation(what) from error
            if self.image.unknown.overlaps(offset, found.end):
                what = f"jumps to bytes at offset {offset:#x} that a linker sets: give the linked program"
                raise Unsupported(what)
            self._at[offset] = found
        return self._at[offset]

    def _is_inside(self, instruction: Decoded) -> bool:
        part = self.image.part(instruction.offset)
        return part is not None and instruction.end <= part.end


class Explorer:
    """An exploration of all paths of `code` in one case, under `assumptions` and those about addresses of bases."""

    def __init__(
        self, solver: Solver, code: CodeMap, entry: EntryUnknowns, case: Case, assumptions: Sequence[Bits]
    ) -> None:
        self.solver, self.code, self.entry, self.case = solver, code, entry, case
        self.domain: Addresses = solver.domain
        self.assumed = tuple(assumptions)
        self._flattened, self._placed = 0, tuple[Bits, ...]()
        self.most_rounds = 0  # the largest number in any `Path.rounds`
        self.heads: frozenset[int] = frozenset()  # offsets at which `through` takes over
        self.endless: Callable[[Model], bool] | None = None  # returns whether the code runs forever under a model
        self.through: Callable[[Path], Ways] | None = None  # returns the paths that leave the loop at a path's head
        self.settle: Callable[[Path], None] | None = None  # verifies a path's writes to arrays and moves its frontier

    def run(self, start: Path, one_round: bool = False) -> Ways:
        """Return the ends of all paths from `start`, or those found up to the first Stop.

        With `one_round`, `start` is at a loop's head, paths to a head and those with `settles` are ends too, and a Stop
        does not end the search.
        """
        waiting: Ways = self.follow(start) if one_round else [start]
        ends: Ways = []
        while waiting:
            path = waiting.pop()
            if isinstance(path, Stop):
                ends.append(path)
                if not one_round:
                    return ends
            elif path.offset == RETURNED or (one_round and (path.settles or path.offset in self.heads)):
                ends.append(path)
            elif len(waiting) + len(ends) >= MOST_PATHS:
                return [*ends, Stop("takes too many paths")]
            else:
                through = self.through if path.offset in self.heads else None
                waiting += (through or self.follow)(path)
        return ends

    def follow(self, path: Path) -> Ways:
        """Execute until the path ends, forks or reaches one of `heads`. Return its successors, none if impossible."""
        for _ in range(MOST_STEPS):
            try:
                try:
                    after = self.step(path)
                except UndecidedError as error:
                    after = self._decide(path, error)
                    if after is None:
                        continue  # try the instruction again
            except SemanticsError as error:
                return self._stopped(path, error)
            if after is not None:
                return after
            if path.offset in self.heads:
                return [path]
        return [self._runs_on(path) or Stop(f"has not returned after {MOST_STEPS} instructions")]

    @property
    def assumptions(self) -> tuple[Bits, ...]:
        """All assumptions, including those about the addresses of bases that occur in terms."""
        if len(self.domain.flattened) != self._flattened:
            self._flattened = len(self.domain.flattened)
            self._placed = tuple(places(self.domain, self.code.image, self.case, self.domain.flattened))
        return (*self.assumed, *self._placed)

    def possible(self, path: Path, *more: Bits) -> bool:
        """Return whether some assignment of the unknowns takes this path under the additional conditions."""
        return self.model(path, *more) is not None

    def sure(self, path: Path, condition: Bits) -> bool:
        """Return whether the condition holds on this path for all unknowns."""
        if isinstance(condition, int):
            return bool(condition) or not self.possible(path)
        known = any(term is condition or (not isinstance(term, int) and term == condition) for term in path.conditions)
        fails = self.domain.not_(condition, 1)
        return known or self.model(path, fails, about="a required condition fails on a path") is None

    def model(self, path: Path, *more: Bits, about: str = "a path goes this way") -> Model | None:
        """Return a model that takes this path under the additional conditions, or None. `about` describes the query."""
        conditions = (*self.assumptions, *path.conditions, *more)
        witness = path.witness
        if witness is not None and all(witness(condition, 1) for condition in conditions):
            return witness
        path.witness = self.solver.model(conditions, sums=True, about=f"{about} at {path.offset:#x}") or witness
        return path.witness if path.witness is not witness else None

    def step(self, path: Path) -> Ways | None:
        """Execute one instruction. Return None if the path simply continues, else its successors."""
        self.solver.check()
        if path.settles and self.settle is not None:
            path.settles = False
            self.settle(path)
        instruction, space = self.code.at(path.offset), path.space
        path.state.base = self.code.image.start(path.offset)
        goto = execute(instruction, path.state)
        while space.must:
            condition, what = space.must.pop()
            if self.sure(path, condition):
                continue
            model = self.model(path, self.domain.not_(condition, 1))
            return [Stop(f"{instruction.title} {what}", model)]
        if goto is None or (isinstance(goto.condition, int) and goto.condition == 0):
            path.offset = instruction.end
            return None
        if goto.condition is None or isinstance(goto.condition, int):
            return self._jump(path, goto.place)
        return self._branch(path, instruction, goto)

    def _branch(self, path: Path, instruction: Decoded, goto: Goto) -> Ways:
        condition, place = goto.condition, goto.place
        if not isinstance(place, Pointer):
            raise Unsupported("branches to an address outside the code")
        ways = ((instruction.end, self.domain.not_(condition, 1)), (self.code.image.offset(place), condition))
        forks = [fork for fork in (path.fork(offset, taken) for offset, taken in ways) if self.possible(fork)]
        for way in forks:
            if way.offset <= instruction.offset:
                rounds = way.rounds[instruction.offset] = way.rounds.get(instruction.offset, 0) + 1
                self.most_rounds = max(self.most_rounds, rounds)
                if rounds in (_SUSPECT, _MOST_ROUNDS) and (stop := self._runs_on(way)):
                    return [stop]
                if rounds > _MOST_ROUNDS:
                    what = f"the loop back to {way.offset:#x} is not shown to end within {rounds - 1} iterations"
                    raise Unsupported(f"{what}: run setwise check")
        return [*forks]

    def _jump(self, path: Path, place: Bits) -> Ways | None:
        if place is self.entry.back:
            path.offset = RETURNED
            return [path]
        if isinstance(place, Pointer) and place.base in self.code.image.codes:
            if place.index is None:
                path.offset = self.code.image.offset(place)
                return None
            return [
                path.fork(self.code.image.offset(Pointer(place.base, (place.offset + value) % (1 << 64))), condition)
                for value, condition in self._values(path, place.index)
            ]
        outside = "goes to an address outside its code"
        if isinstance(place, int) or (isinstance(place, Pointer) and place.index is None):
            raise ContractViolation(outside)
        what = outside if isinstance(place, Pointer) else "returns to an address that is not its caller's"
        address = self.domain.flat(place)
        same = self.domain.eq(address, self.entry.back, 64)
        if self.sure(path, same):
            path.offset = RETURNED
            return [path]
        try:
            path.offset = self.code.image.offset(path.space.known_pointer(address, self.code.image.codes, what, same))
        except UndecidedError as error:
            self._decide(path, error)
            return self._jump(path, place)
        return None

    def _decide(self, path: Path, undecided: UndecidedError) -> Ways | None:
        """Record on the path a word that has the same value for all unknowns and return None, or raise the error.

        If there is none, the path may go on elsewhere in the arrays: settle it first, or begin a round there.
        With `undecided.split`, return a fork here for each value of the first word; or a Stop if one is not allowed.
        """
        if not undecided.split:
            model = self.model(path)
            if model is not None:
                for word in undecided.words:
                    value = model(word, 64)
                    if self.sure(path, self.domain.eq(word, value, 64)):
                        path.space.facts[word] = value
                        return None
            arrays = path.space.arrays
            if self.settle is not None and arrays is not None and arrays.written:
                path.settles = True
                return [path]
            if arrays is not None and not arrays.touched and arrays.start is None and undecided.start is not None:
                arrays.start = undecided.start
                return None
            raise undecided
        outside = self.model(path, self.domain.not_(undecided.allowed, 1))
        if outside is not None:
            return [Stop(str(undecided), outside)]
        word, forks = undecided.words[0], list[Path]()
        for value, condition in self._values(path, word):
            forks.append(path.fork(path.offset, condition))
            forks[-1].space.facts[word] = value
        return [*forks]

    def _values(self, path: Path, index: Bits) -> list[tuple[int, Bits]]:
        """Return every value that an index can have on this path, each with the condition that the index equals it."""
        found: list[tuple[int, Bits]] = []
        while (model := self.model(path, *(self.domain.not_(one, 1) for _, one in found))) is not None:
            if len(found) == _CHOICES:
                why = f"uses an address with more than {_CHOICES} possible values at offset {path.offset:#x}"
                raise Unsupported(f"{why}: run setwise check")
            value = model(index, 64)
            found.append((value, self.domain.eq(index, value, 64)))
        return found

    def _runs_on(self, path: Path) -> Stop | None:
        """Return a Stop if a replay shows that the code never returns on this path, else None."""
        model = self.model(path) if self.endless is not None else None
        if model is not None and self.endless is not None and self.endless(model):
            return Stop("never returns", model)
        return None

    def _stopped(self, path: Path, error: SemanticsError) -> Ways:
        """Return a Stop, with a model if the error can violate the contract; an empty list for an impossible path."""
        model = self.model(path, self.domain.not_(error.allowed, 1))
        return [Stop(str(error), model)] if model or self.possible(path) else []
