"""The forms in the targets' tables: three assemblers write the same bytes for all registers and kinds of address."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from setwise.codegen.assemble import NotEncodable
from setwise.codegen.targets import TARGETS
from tests.codegen.assemble.corpus import CORPUS, ICED_ONLY, spelled
from tests.codegen.assemble.test_assemble import disagreements, encoder, gas
from tests.codegen.targets.tables import forms, instructions

UNKNOWN_TO_PEACHPY = "vgf2p8affineqb"


def test_every_mnemonic_of_the_tables_is_there() -> None:
    corpus = {mnemonic for line in (CORPUS + ICED_ONLY).strip().splitlines() for mnemonic in line.split("|")[0].split()}
    tables = {row.mnemonic for target in TARGETS.values() for row in target.rows}
    tables |= {target.move for target in TARGETS.values() if target.move}
    assert tables - {mnemonic for mnemonic, _ in forms()} == set()
    assert tables - corpus == set()


def test_every_register_is_in_every_place() -> None:
    seen: dict[tuple[str, int], set[int]] = {}
    for instruction in instructions():
        if instruction.mnemonic in ("vpternlogq", "vpand", "andn"):
            for place, operand in enumerate(instruction.operands):
                if hasattr(operand, "number"):
                    seen.setdefault((instruction.mnemonic, place), set()).add(operand.number)
    numbers = {"vpternlogq": 32, "vpand": 16, "andn": 16}
    assert {key: len(found) for key, found in seen.items()} == {
        (m, at): n for m, n in numbers.items() for at in range(3)
    }


@pytest.mark.parametrize("pairs", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["each", "pairs"])
def test_peachpy_and_iced_write_the_same_bytes(pairs: bool) -> None:
    first, second = encoder("peachpy"), encoder("iced")
    every = 1 if pairs else 3  # a third in the quick set: still every register in every place
    for instruction in islice(instructions(pairs=pairs), 0, None, every):
        if instruction.mnemonic == UNKNOWN_TO_PEACHPY:
            with pytest.raises(NotEncodable, match="use the assembler 'iced'"):
                first(instruction, 0)
            continue
        assert first(instruction, 0) == second(instruction, 0), spelled(instruction)


@pytest.mark.parametrize("pairs", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["each", "pairs"])
def test_gnu_as_writes_the_same_bytes(pairs: bool, tmp_path: Path) -> None:
    made = list(instructions(pairs=pairs))
    slots = gas("\n".join(f"{spelled(each)}\n.balign 32, 0xcc" for each in made), tmp_path)
    assert disagreements(made, "iced", slots) == []
