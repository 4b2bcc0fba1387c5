"""What all recorded measurements have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest

from setwise.analysis.report.files import write
from setwise.analysis.report.records import Record

T = TypeVar("T")


def assert_reads_back(folder: Path, record: Record[T], held: T, key: str) -> None:
    """What is written is read, nothing where there is no file; what is damaged, such as that key, ends in one line."""
    assert record.read(folder) is None
    text = record.text(held)
    write(folder, {record.path: text})
    assert record.read(folder) == held
    for damaged in ("{", "[]", '{"rows": [{"nothing": 1}]}', text.replace(f'"{key}"', '"damaged"')):
        write(folder, {record.path: damaged})
        with pytest.raises(ValueError, match=f"{Path(record.path).name} cannot be read .*: ") as raised:
            record.read(folder)
        assert str(raised.value).endswith(record.remedy or f": make it anew by {record.command}")
        assert "\n" not in str(raised.value)
