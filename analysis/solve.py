"""Questions to bitwuzla.

Why bitwuzla: it is made for bit-vectors, blasts them to a SAT problem after rewriting, answers these questions in
milliseconds, installs from PyPI with 2.5 MB and no dependencies, and carries a licence (MIT) like ours. z3 answers them
as well, at 39 MB. Nothing but this file and `domains` knows which solver it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from analysis.domains import Value
from analysis.pointers import Addresses

Model = Callable[[Value, int], int]
"""From a value and its width to a number, under one choice of the unknowns."""


class TimeOutError(Exception):
    """The solver was given no time to find an answer."""


class Solver:
    """Answers whether conditions can hold together; equal questions are asked once.

    `until` is the moment, of time.monotonic, after which all questions end in TimeOutError.
    """

    def __init__(self, domain: Addresses) -> None:
        self.domain = domain
        self.until = float("inf")
        self.asked = 0  # questions that came to the solver
        self._impossible: set[frozenset[Any]] = set()
        self._false = domain.term(0, 1)

    @property
    def name(self) -> str:
        """The solver and its version."""
        return f"bitwuzla {self.domain.bitwuzla.version()}"

    def possible(self, conditions: Iterable[Value], sums: bool = False) -> bool:
        """Whether some choice of the unknowns makes all conditions, of one bit each, hold."""
        return self.model(conditions, sums) is not None

    def model(self, conditions: Iterable[Value], sums: bool = False) -> Model | None:
        """A choice of the unknowns that makes all conditions hold, or None where there is none.

        `sums` says that they are about sums rather than boards: then rewriting before all else pays.
        """
        terms = [condition for condition in conditions if not (isinstance(condition, int) and condition == 1)]
        if any(isinstance(term, int) for term in terms):
            return None
        key = frozenset(terms)
        if key in self._impossible:
            return None
        found = self._ask(terms, sums)
        if found is None:
            self._impossible.add(key)
        return found

    def _ask(self, terms: Sequence[Any], sums: bool) -> Model | None:
        bitwuzla, left = self.domain.bitwuzla, self.until - time.monotonic()
        if left <= 0:
            raise TimeOutError
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.PREPROCESS, sums)
        if left != float("inf"):
            options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(left * 1000)))
        solver = bitwuzla.Bitwuzla(self.domain.terms, options)
        for term in terms:
            solver.assert_formula(self.domain.is_true(term))
        self.asked += 1
        answer = solver.check_sat()
        if answer == bitwuzla.Result.UNSAT:
            return None
        if answer != bitwuzla.Result.SAT:
            raise TimeOutError

        def value(term: Value, width: int) -> int:
            return int(solver.get_value(self.domain.term(term, width)).value(10))

        return value
