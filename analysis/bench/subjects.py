"""Subjects of timings: the bytes of a routine, its calling convention, and arguments for its calls.

The contract defines the call; setwise.codegen.run.timer generates the timing loop.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from setwise.analysis.bench.trials import EMPTY, OURS, Measurand
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.spec import raywalk
from setwise.analysis.text import counted
from setwise.codegen.ir.routine import Contract, Parameter
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import host, signature_of
from setwise.codegen.run.harness import GENERAL, Signature
from setwise.codegen.run.stopwatch import ArgumentSets
from setwise.codegen.run.timer import CALLS, MODES, Calls, Mode, Timer, offsets, timer

BOARDS = 512
"""The default length of an array, in boards: four such arrays fill half of a first-level cache of 32 KiB."""
_SETS = 1 << 16  # of arguments for mixed calls: branch predictors memorize 4,096 sets, but not these
_SEED = 20050522
_PIECES = range(8, 29)  # numbers of pieces on a board
_SLIDERS = 4  # of one kind, at most
_ON_SQUARES = ("board", "leapers")
_BOARDS = (*_ON_SQUARES, "empty", "occupied")


@dataclass(frozen=True, slots=True)
class Subject:
    """A routine's bytes and the way to time them; `maker` names setwise and a variant, or a compiler, or is EMPTY.

    `boards` is the length of the arrays, or 0 for a routine without arrays.
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
        """The calls in one iteration of the timing loop: one on arrays, which have a loop of their own."""
        return 1 if self.boards else CALLS

    @property
    def chainable(self) -> tuple[int, ...]:
        """The indices of parameters in registers that may take the last call's result: boards, or else words."""
        if self.boards:
            return ()
        kinds = [parameter.kind for parameter in self.contract.parameters]
        wanted = _BOARDS if set(kinds) & {*_BOARDS} else ("word", "number")
        places = self.signature.places
        return tuple(at for at, kind in enumerate(kinds) if kind in wanted and not isinstance(places[at], int))

    @property
    def varies(self) -> bool:
        """True if the time may depend on the arguments: the code branches, or an argument may select a table entry.

        A chained argument then waits for the previous result but keeps its value, which costs two cycles more.
        """
        if self.boards:
            return False
        selects = any(parameter.below or parameter.kind == "direction9" for parameter in self.contract.parameters)
        return selects or any(instruction.flow in ("branch", "indirect") for instruction in decode(self.binary.text))

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that are meaningful for this routine."""
        if not self.chainable:
            return ("independent",)
        return MODES if self.varies else ("chained", "independent")

    def measurand(self, mode: Mode) -> Measurand:
        """Return the description of the measurement for a report."""
        unit, abi = "board" if self.boards else "call", self.signature.convention.name
        return Measurand(self.name, self.isa, self.lanes, abi, self.maker, mode, unit, self.boards)

    @property
    def units(self) -> int:
        """The calls in one iteration of the timing loop, or the boards of its call."""
        return self.boards or self.calls


def subject(kernel: Kernel, binary: Binary | None = None, maker: str = OURS, boards: int = BOARDS) -> Subject:
    """Return the subject for a kernel, or for `binary`, other code with its contract and convention."""
    contract, signature = kernel.routine.contract, signature_of(kernel)
    if contract.elements:  # addresses and the length are passed as words
        signature = replace(signature, arguments=(GENERAL,) * len(contract.parameters))
    isa, lanes, length = kernel.target.name, kernel.layout.lanes, boards if contract.elements else 0
    return Subject(kernel.name, isa, lanes, maker, binary or binary_of(kernel), contract, signature, length)


def empty_routines(subjects: Sequence[Subject]) -> list[Subject]:
    """Return for each distinct signature of the subjects an empty routine; its time is the overhead of the call."""
    return [
        replace(like, name=f"empty, {counted(len(called.arguments), 'argument')}", maker=EMPTY, binary=Binary(b"\xc3"))
        for called, like in {like.signature: like for like in reversed(subjects)}.items()
    ]


def timing_loop(subject: Subject, mode: Mode, chained: int = 0) -> Timer:
    """Return the timing loop of a subject; a chained call takes the last result as argument of index `chained`."""
    calls = Calls(mode, chained, subject.varies, subject.calls)
    return timer(subject.binary.image, subject.signature, calls, host(), len(subject.binary.data))


def arguments_for(subject: Subject, mode: Mode, sets: int = _SETS) -> ArgumentSets:
    """Return a subject's arguments, within its contract: one set, `sets` of them for mixed calls, or arrays."""
    if subject.boards:
        draw = random.Random(_SEED)
        cases = [_case(subject.contract, subject.contract.elements, draw) for _ in range(subject.boards)]
        return ArgumentSets(arrays=tuple(zip(*cases, strict=True)))
    in_set = offsets(subject.signature)[-1] // 8 if mode == "mixed" else 0
    words = _drawn(subject.contract, subject.signature, sets if mode == "mixed" else 1)
    return ArgumentSets(words, in_set=in_set)


def _drawn(contract: Contract, signature: Signature, sets: int) -> tuple[int, ...]:
    """Return the words of random sets of arguments in sequence; each lane of a vector holds a case of its own."""
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
    """Return a random word for each parameter but the results' address, within the usual requirements.

    No square is on two boards of sliders or leapers. All these squares are among the occupied ones.
    """
    boards = max(1, sum(p.kind in _ON_SQUARES for p in parameters))
    pieces = draw.sample(range(64), max(boards, draw.choice(_PIECES)))
    occupied = _board(pieces)
    sliders = iter(pieces)
    most = max(1, len(pieces) // (2 * boards))
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
