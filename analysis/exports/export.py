"""Kernels written as files for other people's programs, with their proofs and metadata.json."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.errors import CannotRunHere, refused_by_system
from setwise.analysis.exports import metadata as record
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.exports.request import ExportRequest, files_of, kernels_of, lanes_for
from setwise.analysis.measure.choice import chosen_request
from setwise.analysis.measure.here import processor_named
from setwise.analysis.parallel import Show, unrefused
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.text import counted
from setwise.codegen.describe.routine import Routine
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.write import write
from setwise.codegen.kernel import Kernel
from setwise.codegen.own.files import is_own
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS

_OWN_NAME = re.compile(r"[A-Za-z0-9_./+@~-]+:[A-Za-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class Exported:
    """An export that was written.

    `left_out` has the routines and sets that were asked for without a kernel. `proved` is None where no solver is
    installed.
    """

    directory: str
    files: tuple[str, ...]
    kernels: int
    proved: bool | None
    left_out: tuple[tuple[str, str], ...]

    @property
    def summary(self) -> str:
        """One line on what was written."""
        wanting = ", for bitwuzla is not installed (pip install bitwuzla)" if self.proved is None else ""
        proved = "proved" if self.proved else f"not proved{wanting}"
        made = f"{counted(len(self.files), 'file')} and {record.NAME} in {self.directory}"
        return f"{made}: {counted(self.kernels, 'kernel')}, {proved}"


def export_request(
    routines: Sequence[Routine],
    format: str,
    isas: Sequence[str],
    abi: str | None,
    lanes: int | None,
    show: Show,
    *,
    variant: str,
    for_: str,
    cpu: str | None,
    endbr64: bool,
    dispatch: bool,
    name: str,
    prefix: str,
    proved: bool,
) -> ExportRequest:
    """Return the request for an export; ValueError for what does not go together."""
    isas = list(dict.fromkeys(isas))
    if format not in FORMATS:
        raise ValueError(f"unknown format '{format}': use one of {', '.join(FORMATS)}")
    given = FORMATS[format]
    if endbr64 and not given.endbr64:
        raise ValueError(f"{format} has no endbr64 of its own: leave --endbr64 out")
    if dispatch and not given.dispatch:
        choosing = [name for name, format in FORMATS.items() if format.dispatch]
        raise ValueError(f"--dispatch is for source that chooses when it runs: use one of {', '.join(choosing)}")
    if given.fallback and (dispatch or len(isas) > 1):
        isas = list(dict.fromkeys(("x86-64", *isas)))
    for routine in routines:
        if is_own(routine.name) and not _OWN_NAME.fullmatch(routine.name):
            raise ValueError(f"{routine.name!r} would stand in files of many languages: use letters, digits and ._-/")
    on = processor_named(cpu) if cpu and for_ != "size" else None

    def varied(pair: tuple[Routine, str]) -> tuple[str, str, str]:
        routine, isa = pair
        show(f"{routine.name} {isa}: variants")
        shape = abi or given.abi, lanes_for(lanes, isas, isa)
        if variant:
            chosen = Request(routine, isa, *shape, variant).kernel.variant
        else:
            chosen = chosen_request(for_, on, routine, (isa,), *shape).variant
        return routine.name, isa, chosen

    variants = list(unrefused(varied, product(routines, isas))) if variant or for_ != "size" else []
    return ExportRequest(
        format=format,
        names=tuple(dict.fromkeys(routine.name for routine in routines)),
        isas=tuple(isas),
        abi=abi or given.abi,
        proved=proved,
        lanes=lanes,
        endbr64=endbr64,
        dispatch=dispatch,
        name=name,
        prefix=prefix,
        objective=for_,
        cpu=on.name if on else "",
        variants=tuple(each for each in variants if each[-1]),
    )


def write_export(
    request: ExportRequest,
    routines: Sequence[Routine],
    directory: str,
    time_limit: float,
    show: Show,
    *,
    force: bool,
    prover: Prover | None,
) -> Exported:
    """Write the files of an export; nothing if one of them cannot be, or if the prover does not prove a kernel."""
    kernels = kernels_of(request, routines)
    if prover:
        _prove(prover, kernels, time_limit, show)
    files = files_of(request, kernels)
    content = record.metadata(request, kernels, cache(facts_of), files).encoded()
    with refused_by_system():
        write(directory, {**files, record.NAME: content}, force, record.accounted)
    there = {(kernel.name, kernel.target.name) for kernel in kernels}
    absent = tuple(pair for pair in product(request.names, request.isas) if pair not in there)
    left_out = () if request.isas == tuple(TARGETS) else absent
    return Exported(directory, tuple(files), len(kernels), bool(prover), left_out)


def _prove(prover: Prover, kernels: Sequence[Kernel], time_limit: float, show: Show) -> None:
    """Prove the kernels; CannotRunHere if one is not proved."""
    unproved = []
    for kernel in kernels:
        show(f"{kernel.name} {kernel.target.name}")
        certificate = prover.prove(binary_of(kernel), task_of(kernel), time_limit)
        if certificate.status != "proved":
            unproved.append(f"{kernel.name} for {kernel.target.name} is {certificate.status}: {certificate.reason}")
    if unproved:
        more = f", and {len(unproved) - 1} more are not proved" if len(unproved) > 1 else ""
        raise CannotRunHere(f"{unproved[0]}{more}; nothing was written (--unproved exports it all the same)")
