"""The export of kernels as files for other programs, with proofs and metadata.json."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product

from msgspec.structs import replace

from setwise.analysis.bench.choice import request as chosen_kernel
from setwise.analysis.bench.here import processor_named
from setwise.analysis.errors import CannotRunHere, refused_by_system
from setwise.analysis.exports import metadata as record
from setwise.analysis.exports.export_request import ExportRequest, files_of, kernels_of, lanes_for
from setwise.analysis.parallel import Show, silent, unrefused
from setwise.analysis.proof.prover import TIME_LIMIT
from setwise.analysis.proofs import proving
from setwise.analysis.text import counted
from setwise.codegen.export.formats import ALIASES, FORMATS, Format
from setwise.codegen.export.write import checked, write
from setwise.codegen.ir.routine import Routine
from setwise.codegen.own.user_files import is_own
from setwise.codegen.targets import TARGETS

_OWN_NAME = re.compile(r"[A-Za-z0-9_./+@~-]+:[A-Za-z0-9_.]+")


@dataclass(frozen=True, slots=True)
class Exported:
    """The summary of an export that was written.

    `files` are names, `kernels` is a number. `left_out` lists the requested pairs of routine and instruction set that
    have no kernel, `inexpressible` the instruction sets, of all, that the format cannot express. `unproved` holds the
    pairs whose kernels were left out because they are not proved, each with the reason. `proved` is False if no proof
    was tried.
    """

    directory: str
    files: tuple[str, ...]
    kernels: int
    proved: bool
    left_out: tuple[tuple[str, str], ...]
    unproved: Mapping[tuple[str, str], str]
    inexpressible: tuple[str, ...]

    @property
    def summary(self) -> str:
        """One line on the files that were written."""
        proved = "proved" + f", and {len(self.unproved)} not proved and left out" * bool(self.unproved)
        wanting = "not proved" + ", because bitwuzla is not installed (pip install bitwuzla)" * (
            not find_spec("bitwuzla")
        )
        made = f"{counted(len(self.files), 'file')} and {record.NAME} in {self.directory}"
        return f"{made}: {counted(self.kernels, 'kernel')}, {proved if self.proved else wanting}"


def export(
    routines: Sequence[Routine],
    directory: str,
    format: str,
    isas: Sequence[str] = ("x86-64",),
    abi: str | None = None,
    lanes: int | None = None,
    *,
    variant: str = "",
    for_: str = "",
    cpu: str | None = None,
    endbr64: bool = False,
    dispatch: bool = False,
    name: str = "",
    prefix: str = "",
    force: bool = False,
    unproved: bool = False,
    time_limit: float = TIME_LIMIT,
    processes: int = 1,
    show: Show = silent,
) -> Exported:
    """Prove kernels and write them as listings, objects or source into a new or empty directory.

    `for_` is the objective that chooses variants, or `variant` names them. `force` replaces an earlier export. Kernels
    that are not proved are left out. With `unproved`, and without bitwuzla, no proof is tried, and the files say so. If
    one file cannot be written, none is. Raises ValueError for bad options and directories, and CannotRunHere if proofs
    are tried and all fail, or if the system refuses a file.
    """
    with refused_by_system():
        checked(directory, force, record.accounted)
    format = ALIASES.get(format, format)
    given, isas = _format(format, endbr64, dispatch), list(dict.fromkeys(isas))
    inexpressible: tuple[str, ...] = ()
    if isas == [*TARGETS]:
        isas, inexpressible = [*given.isas], tuple(isa for isa in isas if isa not in given.isas)
    if given.fallback:
        isas = list(dict.fromkeys(("x86-64", *isas)))
    for routine in routines:
        if is_own(routine.name) and not _OWN_NAME.fullmatch(routine.name):
            raise ValueError(
                f"{routine.name!r} cannot be named in exports: give the file a path of letters, digits and ._+@~/-, "
                "and define the function outside of others"
            )

    def varied(pair: tuple[Routine, str]) -> tuple[str, str, str]:
        routine, isa = pair
        shape = abi or given.abi, lanes_for(lanes, isas, isa)
        chosen = chosen_kernel(routine, isa, *shape, variant=variant, for_=for_, cpu=cpu, show=show)
        return routine.name, isa, chosen.kernel.variant

    variants = list(unrefused(varied, product(routines, isas))) if variant or for_ else []
    request = ExportRequest(
        format=format,
        names=tuple(dict.fromkeys(routine.name for routine in routines)),
        isas=tuple(isas),
        abi=abi or given.abi,
        proved=not unproved and find_spec("bitwuzla") is not None,
        lanes=lanes,
        endbr64=endbr64,
        dispatch=dispatch,
        name=name,
        prefix=prefix,
        objective=for_,
        cpu=processor_named(cpu).name if cpu and for_ else "",
        variants=tuple(each for each in variants if each[-1]),
    )
    with proving(len(routines) * len(isas), time_limit, processes, show) as begin:
        made = [(each, begin(each) if request.proved else None) for each in kernels_of(request, routines, show)]
        kernels = [kernel for kernel, _ in made]
        there = {(kernel.name, kernel.target.name) for kernel in kernels}
        absent = tuple(pair for pair in product(request.names, request.isas) if pair not in there)
        files = files_of(request, kernels)  # before waiting for the proofs: it may raise ValueError
        failed = {
            (kernel.name, kernel.target.name): f"{proof.status}: {proof.reason}"
            for kernel, proved in made
            if proved and (proof := proved()).status != "proved"
        }
    if failed:
        if len(failed) == len(there):
            (name, isa), why = next(iter(failed.items()))
            more = f", and {len(failed) - 1} more are not proved" if len(failed) > 1 else ""
            raise CannotRunHere(
                f"{name} for {isa} is {why}{more}; nothing was written (--unproved writes it all the same)"
            )
        request = replace(request, unproved=tuple(failed))
        kernels = [each for each in kernels if (each.name, each.target.name) not in failed]
        files = files_of(request, kernels)
    content = record.metadata(request, kernels, files)
    with refused_by_system():
        write(directory, {**files, record.NAME: content}, force, record.accounted)
    absent = () if request.isas == given.isas else absent
    return Exported(directory, tuple(files), len(kernels), request.proved, absent, failed, inexpressible)


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
