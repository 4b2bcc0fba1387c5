"""Fills and other descriptions, one module per family, each with its source."""

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
