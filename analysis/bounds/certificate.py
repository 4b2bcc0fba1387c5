"""A checker of certificates that a formula cannot hold: solvers write them, and nothing of a solver is trusted here.

A certificate is a list of clauses, a line each, in the format DRUP (Heule, Hunt, Wetzler 2013): each must follow from
the formula and those before it by unit propagation alone, down to the empty clause; `d` takes a clause away, which only
saves time. Each clause that is accepted follows from the formula, so whatever is accepted holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class BrokenCertificate(ValueError):
    """A certificate that shows nothing; the message says which line, counted from 1, does not follow."""


def check(clauses: Iterable[Sequence[int]], certificate: Iterable[str]) -> int:
    """How many clauses a certificate derives until the formula of these clauses is refuted.

    Raises BrokenCertificate where it does not get there.
    """
    facts = _Facts(clauses)
    derived = 0
    if facts.contradictory:
        return derived
    for number, line in enumerate(certificate, 1):
        away = line.startswith("d ")
        literals = _literals(line.removeprefix("d "), number)
        if away:
            facts.remove(literals)
            continue
        if not facts.follows(literals):
            raise BrokenCertificate(f"line {number} of the certificate does not follow: {line}")
        derived += 1
        facts.add(literals)
        if facts.contradictory:
            return derived
    raise BrokenCertificate("the certificate ends before the empty clause")


def _literals(line: str, number: int) -> list[int]:
    try:
        *literals, end = map(int, line.split())
    except ValueError:
        end, literals = 1, []
    if end != 0 or 0 in literals:
        raise BrokenCertificate(f"line {number} of the certificate is no clause: {line}")
    return literals


class _Facts:
    """Clauses that hold, and the literals that follow from them by unit propagation.

    Each clause of two literals or more is watched at its first two: only when one of them becomes false is it looked
    at (Moskewicz and others 2001).
    """

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        clauses = list(clauses)
        self._variables = max((abs(literal) for clause in clauses for literal in clause), default=0)
        # Indexed by literals: those with a minus count from the end.
        self._value = [0] * (2 * self._variables + 1)  # 1 true, -1 false, 0 not known
        self._watching: list[list[list[int]]] = [[] for _ in self._value]
        self._true: list[int] = []  # literals, in the order in which they became true
        self._clauses: dict[frozenset[int], list[list[int]]] = {}
        self.contradictory = False
        for clause in clauses:
            self.add(clause)

    def add(self, literals: Sequence[int]) -> None:
        """One clause more."""
        value = self._value
        clause = sorted(set(literals), key=lambda literal: -value[literal])
        if not clause or value[clause[0]] == -1:
            self.contradictory = True
            return
        if len(clause) > 1:
            self._clauses.setdefault(frozenset(clause), []).append(clause)
            self._watching[clause[0]].append(clause)
            self._watching[clause[1]].append(clause)
        if value[clause[0]] == 0 and (len(clause) == 1 or value[clause[1]] == -1):
            self._set(clause[0])
            self.contradictory = self.contradictory or self._conflict(len(self._true) - 1)

    def remove(self, literals: Sequence[int]) -> None:
        """One clause less; what it has led to stays, for it holds."""
        same = self._clauses.get(frozenset(literals))
        if same:
            same.pop().clear()  # those watching it forget it when they come to it

    def follows(self, literals: Sequence[int]) -> bool:
        """Whether the opposite of a clause leads to a contradiction by unit propagation."""
        if any(abs(literal) > self._variables for literal in literals):
            return False
        before = len(self._true)
        conflict = False
        for literal in literals:
            if self._value[literal] == 1:
                conflict = True
            elif self._value[literal] == 0:
                self._set(-literal)
        conflict = conflict or self._conflict(before)
        for literal in self._true[before:]:
            self._value[literal] = self._value[-literal] = 0
        del self._true[before:]
        return conflict

    def _set(self, literal: int) -> None:
        self._value[literal], self._value[-literal] = 1, -1
        self._true.append(literal)

    def _conflict(self, at: int) -> bool:
        """Whether what follows from the literals that became true, from that one on, leaves a clause none."""
        value, watching, true = self._value, self._watching, self._true
        while at < len(true):
            false = -true[at]
            at += 1
            staying: list[list[int]] = []
            clauses = iter(watching[false])
            for clause in clauses:
                if not clause:
                    continue
                other = clause[0]
                if other == false:
                    other = clause[0] = clause[1]
                    clause[1] = false
                if value[other] == 1:
                    staying.append(clause)
                    continue
                for place in range(2, len(clause)):
                    literal = clause[place]
                    if value[literal] >= 0:
                        clause[1], clause[place] = literal, false
                        watching[literal].append(clause)
                        break
                else:
                    staying.append(clause)
                    if value[other] == -1:
                        staying.extend(clauses)
                        watching[false] = staying
                        return True
                    self._set(other)
            watching[false] = staying
        return False
