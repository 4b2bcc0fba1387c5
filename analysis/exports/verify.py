"""Whether the files of an export still are what it wrote, and whether the bytes that it recorded prove."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import structs

from setwise.analysis.code.count import UnclassifiedError, count
from setwise.analysis.code.decode import DecodeError, decode, distances, features
from setwise.analysis.code.objects import ObjectError, load
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.exports.metadata import (
    NAME,
    FileRecord,
    KernelRecord,
    Metadata,
    ProofRecord,
    metadata,
    proof_record,
)
from setwise.analysis.exports.request import files_of, format_called, kernels_of
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.task import Task
from setwise.codegen.files import regular_content
from setwise.codegen.kernel import Kernel
from setwise.codegen.own.files import is_own, parted, source_digest

VerifyStatus = Literal["fine", "failed", "not run"]
_SHOWN, _LONGEST = 20, 300  # findings of one kind, and characters of one


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: a file or a kernel, what was looked for, and how that ended."""

    subject: str
    what: str
    status: VerifyStatus
    reason: str = ""


def findings(
    directory: Path,
    recorded: Metadata,
    time_limit: float = TIME_LIMIT,
    show: Callable[[str], None] = lambda _: None,
    run_descriptions: bool = False,
) -> Iterator[Finding]:
    """Everything that the metadata speaks of, and what lies beside it; `show` is told the kernel that is at work.

    A description in somebody's Python file is run only with `run_descriptions`.
    """
    own = [name for name in recorded.request.names if is_own(name)]
    for name, file in recorded.files.items():
        yield _as_written(directory / name, file)
    yield from _others(directory, recorded)
    yield from _sources(recorded)
    if own and not run_descriptions:
        why = f"{own[0]} is Python of whoever wrote it: to run that add --run-descriptions"
        yield Finding("all files", "made again", "not run", why)
        for kernel in recorded.kernels:
            yield check_figures(kernel)
            yield Finding(kernel.symbol, "proof", "not run", "what it must do stands in that Python")
        return
    kernels = _kernels_again(recorded)
    yield _made_again(recorded, kernels)
    prover = Prover()
    for kernel in recorded.kernels:
        show(kernel.symbol)
        yield check_figures(kernel)
        elf = directory / f"{kernel.symbol}.o" if "elf" in recorded.request.format.split(",") else None
        task = _task(kernel, kernels)
        if isinstance(task, str):
            yield _finding(kernel.symbol, "proof", task)
        else:
            yield from check_proof(prover, kernel, task, elf, time_limit)


def _as_written(path: Path, file: FileRecord) -> Finding:
    """Whether a file is the one that was written."""
    try:
        content = regular_content(path, file.bytes, links=False)
    except OSError as error:
        return _finding(path.name, "as written", (error.strerror or str(error)).lower())
    same = (len(content), _digest(content)) == (file.bytes, file.sha256)
    return _finding(path.name, "as written", "" if same else "its SHA-256 is another")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sources(recorded: Metadata) -> Iterator[Finding]:
    """Whether files that describe somebody's own routines are those that were proved; none of them is run."""
    for name, digest in recorded.sources.items():
        try:
            now = source_digest(name)
        except ValueError as error:
            yield Finding(name, "as described", "not run", str(error)[:_LONGEST])
        else:
            yield _finding(name, "as described", "" if now == digest else "another file than the one that was proved")
    described = dict.fromkeys(parted(name)[0] for name in recorded.request.names if is_own(name))
    for name in described.keys() - recorded.sources.keys():
        yield Finding(name, "as described", "not run", "the export does not say which file that was")


def _others(directory: Path, recorded: Metadata) -> Iterator[Finding]:
    """What lies in the directory and was not written by the export."""
    known = {*recorded.files, NAME}
    try:
        others = sorted(path.name for path in directory.iterdir() if path.name not in known)
    except OSError as error:
        yield _finding("other files", "accounted for", (error.strerror or str(error)).lower())
        return
    for name in others[:_SHOWN]:
        yield _finding(name if name.isprintable() else ascii(name), "accounted for", "the export did not write it")
    if len(others) > _SHOWN:
        yield _finding(f"{len(others) - _SHOWN} more", "accounted for", "the export did not write them")


