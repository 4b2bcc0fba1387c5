"""The kernels and other code that a command line selects."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Sequence

from setwise.analysis import api
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.arguments import object_given
from setwise.analysis.cost.processors import PROCESSORS
from setwise.analysis.parallel import unrefused
from setwise.codegen.catalogue import chosen, is_pattern
from setwise.codegen.ir.routine import Routine
from setwise.codegen.request import Request
from setwise.codegen.targets.table import Refused


def add_objective(parser: ArgumentParser) -> None:
    """Add --for and --variant. The command also needs --cpu, its own or that of `add_cpu`."""
    parser.add_argument(
        "--for",
        dest="objective",
        default="size",
        metavar="O",
        help="optimize for size (fewest instructions), latency or throughput, by timings and bounds (default: size)",
    )
    add_variant(parser)


def add_variant(parser: ArgumentParser) -> None:
    """Add --variant."""
    parser.add_argument(
        "--variant", default="", metavar="V", help="the variant of that name (`setwise bench --variants` lists all)"
    )


def add_cpu(parser: ArgumentParser, default: str = "none in particular") -> None:
    """Add --cpu, the processor that --for optimizes for."""
    parser.add_argument(
        "--cpu",
        metavar="C",
        help=f"the processor: {', '.join(on.name for on in PROCESSORS)} or native (default: {default})",
    )


def requested(arguments: Namespace, routine: Routine, isa: str | None = None, lanes: int | None = None) -> Request:
    """Return the request for a kernel of a routine; `isa` and `lanes` override --isa and --lanes."""
    shape = isa or arguments.isa, arguments.abi, lanes or arguments.lanes
    return api.request(routine, *shape, variant=arguments.variant, for_=arguments.objective, cpu=arguments.cpu)


def codes(arguments: Namespace) -> tuple[Sequence[api.Code], bool]:
    """Return the function of --object, or a request for each name, and whether to skip refused requests.

    They are skipped if a name is a pattern. Raises ValueError if neither names nor an object are given.
    """
    if object_given(arguments):
        return [ObjectFunction(arguments.object, arguments.symbol)], False
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM")
    any_pattern = any(map(is_pattern, arguments.names))
    routines = chosen(arguments.names)
    requests = (unrefused if any_pattern else map)(lambda routine: requested(arguments, routine), routines)
    return list(requests), any_pattern


def requests(arguments: Namespace, why_not: str) -> tuple[Sequence[Request], bool]:
    """Return the result of `codes` for routines.

    Raises ValueError with the text `why_not` for a function of an ELF file.
    """
    given, skip = codes(arguments)
    kernels = [code for code in given if isinstance(code, Request)]
    if len(kernels) < len(given):
        raise ValueError(why_not)
    return kernels, skip


def report_not_made(requests: Sequence[Request], made: Collection[tuple[str, str | None, int, str]]) -> bool:
    """Print on standard error, once for each routine, why some kernels were refused. Return whether all of one were."""
    refused: dict[tuple[str, str], dict[str, None]] = {}
    for request in requests:
        if request.key not in made:
            try:
                request.kernel  # noqa: B018 - raises the reason again
            except Refused as error:
                refused.setdefault((request.routine.name, str(error)), {})[request.isa] = None
    for (name, why), isas in refused.items():
        print(f"not made: {name} for {', '.join(isas)}: {why}", file=sys.stderr)
    return not {name for name, _ in refused} <= {key[0] for key in made}
