"""Counterexamples put to the test: the routine runs on them, in a process of its own, on this processor.

A refutation that the processor does not share is an error in the prover, or in what it trusts.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from analysis.certificate import Certificate, Counterexample
from analysis.decode import features
from codegen import cpu
from codegen.call import runner
from codegen.lower import Kernel
from codegen.native import runnable

_BASELINE = frozenset({"x86-64", "sse", "sse2"})
_U64 = ctypes.c_uint64
_SECONDS = 10

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the processor says to a counterexample; `got` are its results, where there are any.

    disagrees: the routine does what it should there, so that the proof, or what it trusts, is wrong.
    """

    status: Literal["confirmed", "not run", "disagrees"]
    what: str
    got: tuple[int, ...] = ()


def confirm(kernel: Kernel, certificate: Certificate) -> Confirmation:
    """Runs the certificate's bytes on its counterexample; `kernel` has their contract and convention."""
    found = certificate.counterexample
    if found is None or not found.runs:
        return Confirmation("not run", "not run, for it would touch what is not its own")
    if not runnable():
        return Confirmation("not run", "not run: this processor is no x86-64")
    lacking = features(certificate.instructions) - _BASELINE - cpu.features()
    if lacking:
        return Confirmation("not run", f"not run: this processor lacks {', '.join(sorted(lacking))}")
    try:
        got, broken = apart(lambda: _run(kernel, certificate.binary.image, found))
    except Crash as error:
        return Confirmation("confirmed", f"confirmed by running it: {error}")
    if broken:
        return Confirmation("confirmed", f"confirmed by running it: {', '.join(broken)}", got)
    if got != found.expected:
        return Confirmation("confirmed", "confirmed by running it", got)
    if not found.certain:
        return Confirmation("not run", "it depends on what registers hold that are no arguments", got)
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
    return got, (*(violation.what if violation else ()), *others)


class Crash(Exception):
    """What became of a process that did not come to its end."""


def apart(function: Callable[[], T]) -> T:
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
