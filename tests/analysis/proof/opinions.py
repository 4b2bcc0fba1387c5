"""Other solvers asked what bitwuzla was asked, in SMT-LIB 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from setwise.analysis.proof.smtlib import Question
from tests.conftest import require_module

_SECONDS = 10  # for one question; who takes longer has no opinion


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
    """So many of them: of each kind the last one, for what is asked last decides, and then the longest."""
    by_kind = {question.about.partition(" at 0x")[0]: question for question in questions}
    return sorted(by_kind.values(), key=lambda question: len(question.script), reverse=True)[:number]


def contradictions(questions: Sequence[Question]) -> tuple[list[str], Counter[str]]:
    """What other solvers say otherwise; and how many answers there were of each kind, "unknown" for no opinion."""
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
