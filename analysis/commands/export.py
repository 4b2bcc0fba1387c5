"""`setwise export` and `setwise verify`: kernels as files for other people's programs, and whether these still hold."""

from __future__ import annotations

import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.names import chosen
from setwise.analysis.commands.progress import Progress
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.exports import metadata as record
from setwise.analysis.exports import verify
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.exports.metadata import Metadata, Recorded, Request
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.task import Task
from setwise.analysis.text import counted
from setwise.codegen.catalogue import find
from setwise.codegen.export.formats import FORMATS, Format
from setwise.codegen.export.objects.relocatable import with_endbr64
from setwise.codegen.export.order import Options, Order
from setwise.codegen.export.write import NotWritten, write
from setwise.codegen.lower import TARGETS, Kernel, Refused, lower


def run_export(arguments: Namespace) -> int:
    """Write the files; nothing where one of them cannot be, or where a kernel is not proved."""
    given = _format(arguments.format)
    if not arguments.output:
        raise ValueError("-o has no name of a directory: give one, such as out")
    request = _request(arguments, given)
    kernels = kernels_of(request)
    _tell_left_out(request, kernels)
    prover = None if arguments.unproved else _prover()
    certificates = _proofs(prover, kernels, arguments.time_limit) if prover else [None] * len(kernels)
    unproved = [(k, c) for k, c in zip(kernels, certificates, strict=True) if c is not None and c.status != "proved"]
    if unproved:
        kernel, certificate = unproved[0]
        why = f"{kernel.name} for {kernel.target.name} is {certificate.status}: {certificate.reason}"
        more = f", and {len(unproved) - 1} more are not proved" if len(unproved) > 1 else ""
        raise CannotRunHere(f"{why}{more}; nothing was written (--unproved exports it all the same)")
    facts = cache(facts_of)
    files = files_of(request, kernels)
    content = record.metadata(request, kernels, facts, files, certificates)
    try:
        write(arguments.output, {**files, record.NAME: content}, arguments.force)
    except NotWritten as error:
        if isinstance(error.__context__, OSError):
            raise CannotRunHere(str(error)) from None
        raise
    wanting = "" if arguments.unproved else ", for bitwuzla is not installed (pip install bitwuzla)"
    proved = "proved" if prover else f"not proved{wanting}"
    made = f"{counted(len(files), 'file')} and {record.NAME}"
    print(f"{made} in {arguments.output}: {counted(len(kernels), 'kernel')}, {proved}")
    return 0


def run_verify(arguments: Namespace) -> int:
    """Look at everything that the metadata speaks of; 1 where something is not as it says."""
    directory = Path(arguments.directory)
    found = record.read(directory)
    findings = list(verify.files(directory, found))
    kernels = _kernels_again(found)
    findings.append(_made_again(found, kernels))
    prover = Prover()
    progress = Progress(len(found.kernels))
    try:
        for kernel in found.kernels:
            progress.show(kernel.symbol)
            findings.append(verify.figures(kernel))
            elf = directory / f"{kernel.symbol}.o" if found.request.format == "elf" else None
            task = _task(kernel, kernels)
            if isinstance(task, str):
                findings.append(verify.Finding(kernel.symbol, "proof", "failed", task))
                continue
            findings += verify.proof(prover, kernel, task, elf, arguments.time_limit)
    finally:
        progress.end()
    if arguments.json:
        keys = ("subject", "what", "status", "reason")
        print_json([{key: getattr(one, key) for key in keys} for one in findings])
    else:
        print_table(("of", "check", "", ""), [(one.subject, one.what, one.status, one.reason) for one in findings])
        failed = sum(one.status == "failed" for one in findings)
        print(f"\n{counted(len(findings), 'check')}: {f'{failed} failed' if failed else 'all fine'}")
    return int(any(one.status == "failed" for one in findings))


def kernels_of(request: Request) -> tuple[Kernel, ...]:
    """The kernels that a request names, in its order; what does not come for an instruction set is left out.

    Raises Refused where that is all.
    """
    refused: Refused | None = None
    kernels = []
    for routine in map(find, request.names):
        for isa in request.isas:
            # Lanes are for those sets that have a choice, unless there is one alone.
            lanes = request.lanes if len(request.isas) == 1 or len(TARGETS[isa].widths) > 1 else None
            try:
                kernels.append(lower(routine, isa, request.abi, lanes))
            except Refused as error:
                refused = error
    if not kernels and refused is not None:
        raise refused
    return tuple(with_endbr64(kernel) for kernel in kernels) if request.endbr64 else tuple(kernels)


