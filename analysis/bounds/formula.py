"""Formulas in conjunctive normal form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Clause = tuple[int, ...]
"""Literals: variables are numbered from 1, and a minus says not."""


class Formula:
    """Clauses that are to hold together, over variables that it numbers."""

    def __init__(self) -> None:
        self.variables = 0
        self.clauses: list[Clause] = []

    def new(self) -> int:
        """One more variable."""
        self.variables += 1
        return self.variables

    def add(self, *literals: int) -> None:
        """One of these holds."""
        self.clauses.append(literals)

    def at_most_one(self, literals: Sequence[int]) -> None:
        """No two of these hold."""
        for one, other in combinations(literals, 2):
            self.add(-one, -other)

    def dimacs(self) -> str:
        """The formula as solvers and checkers read it."""
        lines = (" ".join(map(str, (*clause, 0))) for clause in self.clauses)
        return "\n".join([f"p cnf {self.variables} {len(self.clauses)}", *lines]) + "\n"
