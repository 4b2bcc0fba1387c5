"""Whether the files of an export still are what it wrote, and whether the bytes that it recorded prove."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from setwise.analysis.code.count import UnclassifiedError, count
from setwise.analysis.code.decode import DecodeError, decode, distances, features
from setwise.analysis.code.objects import ObjectError, load
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.exports.metadata import NAME, Metadata, Recorded, metadata
from setwise.analysis.exports.request import files_of, format_called, kernels_of
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.task import Task
from setwise.codegen.kernel import Kernel
from setwise.codegen.version import version

VerifyStatus = Literal["fine", "failed", "not checked"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: a file or a kernel, what was looked for, and how that ended."""

    subject: str
    what: str
    status: VerifyStatus
    reason: str = ""


def findings(
    directory: Path, recorded: Metadata, time_limit: float = TIME_LIMIT, show: Callable[[str], None] = lambda _: None
) -> Iterator[Finding]:
    """Everything that the metadata speaks of; `show` is told the kernel that is at work."""
    yield from check_files(directory, recorded)
    kernels = _kernels_again(recorded)
    yield _made_again(recorded, kernels)
    prover = Prover()
    for kernel in recorded.kernels:
        show(kernel.symbol)
        yield check_figures(kernel)
        elf = directory / f"{kernel.symbol}.o" if recorded.request.format == "elf" else None
        task = _task(kernel, kernels)
        if isinstance(task, str):
            yield _finding(kernel.symbol, "proof", task)
        else:
            yield from check_proof(prover, kernel, task, elf, time_limit)


def check_files(directory: Path, recorded: Metadata) -> Iterator[Finding]:
    """Whether each file has the bytes that were written."""
    for name, digest in recorded.files.items():
        try:
            same = hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest
            complaint = "" if same else "its SHA-256 is another"
        except OSError as error:
            complaint = (error.strerror or str(error)).lower()
        yield _finding(name, "as written", complaint)


def check_reproduction(recorded: Metadata, files: Mapping[str, bytes], metadata: bytes) -> Finding:
    """Whether this setwise makes the same files and the same metadata of the same request; another version need not."""
    if recorded.setwise != version():
        reason = f"setwise {recorded.setwise} wrote it, this is {version()}"
        return Finding("all files", "made again", "not checked", reason)
    now = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    others = sorted(name for name in now.keys() | recorded.files.keys() if now.get(name) != recorded.files.get(name))
    if not recorded.same_but_for_proofs(metadata):
        others.append(NAME)
    return _finding("all files", "made again", f"it makes others: {', '.join(others)}" if others else "")


def _kernels_again(recorded: Metadata) -> tuple[Kernel, ...]:
    """What this setwise makes of the recorded request; nothing where it cannot."""
    try:
        return kernels_of(recorded.request)
    except (ValueError, KeyError):
        return ()


def _made_again(recorded: Metadata, kernels: Sequence[Kernel]) -> Finding:
    """Whether the files of these kernels are those that are recorded."""
    request = recorded.request
    try:
        format_called(request.format)
        files = files_of(request, kernels)
        again = metadata(request, kernels, cache(facts_of), files, [None] * len(kernels))
    except (ValueError, LookupError) as error:
        return _finding("all files", "made again", str(error))
    return check_reproduction(recorded, files, again)


def _task(recorded: Recorded, kernels: Sequence[Kernel]) -> Task | str:
    """What a recorded kernel has to do, by the catalogue, not by what the metadata says; or why there is no telling."""
    wanted = recorded.name, recorded.isa, recorded.lanes, recorded.abi
    for kernel in kernels:
        if (kernel.name, kernel.target.name, kernel.layout.lanes, kernel.convention.name) == wanted:
            return task_of(kernel)
    return f"the request has no {recorded.name} for {recorded.isa}, {recorded.lanes} lanes, {recorded.abi}"


def check_figures(recorded: Recorded) -> Finding:
    """Whether digests, distances, counts and features are those of the recorded bytes."""
    try:
        decoded = decode(recorded.binary.text)
        counts = count(recorded.binary).as_dict()
    except (DecodeError, UnclassifiedError) as error:
        return _finding(recorded.symbol, "figures", str(error))
    wrong = [
        what
        for what, same in (
            ("SHA-256", recorded.binary.sha256 == recorded.sha256),
            ("proof's SHA-256", recorded.image_sha256 in (None, recorded.binary.image_sha256)),
            ("distances", distances(recorded.binary.text) == recorded.distances),
            ("counts", counts == recorded.counts),
            ("features", tuple(sorted(features(decoded) - {"x86-64"})) == recorded.features),
        )
        if not same
    ]
    return _finding(recorded.symbol, "figures", f"other bytes than its {' and '.join(wrong)} say" if wrong else "")


def check_proof(
    prover: Prover, recorded: Recorded, task: Task, elf: Path | None, time_limit: float = TIME_LIMIT
) -> Iterator[Finding]:
    """Whether the recorded bytes do what the routine promises, and those in its ELF file, if there is one."""
    yield _proved(recorded.symbol, prover.prove(recorded.binary, task, time_limit))
    if elf is None:
        return
    try:
        yield _proved(elf.name, prover.prove(load(elf, recorded.symbol), task, time_limit))
    except ObjectError as error:
        yield _finding(elf.name, "proof", str(error))


def _proved(subject: str, proof: Certificate) -> Finding:
    return _finding(subject, "proof", "" if proof.status == "proved" else f"{proof.status}: {proof.reason}")


def _finding(subject: str, what: str, complaint: str) -> Finding:
    """One that is fine without a complaint."""
    return Finding(subject, what, "failed" if complaint else "fine", complaint)
