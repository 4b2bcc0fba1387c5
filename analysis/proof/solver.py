"""Queries to bitwuzla, and their SMT-LIB 2 text for a second opinion from other solvers.

bitwuzla is made for bit-vectors: it rewrites, and bit-blasts to SAT. It installs from PyPI without dependencies, and
has the licence of setwise (MIT). Only this module asks the solver.
"""

import re
import resource
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.semantics.domains import Bits, BitVectors

Model = Callable[[Bits, int], int]
"""A function from a value and its width to its number under one assignment of the unknowns."""

_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}
ALL_HOLD = "all conditions hold"
_MEGABYTE = 1 << 20
_MOST_MEMORY = 1200 * _MEGABYTE  # above the memory in use at the start of a proof
_CHECKS = 64  # checks of the time for each check of the memory; terms weighed for each check of the time
_CALLS = 4096  # callbacks from the solver for each check of the limits
_LARGEST_FORMULA = 600_000  # bits, as `_weight` counts them: bit-blasting cannot be interrupted
# bitwuzla writes shared terms as `(define-const @def7 SORT TERM)`. Other solvers do not know define-const, and names
# with @ are reserved. So the name becomes $7: no unknown's name contains a $.
_SHARED = re.compile(r"\|[^|]*\||@def(\d+)")
_DEFINED = re.compile(r"^\(define-const (\S+) ", re.MULTILINE)


class LimitError(Exception):
    """A proof that has used up its time or memory, or has a formula that is too large. The message says which."""


@dataclass(frozen=True, slots=True)
class Question:
    """A solver query; `about` describes in words the situation that is possible if the answer is sat.

    `script` is SMT-LIB 2 in the logic QF_BV: memory is resolved into bit-vectors beforehand. `answer` is sat, unsat or
    unknown; `solver` is the solver's name and version.
    """

    about: str
    script: str
    answer: str
    solver: str

    def text(self, *remarks: str) -> str:
        """Return the query as the text of a file, below remarks of one line each."""
        lines = (*remarks, f"Is it possible that {self.about}? {self.solver}: {self.answer}")
        comments = "".join(f"; {line}\n" for line in lines)
        return f"{comments}(set-info :smt-lib-version 2.6)\n(set-info :status {self.answer})\n{self.script}"


