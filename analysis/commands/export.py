"""`setwise export`: kernels as files for other people's programs."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import cache
from itertools import product

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.arguments import (
    add_lanes,
    add_names,
    add_prefix,
    add_time_limit,
    instruction_sets,
    place,
)
from setwise.analysis.commands.kernels import add_cpu, add_objective, maker, processor_named
from setwise.analysis.errors import CannotRunHere, refused_by_system
from setwise.analysis.exports import metadata as record
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.exports.request import ExportRequest, files_of, kernels_of, lanes_for
from setwise.analysis.progress import Progress
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen
from setwise.codegen.describe.routine import Routine
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.write import write
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.own.files import is_own
from setwise.codegen.targets import TARGETS

EXAMPLES = (
    "setwise export sliders.union --isa avx2 --format elf -o out",
    "setwise export 'kogge-stone.attacks.*' --format coff -o out",
    "setwise export sliders.union sliders.pair --isa x86-64,avx2,avx512 --format c --dispatch -o out",
)


_OWN_NAME = re.compile(r"[A-Za-z0-9_./+@~-]+:[A-Za-z0-9_.]+")


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., the format and the directory; the target, and how files and proofs are made."""
    add_names(parser, needed=True)
    parser.add_argument(
        "--format",
        required=True,
        metavar="F",
        help="listings: nasm, gas, att, masm, go; objects: elf, coff, macho, lib; source: c, rust, zig, javascript",
    )
    parser.add_argument(
        "-o", "--output", required=True, type=place, metavar="DIR", help="the directory: a new or an empty one"
    )
    shown = "instruction sets, all, or native, the newest of this processor (default: x86-64)"
    parser.add_argument("--isa", type=instruction_sets, default="x86-64", metavar="I,...", help=shown)
    add_lanes(parser)
    add_objective(parser)
    add_cpu(parser)
    parser.add_argument("--abi", metavar="A", help="sysv, win64 or wiki (default: sysv; of coff and masm, win64)")
    parser.add_argument("--endbr64", action="store_true", help="begin functions with endbr64")
    parser.add_argument("--dispatch", action="store_true", help="source that asks CPUID which instruction set to use")
    parser.add_argument("--name", metavar="N", help="what files and modules are called (default: the prefix)")
    add_prefix(parser)
    parser.add_argument("--force", action="store_true", help="replace an earlier export that is there")
    parser.add_argument("--unproved", action="store_true", help="export without proofs, as where there is no bitwuzla")
    add_time_limit(parser)


def run(arguments: Namespace) -> int:
    """Write the files; nothing where one of them cannot be, or where a kernel is not proved."""
    print(written(arguments, chosen(arguments.names)))
    return 0


def written(arguments: Namespace, routines: Sequence[Routine]) -> str:
    """Write these routines' files and say in a line what they are."""
    prover = None if arguments.unproved else _prover()
    request = _request(arguments, routines, proved=prover is not None)
    kernels = kernels_of(request, routines)
    _tell_left_out(request, kernels)
    certificates = _proofs(prover, kernels, arguments.time_limit) if prover else [None] * len(kernels)
    unproved = [(k, c) for k, c in zip(kernels, certificates, strict=True) if c is not None and c.status != "proved"]
    if unproved:
        kernel, certificate = unproved[0]
        why = f"{kernel.name} for {kernel.target.name} is {certificate.status}: {certificate.reason}"
        more = f", and {len(unproved) - 1} more are not proved" if len(unproved) > 1 else ""
        raise CannotRunHere(f"{why}{more}; nothing was written (--unproved exports it all the same)")
    facts = cache(facts_of)
    files = files_of(request, kernels)
    content = record.metadata(request, kernels, facts, files).encoded()
    with refused_by_system():
        write(arguments.output, {**files, record.NAME: content}, arguments.force, record.accounted)
    wanting = "" if arguments.unproved else ", for bitwuzla is not installed (pip install bitwuzla)"
    proved = "proved" if prover else f"not proved{wanting}"
    made = f"{counted(len(files), 'file')} and {record.NAME} in {arguments.output}"
    return f"{made}: {counted(len(kernels), 'kernel')}, {proved}"


