"""What the atlas says of a routine is what count, cost and prove say, each instruction beside its line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.atlas.__main__ import main
from setwise.analysis.atlas.content import content, entry
from setwise.analysis.atlas.site_files import write_one
from setwise.analysis.bench.compilers import Compiled, Compiler
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.cost.part import part_of
from setwise.analysis.cost.processors import PROCESSORS, processor
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_module

ROUTINE = replace(find("kogge-stone.attacks.sout"), isas=("x86-64", "avx512"))
SHIFT = Binary(bytes.fromhex("4889d048c1e808c3"))
MADE = Compiled(ROUTINE.name, "x86-64", 1, "plain", Compiler("gcc", "gcc 1"), ("-march=x86-64",), SHIFT)
LONGER = replace(MADE, binary=Binary(bytes.fromhex("90") + SHIFT.text))
FOR_SCALE = replace(MADE, kind="look-up", binary=Binary(b"\xc3"))


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    require_module("bitwuzla")
    return content(ROUTINE, [LONGER, MADE, FOR_SCALE])


def test_a_routine_has_what_the_page_reads(shown: dict[str, Any]) -> None:
    assert shown.keys() == {"name", "description", "javascript", "kernels"}
    assert shown["description"].keys() == {"file", "lines", "numbers"}
    choice = {"set", "lanes", "convention"}
    of_kernel = {"variant", "counts", "listing", "cycles", "proof", "compilers"}
    assert all(row.keys() == choice | of_kernel for row in shown["kernels"])
    listed = entry(ROUTINE, shown)
    assert listed["kernels"] == [{key: row[key] for key in choice} for row in shown["kernels"]]
    assert listed["printed"] == [
        "soutAttacks (Dumb7Fill, Comparison with Kogge-Stone (right))",
        "soutAttacks (Kogge-Stone Algorithm, Direction-wise Fill: Ray-wise Attacks)",
    ]
    assert [each["name"] for each in listed["parameters"]] == [each.name for each in ROUTINE.contract.parameters]
    assert {(row["set"], row["lanes"]) for row in listed["kernels"]} == {
        ("x86-64", 1),
        *(("avx512", n) for n in (2, 4, 8)),
    }


def test_figures_are_those_of_the_bytes(shown: dict[str, Any]) -> None:
    assert len(shown["kernels"]) == 8
    for row in shown["kernels"]:
        binary = binary_of(lower(ROUTINE, row["set"], row["convention"], row["lanes"]))
        decoded, listing = decode(binary.text), row["listing"]
        assert "".join(each["bytes"] for each in listing) == binary.text.hex()
        assert [each["text"] for each in listing] == [instruction.text() for instruction in decoded]
        assert row["counts"] == count(binary).as_dict()
        assert row["proof"]["status"] == "proved"
        assert row["proof"]["digest"] == binary.sha256
        assert row["cycles"].keys() == {on.name for on in PROCESSORS}
        cost = part_of(binary).cost(processor("ice-lake"))
        cycles = row["cycles"]["ice-lake"]
        assert (cycles["latency"], tuple(cycles["path"])) == (cost.latency, cost.critical)
        assert (row["cycles"]["zen3"] is None) == (row["set"] == "avx512" or row["lanes"] == 8)


def test_instructions_stand_beside_their_lines(shown: dict[str, Any]) -> None:
    description, kernel = shown["description"], shown["kernels"][0]
    text = Path(find.__code__.co_filename).parents[1] / description["file"]
    lines = text.read_text("utf-8").splitlines()
    for number, line in zip(description["numbers"], description["lines"], strict=True):
        assert number is None or lines[number - 1] == line
    first, *_, last, _ = kernel["listing"]
    assert (first["text"][:3], first["line"], first["reads"]) == ("mov", None, [])
    assert description["lines"][last["line"]].strip().startswith("return ray.step(_flood(")
    assert kernel["listing"][1]["reads"] == [0]
    assert description["lines"][kernel["listing"][1]["line"]].strip() == "gen |= pro & ray.step(gen)"


def test_values_stand_beside_their_expressions(shown: dict[str, Any]) -> None:
    lines = shown["description"]["lines"]
    values = {}
    for statement in shown["javascript"][:-1]:
        code, _, place = statement.partition(" // ")
        line, start, end = json.loads(place)
        values[code] = lines[line][start:end]
    assert values["const sout_gen3 = sliders | sout_gen2;"] == "gen |= pro & ray.step(gen)"
    assert values["const sout_run2 = empty & sout_run;"] == "ray.run(pro, 2)"
    assert (
        values["const sout_attacks = sout_flood3 >> 8n;"] == "ray.step(_flood(ray, gen, ray.path(pro, attacks=True)))"
    )
    assert shown["javascript"][-1] == "return sout_attacks;"


def test_of_a_compiler_the_shortest_is_shown(shown: dict[str, Any]) -> None:
    (made,) = shown["kernels"][0]["compilers"]
    assert (made["compiler"], made["counts"]["instructions"]) == ("gcc", 2)
    assert made["listing"] == ["mov rax,rdx", "shr rax,8", "ret"]
    assert shown["kernels"][-1]["compilers"] == []


SAMPLE = ("sliders.union", "exploding.rook", "kogge-stone.attacks.sout.batch")
"""Rays in lanes of several widths, code with jumps, and arrays."""


@pytest.mark.slow
def test_the_atlas_of_a_sample_is_built(tmp_path: Path) -> None:
    assert main([str(tmp_path), *SAMPLE]) == 0
    text = (tmp_path / "index.js").read_text("ascii").splitlines()[1]
    listed = json.loads(text.removeprefix("setwiseAtlas.index(").removesuffix(")"))["routines"]
    assert [each["name"] for each in listed] == [*SAMPLE]
    for each in listed:
        routine = find(each["name"])
        assert {row["set"] for row in each["kernels"]} == {*routine.isas}
        data = (tmp_path / "data" / f"{routine.name}.js").read_text("ascii")
        shown = json.loads(data.removeprefix("setwiseAtlas.routine(").removesuffix(")\n"))
        assert len(shown["kernels"]) == len(each["kernels"])
    union = next(each for each in listed if each["name"] == "sliders.union")
    assert {row["lanes"] for row in union["kernels"] if row["set"] == "gfni"} == {4, 8}


@pytest.mark.parametrize(
    ("words", "told"), [([], "give the folder"), (["atlas", "nothing.like.it"], "unknown routine")]
)
def test_wrong_words_are_told_in_a_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_a_script_holds_data_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"name": "</script><b>", "kernels": []}
    monkeypatch.setattr("setwise.analysis.atlas.site_files.content", lambda *_: rows)
    write_one(tmp_path, ROUTINE.name, ())
    text = (tmp_path / f"{ROUTINE.name}.js").read_text("ascii")
    assert "<" not in text
    assert json.loads(text.removeprefix("setwiseAtlas.routine(").removesuffix(")\n")) == rows
