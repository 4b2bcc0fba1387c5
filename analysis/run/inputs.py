"""Test cases: inputs made from the kinds of a routine's parameters, and the results that its specification gives.

A kind is board (sliders), leapers, empty, occupied, square, dir8, direction9 or word; a parameter of kind `results` is
the address for the results. The cases of a routine, in this order:

edges    combinations of a few extreme boards and words
chains   combinations of a chain that winds over the board, its parts and its complement, for floods of many rounds
lines    with sliders, but no square: each line of the directions, with each set of sliders and of blockers on it
rays     with a square: for all 64 every occupancy of its rays (together, or one after the other), the rest random
leaps    with leapers: each kind of them alone, on each square
random   boards of mixed densities, from a seed

Of lines or rays, with leapers or in a quick check, a random sixteenth is kept. The number of cases is a multiple of 8,
because one call may take 8; the first are repeated to fill up. `few_cases` makes fewer, for searches. For a routine on
arrays the cases are the elements. Needs NumPy.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from setwise.analysis.semantics.columns import Columns
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.semantics.words import BranchError
from setwise.analysis.spec import leaperwalk, raywalk
from setwise.analysis.spec.contracts import Contract, Parameter
from setwise.analysis.spec.task import BY_VALUE, SLIDERS_WITHIN, BranchingError, Written, results_of
from setwise.codegen.numbering import Numbering

Column = NDArray[np.uint64]

RANDOM_BOARDS = 100_000
SEED = 20050522
_EDGES = (0, raywalk.ALL, 1, 1 << 63, 0x8000_0000_0000_0001, 0x0101_0101_0101_0101, 0x00FF_FFFF_FFFF_FF00)
_SLIDERS, _BLOCKERS, _ANYTHING = ("board",), ("empty", "occupied"), ("leapers", "word", "number")
_WHOLE = ("", *leaperwalk.COLORS)  # directions of routines for a whole side
_CHUNK = 1 << 14  # cases that are evaluated together
_MOST_LANES = 8
_LONGEST = 8  # most squares of a line whose every subset is tried


@dataclass(frozen=True)
class Cases:
    """Cases as a column of 64-bit words for each parameter, and the expected words, a row for each case.

    `arrays` is True if the cases are the elements of arrays that a kernel takes whole.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    expected: Column
    arrays: bool = False

    @property
    def number(self) -> int:
        """The number of cases."""
        return len(self.expected)


def make_cases(contract: Contract, quick: bool = False, random_boards: int = RANDOM_BOARDS) -> Cases:
    """Return the cases of a contract; with `quick` a tenth of the random boards.

    With `quick`, or if there are leapers, a random sixteenth of the lines or rays is kept. Raises ValueError for an
    unknown kind, requirement or specification, or if no case meets the requirements.
    """
    maker = _Maker(contract)
    share = 16 if quick or maker.of_kind("leapers") else 1
    number = random_boards // 10 if quick else random_boards
    blocks = [maker.together(), *maker.chains(), maker.drawn(number)]
    blocks[1:1] = maker.leaps()
    if exhaustive := list(maker.rays() if maker.of_kind("square") else maker.lines()):
        columns = _joined(exhaustive)
        kept = maker.words(len(columns[0])) % np.uint64(share) == 0 if share > 1 else slice(None)
        blocks.insert(1, [column[kept] for column in columns])
    columns = maker.within_contract(_joined(blocks))
    short = -len(columns[0]) % _MOST_LANES
    return maker.cases([np.concatenate([column, column[:short]]) for column in columns])


