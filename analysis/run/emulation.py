"""Checks on an emulated processor: many kernels in one boot, with corrections for the emulator's known bugs.

The driver that calls and checks a kernel is that of native runs (setwise.codegen.run.driver). A bug is data: a
description of the behaviour of Bochs 2.7, and, if any, a correction of the code that makes Bochs give the results of a
real processor. tests/analysis/semantics/test_machines.py demonstrates each bug, and fails if Bochs fixes it.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.run.check import Left, Outcome, Trial, trials, verdict
from setwise.analysis.run.inputs import Cases
from setwise.codegen.assemble import assemble
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.run.bochs import EmulatedProcessor, boot
from setwise.codegen.run.boot import Ending, Full, Image
from setwise.codegen.run.call import Violation
from setwise.codegen.run.driver import CASE_WORD, CONTEXT_WORDS, breaches, driver, initial_context
from setwise.codegen.run.harness import Signature

_SECONDS_TO_BOOT, _SECONDS_A_CASE = 30.0, 2e-4


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
    Fault(
        "interprets a full mask as empty",
        frozenset(("vpcompressb", "vpcompressw")),
        lambda instruction: instruction.mask is not None and "zmm" in instruction.encoding,
    ),
    Fault(
        "interprets its mask as one of memory that is not compressed",
        frozenset(("vpexpandb", "vpexpandw")),
        lambda instruction: instruction.mask is not None and instruction.memory is not None,
    ),
    Fault(
        "interprets its byte mask as a mask of 64-bit lanes",
        frozenset(("vpmultishiftqb",)),
        lambda instruction: instruction.mask is not None,
    ),
    Fault("loses each eighth bit", frozenset(("vpshufbitqmb",))),
    Fault("compares elements with others than the lower ones", frozenset(("vpconflictd", "vpconflictq"))),
)
"""The known bugs; the first that matches an instruction counts."""


def fault_of(instruction: Decoded) -> Fault | None:
    """Return the bug of Bochs that an instruction meets, or None."""
    fitting = (fault for fault in FAULTS if instruction.mnemonic in fault.mnemonics and fault.concerns(instruction))
    return next(fitting, None)


@dataclass(frozen=True, slots=True)
class EmulatedCode:
    """Code for an emulated processor: its bytes, and the signature of its calls."""

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


def check_emulated(subjects: Sequence[EmulatedCode], cases: Cases, on: EmulatedProcessor) -> Iterator[Outcome]:
    """Yield the outcome of each subject's check on that processor, in order."""
    tried = trials(cases)
    corrections = [correct(subject.binary.text) for subject in subjects]
    runs = [
        _Run(replace(subject.binary, text=text).image, subject.signature, trial)
        for subject, (text, _, wrong) in zip(subjects, corrections, strict=True)
        if not wrong
        for trial in tried
    ]
    ran = _emulate(runs, on)
    for _, corrected, wrong in corrections:
        if wrong:
            yield Outcome("not run", reason=f"Bochs is wrong about {', '.join(sorted(wrong))}")
            continue
        left = list(islice(ran, len(tried)))
        how = f"{on.title}, emulated" + (", corrected" if corrected else "")
        yield replace(verdict(cases, tried, left), on=how)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """One trial of a kernel, with the kernel's bytes and constants and its signature."""

    image: bytes
    signature: Signature
    trial: Trial


@dataclass(frozen=True, slots=True)
class _Placement:
    """A run and the addresses of its parts in the machine."""

    run: _Run
    code: int
    context: int
    results: int


def _emulate(runs: Sequence[_Run], on: EmulatedProcessor) -> Iterator[Left]:
    """Yield the results' memory after each run, and a violation or None: a breach, a CPU fault, or no return in time.

    One boot makes as many runs as its memory holds, up to one that does not end. Raises codegen.run.bochs.NoBochs if
    Bochs is missing or fails, and codegen.run.boot.Full if the memory is too small for one run.
    """
    done = 0
    while done < len(runs):
        image, placed = _loaded(runs[done:])
        seconds = _SECONDS_TO_BOOT + _SECONDS_A_CASE * sum(placement.run.trial.cases for placement in placed)
        left = boot(image, on, seconds)
        for placement, ending in zip(placed, left.calls, strict=True):
            signature, before = placement.run.signature, placement.run.trial.before
            memory = np.frombuffer(left.read(placement.results, before.nbytes), np.uint64)
            if several := signature.interleaved:
                memory = memory.reshape(-1, several, signature.lanes).swapaxes(1, 2)
            case = struct.unpack("<Q", left.read(placement.context + 8 * CASE_WORD, 8))[0] * signature.lanes
            broken = _breaches(ending, placement, seconds)
            yield memory.reshape(before.shape), Violation(case, broken) if broken else None
            done += 1
            if not ending.ended:
                break  # later runs were not begun; the next boot makes them


def _breaches(ending: Ending, placement: _Placement, seconds: float) -> tuple[str, ...]:
    if ending.fault:
        at = ending.place - placement.code
        inside = 0 <= at < len(placement.run.image)
        where = f"{at:#x} bytes after the code's start" if inside else "outside the code"
        return (f"{ending.fault} {where}",)
    return (f"it has not returned after {seconds:.0f} seconds",) if not ending.ended else breaches(ending.result)


def _loaded(runs: Sequence[_Run]) -> tuple[Image, list[_Placement]]:
    """Return an image with the first of these runs, as many as it can hold, and where they are. Raises Full if none."""
    image = Image()
    constants: dict[int, int] = {}
    placed: list[_Placement] = []
    for run in runs:
        try:
            placed.append(_place(image, run, constants))
        except Full:
            if not placed:
                raise
            break
    return image, placed


def _place(image: Image, run: _Run, constants: dict[int, int]) -> _Placement:
    """Add a run to the image. Return its placement; `constants` holds addresses of columns in the image by their id."""
    signature, trial = run.signature, run.trial
    results = image.writable(trial.before)
    addresses = []
    for at, column in enumerate(trial.columns):
        if at != trial.over and id(column) not in constants:
            constants[id(column)] = image.read_only(column)
        addresses.append(results if at == trial.over else constants[id(column)])
    if signature.whole:
        addresses.append(image.read_only(struct.pack("<Q", trial.cases)))
    columns = image.read_only(struct.pack(f"<{len(addresses)}Q", *addresses))
    watched = image.writable(struct.pack(f"<{CONTEXT_WORDS}Q", *initial_context()))
    code = image.code(run.image)
    drive = driver(signature, watched, SYSV)
    calls = 1 if signature.whole else trial.cases // signature.lanes
    image.call(image.code(assemble(drive).image), (code, columns, results + 8 * trial.start, calls))
    return _Placement(run, code, watched, results)
