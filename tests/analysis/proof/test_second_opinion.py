"""z3 and cvc5 answer as bitwuzla does: questions of every family, set and loop, of mutants and of the corpus."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.objects import ObjectError, ObjectFunction
from setwise.analysis.commands.main import main
from setwise.analysis.proof.prover import Prover
from setwise.analysis.proof.solver import Question
from setwise.analysis.proofs import prove_function
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from tests.analysis.corpus import built, cases
from tests.analysis.mutants import mutants
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
_SECONDS = 10  # for one question; who takes longer has no opinion
TOO_LONG = ("bytewise.carry-loop-64",)  # z3 has no answer to its sum within a minute, cvc5 within ten seconds
MUTATED = (
    ("kogge-stone.attacks.noEa", "x86-64"),
    ("push.attacks.west", "avx512"),
    ("bytewise.carry-loop-32", "x86-64"),
)


def by_z3(script: str) -> str:
    """sat, unsat or unknown, as z3 says."""
    z3 = require_module("z3")
    solver = z3.Solver()
    solver.set("timeout", 1000 * _SECONDS)
    solver.from_string(script)
    return str(solver.check())


def by_cvc5(script: str) -> str:
    """sat, unsat or unknown, as cvc5 says."""
    cvc5 = require_module("cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(1000 * _SECONDS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    said = []
    while not (command := parser.nextCommand()).isNull():
        said.append(command.invoke(solver, parser.getSymbolManager()).strip())
    (answer,) = filter(None, said)
    return str(answer).split()[0]  # without the reason behind "unknown"


SOLVERS: Mapping[str, Callable[[str], str]] = MappingProxyType({"z3": by_z3, "cvc5": by_cvc5})


def some(questions: Iterable[Question], number: int) -> list[Question]:
    """Return at most `number` questions: the last of each kind, because it decides the proof; the longest first."""
    by_kind = {question.about.partition(" at 0x")[0]: question for question in questions}
    return sorted(by_kind.values(), key=lambda question: len(question.script), reverse=True)[:number]


def contradictions(questions: Sequence[Question]) -> tuple[list[str], Counter[str]]:
    """Return the contradictions of other solvers, and the number of their answers by kind ("unknown" for none)."""
    others, answers = [], Counter[str]()
    for question in questions:
        for name, ask in SOLVERS.items():
            answer = ask(question.script)
            answers[answer] += 1
            if answer != question.answer and "unknown" not in (answer, question.answer):
                others.append(f"{name} says {answer}, {question.solver} {question.answer}: {question.about}")
    return others, answers


def check_agreement(questions: Sequence[Question]) -> Counter[str]:
    """AssertionError where a solver contradicts bitwuzla, or where of twenty answers more than one is none."""
    others, answers = contradictions(questions)
    assert not others, "\n".join(others)
    assert 20 * answers["unknown"] <= answers.total(), answers
    return answers


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
    assert capsys.readouterr().err == (
        f"setwise prove: {folders[0]} holds {min(one)!r} and {len(one) - 1} more, which no export wrote: "
        "give a new directory\n"
    )
    file = folders[1] / next(iter(other))
    assert main(["prove", "shift.one.any", "--isa", "bmi2", "--smt", str(file)]) == 2
    assert capsys.readouterr().err == f"setwise prove: {file} is not a directory: give another one\n"


def test_unknowns_of_one_name_are_told_apart_and_odd_names_are_written() -> None:
    prover = Prover(keep=True)
    domain, solver = prover.domain, prover.solver
    one, other, odd = (domain.variable(name, 64) for name in ("a", "a", "\u00e9|\\"))
    assert solver.possible([domain.ne(one, other, 64), domain.eq(odd, one, 64)])
    assert not solver.possible([domain.ne(one, other, 64), domain.eq(odd, one, 64), domain.eq(odd, other, 64)])
    assert [question.answer for question in solver.kept or ()] == ["sat", "unsat"]
    check_agreement(solver.kept or ())


@pytest.mark.parametrize(("name", "isa"), [*QUICK, *(pytest.param(*loop, marks=pytest.mark.slow) for loop in LOOPS)])
def test_others_agree(name: str, isa: str) -> None:
    assert check_agreement(of_kernel(name, isa, 3 if (name, isa) in LOOPS else 2))["unsat"]


@pytest.mark.parametrize(
    ("name", "isa", "number"),
    [(*MUTATED[0], 4), *(pytest.param(*kernel, 12, marks=pytest.mark.slow) for kernel in MUTATED)],
)
def test_others_agree_on_mutants(name: str, isa: str, number: int) -> None:
    answers = check_agreement([*of_mutants(name, isa, number)])
    assert answers["sat"]
    assert answers["unsat"] or number < 12


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
@pytest.mark.parametrize(("folder", "every"), [("evil", 20), ("right", 3)])
def test_others_agree_on_the_corpus(folder: str, every: int, tmp_path: Path) -> None:
    asked: Sequence[Question] = [*of_corpus(folder, every, tmp_path)]
    assert len(asked) > 20
    assert check_agreement(asked)["sat"] if folder == "evil" else check_agreement(asked)["unsat"]
