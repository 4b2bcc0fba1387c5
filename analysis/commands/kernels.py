"""The kernels and other code that a command line selects."""

from argparse import Namespace
from collections.abc import Sequence

from setwise.analysis import api
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.arguments import object_given
from setwise.analysis.parallel import unrefused
from setwise.codegen.catalogue import chosen, is_pattern
from setwise.codegen.ir.routine import Routine
from setwise.codegen.request import Request


def requested(arguments: Namespace, routine: Routine, isa: str | None = None, lanes: int | None = None) -> Request:
    """Return the request for a kernel of a routine; `isa` and `lanes` override --isa and --lanes."""
    shape = isa or arguments.isa, arguments.abi, lanes or arguments.lanes
    return api.request(routine, *shape, variant=arguments.variant, for_=arguments.objective, cpu=arguments.cpu)


def codes(arguments: Namespace) -> Sequence[api.Code]:
    """Return the function of --object, or a request for each name."""
    if object_given(arguments):
        return [ObjectFunction(arguments.object, arguments.symbol)]
    return requests(arguments)


def requests(arguments: Namespace) -> list[Request]:
    """Return a request for each name. If a name is a pattern, kernels that cannot be made are skipped."""
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM")

    def made(routine: Routine) -> Request:
        request = requested(arguments, routine)
        request.kernel  # noqa: B018 - raises Refused
        return request

    any_pattern = any(map(is_pattern, arguments.names))
    return list((unrefused if any_pattern else map)(made, chosen(arguments.names)))
