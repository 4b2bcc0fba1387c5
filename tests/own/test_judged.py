"""Drawn descriptions, specifications and requirements: proofs say what running on all inputs, or on many, says."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.inputs import few_cases
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.spec.contracts import task_for, task_of
from setwise.analysis.spec.evaluator import evaluate
from setwise.analysis.spec.task import conditions
from setwise.codegen.catalogue import catalogue
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.routine import Contract, Parameter, Written
from setwise.codegen.ir.values import parameter
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.targets import SCALARS
from tests.codegen.programs import ALL, Program, Step, routine, small

OPERATIONS = ("and", "or", "xor", "add", "add", "sub", "sub", "from", "from", "not", "shl", "shr", "shr", "shlv")
_MOST, _SOME = 2048, 1000
_BITS = (0, 1, ALL, 1 << 63, 0x0123_4567_89AB_CDEF)


def kinds(draw: random.Random) -> tuple[Parameter, ...]:
    """Two parameters: squares, directions, numbers with and without a bound, boards."""

    def one(name: str) -> Parameter:
        bound = draw.randrange(1, 70)
        choices = Parameter(name, "square", 64), Parameter(name, "dir8", 8), Parameter(name, "word", bound)
        return draw.choice((*choices, Parameter(name, "word"), Parameter(name, "board")))

    return one("a"), one("b")


def inputs(parameters: Sequence[Parameter], draw: random.Random) -> Iterator[tuple[int, ...]]:
    """All that there are, where they are few, or many."""
    if all(p.below for p in parameters) and prod(p.below for p in parameters) <= _MOST:
        yield from product(*(range(p.below) for p in parameters))
        return
    for _ in range(_SOME):
        yield tuple(
            draw.randrange(p.below) if p.below else draw.choice((*_BITS, draw.getrandbits(64))) for p in parameters
        )


def changed(program: Program, draw: random.Random) -> Program:
    """The program with another step in the place of one."""
    at = draw.randrange(len(program.steps))
    step: Step = small(draw, OPERATIONS, 1).steps[0]
    return replace(program, steps=(*program.steps[:at], step, *program.steps[at + 1 :]))


def results(program: Callable[..., Any], rows: Sequence[tuple[int, ...]]) -> list[int]:
    """What the independent evaluator gives for each of these inputs."""
    boards = parameter(0), parameter(1)
    graph = Graph(boards, program(*boards))
    return [evaluate(graph, row)[0][0] for row in rows]


def judged(number: int, seed: int) -> Iterator[tuple[str, str]]:
    """The status of so many proofs, and what is wrong with each, or nothing."""
    draw, prover = random.Random(seed), Prover()
    for _ in range(number):
        parameters, program = kinds(draw), small(draw, OPERATIONS)
        held_to = draw.choice((program, changed(program, draw)))
        promise = draw.choice((None, None, small(draw, OPERATIONS, 3)))

        requires = () if promise is None else (Written("f", promise, 1),)
        contract = Contract(parameters, Written("f", held_to), "", ("f",), requires)
        kernel = lower(replace(routine(program, 2), contract=contract), draw.choice(SCALARS))
        certificate = prover.prove(binary_of(kernel), task_of(kernel), time_limit=20)
        status, example = certificate.status, certificate.counterexample
        rows = [*inputs(parameters, draw)]
        if example is not None:
            rows = [tuple(lanes[0] for _, lanes in example.inputs)]
        kept = [1] * len(rows) if promise is None else results(promise, rows)
        pairs = zip(kept, results(program, rows), results(held_to, rows), strict=True)
        differs = any(made != wanted for keeps, made, wanted in pairs if keeps)
        right = {"proved": not differs, "refuted": differs, "not proved": "meets" in certificate.reason}[status]
        if "meets" in certificate.reason:
            right = not any(kept)
        yield status, "" if right else f"{parameters} {program} {held_to} {promise}: {certificate.reason}"


@pytest.mark.parametrize(
    "number",
    [
        20,
        pytest.param(250, marks=pytest.mark.slow),
        pytest.param(5_000, marks=(pytest.mark.slow, pytest.mark.long)),
    ],
)
def test_proofs_say_what_running_says(number: int) -> None:
    statuses, complaints = zip(*judged(number, number), strict=True)
    assert not any(complaints), "\n".join(filter(None, complaints))
    assert {"proved", "refuted"} <= {*statuses}


def test_what_proofs_of_the_catalogue_assume_can_be_met() -> None:
    for contract in {each.contract: None for each in catalogue().values()}:
        task = task_for(contract, SYSV)
        for words in zip(*few_cases(contract, 8).columns, strict=True):
            met = [bit for _, bit in conditions(task, Integers(), [int(word) for word in words])]
            assert all(met)
