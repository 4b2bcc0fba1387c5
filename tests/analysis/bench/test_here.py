"""Which table is this processor's: by the numbers that it has in the vendors' lists."""

import pytest

from setwise.analysis.bench import here


@pytest.mark.parametrize(
    ("family", "model", "amx", "name"),
    [
        (25, 1, False, "zen3"),
        (25, 17, False, "zen4"),
        (25, 97, False, "zen4"),
        (26, 2, False, "zen5"),
        (26, 17, False, "zen5"),
        (26, 68, False, "zen5"),
        (26, 36, False, None),  # vector units of half the width
        (26, 80, False, None),  # not Zen 5 any more
        (6, 85, False, "skylake-server"),
        (6, 106, False, "ice-lake"),
        (6, 143, False, "golden-cove"),
        (6, 167, True, "golden-cove"),  # as a virtual machine tells it
        (6, 167, False, None),
        (6, 198, False, None),
        (0, 0, False, None),
    ],
)
def test_processors_by_family_and_model(
    monkeypatch: pytest.MonkeyPatch, family: int, model: int, amx: bool, name: str | None
) -> None:
    told = {"cpu family": str(family), "model": str(model), "flags": "avx2 amx_tile" if amx else "avx2"}
    monkeypatch.setattr(here, "_told", lambda: told)
    found = here.processor_here()
    assert (found.name if found else None) == name
