"""Lowering of a routine to the kernel with the fewest instructions."""

from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.pipeline import select_best
from setwise.codegen.targets import target_named


def lower(routine: Routine, isa: str = "x86-64", abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """Return the kernel with the fewest instructions.

    `lanes` None is the default number. Raise a one-line ValueError for an unknown name or an impossible combination.
    """
    return select_best(plan(routine, target_named(isa), abi, lanes))
