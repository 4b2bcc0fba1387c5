"""The prover can fail: broken machine code is refuted, by a counterexample that the processor confirms."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import pytest

from analysis.certificate import Certificate
from analysis.commands import binary_of
from analysis.confirm import confirm
from analysis.contracts import task_of
from analysis.decode import Binary
from analysis.mutants import KINDS, mutants
from analysis.prove import Prover
from codegen.catalogue import catalogue, find
from codegen.lower import Kernel, lower
from tests.analysis.cpu import Cpu
from tests.analysis.replay import wrong
from tests.conftest import require_module

EACH = 20
QUICK = (
    ("kogge-stone.attacks.noEa", "x86-64"),
    ("dumb7.occluded-until-dry.east", "x86-64"),
    ("push.attacks.east", "bmi2"),
    ("shift.one.sout", "x86-64"),
    ("kogge-stone.attacks.west", "avx2"),
    ("kogge-stone.attacks.rook", "avx512"),
    ("kogge-stone.attacks.nort.batch", "sse2"),
    ("sliders.pair", "avx512"),
)
# The routines with several targets whose forms of instruction are most different from the scalar ones.
VECTORS = ("kogge-stone.attacks.queen", "sliders.union", "sliders.rays", "kogge-stone.attacks.soWe.batch")


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `what` says which it was."""

    outcome: str
    what: str


def judge(name: str, isa: str, number: int) -> list[Verdict]:
    """The verdicts on so many mutants of a kernel."""
    kernel, prover = lower(find(name), isa, "sysv"), Prover()
    cpu = _cpu()
    verdicts = []
    for mutant in mutants(binary_of(kernel), number, seed=len(name)):
        made = prover.prove(mutant.binary, task_of(kernel), 60)
        verdicts.append(Verdict(_outcome(kernel, made, cpu), f"{name} {isa}: {mutant.what}: {made.reason}"))
    return verdicts


def _cpu() -> Cpu | None:
    try:
        return Cpu()
    except pytest.skip.Exception:
        return None


def _outcome(kernel: Kernel, made: Certificate, cpu: Cpu | None) -> str:
    found = made.counterexample
    if made.status == "proved":
        return "equivalent"
    if made.status == "not proved":
        # An instruction without semantics is refused by name, and a mutant may be one.
        return "refused" if "no semantics for" in made.reason else "not proved"
    assert found is not None
    if not found.runs:
        return "breach"
    if cpu is not None:
        confirmed = wrong(cpu, made)
    else:
        said = confirm(kernel, made)
        if said.status == "not run":
            return "not run"
        confirmed = said.status == "confirmed"
    if confirmed:
        return "confirmed"
    # A result that is made of the stack's address is wrong for another address than it has here.
    return "address" if not found.certain and any("rsp" in i.text() for i in made.instructions) else "disagrees"


def check(verdicts: list[Verdict]) -> Counter[str]:
    bad = [verdict for verdict in verdicts if verdict.outcome in ("disagrees", "not proved")]
    assert not bad, "\n".join(f"{verdict.outcome}: {verdict.what}" for verdict in bad)
    return Counter(verdict.outcome for verdict in verdicts)


@pytest.mark.parametrize(("name", "isa"), QUICK)
def test_some_mutants_are_refuted_or_equivalent(name: str, isa: str) -> None:
    require_module("bitwuzla")
    outcomes = check(judge(name, isa, EACH))
    assert sum(outcomes.values()) == EACH
    assert outcomes["confirmed"] + outcomes["breach"] + outcomes["not run"] >= EACH // 2


def _jobs() -> Iterator[tuple[str, str]]:
    yield from ((name, "x86-64") for name in catalogue())
    yield from ((name, isa) for name in VECTORS for isa in catalogue()[name].isas if isa != "x86-64")


@pytest.mark.slow
def test_at_least_twenty_mutants_of_every_routine_are_refuted_or_equivalent() -> None:
    require_module("bitwuzla")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        running = [pool.submit(judge, name, isa, EACH + 2) for name, isa in _jobs()]
        each = [one.result() for one in running]
    outcomes = check([verdict for verdicts in each for verdict in verdicts])
    judged = [sum(verdict.outcome != "refused" for verdict in verdicts) for verdicts in each]
    assert min(judged) >= EACH
    assert sum(judged) >= 2000
    assert outcomes["confirmed"] + outcomes["not run"] > sum(judged) // 2
    assert outcomes["address"] <= sum(judged) // 100


def test_mutants_are_of_all_kinds_and_always_the_same() -> None:
    binary = binary_of(lower(find("dumb7.occluded-until-dry.east"), "x86-64", "sysv"))
    found = list(mutants(binary, 200, seed=3))
    assert {mutant.kind for mutant in found} == set(KINDS)
    assert found == list(mutants(binary, 200, seed=3))
    assert found != list(mutants(binary, 200, seed=4))
    assert len({mutant.binary for mutant in found}) == 200
    assert all(len(mutant.binary.text) == len(binary.text) for mutant in found)
    assert binary not in {mutant.binary for mutant in found}
    assert isinstance(binary, Binary)
