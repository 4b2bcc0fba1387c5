"""A core of which everything is known, in place of the one that measures: what is timed takes what a table says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from setwise.analysis.code.decode import decode
from setwise.analysis.cost.bounds import cost, round_cost
from setwise.analysis.cost.processors import Processor, UnknownCost
from setwise.analysis.measure.quiet import QuietCore
from setwise.analysis.measure.steady import Experiment
from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code
from setwise.codegen.run import cpu

CHAIN = 5
"""No chain has more instructions; what has more waits for nothing, and is gone through once."""


@contextmanager
def measured_on(processor: Processor, features: frozenset[str]) -> Iterator[None]:
    """Every experiment has at once the figures that this processor's table makes of it, none where that has no row."""

    def run(experiment: Experiment, _: float) -> None:
        stream = decode(assemble(Code("period", experiment.period)).text)
        try:
            bounds = round_cost(stream, processor) if len(stream) <= CHAIN else cost(stream, processor)
        except UnknownCost:
            return
        experiment.figures += [bounds.bound / experiment.units] * 5

    with (
        patch.object(Experiment, "run", run),
        patch.object(QuietCore, "look", lambda _: False),
        patch.object(cpu, "features", lambda: features),
    ):
        yield
