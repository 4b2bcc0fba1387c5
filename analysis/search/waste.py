"""What code could do without: the same values in other registers, then what levels of the search find."""

from __future__ import annotations

from collections.abc import Sequence

from setwise.analysis.code.decode import Binary
from setwise.analysis.proof.prover import Prover
from setwise.analysis.search.back import binary_of_code, shortest
from setwise.analysis.search.hunt import Hunt
from setwise.analysis.search.lift import lift
from setwise.analysis.search.search import length, search
from setwise.analysis.search.subject import Subject


def spared(subject: Subject, binary: Binary, levels: Sequence[str], budget: float) -> Hunt:
    """The search of straight code, so many seconds of processor time a level; what it has found is proved.

    SearchError says why not.
    """
    code = shortest(lift(binary, subject.task, subject.plan.target), subject.plan)
    again = binary_of_code(code) if code else None
    if again and length(again) < length(binary) and Prover().prove(again, subject.task).status == "proved":
        binary = again
    hunt = Hunt.of(subject, binary, levels)
    left = dict.fromkeys(levels, budget)
    while parts := hunt.parts(None):
        (part,) = parts
        outcome = search(part.subject, part.binary, part.level, part.at, left[part.level])
        left[part.level] -= outcome.tally.seconds
        hunt.add(part, outcome)
    return hunt
