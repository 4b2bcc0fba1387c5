"""The fills as the literature writes them, one file a family."""

from setwise.codegen.fills import (
    batch,
    blockers,
    bytewise,
    dumb7,
    exploding,
    kogge_stone,
    leapers,
    push,
    sides,
    sliders,
    subtraction,
)

__all__ = [
    "batch",
    "blockers",
    "bytewise",
    "dumb7",
    "exploding",
    "kogge_stone",
    "leapers",
    "push",
    "sides",
    "sliders",
    "subtraction",
]
