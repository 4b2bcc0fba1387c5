"""What all recorded measurements have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def assert_reads_back(folder: Path, recorded: Callable[[Path], Any], path: str, measured: Any, key: str) -> None:
    """What is written is read, nothing where there is no file; what is damaged, such as that key, ends in one line."""
    assert recorded(folder) is None
    file = folder / path
    file.parent.mkdir()
    file.write_text(measured.as_json(), encoding="utf-8")
    assert recorded(folder) == measured
    for damaged in ("{", "[]", '{"rows": []}', measured.as_json().replace(f'"{key}"', '"damaged"')):
        file.write_text(damaged, encoding="utf-8")
        with pytest.raises(ValueError, match=rf"make it anew by setwise report --measure {file.stem}") as raised:
            recorded(folder)
        assert "\n" not in str(raised.value)
