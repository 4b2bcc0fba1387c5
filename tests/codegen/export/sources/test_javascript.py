"""JavaScript: what node computes with an exported module is what the specification says."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.analysis.run.inputs import few_cases
from setwise.codegen.catalogue import catalogue
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import javascript
from setwise.codegen.export.sources.dispatch import choices
from setwise.codegen.kernel import Kernel
from tests.codegen.export.exports import SAMPLE, kernel
from tests.conftest import require_tool

PROGRAM = """
import { readFileSync } from "fs"
import * as kernels from "./setwise.mjs"

const texts = values => Array.from(values, String)
const tried = JSON.parse(readFileSync("cases.json")).map(({ name, elements, columns }) => {
    const boards = columns.map(column => BigUint64Array.from(column, BigInt))
    if (elements) {
        const result = new BigUint64Array(boards[0].length)
        kernels[name](...boards, result, BigInt(boards[0].length))
        return texts(result).map(board => [board])
    }
    return texts(boards[0]).map((_, at) => {
        const given = kernels[name](...boards.map(column => column[at]))
        return typeof given === "bigint" ? [String(given)] : texts(given)
    })
})
console.log(JSON.stringify(tried))
"""


def order(kernels: Sequence[Kernel]) -> Order:
    return Order(tuple(kernels), facts_of, "a test")


def assert_right_under_node(kernels: Sequence[Kernel], folder: Path, number: int) -> None:
    (folder / "setwise.mjs").write_text(javascript.module(order(kernels)))
    (folder / "program.mjs").write_text(PROGRAM)
    asked, expected = [], []
    for choice in choices(order(kernels)):
        contract = choice.plain.routine.contract
        cases = few_cases(contract, number)
        columns = [list(map(str, column.tolist())) for column in cases.columns]
        asked.append({"name": choice.bare, "elements": bool(contract.elements), "columns": columns})
        expected.append([list(map(str, row)) for row in cases.expected.reshape(cases.number, -1).tolist()])
    (folder / "cases.json").write_text(json.dumps(asked))
    done = subprocess.run(
        [require_tool("node"), "program.mjs"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for one, got, wanted in zip(asked, json.loads(done.stdout), expected, strict=True):
        assert got == wanted, one["name"]


def test_a_sample(tmp_path: Path) -> None:
    names = [name for name, isas in SAMPLE if "x86-64" in isas.split()]
    assert_right_under_node([kernel(name) for name in names], tmp_path, 200)


@pytest.mark.slow
def test_every_routine(tmp_path: Path) -> None:
    assert_right_under_node([kernel(name) for name in catalogue() if "x86-64" in catalogue()[name].isas], tmp_path, 400)


def test_vectors_are_refused() -> None:
    with pytest.raises(ValueError, match="JavaScript has no instruction sets: use --isa x86-64"):
        javascript.module(order([kernel("sliders.union", "avx2")]))
