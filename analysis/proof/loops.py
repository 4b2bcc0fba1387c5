"""Loops proved by one step, for all rounds at once: what holds at the head before each round, and why it ends.

A loop on an unknown condition is unrolled as long as another round is possible. Where that is often (a carry that may
walk through 64 bits) or without bound (an array of n boards) an invariant takes its place: `invariants` guesses some.
All of it is proved: it holds where the loop is entered, a round keeps it, and a number that has an end rises with every
round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from setwise.analysis.code.decode import Decoded, Mem, signed
from setwise.analysis.proof.invariants import (
    Invariant,
    InvariantSource,
    LoopHead,
    Variable,
    names_now,
    word_of,
    words_of,
)
from setwise.analysis.proof.memory import Byte, GapError, Round
from setwise.analysis.proof.pointers import Pointer
from setwise.analysis.proof.solver import Model
from setwise.analysis.proof.symbolic import Explorer, Path, Program, Stop, Ways
from setwise.analysis.semantics.domains import Bits, identical


class Loops:
    """Takes paths through loops by the step; `settle` closes a round over arrays, or raises GapError."""

    def __init__(self, explorer: Explorer, source: InvariantSource, settle: Callable[[Path], None]) -> None:
        self.explorer, self.source, self.settle = explorer, source, settle
        self.domain = explorer.domain
        self.used = ""

    def enter(self, path: Path) -> Ways:
        """The ways on from a loop's head, after any number of rounds; a Stop if no invariant is found."""
        head = path.offset
        if head in path.inside:
            return [Stop("comes back to a loop from another one", head, path)]
        once = path.fork(head, 1)
        once.inside |= {head}
        backs, rest = self._round(once)
        if not backs:
            return rest  # what looks like a loop is none where no path comes back
        variables = [*_variables(_body(self.explorer.code, head), path)]
        invariants = self.source.invariants(path, backs, variables)
        if path.space.arrays and backs[0].space.arrays:
            # All rounds count from the end that the first one chose: where no board is done both ends are true.
            path.space.arrays.upward = backs[0].space.arrays.upward
        try:
            self.settle(path)
        except GapError as error:
            return [Stop(str(error), head, path)]
        model = self.explorer.model(path)
        if model is None:
            return []
        why = f"no invariant is found for the loop at {head:#x}"
        for invariant in invariants:
            found = self._try(path, variables, invariant, model)
            if not isinstance(found, str):
                self.used = self.source.statement
                return found
            why = f"the loop at {head:#x}: {found}" if found else why
        return [Stop(why, head, path)]

    def _try(self, path: Path, variables: Sequence[Variable], invariant: Invariant, model: Model) -> Ways | str:
        """The ways on if this is an invariant, else what is wrong with it; nothing to say where it is wrong at once."""
        first = self._claims(path, invariant.at(invariant.first))
        if not all(model(condition, 1) for condition in first) or not self._sure(path, first):
            return ""
        why = ""
        telling = self._sure(path, [self._tells(path, invariant.at(invariant.first))])
        for tells in (True, False) if telling else (False,):
            found = self._keeps(path, variables, invariant, tells)
            if not isinstance(found, str):
                return found
            why = found
        return why

    def _keeps(self, path: Path, variables: Sequence[Variable], invariant: Invariant, tells: bool) -> Ways | str:
        """As `_try`, of what holds at first; with `tells` the zero flag is part of it."""
        number = len(path.inside)
        words = tuple(self.explorer.unknown(f"word {at} of loop {number}", 64) for at in range(len(invariant.first)))
        before = invariant.at(words)
        start = self._anew(path, variables, before)
        if tells:
            start.conditions = (*start.conditions, self._tells(start, before))
        backs, rest = self._round(start.fork(start.offset, 1))
        stop = next((end for end in rest if isinstance(end, Stop)), None)
        if stop is not None:
            return stop.complaint
        for back in backs:
            try:
                self.settle(back)
            except GapError as error:
                return str(error)
            if any(flag and not back.state.flags[name] for name, flag in start.state.flags.items()):
                return "a round leaves a flag undefined"
            if not self._unchanged(start, back, variables):
                return "a round changes what no instruction in it seems to change"
            after = invariant.at(invariant.next(back, words))
            if not self._sure(back, [self.domain.ult(before.rises, after.rises, 64)]):
                return "it is not shown to end"
            kept = self._claims(back, after)
            if not self._sure(back, [*kept, self._tells(back, after)] if tells else kept):
                return "a round does not keep the invariant"
        return rest

    def _claims(self, path: Path, head: LoopHead) -> list[Bits]:
        """What has to hold on this path if that is how it comes to the head."""
        claims = [*head.conditions]
        pairs = [(word_of(path, variable), value) for variable, value in head.values.items()]
        arrays = path.space.arrays
        if arrays is not None and head.frontier is not None:
            pairs.append((arrays.frontier, head.frontier))
        # What adding up shows needs no solver.
        claims += [self.domain.eq(*pair, 64) for pair in pairs if self.domain.distance(*pair) != 0]
        now = names_now(path, head.ahead) if head.ahead else {}
        for variable, words in head.made.items():
            for word, holds in zip(words, words_of(path, variable), strict=True):
                wanted = self.domain.renamed(word, now, 64)
                claims += [] if identical(wanted, holds) else [self.domain.eq(wanted, holds, 64)]
        return claims

    def _sure(self, path: Path, conditions: Sequence[Bits]) -> bool:
        """Whether all conditions hold on this path; asked one by one, for together sums are hard."""
        return all(self.explorer.sure(path, condition) for condition in conditions)

    def _tells(self, path: Path, head: LoopHead) -> Bits:
        """Whether the zero flag tells of what it may tell, as where a loop is entered before its test."""
        flag = path.state.flags.get("zf")
        return 0 if flag is None else self.domain.eq(flag(), self.domain.eq(head.zero, 0, 64), 1)

    def _round(self, start: Path) -> tuple[list[Path], Ways]:
        """The paths that come back to the head, and all others."""
        head = start.offset
        backs: list[Path] = []
        rest: Ways = []
        waiting: list[Path] = []

        def go_on(path: Path) -> None:
            for end in self.explorer.follow(path):
                if isinstance(end, Path):
                    waiting.append(end)
                else:
                    rest.append(end)

        go_on(start)
        while waiting:
            path = waiting.pop()
            if len(waiting) + len(backs) + len(rest) > self.explorer.limits.paths:
                return [], [Stop("takes too many paths", path.offset, path)]
            if path.offset == head:
                backs.append(path)
            elif path.offset in self.explorer.heads:
                rest.append(path)
            else:
                go_on(path)
        return backs, rest

    def _anew(self, path: Path, variables: Sequence[Variable], head: LoopHead) -> Path:
        """The head before any round: what the loop changes is unknown, but for the invariant."""
        start = path.fork(path.offset, 1)
        start.conditions, start.inside = (*path.conditions, *head.conditions), path.inside | {path.offset}
        state, space, unknown = start.state, start.space, self.explorer.unknown
        now: dict[Bits, Bits] = {}
        if head.frontier is not None and space.arrays:
            boards = {board: space.arrays.named(*board) for board in head.ahead}
            now = {before: boards[board] for board, before in head.ahead.items()}
            round_ = Round(space.arrays.round.number, ahead=boards)
            space.arrays = replace(space.arrays, frontier=head.frontier, round=round_)
        for variable in variables:
            # Not by the loop's offset, so that loops that are alike have their questions in common.
            name = f"{variable} of loop {len(path.inside)}"
            made = tuple(self.domain.renamed(word, now, 64) for word in head.made.get(variable, ()))
            if not isinstance(variable, tuple) and variable in state.vectors:
                state.vectors[variable] = made or tuple(unknown(f"{name}.{lane}", 64) for lane in range(8))
                continue
            held = (head.values[variable],) if variable in head.values else made
            (value,) = held or (unknown(name, _width(variable)),)
            if isinstance(variable, tuple):
                space.store(Pointer(space.stack, variable[0] % (1 << 64)), variable[1], value)
            else:
                state.registers[variable] = value
        lost = frozenset().union(
            *(instruction.flags_undefined for instruction in _body(self.explorer.code, path.offset))
        )
        for name, flag in state.flags.items():
            known = flag is not None and name not in lost
            state.flags[name] = partial(unknown, f"{name} of loop {len(path.inside)}", 1) if known else None
        return start

    def _unchanged(self, start: Path, back: Path, variables: Sequence[Variable]) -> bool:
        """Whether all but these variables is the same at the end of a round."""
        before, after = ({**path.state.registers, **path.state.vectors} for path in (start, back))
        registers = all(after[name] is value for name, value in before.items() if name not in variables)
        words = [variable for variable in variables if isinstance(variable, tuple)]
        known = {offset + at for offset, width in words for at in range(width // 8)}
        for base, cells in back.space.cells.items():
            content = start.space.cells[base].content
            changed = {at for at, byte in cells.content.items() if not _is_same(content.get(at), byte)}
            if changed - (known if base == start.space.stack else set()):
                return False
        return registers


def _is_same(one: Byte | None, other: Byte) -> bool:
    return one is not None and identical(one[0], other[0]) and one[1:] == other[1:]


def _width(variable: Variable) -> int:
    return variable[1] if isinstance(variable, tuple) else 64


def _body(code: Program, head: int) -> list[Decoded]:
    """The instructions from the head to the last branch back to it."""
    last = max(i.offset for i in code.instructions if i.target == head)
    return [i for i in code.instructions if head <= i.offset <= last]


def _variables(body: Sequence[Decoded], path: Path) -> Iterator[Variable]:
    """What these instructions write: registers, and words of the stack."""
    written = sorted(set().union(*(instruction.writes for instruction in body)))
    yield from (name for name in written if name in path.state.registers or name in path.state.vectors)
    found: set[tuple[int, int]] = set()
    for instruction in body:
        target = instruction.operands[0] if instruction.stores and instruction.operands else None
        if isinstance(target, Mem) and target.base is not None and target.index is None:
            address = path.state.registers.get(target.base.full)
            if isinstance(address, Pointer) and address.base == path.space.stack:
                offset = signed((address.offset + target.displacement) % (1 << 64), 64)
                each = min(64, target.bits)
                found |= {(offset + low // 8, each) for low in range(0, target.bits, each)}
    yield from sorted(found)
