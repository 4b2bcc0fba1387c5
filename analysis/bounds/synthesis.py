"""The question whether a program of such operations is right for some inputs, as a formula.

Each operation picks what it works on (Kojevnikov, Kulikov, Yaroslavtsev 2009), and what it is where that is not given:
solvers answer sooner when asked about each sequence of kinds by itself.

Not every program is asked for. Take the shortest ones, with every value that is not empty for empty inputs put in the
place of its complement; of these, one whose sources' depths, as a multiset, are least; and its operations in the order
whose picks come first. Of that program all this holds, since each change named here would shorten it or make a depth
less:

* Everything is used, and the last value is the result.
* A function is 0 where all its sources are, and depends on each of them.
* Nothing is a shift of a shift: one would do.
* No function has a source that is a function, where one function of the sources of both would do.
* An operation that does not use the one before it comes after it by what it picks.
* The last value is made from every square of the inputs on which an attack depends, as any right program's is.

So a formula that cannot hold shows that no shortest program has so many operations: with those for fewer operations,
that there is no program of so many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, pairwise, product

from setwise.analysis.bounds.formula import Formula
from setwise.analysis.bounds.programs import Function, Kinds, Model, Offset, Program, Shift

Bits = tuple[int, ...]
_INPUTS = 2  # sliders and empty


class _Choice:
    """What one operation picks: a variable for every source of a shift, sources of a function, distance, row."""

    def __init__(self, formula: Formula, model: Model, number: int, kind: str) -> None:
        self.number = number
        self._formula = formula
        self.shifts = {source: formula.new() for source in range(number) if kind != "function"}
        self.functions = {
            sources: formula.new()
            for count in range(2, model.inputs + 1)
            for sources in combinations(range(number), count)
            if kind != "shift"
        }
        self.distances = {distance: formula.new() for distance in range(1, model.ring)}
        # Of fewer sources than there may be, the rows in which those that are not there are 0.
        self._rows = {bits: formula.new() for bits in product((0, 1), repeat=model.inputs) if any(bits)}
        self._unequal: dict[tuple[Bits, Bits], int] = {}
        picks = [*self.shifts.values(), *self.functions.values()]
        formula.add(*picks)
        formula.at_most_one(picks)
        formula.at_most_one(list(self.distances.values()))
        for pick in self.shifts.values():
            formula.add(-pick, *self.distances.values())
        for sources, pick in self.functions.items():
            for place in range(len(sources)):
                formula.add(-pick, *(self._differ(*rows) for rows in _pairs(len(sources), place)))

    def row(self, bits: Bits) -> int:
        """The variable of a row of the table; that of all 0 has none, for it is 0."""
        return self._rows[self._full(bits)]

    def _full(self, bits: Bits) -> Bits:
        width = len(next(iter(self._rows)))
        return bits + (0,) * (width - len(bits))

    def _differ(self, one: Bits, other: Bits) -> int:
        """A variable that says that two rows differ, of which the other is not that of all 0."""
        if not any(one):
            return self.row(other)
        key = self._full(one), self._full(other)
        if key not in self._unequal:
            differ = self._unequal[key] = self._formula.new()
            self._formula.add(-differ, self.row(one), self.row(other))
            self._formula.add(-differ, -self.row(one), -self.row(other))
        return self._unequal[key]

    def picks(self) -> Iterator[tuple[tuple[int, ...], bool, int]]:
        """Everything it can pick: the sources, whether it is a shift, the variable."""
        yield from (((source,), True, pick) for source, pick in self.shifts.items())
        yield from ((sources, False, pick) for sources, pick in self.functions.items())

    def using(self, value: int) -> list[int]:
        """The variables of those picks that have a value as a source."""
        return [pick for sources, _, pick in self.picks() if value in sources]


def _pairs(count: int, place: int) -> Iterator[tuple[Bits, Bits]]:
    """The rows of a table that differ in one place, 0 before 1."""
    for bits in product((0, 1), repeat=count - 1):
        yield (*bits[:place], 0, *bits[place:]), (*bits[:place], 1, *bits[place:])


class Synthesis:
    """The formula for programs of such operations, which are right for the samples that it has been given."""

    def __init__(self, model: Model, kinds: Kinds) -> None:
        self.formula = Formula()
        self._model = model
        self._choices = [_Choice(self.formula, model, number, kind) for number, kind in enumerate(kinds, _INPUTS)]
        self._everything_is_used()
        self._no_shift_of_a_shift()
        self._no_function_that_another_could_take_in()
        self._in_order()
        self._made_from(model.looked_at())

    def _everything_is_used(self) -> None:
        for value in range(_INPUTS + len(self._choices) - 1):
            self.formula.add(*(pick for choice in self._choices for pick in choice.using(value)))

    def _no_shift_of_a_shift(self) -> None:
        for first, second in combinations(self._choices, 2):
            for pick, other in product(first.shifts.values(), second.shifts.items()):
                if other[0] == first.number:
                    self.formula.add(-pick, -other[1])

    def _no_function_that_another_could_take_in(self) -> None:
        for first, second in combinations(self._choices, 2):
            for inner, inner_pick in first.functions.items():
                for outer, pick in second.functions.items():
                    if first.number in outer and len({*inner, *outer} - {first.number}) <= self._model.inputs:
                        self.formula.add(-inner_pick, -pick)

    def _in_order(self) -> None:
        """By the sources, the last first, and a shift before a function."""
        for first, second in pairwise(self._choices):
            apart = [pick for pick in second.picks() if first.number not in pick[0]]
            for (sources, shift, pick), (others, other_shift, other) in product(first.picks(), apart):
                if (others[::-1], not other_shift) < (sources[::-1], not shift):
                    self.formula.add(-pick, -other)
                elif others == sources and shift:
                    for distance, further in product(first.distances, second.distances):
                        if further <= distance:
                            self.formula.add(-pick, -other, -first.distances[distance], -second.distances[further])

    def _made_from(self, needed: Collection[Offset]) -> None:
        """The last value is made from these squares of the inputs: samples alone would take long to say so."""
        offsets = list(product((0, 1), range(self._model.ring)))
        made: list[dict[Offset, int | bool]] = [{o: o == (which, 0) for o in offsets} for which in (0, 1)]
        for choice in self._choices:
            own = {offset: self.formula.new() for offset in offsets}
            for (which, back), variable in own.items():
                for source, pick in choice.shifts.items():
                    for distance, moved in choice.distances.items():
                        before = made[source][which, (back - distance) % self._model.ring]
                        self._unless((-pick, -moved, -variable), [(before, 0)])
                for sources, pick in choice.functions.items():
                    self._unless((-pick, -variable), [(made[source][which, back], 0) for source in sources])
            made.append(dict(own))
        for offset in needed:
            self.formula.add(made[-1][offset])

    def leave_out(self, kinds: Kinds) -> None:
        """The program is not of these kinds."""
        others = (
            choice.functions if kind == "shift" else choice.shifts
            for choice, kind in zip(self._choices, kinds, strict=True)
        )
        self.formula.add(*(pick for each in others for pick in each.values()))

    def monotone(self) -> None:
        """No function becomes 0 where one more of its sources is 1."""
        for choice in self._choices:
            if choice.functions:
                for place in range(self._model.inputs):
                    for one, other in _pairs(self._model.inputs, place):
                        if any(one):
                            self.formula.add(-choice.row(one), choice.row(other))

    def learn(self, sliders: int, empty: int) -> None:
        """The program is right for these squares on the ring."""
        formula, ring = self.formula, range(self._model.ring)
        values: list[list[int | bool]] = [[bool(word >> at & 1) for at in ring] for word in (sliders, empty)]
        for choice in self._choices:
            value = [formula.new() for _ in ring]
            for source, pick in choice.shifts.items():
                for distance, moved in choice.distances.items():
                    for at in ring:
                        there = value[(at + distance) % len(ring)]
                        self._unless((-pick, -moved, there), [(values[source][at], 1)])
                        self._unless((-pick, -moved, -there), [(values[source][at], 0)])
            for sources, pick in choice.functions.items():
                for bits in product((0, 1), repeat=len(sources)):
                    for at in ring:
                        row = [(values[source][at], bit) for source, bit in zip(sources, bits, strict=True)]
                        if any(bits):
                            self._unless((-pick, -choice.row(bits), value[at]), row)
                            self._unless((-pick, choice.row(bits), -value[at]), row)
                        else:
                            self._unless((-pick, -value[at]), row)
            values.append(list(value))
        wanted = self._model.attacks(sliders, empty)
        for at in ring:
            result = values[-1][at]
            formula.add(result if wanted >> at & 1 else -result)

    def _unless(self, literals: tuple[int, ...], bits: Iterable[tuple[int | bool, int]]) -> None:
        """One of the literals holds where all these bits, each a variable or known, are as they are said to be."""
        conditions = []
        for bit, wanted in bits:
            if isinstance(bit, bool):
                if bit != bool(wanted):
                    return
            else:
                conditions.append(-bit if wanted else bit)
        self.formula.add(*literals, *conditions)

    def program(self, true: set[int]) -> Program:
        """The program that the variables which are true pick."""
        return tuple(self._operation(choice, true) for choice in self._choices)

    def _operation(self, choice: _Choice, true: set[int]) -> Shift | Function:
        sources, shift = next((sources, shift) for sources, shift, pick in choice.picks() if pick in true)
        if shift:
            return Shift(sources[0], next(distance for distance, moved in choice.distances.items() if moved in true))
        rows = product((0, 1), repeat=len(sources))
        return Function(sources, tuple(int(any(bits) and choice.row(bits) in true) for bits in rows))
