"""`setwise compare`: print the listings of two kernels side by side."""

from argparse import ArgumentParser, Namespace

from setwise.analysis import api
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.kernels import requested
from setwise.codegen.catalogue import find

EXAMPLES = ("setwise compare dumb7.attacks.sout kogge-stone.attacks.sout --abi wiki",)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise compare`."""
    parser.add_argument("left", metavar="A", help="the routine on the left")
    parser.add_argument("right", metavar="B", help="the routine on the right")
    add(parser, "--isa", "--lanes", "--abi", "--for", "--variant", "--cpu")


def run(arguments: Namespace) -> int:
    """Print both listings side by side, with their counts below."""
    left, right = find(arguments.left), find(arguments.right)
    print(api.comparison(requested(arguments, left), requested(arguments, right)))
    return 0