class Solver:
    """A solver that decides whether conditions can hold together, with a cache of its answers.

    Queries raise LimitError at a limit. Those to bitwuzla, except for single wishes, are appended to `kept`, if given.
    """

    def __init__(self, domain: Addresses, kept: list[Question] | None = None) -> None:
        self.domain = domain
        self.kept = kept
        self._until, self._most = float("inf"), float("inf")
        self._checks = 0
        self._built = 0  # `domain.built` at the start of the current part of a proof
        self.asked = 0  # number of queries that reached the solver
        self._known: dict[frozenset[Any], bool] = {}  # answers by query

    @property
    def name(self) -> str:
        """The solver's name and version."""
        return f"bitwuzla {self.domain.bitwuzla.version()}"

    def limit(self, seconds: float) -> None:
        """Start a proof that may take `seconds` of this thread's CPU time."""
        self._until, self._most = time.thread_time() + seconds, _memory() + _MOST_MEMORY
        self.begin()

    def begin(self) -> None:
        """Start a part of a proof. Formulas are checked for their size once the part has made many terms."""
        self._built = self.domain.built

    def check(self) -> None:
        """Raise LimitError if time or memory is used up. Memory is looked at in every 64th call."""
        if time.thread_time() > self._until:
            raise LimitError("the time limit was reached: allow more by --time-limit, or run setwise check")
        self._checks += 1
        if self._checks % _CHECKS == 0 and _memory() > self._most:
            raise LimitError(f"the proof takes more than {_MOST_MEMORY // _MEGABYTE} MB of memory: run setwise check")

    def possible(self, conditions: Iterable[Bits], sums: bool = False, about: str = ALL_HOLD) -> bool:
        """Return whether some assignment of the unknowns satisfies all one-bit conditions.

        `sums` announces conditions about sums rather than boards, for which preprocessing pays off. `about` describes
        the situation in which they hold.
        """
        terms = self._terms(conditions)
        known = terms is not None and self._known.get(frozenset(terms))
        return self.model(terms or (), sums, about) is not None if known is None else known

    def model(self, conditions: Iterable[Bits], sums: bool = False, about: str = ALL_HOLD) -> Model | None:
        """Return a model that satisfies all conditions, a function from a value and its width to a number, or None."""
        terms = self._terms(conditions)
        if terms is None or self._known.get(frozenset(terms)) is False:
            return None
        solver = self._solver(terms, sums)
        found = self._known[frozenset(terms)] = self._holds(solver, terms, about)
        return self._model(solver) if found else None

    def _terms(self, conditions: Iterable[Bits]) -> list[Any] | None:
        """Return the conditions that are not constant, or None if one is constant 0."""
        self.check()
        terms = []
        for condition in conditions:
            if not isinstance(condition, int):
                terms.append(condition)
            elif not condition:
                return None
        return terms

    def pleasing(self, conditions: Iterable[Bits], wishes: Iterable[Bits], about: str = ALL_HOLD) -> Model | None:
        """Return a model of the conditions, or None, as `model` does.

        It also satisfies each wish, in order, that the conditions and the earlier satisfied wishes allow.
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
            if not held[at]:  # the current model violates it: ask whether another does not
                if self._answer(solver, wish) != bitwuzla.Result.SAT:
                    continue
                held[at:] = [bool(solver.get_value(each).value()) for each in asked[at:]]
            solver.assert_formula(wish)
            terms.append(unknown[at])
        return self._model(solver) if self._holds(solver, terms, about) else None

    def _solver(self, terms: Sequence[Any], sums: bool) -> Any:
        if self.domain.built - self._built > _LARGEST_FORMULA and self._weight(terms) > _LARGEST_FORMULA:
            raise LimitError("a formula is too large, as of a long specification or table: run setwise check")
        bitwuzla = self.domain.bitwuzla
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.PREPROCESS, sums)
        # Abstraction is for products; those in these queries are by constants, and small as circuits.
        options.set(bitwuzla.Option.ABSTRACTION, False)
        solver = bitwuzla.Bitwuzla(self.domain.terms, options)
        for term in terms:
            solver.assert_formula(self.domain.is_true(term))
        return solver

    def _holds(self, solver: Any, terms: Sequence[Any], about: str) -> bool:
        """Return whether the asserted `terms` can all be 1, and append the query to `kept`, if given.

        Raises LimitError without an answer.
        """
        answers = self.domain.bitwuzla.Result
        answer = self._answer(solver)
        self.asked += 1
        if self.kept is not None:
            self.kept.append(Question(about, _script(self.domain, terms), answer.name.lower(), self.name))
        if answer not in (answers.SAT, answers.UNSAT):
            raise LimitError("the time limit was reached: allow more by --time-limit, or run setwise check")
        return bool(answer == answers.SAT)

    def _model(self, solver: Any) -> Model:
        return lambda term, width: int(solver.get_value(self.domain.term(term, width)).value(10))

    def _answer(self, solver: Any, *assumed: Any) -> Any:
        """Return the solver's answer under the `assumed` terms. Raises LimitError if time or memory is used up.

        The solver also stops at an interrupt, so that its Python handler runs afterwards: none runs inside the solver,
        where its exception would be lost.
        """
        calls = count(1)

        def is_over() -> bool:
            if next(calls) % _CALLS:  # called too often to check each time
                return False
            is_interrupted = not signal.sigpending().isdisjoint(_INTERRUPTS)
            return is_interrupted or time.thread_time() > self._until or _memory() > self._most

        solver.configure_terminator(is_over)
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
        try:
            answer = solver.check_sat(*assumed)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        self.check()
        return answer

    def _weight(self, terms: Sequence[Any]) -> int:
        """Return the size of a formula in bits of operations, as `BitVectors.weight` counts them."""
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
    """Return the resident memory of this process in bytes; outside Linux its peak so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()


def _script(domain: BitVectors, terms: Sequence[Any]) -> str:
    """Return the query whether these one-bit terms can all be 1 as SMT-LIB. Common subterms are written once."""
    printer = domain.bitwuzla.Bitwuzla(domain.terms, domain.bitwuzla.Options())
    for term in terms:
        printer.assert_formula(domain.is_true(term))
    named = _SHARED.sub(lambda found: f"${found[1]}" if found[1] else found[0], printer.print_formula())
    return _DEFINED.sub(r"(define-fun \1 () ", named)