def _tell_left_out(request: Request, kernels: Sequence[Kernel]) -> None:
    """Say which of the routines that were named are not among the kernels for all instruction sets."""
    made = {(kernel.name, kernel.target.name) for kernel in kernels}
    missing = [f"{name} for {isa}" for name in request.names for isa in request.isas if (name, isa) not in made]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        print(f"setwise export: left out, for there are none: {', '.join(missing[:3])}{more}", file=sys.stderr)


def files_of(request: Request, kernels: Sequence[Kernel]) -> dict[str, bytes]:
    """The files of a request, by their names."""
    options = Options(endbr64=request.endbr64, dispatch=request.dispatch)
    return FORMATS[request.format].files(Order(tuple(kernels), cache(facts_of), options, request.made_by))


def _kernels_again(found: Metadata) -> tuple[Kernel, ...]:
    """What this setwise makes of the recorded request; nothing where it cannot."""
    try:
        return kernels_of(found.request)
    except (ValueError, KeyError):
        return ()


def _made_again(found: Metadata, kernels: Sequence[Kernel]) -> verify.Finding:
    """Whether the files of these kernels are those that are recorded."""
    request = found.request
    try:
        _format(request.format)
        files = files_of(request, kernels)
        again = record.metadata(request, kernels, cache(facts_of), files, [None] * len(kernels))
    except (ValueError, LookupError) as error:
        return verify.Finding("all files", "made again", "failed", str(error))
    return verify.made_again(found, files, again)


def _task(recorded: Recorded, kernels: Sequence[Kernel]) -> Task | str:
    """What a recorded kernel has to do, by the catalogue, not by what the metadata says; or why there is no telling."""
    wanted = recorded.name, recorded.isa, recorded.lanes, recorded.abi
    for one in kernels:
        if (one.name, one.target.name, one.layout.lanes, one.convention.name) == wanted:
            return task_of(one)
    return f"the request has no {recorded.name} for {recorded.isa}, {recorded.lanes} lanes, {recorded.abi}"


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ValueError(f"unknown format '{name}': use one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _request(arguments: Namespace, given: Format) -> Request:
    """What the arguments ask for; ValueError for what does not go together."""
    isas = list(dict.fromkeys(arguments.isa.split(",")))
    unknown = [isa for isa in isas if isa not in TARGETS]
    if unknown:
        raise ValueError(f"unknown instruction set '{unknown[0]}': use one of {', '.join(TARGETS)}")
    if arguments.endbr64 and not given.endbr64:
        raise ValueError(f"{arguments.format} has no endbr64 of its own: leave --endbr64 out")
    if arguments.dispatch and not given.dispatch:
        choosing = [name for name, one in FORMATS.items() if one.dispatch]
        raise ValueError(f"--dispatch is for source that chooses when it runs: use one of {', '.join(choosing)}")
    if given.fallback and (arguments.dispatch or len(isas) > 1):
        isas = list(dict.fromkeys(("x86-64", *isas)))
    abi = arguments.abi or given.abi
    return Request(
        arguments.format,
        tuple(routine.name for routine in chosen(arguments.names)),
        tuple(isas),
        abi,
        arguments.lanes,
        arguments.endbr64,
        arguments.dispatch,
        _command(arguments),
    )


def _command(arguments: Namespace) -> str:
    """The command without what says where to: it stands in the files, which are the same wherever they lie.

    Only what cannot end a comment of any language is repeated as it was given.
    """
    plain = re.compile(r"[A-Za-z0-9_.?*\[\]-]+")
    if all(plain.fullmatch(name) for name in arguments.names):
        names: Iterable[str] = arguments.names
    else:
        names = (routine.name for routine in chosen(arguments.names))
    words = ["setwise", "export", *map(shlex.quote, names), "--isa", arguments.isa]
    words += ["--lanes", str(arguments.lanes)] if arguments.lanes else []
    words += ["--abi", arguments.abi] if arguments.abi else []
    words += ["--format", arguments.format]
    words += ["--endbr64"] if arguments.endbr64 else []
    return " ".join([*words, "--dispatch"] if arguments.dispatch else words)


def _prover() -> Prover | None:
    """A prover; None where there is no solver."""
    try:
        return Prover()
    except ModuleNotFoundError as error:
        if error.name != "bitwuzla":
            raise
        return None


def _proofs(prover: Prover, kernels: Sequence[Kernel], time_limit: float) -> list[Certificate | None]:
    progress = Progress(len(kernels))
    made: list[Certificate | None] = []
    try:
        for kernel in kernels:
            progress.show(f"{kernel.name} {kernel.target.name}")
            made.append(prover.prove(binary_of(kernel), task_of(kernel), time_limit))
    finally:
        progress.end()
    return made
