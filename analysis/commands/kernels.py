"""The kernels, or the function of an ELF file, that a command line selects."""

import sys
from argparse import Namespace
from collections.abc import Collection, Sequence

from setwise.analysis import api
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.arguments import object_given
from setwise.analysis.parallel import unrefused
from setwise.codegen.catalogue import chosen, is_pattern
from setwise.codegen.ir.routine import Routine
from setwise.codegen.request import Request
from setwise.codegen.targets.table import Refused


def requested(arguments: Namespace, routine: Routine, isa: str | None = None, lanes: int | None = None) -> Request:
    """Return the request for a kernel of a routine; `isa` and `lanes` override --isa and --lanes."""
    shape = isa or arguments.isa, arguments.abi, lanes or arguments.lanes
    return api.request(routine, *shape, variant=arguments.variant, for_=arguments.objective, cpu=arguments.cpu)


def codes(arguments: Namespace) -> Sequence[api.Code]:
    """Return the function of --object alone, or else the requests for the names."""
    if object_given(arguments):
        return [ObjectFunction(arguments.object, arguments.symbol)]
    return requests(arguments)


def requests(arguments: Namespace) -> list[Request]:
    """Return a request for each routine that the names select. If a name is a pattern, refused requests are skipped.

    Raises Refused for another refused request, and if all are refused.
    """
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM")

    def made(routine: Routine) -> Request:
        request = requested(arguments, routine)
        request.kernel  # noqa: B018 - raises Refused
        return request

    any_pattern = any(map(is_pattern, arguments.names))
    return list((unrefused if any_pattern else map)(made, chosen(arguments.names)))


def report_not_made(requests: Sequence[Request], made: Collection[tuple[str, str | None, int, str]]) -> bool:
    """Print why requests with keys not in `made` are refused. Return whether one of their routines has no key there."""
    refused: dict[tuple[str, str], dict[str, None]] = {}
    for request in requests:
        if request.key not in made:
            try:
                request.kernel  # noqa: B018 - raises the reason again
            except Refused as error:
                refused.setdefault((request.routine.name, str(error)), {})[request.isa] = None
    for (name, why), isas in refused.items():
        print(f"cannot be made: {name} for {', '.join(isas)}: {why}", file=sys.stderr)
    return not {name for name, _ in refused} <= {key[0] for key in made}
