"""Which table is this processor's: by the numbers that it has in the vendors' lists."""

from __future__ import annotations

import pytest

from setwise.analysis.measure import here


@pytest.mark.parametrize(
    ("family", "model", "name"),
    [
        (25, 1, "zen3"),
        (25, 17, "zen4"),
        (25, 97, "zen4"),
        (26, 2, "zen5"),
        (26, 17, "zen5"),
        (26, 68, "zen5"),
        (26, 36, None),  # vector units of half the width
        (26, 80, None),  # not Zen 5 any more
        (6, 85, "skylake-server"),
        (6, 106, "ice-lake"),
        (6, 143, None),
        (0, 0, None),
    ],
)
def test_processors_by_family_and_model(
    monkeypatch: pytest.MonkeyPatch, family: int, model: int, name: str | None
) -> None:
    monkeypatch.setattr(here, "_numbers", lambda: (family, model))
    found = here.processor_here()
    assert (found.name if found else None) == name
