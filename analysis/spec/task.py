"""A routine's task as plain data, and the evaluation of its specification.

A task says where its arguments and results are, and how its arguments are bounded. Its specification is named in the
ray-walk, or comes from a user: a function or another routine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isfunction, unwrap
from types import CodeType
from typing import Any, Literal

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.section_layout import SectionLayout
from setwise.analysis.semantics.domains import Bits, BitVectors, Domain, Integers
from setwise.analysis.semantics.words import BranchError, Word
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.evaluator import EvaluationError, evaluate
from setwise.analysis.text import counted
from setwise.codegen.catalogue import find
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import SLIDERS_WITHIN as SLIDERS_WITHIN
from setwise.codegen.ir.routine import Routine
from setwise.codegen.ir.routine import Written as Written
from setwise.codegen.ir.values import parameter
from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering
from setwise.codegen.own.running import Failure, last_return, running

BY_VALUE = ("square", "dir8")
"""Kinds of parameters that a specification may use as integers: judges run it for each of their values."""


class TaskError(ValueError):
    """A contract whose specification or requirements cannot be used. The message is one line."""


class BranchingError(TaskError):
    """A specification or requirement that branches on an unknown word."""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a value of `lanes` 64-bit words at entry or exit.

    general   the register of that full name
    vector    the lanes from byte `offset` on of the vector register of that full name (zmm2)
    stack     the word `offset` bytes above rsp at entry
    memory    `offset` bytes into the block named `register`; without a name, into the block that the argument of kind
              `results` points to, or the result array

    A word may have fewer `bytes` than 8. In a general register or on the stack it is then extended to 32 bits, with its
    sign if `signed`, and the upper 32 bits are unknown. As a result it has only its own bits.
    """

    file: Literal["general", "vector", "stack", "memory"]
    register: str = ""
    offset: int = 0
    lanes: int = 1
    bytes: int = 8
    signed: bool = False

    def __str__(self) -> str:
        """Return the operand that instructions use for it, or a description of a place in memory."""
        if self.file == "stack":
            return f"[rsp+{self.offset}]"
        if self.file == "vector":
            return {1: "z", 2: "x", 4: "y", 8: "z"}[self.lanes] + self.register[1:]
        return self.register if self.file == "general" else f"{self.register or 'memory'} at {self.offset}"

    @property
    def block(self) -> str:
        """The name of the block that holds the value, "" if none does."""
        return self.register if self.file == "memory" else ""

    def filled(self, domain: Domain, word: Bits, before: Bits) -> Bits:
        """Return the 64 bits of a register or stack slot that holds a word, with unknown bits as in `before`."""
        if self.bytes == 8:
            return word
        width = 8 * self.bytes
        low = domain.extract(word, 0, width, 64)
        if width < 32:
            sign = domain.extract(word, width - 1, 1, 64) if self.signed else 0
            low = domain.concat(domain.ite(sign, (1 << 32 - width) - 1, 0, 32 - width), low, 32 - width, width)
        return domain.concat(domain.extract(before, 32, 32, 64), low, 32, 32)


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of the routine. Each of its words is below `below`; if that is 0, any 64-bit word is allowed.

    Kinds: board (sliders), leapers, empty, occupied, square, dir8 (an index into `raywalk.DIR8`), direction9 (as in
    `raywalk.NUMBERED`), word (a board of any bits), number; results, the address of the results; boards, that of an
    array; count, of boards in each; block, the address of the block of that name.
    """

    name: str
    kind: str
    place: Place
    below: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A result of the routine."""

    name: str
    place: Place

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """Memory of a fixed size behind a pointer parameter. Its bytes are arguments, and results if it is `written`."""

    name: str
    size: int
    alignment: int
    written: bool

    @property
    def is_mailbox(self) -> bool:
        """Whether the block may be a board of one byte for each square."""
        return (self.size, self.alignment) == (64, 1)


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list in a block: its elements are the items, and the first result is their number. Behind them all is free."""

    block: str
    unordered: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceFunction:
    """The code of another function with the same contract, whose results are the specification."""

    name: str
    binary: Binary
    layout: SectionLayout | None
    """The layout of `binary`, which a comparison of binaries ignores."""

    def __str__(self) -> str:
        return f"the results of {self.name}"


@dataclass(frozen=True, slots=True)
class Task:
    """A routine's contract with its calling convention.

    `specification` and `direction` are arguments of `raywalk.specification`, or a user gave the former. `requires` are
    the contract's requirements, as text for `conditions` or a user's. `saved` and `saved_vectors` are the full names of
    callee-saved registers; of vector registers only the low 128 bits are saved. A routine may use `red_zone` bytes
    below rsp and `home` bytes above the return address. For arrays, `elements` describes one board of each input; the
    further arguments of kind boards are then the arrays of results. A single one may be one of the inputs. `numbering`
    is the square numbering of all boards and squares. `counts` names the results that are no boards. `blocks` are
    disjoint, except that read-only ones may overlap. `pieces` are the letters of a mailbox's bytes, from 0 on.
    `items` is the list among the results, if any.
    """

    specification: str | Written | ReferenceFunction
    direction: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    requires: tuple[str | Written, ...] = ()
    saved: tuple[str, ...] = ()
    saved_vectors: tuple[str, ...] = ()
    red_zone: int = 0
    home: int = 0
    elements: tuple[Argument, ...] = ()
    numbering: Numbering = LITTLE_ENDIAN
    counts: tuple[str, ...] = ()
    blocks: tuple[MemoryBlock, ...] = ()
    pieces: str = ""
    items: ItemList | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the specification's arguments."""
        return tuple(argument.kind for argument in self.words)

    @property
    def words(self) -> tuple[Argument, ...]:
        """The arguments of the specification."""
        return self.elements or tuple(argument for argument in self.arguments if argument.kind not in _ADDRESSES)

    @property
    def lanes(self) -> int:
        """The largest number of words in a result."""
        return max(result.place.lanes for result in self.results)

    @property
    def stack(self) -> int:
        """The number of bytes from rsp at entry upwards that the routine may use: return address, home, arguments."""
        arguments = [argument.place.offset + 8 for argument in self.arguments if argument.place.file == "stack"]
        return max([8 + self.home, *arguments])

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of the arrays; those of the results are the last."""
        return tuple(argument.name for argument in self.arguments if argument.kind == "boards")

    def expected(self, words: Sequence[int]) -> tuple[int, ...]:
        """Return the specification's results for integers, one integer for each argument of the specification."""
        return tuple(specified(self, Integers(), words))


