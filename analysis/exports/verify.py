"""The verification of an export: its files are reproduced and compared, and its code is proved."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from setwise.analysis.exports.export_request import files_of, kernels_of
from setwise.analysis.exports.metadata import NAME, Recorded, metadata, read
from setwise.analysis.parallel import Show, silent
from setwise.analysis.proof.prover import TIME_LIMIT
from setwise.analysis.proofs import Begin, proving
from setwise.codegen.export.names import symbol
from setwise.codegen.files import read_regular
from setwise.codegen.own.user_files import is_own, parted, source_digest

VerifyStatus = Literal["fine", "failed", "not run"]
_SHOWN, _LONGEST = 20, 300  # findings on files that the export does not have; characters of a reason


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of a file or a kernel, and its outcome; `what` names the check, `subject` the file or the symbol."""

    subject: str
    what: str
    status: VerifyStatus
    reason: str = ""


def verify(
    directory: str | Path,
    *,
    time_limit: float = TIME_LIMIT,
    run_descriptions: bool = False,
    processes: int = 1,
    show: Show = silent,
) -> list[Finding]:
    """Reproduce every file of an export from its request alone, compare byte by byte, and prove its kernels again.

    A description in a user's Python file is run only with `run_descriptions`, and only if its digest is the exported
    one; otherwise nothing is reproduced. Raises ValueError without valid metadata, and CannotRunHere for an export of
    another version.
    """
    recorded = read(directory)
    expected = len(recorded.request.names) * len(recorded.request.isas)
    with proving(expected, time_limit, processes, show) as begin:
        return list(_findings(Path(directory), recorded, run_descriptions, show, begin))


def _findings(
    directory: Path, recorded: Recorded, run_descriptions: bool, show: Show, begin: Begin
) -> Iterator[Finding]:
    sources = [*_sources(recorded)]
    yield from sources
    request = recorded.request
    own = [name for name in request.names if is_own(name)]
    if own and (not run_descriptions or any(finding.status != "fine" for finding in sources)):
        why = f"{own[0]} is a user's Python code: add --run-descriptions to run it"
        yield Finding("all files", "made again", "not run", why[:_LONGEST])
        return
    try:
        proofs = [(kernel, begin(kernel)) for kernel in kernels_of(request, show=show)]
        kernels = [kernel for kernel, _ in proofs]
        files = files_of(request, kernels)
        again = metadata(request, kernels, files)
    except (ValueError, LookupError) as error:
        yield _finding("all files", "made again", str(error))
        return
    for name, content in {**files, NAME: again}.items():
        yield _compared(directory / name, content)
    yield from _others(directory, {*files, NAME})
    for kernel, certificate in proofs:
        proof = certificate()
        if proof.status == "proved":
            yield Finding(symbol(kernel), "proof", "fine", "" if request.proved else "recorded as not proved")
        else:
            yield _finding(symbol(kernel), "proof", f"{proof.status}: {proof.reason}")


def _compared(path: Path, wanted: bytes) -> Finding:
    """Compare a file's content with the `wanted` one. At most one byte more than its size is read."""
    try:
        content = read_regular(path, len(wanted), links=False)
    except OSError as error:
        return _finding(path.name, "made again", (error.strerror or str(error)).lower())
    if len(content) == len(wanted) and content == wanted:
        return Finding(path.name, "made again", "fine")
    pairs = enumerate(zip(content, wanted, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(content), len(wanted)))
    return _finding(path.name, "made again", f"differs from the file that setwise makes, from byte {at} on")


def _sources(recorded: Recorded) -> Iterator[Finding]:
    """Yield for each file of a user's routines a finding on its digest, compared with the exported one. Run no code."""
    for name in dict.fromkeys(parted(name)[0] for name in recorded.request.names if is_own(name)):
        try:
            now, then = source_digest(name), recorded.sources.get(name)
        except ValueError as error:
            yield Finding(name, "as described", "not run", str(error)[:_LONGEST])
            continue
        if then is None:
            yield Finding(name, "as described", "not run", "the export has no digest of this file")
        else:
            yield _finding(name, "as described", "" if now == then else "the file has changed since the export")


def _others(directory: Path, known: set[str]) -> Iterator[Finding]:
    """Yield failed findings for the files in the directory that are not in `known`, for many of them only a number."""
    try:
        others = sorted(path.name for path in directory.iterdir() if path.name not in known)
    except OSError as error:
        yield _finding("other files", "accounted for", (error.strerror or str(error)).lower())
        return
    for name in others[:_SHOWN]:
        yield _finding(name if name.isprintable() else ascii(name), "accounted for", "the export did not write it")
    if len(others) > _SHOWN:
        yield _finding(f"{len(others) - _SHOWN} more", "accounted for", "the export did not write them")


def _finding(subject: str, what: str, complaint: str) -> Finding:
    """Return a finding: "failed" with a complaint, "fine" without one."""
    return Finding(subject, what, "failed" if complaint else "fine", complaint[:_LONGEST])
