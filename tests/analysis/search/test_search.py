"""The search finds what is known to be there, and says nothing of code that it cannot follow."""

from __future__ import annotations

import time

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.contracts import task_of
from setwise.analysis.search.back import binary_of_code, shortest
from setwise.analysis.search.forms import SearchError
from setwise.analysis.search.hunt import Hunt
from setwise.analysis.search.lift import JumpError, lift
from setwise.analysis.search.search import Finding, length, places, search
from setwise.analysis.search.subject import Subject, instruction_set
from setwise.analysis.search.trials import Trials
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.search.superseded import superseded
from tests.conftest import require_module

require_module("bitwuzla")

SOUTH = Subject("kogge-stone.attacks.sout", "x86-64", "sysv")


_WHOLE = ("sliders.union", "sliders.pair", "sliders.pieces")


def found(subject: Subject, binary: Binary, level: str, first: int = 0, last: int | None = None) -> Finding | None:
    """The first that a level finds."""
    last = places(subject, binary, level) if last is None else last
    return search(subject, binary, level, range(first, last), time.time() + 1000)[1]


@pytest.mark.slow
def test_a_ternary_instruction_that_does_nothing_goes() -> None:
    subject, binary = superseded("sliders.pieces", "avx512")
    finding = found(subject, binary, "a", 5, 6)
    assert finding is not None
    assert (finding.before, finding.after) == (48, 47)
    assert finding.said.startswith("'vpternlogq zmm17,zmm17,[rel 0x1c0],0xf0'")
    assert Prover().prove(finding.binary, subject.task).status == "proved"


def test_an_instruction_that_a_switch_does_not_need_goes() -> None:
    subject, binary = superseded("exploding.bishop", "x86-64")
    finding = found(subject, binary, "a", 37)
    assert finding is not None
    assert (finding.before, finding.after, finding.said) == (42, 41, "'and r9,rsi' goes")


@pytest.mark.parametrize(
    ("name", "isa"),
    [
        ("kogge-stone.attacks.noWe", "bmi2"),
        ("push.attacks.soEa", "sse2"),
        ("sliders.rays", "gfni"),
        *(pytest.param(name, isa, marks=pytest.mark.slow) for name in _WHOLE for isa in find(name).isas),
    ],
)
def test_code_comes_back_as_short_as_it_was(name: str, isa: str) -> None:
    kernel = lower(find(name), isa)
    binary = binary_of(kernel)
    code = shortest(lift(binary, task_of(kernel), kernel.target), kernel)
    again = binary_of_code(code) if code else None
    assert again is not None
    assert length(again) <= length(binary)
    assert Prover().prove(again, task_of(kernel)).status == "proved"


def test_values_are_those_that_code_gives() -> None:
    """Every step, left as it is, stands in for itself; turned round it does not."""
    kernel = lower(find(SOUTH.routine))
    trials = Trials(kernel.routine.contract, task_of(kernel), lift(binary_of(kernel), task_of(kernel), kernel.target))
    domain = trials.few.domain
    for step in trials.program.steps:
        (lane,) = trials.lanes(step.number)
        lanes = [(lane,), (domain.not_(lane, 64),)]
        assert list(trials.standing_in(step.number, lanes)) == [0], step.said


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("4839f7 480f42f7 4889f0 c3", "reads flags"),
        ("4889f0 7400 c3", "jumps or calls"),
        ("0fc8 c3", ""),
        ("488b07 c3", "what it reads from memory"),
        ("88f0 c3", "a part of a register"),
        ("48f7e6 c3", "several results"),
        ("5b c3", "the stack"),
        ("4889f3 4889f0 c3", "rbx does not come back"),
        ("90", "its one ret"),
    ],
)
def test_what_is_not_followed_is_refused(code: str, why: str) -> None:
    binary = Binary(bytes.fromhex(code))
    target = SOUTH.plan.target
    if why:
        with pytest.raises(SearchError, match=why):
            lift(binary, SOUTH.task, target)
    else:
        assert lift(binary, SOUTH.task, target).steps


def test_code_that_is_wrong_is_not_searched() -> None:
    with pytest.raises(SearchError, match="setwise prove"):
        places(SOUTH, Binary(bytes.fromhex("4889f8c3")), "a")


def test_a_switch_is_searched_by_level_a_alone() -> None:
    subject, binary = superseded("exploding.bishop", "x86-64")
    assert places(subject, binary, "a") == 41
    with pytest.raises(JumpError):
        lift(binary, subject.task, subject.plan.target)


def test_a_hunt_goes_on_from_what_is_found() -> None:
    subject, binary = superseded("exploding.bishop", "x86-64")
    hunt = Hunt.of(subject, binary, ("a",))
    (part,) = hunt.parts(None)
    finding = found(subject, binary, "a", 37)
    tally, _ = search(subject, binary, "a", [0], time.time() + 1000)
    assert hunt.add(part, tally, finding)
    assert (hunt.before, hunt.after, hunt.done) == (42, 41, [])
    (again,) = hunt.parts(None)
    assert again.binary == hunt.binary != binary
    assert not hunt.add(part, tally, finding)  # of code that is no longer searched
    assert hunt.add(again, tally, None)  # one place, then its time was over
    assert (hunt.done, hunt.looked) == (["a"], {"a": {0}})
    assert hunt.parts(None) == []


def test_the_instruction_set_is_the_first_that_has_all() -> None:
    assert instruction_set(Binary(bytes.fromhex("4889f8c3"))) == "x86-64"
    assert instruction_set(superseded("sliders.pieces", "avx512")[1]) == "avx512"
    assert instruction_set(superseded("push.attacks.east", "sse2")[1]) == "sse2"