_KINDS = frozenset({"board", "leapers", "occupied", "empty", "square", "dir8", "direction9", "word", "number"})
_ARRAYS = frozenset({"boards", "count"})
_ADDRESSES = frozenset({"results", "block"})


def assumptions(task: Task, domain: BitVectors, words: Sequence[Bits]) -> list[Bits]:
    """Return the bits of `conditions` without the texts. Raises the same errors."""
    return [condition for _, condition in conditions(task, domain, words)]


def conditions(task: Task, domain: Domain, words: Sequence[Bits]) -> Iterator[tuple[str, Bits]]:
    """Yield each bound and requirement as text, with the bit that says whether these words meet it.

    A requirement on sliders comes once for each board of sliders, one that repeats bounds never. Raises TaskError for
    an unknown kind, and for a requirement that is unknown or cannot be evaluated.
    """
    for argument in (*task.arguments, *task.words):
        if argument.kind not in _KINDS | (_ARRAYS if task.elements else _ADDRESSES):
            raise TaskError(f"unknown kind of parameter '{argument.kind}' ({argument.name})")
    named = list(zip(task.words, words, strict=True))
    for argument, word in named:
        if argument.below:
            yield f"{argument.name} below {argument.below}", domain.ult(word, argument.below, 64)
    sliders = [word for argument, word in named if argument.kind == "board"]
    for requirement in task.requires:
        if isinstance(requirement, Written):
            (kept,) = results_of(requirement, task.direction, task.kinds, domain, words, 1)
            yield str(requirement), domain.ne(kept, 0, 64)
            continue
        kind = SLIDERS_WITHIN.get(requirement)
        if kind:
            boards = [word for argument, word in named if argument.kind == kind]
            if not boards:
                remedy = f"annotate a parameter with {kind.capitalize()}"
                raise TaskError(f"a requirement names a board of kind '{kind}', but there is none: {remedy}")
            for word in boards:
                outside = word if kind == "empty" else domain.not_(word, 64)
                for slider in sliders:
                    yield requirement, domain.eq(domain.and_(slider, outside, 64), 0, 64)
        elif not _is_bound(task, requirement):
            raise TaskError(f"unknown requirement '{requirement}': write it as a function")


def specified(task: Task, domain: Domain, words: Sequence[Bits]) -> list[Bits]:
    """Return the specification's results for the words. Raises TaskError for a function's code: the prover runs it."""
    if isinstance(task.specification, ReferenceFunction):
        raise TaskError(f"{task.specification.name} is code: only setwise prove compares with it")
    number = len(task.results)
    return results_of(task.specification, task.direction, task.kinds, domain, words, number, task.numbering)


def _is_bound(task: Task, requirement: str) -> bool:
    """Return whether a requirement is `x and y below 2**32` with bounded arguments. The number is not compared."""
    names, below, _ = requirement.partition(" below ")
    bounded = {argument.name for argument in task.words if argument.below}
    return bool(below) and set(names.split(" and ")) <= bounded


