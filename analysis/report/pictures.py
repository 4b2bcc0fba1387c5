"""The pictures of the reports: which kernels each shows, under which title."""

from __future__ import annotations

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors import processor
from setwise.analysis.pictures.boards import slow_motion
from setwise.analysis.pictures.graph import dependencies, diagram
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.slow_motion import EMPTY, SLIDERS, fill
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

TITLES = {
    "pictures/slow-motion.svg": "A fill in slow motion",
    "pictures/dependencies.svg": "Dependence graphs: dumb7 and Kogge-Stone",
    "pictures/dependencies-push.svg": "Dependence graphs: push",
    "pictures/dependencies-union.svg": "Dependence graph: a whole side with AVX-512",
}
_ON = processor("zen4")
"""The processor whose latencies the graphs show."""


def pictures() -> dict[str, str]:
    """Return every picture by its path."""
    drawn = (
        slow_motion(*(fill(find(f"{family}.occluded.sout"), (SLIDERS, EMPTY)) for family in ("dumb7", "kogge-stone"))),
        _graphs(("dumb7.attacks.sout", "x86-64"), ("kogge-stone.attacks.sout", "x86-64")),
        _graphs(("push.attacks.sout", "x86-64"), ("push.attacks.sout", "bmi2")),
        _graphs(("sliders.union", "avx512")),
    )
    return dict(zip(TITLES, drawn, strict=True))


def _graphs(*wanted: tuple[str, str]) -> str:
    graphs = []
    for name, isa in wanted:
        kernel = lower(find(name), isa, "sysv")
        lanes = f", {kernel.layout.lanes} lanes" if kernel.layout.lanes > 1 else ""
        graphs.append(diagram(binary_of(kernel), task_of(kernel), _ON, f"{name}, {isa}{lanes}"))
    below = f"Every instruction below those that it waits for, from the decoded bytes; latencies of {_ON.title}."
    return dependencies(graphs, "Dependence graphs", below)
