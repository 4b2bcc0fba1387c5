"""A few sample inputs for a contract, the same in every run."""

import random
from collections.abc import Iterator
from itertools import product

from setwise.analysis.spec.task import Task

_ALL = (1 << 64) - 1
_SAMPLES = 8  # of each density


def samples(task: Task) -> Iterator[tuple[int, ...]]:
    """Yield samples, a 64-bit word for each of `task.words`: combinations of 0, 1 and all ones, then random words.

    The combinations are left out for more than two words. Random words have one of three densities. Sliders are on
    occupied squares only, and bounds are kept; requirements that a user wrote may be violated.
    """
    words = task.words
    for drawn in _drawn(len(words)):
        squares = within = task.numbering.all
        for argument, word in zip(words, drawn, strict=True):
            within &= {"occupied": word, "empty": ~word}.get(argument.kind, _ALL)
        masks = dict.fromkeys(("occupied", "empty", "leapers"), squares) | {"board": within}
        yield tuple(
            (word & masks.get(argument.kind, _ALL)) % (argument.below or 1 << 64)
            for argument, word in zip(words, drawn, strict=True)
        )


def _drawn(number: int) -> Iterator[tuple[int, ...]]:
    if number < 3:
        yield from product((0, 1, _ALL), repeat=number)
    chance = random.Random(number)
    for _ in range(_SAMPLES):
        each = [[chance.getrandbits(64) for _ in range(3)] for _ in range(number)]
        yield tuple(one for one, _, _ in each)
        yield tuple(one & two & three for one, two, three in each)
        yield tuple(one | two | three for one, two, three in each)


def mixed_samples(task: Task, number: int) -> Iterator[tuple[int, ...]]:
    """Yield random words, each of its own density: one square, or about an eighth to seven eighths of all squares."""
    chance = random.Random(number)
    for _ in range(number):
        words = []
        for argument in task.words:
            one, two, three = (chance.getrandbits(64) for _ in range(3))
            drawn = (1 << chance.randrange(64), one & two & three, one & two, one, one | two, one | two | three)
            words.append(chance.choice(drawn) % (argument.below or 1 << 64))
        yield tuple(words)