def results_of(
    specification: str | Written,
    direction: str,
    kinds: Sequence[str],
    domain: Domain,
    words: Sequence[Bits],
    number: int,
    numbering: Numbering = LITTLE_ENDIAN,
) -> list[Bits]:
    """Return the results of a specification, `number` words of a domain, for these words. `kinds` are their kinds.

    Raises TaskError if the specification is missing, unknown or fails, or if it does not return `number` words. Raises
    BranchingError if a user's function branches on an unknown word, even if it catches the error.
    """
    arguments = [Word(domain, word) for word in words]
    domain.branched = False
    if isinstance(specification, Written):
        results = _called(specification, direction, domain, arguments)
    else:
        board: raywalk.BoardKind = "occupied" if "occupied" in kinds else "empty"
        try:
            function = raywalk.specification(specification, direction, board, numbering.numbers)
        except ValueError as error:
            raise TaskError(str(error) if specification else _NONE) from None
        results = function(*arguments)
    others = {type(result).__name__ for result in results if not isinstance(result, Word | int)}
    if len(results) == number and not others:
        return [result.value if isinstance(result, Word) else result & raywalk.ALL for result in results]
    said = f"returns {' and '.join(sorted(others))} instead of a board: return a board"
    said = (
        said if len(results) == number else f"returns {counted(len(results), 'result')}, not {number}: return {number}"
    )
    if not isinstance(specification, Written):
        raise TaskError(f"{specification} {said}")
    again, code = partial(_called, specification, direction, domain, arguments), _code(specification)
    raise _wrong(specification, said, last_return(code, again) if code else 0)


def _code(written: Written) -> CodeType | None:
    """Return the code of a user's function; None for a routine."""
    given = unwrap(written.given) if callable(written.given) else None
    return given.__code__ if isfunction(given) else None


def _wrong(written: Written, what: str, line: int = 0, kind: type[TaskError] = TaskError) -> TaskError:
    """Return the error for a line of a specification or requirement, or without a line for its first line."""
    file, _, first = written.place.rpartition(":")
    place = f"{file}:{line or first}: " if file else ""
    return kind(f"{place}the {written.part} of {written.name}: {what}")


_NONE = "no specification: write one (@name.specification)"


def _called(written: Written, direction: str, domain: Domain, arguments: Sequence[Word]) -> tuple[Any, ...]:
    function: Any = written.given
    if isinstance(function, str | Routine):
        function = partial(_of_routine, written, domain)
    elif direction == "any":
        function = raywalk.at_run_time(function)
    elif direction:
        function = (raywalk.in_all_directions if written.number else raywalk.in_directions)(function, direction)

    def refused(failure: Failure) -> TaskError:
        if domain.branched:
            return _wrong(written, f"{failure.text}, or run setwise check instead", failure.line, BranchingError)
        return _wrong(written, str(failure), failure.line)

    code = _code(written)
    with running(code.co_filename if code else "", refused, TaskError):
        result = function(*arguments)
        if domain.branched:
            raise BranchError("catches the error that a test of a word raises: let it pass")
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _of_routine(written: Written, domain: Domain, *arguments: Word) -> tuple[Any, ...]:
    """Return the results of another routine that serves as the specification.

    If it is given by name, its own specification is used; if it is given as a Routine, its description is evaluated.
    """
    try:
        other = find(written.given) if isinstance(written.given, str) else written.given
    except ValueError as error:
        raise _wrong(written, str(error)) from None
    assert isinstance(other, Routine)
    contract = other.contract
    if len(contract.words) != len(arguments):
        takes = f"takes {len(contract.words)} parameters, not {len(arguments)}: name one that takes the same"
        raise _wrong(written, f"{other.name} {takes}")
    if not isinstance(written.given, str):
        return _evaluated(other, arguments)
    kinds, words, number = [p.kind for p in contract.words], [word.value for word in arguments], len(contract.results)
    results = results_of(contract.specification, contract.direction, kinds, domain, words, number, contract.numbering)
    return tuple(Word(domain, result) for result in results)


def _evaluated(routine: Routine, words: Sequence[Word]) -> tuple[Any, ...]:
    """Return the results of a routine's first description by the evaluator, which is independent of the lowering."""
    parameters = tuple(parameter(at) for at, _ in enumerate(routine.contract.parameters))
    behind = [None] * (len(parameters) - len(words))  # for the address of several results, if any
    try:
        results = evaluate(Graph(parameters, routine.descriptions[0](Layout(), *parameters)), (*words, *behind))
    except EvaluationError as error:
        raise TaskError(f"{routine.name}: {error}") from None
    return tuple(result for (result,) in results)
