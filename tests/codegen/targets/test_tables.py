"""The forms in the targets' tables: four assemblers write the same bytes for all registers and kinds of address."""

import subprocess
from itertools import islice
from pathlib import Path

import pytest

from setwise.codegen.assemble import NotEncodable
from setwise.codegen.machine.code import Instruction, Memory, Register
from setwise.codegen.targets import TARGETS
from tests.codegen.assemble.spelling import spelled
from tests.codegen.assemble.test_assemble import encoder, gas, text_of
from tests.codegen.targets.tables import forms, instructions
from tests.conftest import few, require_tool

UNKNOWN_TO_PEACHPY = ("vgf2p8affineqb", "vpopcntb")


def disagreements(instructions: list[Instruction], slots: bytes) -> list[str]:
    """Return the instructions that another assembler encodes otherwise than iced-x86; each has a slot of 32 bytes."""
    encode = encoder("iced")
    found = []
    for at, instruction in enumerate(instructions):
        ours = encode(instruction, 0)
        slot = slots[32 * at : 32 * at + 32]
        if slot != ours.ljust(32, b"\xcc"):
            found.append(f"{spelled(instruction)}: iced {ours.hex(' ')}, other {slot[:16].hex(' ')}")
    return found


def test_every_mnemonic_of_the_tables_is_there() -> None:
    tables = {row.mnemonic for target in TARGETS.values() for row in target.rows}
    tables |= {target.move for target in TARGETS.values() if target.move}
    assert tables - {mnemonic for mnemonic, _ in forms()} == set()


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


@pytest.mark.parametrize("pairs", few([False, True], 1), ids=["each", "pairs"])
def test_peachpy_and_iced_write_the_same_bytes(pairs: bool) -> None:
    first, second = encoder("peachpy"), encoder("iced")
    every = 1 if pairs else 3  # a third in the quick set: still every register in every place
    for instruction in islice(instructions(pairs=pairs), 0, None, every):
        if instruction.mnemonic in UNKNOWN_TO_PEACHPY:
            with pytest.raises(NotEncodable, match="use the assembler 'iced'"):
                first(instruction, 0)
            continue
        assert first(instruction, 0) == second(instruction, 0), spelled(instruction)


@pytest.mark.parametrize("pairs", few([False, True], 1), ids=["each", "pairs"])
def test_gnu_as_writes_the_same_bytes(pairs: bool, tmp_path: Path) -> None:
    made = list(instructions(pairs=pairs))
    slots = gas("\n".join(f"{spelled(each)}\n.balign 32, 0xcc" for each in made), tmp_path)
    assert disagreements(made, slots) == []


def nasm_chooses_otherwise(instruction: Instruction) -> bool:
    """Return whether NASM picks a longer or shorter encoding; exported code should not contain such instructions."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if mnemonic == "mov" and isinstance(operands[1], int):  # mov rax, 1 becomes mov eax, 1
        return isinstance(operands[0], Register) and operands[0].bits == 64 and 0 <= operands[1] < 2**32
    if mnemonic in ("vmovdqa", "vmovdqu", "vmovq"):  # no swap of the two registers' places for a shorter VEX prefix
        return all(isinstance(each, Register) for each in operands)
    if mnemonic in ("pshufd", "palignr", "pshuflw"):  # it takes these with memory of no stated size only
        return isinstance(operands[1], Memory)
    return mnemonic == "xchg"


def test_nasm_writes_the_same_bytes(tmp_path: Path) -> None:
    made = [each for each in islice(instructions(), 0, None, 3) if not nasm_chooses_otherwise(each)]
    path = tmp_path / "source.asm"
    lines = "\n".join(f"{spelled(each, nasm=True)}\nalign 32, db 0xcc" for each in made)
    path.write_text(f"section .text align=32\n{lines}\nsection .data\ndatum: dq 0\n")
    subprocess.run([require_tool("nasm"), "-f", "elf64", "-o", tmp_path / "source.o", path], check=True)
    assert disagreements(made, text_of(tmp_path / "source.o", tmp_path)) == []
