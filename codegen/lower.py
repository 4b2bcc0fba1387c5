"""Lowering of a routine to its default kernel: the one with the fewest instructions, variants aside."""

from contextlib import suppress

from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.pipeline import select_best
from setwise.codegen.targets import target_named
from setwise.codegen.targets.table import Refused


def lower(routine: Routine, isa: str = "x86-64", abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """Return the kernel with the fewest instructions of the routine's usual descriptions and the target's rows.

    `lanes` None is the default number. Raise a one-line ValueError for an unknown name or an impossible combination.
    For a user's own routine in lanes, it names the instruction set.
    """
    asked = plan(routine, target_named(isa), abi, lanes)
    try:
        return select_best(asked)
    except Refused as error:
        width = asked.layout.lanes
        if ":" not in routine.name or width == 1 or isa in str(error):
            raise
        raise Refused(f"{error} (for {isa}, {width} lanes)") from None


def sets_of(routine: Routine) -> tuple[str, ...]:
    """Return the instruction sets for which a routine has a kernel with the default number of lanes."""

    def is_made(isa: str) -> bool:
        with suppress(Refused):
            return bool(lower(routine, isa))
        return False

    return tuple(filter(is_made, routine.isas))
