"""Outcomes of a proof: proved, refuted with a counterexample, or not proved with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, decode
from setwise.analysis.semantics.libc import library_function
from setwise.analysis.spec.task import Task

ProofStatus = Literal["proved", "refuted", "not proved"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Inputs within the contract on which the routine breaks it.

    `inputs` holds the name and the words of each argument, one a lane, or a board of an array. `lane` is the wrong lane
    or board, 0 if none is; `expected` and `got` are its results. `got` is empty if the routine produces no result; then
    only `complaint` describes the failure. `registers` maps mask registers, vector lanes (zmm3.2), and general
    registers other than rsp to their values at entry; a register of an argument holds the word of `inputs` instead.
    """

    complaint: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    lane: int
    expected: tuple[int, ...]
    got: tuple[int, ...]
    registers: Mapping[str, int] = field(default_factory=dict, compare=False)
    anywhere: bool = True
    """If `runs`: whether the routine fails with these registers at all addresses and for all contents of memory."""
    alias: int | None = None
    """The index of the first input array that is also the result array; None if there is none."""
    runs: bool = True
    """Whether the routine can be run on it: the routine returns and accesses only its own memory."""

    @property
    def words(self) -> tuple[tuple[str, int], ...]:
        """The name and the word of each input in the wrong lane; empty for arrays without a board."""
        return tuple((name, lanes[min(self.lane, len(lanes) - 1)]) for name, lanes in self.inputs if lanes)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The outcome of replaying a counterexample; `got` are the replayed results, if any.

    The status is "disagrees" if a replay that must fail gives the expected results: the proof or its basis is wrong.
    """

    status: Literal["confirmed", "not confirmed", "disagrees"]
    description: str
    got: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """The outcome of a proof, with statistics.

    `reason` says why the code is refuted or not proved. A counterexample has a `confirmation`, a replay of these bytes.
    `cases` counts the parts of the proof, such as one for each square; `paths` counts the paths in all of them.
    `rounds` is the largest number of times that a path takes one backward branch on an unknown condition. `induction`
    describes the invariant of a loop that is not unrolled, if any. `solver` is the solver's name and version,
    `questions` the number of queries to it (not those about single wishes), `seconds` the CPU time, 0 if repeated.
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
        """The decoded code, with the functions of the C library that it calls; empty if it cannot be decoded."""
        library = self.binary.layout.library if self.binary.layout else ()
        try:
            return *decode(self.binary.text), *(library_function(name, at) for at, name in library)
        except DecodeError:
            return ()

    def written(self, kept: bool) -> tuple[str, ...]:
        """Return the full names of written registers, sorted: rsp and callee-saved ones if `kept`, else the others."""
        written = frozenset[str]().union(*(instruction.writes for instruction in self.instructions))
        saved = {"rsp", *self.task.saved, *self.task.saved_vectors}
        return tuple(sorted(written & saved if kept else written - saved))
