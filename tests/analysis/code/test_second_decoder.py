"""LLVM's decoder reads the bytes of all forms with semantics as iced-x86 does: lengths, mnemonics, operands, masks."""

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Decoded, Imm, Operand, Reg, decode
from setwise.codegen.catalogue import catalogue
from setwise.codegen.lower import lower
from setwise.codegen.targets import ALL_SETS
from tests.analysis.listings import assemble
from tests.analysis.semantics.forms import forms
from tests.conftest import require_tool

SIZES = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "xmmword": 128, "ymmword": 256, "zmmword": 512}
COMPARISONS = {"0": "eq", "1": "lt", "2": "le", "4": "neq", "5": "nlt", "6": "nle"}
Line = tuple[str, list[str], str, bool]
"""An instruction's mnemonic, its operands, the mask register, and whether masked-out elements become zero."""


def read_by_llvm(codes: Sequence[bytes]) -> list[str]:
    """Return LLVM's text of each instruction: several lines or none where it reads another number of instructions."""
    command = [require_tool("llvm-mc-19"), "--disassemble", "--triple=x86_64", "--output-asm-variant=1"]
    behind = b"\xcc"  # int3, which ends each text
    given = "\n".join("".join(f"0x{byte:02x} " for byte in code + behind) for code in codes)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    lines = [re.sub(r"\s+", " ", line.partition("#")[0]).strip() for line in done.stdout.splitlines()]
    text = "\n".join(line for line in lines if line and not line.startswith("."))
    return [part.strip() for part in re.split(r"^int3$", text, flags=re.MULTILINE)][:-1]


def line_of(text: str) -> Line:
    """Return the parts of LLVM's text."""
    mnemonic, _, rest = text.partition(" ")
    masks = re.findall(r"\{(k\d|z)\}", rest)
    operands = [operand.strip() for operand in re.sub(r" ?\{(?:k\d|z)\}", "", rest).split(",") if operand.strip()]
    mask = next((each for each in masks if each != "z"), "")
    return mnemonic, [normal(operand) for operand in operands], mask, "z" in masks


def normal(operand: str) -> str:
    """Write an operand of LLVM's as `spelt` does."""
    memory = re.fullmatch(r"(?:(\w+) ptr )?\[(.*)\](\{1to\d+\})?", operand)
    if not memory:
        return str(int(operand, 0) % (1 << 64)) if re.fullmatch(r"-?(0x)?[0-9a-f]+", operand) else operand
    size, address, broadcast = memory.groups()
    parts = {"base": "", "index": "", "displacement": "0"}
    for sign, part in re.findall(r"([+-]?) ?([^+\-\s]+)", address):
        if part[0].isdigit() and "*" not in part:
            parts["displacement"] = str(int(sign + part, 0))
        elif "*" in part:
            parts["index"] = part
        else:
            parts["index" if parts["base"] else "base"] = part
    index = parts["index"] if "*" in parts["index"] or not parts["index"] else f"1*{parts['index']}"
    return f"{SIZES[size] if size else 0} {parts['base']} {index} {parts['displacement']} {bool(broadcast)}"


def spelt(operand: Operand, instruction: Decoded) -> str:
    """Write an operand of iced-x86's."""
    if isinstance(operand, Reg):
        return operand.name
    if isinstance(operand, Imm):
        return str(operand.value % (1 << 64))
    base = operand.base.name if operand.base else ""
    displacement = operand.displacement
    if operand.target is not None:
        base, displacement = "rip", operand.target - instruction.end
    index = f"{operand.scale}*{operand.index.name}" if operand.index else ""
    return f"{operand.bits} {base} {index} {displacement} {operand.broadcast}"


def as_llvm_writes(one: Decoded) -> Line:
    """Write an instruction of iced-x86's with the names that LLVM prefers."""
    mnemonic, operands = one.mnemonic, [spelt(each, one) for each in one.operands]
    if one.target is not None:
        operands.append(str((one.target - one.end) % (1 << 64)))
    if mnemonic == "mov" and len(one.raw) == 10 and isinstance(one.operands[1], Imm):
        mnemonic = "movabs"  # an immediate of 64 bits
    if mnemonic in ("shl", "shr", "sar", "rol", "ror") and one.raw[-2] in (0xD0, 0xD1):
        operands.pop()  # the encoding without a count, which is 1
    if mnemonic == "xchg" and isinstance(one.operands[0], Reg):
        operands.reverse()  # the order has no meaning
    if mnemonic in ("pblendvb", "blendvps", "blendvpd"):
        operands.append("xmm0")  # an operand of each, in no byte
    if (compared := re.fullmatch(r"vpcmp(u?[bwdq])", mnemonic)) and operands[-1] in COMPARISONS:
        mnemonic = f"vpcmp{COMPARISONS[operands.pop()]}{compared[1]}"
    return mnemonic, operands, one.mask.name if one.mask else "", one.zeroing


def differences(decoded: Iterable[Decoded]) -> list[str]:
    """The instructions that the two decoders read otherwise, as both write them."""
    by_iced = list({one.raw: one for one in decoded}.values())
    pairs = zip(by_iced, read_by_llvm([each.raw for each in by_iced]), strict=True)
    return [
        f"{one.raw.hex()} {as_llvm_writes(one)} {text!r}"
        for one, text in pairs
        if "\n" in text or as_llvm_writes(one) != line_of(text)
    ]


def test_two_decoders_agree_on_every_form() -> None:
    assert differences(decode(assemble("\n".join(forms())))) == []


def test_a_wrong_decoder_is_seen() -> None:
    (shift,) = decode(bytes.fromhex("48c1e208"))
    assert differences([shift]) == []
    wrong: list[dict[str, Any]] = [
        {"mnemonic": "shr"},
        {"raw": shift.raw + b"\x90"},
        {"operands": shift.operands[::-1]},
    ]
    for change in wrong:
        assert len(differences([replace(shift, **change)])) == 1


@pytest.mark.parametrize(
    "isa", [isa if isa == "gfni" else pytest.param(isa, marks=pytest.mark.slow) for isa in ALL_SETS]
)
def test_two_decoders_agree_on_every_kernel(isa: str) -> None:
    routines = [each for each in catalogue().values() if isa in each.isas]
    assert routines
    kernels = (lower(each, isa) for each in (routines[::40] if isa == "gfni" else routines))
    assert differences(one for kernel in kernels for one in decode(binary_of(kernel).text)) == []
