"""Certificates: what does not follow is refused, and what is accepted holds."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.bounds.certificate import BrokenCertificate, check

CUBE = list(product((1, -1), (2, -2), (3, -3)))
"""Every way that three variables can be is excluded."""

GOOD = ("1 2 0", "1 0", "2 0")

literals = st.integers(1, 4).flatmap(lambda variable: st.sampled_from((variable, -variable)))
clauses = st.lists(st.lists(literals, min_size=1, max_size=3), max_size=24)


def test_a_certificate_is_read_as_far_as_it_is_needed() -> None:
    assert check(CUBE, GOOD) == 3
    assert check(CUBE, (*GOOD, "no clause")) == 3
    assert check([(1,), (-1, 2), (-2,)], ()) == 0
    assert check(CUBE, ("1 2 0", "2 -2 3 0", "d 1 2 3 0", "1 0", "2 0", "0")) == 4


@pytest.mark.parametrize(
    ("broken", "remark"),
    [
        (GOOD[1:], "line 1 of the certificate does not follow: 1 0"),
        (("1 2 0", "2 0"), "ends before the empty clause"),
        (GOOD[:2], "ends before the empty clause"),
        (("-1 2 0", "1 0", "2 0"), "line 2 of the certificate does not follow"),
        (("1 2 0", "-1 0", "2 0"), "line 2 of the certificate does not follow"),
        (("1 2 0", "0"), "line 2 of the certificate does not follow: 0"),
        (("0", *GOOD), "line 1 of the certificate does not follow: 0"),
        (("1 2 0", "d 2 1 0", "1 0", "2 0"), "line 3 of the certificate does not follow"),
        (("4 0", *GOOD), "line 1 of the certificate does not follow"),
        (("-4 0", *GOOD), "line 1 of the certificate does not follow"),
        (("1 2", *GOOD), "line 1 of the certificate is no clause"),
        (("1 0 2 0", *GOOD), "line 1 of the certificate is no clause"),
        (("", *GOOD), "line 1 of the certificate is no clause"),
        (("one 0", *GOOD), "line 1 of the certificate is no clause"),
        ((), "ends before the empty clause"),
    ],
)
def test_a_broken_certificate_is_refused(broken: tuple[str, ...], remark: str) -> None:
    with pytest.raises(BrokenCertificate, match=remark):
        check(CUBE, broken)


@settings(max_examples=40)
@given(clauses, st.lists(st.tuples(st.booleans(), st.lists(literals, max_size=2)), max_size=6))
def test_what_is_accepted_holds(formula: list[list[int]], lines: list[tuple[bool, list[int]]]) -> None:
    try:
        check(formula, ["d " * away + " ".join(map(str, (*clause, 0))) for away, clause in lines])
    except BrokenCertificate:
        return
    ways = product((1, -1), repeat=4)
    assert not any(all(any(way[abs(one) - 1] * one > 0 for one in clause) for clause in formula) for way in ways)
