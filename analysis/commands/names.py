"""Routines and kernels by the names that a command line gives."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.describe.routine import Routine

if TYPE_CHECKING:
    from setwise.codegen.kernel import Kernel

T = TypeVar("T")


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


def of_kernels(names: Sequence[str], isa: str, abi: str, lanes: int | None, work: Callable[[Kernel], T]) -> list[T]:
    """What `work` gives for each kernel of these names; a pattern means those that there are.

    Raises Refused where that is none, and where a name that is no pattern is refused.
    """
    from setwise.codegen.lower import lower
    from setwise.codegen.targets.table import Refused

    refused: Refused | None = None
    results = []
    for routine in chosen(names):
        try:
            results.append(work(lower(routine, isa, abi, lanes)))
        except Refused as error:
            if not any(map(is_pattern, names)):
                raise
            refused = error
    if refused and not results:
        raise refused
    return results


def key_of(kernel: Kernel) -> dict[str, Any]:
    """What tells a kernel from all others, as rows of tables begin: name, instruction set, lanes, convention."""
    return {
        "name": kernel.name,
        "isa": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "abi": kernel.convention.name,
    }
