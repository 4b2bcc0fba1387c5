"""Routines and kernels by the names that a command line gives."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.describe.routine import Routine


def is_pattern(name: str) -> bool:
    """Whether a name stands for all routines that are like it."""
    return any(sign in name for sign in "*?[")


def chosen(names: Iterable[str]) -> list[Routine]:
    """The routines of these names and patterns, each once, all of them if no name is given."""
    routines: dict[str, Routine] = {}
    for name in names:
        like = [routine for known, routine in catalogue().items() if fnmatch.fnmatch(known.lower(), name.lower())]
        if not like and is_pattern(name):
            raise ValueError(f"no routine is like '{name}': setwise list shows them all")
        routines |= {routine.name: routine for routine in like or [find(name)]}
    return list(routines.values()) if routines else list(catalogue().values())
