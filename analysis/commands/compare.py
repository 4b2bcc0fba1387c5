"""`setwise compare`: two kernels side by side."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from setwise.analysis.code.compare import side_by_side
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.arguments import add_target
from setwise.analysis.commands.kernels import add_cpu, add_objective, maker
from setwise.codegen.catalogue import find

EXAMPLES = ("setwise compare dumb7.attacks.sout kogge-stone.attacks.sout --abi wiki",)


def add_arguments(parser: ArgumentParser) -> None:
    """A, B and the target."""
    parser.add_argument("left", metavar="A", help="the routine on the left")
    parser.add_argument("right", metavar="B", help="the routine on the right")
    add_target(parser)
    add_objective(parser)
    add_cpu(parser)


def run(arguments: Namespace) -> int:
    """Print both listings, their counts under them."""
    routines = (find(arguments.left), find(arguments.right))
    make = maker(arguments)
    left, right = (make(routine, arguments.isa, arguments.abi, arguments.lanes) for routine in routines)
    print(side_by_side((left.name, binary_of(left)), (right.name, binary_of(right))))
    return 0
