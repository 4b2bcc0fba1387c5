"""No kernel's bytes change unseen."""

import pytest

from setwise.codegen.catalogue import catalogue
from setwise.codegen.targets.table import Refused
from tests.golden.digests import lines, recorded, requests

FEW = 60  # of the kernels one in so many, in the quick set
GROUPS = 16


def recorded_of(titles: set[str]) -> list[str]:
    return sorted(line for line in recorded() if line.rpartition(" ")[0] in titles)


def test_every_kernel_has_its_line() -> None:
    titles = [line.rpartition(" ")[0] for line in recorded()]
    assert len(titles) == len(set(titles)) > 2500
    assert set(titles) <= {job.title for job in requests()}


def test_a_few_kernels_are_as_recorded() -> None:
    few = requests()[::FEW]
    made: list[str] = []
    for job in few:
        try:
            made += lines([job])
        except Refused:
            continue
    assert sorted(made) == recorded_of({job.title for job in few})
    assert len(made) > 30


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_all_kernels_are_as_recorded(group: int) -> None:
    names = sorted(catalogue())[group::GROUPS]  # all kernels of a routine together: some share their code
    wanted = [job for job in requests() if job.routine.name in names]
    assert sorted(lines(wanted)) == recorded_of({job.title for job in wanted})
