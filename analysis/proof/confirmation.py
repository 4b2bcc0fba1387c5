"""Counterexamples of our own kernels put to the test: they run, in a process of their own, on this processor.

A refutation that the processor does not share is an error in the prover, or in what it trusts. Code of others never
runs: it is stepped (`replay`).
"""

from __future__ import annotations

import ctypes

from setwise.analysis.code.decode import Binary, features
from setwise.analysis.proof.certificate import Certificate, Confirmation, Counterexample
from setwise.analysis.proof.replay import confirm_by_stepping
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.workers import Crash, in_own_process
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.call import runner
from setwise.codegen.run.executable import runnable

_U64 = ctypes.c_uint64


def confirm(kernel: Kernel, certificate: Certificate) -> Confirmation:
    """Runs the bytes that were judged on the counterexample, if they are no file's and the kernel has their contract.

    All else is stepped: what this processor cannot run too, and what crashes, for that need not be the code's doing.
    """
    binary, found = certificate.binary, certificate.counterexample
    ours = binary.layout is None and certificate.task == task_of(kernel)
    lacking = features(certificate.instructions) - BASELINE - cpu.features()
    if not ours or found is None or not found.runs or not runnable() or lacking:
        return confirm_by_stepping(certificate)
    try:
        got, broken = in_own_process(lambda: _run(kernel, binary, found))
    except Crash:
        return confirm_by_stepping(certificate)
    if broken:
        return Confirmation("confirmed", f"confirmed by running it: {', '.join(broken)}", got)
    if got != found.expected:
        return Confirmation("confirmed", "confirmed by running it", got)
    if not found.certain:  # then it takes what no caller can set to see it
        return confirm_by_stepping(certificate)
    return Confirmation("disagrees", "but this processor gives what is expected: the proof is wrong", got)


def _run(kernel: Kernel, binary: Binary, found: Counterexample) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The results of the lane in question, and what the routine broke of its convention."""
    lanes = max(len(words) for _, words in found.inputs)
    columns = [(_U64 * max(1, lanes))(*words, *(words[-1:] * (lanes - len(words)))) for _, words in found.inputs]
    number = len(kernel.routine.contract.results)
    # What no routine gives by chance, so that a result that is never written shows.
    junk = [word ^ (1 << 64) - 1 for word in found.expected] * lanes or [0]
    results = columns[found.alias] if found.alias is not None else (_U64 * len(junk))(*junk)
    before = [list(column) for column in columns]
    with runner(kernel, binary.image, len(binary.data)) as running:
        violation = running.run([ctypes.addressof(column) for column in columns], ctypes.addressof(results), lanes)
    got = tuple(results[found.lane * number + at] for at in range(number)) if lanes else ()
    named = zip((name for name, _ in found.inputs), columns, before, strict=True)
    others = (f"changes {name}" for name, now, was in named if now is not results and list(now) != was)
    return got, (*(violation.breaches if violation else ()), *others)
