"""Fills and other functions that describe the routines of the catalogue, by topic."""

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
