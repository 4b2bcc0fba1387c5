"""The pipeline: from a routine's description to code, through named passes.

    trace       the description is run on traced parameters: the graph

    expansion   steps, runs and paths become shifts and masks

    algebra     equal values are made once, masks are moved, joined and dropped

    shallowness as many operations with less waiting: tried besides

    selection   every operation becomes one that the target has an instruction for, or is refused
    further     a shift goes on from a nearer one: tried besides
    back        a fill that goes back begins with what the one against it has: tried besides, also with the former
    promise     about how long the code becomes: the shortest go on
    joining     what was lowered apart and runs in turn is one graph from here on

    arguments   parameters that the convention passes on the stack are read from there
    placement   values get their places in blocks
    scheduling  another order where that spares moves

    meeting     a board within two masks is where those within one meet, in order again: tried of the best
    hastening   an order that ends sooner, or the one that is told with room between values: tried of the best

    spilling    values that find no register wait on the stack
    allocation  the exact search for the fewest moves
    flags       tests that repeat what the flags say already go
    operands    operands that commute come in the order that every assembler encodes alike
    framing     saved registers, stack slots, the way out

What no pass decides alone, such as which description is best, is tried: setwise.codegen.variants.
"""

from __future__ import annotations

from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.passes.arguments import arguments
from setwise.codegen.passes.back import back
from setwise.codegen.passes.expand import expansion
from setwise.codegen.passes.flags import flags
from setwise.codegen.passes.frame import framing
from setwise.codegen.passes.further import further, runs_further
from setwise.codegen.passes.meeting import meeting
from setwise.codegen.passes.operands import operands
from setwise.codegen.passes.place import placement
from setwise.codegen.passes.schedule import hastening, promise, scheduling
from setwise.codegen.passes.select import joining, selection
from setwise.codegen.passes.shallow import shallowness
from setwise.codegen.passes.simplify import algebra
from setwise.codegen.passes.spill import spilling
from setwise.codegen.passes.trace import trace
from setwise.codegen.registers.allocate import allocation
from setwise.codegen.targets import target_named
from setwise.codegen.variants import Pipeline, best, size

_ORDER = arguments, placement, scheduling

PIPELINE = Pipeline(
    trace=(trace,),
    expansion=(expansion,),
    algebra=(algebra,),
    shallow=(shallowness,),
    selection=(selection,),
    otherwise=((runs_further,), (further,), (back,), (back, runs_further), (back, further)),
    promise=promise,
    joining=(joining,),
    order=_ORDER,
    again=((meeting, _ORDER), (hastening, ())),
    code=(spilling, allocation, flags, operands, framing),
)


def lower(
    routine: Routine,
    isa: str = "x86-64",
    abi: str = "sysv",
    lanes: int | None = None,
) -> Kernel:
    """The shortest kernel of a routine; ValueError in one line where name, convention and routine do not fit."""
    return best(PIPELINE, plan(routine, target_named(isa), abi, lanes), size)
