"""`setwise export`: write kernels as files for other programs."""

import os
import sys
from argparse import ArgumentParser, Namespace

from setwise.analysis import api
from setwise.analysis.commands.arguments import add, place
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import chosen
from setwise.codegen.targets import TARGETS

_OPTIONS = ("variant", "cpu", "endbr64", "dispatch", "name", "prefix", "force", "unproved", "time_limit")
"""Options that `api.export` takes by the same names."""
EXAMPLES = (
    "setwise export sliders.union --isa avx2 --format elf -o objects",
    "setwise export 'kogge-stone.attacks.*' --format coff -o windows",
    "setwise export sliders.union sliders.pair --isa x86-64,avx2,avx512 --format c --dispatch -o header",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise export`."""
    add(parser, "names", nargs="+")
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
    add(parser, "--isa", metavar="I,...", help=shown)
    add(parser, "--lanes", "--for", "--variant", "--cpu")
    add(parser, "--abi", default=None, help="sysv, win64 or wiki (default: sysv; of coff and masm, win64)")
    add(parser, "--endbr64")
    parser.add_argument(
        "--dispatch", action="store_true", help="source that selects the instruction set by CPUID at run time"
    )
    parser.add_argument("--name", metavar="N", help="the name of files and modules (default: the prefix)")
    add(parser, "--prefix")
    parser.add_argument("--force", action="store_true", help="replace an earlier export in the directory")
    parser.add_argument("--unproved", action="store_true", help="try no proof, and write all kernels; the files say so")
    add(parser, "--time-limit")


def run(arguments: Namespace) -> int:
    """Write all files, or none if one cannot be written. Return 1 if a kernel was left out because it is not proved."""
    with Progress() as progress:
        exported = api.export(
            chosen(arguments.names),
            arguments.output,
            arguments.format,
            [*TARGETS] if arguments.isa == "all" else arguments.isa.split(","),
            arguments.abi,
            arguments.lanes,
            for_=arguments.objective,
            **{option: value for option in _OPTIONS if (value := getattr(arguments, option)) is not None},
            processes=os.cpu_count() or 1,
            show=progress.show,
        )
    if exported.inexpressible:
        sets = ", ".join(exported.inexpressible)
        print(f"setwise export: left out, because {arguments.format} cannot express it: {sets}", file=sys.stderr)
    if absent := [f"{name} for {isa}" for name, isa in exported.left_out]:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        print(f"setwise export: skipped, because they do not exist: {', '.join(absent[:3])}{more}", file=sys.stderr)
    for (name, isa), why in exported.unproved.items():
        remedy = "so it was left out (--unproved exports all without proofs)"
        print(f"setwise export: {name} for {isa} is {why}, {remedy}", file=sys.stderr)
    print(exported.summary)
    return int(bool(exported.unproved))
