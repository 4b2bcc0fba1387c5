"""What code takes at least, whatever registers are chosen: its operations, the moves and the saves that are forced."""

from __future__ import annotations

from collections.abc import Sequence

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.orders import overwritable
from setwise.codegen.describe.values import in_register, original
from setwise.codegen.passes.live import Event
from setwise.codegen.registers.machine import Machine
from setwise.codegen.targets.table import Target


def fewest(events: Sequence[Event]) -> int:
    """How many instructions the events have without moves and saves, and the way out."""
    fewest = 1
    for event in events:
        region = event.region
        if event.value is not None:
            fewest += not event.value.operation.free
        elif region is not None and event.kind == "enter":
            fewest += region.kind != "loop"
            fewest += sum(init.constant is not None for init in region.inits)
        elif region is not None and event.kind == "leave":
            fewest += region.kind == "loop"
            fewest += sum(value.constant is not None for _, value in event.left)
    return fewest


def forced_moves(target: Target, events: Sequence[Event]) -> list[int]:
    """For each event the moves that it and those after it need: nothing to overwrite dies.

    What no instruction makes is taken for a move too: `never_moves` counts those.
    """
    bounds = [0]
    for event in reversed(events):
        bounds.append(bounds[-1] + _forced(target, event))
    return bounds[::-1]


def never_moves(target: Target, events: Sequence[Event]) -> int:
    """How many of the forced moves are none: views, which only see less of a register, or more."""
    return sum([event.value is not None and event.value.operation.free and _forced(target, event) for event in events])


def _forced(target: Target, event: Event) -> bool:
    value = event.value
    return (
        value is not None
        and value.op != "copy"
        and all(row.tied for row in target.rows_for(value))
        and all(arg in event.after or not in_register(arg) for arg in overwritable(value))
    )


def forced_saves(machine: Machine, events: Sequence[Event]) -> int:
    """How many registers must be saved: where most live behind a value there are too few that may change."""
    most = {file: len(free) for file, free in machine.free.items()}
    fewest = min(most.values())
    for event in events:
        if event.value is not None and len(event.after) > fewest:
            held = [value.file for value in set(map(original, event.after)) if value.op not in WRITES]
            for file in most:
                most[file] = max(most[file], held.count(file))
    return sum([most[file] - len(free) for file, free in machine.free.items()])
