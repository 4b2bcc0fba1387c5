"""What a contract is held to, as words: the ray-walk's functions by name, and what a user wrote."""

from __future__ import annotations

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
    """A contract that there is no way to hold a routine to; the message is one line."""


class BranchingError(TaskError):
    """A specification, or a requirement, that branches on a word that may be any."""


def specified(
    specification: str | Written,
    direction: str,
    kinds: Sequence[str],
    domain: Domain,
    words: Sequence[Bits],
    number: int,
    numbering: Numbering = LITTLE_ENDIAN,
) -> list[Bits]:
    """So many results of a specification for words of a domain, whose kinds are the parameters'.

    TaskError where it has none, or is wrong; BranchingError where it branches on a word that may be any, whatever it
    makes of that.
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
        raise TaskError(f"{specification}: its specification gives {len(results)} results, the routine {number}")
    return [_bits(specification, result) for result in results]


_NONE = "nothing says what it must do: write its specification (@name.specification)"


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
            return BranchingError(f"its {written.part} {failure.text}: it can be checked by running, not proved")
        place = f"{written.name.partition(':')[0]}:{failure.line}" if failure.line else written.name
        return TaskError(f"{place}: the {written.part} of {written.name}: {failure}")

    file = written.given.__code__.co_filename if isfunction(written.given) else ""
    with running(file, refused, TaskError):
        result = function(*arguments)
        if domain.branched:
            raise BranchError("asks for the value of a word that may be any, and goes on without")
    return result if isinstance(result, tuple) else (result,)


def _of_routine(written: Written, domain: Domain, *arguments: Word) -> tuple[Any, ...]:
    """What another routine gives: one that is named what it is held to, one that is given what its description says."""
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
    """What the first description of a routine gives, by the evaluator, which shares nothing with what lowers it."""
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
    raise TaskError(f"{specification}: its specification gives {type(result).__name__} where a word is wanted")