def _kernels_again(recorded: Metadata) -> tuple[Kernel, ...]:
    """What this setwise makes of the recorded request; nothing where it cannot."""
    try:
        return kernels_of(recorded.request)
    except (ValueError, LookupError):
        return ()


def _made_again(recorded: Metadata, kernels: Sequence[Kernel]) -> Finding:
    """Whether these kernels, which the request names, their files and their metadata are those that are recorded."""
    proved = all(kernel.proof is not None for kernel in recorded.kernels)
    try:
        format_called(recorded.request.format)
        files = files_of(recorded.request, kernels, proved) if kernels else {}
        again = metadata(recorded.request, kernels, cache(facts_of), files, [None] * len(kernels))
    except (ValueError, LookupError) as error:
        return _finding("all files", "made again", str(error))
    now, then = again.files, recorded.files
    others = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    if structs.replace(again, files=then) != recorded.without_proofs():
        others.append(NAME)
    return _finding("all files", "made again", f"it makes others: {', '.join(others[:_SHOWN])}" if others else "")


def _task(recorded: KernelRecord, kernels: Sequence[Kernel]) -> Task | str:
    """What a recorded kernel has to do, by the catalogue, not by what the metadata says; or why there is no telling."""
    wanted = recorded.name, recorded.isa, recorded.lanes, recorded.abi
    for kernel in kernels:
        if (kernel.name, kernel.target.name, kernel.layout.lanes, kernel.convention.name) == wanted:
            return task_of(kernel)
    return f"the request has no {recorded.name} for {recorded.isa}, {recorded.lanes} lanes, {recorded.abi}"


def check_figures(recorded: KernelRecord) -> Finding:
    """Whether digests, distances, counts and features are those of the recorded bytes."""
    binary, proof = recorded.binary, recorded.proof
    try:
        decoded = decode(binary.text)
        counts = count(binary).as_dict()
    except (DecodeError, UnclassifiedError) as error:
        return _finding(recorded.symbol, "figures", str(error))
    wrong = [
        what
        for what, same in (
            ("SHA-256", binary.sha256 == recorded.sha256),
            ("proof's SHA-256", proof is None or proof.image_sha256 == binary.image_sha256),
            ("distances", distances(binary.text) == recorded.distances),
            ("counts", counts == recorded.counts),
            ("features", tuple(sorted(features(decoded) - {"x86-64"})) == recorded.features),
        )
        if not same
    ]
    return _finding(recorded.symbol, "figures", f"other bytes than its {' and '.join(wrong)} say" if wrong else "")


def check_proof(
    prover: Prover, recorded: KernelRecord, task: Task, elf: Path | None, time_limit: float = TIME_LIMIT
) -> Iterator[Finding]:
    """Whether the recorded bytes do what the routine promises, and those in its ELF file, if there is one.

    What is recorded as not proved is told as such, even where it is proved now.
    """
    certificate = prover.prove(recorded.binary, task, time_limit)
    finding, proof = _proved(recorded.symbol, certificate), recorded.proof
    if finding.status == "fine" and proof is None:
        finding = replace(finding, reason="recorded as not proved")
    elif finding.status == "fine" and proof is not None and (reason := _otherwise(proof, certificate)):
        finding = replace(finding, status="failed", reason=reason)
    yield finding
    if elf is None:
        return
    try:
        regular_content(elf, 0, links=False)
        yield _proved(elf.name, prover.prove(load(elf, recorded.symbol), task, time_limit))
    except (ObjectError, OSError) as error:
        yield _finding(elf.name, "proof", str(error))


def _otherwise(recorded: ProofRecord, proof: Certificate) -> str:
    """In what the record of a proof is not the proof made now; whichever solver, and of which version."""
    if recorded.status != proof.status:
        return f"recorded as {recorded.status}"
    now = proof_record(proof)
    parts = [
        name
        for name in ("reason", "cases", "paths", "rounds", "induction")
        if getattr(recorded, name) != getattr(now, name)
    ]
    return f"recorded with other {' and '.join(parts)}" if parts else ""


def _proved(subject: str, proof: Certificate) -> Finding:
    return _finding(subject, "proof", "" if proof.status == "proved" else f"{proof.status}: {proof.reason}")


def _finding(subject: str, what: str, complaint: str) -> Finding:
    """One that is fine without a complaint."""
    return Finding(subject, what, "failed" if complaint else "fine", complaint[:_LONGEST])
