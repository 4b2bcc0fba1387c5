"""Checks on an emulated processor: many kernels in a boot, the emulator's known faults corrected.

A fault is data: what Bochs 2.7 does otherwise than the manual, and how code is changed so that it gives there what it
gives on a processor. tests/analysis/semantics/test_machines.py shows each; when Bochs mends one, that test fails.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.run.check import Outcome, trials, verdict
from setwise.analysis.run.inputs import Cases
from setwise.codegen.run.bochs import EmulatedProcessor
from setwise.codegen.run.emulate import EmulatedTask, emulate
from setwise.codegen.run.harness import Signature


@dataclass(frozen=True, slots=True)
class Fault:
    """What instructions of these mnemonics do wrong in Bochs 2.7: all of them, or those that `concerns` says.

    `correct` gives an instruction's bytes so changed that it comes out right; without it nothing can be done.
    """

    description: str
    mnemonics: frozenset[str]
    concerns: Callable[[Decoded], bool] = lambda _: True
    correct: Callable[[bytes], bytes] | None = None


def _complemented(raw: bytes) -> bytes:
    """The last byte of the instruction, its immediate, complemented."""
    return raw[:-1] + bytes([raw[-1] ^ 0xFF])


_AFFINE = frozenset(("gf2p8affineqb", "gf2p8affineinvqb", "vgf2p8affineqb", "vgf2p8affineinvqb"))

FAULTS = (
    Fault(
        "takes its mask, which is one of bytes, for one of lanes of 64 bits",
        frozenset(("vgf2p8affineqb", "vgf2p8affineinvqb")),
        lambda instruction: instruction.mask is not None,
    ),
    Fault(
        "takes its mask, which has 64 bits, for an empty one",
        frozenset(("vpbroadcastb",)),
        lambda instruction: (
            instruction.encoding == "evex_vpbroadcastb_zmm_k1z_xmmm8"
            and instruction.mask is not None
            and instruction.memory is not None
        ),
    ),
    Fault("gives the complement of each byte", _AFFINE, correct=_complemented),
)
"""The first that fits an instruction is the one to be told of."""


def fault_of(instruction: Decoded) -> Fault | None:
    """What Bochs does wrong about an instruction."""
    fitting = (fault for fault in FAULTS if instruction.mnemonic in fault.mnemonics and fault.concerns(instruction))
    return next(fitting, None)


@dataclass(frozen=True, slots=True)
class EmulatedCode:
    """Code that is to run on an emulated processor: its bytes, and how they are called."""

    binary: Binary
    signature: Signature


def correct(text: bytes) -> tuple[bytes, frozenset[str], frozenset[str]]:
    """Code as Bochs has to see it; the mnemonics that were corrected, and those that cannot be.

    >>> correct(bytes.fromhex("c4e3f9cec102"))[1]
    frozenset({'vgf2p8affineqb'})
    """
    changed = bytearray(text)
    corrected, wrong = set(), set()
    for instruction in decode(text):
        fault = fault_of(instruction)
        if fault is None:
            continue
        if fault.correct is None:
            wrong.add(instruction.mnemonic)
            continue
        corrected.add(instruction.mnemonic)
        changed[instruction.offset : instruction.end] = fault.correct(instruction.raw)
    return bytes(changed), frozenset(corrected), frozenset(wrong)


def _refusal(wrong: frozenset[str]) -> str:
    return f"Bochs is wrong about {', '.join(sorted(wrong))}"


def check_emulated(subjects: Sequence[EmulatedCode], cases: Cases, on: EmulatedProcessor) -> Iterator[Outcome]:
    """How the check of each subject ends on that processor, in order; `check` says the same of this processor."""
    tried = trials(cases)
    tasks: list[EmulatedTask] = []
    corrections = [correct(subject.binary.text) for subject in subjects]
    for subject, (text, _, wrong) in zip(subjects, corrections, strict=True):
        if not wrong:
            called = replace(subject.binary, text=text).image, subject.signature
            tasks += [EmulatedTask(*called, one.columns, one.before, one.cases, one.start, one.over) for one in tried]
    ran = emulate(tasks, on)
    for _, corrected, wrong in corrections:
        if wrong:
            yield Outcome("not run", reason=_refusal(wrong))
            continue
        left = [
            (np.frombuffer(memory, np.uint64).reshape(trial.before.shape), violation)
            for trial, (memory, violation) in zip(tried, ran, strict=False)
        ]
        how = f"{on.title}, emulated" + (", corrected" if corrected else "")
        yield replace(verdict(cases, tried, left), on=how)


def run_emulated(subject: EmulatedCode, words: Sequence[int], results: int, on: EmulatedProcessor) -> tuple[int, ...]:
    """The results of one call with these arguments, so many; ValueError where Bochs is wrong about the code.

    Raises RuntimeError where the code breaks its convention.
    """
    text, _, wrong = correct(subject.binary.text)
    if wrong:
        raise ValueError(_refusal(wrong))
    lanes = subject.signature.lanes
    columns = tuple(np.array([word] + [0] * (lanes - 1), np.uint64) for word in words)
    image = replace(subject.binary, text=text).image
    task = EmulatedTask(image, subject.signature, columns, np.zeros(lanes * results, np.uint64), lanes)
    ((memory, violation),) = emulate([task], on)
    if violation is not None:
        raise RuntimeError(f"the code breaks its convention: {', '.join(violation.breaches)}")
    return tuple(map(int, np.frombuffer(memory, np.uint64)[:results]))
