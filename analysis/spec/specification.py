"""Evaluation of a contract's specification: a function of the ray-walk, or one that a user wrote."""

from collections.abc import Sequence
from functools import partial
from inspect import isfunction
from typing import Any

from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.words import BranchError, Word
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.evaluator import EvaluationError, evaluate
from setwise.codegen.catalogue import find
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import SLIDERS_WITHIN as SLIDERS_WITHIN
from setwise.codegen.ir.routine import Routine
from setwise.codegen.ir.routine import Written as Written
from setwise.codegen.ir.values import parameter
from setwise.codegen.numbering import LITTLE_ENDIAN as LITTLE_ENDIAN
from setwise.codegen.numbering import Numbering as Numbering
from setwise.codegen.own.running import Failure, running


class TaskError(ValueError):
    """A contract without a usable specification. The message is one line."""


class BranchingError(TaskError):
    """A specification or requirement that branches on an unknown word."""


def specified(
    specification: str | Written,
    direction: str,
    kinds: Sequence[str],
    domain: Domain,
    words: Sequence[Bits],
    number: int,
    numbering: Numbering = LITTLE_ENDIAN,
) -> list[Bits]:
    """Return the `number` results of a specification for words of a domain.

    `kinds` are the parameters' kinds.

    Raises TaskError if there is no specification or if it is wrong, and BranchingError if it branches on an unknown
    word, even if it catches the error.
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
    if len(results) != number:
        raise TaskError(f"{_titled(specification)} returns {len(results)} results, the routine {number}")
    return [_bits(specification, result) for result in results]


def _titled(specification: str | Written) -> str:
    return f"the {specification.part} of {specification.name}" if isinstance(specification, Written) else specification


_NONE = "no specification: write one (@name.specification)"


def _called(written: Written, direction: str, domain: Domain, arguments: Sequence[Word]) -> tuple[Any, ...]:
    function: Any = written.given
    if isinstance(function, str | Routine):
        function = partial(_of_routine, written, domain)
    elif direction == "any":
        function = raywalk.at_run_time(function)
    elif direction:
        function = raywalk.in_directions(function, direction)

    def refused(failure: Failure) -> TaskError:
        if domain.branched:
            return BranchingError(f"its {written.part} {failure.text}, or run setwise check instead")
        place = f"{written.name.partition(':')[0]}:{failure.line}" if failure.line else written.name
        return TaskError(f"{place}: the {written.part} of {written.name}: {failure}")

    file = written.given.__code__.co_filename if isfunction(written.given) else ""
    with running(file, refused, TaskError):
        result = function(*arguments)
        if domain.branched:
            raise BranchError("catches the error that a test of a word raises: let it pass")
    return result if isinstance(result, tuple) else (result,)


def _of_routine(written: Written, domain: Domain, *arguments: Word) -> tuple[Any, ...]:
    """Return the results of another routine that serves as the specification.

    If it is given by name, its own specification is used; if it is given as a Routine, its description is evaluated.
    """
    try:
        other = find(written.given) if isinstance(written.given, str) else written.given
    except ValueError as error:
        raise TaskError(f"{written.name}: its specification: {error}") from None
    assert isinstance(other, Routine)
    contract = other.contract
    parameters = [p for p in contract.elements or contract.parameters if p.kind != "results"]
    if len(parameters) != len(arguments):
        takes = f"takes {len(parameters)} parameters, not {len(arguments)}"
        raise TaskError(f"{written.name}: its specification {other.name} {takes}")
    if not isinstance(written.given, str):
        return _evaluated(other, arguments)
    kinds, words, number = [p.kind for p in parameters], [word.value for word in arguments], len(contract.results)
    results = specified(contract.specification, contract.direction, kinds, domain, words, number, contract.numbering)
    return tuple(Word(domain, result) for result in results)


def _evaluated(routine: Routine, words: Sequence[Word]) -> tuple[Any, ...]:
    """Return the results of a routine's first description by the evaluator, which is independent of the lowering."""
    parameters = tuple(parameter(at) for at, _ in enumerate(routine.contract.parameters))
    behind = [None] * (len(parameters) - len(words))  # the address of several results
    try:
        results = evaluate(Graph(parameters, routine.descriptions[0](Layout(), *parameters)), (*words, *behind))
    except EvaluationError as error:
        raise TaskError(f"{routine.name}: {error}") from None
    return tuple(result for (result,) in results)


def _bits(specification: str | Written, result: Any) -> Bits:
    if isinstance(result, Word):
        return result.value
    if isinstance(result, int):
        return result & raywalk.ALL
    raise TaskError(f"{_titled(specification)} returns {type(result).__name__} instead of a word")
