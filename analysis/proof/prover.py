"""The prover: machine code against the specification, for all inputs.

`Prover.prove` decodes a routine's bytes and executes them symbolically (`symbolic`) by the table of semantics over
bit-vectors. It asks the solver for arguments within the contract on which a result is not the specification's, rsp or
a callee-saved register is not restored, or an access is outside the routine's memory. If there are none, the routine is
proved. Code that the prover cannot follow, or that takes too long, is not proved.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations, product

from setwise.analysis.code.decode import Binary, DecodeError
from setwise.analysis.code.section_layout import SectionLayout
from setwise.analysis.proof.certificate import Certificate, Counterexample
from setwise.analysis.proof.claims import Case, Claim, EntryUnknowns, claims, entry_state, results
from setwise.analysis.proof.concrete_execution import confirm_by_stepping, replayed
from setwise.analysis.proof.loops import MOST_BOARDS, Loops
from setwise.analysis.proof.memory import AliasUnknownError
from setwise.analysis.proof.parts import agree_by_parts, has_sum
from setwise.analysis.proof.pointers import Addresses, Pointer, same
from setwise.analysis.proof.reference import reference_results
from setwise.analysis.proof.solver import LimitError, Model, Solver
from setwise.analysis.proof.symbolic import CodeMap, Explorer, Path, Stop
from setwise.analysis.run.samples import mixed_samples, samples
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import MachineState, SemanticsError, Unsupported
from setwise.analysis.spec.closure import Closure
from setwise.analysis.spec.task import (
    BY_VALUE,
    Argument,
    ReferenceFunction,
    Task,
    TaskError,
    Written,
    assumptions,
    specified,
)

TIME_LIMIT = 60.0  # seconds of CPU time

# Numbers of boards for the search of counterexamples: up to three iterations of 8 boards each, two of 32, and a rest.
_FEW = (*range(10), 16, 17, 24, 31, 32, 64)
_MOST_ALIASED = 5  # most inputs for which all aliases with the result are tried
_DRAWN = 200  # inputs on which a fill that is not proved is tried
_FEW_PIECES = 3  # on each board of a readable counterexample


@dataclass(frozen=True, slots=True)
class _Failure:
    """The conditions under which a claim fails at the end of a path."""

    path: Path
    claim: Claim
    conditions: tuple[Bits, ...]


class Prover:
    """A prover of routines, one after the other, which reuses terms, specifications and answers.

    With `keep`, `solver.kept` collects the queries. Raises ModuleNotFoundError if bitwuzla is not installed.
    """

    def __init__(self, keep: bool = False) -> None:
        self.domain = Addresses()
        self.solver = Solver(self.domain, [] if keep else None)
        self._entry, self._other = EntryUnknowns(self.domain), EntryUnknowns(self.domain)
        self._specified: dict[tuple[object, ...], list[Bits]] = {}
        self._closures: dict[int, list[Closure]] = {}  # those in a specification's results, by the list of results
        self._done: dict[tuple[Binary, SectionLayout | None, Task], Certificate] = {}

    def prove(self, binary: Binary, task: Task, time_limit: float = TIME_LIMIT) -> Certificate:
        """Return the certificate of a routine. After `time_limit` seconds of CPU time it says "not proved".

        Equal bytes with an equal task are proved or refuted once; then the certificate is given again, with costs of 0.
        """
        known = self._done.get((binary, binary.layout, task))
        if known is not None:
            return replace(known, seconds=0.0, questions=0)
        start, asked = time.thread_time(), self.solver.asked
        self.solver.limit(time_limit)
        try:
            certificate = self._certificate(CodeMap(binary), task)
        except (DecodeError, LimitError, SemanticsError, TaskError) as error:
            certificate = Certificate("not proved", binary, task, str(error))
        spent, questions = time.thread_time() - start, self.solver.asked - asked
        certificate = replace(certificate, solver=self.solver.name, questions=questions, seconds=spent)
        if certificate.status != "not proved":
            self._done[binary, binary.layout, task] = certificate
        return certificate

    def _certificate(self, code: CodeMap, task: Task) -> Certificate:
        blank = Certificate("proved", code.binary, task)
        if any(isinstance(requirement, Written) for requirement in task.requires):
            inputs = (case.lane(0) or [self._word(board, 0) for board in task.elements] for case in self._cases(task))
            assumed = (assumptions(task, self.domain, words) for words in inputs)
            if not any(self.solver.possible(each, about="the requirements are met") for each in assumed):
                required = " and ".join(map(str, task.requires))
                return replace(blank, status="not proved", reason=f"no input meets the requirements: {required}")
        certificate = self._all_cases(code, self._cases(task), blank)
        if certificate.status == "not proved" and (task.elements or self.domain.closures):
            # Without an invariant, arrays of few boards or known words may still show an error.
            drawn = mixed_samples(task, _DRAWN)
            cases = self._few(task) if task.elements else (_known(task, words) for words in drawn)
            certificate = self._refutation(code, cases, blank) or certificate
        return certificate

    def _all_cases(self, code: CodeMap, cases: Iterable[Case], certificate: Certificate) -> Certificate:
        waiting = [*cases][::-1]
        while waiting and certificate.status == "proved":
            case = waiting.pop()
            try:
                certificate = self._prove_case(code, case, certificate)
            except AliasUnknownError as error:
                inputs = range(len(case.task.elements))
                if len(inputs) > _MOST_ALIASED:
                    return replace(certificate, status="not proved", reason=str(error))
                for number in range(len(inputs) + 1):
                    waiting += [replace(case, alias=alias, apart=True) for alias in combinations(inputs, number)]
        return certificate

    def _refutation(self, code: CodeMap, cases: Iterable[Case], blank: Certificate) -> Certificate | None:
        """Return the first refutation among these cases, none of which needs an invariant; None if there is none."""
        for case in cases:
            certificate = self._prove_case(code, case, blank)
            if certificate.status == "refuted":
                return certificate
        return None

    def _cases(self, task: Task) -> Iterator[Case]:
        """Yield one case for arrays, else one for each combination of squares and directions (those above 8 as one)."""
        if task.elements:
            yield Case(task, (), self.domain.unknown("number of boards"), apart=len(task.results) > 1)
            return
        choices: list[list[tuple[Bits, ...]]] = []
        for argument in task.words:
            if argument.kind in BY_VALUE and 0 < argument.below <= 64:
                choices.append([(value,) for value in range(argument.below)])
            elif argument.kind == "direction9":
                choices.append([*((value,) for value in range(9)), (self._word(argument, 0),)])
            else:
                choices.append([tuple(self._word(argument, lane) for lane in range(argument.place.lanes))])
        for words in product(*choices):
            yield Case(task, words)

    def _few(self, task: Task) -> Iterator[Case]:
        """Yield cases of arrays with known numbers of boards, with the result separate or in place of one input.

        Several results are always separate.
        """
        inputs = range(len(task.elements) if len(task.results) == 1 else 0)
        for count in _FEW:
            words = tuple(tuple(self._word(board, lane) for lane in range(count)) for board in task.elements)
            for alias in ((), *((number,) for number in inputs)):
                yield Case(task, words, count, alias)

    def _word(self, argument: Argument, lane: int) -> Bits:
        return self.domain.unknown(argument.name if lane == 0 else f"{argument.name}.{lane}")

    def _expected(self, task: Task, words: Sequence[Bits]) -> list[Bits]:
        """Return the specification's results for these words, and remember them."""
        function = task.specification
        if isinstance(function, ReferenceFunction):
            key: tuple[object, ...] = (task, *words)
            if key not in self._specified:
                assumed, case = assumptions(task, self.domain, words), Case(task, tuple((word,) for word in words))
                self._specified[key] = reference_results(self.solver, self._other, function, case, assumed)
            return self._specified[key]
        key = (function, task.direction, task.numbering, task.kinds, *words)
        if key not in self._specified:
            before = len(self.domain.closures)
            self._specified[key] = found = specified(task, self.domain, words)
            self._closures[id(found)] = self.domain.closures[before:]
        return self._specified[key]

    def _closures_of(self, case: Case) -> list[Closure]:
        """Return the closures of the specification. Raises TaskError if one is of a step that cannot have a closure."""
        if case.task.elements or not isinstance(case.task.specification, Written):
            return []
        expected = [self._expected(case.task, case.lane(lane)) for lane in range(case.lanes)]
        closures = [each for words in expected for each in self._closures.get(id(words), ())]
        if any(self.solver.possible(each.decreases, about="a step of more squares has fewer") for each in closures):
            raise TaskError("a closure needs a step that has, from more squares, all squares that it has from fewer")
        return closures

    def _prove_case(self, code: CodeMap, case: Case, so_far: Certificate) -> Certificate:
        self.solver.begin()
        task, by_induction = case.task, bool(case.task.elements) and not isinstance(case.count, int)
        assumed = [assumptions(task, self.domain, case.lane(lane)) for lane in range(case.lanes)]
        together = [assumption for lane in assumed for assumption in lane]
        for argument, words in zip(task.words, case.words, strict=False):
            if argument.kind == "direction9" and not isinstance(words[0], int):
                together.append(self.domain.ult(8, words[0], 64))  # 0 to 8 are separate cases
        if by_induction:
            together.append(self.domain.ult(case.count, MOST_BOARDS, 64))
        closures = self._closures_of(case)
        together += [fact for each in closures for fact in each.facts]
        explorer = Explorer(self.solver, code, self._entry, case, together)
        loops: Loops | None = None
        if by_induction or closures:
            loops = Loops(explorer, partial(self._settle, explorer), closures)
            explorer.heads, explorer.through, explorer.settle = code.heads, loops.enter, loops.settle
        else:
            explorer.endless = partial(self._is_endless, case, so_far)
        try:
            ends = explorer.run(Path(entry_state(self._entry, code.image, case), 0))
        finally:
            explorer.through = explorer.endless = explorer.settle = None  # break the reference cycle with the explorer
        so_far = replace(
            so_far,
            cases=so_far.cases + 1,
            paths=so_far.paths + len(ends),
            rounds=max(so_far.rounds, explorer.most_rounds),
            induction=loops.used if loops and loops.used else so_far.induction,
        )
        for end in ends:
            if isinstance(end, Stop):
                if end.model is None or loops is not None:
                    # A state that satisfies an invariant may be unreachable, so it refutes nothing.
                    return replace(so_far, status="not proved", reason=end.complaint)
                return self._stopped(case, end.complaint, end.model, so_far)
        paths = [end for end in ends if isinstance(end, Path)]
        if not paths and self.solver.possible(explorer.assumptions, about="a case is possible"):
            return replace(so_far, status="not proved", reason="no path returns")
        try:
            for path in paths:
                self._settle(explorer, path)
        except Unsupported as error:
            return replace(so_far, status="not proved", reason=str(error))
        failures = list(self._failures(explorer, paths, assumed))
        if any(failure.claim.lane is not None for failure in failures) and loops is None and self._is_sum(case):
            # Try known words first: a solver cannot easily invert chains of additions.
            known = (_known(task, words) for words in samples(task))
            refuted = self._refutation(code, known, so_far)
            if refuted is not None:
                return refuted
        for questions in self._questions(failures, one_by_one=loops is not None):
            if self._is_possible(questions):
                if loops is not None:
                    return replace(so_far, status="not proved", reason=questions[0].claim.complaint)
                refutation = self._refuted(case, questions, explorer.assumptions, so_far)
                if refutation is not None:
                    return refutation
        return so_far

    def _failures(
        self, explorer: Explorer, paths: Sequence[Path], assumed: Sequence[Sequence[Bits]]
    ) -> Iterator[_Failure]:
        case, straight = explorer.case, len(paths) == 1 and not paths[0].conditions
        expected = [
            None if straight and self._adds_up(case, paths[0], lane) else self._expected(case.task, case.lane(lane))
            for lane in range(case.lanes)
        ]
        made = [(path, claims(self._entry, case, path.state, expected)) for path in paths]
        for path, claim in [(path, claim) for path, each in made for claim in each if not same(claim.differs, 0)]:
            # In straight-line code a lane is independent of the others.
            alone = claim.lane is not None and not path.conditions
            needed = assumed[claim.lane or 0] if alone else explorer.assumptions
            yield _Failure(path, claim, (*needed, *path.conditions, claim.differs))

    def _is_sum(self, case: Case) -> bool:
        """Return whether a result of the specification is a sum; False for arrays and for known words."""
        if case.task.elements or all(isinstance(word, int) for word in case.lane(0)):
            return False
        return has_sum(self.domain, self._expected(case.task, case.lane(0)))

    def _adds_up(self, case: Case, path: Path, lane: int) -> bool:
        """Return whether a result is a sum and a lane's results are proved by parts. If not, their claims decide."""
        if not self._is_sum(case):
            return False
        words = case.lane(lane)
        got, expected = results(case, path.state, lane), self._expected(case.task, words)
        return agree_by_parts(self.solver, case.task, words, got, expected)

    def _questions(self, failures: Sequence[_Failure], one_by_one: bool) -> Iterable[list[_Failure]]:
        """Group the failures into solver queries: by lane, or with `one_by_one` one failure in each."""
        groups: dict[int | None, list[_Failure]] = {}
        for number, failure in enumerate(failures):
            groups.setdefault(number if one_by_one else failure.claim.lane, []).append(failure)
        return groups.values()

    def _is_possible(self, failures: Sequence[_Failure]) -> bool:
        """Return whether one of these claims can fail."""
        about = " or ".join(dict.fromkeys(failure.claim.complaint for failure in failures))
        if len(failures) == 1:
            return self.solver.possible(failures[0].conditions, sums=failures[0].claim.lane is None, about=about)
        return self.solver.possible([self._any(failure.conditions for failure in failures)], about=about)

    def _settle(self, explorer: Explorer, path: Path) -> None:
        """Verify the boards written and accesses made since the frontier moved, then move it; or raise Unsupported."""
        task, arrays = explorer.case.task, path.space.arrays
        if arrays is None or not arrays.touched:
            return
        written, domain = arrays.written, self.domain
        boards = sorted({place for place, _ in written})
        if boards != list(range(len(boards))) or len(written) != len(boards) * len(arrays.results):
            raise Unsupported(f"an iteration must write the next boards without gaps, not {boards}: run setwise check")
        left = room = domain.sub(arrays.count, arrays.frontier, 64)
        if arrays.start is not None:  # the round is from there to the last board
            room = domain.sub(domain.add(arrays.first, left, 64), domain.shr(arrays.start, 3, 64), 64)
        farthest = dict[Bits, int]()
        for place, touched in arrays.touched.items():
            farthest[touched] = max(place, farthest.get(touched, 0))
        for touched, place in farthest.items():
            if not explorer.sure(path, domain.or_(domain.not_(touched, 1), domain.ult(place, room, 64), 1)):
                raise Unsupported("an iteration may access elements past the end of an array: test the index before")
        plain = [self._word(board, 0) for board in task.elements]
        assumed = assumptions(task, domain, plain)
        for (place, number), (value, wanted) in written.items():
            # Rename to single boards, so that equal queries are asked once for all boards.
            words = [arrays.board(domain, name, place) for name in arrays.inputs]
            swap = dict([*zip(words, plain, strict=True), *zip(plain, words, strict=True)])
            if len({*arrays.inputs}) < len(words):  # one array serves two inputs, whose names cannot be exchanged
                swap, assumed, plain = {}, assumptions(task, domain, words), words
            differs = domain.ne(domain.renamed(value, swap, 64), self._expected(task, plain)[number], 64)
            where = domain.renamed(wanted, swap, 1)
            if self.solver.possible([*assumed, where, differs], about="an iteration writes a wrong board"):
                raise Unsupported("an iteration may write a wrong board: run setwise check")
        done: Bits = len(boards)
        for (place, _), (_, wanted) in written.items():
            if not isinstance(wanted, int):  # a write under a mask, which must select exactly the boards that exist
                if not explorer.sure(path, domain.eq(wanted, domain.ult(place, room, 64), 1)):
                    raise Unsupported("an iteration's write mask may omit a board: mask off only those past the end")
                done = domain.ite(domain.ult(room, len(boards), 64), room, len(boards), 64)
        first = domain.add(arrays.first, done, 64) if arrays.upward else arrays.first
        if arrays.start is not None:
            is_whole = domain.eq(domain.extract(arrays.start, 0, 3, 64), 0, 3)
            ends = [is_whole, domain.eq(done, room, 64), domain.not_(domain.ult(left, room, 64), 1)]
            if not explorer.sure(path, domain.conjunction(ends)):
                raise Unsupported("boards in the middle of an array may be done before others: run setwise check")
            done, first = room, arrays.first
        path.space.arrays = arrays.moved(domain.add(arrays.frontier, done, 64), first)

    def _any(self, each: Iterable[Sequence[Bits]]) -> Bits:
        return reduce(lambda one, other: self.domain.or_(one, other, 1), map(self.domain.conjunction, each), 0)

    def _refuted(
        self, case: Case, failures: Sequence[_Failure], together: Sequence[Bits], so_far: Certificate
    ) -> Certificate | None:
        """Return the certificate after a replay of one failure, or None if the assumptions `together` exclude all."""
        lane = failures[0].claim.lane or 0
        conditions = [*together, self._any([failure.conditions for failure in failures])]
        readable = _wishes(self.domain, case.task, case.lane(lane))
        model = self.solver.pleasing(conditions, readable, about="a claim fails, readably")
        if model is None:
            return None
        end = next(failure for failure in failures if model(self.domain.conjunction(failure.conditions), 1))
        example = self._counterexample(case, lane, model, end.claim.complaint, end.path.state)
        given = [
            self.domain.eq(word, value, 64)
            for (_, values), words in zip(example.inputs, case.words, strict=True)
            for word, value in zip(words, values, strict=True)
        ]
        given += [self.domain.eq(word, example.registers[name], 64) for name, word in self._entry.words()]
        right = self.domain.not_(self.domain.conjunction([*end.path.conditions, end.claim.differs]), 1)
        anywhere = not self.solver.possible([*given, right], about="it is right from this state")
        example = replace(example, anywhere=anywhere)
        return confirmed(replace(so_far, status="refuted", reason=end.claim.complaint, counterexample=example))

    def _is_endless(self, case: Case, so_far: Certificate, model: Model) -> bool:
        """Return whether a replay of the model confirms that the code returns no results."""
        confirmation = self._stopped(case, "never returns", model, so_far).confirmation
        return confirmation is not None and not confirmation.got

    def _stopped(self, case: Case, what: str, model: Model, so_far: Certificate) -> Certificate:
        example = self._counterexample(case, 0, model, what, None)
        return confirmed(replace(so_far, status="refuted", reason=what, counterexample=example))

    def _counterexample(
        self, case: Case, lane: int, model: Model, what: str, state: MachineState | None
    ) -> Counterexample:
        """Return the counterexample of a model, with the complaint `what`. `state` is the state on return, or None.

        The expected results are recomputed over integers. Raises TaskError if the model gives others for them.
        """
        task, words = case.task, case.words
        inputs = tuple(
            (argument.name, tuple(model(word, 64) for word in lanes))
            for argument, lanes in zip(task.words, words, strict=True)
        )
        registers = {name: model(value, 64) for name, value in self._entry.words()}
        alias = case.alias[0] if case.alias else None
        found = Counterexample(what, inputs, lane, (), (), registers, alias=alias, runs=state is not None)
        if not case.lanes:
            return found
        expected = tuple(model(word, 64) for word in self._expected(task, case.lane(lane)))
        function, what = task.specification, "the specification does not give equal results twice"
        if isinstance(function, ReferenceFunction):
            what = f"{function} depend on addresses, or on more than its arguments"
            registers = {name: model(value, 64) for name, value in self._other.words()}
            again = replayed(function.binary, task, replace(found, expected=expected, registers=registers))
        else:
            again = task.expected([lanes[min(lane, len(lanes) - 1)] for _, lanes in inputs])
        if again != expected:
            raise TaskError(f"{what}: let it depend on its arguments alone")
        made = [] if state is None else results(case, state, lane)
        return replace(
            found, expected=expected, got=tuple(0 if isinstance(word, Pointer) else model(word, 64) for word in made)
        )


