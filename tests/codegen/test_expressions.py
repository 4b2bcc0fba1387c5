"""Small expressions, drawn and run on every instruction set: they give what the independent evaluator gives.

`python -m tests.codegen.test_expressions NUMBER [SEED]` draws this many expressions from the seed. It runs each on two
instruction sets, which are drawn, too.
"""

import random
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.board import DIR8
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import CompassRay, Value, parameter
from setwise.codegen.lower import lower
from setwise.codegen.run.arrays import Elementwise
from setwise.codegen.run.call import missing
from setwise.codegen.run.function import in_memory
from setwise.codegen.targets import ALL_SETS, TARGETS
from tests.codegen.programs import ALL, COUNTED, EXPRESSIONS, MASKS, WORDS, Description, Program, Step, routine, small
from tests.conftest import runs

pytestmark = runs
HERE = [(isa, lanes) for isa in ALL_SETS if not missing(TARGETS[isa]) for lanes in TARGETS[isa].widths]
TOGETHER = 8
"""Expressions of one routine, each a result: so a kernel is made for several."""
_EDGES = (0, ALL, 1, 1 << 63, 0x0123_4567_89AB_CDEF, 0xFFFF_FFFF_0000_0000, 0xFEFE_FEFE_FEFE_FEFE, 0x8000_0001)


def arguments(draw: random.Random) -> NDArray[np.uint64]:
    """Two boards of a few cases: extremes beside each other, and whatever."""
    rows = [[*_EDGES], [*_EDGES[3:], *_EDGES[:3]]]
    return np.array([row + [draw.getrandbits(64) for _ in range(8)] for row in rows], np.uint64)


def union_of_steps(draw: random.Random) -> Description:
    """Steps of a shifted board, and of a union of steps, united under a mask."""
    (first, far, near), steps = draw.choices(DIR8, k=3), draw.randrange(1, 8)
    count, mask = draw.randrange(65), draw.choice(MASKS)

    def describe(a: Value, _: Value) -> tuple[Value, ...]:
        a <<= count
        return ((a.step(first) | CompassRay((far,)).step(a | a.step(near), steps)) & mask,)

    describe.__doc__ = f"{count} {first} {far} {near} {steps} {mask:#x}"
    return describe


def wrong(
    programs: Sequence[Description], sets: Sequence[tuple[str, int]], given: NDArray[np.uint64]
) -> Iterator[tuple[str, int, str]]:
    """The expressions that an instruction set with a number of lanes computes otherwise than the evaluator."""

    def describe(*boards: Value) -> tuple[Value, ...]:
        return tuple(result for program in programs for result in program(*boards))

    together = routine(describe, 2, results=len(programs), batched=True)
    boards = parameter(0), parameter(1)
    graph = Graph(boards, describe(*boards))
    wanted = [np.broadcast_to(lane, given[0].shape) for (lane,) in evaluate(graph, (given[0], given[1]))]
    for isa, lanes in sets:
        takes, results = together.contract.parameters[:2], together.contract.results
        made = Elementwise("test", takes, results, *in_memory(lower(together, isa, lanes=lanes)))((*given,), None)
        for program, got, want in zip(programs, made, wanted, strict=True):
            if (got != want).any():
                yield isa, lanes, str(program if isinstance(program, Program) else program.__doc__)


def sweep(number: int, seed: int, sets: int = 4) -> Iterator[tuple[str, int, str]]:
    """Draw `number` expressions and run each on `sets` instruction sets, drawn with their lanes. Yield the wrong ones.

    Half of the expressions may have words, shifts by values and products.
    """
    draw = random.Random(seed)
    for at in range(0, number, TOGETHER):
        operations = (*EXPRESSIONS, *WORDS) if at // TOGETHER % 2 else EXPRESSIONS
        programs: list[Description] = [small(draw, operations) for _ in range(TOGETHER - 1)]
        programs.append(union_of_steps(draw))
        yield from wrong(programs, draw.sample(HERE, sets), arguments(draw))


@pytest.mark.parametrize(("number", "seed"), [(48, 1), pytest.param(1_000, 2, marks=pytest.mark.slow)])
def test_small_expressions_on_every_instruction_set(number: int, seed: int) -> None:
    assert not list(sweep(number, seed))


@pytest.mark.parametrize("shift", COUNTED)
def test_every_count_under_a_mask(shift: str) -> None:
    """An instruction of 32 bits clears the upper half, but takes only five bits of its count."""
    draw = random.Random(4)
    steps = [(Step(shift, 0, 0, 0, n, False), Step("and", -1, 0, 0xFFFF_FFFF, 0, False)) for n in range(65)]
    for first in range(0, 65, 13):
        programs = [Program(2, each) for each in steps[first : first + 13]]
        assert not list(wrong(programs, HERE, arguments(draw)))


def test_constants_that_words_leave() -> None:
    """Selection folds them: a copy takes a register, and one operand of a comparison does."""
    steps = (
        (("and", -1, 0, 0xFFFF, 0), ("shr", -1, 0, 0, 23), ("deposit_bits", -1, -2, 0, 0), ("copy", -1, 0, 0, 0)),
        (
            *(("rotl", 3, 2, 0, 9), ("and", -1, -2, 0xFFFF_8000_0000_0000, 0), ("shl", -1, 1, 0, 25)),
            *(("extract_bits", 4, -2, 0, 0), ("minimum", -1, -3, 0xFEFE_FEFE_FEFE_FEFE, 0)),
        ),
    )
    programs = [Program(2, tuple(Step(*step, False) for step in each)) for each in steps]
    assert not list(wrong(programs, HERE, arguments(random.Random(6))))


@pytest.mark.slow
def test_every_word_on_every_instruction_set() -> None:
    draw = random.Random(5)
    for word in WORDS:
        numbers = (0, 1), (0, 63), (0xFF7F << 24, 9), (1 << 31, 2), (-(1 << 31) & ALL, 2)
        steps = [Step(word, 0, 1, number, count, False) for number, count in numbers]
        assert not list(wrong([Program(2, (each,)) for each in steps], HERE, arguments(draw)))


if __name__ == "__main__":
    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for done in range(0, number, 10_000):
        for isa, lanes, program in sweep(10_000, seed + done, 2):
            print(isa, lanes, program, flush=True)
        print(f"{done + 10_000} expressions", flush=True)
