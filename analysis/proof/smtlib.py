"""Questions to the solver in SMT-LIB 2, so that any other solver can be asked the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setwise.analysis.semantics.domains import BitVectors

# bitwuzla writes terms that are used twice as `(define-const @def7 SORT TERM)`: the word is newer than what others
# read, and names with @ are each solver's own. No unknown's name has a $.
_SHARED = re.compile(r"\|[^|]*\||@def(\d+)")
_DEFINED = re.compile(r"^\(define-const (\S+) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """What was put to a solver: `about` says in words what is so if it is possible.

    `script` is in SMT-LIB 2, in the logic QF_BV: memory is resolved into bit-vectors before anything is asked. `answer`
    is sat (it is possible), unsat or unknown, after `solver`, with its version.
    """

    about: str
    script: str
    answer: str
    solver: str

    def text(self, *remarks: str) -> str:
        """As a file, below these remarks of a line each."""
        lines = (*remarks, f"Is it possible that {self.about}? {self.solver}: {self.answer}")
        comments = "".join(f"; {line}\n" for line in lines)
        return f"{comments}(set-info :smt-lib-version 2.6)\n(set-info :status {self.answer})\n{self.script}"


def script(domain: BitVectors, terms: Sequence[Any]) -> str:
    """The question whether these terms, of one bit each, can all be 1; equal parts are written once."""
    printer = domain.bitwuzla.Bitwuzla(domain.terms, domain.bitwuzla.Options())
    for term in terms:
        printer.assert_formula(domain.is_true(term))
    named = _SHARED.sub(lambda found: f"${found[1]}" if found[1] else found[0], printer.print_formula())
    return _DEFINED.sub(r"(define-fun \1 () ", named)
