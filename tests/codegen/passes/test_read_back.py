"""A union of results takes them from memory, after their stores."""

from functools import partial, reduce
from operator import or_, xor
from random import Random

import pytest

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.kernel import plan
from setwise.codegen.passes.read_back import read_back_pass
from setwise.codegen.pipeline import ORDER, lower_forms, refine
from setwise.codegen.run.function import Function
from setwise.codegen.targets import SCALARS, TARGETS
from tests.codegen.programs import routine
from tests.conftest import require_set, runs

BOARDS = tuple(map(parameter, range(3)))
COUNTS = (4, 13), (6, 25), (9, 44), (11, 3), (17, 52), (22, 7), (28, 39), (31, 58)


def results_and_union(*boards: Value, at: int = 8) -> tuple[Value, ...]:
    """Results that share values, so that registers run out, and their union as result number `at`."""
    turned = [board.rotate(n) for board in boards for n, _ in COUNTS[:5]]
    every = reduce(xor, turned)
    results = [reduce(xor, [each & every >> n for each in turned[n % 3 :: 2]]) << m for n, m in COUNTS]
    results.insert(at, reduce(or_, results))
    return tuple(results)


@runs
@pytest.mark.parametrize("isa", SCALARS)
@pytest.mark.parametrize("at", [0, 5, 8])
def test_all_but_one_are_read_back(isa: str, at: int) -> None:
    require_set(isa)
    describe = partial(results_and_union, at=at)
    given = routine(describe, len(BOARDS), results=len(COUNTS) + 1)
    words = [Random(at).getrandbits(64) for _ in BOARDS]
    wanted = tuple(int(lane) for (lane,) in evaluate(Graph(BOARDS, describe(*BOARDS)), words))
    form = next(lower_forms(plan(given, TARGETS[isa], "sysv", None)))
    for keeps in range(len(COUNTS)):
        (made,) = refine(partial(read_back_pass, keeps=keeps), ORDER[1:], form)
        read = [value for value in made.graph.order if value.op == "place"]
        assert len(read) == len(COUNTS) - 1
        assert Function(made.kernel)(*words) == wanted
    assert not [*refine(partial(read_back_pass, keeps=len(COUNTS)), ORDER[1:], form)]
