"""Cases for every kind of routine: whole sides, one square, numbered directions, adders; and several processes."""

from functools import partial

import numpy as np
import pytest

from setwise.analysis.parallel import in_processes
from setwise.analysis.run.checks import check_kernels
from setwise.analysis.run.inputs import Cases, make_cases
from setwise.analysis.spec import raywalk
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.numbering import BIG_ENDIAN_FILES
from setwise.codegen.request import Request
from setwise.codegen.targets.table import Refused


def cases(name: str, random_boards: int = 0) -> Cases:
    return make_cases(find(name).contract, random_boards=random_boards)


@pytest.mark.slow
def test_every_contract_of_the_catalogue_has_cases() -> None:
    contracts = {routine.contract: routine for routine in catalogue().values()}
    for contract, routine in contracts.items():
        made = make_cases(contract, quick=True, random_boards=50)
        assert made.number > 50, routine.name
        assert made.expected.shape == (made.number, len(contract.results))


@pytest.mark.parametrize(("name", "piece"), [("exploding.orthogonal", "rook"), ("exploding.diagonal", "bishop")])
def test_pieces_of_both_sides_take_every_shape_on_the_rays(name: str, piece: str) -> None:
    made = cases(name)
    squares, white, black = made.columns
    for square in (0, 7, 27, 63):
        here = squares == square
        rays = raywalk.from_square(piece, square, raywalk.ALL)
        assert len(np.unique((white | black)[here] & np.uint64(rays))) == 1 << rays.bit_count()
        for one in (white, black):  # neither side has all of it
            assert len(np.unique(one[here] & np.uint64(rays))) > (1 << rays.bit_count()) // 4
    assert ((white & ~black) != 0).any()
    assert ((black & ~white) != 0).any()


def test_numbered_directions_take_every_shape_on_their_ray_and_numbers_that_are_none() -> None:
    made = cases("exploding.direction.big-endian", 2000)
    squares, numbers, white, black = made.columns
    assert set(range(11)) <= set(numbers.tolist())
    assert (numbers > 1 << 40).any()
    assert not made.expected[(numbers == 0) | (numbers > 8)].any()
    for number, direction in raywalk.NUMBERED.items():
        for square in (0, 20, 63):
            ray = raywalk.from_square(direction, square, raywalk.ALL, BIG_ENDIAN_FILES.numbers)
            here = (squares == square) & (numbers == number)
            assert len(np.unique((white | black)[here] & np.uint64(ray))) == 1 << ray.bit_count()


def test_adders_meet_their_edges() -> None:
    pairs = set(zip(*(column.tolist() for column in cases("bytewise.carry-loop-64").columns), strict=True))
    assert {(raywalk.ALL, 1), (1, raywalk.ALL), (raywalk.ALL, raywalk.ALL), (0, 0)} <= pairs


def test_processes_refuse_as_one_does() -> None:
    routines = [find(f"exploding.{piece}") for piece in ("orthogonal", "diagonal", "rook", "direction")]
    requests = [Request(routine, variant="none of this name") for routine in routines for _ in range(4)]
    with pytest.raises(Refused):
        list(in_processes(partial(check_kernels, quick=True), requests, 2))