def few_cases(contract: Contract, number: int) -> Cases:
    """Return `number` cases: about a quarter each of extreme words, mixed densities, few pieces, and single sliders.

    A single slider is alone on its board, with few other blockers. Raises the errors of `make_cases`.
    """
    maker = _Maker(contract)
    edges = maker.together()
    share = -(-number // 4)
    picked = maker.words(share) % np.uint64(max(1, len(edges[0]) if edges else 1))
    blocks = [[column[picked] for column in edges], maker.drawn(share)]
    blocks += [maker.sparse(share, squares) for squares in (4, 1)]
    # Interleaved, so that a short prefix has cases of every kind.
    columns = [np.stack(columns, axis=1).ravel() for columns in zip(*blocks, strict=True)]
    return maker.cases([np.resize(column, number) for column in maker.within_contract(columns)])


def _joined(blocks: Sequence[Sequence[Column]]) -> list[Column]:
    return [np.concatenate(columns) for columns in zip(*blocks, strict=True)]


def _expected(contract: Contract, parameters: Sequence[Parameter], columns: Sequence[Column]) -> Column:
    """Return the results of the specification, computed in chunks that fit the processor's caches."""
    number = len(columns[0]) if columns else 0
    expected: Column = np.empty((number, len(contract.results)), np.uint64)
    for start in range(0, number, _CHUNK):
        words = [column[start : start + _CHUNK] for column in columns]
        expected[start : start + _CHUNK] = np.stack(_specified(contract, parameters, words), axis=1)
    return expected


def _specified(contract: Contract, parameters: Sequence[Parameter], words: Sequence[Column | int]) -> list[Column]:
    """Return a column for each result. A word may be an integer, which all cases share.

    A specification that branches is run for each number of a square or direction, or else case by case.
    """
    kinds, number = [p.kind for p in parameters], len(contract.results)
    columns = np.broadcast_arrays(*words)
    held = partial(results_of, contract.specification, contract.direction, kinds, numbering=contract.numbering)
    try:
        results = held(Columns(), words, number)
    except (BranchError, BranchingError):
        at = next((at for at, kind in enumerate(kinds) if kind in BY_VALUE and not isinstance(words[at], int)), None)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        if at is None:
            return [*np.array([held(Integers(), row, number) for row in rows], np.uint64).T]
        results = [np.empty_like(columns[at]) for _ in range(number)]
        for value in set(columns[at].tolist()):
            where = columns[at] == value
            part = [word if isinstance(word, int) else word[where] for word in (*words[:at], value, *words[at + 1 :])]
            for result, column in zip(results, _specified(contract, parameters, part), strict=True):
                result[where] = column
    return [np.broadcast_to(np.asarray(result, np.uint64), columns[0].shape) for result in results]


class _Maker:
    """A maker of blocks: a column for each parameter but the results' address, all of one length."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.parameters = contract.words
        # The raw words of a bit generator are the same in every version of NumPy.
        self._raw = np.random.PCG64(SEED).random_raw

    def cases(self, columns: Sequence[Column]) -> Cases:
        """Return the cases of these columns, with the results of the specification."""
        expected = _expected(self.contract, self.parameters, columns)
        return Cases(tuple(p.name for p in self.parameters), tuple(columns), expected, bool(self.contract.elements))

    def words(self, number: int) -> Column:
        """Return `number` random words from the seeded generator."""
        return self._raw(number).astype(np.uint64)

    def of_kind(self, *kinds: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters if parameter.kind in kinds]

    def directions(self) -> tuple[str, ...]:
        name = self.contract.direction
        return raywalk.DIR8 if name.lower() in (*_WHOLE, "any") else raywalk.directions(name)

    def together(self, values: Sequence[int] = _EDGES, most: int = 7**5) -> list[Column]:
        """Return all combinations of words, or a sample of `most`; squares and directions are random."""
        whole = self.of_kind(*_ANYTHING, *_SLIDERS, *_BLOCKERS)
        if len(values) ** len(whole) <= most:
            rows = np.array(list(itertools.product(values, repeat=len(whole))), np.uint64)
        else:
            drawn = self.words(most * len(whole)) % np.uint64(len(values))
            rows = np.array(values, np.uint64)[drawn].reshape(-1, len(whole))
        words = iter(rows.T)
        return [self.bounded(p, next(words)) if p in whole else self.draw(p, len(rows)) for p in self.parameters]

    def chains(self) -> Iterator[list[Column]]:
        """Yield combinations of a winding chain, its first square, the chain without its last, and complements."""
        grid = self.contract.numbering
        for turn, back in itertools.product((1, -1), repeat=2):
            files, ranks = (grid.files, grid.ranks)[::turn]
            # Along every other rank, in turn to the right and to the left, and over one square to the next.
            rows = range(files), [files - 1], range(files)[::-1], [0]
            places = [(file, rank) for rank in range(ranks) for file in rows[rank % 4]]
            squares = [1 << grid.at(*place[::turn]) for place in places][::back]
            chain, last = sum(squares), squares[-1]
            yield self.together((squares[0], chain, chain ^ last, grid.all ^ chain, grid.all ^ last, 0), most=6**4)

    def lines(self) -> Iterator[list[Column]]:
        """Yield for each line every pair of a set of sliders and a set of blockers on it; nothing without sliders."""
        if not self.of_kind(*_SLIDERS):
            return
        at_run_time = self.of_kind("dir8")
        seen = set()
        for direction in self.directions():
            for whole in raywalk.lines(direction, self.contract.numbering):
                line = whole[:_LONGEST]
                # Opposite directions share a line, unless the direction is an argument.
                key = (direction, *line) if at_run_time else tuple(sorted(line))
                if key in seen:
                    continue
                seen.add(key)
                sets = self.subsets(line)
                other = sets if self.of_kind(*_BLOCKERS) else sets[:1]
                sliders, blockers = (grid.ravel() for grid in np.meshgrid(sets, other))
                yield [self.on_line(p, direction, sliders, blockers) for p in self.parameters]

    def on_line(self, parameter: Parameter, direction: str, sliders: Column, blockers: Column) -> Column:
        if parameter.kind in _BLOCKERS:
            return blockers
        if parameter.kind == "dir8":
            return np.full_like(sliders, raywalk.DIR8.index(direction))
        if parameter.kind == "leapers":  # none, since their attacks would hide those of sliders
            return np.zeros_like(sliders)
        if parameter.kind not in _SLIDERS:
            return self.draw(parameter, len(sliders))
        orthogonal = direction in raywalk.SETS["rook"]
        if self.contract.direction in _WHOLE and parameter.name in (("bishops",) if orthogonal else ("rooks",)):
            return np.zeros_like(sliders)
        return sliders

    def rays(self) -> Iterator[list[Column]]:
        """Yield for each square every occupancy of its rays: together if the contract fixes them, else one by one."""
        numbered = bool(self.of_kind("direction9"))
        for square in filter(lambda number: self.contract.numbering.all >> number & 1, range(64)):
            rays = {d: _ray(square, d, self.contract.numbering) for d in self.directions()}
            if numbered:
                for number in range(11):
                    yield self.from_square(square, rays.get(raywalk.NUMBERED.get(number, ""), []), number)
            elif self.contract.direction:
                yield self.from_square(square, [s for ray in rays.values() for s in ray])
            elif self.of_kind(*_BLOCKERS):  # a specification without a direction
                yield from (self.from_square(square, ray) for ray in rays.values())
            else:
                yield self.from_square(square, [])

    def from_square(self, square: int, ray: Sequence[int], number: int = 0) -> list[Column]:
        """Return columns with every occupancy of the squares `ray`; the rest, which must not matter, is random."""
        sets = self.subsets(ray)
        elsewhere = np.uint64(raywalk.ALL ^ sum(1 << s for s in ray))
        sets = sets | (self.words(len(sets)) & elsewhere)
        sharers = self.of_kind("occupied")
        owner = self.words(len(sets)) % max(1, len(sharers))
        columns = []
        for parameter in self.parameters:
            if parameter.kind in ("square", "direction9"):
                columns.append(np.full_like(sets, square if parameter.kind == "square" else number))
            elif parameter in sharers and len(sharers) > 1:
                # One of several boards whose union is the set: a subset, or the whole set if this board is the owner.
                mine = owner == sharers.index(parameter)
                columns.append(sets & np.where(mine, np.uint64(raywalk.ALL), self.words(len(sets))))
            elif parameter.kind in _BLOCKERS:
                columns.append(sets)
            else:
                columns.append(self.draw(parameter, len(sets)))
        return columns

    def leaps(self) -> Iterator[list[Column]]:
        """Yield for each kind of leapers one leaper on each square, without others or sliders; occupancy is random."""
        squares = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
        for leapers in self.of_kind("leapers"):
            pieces = self.of_kind("leapers", *_SLIDERS)
            yield [
                squares if p is leapers else np.zeros_like(squares) if p in pieces else self.draw(p, len(squares))
                for p in self.parameters
            ]

    def subsets(self, squares: Sequence[int]) -> Column:
        """Return every subset of these squares."""
        sets = np.zeros(1, np.uint64)
        for square in squares:
            sets = np.concatenate([sets, sets | np.uint64(1 << square)])
        return sets

    def draw(self, parameter: Parameter, number: int) -> Column:
        """Return `number` random words for a parameter. Raises ValueError for an unknown kind."""
        raw = self.words(number)
        if parameter.kind == "square":
            return raw % np.uint64(64)
        if parameter.kind == "dir8":
            return raw % np.uint64(8)
        if parameter.kind == "direction9":
            # Mostly 0 to 10: 1 to 8 are directions; any other number attacks nothing.
            return np.where(raw >> 60 == 0, raw, raw % np.uint64(11))
        if parameter.kind not in (*_ANYTHING, *_SLIDERS, *_BLOCKERS):
            raise ValueError(f"no test cases for a parameter of kind '{parameter.kind}' ({parameter.name})")
        thin, thinner = raw & self.words(number), raw & self.words(number) & self.words(number) & self.words(number)
        thick, thicker = raw | self.words(number), raw | self.words(number) | self.words(number) | self.words(number)
        density = (self.words(number) % np.uint64(5)).astype(int)
        drawn = np.choose(density, [raw, thin, thinner, thick, thicker])
        return self.bounded(parameter, drawn)

    def drawn(self, number: int) -> list[Column]:
        """Return `number` random words for each parameter."""
        return [self.draw(parameter, number) for parameter in self.parameters]

    def sparse(self, number: int, most: int) -> list[Column]:
        """Return columns with 1 to `most` sliders on each of their boards; blockers are those and up to `most` more."""
        pieces = self.few_squares(number, most) & self.words(number)
        drawn = {}
        for parameter in self.of_kind(*_SLIDERS):
            drawn[parameter.name] = self.few_squares(number, most)
            pieces |= drawn[parameter.name]
        for parameter in self.of_kind(*_BLOCKERS):
            drawn[parameter.name] = ~pieces if parameter.kind == "empty" else pieces
        return [drawn[p.name] if p.name in drawn else self.draw(p, number) for p in self.parameters]

    def few_squares(self, number: int, most: int) -> Column:
        """Return `number` random sets of 1 to `most` squares."""
        squares = [np.uint64(1) << self.words(number) % np.uint64(64) for _ in range(most)]
        union: Column = np.bitwise_or.reduce(squares)
        return union

    def bounded(self, parameter: Parameter, words: Column) -> Column:
        return words % np.uint64(parameter.below) if parameter.below else words

    def within_contract(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns without sliders that violate a requirement, and without cases that violate a user's own.

        Raises ValueError if no case is left, or for an unknown requirement.
        """
        squares = np.uint64(self.contract.numbering.all)
        given = zip(self.parameters, columns, strict=True)
        named = {p.name: column & squares if p.on_squares else column for p, column in given}
        for requirement in self.contract.requires:
            if isinstance(requirement, str):
                self.keep_sliders(requirement, named)
        kept = [np.ascontiguousarray(named[p.name], np.uint64) for p in self.parameters]
        for requirement in self.contract.requires:
            if isinstance(requirement, Written):
                promise = replace(self.contract, specification=requirement, results=("kept",))
                rows = _expected(promise, self.parameters, kept)[:, 0] != 0
                kept = [column[rows] for column in kept]
        if not len(kept[0]):
            unmet = " and ".join(self.contract.required)
            raise ValueError(f"no test case meets the requirements: loosen {unmet}, or run setwise prove")
        return kept

    def keep_sliders(self, requirement: str, named: dict[str, Column]) -> None:
        """Remove sliders from squares that a requirement forbids. `named` maps parameters' names to columns."""
        kind = SLIDERS_WITHIN.get(requirement)
        if kind is None and " below " not in requirement:  # `bounded` keeps the bounds
            raise ValueError(f"unknown requirement '{requirement}': write it as a function")
        for blockers in self.of_kind(kind or ""):
            allowed = ~named[blockers.name] if kind == "empty" else named[blockers.name]
            for parameter in self.of_kind(*_SLIDERS):
                named[parameter.name] = named[parameter.name] & allowed


def _ray(square: int, direction: str, numbering: Numbering) -> list[int]:
    """Return the squares of a ray on an empty board, without its origin; of a longer one, the nearest."""
    (line,) = (line for line in raywalk.lines(direction, numbering) if square in line)
    return sorted({*line[line.index(square) + 1 :][:_LONGEST]} - {square})
