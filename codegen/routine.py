"""Routines: what a kernel computes, with its contract as data; a routine has no target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from codegen.expr import Value

Kind = Literal["board", "occupied", "empty", "square", "dir8", "direction9", "word", "boards", "results", "count"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name and kind; `below` bounds a number that selects something (0: any 64-bit number)."""

    name: str
    kind: Kind
    below: int = 0

    @property
    def pointer(self) -> bool:
        """Whether the parameter is the address of boards."""
        return self.kind in ("boards", "results")


@dataclass(frozen=True, slots=True)
class Contract:
    """What a routine takes, requires and gives; `specification` names a function of the ray-walk and its direction."""

    parameters: tuple[Parameter, ...]
    specification: str
    direction: str
    results: tuple[str, ...] = ("attacks",)
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Routine:
    """A named routine: its description makes the results from the parameters."""

    family: str
    form: str
    direction: str
    contract: Contract
    describe: Callable[..., tuple[Value, ...]]
    source: str
    summary: str
    isas: tuple[str, ...] = ("x86-64", "bmi2")
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """family.form.direction; whole-side routines have no direction in their name."""
        return f"{self.family}.{self.form}" + (f".{self.direction}" if self.direction else "")