def _tell_left_out(request: ExportRequest, kernels: Sequence[Kernel]) -> None:
    """Say which of the routines that were named are not among the kernels for all instruction sets."""
    exported = {(kernel.name, kernel.target.name) for kernel in kernels}
    missing = [f"{name} for {isa}" for name in request.names for isa in request.isas if (name, isa) not in exported]
    if missing and request.isas != tuple(TARGETS):
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        print(f"setwise export: left out, for there are none: {', '.join(missing[:3])}{more}", file=sys.stderr)


def _request(arguments: Namespace, routines: Sequence[Routine], *, proved: bool) -> ExportRequest:
    """What the arguments ask for; ValueError for what does not go together."""
    isas = list(TARGETS) if arguments.isa == "all" else list(dict.fromkeys(arguments.isa.split(",")))
    if arguments.format not in FORMATS:
        raise ValueError(f"unknown format '{arguments.format}': use one of {', '.join(FORMATS)}")
    given = FORMATS[arguments.format]
    if arguments.endbr64 and not given.endbr64:
        raise ValueError(f"{arguments.format} has no endbr64 of its own: leave --endbr64 out")
    if arguments.dispatch and not given.dispatch:
        choosing = [name for name, format in FORMATS.items() if format.dispatch]
        raise ValueError(f"--dispatch is for source that chooses when it runs: use one of {', '.join(choosing)}")
    if given.fallback and (arguments.dispatch or len(isas) > 1):
        isas = list(dict.fromkeys(("x86-64", *isas)))
    abi = arguments.abi or given.abi
    for routine in routines:
        if is_own(routine.name) and not _OWN_NAME.fullmatch(routine.name):
            raise ValueError(f"{routine.name!r} would stand in files of many languages: use letters, digits and ._-/")
    return ExportRequest(
        format=arguments.format,
        names=tuple(dict.fromkeys(routine.name for routine in routines)),
        isas=tuple(isas),
        abi=abi,
        proved=proved,
        lanes=arguments.lanes,
        endbr64=arguments.endbr64,
        dispatch=arguments.dispatch,
        name=arguments.name or "",
        prefix=arguments.prefix or "",
        objective=arguments.objective,
        cpu=processor_named(arguments.cpu).name if arguments.cpu and arguments.objective != "size" else "",
        variants=_variants(arguments, routines, isas, abi),
    )


def _variants(
    arguments: Namespace, routines: Sequence[Routine], isas: Sequence[str], abi: str
) -> tuple[tuple[str, str, str], ...]:
    """Routine, instruction set and variant of each kernel that is not the usual one."""
    if arguments.objective == "size" and not arguments.variant:
        return ()
    make = maker(arguments)
    with Progress(len(routines) * len(isas)) as progress:

        def chosen_of(routine: Routine, isa: str) -> tuple[str, str, str]:
            progress.show(f"{routine.name} {isa}: variants")
            return routine.name, isa, make(routine, isa, abi, lanes_for(arguments.lanes, isas, isa)).variant

        named = list(unrefused(lambda pair: chosen_of(*pair), product(routines, isas)))
    return tuple(each for each in named if each[-1])


def _prover() -> Prover | None:
    """A prover; None where there is no solver."""
    try:
        return Prover()
    except ModuleNotFoundError as error:
        if error.name != "bitwuzla":
            raise
        return None


def _proofs(prover: Prover, kernels: Sequence[Kernel], time_limit: float) -> list[Certificate | None]:
    certificates: list[Certificate | None] = []
    with Progress(len(kernels)) as progress:
        for kernel in kernels:
            progress.show(f"{kernel.name} {kernel.target.name}")
            certificates.append(prover.prove(binary_of(kernel), task_of(kernel), time_limit))
    return certificates
