"""Solver queries as SMT-LIB 2 text, for a second opinion from other solvers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setwise.analysis.semantics.domains import BitVectors

# bitwuzla writes shared terms as `(define-const @def7 SORT TERM)`. Other solvers do not know define-const, and names
# with @ are reserved. So the name becomes $7: no unknown's name contains a $.
_SHARED = re.compile(r"\|[^|]*\||@def(\d+)")
_DEFINED = re.compile(r"^\(define-const (\S+) ", re.MULTILINE)


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


def script(domain: BitVectors, terms: Sequence[Any]) -> str:
    """Return the query whether these one-bit terms can all be 1 as SMT-LIB. Common subterms are written once."""
    printer = domain.bitwuzla.Bitwuzla(domain.terms, domain.bitwuzla.Options())
    for term in terms:
        printer.assert_formula(domain.is_true(term))
    named = _SHARED.sub(lambda found: f"${found[1]}" if found[1] else found[0], printer.print_formula())
    return _DEFINED.sub(r"(define-fun \1 () ", named)
