"""`setwise count` of kernels' code; of what a call executes: tests/analysis/run/test_executed.py."""

from __future__ import annotations

import json

from tests.analysis.commands.running import DUMB7, KOGGE_STONE, Capture, printed


def test_count_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "count", DUMB7, KOGGE_STONE, "--abi", "wiki", "--json"))
    sums = {"name", "isa", "lanes", "abi", "instructions", "memory_operands", "bytes"}
    for row in rows:
        classes = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
        assert {*sums, *classes} <= row.keys()
        assert sum(row[key] for key in classes) == row["instructions"]
    assert [(row["name"], row["moves"], row["operations"], row["instructions"]) for row in rows] == [
        (DUMB7, 1, 19, 20),
        (KOGGE_STONE, 5, 14, 19),
    ]
    assert {(row["isa"], row["abi"], row["lanes"]) for row in rows} == {("x86-64", "wiki", 1)}


def test_count_as_a_table(capsys: Capture) -> None:
    head, rule, *rows = printed(capsys, "count", "dumb7.attacks.*t", "--abi", "win64").splitlines()
    assert head.split()[:5] == ["name", "isa", "abi", "instructions", "moves"]
    assert set(rule) == {"-", " "}
    assert [row.split()[:3] for row in rows] == [
        [f"dumb7.attacks.{name}", "x86-64", "win64"] for name in ("east", "sout", "west", "nort")
    ]
