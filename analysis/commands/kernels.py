"""The kernels that a command line asks for: the usual ones, the best for an objective, or one of a name."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial

from setwise.analysis.cost.processors import PROCESSORS, Processor, processor
from setwise.analysis.measure.choice import OBJECTIVES, kernel_for
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.processors import FEATURES, lacking
from setwise.codegen.offers import offered_as
from setwise.codegen.run import cpu as here_cpu
from setwise.codegen.run.call import host, is_batch, missing
from setwise.codegen.targets import TARGETS

Maker = Callable[[Routine, str, str, int | None], Kernel]
"""From a routine, an instruction set, a convention and a number of lanes to the kernel."""


def add_objective(parser: ArgumentParser) -> None:
    """--for and --variant; the command has a --cpu, or takes `add_cpu`."""
    parser.add_argument(
        "--for",
        dest="objective",
        default="size",
        metavar="O",
        help="the variant with the fewest instructions, or the fastest by timings and bounds: size, latency or "
        "throughput (default: size)",
    )
    add_variant(parser)


def add_variant(parser: ArgumentParser) -> None:
    """--variant."""
    parser.add_argument(
        "--variant", metavar="V", help="the variant of that name (`setwise bench --variants` lists all)"
    )


def add_cpu(parser: ArgumentParser) -> None:
    """--cpu, which --for may ask."""
    parser.add_argument(
        "--cpu",
        metavar="C",
        help=f"for which processor: {', '.join(on.name for on in PROCESSORS)} or native (default: no single one)",
    )


def maker(arguments: Namespace) -> Maker:
    """What makes the kernels; ValueError for what does not go together, and for a processor without a table."""
    objective, variant = arguments.objective, arguments.variant
    check_objective(objective)
    if variant is not None:
        if objective != "size":
            raise ValueError("--for chooses a variant and --variant names one: give one of them")
        return partial(offered_as, variant)
    if objective == "size":
        return lower
    on = processor_named(arguments.cpu) if arguments.cpu else None
    return lambda routine, isa, abi, lanes: kernel_for(objective, on, routine, (isa,), abi, lanes)


def fastest(
    routine: Routine, objective: str, cpu: str | None, isa: str | None, abi: str | None, lanes: int | None
) -> Kernel:
    """The best for an objective of one instruction set, or of all that this processor has."""
    check_objective(objective)
    on = processor_named(cpu) if cpu else None
    isas = (isa,) if isa else had_by(routine, on, native=True)
    return kernel_for(objective, on, routine, isas, abi or host().name, lanes)


def check_objective(objective: str) -> None:
    """Raise ValueError for an objective that there is not."""
    if objective not in OBJECTIVES:
        raise ValueError(f"no objective '{objective}': give {', '.join(OBJECTIVES[:-1])} or {OBJECTIVES[-1]}")


def had_by(routine: Routine, on: Processor | None, *, native: bool) -> tuple[str, ...]:
    """The instruction sets of a routine that the processor has, and this one as well where code is for both.

    Not those whose lanes are boards, where others do one board.
    """
    had = [isa for isa in routine.isas if on is None or not lacking(on.name, TARGETS[isa].features)]
    has = [isa for isa in had if not ((native or on is None) and missing(TARGETS[isa]))]
    alone = [isa for isa in has if not routine.boards or is_batch(routine) or not TARGETS[isa].vectors]
    return tuple(alone or has)


def processor_named(name: str) -> Processor:
    """The processor of that name, this one for native; ValueError where there is no table of it."""
    if name != "native":
        return processor(name)
    from setwise.analysis.measure.here import processor_here

    here = processor_here()
    if here is None:
        raise ValueError(f"there is no table of this processor ({here_cpu.brand() or 'no x86-64'}): {_nearest()}")
    return here


def _nearest() -> str:
    """Which table to take in the place of this processor's own: the last of its maker whose features it has."""
    amd = "AMD" in here_cpu.brand()
    alike = [on for on in PROCESSORS if on.title.startswith("AMD") == amd and FEATURES[on.name] <= here_cpu.features()]
    near = (alike or [on for on in PROCESSORS if on.title.startswith("AMD") == amd])[-1]
    return f"the nearest is {near.title}, --cpu {near.name}"
