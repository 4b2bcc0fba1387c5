"""A second reading of machine code: LLVM's decoder must read the same instructions as iced-x86."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence

from setwise.analysis.code.decode import Decoded, Imm, Operand, Reg
from setwise.analysis.errors import NotInstalled

_SIZES = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "xmmword": 128, "ymmword": 256, "zmmword": 512}
_COMPARISONS = {"0": "eq", "1": "lt", "2": "le", "4": "neq", "5": "nlt", "6": "nle"}
_Line = tuple[str, list[str], str, bool]
"""An instruction's mnemonic, its operands, the mask register, and whether masked-out elements become zero."""


def differences(decoded: Iterable[Decoded]) -> list[str]:
    """Return the instructions that the two decoders read otherwise, as both write them.

    Lengths, mnemonics, operands and masks are compared. Raises NotInstalled without llvm-mc.
    """
    by_iced = list({one.raw: one for one in decoded}.values())
    pairs = zip(by_iced, _read_by_llvm([each.raw for each in by_iced]), strict=True)
    return [
        f"{one.raw.hex()} is '{one.text()}' or '{'; '.join(text.splitlines())}'"
        for one, text in pairs
        if "\n" in text or _as_llvm_writes(one) != _line_of(text)
    ]


def _read_by_llvm(codes: Sequence[bytes]) -> list[str]:
    """Return LLVM's text of each instruction: several lines or none where it reads another number of instructions."""
    program = next(filter(shutil.which, (*(f"llvm-mc-{number}" for number in range(30, 17, -1)), "llvm-mc")), None)
    if program is None:
        raise NotInstalled("LLVM's decoder, llvm-mc, is not installed: apt-get install llvm")
    command = [program, "--disassemble", "--triple=x86_64", "--output-asm-variant=1"]
    behind = b"\xcc"  # int3, which ends each text
    given = "\n".join("".join(f"0x{byte:02x} " for byte in code + behind) for code in codes)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    lines = [re.sub(r"\s+", " ", line.partition("#")[0]).strip() for line in done.stdout.splitlines()]
    text = "\n".join(line for line in lines if line and not line.startswith("."))
    return [part.strip() for part in re.split(r"^int3$", text, flags=re.MULTILINE)][:-1]


def _line_of(text: str) -> _Line:
    """Return the parts of LLVM's text."""
    mnemonic, _, rest = text.partition(" ")
    masks = re.findall(r"\{(k\d|z)\}", rest)
    operands = [operand.strip() for operand in re.sub(r" ?\{(?:k\d|z)\}", "", rest).split(",") if operand.strip()]
    mask = next((each for each in masks if each != "z"), "")
    return mnemonic, [_normal(operand) for operand in operands], mask, "z" in masks


def _normal(operand: str) -> str:
    """Write an operand of LLVM's as `_spelt` does."""
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
    return f"{_SIZES[size] if size else 0} {parts['base']} {index} {parts['displacement']} {bool(broadcast)}"


def _spelt(operand: Operand, instruction: Decoded) -> str:
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


def _as_llvm_writes(one: Decoded) -> _Line:
    """Write an instruction of iced-x86's with the names that LLVM prefers."""
    mnemonic, operands = one.mnemonic, [_spelt(each, one) for each in one.operands]
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
    if (compared := re.fullmatch(r"vpcmp(u?[bwdq])", mnemonic)) and operands[-1] in _COMPARISONS:
        mnemonic = f"vpcmp{_COMPARISONS[operands.pop()]}{compared[1]}"
    return mnemonic, operands, one.mask.name if one.mask else "", one.zeroing
