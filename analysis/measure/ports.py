"""Which ports operations go to, as far as it shows in how long they take alone and beside others.

What takes as long beside others as without them shares no port with them. What shares some takes longer: at least as
long as where ports were given out with foresight, and at most as if each operation went to all its ports equally often,
for a core chooses the port of an operation before it knows when that will begin. Of all ways to go to ports one counts
that explains everything measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations
from math import log
from operator import or_

from setwise.analysis.cost.processors.table import Uops

CLEAR = 0.12
"""Ports are clear that explain everything measured but for so much, as a logarithm."""
_EQUAL = 0.03
_MOST = 4  # operations of a kind in an instruction


@dataclass(frozen=True, slots=True)
class Mix:
    """So many instructions beside so many others of one slot each, whose ports are known; the cycles of them all."""

    number: int
    others: int
    ports: Uops
    cycles: float


def cycles_of(uops: Uops, slots: float, width: float) -> float:
    """Cycles that operations take at least: on the busiest set of their ports, or to be issued.

    >>> cycles_of(((frozenset({"I1", "I2"}), 2), (frozenset({"I1"}), 1)), 3, 6)
    1.5
    """
    busiest = (sum(count for ports, count in uops if ports <= union) / len(union) for union in _unions(uops))
    return max(slots / width, max(busiest, default=0.0))


def _unions(uops: Uops) -> Iterator[frozenset[str]]:
    sets = {ports for ports, _ in uops}
    return (reduce(or_, some) for size in range(1, len(sets) + 1) for some in combinations(sets, size))


def _evenly(uops: Uops, slots: float, width: float) -> float:
    """Cycles that operations take where each goes to all its ports equally often."""
    used: dict[str, float] = {}
    for ports, count in uops:
        for port in ports:
            used[port] = used.get(port, 0.0) + count / len(ports)
    return max(slots / width, max(used.values(), default=0.0))


def errors(uops: Uops, slots: float, mixes: Iterable[Mix], width: float) -> list[tuple[float, float]]:
    """How far each figure lies outside of what these ports allow, and above the least, as logarithms."""
    found = []
    for mix in mixes:
        together = tuple((ports, mix.number * count) for ports, count in uops)
        together += tuple((ports, mix.others * count) for ports, count in mix.ports)
        issued = mix.number * slots + mix.others
        above = log(mix.cycles / cycles_of(together, issued, width))
        beyond = log(mix.cycles / _evenly(together, issued, width))
        found.append((max(0.0, -above, beyond), abs(above)))
    return found


def fit(
    slots: float, mixes: Sequence[Mix], width: float, tried: Iterable[Uops], standing: Uops | None = None
) -> tuple[Uops, float]:
    """Those of the ways that explain best what an instruction takes, alone above all, and how far it is off.

    Of ways that explain it equally well the `standing` one counts, else the one that lies nearest to the figures; of
    those alike the one that leaves most freedom, for tables bound cycles from below.
    """
    ways = [standing] if standing is not None else []
    ways += [uops for uops in tried if abs(log(mixes[0].cycles / cycles_of(uops, slots, width))) < CLEAR]
    rated = []
    for uops in ways:
        each = errors(uops, slots, mixes, width)
        rated.append((max(one for one, _ in each), sum(one for _, one in each) / len(each), uops))
    if not rated:
        return (), 9.0
    least = min(off for off, _, _ in rated)
    good = [one for one in rated if one[0] <= max(least, CLEAR / 2) + _EQUAL]
    off, _, uops = good[0] if good[0][2] == standing else min(good, key=_distance)
    return uops, off


def _distance(rated: tuple[float, float, Uops]) -> tuple[float, float, int]:
    _, distance, uops = rated
    return round(distance, 2), sum(count for _, count in uops), -sum(len(ports) for ports, _ in uops)


@cache
def ways(
    groups: tuple[tuple[str, ...], ...], kinds: frozenset[frozenset[str]], known: tuple[Uops, ...]
) -> tuple[Uops, ...]:
    """Nothing, up to four operations for the same ports of a group, one for each of two of these kinds of ports.

    And one for a kind besides those of what is known to have several.
    """
    sets = [
        frozenset(some) for group in groups for size in range(1, len(group) + 1) for some in combinations(group, size)
    ]
    alike = [((ports, float(count)),) for count in range(1, _MOST + 1) for ports in sets]
    ordered = sorted(kinds, key=sorted)
    pairs = (((one, 1.0), (other, 1.0)) for one, other in combinations(ordered, 2))
    more = ((*uops, (one, 1.0)) for uops in known if len(uops) > 1 for one in ordered)
    return tuple(dict.fromkeys(((), *alike, *pairs, *known, *more)))


def spelt(uops: Uops) -> str:
    """The ports as tables spell them.

    >>> spelt(((frozenset({"F2", "F1"}), 2.0), (frozenset({"I0", "B0"}), 1.0)))
    '2*F12 + B0I0'
    """
    terms = []
    for ports, count in uops:
        digits: dict[str, str] = {}
        for port in sorted(ports):
            digits[port[0]] = digits.get(port[0], "") + port[1:]
        names = "".join(letter + own for letter, own in digits.items())
        terms.append(f"{count:g}*{names}" if count != 1 else names)
    return " + ".join(terms)


def solved(cycles: Mapping[str, float], beside: Mapping[tuple[str, str], Mix]) -> dict[str, frozenset[str]]:
    """Ports of instructions of one operation each, on a processor of which nothing is known: u0, u1, ...

    `cycles` has what each takes alone, `beside` what two of them take together, their ports left out; those of the
    later are found beside the earlier.
    """
    found: dict[str, frozenset[str]] = {}
    for name, alone in cycles.items():
        used = sorted(frozenset[str]().union(*found.values()))
        size = max(1, round(1 / alone))
        mixes = [
            Mix(mix.number, mix.others, ((found[other], 1.0),), mix.cycles)
            for (one, other), mix in beside.items()
            if one == name and other in found
        ]

        def off(ports: frozenset[str], mixes: Sequence[Mix] = mixes) -> tuple[float, float]:
            each = errors(((ports, 1.0),), 1.0, mixes, _WIDEST)
            return round(max((one for one, _ in each), default=0.0), 1), round(sum(one for _, one in each), 1)

        names = [f"u{digit}" for digit in "0123456789"]
        tried = (
            frozenset([*old, *names[len(used) : len(used) + fresh]])
            for fresh in range(size + 1)
            for old in combinations(used, size - fresh)
        )
        found[name] = min(tried, key=off)
    return found


_WIDEST = 16.0  # slots a cycle, more than any processor has
