"""The search of one subject, level by level, and on from what is found: what is to be done next, and what was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from setwise.analysis.code.decode import Binary
from setwise.analysis.search.search import Finding, Outcome, Tally, length, places
from setwise.analysis.search.spare import Spare
from setwise.analysis.search.subject import Subject


@dataclass(frozen=True)
class Part:
    """Places of a level, by their numbers, of the code as it then is."""

    subject: Subject
    binary: Binary
    level: str
    at: tuple[int, ...]


@dataclass
class Hunt:
    """What is known of a subject: its code as it came and as it is now, what was found, what each level tried.

    A level that is over, its places all looked at or its time, is in `done`. A finding empties that, for the code is
    another.
    """

    subject: Subject
    original: Binary
    levels: Sequence[str]
    binary: Binary
    findings: list[Finding] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    """Of each level the latest, on the code as it is now."""
    looked: dict[str, set[int]] = field(default_factory=dict)
    """Of each level the places that have been looked at."""
    done: list[str] = field(default_factory=list)
    spare: list[Spare] = field(default_factory=list)
    """Bits of its constants that do not matter."""
    refused: str = ""
    """Why levels that are not done cannot be."""
    _open: int = 0

    @staticmethod
    def of(subject: Subject, binary: Binary, levels: Sequence[str]) -> Hunt:
        """A hunt that begins."""
        return Hunt(subject, binary, levels, binary)

    @property
    def before(self) -> int:
        """How many instructions the code had."""
        return length(self.original)

    @property
    def after(self) -> int:
        """How many it has."""
        return length(self.binary)

    def parts(self, each: int | None) -> list[Part]:
        """What is to be done next, so many places a part (None: all); nothing where all is done."""
        for level in self.levels:
            if level in self.done or self.refused:
                continue
            try:
                number = places(self.subject, self.binary, level)
            except ValueError as error:
                self.refused = str(error)
                return []
            looked = self.looked.setdefault(level, set())
            left = [at for at in range(number) if at not in looked]
            self.tallies.setdefault(level, Tally(all_places=number))
            step = max(1, each or len(left))
            slices = [tuple(left[at : at + step]) for at in range(0, len(left), step)]
            if slices:
                self._open = len(slices)
                return [Part(self.subject, self.binary, level, at) for at in slices]
            self.done.append(level)
        return []

    def add(self, part: Part, outcome: Outcome) -> bool:
        """Takes what a part gave; says whether the next parts can be asked for."""
        if part.binary != self.binary:  # what was at work when something was found
            return False
        self.tallies[part.level] = self.tallies[part.level].plus(outcome.tally)
        self.looked[part.level].update(part.at[: outcome.tally.places])
        self.spare += outcome.spare
        self._open -= 1
        if outcome.finding is not None:
            self.findings.append(outcome.finding)
            self.binary = outcome.finding.binary
            self.spare.clear()
            self.done.clear()
            self.tallies.clear()
            self.looked.clear()
            return True
        if self._open == 0:
            self.done.append(part.level)
        return self._open == 0
