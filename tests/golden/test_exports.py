"""Exported files do not change unseen."""

import pytest

from tests.conftest import few
from tests.golden.exports import ROUTINES, lines, recorded

FEW = 8  # one routine of eight in the quick set


def recorded_of(routine: str) -> list[str]:
    return [line for line in recorded() if line.startswith(f"{routine} ")]


def test_every_routine_is_recorded() -> None:
    assert list(dict.fromkeys(line.partition(" ")[0] for line in recorded())) == list(ROUTINES)


@pytest.mark.parametrize("routine", few(ROUTINES[::FEW], 4))
def test_a_few_exports_are_as_recorded(routine: str) -> None:
    assert list(lines([routine])) == recorded_of(routine)


@pytest.mark.slow
@pytest.mark.parametrize("routine", sorted({*ROUTINES} - {*ROUTINES[::FEW]}))
def test_all_exports_are_as_recorded(routine: str) -> None:
    assert list(lines([routine])) == recorded_of(routine)
