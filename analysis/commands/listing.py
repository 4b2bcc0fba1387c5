"""`setwise listing`: print a kernel as assembly source."""

from argparse import ArgumentParser, Namespace

from setwise.analysis import api
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.kernels import requested
from setwise.codegen.catalogue import find

EXAMPLES = ("setwise listing kogge-stone.attacks.sout --abi wiki",)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise listing`."""
    parser.add_argument("name", metavar="NAME", help="the routine, as listed by `setwise list`")
    add(parser, "--isa", "--lanes", "--abi", "--for", "--variant", "--cpu")
    parser.add_argument(
        "--syntax", default="nasm", metavar="S", help="the assembler's syntax: nasm, gas, att, masm, go (default: nasm)"
    )
    add(parser, "--endbr64", help="begin the function with endbr64")
    add(parser, "--prefix")


def run(arguments: Namespace) -> int:
    """Print the listing."""
    request = requested(arguments, find(arguments.name))
    prefix = arguments.prefix or "setwise"
    print(api.listing(request, arguments.syntax, endbr64=arguments.endbr64, prefix=prefix), end="")
    return 0
