"""The pressure of operations on execution ports: how long the busiest set of ports is busy at least."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from setwise.analysis.cost.processors.table import Uops


@dataclass(frozen=True, slots=True)
class Pressure:
    """Cycles that a set of ports is busy at least, its ports in order."""

    cycles: float = 0.0
    ports: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """The ports in short.

        >>> Pressure(1.0, ("I1", "I2", "B0")).named
        'I12 B0'
        """
        letters = dict.fromkeys(port[0] for port in self.ports)
        return " ".join(letter + "".join(port[1:] for port in self.ports if port[0] == letter) for letter in letters)


def busiest(uops: Iterable[Uops]) -> Pressure:
    """The set of ports with the most to do a port.

    For any set, the operations that can go nowhere else share it. Only unions of the operations' own sets need be
    looked at: any other has the same operations on more ports. Among equals the set with fewer ports is given.

    >>> from setwise.analysis.cost.processors.table import parse_ports
    >>> busiest([parse_ports("p06"), parse_ports("p06"), parse_ports("p0156"), parse_ports("p6")])
    Pressure(cycles=1.5, ports=('p0', 'p6'))
    """
    counts: defaultdict[frozenset[str], float] = defaultdict(float)
    for ports, number in chain.from_iterable(uops):
        counts[ports] += number
    unions: set[frozenset[str]] = set()
    for ports in counts:
        unions |= {ports} | {ports | union for union in unions}
    best = Pressure()
    for union in sorted(unions, key=lambda union: (len(union), sorted(union))):
        cycles = sum(number for ports, number in counts.items() if ports <= union) / len(union)
        if cycles > best.cycles:
            best = Pressure(cycles, tuple(sorted(union)))
    return best