def _known(task: Task, words: Sequence[int]) -> Case:
    return Case(task, tuple((word,) for word in words))


def confirmed(refuted: Certificate) -> Certificate:
    """Return the refutation with a replay that confirms it; if it is not confirmed, a certificate "not proved"."""
    confirmation = confirm_by_stepping(refuted)
    if confirmation.status == "confirmed":
        return replace(refuted, confirmation=confirmation)
    reason = f"{refuted.reason} according to the solver, {confirmation.description}"
    return replace(refuted, status="not proved", reason=reason, counterexample=None)


def _wishes(domain: Addresses, task: Task, words: Sequence[Bits]) -> Iterator[Bits]:
    """Yield properties of a readable counterexample as one-bit conditions, in order of priority.

    `words` are the arguments. Boards should have few pieces, on low squares, and mailboxes few.
    """
    unknown = [(argument, word) for argument, word in zip(task.words, words, strict=False) if not isinstance(word, int)]
    words_are_boards = bool(task.blocks) or isinstance(task.specification, ReferenceFunction)
    sliders: Bits = 0
    boards: list[Bits] = []
    for argument, word in unknown:
        if argument.kind == "board":
            sliders = domain.or_(sliders, word, 64)
        if argument.kind in ("board", "leapers") or (argument.kind == "word" and words_are_boards):
            boards.append(word)
    for argument, word in unknown:
        if argument.kind in ("empty", "occupied"):
            blockers = domain.not_(word, 64) if argument.kind == "empty" else word
            boards.append(domain.and_(blockers, domain.not_(sliders, 64), 64))
    for word in boards:
        fewer = word
        for _ in range(_FEW_PIECES):
            yield domain.eq(fewer, 0, 64)
            fewer = domain.and_(fewer, domain.sub(fewer, 1, 64), 64)
    for argument, word in unknown:
        if argument.kind == "empty":
            yield domain.eq(domain.and_(word, sliders, 64), 0, 64)
            # If some slider must be on an empty square, all of them should be.
            yield domain.eq(domain.and_(domain.not_(word, 64), sliders, 64), 0, 64)
            boards.append(domain.and_(word, sliders, 64))
    for word in boards:
        for square in reversed(range(64)):
            yield domain.eq(domain.and_(word, 1 << square, 64), 0, 64)
    mailboxes = {block.name for block in task.blocks if block.is_mailbox}
    for word in (word for argument, word in unknown if argument.place.block in mailboxes):
        for square in range(8):
            yield domain.eq(domain.extract(word, 8 * square, 8, 64), _free(task.pieces), 8)


def _free(pieces: str) -> int:
    """Return the value of a square without a piece."""
    return pieces.index(".") if "." in pieces else len(pieces)
