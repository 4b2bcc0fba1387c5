"""`setwise listing`: a kernel as assembly source."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace

from setwise.analysis.commands.arguments import add_prefix, add_target
from setwise.analysis.commands.kernels import add_cpu, add_objective, maker
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.export.listings.listing import listing
from setwise.codegen.export.names import checked_name
from setwise.codegen.export.objects.relocatable import with_endbr64

EXAMPLES = ("setwise listing kogge-stone.attacks.sout --abi wiki",)


def add_arguments(parser: ArgumentParser) -> None:
    """NAME, the target, and how it is written."""
    parser.add_argument("name", metavar="NAME", help="the routine, as `setwise list` shows it")
    add_target(parser)
    add_objective(parser)
    add_cpu(parser)
    parser.add_argument(
        "--syntax", default="nasm", metavar="S", help="the assembler's: nasm, gas, att, masm, go (default: nasm)"
    )
    parser.add_argument("--endbr64", action="store_true", help="begin the function with endbr64")
    add_prefix(parser)


def run(arguments: Namespace) -> int:
    """Print the listing."""
    print(listed(find(arguments.name), arguments), end="")
    return 0


def listed(routine: Routine, arguments: Namespace) -> str:
    """A routine's listing."""
    kernel = maker(arguments)(routine, arguments.isa, arguments.abi, arguments.lanes)
    if arguments.endbr64:
        kernel = with_endbr64(kernel)
    if arguments.prefix:
        kernel = replace(kernel, prefix=checked_name(arguments.prefix))
    return listing(kernel, facts_of(kernel), arguments.syntax)
