"""Lower a routine: the kernel that has the fewest instructions."""

from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.pipeline import select_best
from setwise.codegen.targets import target_named


def lower(routine: Routine, isa: str = "x86-64", abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """Return the shortest kernel of a routine; ValueError in one line if name, convention and routine do not fit."""
    return select_best(plan(routine, target_named(isa), abi, lanes))
