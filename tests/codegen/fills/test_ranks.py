"""Boards rank by rank: work that needs not wait for other work goes side by side, also in the code."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.describe.values import parameter
from setwise.codegen.fills.ranks import both_ways, evenly
from setwise.codegen.offers import offered_as


def test_works_of_several_lengths_go_side_by_side() -> None:
    a, b, c, d, e, f = map(parameter, range(6))
    assert evenly([a], [b, c, d, e, f]) == [b, c, a, d, e, f]
    assert evenly([a, b], [c, d]) == [a, c, b, d]


def test_north_and_south_take_turns_and_nothing_reaches_the_first_rank() -> None:
    sliders, blockers = (tuple(parameter(first + rank, 8) for rank in range(8)) for first in (0, 8))
    ranks, attacks = zip(*both_ways(sliders, blockers, lambda ahead: ahead), strict=True)
    assert ranks == (1, 6, 2, 5, 3, 4, 4, 3, 5, 2, 6, 1, 7, 0)
    assert attacks[:2] == (sliders[0], sliders[7])


@pytest.mark.parametrize("isa", ["sse2", "avx2", "avx512"])
def test_rooks_go_along_their_ranks_beside_all_else(isa: str) -> None:
    """Their eight subtractions are spread over the round: they need nothing that is made meanwhile."""
    code = offered_as("by-ranks/1-inner", find("sliders.union.batch"), isa).code
    at = [place for place, i in enumerate(code.instructions) if i.mnemonic.endswith("psubb")]
    apart = [later - place for place, later in pairwise(at)]
    assert len(at) == 8
    assert max(apart) < 2 * mean(apart)


def close_behind(variant: str) -> int:
    """How many operations on vectors read what one of the last three wrote."""
    code = offered_as(variant, find("sliders.union.batch"), "avx512").code
    operations = [i.operands for i in code.instructions if i.mnemonic.startswith("vp")]
    return sum(
        any(written[0] in operands[1:] for written in operations[max(0, at - 3) : at])
        for at, operands in enumerate(operations)
    )


def test_in_hastened_rounds_fewer_stand_close_behind_what_they_read() -> None:
    assert close_behind("by-ranks/1-inner-hastening") < 0.8 * close_behind("by-ranks/1-inner")
