"""Who is ahead: two figures of which the smaller one is better, and how many comparisons end how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

Outcome = Literal["ahead", "level", "behind"]

OUTCOMES: tuple[Outcome, ...] = ("ahead", "level", "behind")
NOISE = 0.03
"""What two measurements of the same may differ by, as a part of the lesser."""


def outcome(ours: float, theirs: float, within: float = NOISE) -> Outcome:
    """How ours stands; level where they lie no further apart than that part of the lesser.

    >>> outcome(10, 12), outcome(10, 10.2), outcome(10, 9.6), outcome(10, 9.6, within=0.05)
    ('ahead', 'level', 'behind', 'level')
    """
    if abs(ours - theirs) <= within * min(ours, theirs):
        return "level"
    return "ahead" if ours < theirs else "behind"


def tallied(found: Iterable[Outcome]) -> tuple[int, ...]:
    """How many there are, and how many of each.

    >>> tallied(["ahead", "level", "ahead"])
    (3, 2, 1, 0)
    """
    counts = Counter(found)
    return counts.total(), *(counts[each] for each in OUTCOMES)
