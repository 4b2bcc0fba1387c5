"""Right programs are never refuted, wrong ones never proved: random ones, judged by what they do on this processor.

`make long` takes 20,000 of each kind, or $SETWISE_PROGRAMS of them.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import pytest

from setwise.analysis.code.decode import Binary, features
from setwise.analysis.code.objects import load_all
from setwise.analysis.proof.certificate import Certificate, Confirmation
from setwise.analysis.proof.concrete_execution import confirm_by_stepping
from setwise.analysis.proof.prover import Prover
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.executable import runnable
from tests.analysis.proof.programs import CERTAIN, GENERAL, SPECS, Program, program, source
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

QUICK, SLOW, LONG = 10, 50, int(os.environ.get("SETWISE_PROGRAMS", "20000"))
STEP = 50  # programs in one item
TOGETHER = 50  # in one object
LEAST = 5  # right ones of ten that are proved in the time that they have
KINDS = ("right", "wrong")
slow, long = (pytest.mark.slow,), (pytest.mark.slow, pytest.mark.long)
ranges = [pytest.param(range(QUICK), id="first")]
ranges += [
    pytest.param(range(start, start + STEP), id=str(start), marks=slow if start < SLOW else long)
    for start in range(0, max(SLOW, LONG), STEP)
]


STATES = 30
MOST = 64  # boards that the caller's arrays hold
_GENERAL = (*GENERAL[:4], "rsp", *GENERAL[4:])
_FINE = ("fine", "overflow")  # nothing is promised where the stack ends


@dataclass(frozen=True, slots=True)
class Judged:
    """A program, the prover's word, and what goes wrong when it runs.

    `native` is that in the random states, `example` on the counterexample: empty for nothing, None where it was not
    run. `confirmation` is what became of the counterexample when it was stepped.
    """

    program: Program
    certificate: Certificate
    native: str | None
    example: str | None
    confirmation: Confirmation | None

    @property
    def complaint(self) -> str:
        """The contradiction between the proof and the program's defect or its native run, if there is one."""
        status, defect, what = self.certificate.status, self.program.defect, self.certificate.reason
        if status == "proved" and (self.native or defect in CERTAIN):
            return f"{self.program.name} is proved, its defect is '{defect}', it goes wrong: {self.native}"
        if status != "refuted":
            return ""
        if not defect:
            return f"{self.program.name} is right, and refuted: {what}"
        if self.example or (self.confirmation and self.confirmation.status == "confirmed"):
            return ""
        return f"{self.program.name} does not go wrong on the counterexample of '{what}': {self.confirmation}"


def judge(programs: Sequence[Program], folder: Path, time_limit: float = 0.6) -> list[Judged]:
    """Proves the programs, and runs those that this processor can."""
    made, library = folder / "programs.o", folder / "programs.so"
    subprocess.run([require_tool("as"), "--64", "-o", str(made)], input=source(programs), text=True, check=True)
    subprocess.run([require_tool("gcc"), "-shared", "-nostdlib", "-o", str(library), str(made)], check=True)
    binaries, prover = load_all(made, {program.name for program in programs}), Prover()
    certificates = [prover.prove(_found(binaries[program.name]), program.task, time_limit) for program in programs]
    jobs = [_jobs(*pair) for pair in zip(programs, certificates, strict=True)]
    words = [str(caller()), str(library)]
    done = subprocess.run(words, input="".join(map("".join, jobs)), capture_output=True, text=True, check=True)
    ends = (line.split(maxsplit=2)[2] for line in done.stdout.splitlines())
    judged = []
    for one, certificate, asked in zip(programs, certificates, jobs, strict=True):
        said: list[str | None] = ["" if end in _FINE else end for end in (next(ends) for _ in asked)]
        stepped = confirm_by_stepping(certificate) if certificate.status == "refuted" else None
        native, example = [*said, None, None][:2]
        judged.append(Judged(one, certificate, native, example, stepped))
    return judged


def _found(binary: Binary | Exception) -> Binary:
    assert isinstance(binary, Binary), binary
    return binary


@cache
def caller() -> Path:
    """The program that calls functions of a library."""
    made = Path(mkdtemp()) / "caller"
    text = Path(__file__).with_name("caller.c")
    subprocess.run([require_tool("gcc"), "-O2", "-rdynamic", "-o", str(made), str(text)], check=True)
    return made


def _jobs(program: Program, certificate: Certificate) -> list[str]:
    """Lines for the caller: random states, and the counterexample if its arrays are not too long."""
    if not runnable() or not features(certificate.instructions) - BASELINE <= cpu.features():
        return []
    number = int("".join(filter(str.isdigit, program.name)))
    head = f"{program.name} {SPECS.index(program.spec)} {int(program.abi == 'win64')} {number} {STATES}"
    found = certificate.counterexample
    if found is None or len(found.inputs[0][1]) > MOST:
        return [f"{head} -1\n"]
    names = [*_GENERAL, *(f"k{mask}" for mask in range(8))]
    names += [f"zmm{vector}.{lane}" for vector in range(32) for lane in range(8)]
    words = [f"{found.registers.get(name, 0):x}" for name in names]
    words += ["-1" if found.alias is None else str(found.alias)]
    words += [f"{word:x}" for _, lanes in found.inputs for word in lanes]
    return [f"{head} -1\n", f"{head} {len(found.inputs[0][1])} {' '.join(words)}\n"]


@pytest.mark.parametrize("numbers", ranges)
@pytest.mark.parametrize("kind", KINDS)
def test_proved_means_right_and_refuted_means_wrong(kind: str, numbers: range) -> None:
    ends, complaints = Counter[tuple[str, str]](), list[str]()
    for start in range(numbers.start, numbers.stop, TOGETHER):
        programs = [program(kind, number) for number in range(start, min(start + TOGETHER, numbers.stop))]
        with TemporaryDirectory() as folder:
            for one in judge(programs, Path(folder)):
                ran = "not run" if one.native is None else "goes wrong" if one.native else "is fine"
                ends[one.certificate.status, ran] += 1
                complaints += [one.complaint] if one.complaint else []
    print(", ".join(f"{status} {ran}: {count}" for (status, ran), count in sorted(ends.items())))
    assert not complaints, "\n".join(complaints)
    if kind == "right":
        assert not any(ran == "goes wrong" for _, ran in ends), "the generator is wrong"
        assert 10 * sum(count for (status, _), count in ends.items() if status == "proved") >= LEAST * ends.total()
