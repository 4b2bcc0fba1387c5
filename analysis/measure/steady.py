"""Cycles of short runs of instructions that follow upon themselves: what is timed is a loop of nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from statistics import median

from setwise.analysis.measure.forms import COUNT, POINTER
from setwise.analysis.measure.trials import Sections, block_of
from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code, Instruction, Memory, general
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.run import cpu
from setwise.codegen.run.call import host
from setwise.codegen.run.driver import ArgumentSlot
from setwise.codegen.run.executable import NotRunnable
from setwise.codegen.run.stopwatch import ArgumentSets, Stopwatch
from setwise.codegen.run.timer import CHAIN_ADDS, WIDE_ROWS, Calls, Signature, Timer, timer

_LOOP = 256  # instructions between two branches: so many that these cost nothing
_CYCLES = 10_000  # of a trial, shorter than what comes between two ticks of a scheduler's clock
_WARMING, _BLOCK = 3, 16  # trials of a block; the first are thrown away
_SCRATCH = ArgumentSlot("results", 64)
_SAVED = tuple(map(general, ("rbx", "rbp", "r12", "r13", "r14", "r15")))
_ROUNDS = general("r11")


@dataclass
class Experiment:
    """Instructions that follow upon themselves, and what was measured of them: cycles of one of `units` parts."""

    period: tuple[Instruction, ...]
    units: int = 1
    figures: list[float] = field(default_factory=list)
    about: float = 0.0

    @property
    def cycles(self) -> float | None:
        """The median of the figures; None without any."""
        return median(self.figures) if self.figures else None

    @property
    def spread(self) -> float:
        """How far the middle half of the figures lies apart, as a part of the median."""
        if len(self.figures) < 2:
            return 1.0
        ordered, outer = sorted(self.figures), len(self.figures) // 4
        return (ordered[-1 - outer] - ordered[outer]) / median(ordered)

    @property
    def kept(self) -> int:
        """How many figures there are."""
        return len(self.figures)

    def run(self, row: float = 1.0) -> None:
        """Measure once more; nothing is added where the core, a quiet row of which takes so long, was disturbed."""
        if not self.about:
            self.about = self._block(8, row) or 0.0
        if not self.about:
            return
        cycles = self._block(max(1, round(_CYCLES / (self.about * self.units * self._repeats))), row)
        if cycles is not None:
            self.figures.append(cycles)

    def forget(self) -> None:
        """The figures count no more."""
        self.figures.clear()

    @property
    def _repeats(self) -> int:
        return max(1, _LOOP // len(self.period))

    def _block(self, rounds: int, row: float) -> float | None:
        code = _routine(self.period, self._repeats, rounds)
        frame = _frame()
        stopwatch = Stopwatch(replace(frame, image=frame.image[: frame.routine] + code), ArgumentSets())
        try:
            records = stopwatch.run(1, _WARMING + _BLOCK)[_WARMING:]
        finally:
            stopwatch.close()
        return block_of(records, Sections(CHAIN_ADDS, WIDE_ROWS, rounds * self._repeats * self.units, row)).cycles


@cache
def _frame() -> Timer:
    """The timing loop around a routine that is put in its place."""
    if not cpu.brand():
        raise NotRunnable("this processor cannot run x86-64 code: nothing can be measured on it")
    signature = Signature(SYSV, (_SCRATCH,), None, _has_avx())
    return timer(b"\xc3", signature, Calls("independent", in_round=1), host())


def _has_avx() -> bool:
    return "avx" in cpu.features()


def _routine(period: Sequence[Instruction], repeats: int, rounds: int) -> bytes:
    """A loop of so many rounds; memory at POINTER holds its own address, and so does rax."""
    clean = (Instruction("vzeroupper"),) if _has_avx() else ()
    pointer = Memory(64, POINTER)
    before = _bytes(
        *(Instruction("push", (register,)) for register in _SAVED),
        *clean,
        Instruction("mov", (pointer, POINTER)),
        Instruction("mov", (general("rax"), POINTER)),
        Instruction("mov", (COUNT.at(32), 3)),
        Instruction("mov", (_ROUNDS.at(32), rounds)),
    )
    body = _bytes(*period) * repeats + _bytes(Instruction("sub", (_ROUNDS, 1)))
    back = (-len(body) - 6).to_bytes(4, "little", signed=True)
    behind = _bytes(*clean, *(Instruction("pop", (register,)) for register in reversed(_SAVED)), Instruction("ret"))
    return before + body + b"\x0f\x85" + back + behind  # jne


def _bytes(*instructions: Instruction) -> bytes:
    return assemble(Code("steady", instructions)).text
