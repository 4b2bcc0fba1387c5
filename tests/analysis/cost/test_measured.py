"""Measured tables as files: what is written is read, and nothing else makes more than a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from setwise.analysis.code.decode import decode
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.processors import processor
from setwise.analysis.cost.processors.measured import AccessRecord, MeasuredTable, RowRecord, read
from setwise.analysis.cost.processors.tuned import Tuned

TABLE = MeasuredTable(
    edition=1,
    machine="A core",
    date="2026-11-22",
    like="zen3",
    features=("avx2",),
    width=6,
    loads={"r": AccessRecord(4, 0.33), "s": AccessRecord(7, 0.5), "x": AccessRecord(7, 0.5)},
    stores={"r": AccessRecord(0, 0.5), "s": AccessRecord(0, 1), "x": AccessRecord(0, 1)},
    forwards={"xr": 7.02},
    rows=(RowRecord(("and", "or"), "r", {"r": 2.99}, 0.5, 1, "I03", clear=True, spread=0.0),),
    tuned=(Tuned("push.attacks.east", "latency", "bmi2", "1-urgency-7", 9.5, digest="0" * 16, among="f" * 16),),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_bytes(TABLE.encoded())
    return path


def test_a_table_is_read_as_it_was_written(file: Path) -> None:
    assert read(file) == TABLE
    here = processor(str(file))
    both, add = decode(bytes.fromhex("4821f84801f8"))  # and, add
    assert here.row(both).latency == 3
    assert "A core, 2026-11-22" in here.row(both).source
    assert here.row(add) == processor("zen3").row(add)
    assert cost([both, add], here).latency == 4
    assert [row.variant for row in here.tuned["push.attacks.east", "latency"]] == ["1-urgency-7"]
    assert (here.forwards["xr"], here.forwards["xx"]) == (7, processor("zen3").forwards["xx"])


def test_of_another_core_only_what_was_measured_is_known(file: Path) -> None:
    file.write_bytes(msgspec.structs.replace(TABLE, like="").encoded())
    here = processor(str(file))
    assert here.lacking(decode(bytes.fromhex("62f1f548efc2"))) == ("avx512f",)
    assert [len(ports) for ports, _ in here.loads["r"].uops] == [3]
    with pytest.raises(ValueError, match="A core, measured 2026-11-22: no row for 'add'"):
        here.row(decode(bytes.fromhex("4801f8"))[0])


def with_row(**changed: Any) -> dict[str, Any]:
    return {"rows": [{**msgspec.to_builtins(TABLE.rows[0]), **changed}]}


MANY = [{**with_row(ports=f"I{a}{b}F{c}")["rows"][0]} for a in range(8) for b in range(a) for c in range(8)]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"edition": 2}, "edition"),
        ({"machine": "\x1b[2J"}, "machine"),
        ({"width": 0}, "width"),
        ({"more": 1}, "more"),
        ({"loads": {}}, "loads and stores of r, s and x are needed"),
        (with_row(mnemonics=["(a+)+"]), "mnemonics"),
        (with_row(ports="I0 +"), "ports"),
        (with_row(ports="p"), "ports"),
        (with_row(latency={"r": -1}), "latency"),
        (with_row(latency={"q": 1}), "latency"),
        (with_row(cycles=1e9), "cycles"),
        ({"rows": MANY}, "too many kinds of ports"),
        ({"tuned": [{"name": "x"}]}, "tuned"),
        ({"tuned": [{**msgspec.to_builtins(TABLE.tuned[0]), "variant": "\n"}]}, "variant"),
        ({"tuned": [{**msgspec.to_builtins(TABLE.tuned[0]), "digest": "0"}]}, "digest"),
        ({"tuned": [{**msgspec.to_builtins(TABLE.tuned[0]), "objective": "size"}]}, "objective"),
        ({"like": "zen9"}, "like 'zen9', which is none of skylake-server"),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(file: Path, changed: dict[str, Any], says: str) -> None:
    file.write_text(json.dumps({**json.loads(TABLE.encoded()), **changed}))
    with pytest.raises(ValueError, match=says) as refused:
        processor(str(file))
    assert str(refused.value).isprintable()
    assert str(file) in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b"\xff", b"{}", b"null", b" " * (1 << 20 | 1)])
def test_other_files_are_refused_in_a_line(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(ValueError, match="give a file that `setwise calibrate -o FILE` wrote"):
        processor(str(file))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path, "a\0b.json", "/dev/zero"):
        with pytest.raises(ValueError, match="give a file that `setwise calibrate -o FILE` wrote"):
            processor(str(path))
