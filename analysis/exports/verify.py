"""Whether the files of an export still are what it wrote, and whether the bytes that it recorded prove."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from setwise.analysis.code.count import UnclassifiedError, count
from setwise.analysis.code.decode import DecodeError, decode, distances, features
from setwise.analysis.code.objects import ObjectError, load
from setwise.analysis.exports.metadata import NAME, Metadata, Recorded
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.run.task import Task
from setwise.codegen.version import version

Status = Literal["fine", "failed", "not checked"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: a file or a kernel, what was looked for, and how that ended."""

    subject: str
    what: str
    status: Status
    reason: str = ""


def files(directory: Path, found: Metadata) -> Iterator[Finding]:
    """Whether each file has the bytes that were written."""
    for name, digest in found.files.items():
        try:
            same = hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest
        except OSError as error:
            yield Finding(name, "as written", "failed", (error.strerror or str(error)).lower())
            continue
        yield Finding(name, "as written", "fine" if same else "failed", "" if same else "its SHA-256 is another")


def made_again(found: Metadata, files: Mapping[str, bytes], metadata: bytes) -> Finding:
    """Whether this setwise makes the same files and the same metadata of the same request; another version need not."""
    if found.setwise != version():
        reason = f"setwise {found.setwise} wrote it, this is {version()}"
        return Finding("all files", "made again", "not checked", reason)
    now = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    others = sorted(name for name in now.keys() | found.files.keys() if now.get(name) != found.files.get(name))
    if not found.same_but_for_proofs(metadata):
        others.append(NAME)
    if not others:
        return Finding("all files", "made again", "fine")
    return Finding("all files", "made again", "failed", f"it makes others: {', '.join(others)}")


def figures(recorded: Recorded) -> Finding:
    """Whether digests, distances, counts and features are those of the recorded bytes."""
    try:
        decoded = decode(recorded.binary.text)
        counts = count(recorded.binary).as_dict()
    except (DecodeError, UnclassifiedError) as error:
        return Finding(recorded.symbol, "figures", "failed", str(error))
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
    reason = f"other bytes than its {' and '.join(wrong)} say" if wrong else ""
    return Finding(recorded.symbol, "figures", "failed" if wrong else "fine", reason)


def proof(
    prover: Prover, recorded: Recorded, task: Task, elf: Path | None, time_limit: float = TIME_LIMIT
) -> Iterator[Finding]:
    """Whether the recorded bytes do what the routine promises, and those in its ELF file, if there is one."""
    made = prover.prove(recorded.binary, task, time_limit)
    yield _proved(recorded.symbol, made)
    if elf is None:
        return
    try:
        yield _proved(elf.name, prover.prove(load(elf, recorded.symbol), task, time_limit))
    except ObjectError as error:
        yield Finding(elf.name, "proof", "failed", str(error))


def _proved(subject: str, made: Certificate) -> Finding:
    fine = made.status == "proved"
    return Finding(subject, "proof", "fine" if fine else "failed", "" if fine else f"{made.status}: {made.reason}")
