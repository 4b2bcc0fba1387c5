"""The kernels, or the function of an ELF file, that a command line selects."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from setwise.analysis import api
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.arguments import object_given
from setwise.analysis.commands.tables import report_not_made
from setwise.analysis.parallel import unrefused
from setwise.analysis.progress import Progress
from setwise.analysis.run.positions import words_of
from setwise.codegen.catalogue import chosen, is_pattern
from setwise.codegen.ir.routine import Routine
from setwise.codegen.own.user_files import is_own, parted
from setwise.codegen.request import Request


def requested(arguments: Namespace, routine: Routine, isa: str | None = None, lanes: int | None = None) -> Request:
    """Return the request for a kernel of a routine; `isa` and `lanes` override --isa and --lanes."""
    shape = isa or arguments.isa, arguments.abi, lanes or arguments.lanes
    chosen_by = {"variant": arguments.variant, "for_": arguments.objective, "cpu": arguments.cpu}
    with Progress() as progress:
        return api.request(routine, *shape, **chosen_by, show=progress.show)


def codes(arguments: Namespace) -> Sequence[api.Code]:
    """Return the function of --object alone, or else the requests for the names."""
    if object_given(arguments):
        return [ObjectFunction(arguments.object, arguments.symbol)]
    return requests(arguments)


def call_given(arguments: Namespace) -> Callable[[Routine], Sequence[int]] | None:
    """Return a function that gives a routine's arguments by --executed or --fen, or None without these options."""
    words, fen, side = arguments.arguments, arguments.fen, arguments.side
    given = words is not None or fen is not None
    return (lambda routine: words_of(routine, words or (), fen, side)) if given else None


def requests(arguments: Namespace) -> list[Request]:
    """Return a request for each routine that the names select, with its kernel made.

    If a name is a pattern, or a user's file, refused requests are skipped, with a line for each kernel that cannot be
    made. Raises Refused for another refused request, and if all are refused.
    """
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM")

    def made(request: Request) -> Request:
        request.kernel  # noqa: B018 - raises Refused
        return request

    several = any(is_pattern(name) or (is_own(name) and not parted(name)[1]) for name in arguments.names)
    each = unrefused if several else map
    asked = list(each(lambda routine: requested(arguments, routine), chosen(arguments.names)))
    found = list(each(made, asked))
    report_not_made(asked, {request.key for request in found})
    return found
