"""Sums proved part by part.

A solver finds it hard to see that two sums of many bits are the same where each bit is written in two ways. So what the
specification adds up is looked for among the words of the code: those that are alike in a few samples, and then shown
to be so for all arguments. Such a word is one unknown from there on: whatever it is, what is made of it must agree. So
it goes with the boards whose squares are counted, then with the count of each, and then with their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.solver import Model, Solver
from setwise.analysis.run.samples import samples
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.spec.task import Task, assumptions

_SAMPLES = 3

Term = Any
"""Of bitwuzla."""


def is_sum(domain: Addresses, value: Bits) -> bool:
    """Whether the value is written as a sum of two words."""
    return bool(domain.term(value, 64).kind() == domain.bitwuzla.Kind.BV_ADD)


def agree_by_parts(
    solver: Solver,
    task: Task,
    words: Sequence[Bits],
    got: Sequence[Bits],
    expected: Sequence[Bits],
    unknown: Callable[[str, int], Bits],
) -> bool:
    """Whether the results are surely those expected for these words; no means only that parts do not show it.

    `unknown` is a variable of that name and width.
    """
    domain = solver.domain
    assumed = assumptions(task, domain, words)

    def alike(one: Bits, other: Bits, names: Mapping[Term, Bits]) -> bool:
        """Whether two words are the same for all arguments, and whatever the terms are that have names."""
        one, other = (domain.renamed(word, names, 64) for word in (one, other))
        if domain.distance(one, other) == 0:
            return True
        return not solver.possible([*assumed, domain.ne(one, other, 64)], about="a part of the result differs")

    models = list(_models(solver, task, words))
    if any(model(one, 64) != model(other, 64) for model in models for one, other in zip(got, expected, strict=True)):
        return False
    in_code = _by_values(models, _words(domain, got))
    boards, counts = _parts(domain, expected)
    named: dict[Term, Bits] = {}
    for at, (values, board) in enumerate(_by_values(models, boards).items()):
        if values in in_code and alike(in_code[values], board, {}):
            named |= dict.fromkeys((in_code[values], board), unknown(f"board {at}", 64))
    names = dict(named)
    for at, (values, count) in enumerate(_by_values(models, counts).items()):
        name = named.get(counts[count])
        if values in in_code and name is not None:
            # Under a name that each board has in turn, so that the same is asked once.
            in_turn = {term: unknown("a board", 64) if other == name else other for term, other in named.items()}
            if alike(in_code[values], count, in_turn):
                names |= dict.fromkeys((in_code[values], count), unknown(f"count {at}", 64))
    return all(alike(one, other, names) for one, other in zip(got, expected, strict=True))


def _parts(domain: Addresses, expected: Sequence[Bits]) -> tuple[list[Term], dict[Term, Term]]:
    """The words that sums are made of, under no constant mask and not shifted; and each sum of one word, with it."""
    kinds = domain.bitwuzla.Kind
    passed = (kinds.BV_AND, kinds.BV_CONCAT, kinds.BV_EXTRACT)
    made_of: dict[Term, frozenset[Term]] = {}

    def parts(term: Term) -> frozenset[Term]:
        if term not in made_of:
            unknown = [child for child in term.children() if not child.is_value()]
            through = term.kind() == kinds.BV_ADD or (len(unknown) == 1 and term.kind() in passed)
            made_of[term] = frozenset[Term]().union(*map(parts, unknown)) if through else frozenset({term})
        return made_of[term]

    for value in expected:
        parts(domain.term(value, 64))
    sums = {term: next(iter(of)) for term, of in made_of.items() if term.kind() == kinds.BV_ADD and len(of) == 1}
    return [term for term, of in made_of.items() if of == {term} and _is_word(term)], sums


def _by_values(models: Sequence[Model], terms: Iterable[Term]) -> dict[tuple[int, ...], Term]:
    """The terms by what they are in all samples, the last of those that are alike."""
    return {tuple(model(term, 64) for model in models): term for term in terms}


def _models(solver: Solver, task: Task, words: Sequence[Bits]) -> Iterator[Model]:
    for numbers in list(samples(task))[-_SAMPLES:]:
        given = [solver.domain.eq(word, number, 64) for word, number in zip(words, numbers, strict=True)]
        model = solver.model([*assumptions(task, solver.domain, words), *given], about="a sample")
        if model is not None:
            yield model


def _words(domain: Addresses, values: Sequence[Bits]) -> list[Term]:
    """The unknown words of 64 bits that the values are made of."""
    found: dict[Term, None] = {}
    waiting = [domain.term(value, 64) for value in values]
    while waiting:
        term = waiting.pop()
        if term not in found and not term.is_value():
            found[term] = None
            waiting += term.children()
    return [term for term in found if _is_word(term)]


def _is_word(term: Term) -> bool:
    return bool(term.sort().is_bv() and term.sort().bv_size() == 64)
