"""Checks on an emulated processor: many kernels in one boot, with corrections for the emulator's known bugs.

A bug is data: a description of the behaviour of Bochs 2.7, and a correction of the code that makes Bochs give the
results of a real processor. tests/analysis/semantics/test_machines.py demonstrates each bug, and fails if Bochs fixes
it.
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
    """A bug of Bochs 2.7 in instructions of these mnemonics: in all of them, or in those that `concerns` selects.

    `correct` changes an instruction's bytes so that Bochs computes the right result; None if that is impossible.
    """

    description: str
    mnemonics: frozenset[str]
    concerns: Callable[[Decoded], bool] = lambda _: True
    correct: Callable[[bytes], bytes] | None = None


def _complemented(raw: bytes) -> bytes:
    """Return the instruction with its last byte, the immediate, complemented."""
    return raw[:-1] + bytes([raw[-1] ^ 0xFF])


_AFFINE = frozenset(("gf2p8affineqb", "gf2p8affineinvqb", "vgf2p8affineqb", "vgf2p8affineinvqb"))

FAULTS = (
    Fault(
        "interprets its byte mask as a mask of 64-bit lanes",
        frozenset(("vgf2p8affineqb", "vgf2p8affineinvqb")),
        lambda instruction: instruction.mask is not None,
    ),
    Fault(
        "interprets its 64-bit mask as empty",
        frozenset(("vpbroadcastb",)),
        lambda instruction: (
            instruction.encoding == "evex_vpbroadcastb_zmm_k1z_xmmm8"
            and instruction.mask is not None
            and instruction.memory is not None
        ),
    ),
    Fault("gives the complement of each byte", _AFFINE, correct=_complemented),
)
"""The known bugs; the first that matches an instruction counts."""


def fault_of(instruction: Decoded) -> Fault | None:
    """Return the bug of Bochs that an instruction meets, or None."""
    fitting = (fault for fault in FAULTS if instruction.mnemonic in fault.mnemonics and fault.concerns(instruction))
    return next(fitting, None)


@dataclass(frozen=True, slots=True)
class EmulatedCode:
    """Code for an emulated processor: its bytes, and its signature."""

    binary: Binary
    signature: Signature


def correct(text: bytes) -> tuple[bytes, frozenset[str], frozenset[str]]:
    """Return the code corrected for Bochs, the mnemonics that were corrected, and those that cannot be.

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
    """Yield the outcome of each subject's check on that processor, in order."""
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
    """Return the results of one call with these arguments, `results` in number.

    Raises ValueError if a bug of Bochs affects the code, and RuntimeError if the code violates its convention.
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
