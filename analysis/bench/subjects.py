"""What is timed: a routine's bytes, ours or anybody's, with how they are called and on which boards.

Like contracts.py a room that sees codegen: the contract says how a routine is called, setwise.codegen.run.timer emits
the loop.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from setwise.analysis.bench.trials import EMPTY, OURS, Measurand, Sections
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.spec import raywalk
from setwise.analysis.text import counted
from setwise.codegen.ir.routine import Contract, Parameter
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import host, signature_of
from setwise.codegen.run.harness import GENERAL, Signature
from setwise.codegen.run.stopwatch import ArgumentSets
from setwise.codegen.run.timer import (
    CALLS,
    CHAIN_ADDS,
    MODES,
    WIDE_ROWS,
    Calls,
    Mode,
    Timer,
    offsets,
    timer,
)

BOARDS = 512
"""Boards of an array: four such arrays lie in half of a first-level cache."""
_SETS = 1 << 16  # of arguments for mixed calls: more than branch predictors learn by heart, which 4,096 are not
_SEED = 20050522
_PIECES = range(8, 29)  # on a board; of them at most so many are sliders of one kind:
_SLIDERS = 4
_ON_SQUARES = ("board", "leapers")
_BOARDS = (*_ON_SQUARES, "empty", "occupied")


@dataclass(frozen=True, slots=True)
class Subject:
    """A routine's bytes and how they are timed; `maker` is who made them.

    `boards` is the length of the arrays, 0 where a call takes no arrays.
    """

    name: str
    isa: str
    lanes: int
    maker: str
    binary: Binary
    contract: Contract
    signature: Signature
    boards: int

    @property
    def calls(self) -> int:
        """Calls in a round of the loop; a routine on arrays has a loop of its own."""
        return 1 if self.boards else CALLS

    @property
    def chainable(self) -> tuple[int, ...]:
        """The parameters that may take the result of the call before: boards in registers, or else numbers."""
        if self.boards:
            return ()
        kinds = [parameter.kind for parameter in self.contract.parameters]
        wanted = _BOARDS if set(kinds) & {*_BOARDS} else ("word",)
        places = self.signature.places
        return tuple(at for at, kind in enumerate(kinds) if kind in wanted and not isinstance(places[at], int))

    @property
    def varies(self) -> bool:
        """Whether its time depends on its arguments: it branches on them, or they select from a table.

        Then a chained argument waits for the result before but stays what it was, which takes two cycles more.
        """
        if self.boards:
            return False
        selects = any(parameter.below or parameter.kind == "direction9" for parameter in self.contract.parameters)
        return selects or any(instruction.flow in ("branch", "indirect") for instruction in decode(self.binary.text))

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to call it that say something."""
        if not self.chainable:
            return ("independent",)
        return MODES if self.varies else ("chained", "independent")

    def measurand(self, mode: Mode) -> Measurand:
        """What is measured, for a report."""
        unit, abi = "board" if self.boards else "call", self.signature.convention.name
        return Measurand(self.name, self.isa, self.lanes, abi, self.maker, mode, unit, self.boards)

    def sections(self, rounds: int) -> Sections:
        """The work in the sections of a trial of so many rounds."""
        return Sections(CHAIN_ADDS, WIDE_ROWS, rounds * self.calls * (self.boards or 1))


def subject(kernel: Kernel, binary: Binary | None = None, maker: str = OURS, boards: int = BOARDS) -> Subject:
    """Return a kernel to be timed, or other bytes that are called as it is; arrays have so many boards."""
    contract, signature = kernel.routine.contract, signature_of(kernel)
    if contract.elements:  # addresses and the number are words like others
        signature = replace(signature, arguments=(GENERAL,) * len(contract.parameters))
    isa, lanes, length = kernel.target.name, kernel.layout.lanes, boards if contract.elements else 0
    return Subject(kernel.name, isa, lanes, maker, binary or binary_of(kernel), contract, signature, length)


def empty_routines(subjects: Sequence[Subject]) -> list[Subject]:
    """Return a routine that does nothing for each signature of these: it takes the time of the call itself."""
    return [
        replace(like, name=f"empty, {counted(len(called.arguments), 'argument')}", maker=EMPTY, binary=Binary(b"\xc3"))
        for called, like in {like.signature: like for like in reversed(subjects)}.items()
    ]


def timing_loop(subject: Subject, mode: Mode, chained: int = 0) -> Timer:
    """Return the loop that times it; chained calls take the result of the call before as the argument `chained`."""
    calls = Calls(mode, chained, subject.varies, subject.calls)
    return timer(subject.binary.image, subject.signature, calls, host(), len(subject.binary.data))


def arguments_for(subject: Subject, mode: Mode, sets: int = _SETS) -> ArgumentSets:
    """Its arguments: one case within the contract, or for mixed calls so many."""
    if subject.boards:
        draw = random.Random(_SEED)
        cases = [_case(subject.contract, subject.contract.elements, draw) for _ in range(subject.boards)]
        return ArgumentSets(arrays=tuple(zip(*cases, strict=True)))
    in_set = offsets(subject.signature)[-1] // 8 if mode == "mixed" else 0
    words = _drawn(subject.contract, subject.signature, sets if mode == "mixed" else 1)
    return ArgumentSets(words, in_set=in_set)


def _drawn(contract: Contract, signature: Signature, sets: int) -> tuple[int, ...]:
    """So many sets of arguments within the contract; many are drawn for all who compute the same together."""
    draw = random.Random(_SEED)
    vectors = [passed.words for passed in signature.arguments if passed.file == "vector"]
    lanes, room = max(vectors, default=1), []
    for _ in range(sets):
        cases = [_case(contract, contract.parameters, draw) for _ in range(lanes)]
        room += list(_set(signature, cases, lanes))
    return tuple(room)


def _set(signature: Signature, cases: Sequence[Sequence[int]], lanes: int) -> Iterator[int]:
    words = [passed for passed in signature.arguments if passed.file != "results"]
    for passed, column in zip(words, zip(*cases, strict=True), strict=True):
        yield from column if passed.file == "vector" else (column[0],) + (0,) * (lanes - 1)


def _case(contract: Contract, parameters: Sequence[Parameter], draw: random.Random) -> list[int]:
    """A word for each parameter but the results', within what every contract requires of boards: pieces on squares.

    No piece stands on two boards of sliders, and each slider stands on an occupied square.
    """
    pieces = draw.sample(range(64), draw.choice(_PIECES))
    occupied = _board(pieces)
    sliders = iter(pieces)
    most = max(1, len(pieces) // (2 * max(1, sum(p.kind in _ON_SQUARES for p in parameters))))
    sharers = [p.name for p in parameters if p.kind == "occupied"]
    words = []
    for parameter in parameters:
        if parameter.kind in _ON_SQUARES:
            word = _board(list(islice(sliders, draw.randint(1, min(_SLIDERS, most)))))
        elif parameter.kind == "occupied":
            part = sharers.index(parameter.name)
            word = _board(pieces[part :: len(sharers)])
        elif parameter.kind == "empty":
            word = ~occupied & (1 << 64) - 1
        elif parameter.kind == "square":
            word = pieces[0]
        elif parameter.kind == "direction9":
            word = draw.choice(sorted(raywalk.NUMBERED))
        elif parameter.kind != "results":
            word = draw.randrange(parameter.below or 1 << 64)
        else:
            continue
        words.append(word)
    return words


def _board(squares: Sequence[int]) -> int:
    return sum(1 << square for square in squares)
