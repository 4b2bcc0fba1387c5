"""Random descriptions of everything that can be described come out right: as code that runs, and for all inputs.

Each is lowered, run against the evaluator of its graph, and proved against it; or it is refused in one line.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.prover import Prover
from setwise.analysis.proof.solver import LimitError
from setwise.analysis.semantics.words import Word
from tests.codegen import descriptions
from tests.codegen.descriptions import described
from tests.codegen.judging import judged


def judge(seeds: Iterable[int]) -> Counter[str]:
    """How those descriptions end; kinds, sets and conventions take turns."""
    ends: Counter[str] = Counter()
    prover = Prover()
    for seed in seeds:
        description, isa, abi = described(seed)
        try:
            ends[judged(description, isa, abi, prover)] += 1
        except Exception as error:
            raise AssertionError(f"{description} on {isa}, {abi}: {type(error).__name__}: {error}") from error
    return ends


def test_a_question_ends_at_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = Word(domain := Addresses(), domain.variable("a", 64))
    assert descriptions.possible(unknown)
    monkeypatch.setattr(descriptions, "SECONDS", -1.0)
    with pytest.raises(LimitError):
        descriptions.possible(unknown)


def test_a_dozen_descriptions() -> None:
    ends = judge(range(1, 13))
    assert ends["proved"] >= 10
    assert ends["refused"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("block", [*range(3), *(pytest.param(block, marks=pytest.mark.long) for block in range(3, 10))])
def test_a_thousand_descriptions(block: int) -> None:
    ends = judge(range(100 * block, 100 * (block + 1)))
    assert ends["proved"] >= 85
    assert ends["refused"] <= 4


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("block", range(200))
def test_twenty_thousand_descriptions(block: int) -> None:
    judge(range(1000 + 100 * block, 1000 + 100 * (block + 1)))
