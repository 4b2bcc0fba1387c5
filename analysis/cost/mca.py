"""A second opinion on costs: llvm-mca, where it is installed, on the same instructions.

Its figures are estimates of a loop around the code, ours lower bounds. Where they differ, known differences of its
models are named; nothing else is guessed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from setwise.analysis.code.decode import Decoded, Reg
from setwise.analysis.cost.bounds import Cost
from setwise.analysis.cost.processors.table import Processor

PROGRAMS = ("llvm-mca-19", "llvm-mca-20", "llvm-mca-18", "llvm-mca-17", "llvm-mca")
"""Older ones, which `llvm-mca` alone may be, do not know Zen 4."""
_NAMES = {"skylake-server": "skylake-avx512", "ice-lake": "icelake-server", "zen3": "znver3", "zen4": "znver4"}
# Not zen5: up to LLVM 21 its model of znver5 is that of Zen 4. Nor golden-cove: LLVM 19 takes two cycles for `and`.
_WIDTHS = {"skylake-server": 6, "ice-lake": 6, "zen3": 6, "zen4": 6}  # what its models dispatch a cycle
_FIGURES = {
    "zen3": r"vpermd|vpermps|v?pmov[sz]x\w+",
    "zen4": r"tzcnt|bs[fr]|vperm\w+|valign[dq]|v(extract|insert|shuf)\w+|v?p?(unpck|shuf)\w+|v?pcmp(eq|gt)q|"
    r"vpro[lr][dq]|v?ps[lr]l(q|dq)",
}
"""Mnemonics for which LLVM 19 has other cycles or units than ours, which are timed.

For Zen 4 it has much of Zen 3's; llvm-project's pull request 161405 corrects part of that after LLVM 19.
"""
_ROUNDS = 100
_SLACK = 0.05


@dataclass(frozen=True, slots=True)
class Opinion:
    """Cycles a round of the code repeated, of one execution alone, and why they are not ours; None: not run."""

    cycles: float | None
    latency: float | None
    why: str


def installed() -> str | None:
    """The path of this machine's llvm-mca; None without one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def opinion(stream: Sequence[Decoded], processor: Processor, ours: Cost, is_round: bool = False) -> Opinion:
    """What llvm-mca says of these instructions; where it is not installed, that it was not run."""
    program = installed()
    if program is None:
        return Opinion(None, None, "not run: no llvm-mca")
    if processor.name not in _NAMES:
        return Opinion(None, None, "not run: it has no model of this processor")
    body = [instruction for instruction in stream if instruction.flow == "next"]
    source = ".intel_syntax noprefix\n" + "".join(f"{_line(instruction)}\n" for instruction in body)
    many = _cycles(program, processor, source, _ROUNDS)
    once = _cycles(program, processor, source, 1)
    if many is None or once is None:
        return Opinion(None, None, "not run: it does not take these instructions")
    cycles = round(many / _ROUNDS, 2)
    expected = max(ours.bound, ours.latency) if is_round else ours.bound
    return Opinion(cycles, once, _why(body, processor, cycles, expected))


def _line(instruction: Decoded) -> str:
    """Source for llvm: constants at any place behind rip, for costs do not depend on it."""
    return re.sub(r"\[rip[^\]]*\]|\[0x[0-9a-f]+\]", "[rip+64]", instruction.text("gas"))


def _cycles(program: str, processor: Processor, source: str, rounds: int) -> float | None:
    command = [program, f"-mcpu={_NAMES[processor.name]}", f"-iterations={rounds}", "-", "-instruction-info=false"]
    done = subprocess.run(
        [*command, "-resource-pressure=false"], input=source, capture_output=True, text=True, timeout=60, check=False
    )
    total = re.search(r"^Total Cycles:\s+(\d+)", done.stdout, re.MULTILINE)
    return float(total[1]) if done.returncode == 0 and total else None


def _why(body: Sequence[Decoded], processor: Processor, cycles: float, ours: float) -> str:
    if abs(cycles - ours) <= _SLACK * max(ours, 1.0):
        return ""
    moves = any(row.vanishes and not row.breaks for row in map(processor.row, body))
    reasons = ["repeats the code on the registers that it left: rounds may wait for each other"]
    if moves and processor.name in ("skylake-server", "ice-lake"):
        reasons.append("knows no elimination of moves")
    if _WIDTHS[processor.name] != processor.width:
        reasons.append(f"dispatches {_WIDTHS[processor.name]} a cycle, not {processor.width}")
    differing = _FIGURES.get(processor.name)
    if differing and (known := sorted(filter(re.compile(differing).fullmatch, {i.mnemonic for i in body}))):
        reasons.append(f"other figures for {', '.join(known)}")
    if processor.name.startswith("zen") and any(map(_changes_file, body)):
        reasons.append("leaves out the way between general, vector and mask registers")
    return "; ".join(reasons)


def _changes_file(instruction: Decoded) -> bool:
    files = {operand.file for operand in instruction.operands if isinstance(operand, Reg)}
    return len(files) > 1 and instruction.mask is None
