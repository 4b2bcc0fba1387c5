"""The export of kernels as files for other programs, with proofs and metadata.json."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from setwise.analysis.bench.choice import request as chosen_kernel
from setwise.analysis.bench.here import processor_named
from setwise.analysis.code.binary import binary_of
from setwise.analysis.errors import CannotRunHere, refused_by_system
from setwise.analysis.exports import metadata as record
from setwise.analysis.exports.export_request import ExportRequest, files_of, kernels_of, lanes_for
from setwise.analysis.parallel import Show, silent, unrefused
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.text import counted
from setwise.codegen.export.formats import FORMATS, Format
from setwise.codegen.export.write import checked, write
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.own.user_files import is_own
from setwise.codegen.targets import TARGETS

_OWN_NAME = re.compile(r"[A-Za-z0-9_./+@~-]+:[A-Za-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class Exported:
    """The summary of an export that was written.

    `left_out` lists the requested pairs of routine and instruction set that have no kernel. `proved` is None if no
    solver is installed.
    """

    directory: str
    files: tuple[str, ...]
    kernels: int
    proved: bool | None
    left_out: tuple[tuple[str, str], ...]

    @property
    def summary(self) -> str:
        """One line on the files that were written."""
        wanting = ", because bitwuzla is not installed (pip install bitwuzla)" if self.proved is None else ""
        proved = "proved" if self.proved else f"not proved{wanting}"
        made = f"{counted(len(self.files), 'file')} and {record.NAME} in {self.directory}"
        return f"{made}: {counted(self.kernels, 'kernel')}, {proved}"


def export(
    routines: Sequence[Routine],
    directory: str,
    format: str,
    isas: Sequence[str] = ("x86-64",),
    abi: str | None = None,
    lanes: int | None = None,
    *,
    variant: str = "",
    for_: str = "size",
    cpu: str | None = None,
    endbr64: bool = False,
    dispatch: bool = False,
    name: str = "",
    prefix: str = "",
    force: bool = False,
    unproved: bool = False,
    time_limit: float = TIME_LIMIT,
    show: Show = silent,
) -> Exported:
    """Write kernels as listings, objects or source into a new or empty directory, and prove them before.

    `force` replaces an earlier export. Without bitwuzla, or with `unproved`, nothing is proved. If one file cannot be
    written, none is. Raises ValueError for options that contradict each other, and CannotRunHere if a kernel is not
    proved.
    """
    with refused_by_system():
        checked(directory, force, record.accounted)
    prover = None if unproved else _prover()
    given, isas = _format(format, endbr64, dispatch), list(dict.fromkeys(isas))
    if given.fallback and (dispatch or len(isas) > 1):
        isas = list(dict.fromkeys(("x86-64", *isas)))
    for routine in routines:
        if is_own(routine.name) and not _OWN_NAME.fullmatch(routine.name):
            raise ValueError(
                f"{routine.name!r} is not a valid name for all output languages: use letters, digits and ._-/"
            )

    def varied(pair: tuple[Routine, str]) -> tuple[str, str, str]:
        routine, isa = pair
        show(f"{routine.name} {isa}: variants")
        shape = abi or given.abi, lanes_for(lanes, isas, isa)
        chosen = chosen_kernel(routine, isa, *shape, variant=variant, for_=for_, cpu=cpu)
        return routine.name, isa, chosen.kernel.variant

    variants = list(unrefused(varied, product(routines, isas))) if variant or for_ != "size" else []
    request = ExportRequest(
        format=format,
        names=tuple(dict.fromkeys(routine.name for routine in routines)),
        isas=tuple(isas),
        abi=abi or given.abi,
        proved=prover is not None,
        lanes=lanes,
        endbr64=endbr64,
        dispatch=dispatch,
        name=name,
        prefix=prefix,
        objective=for_,
        cpu=processor_named(cpu).name if cpu and for_ != "size" else "",
        variants=tuple(each for each in variants if each[-1]),
    )
    kernels = kernels_of(request, routines)
    if prover:
        _prove(prover, kernels, time_limit, show)
    files = files_of(request, kernels)
    content = record.metadata(request, kernels, files)
    with refused_by_system():
        write(directory, {**files, record.NAME: content}, force, record.accounted)
    there = {(kernel.name, kernel.target.name) for kernel in kernels}
    absent = tuple(pair for pair in product(request.names, request.isas) if pair not in there)
    proved = None if prover is None and not unproved else prover is not None
    return Exported(directory, tuple(files), len(kernels), proved, () if request.isas == tuple(TARGETS) else absent)


def _format(name: str, endbr64: bool, dispatch: bool) -> Format:
    """Return the format of that name. Raises ValueError if it is unknown or does not take these options."""
    if name not in FORMATS:
        raise ValueError(f"unknown format '{name}': use one of {', '.join(FORMATS)}")
    if endbr64 and not FORMATS[name].endbr64:
        raise ValueError(f"{name} cannot add endbr64: leave out --endbr64")
    if dispatch and not FORMATS[name].dispatch:
        choosing = [other for other, format in FORMATS.items() if format.dispatch]
        raise ValueError(f"{name} has no run-time dispatch: leave out --dispatch, or use one of {', '.join(choosing)}")
    return FORMATS[name]


def _prover() -> Prover | None:
    """Return a prover, or None if bitwuzla is not installed."""
    try:
        return Prover()
    except ModuleNotFoundError as error:
        if error.name != "bitwuzla":
            raise
        return None


def _prove(prover: Prover, kernels: Sequence[Kernel], time_limit: float, show: Show) -> None:
    """Prove the kernels. Raises CannotRunHere if one is not proved."""
    unproved = []
    for kernel in kernels:
        show(f"{kernel.name} {kernel.target.name}")
        certificate = prover.prove(binary_of(kernel), task_of(kernel), time_limit)
        if certificate.status != "proved":
            unproved.append(f"{kernel.name} for {kernel.target.name} is {certificate.status}: {certificate.reason}")
    if unproved:
        more = f", and {len(unproved) - 1} more are not proved" if len(unproved) > 1 else ""
        raise CannotRunHere(f"{unproved[0]}{more}; nothing was written (--unproved exports it all the same)")
