"""Questions to bitwuzla.

Why bitwuzla: it is made for bit-vectors, blasts them to a SAT problem after rewriting, answers these questions in
milliseconds, installs from PyPI with 2.5 MB and no dependencies, and carries a licence (MIT) like ours. z3 answers them
as well, at 39 MB. Nothing but this file and `domains` knows which solver it is.
"""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.smtlib import Question, script
from setwise.analysis.semantics.domains import Bits

Model = Callable[[Bits, int], int]
"""From a value and its width to a number, under one choice of the unknowns."""

_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}
ALL_HOLD = "all conditions hold"
_MEGABYTE = 1 << 20
_MOST_MEMORY = 1200 * _MEGABYTE  # more than at the start of a proof
_CHECKS = 64  # of the time for one of the memory
_CALLS = 4096  # of the solver, for one look at the time and the memory
_LARGEST_FORMULA = 600_000  # bits, as `_weight` counts them: the solver turns them into gates without a pause


class LimitError(Exception):
    """A proof has used up its time or memory; the message says which."""


class Solver:
    """Answers whether conditions can hold together; equal questions are asked once.

    Questions and answers are added to `kept`, if there is a list.
    """

    def __init__(self, domain: Addresses, kept: list[Question] | None = None) -> None:
        self.domain = domain
        self.kept = kept
        self._until, self._most = float("inf"), float("inf")
        self._checks = 0
        self._built = 0  # of the domain, at the start of the proof
        self.asked = 0  # questions that came to the solver
        self._known: dict[frozenset[Any], bool] = {}  # questions, and whether that is possible

    @property
    def name(self) -> str:
        """The solver and its version."""
        return f"bitwuzla {self.domain.bitwuzla.version()}"

    def limit(self, seconds: float) -> None:
        """Start a proof that may take `seconds` of processor time."""
        self._until, self._most = time.process_time() + seconds, _memory() + _MOST_MEMORY
        self.begin()

    def begin(self) -> None:
        """Start a part of a proof, whose formulas are made of terms made from now on."""
        self._built = self.domain.built

    def check(self) -> None:
        """Raise LimitError where time or memory is used up."""
        if time.process_time() > self._until:
            raise LimitError("the time limit was reached")
        self._checks += 1
        if self._checks % _CHECKS == 0 and _memory() > self._most:
            raise LimitError(f"it takes more than {_MOST_MEMORY // _MEGABYTE} MB of memory")

    def possible(self, conditions: Iterable[Bits], sums: bool = False, about: str = ALL_HOLD) -> bool:
        """Whether some choice of the unknowns makes all conditions, of one bit each, hold.

        `sums` says that they are about sums rather than boards: then rewriting before all else pays. `about` says in
        words what is so where they hold.
        """
        terms = self._terms(conditions)
        known = terms is not None and self._known.get(frozenset(terms))
        return self.model(terms or (), sums, about) is not None if known is None else known

    def model(self, conditions: Iterable[Bits], sums: bool = False, about: str = ALL_HOLD) -> Model | None:
        """A choice of the unknowns that makes all conditions hold, or None where there is none; as `possible`."""
        terms = self._terms(conditions)
        if terms is None or self._known.get(frozenset(terms)) is False:
            return None
        solver = self._solver(terms, sums)
        found = self._known[frozenset(terms)] = self._holds(solver, terms, about)
        return self._model(solver) if found else None

    def _terms(self, conditions: Iterable[Bits]) -> list[Any] | None:
        """Those of the conditions that are not known to hold; None where one is known not to."""
        self.check()
        terms = []
        for condition in conditions:
            if not isinstance(condition, int):
                terms.append(condition)
            elif not condition:
                return None
        return terms

    def pleasing(self, conditions: Iterable[Bits], wishes: Iterable[Bits], about: str = ALL_HOLD) -> Model | None:
        """As `model`, and each of the wishes holds that can hold together with those before it.

        What is asked of a single wish is not kept.
        """
        terms = self._terms(conditions)
        if terms is None:
            return None
        bitwuzla = self.domain.bitwuzla
        solver = self._solver(terms, sums=False)
        if not self._holds(solver, terms, about):
            return None
        unknown = [wish for wish in wishes if not isinstance(wish, int)]
        asked = [self.domain.is_true(wish) for wish in unknown]
        held = [bool(solver.get_value(wish).value()) for wish in asked]
        for at, wish in enumerate(asked):
            if not held[at]:  # by what is known to be possible: only then is anything to be found out
                if self._answer(solver, wish) != bitwuzla.Result.SAT:
                    continue
                held[at:] = [bool(solver.get_value(each).value()) for each in asked[at:]]
            solver.assert_formula(wish)
            terms.append(unknown[at])
        return self._model(solver) if self._holds(solver, terms, about) else None

    def _solver(self, terms: Sequence[Any], sums: bool) -> Any:
        if self.domain.built - self._built > _LARGEST_FORMULA and self._weight(terms) > _LARGEST_FORMULA:
            raise LimitError("a formula is too large for the solver")
        bitwuzla = self.domain.bitwuzla
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.PREPROCESS, sums)
        options.set(bitwuzla.Option.ABSTRACTION, False)  # of products: ours are by constants, and small as circuits
        solver = bitwuzla.Bitwuzla(self.domain.terms, options)
        for term in terms:
            solver.assert_formula(self.domain.is_true(term))
        return solver

    def _holds(self, solver: Any, terms: Sequence[Any], about: str) -> bool:
        """Whether what that solver was told, these terms, is possible."""
        answers = self.domain.bitwuzla.Result
        answer = self._answer(solver)
        self.asked += 1
        if self.kept is not None:
            self.kept.append(Question(about, script(self.domain, terms), answer.name.lower(), self.name))
        if answer not in (answers.SAT, answers.UNSAT):
            raise LimitError("the time limit was reached")
        return bool(answer == answers.SAT)

    def _model(self, solver: Any) -> Model:
        def value(term: Bits, width: int) -> int:
            return int(solver.get_value(self.domain.term(term, width)).value(10))

        return value

    def _answer(self, solver: Any, *assumed: Any) -> Any:
        """Ask; a used-up limit ends the work, and so does an interrupt, whose handler runs then.

        By itself the solver lets no handler of Python's run, and what a handler raises within it is lost.
        """
        calls = count(1)

        def is_over() -> bool:
            if next(calls) % _CALLS:  # it is called a million times a second
                return False
            is_interrupted = not signal.sigpending().isdisjoint(_INTERRUPTS)
            return is_interrupted or time.process_time() > self._until or _memory() > self._most

        solver.configure_terminator(is_over)
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
        try:
            answer = solver.check_sat(*assumed)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        self.check()
        return answer

    def _weight(self, terms: Sequence[Any]) -> int:
        """Return how many bits of operations a formula has, as `BitVectors.weight` counts them."""
        total, seen, waiting = 0, set(), [*terms]
        while waiting:
            term = waiting.pop()
            if term.id() not in seen:
                seen.add(term.id())
                total += self.domain.weight(term)
                waiting += term.children()
                if len(seen) % _CHECKS == 0:
                    self.check()
        return total


def _memory() -> int:
    """Return the bytes of memory that this process holds."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # not Linux: the most that it ever held
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()
