"""A routine may be held to another one: both descriptions are the same for all inputs."""

from __future__ import annotations

from dataclasses import replace

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.contracts import task_of
from setwise.codegen.board import EAST, NORT, SOUT, WEST
from setwise.codegen.describe.control import nonzero, while_
from setwise.codegen.describe.routine import Routine, Written
from setwise.codegen.describe.values import Value, constant
from setwise.codegen.lower import lower
from tests.codegen.programs import Description, routine


def by_leaps(knights: Value) -> tuple[Value, ...]:
    attacks = constant(0)
    for along, across in ((NORT, EAST), (NORT, WEST), (SOUT, EAST), (SOUT, WEST)):
        attacks |= knights.step(along, along, across) | knights.step(along, across, across)
    return (attacks,)


def square_by_square(knights: Value, missing: int = 64) -> tuple[Value, ...]:
    attacks = constant(0)
    for square in range(64):
        reached = 0
        for files, ranks in ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)):
            file, rank = square % 8 + files, square // 8 + ranks
            if 0 <= file < 8 and 0 <= rank < 8 and square != missing:
                reached |= 1 << 8 * rank + file
        attacks |= (constant(0) - (knights >> square & 1)) & reached
    return (attacks,)


def until_dry(board: Value) -> tuple[Value, ...]:
    return while_(lambda n, _: nonzero(n), lambda n, flood: (n >> 1, flood | n), board, constant(0))[1:]


def held(describe: Description, other: Description) -> Certificate:
    specification: Routine = replace(routine(other, 1), family="other")
    own = routine(describe, 1)
    contract = replace(own.contract, specification=Written("own", specification), results=("attacks",))
    kernel = lower(replace(own, contract=contract), "bmi2")
    return Prover().prove(binary_of(kernel), task_of(kernel))


def test_two_descriptions_are_proved_the_same() -> None:
    assert held(by_leaps, square_by_square).status == "proved"
    assert held(lambda knights: square_by_square(knights, missing=64), by_leaps).status == "proved"


def test_one_that_differs_on_one_square_is_refuted() -> None:
    certificate = held(by_leaps, lambda knights: square_by_square(knights, missing=27))
    assert certificate.status == "refuted"
    assert certificate.counterexample is not None
    assert certificate.counterexample.inputs[0][1] == (1 << 27,)


def test_one_whose_loop_ends_when_it_runs_is_told() -> None:
    certificate = held(by_leaps, until_dry)
    assert certificate.status == "not proved"
    assert "goes round" in certificate.reason
