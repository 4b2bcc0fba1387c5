"""z3 and cvc5 answer as bitwuzla does: questions of every family, set and loop, of mutants and of the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.objects import ObjectError, ObjectFunction
from setwise.analysis.commands.main import main
from setwise.analysis.proof.prover import Prover
from setwise.analysis.proof.smtlib import Question
from setwise.analysis.proofs import prove_function
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from tests.analysis.corpus import built, cases
from tests.analysis.mutants import mutants
from tests.analysis.proof import opinions
from tests.analysis.proof.opinions import SOLVERS, check_agreement, contradictions, some
from tests.conftest import require_module

require_module("bitwuzla")

QUICK = (
    ("push.attacks.east", "bmi2"),
    ("kogge-stone.attacks.west", "avx2"),
    ("shift.one.any", "x86-64"),
    ("kogge-stone.attacks.nort.batch", "sse2"),
    ("kogge-stone.attacks.rook", "gfni"),
)
LOOPS = (
    ("bytewise.carry-loop-32", "bmi2"),
    ("dumb7.attacks-until-dry.noEa", "x86-64"),
    ("dumb7.occluded-rolled.west", "bmi2"),
    ("dumb7.occluded-until-dry.sout", "x86-64"),
    ("exploding.rook", "x86-64"),
    ("kogge-stone.attacks.queen.batch", "avx2"),
    ("kogge-stone.attacks.soWe.batch", "bmi2"),
    ("sliders.union.batch", "avx512"),
)
TOO_LONG = ("bytewise.carry-loop-64",)  # z3 has no answer to its sum within a minute, cvc5 within ten seconds
MUTATED = (
    ("kogge-stone.attacks.noEa", "x86-64"),
    ("push.attacks.west", "avx512"),
    ("bytewise.carry-loop-32", "x86-64"),
)


def of_kernel(name: str, isa: str, number: int) -> list[Question]:
    """Some of what is asked to prove a kernel."""
    kernel, prover = lower(find(name), isa, "sysv"), Prover(keep=True)
    assert prover.prove(binary_of(kernel), task_of(kernel)).status == "proved"
    return some(prover.solver.kept or (), number)


def of_mutants(name: str, isa: str, number: int) -> Iterator[Question]:
    """What is asked of broken forms of a kernel, two of each, and both answers among them."""
    kernel = lower(find(name), isa, "sysv")
    for mutant in mutants(binary_of(kernel), number, seed=number):
        prover = Prover(keep=True)
        prover.prove(mutant.binary, task_of(kernel))
        yield from some(prover.solver.kept or (), 2)


def of_corpus(folder: str, every: int, tmp_path: Path) -> Iterator[Question]:
    """What is asked of some objects of the corpus; some are refused before."""
    wanted = [case for case in cases(folder)[::every] if "limit" not in case.keys]
    files = built(wanted, tmp_path)
    for case in wanted:
        spec, abi = case.keys.get("spec", "shift.one.nort"), case.keys.get("abi", "sysv")
        try:
            proof = prove_function(
                ObjectFunction(str(files[case.label]), case.name), find(spec), abi, time_limit=2, keep=True
            )
        except ObjectError:
            continue
        yield from some(proof.questions, 2)


def test_what_prove_writes_is_read_and_answered_by_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "questions"
    assert (
        main(["prove", "dumb7.attacks.sout", "--isa", "avx2", "--lanes", "2", "--abi", "win64", "--smt", str(folder)])
        == 0
    )
    (file, _) = sorted(folder.iterdir())
    assert file.name == "dumb7.attacks.sout-avx2-2-lanes-win64.001.attacks-is-wrong-for-board-0.smt2"
    text = file.read_text()
    assert text.startswith(
        "; setwise prove dumb7.attacks.sout --isa avx2 --lanes 2 --abi win64 --smt DIR\n"
        "; Is it possible that attacks is wrong for board 0? bitwuzla "
    )
    assert "(set-info :status unsat)\n(set-logic QF_BV)\n" in text
    assert {name: ask(text) for name, ask in SOLVERS.items()} == dict.fromkeys(SOLVERS, "unsat")
    assert f"2 questions in {folder}\n" in capsys.readouterr().out


def test_questions_are_the_same_every_time_and_are_written_into_a_new_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder, names in zip(folders, (["shift.one.*"], ["shift.one.any", "shift.one.nort"]), strict=True):
        assert main(["prove", *names, "--isa", "bmi2", "--abi", "sysv", "--smt", str(folder)]) == 0
    one, other = ({file.name: file.read_text() for file in folder.iterdir()} for folder in folders)
    assert len(other) > 5
    assert other.items() <= one.items()
    assert "-".join(sorted({text.partition("(set-info :status ")[2][:5] for text in one.values()})) == "unsat"
    capsys.readouterr()
    assert main(["prove", "shift.one.any", "--isa", "bmi2", "--smt", str(folders[0])]) == 2
    assert capsys.readouterr().err == f"setwise prove: {folders[0]} is not an empty directory: give a new one\n"
    file = folders[1] / next(iter(other))
    assert main(["prove", "shift.one.any", "--isa", "bmi2", "--smt", str(file)]) == 2
    assert capsys.readouterr().err == f"setwise prove: {file} is not an empty directory: give a new one\n"


def test_unknowns_of_one_name_are_told_apart_and_odd_names_are_written() -> None:
    prover = Prover(keep=True)
    domain, solver = prover.domain, prover.solver
    one, other, odd = (domain.variable(name, 64) for name in ("a", "a", "\u00e9|\\"))
    assert solver.possible([domain.ne(one, other, 64), domain.eq(odd, one, 64)])
    assert not solver.possible([domain.ne(one, other, 64), domain.eq(odd, one, 64), domain.eq(odd, other, 64)])
    assert [question.answer for question in solver.kept or ()] == ["sat", "unsat"]
    check_agreement(solver.kept or ())


@pytest.mark.parametrize(("name", "isa"), QUICK)
def test_others_agree(name: str, isa: str) -> None:
    assert check_agreement(of_kernel(name, isa, 2))["unsat"]


def test_others_agree_on_mutants() -> None:
    assert check_agreement([*of_mutants("kogge-stone.attacks.noEa", "x86-64", 4)])["sat"]


def test_a_solver_that_times_out_contradicts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "_SECONDS", 1)
    declared = "".join(f"(declare-const {name} (_ BitVec 128))(assert (distinct {name} (_ bv1 128)))" for name in "ab")
    product = "(bvmul ((_ zero_extend 128) a) ((_ zero_extend 128) b))"
    factors = f"(assert (= {product} (_ bv{(2**127 - 1) * (2**107 - 1)} 256)))"  # two primes
    hard = f"(set-logic QF_BV){declared}{factors}(check-sat)"
    assert contradictions([Question("there are factors", hard, "sat", "bitwuzla")]) == ([], {"unknown": 2})


def test_an_answer_that_is_wrong_is_contradicted() -> None:
    question = of_kernel("dumb7.attacks.sout", "x86-64", 1)[0]
    others, _ = contradictions([replace(question, answer="sat")])
    assert [other.partition(" says ")[0] for other in others] == [*SOLVERS]
    broken = question.script.replace("bvor", "bvand", 1)
    assert {ask(broken) for ask in SOLVERS.values()} == {"sat"}


@pytest.mark.slow
@pytest.mark.parametrize("isa", TARGETS)
def test_others_agree_on_every_family(isa: str) -> None:
    """A routine of each family; results of whole sides other than the union take the others longer than they have."""
    families: dict[str, list[str]] = {}
    for routine in catalogue().values():
        too_long = routine.name in TOO_LONG or (routine.family == "side" and not routine.form.startswith("union"))
        if isa in routine.isas and not too_long:
            families.setdefault(routine.family, []).append(routine.name)
    turn = [*TARGETS].index(isa)
    for names in families.values():
        check_agreement(of_kernel(names[turn * len(names) // len(TARGETS)], isa, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "isa"), LOOPS)
def test_others_agree_on_every_loop(name: str, isa: str) -> None:
    assert check_agreement(of_kernel(name, isa, 3))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "isa"), MUTATED)
def test_others_agree_on_more_mutants(name: str, isa: str) -> None:
    answers = check_agreement([*of_mutants(name, isa, 12)])
    assert answers["sat"]
    assert answers["unsat"]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "every"), [("evil", 20), ("right", 3)])
def test_others_agree_on_the_corpus(folder: str, every: int, tmp_path: Path) -> None:
    asked: Sequence[Question] = [*of_corpus(folder, every, tmp_path)]
    assert len(asked) > 20
    assert check_agreement(asked)["sat"] if folder == "evil" else check_agreement(asked)["unsat"]
