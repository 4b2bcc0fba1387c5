"""Counterexamples of our own kernels put to the test: they run, in a process of their own, on this processor.

A refutation that the processor does not share is an error in the prover, or in what it trusts. Program of others never
runs: it is stepped (`replay`).
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import signal
from collections.abc import Callable
from typing import TypeVar

from setwise.analysis.code.decode import features
from setwise.analysis.proof.certificate import Certificate, Confirmation, Counterexample
from setwise.analysis.proof.replay import confirm_by_stepping
from setwise.codegen.lower import Kernel
from setwise.codegen.run import cpu
from setwise.codegen.run.call import runner
from setwise.codegen.run.executable import runnable

_BASELINE = frozenset({"x86-64", "sse", "sse2"})
_U64 = ctypes.c_uint64
_SECONDS = 10

T = TypeVar("T")


def confirm(kernel: Kernel, certificate: Certificate) -> Confirmation:
    """Runs the bytes of a kernel of ours on the counterexample; what this processor cannot run is stepped."""
    found = certificate.counterexample
    lacking = features(certificate.instructions) - _BASELINE - cpu.features()
    if found is None or not found.runs or not runnable() or lacking:
        return confirm_by_stepping(certificate)
    try:
        got, broken = in_own_process(lambda: _run(kernel, certificate.binary.image, found))
    except Crash as error:
        return Confirmation("confirmed", f"confirmed by running it: {error}")
    if broken:
        return Confirmation("confirmed", f"confirmed by running it: {', '.join(broken)}", got)
    if got != found.expected:
        return Confirmation("confirmed", "confirmed by running it", got)
    if not found.certain:  # then it takes what no caller can set to see it
        return confirm_by_stepping(certificate)
    return Confirmation("disagrees", "but this processor gives what is expected: the proof is wrong", got)


def _run(kernel: Kernel, image: bytes, found: Counterexample) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The results of the lane in question, and what the routine broke of its convention."""
    lanes = max(len(words) for _, words in found.inputs)
    columns = [(_U64 * max(1, lanes))(*words, *(words[-1:] * (lanes - len(words)))) for _, words in found.inputs]
    number = len(kernel.routine.contract.results)
    # What no routine gives by chance, so that a result that is never written shows.
    junk = [word ^ (1 << 64) - 1 for word in found.expected] * lanes or [0]
    results = columns[found.alias] if found.alias is not None else (_U64 * len(junk))(*junk)
    before = [list(column) for column in columns]
    with runner(kernel, image) as running:
        violation = running.run([ctypes.addressof(one) for one in columns], ctypes.addressof(results), lanes)
    got = tuple(results[found.lane * number + at] for at in range(number)) if lanes else ()
    named = zip((name for name, _ in found.inputs), columns, before, strict=True)
    others = (f"changes {name}" for name, now, was in named if now is not results and list(now) != was)
    return got, (*(violation.breaches if violation else ()), *others)


class Crash(Exception):
    """What became of a process that did not come to its end."""


def in_own_process(function: Callable[[], T]) -> T:
    """The function's result, from a process of its own where the system can fork; Crash if that does not end well."""
    if not hasattr(os, "fork"):
        return function()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of the parent's may run here, whatever happens
        try:
            faulthandler.disable()
            signal.alarm(_SECONDS)
            with os.fdopen(write, "wb") as stream:
                pickle.dump(function(), stream)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        told = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        raise Crash(f"it has not returned after {_SECONDS} seconds")
    if status < 0:
        raise Crash(f"it ends in {signal.Signals(-status).name}")
    if status:
        raise RuntimeError("the process that ran a counterexample failed")
    result: T = pickle.loads(told)
    return result
