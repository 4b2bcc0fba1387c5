"""What a proof ends in: proved, refuted with a counterexample, or not proved with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, decode
from setwise.analysis.spec.task import Task

ProofStatus = Literal["proved", "refuted", "not proved"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Inputs within the contract on which the routine breaks it.

    `inputs` holds the arguments' words in each lane, `lane` is the one that goes wrong. `expected` and `got` are the
    results of that lane; `got` is empty where no result comes to be: then `complaint` alone says what happens.
    `registers` is the whole state at the entry, for a run that repeats it: rsp and addresses are not among them.
    """

    complaint: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    lane: int
    expected: tuple[int, ...]
    got: tuple[int, ...]
    registers: Mapping[str, int] = field(default_factory=dict, compare=False)
    anywhere: bool = True
    """Whether, with these registers, it goes wrong wherever code, stack and buffers lie, and whatever they hold."""
    alias: int | None = None
    """For arrays: the input that the result overwrites."""
    runs: bool = True
    """Whether the routine can be run on it: it returns, and touches nothing but its own memory."""

    @property
    def words(self) -> tuple[tuple[str, int], ...]:
        """The inputs of the lane that goes wrong; none of arrays without a board."""
        return tuple((name, lanes[min(self.lane, len(lanes) - 1)]) for name, lanes in self.inputs if lanes)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What became of a counterexample that was tried; `got` are its results, where there are any.

    disagrees: the routine does what it should there, so that the proof, or what it trusts, is wrong.
    """

    status: Literal["confirmed", "not confirmed", "disagrees"]
    description: str
    got: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """How a proof ended, and what it looked at.

    A counterexample has a `confirmation`: a run of these bytes that shows it.

    `cases` are the parts it fell into, such as one for each square; `paths` ran through the code in all of them;
    `rounds` is the most that any loop on an unknown condition goes round, `induction` says how such a loop was proved
    without unrolling; `solver` is its name and version; `questions` were put to it; a processor took so many `seconds`.
    """

    status: ProofStatus
    binary: Binary
    task: Task
    reason: str = ""
    counterexample: Counterexample | None = None
    confirmation: Confirmation | None = None
    cases: int = 0
    paths: int = 0
    rounds: int = 0
    induction: str = ""
    solver: str = ""
    questions: int = 0
    seconds: float = 0.0

    @property
    def instructions(self) -> tuple[Decoded, ...]:
        """The code as it was read; nothing where that is no code."""
        try:
            return decode(self.binary.text)
        except DecodeError:
            return ()

    def written(self, kept: bool) -> tuple[str, ...]:
        """Full names of the registers that its instructions write: those that come back as they were, or the others."""
        written = frozenset[str]().union(*(instruction.writes for instruction in self.instructions))
        saved = {"rsp", *self.task.saved, *self.task.saved_vectors}
        return tuple(sorted(written & saved if kept else written - saved))
