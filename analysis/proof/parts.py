"""Proofs of sums by parts.

A solver cannot easily show that two sums of many bits are equal if each bit is written in two ways. So the operands of
the specification's sums are matched with words of the code: words that agree in a few samples and are then proved
equal for all arguments. Each matched word is replaced by one unknown in both formulas. This is done for the boards
whose squares are counted, then for the count of each, which is below 128. Then the sums are compared.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.solver import Model, Solver
from setwise.analysis.run.samples import samples
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.spec.task import Task, assumptions

_SAMPLES = 3

Term = Any
"""A term of bitwuzla."""


def has_sum(domain: Addresses, values: Sequence[Bits]) -> bool:
    """Return whether one of the values is a sum of two words."""
    return any(domain.term(value, 64).kind() == domain.bitwuzla.Kind.BV_ADD for value in values)


def agree_by_parts(
    solver: Solver, task: Task, words: Sequence[Bits], got: Sequence[Bits], expected: Sequence[Bits]
) -> bool:
    """Return whether `got` is proved equal to `expected` for arguments `words`. False decides nothing."""
    domain = solver.domain
    assumed = assumptions(task, domain, words)

    def alike(one: Bits, other: Bits, names: Mapping[Term, Bits]) -> bool:
        """Return whether two words are proved equal for all arguments and for all values of the terms in `names`."""
        one, other = (domain.renamed(word, names, 64) for word in (one, other))
        if domain.distance(one, other) == 0:
            return True
        return not solver.possible(
            [*assumed, domain.ne(one, other, 64)], sums=True, about="a part of the result differs"
        )

    models = list(_models(solver, task, words))
    if any(model(one, 64) != model(other, 64) for model in models for one, other in zip(got, expected, strict=True)):
        return False
    in_code = _by_values(models, _words(domain, got))
    boards, counts = _parts(domain, expected)
    named: dict[Term, Bits] = {}
    for at, (values, board) in enumerate(_by_values(models, boards).items()):
        if values in in_code and alike(in_code[values], board, {}):
            named |= dict.fromkeys((in_code[values], board), domain.unknown(f"board {at}"))
    names = dict(named)
    for at, (values, count) in enumerate(_by_values(models, counts).items()):
        name = named.get(counts[count])
        if values in in_code and name is not None:
            # Each board in turn gets the same name, so that equal queries are asked once.
            in_turn = {term: domain.unknown("a board") if other == name else other for term, other in named.items()}
            if alike(in_code[values], count, in_turn) and alike(_low_bits(domain, count), count, in_turn):
                names |= dict.fromkeys((in_code[values], count), _low_bits(domain, domain.unknown(f"count {at}")))
    return all(alike(one, other, names) for one, other in zip(got, expected, strict=True))


def _low_bits(domain: Addresses, count: Bits) -> Bits:
    """Return a count below 128 with zeros above it that the solver sees: code may add up its lowest byte alone."""
    return domain.concat(0, domain.extract(count, 0, 7, 64), 57, 7)


def _parts(domain: Addresses, expected: Sequence[Bits]) -> tuple[list[Term], dict[Term, Term]]:
    """Return the words of which parts are summed, and a map from each sum of parts of only one term to that term."""
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
    """Return the terms by their values in all samples. Of terms with equal values the last is kept."""
    return {tuple(model(term, 64) for model in models): term for term in terms}


def _models(solver: Solver, task: Task, words: Sequence[Bits]) -> Iterator[Model]:
    for numbers in list(samples(task))[-_SAMPLES:]:
        given = [solver.domain.eq(word, number, 64) for word, number in zip(words, numbers, strict=True)]
        model = solver.model([*assumptions(task, solver.domain, words), *given], about="a sample")
        if model is not None:
            yield model


def _words(domain: Addresses, values: Sequence[Bits]) -> list[Term]:
    """Return the non-constant 64-bit terms that occur in the values."""
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
