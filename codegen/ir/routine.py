"""Routines: what a kernel computes, with its contract as data; a routine has no target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from setwise.codegen.ir.values import Value
from setwise.codegen.numbering import DIRECTIONS_AROUND, LITTLE_ENDIAN, Numbering

ParameterKind = Literal[
    "board", "leapers", "occupied", "empty", "square", "dir8", "direction9", "word", "boards", "results", "count"
]
"""What a parameter is; boards are sliders, of which contracts say where they may stand, leapers may stand anywhere."""


WITHIN_OCCUPIED = "sliders within occupied"
NOT_ON_EMPTY = "no slider on an empty square"
SLIDERS_WITHIN: Mapping[str, ParameterKind] = {WITHIN_OCCUPIED: "occupied", NOT_ON_EMPTY: "empty"}
"""What may be required of sliders, and the kind of the boards that say where they may stand: where `empty` is not."""

Description = Callable[..., tuple[Value, ...]]
"""From a layout and the parameters' values to the results."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name and kind; `below` bounds a number that selects something (0: any 64-bit number)."""

    name: str
    kind: ParameterKind
    below: int = 0

    @property
    def scalar(self) -> bool:
        """Whether there is one of it whatever the lanes."""
        return self.kind in ("square", "dir8", "direction9", "boards", "results", "count")

    @property
    def pointer(self) -> bool:
        """Whether the parameter is the address of boards."""
        return self.kind in ("boards", "results")


@dataclass(frozen=True)
class Written:
    """A specification, or a requirement, that its user wrote: a function over words, or another routine.

    A routine is meant by its description, one that is named by what it is held to.

    `name` is that of the routine that it belongs to, `number` tells its requirements apart; 0 is the specification.
    """

    name: str
    given: Callable[..., Any] | Routine | str
    number: int = 0

    @property
    def part(self) -> str:
        """Which part of the routine's contract it is."""
        return "requirement" if self.number else "specification"

    def __str__(self) -> str:
        if isinstance(self.given, str):
            return self.given
        if isinstance(self.given, Routine):
            return self.given.name
        said = self.given.__doc__.strip() if isinstance(self.given.__doc__, str) else ""
        return said.splitlines()[0].rstrip(".") if said else f"{self.name}, as its file says"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Contract:
    """What a routine takes, requires and gives; `specification` names a function of the ray-walk and its direction.

    What `requires` does not rule out is defined: above all a slider may stand on a square that is also given as empty.
    Then it attacks as any other, and the rays of others pass its square.
    """

    parameters: tuple[Parameter, ...]
    specification: str | Written
    direction: str
    results: tuple[str, ...] = ("attacks",)
    requires: tuple[str | Written, ...] = ()
    elements: tuple[Parameter, ...] = ()
    """For arrays: the parameters that one board of each input stands for; then results are arrays too."""
    numbering: Numbering = LITTLE_ENDIAN
    """Of the squares, in all boards and parameters; `direction` and the specification mean squares, not numbers."""
    counting: bool = False
    """Whether results are numbers, not boards."""

    @property
    def required(self) -> tuple[str, ...]:
        """What is required, in words."""
        return tuple(map(str, self.requires))

    @property
    def outside(self) -> str:
        """What a call may do that does not keep to what is required, in words; nothing where all calls do."""
        parts = ["a number beyond its bound may have other memory read, or jumped to"] if self.bounded else []
        if any(isinstance(requirement, Written) or requirement in SLIDERS_WITHIN for requirement in self.requires):
            parts.append("results may be others, and differ from one instruction set to the next")
        return "; ".join(parts)

    @property
    def bounded(self) -> tuple[Parameter, ...]:
        """The parameters that have a bound."""
        return tuple(parameter for parameter in self.parameters if parameter.below)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The parameters whose numbers stand for directions around a square, and in words for which."""
        return tuple((p.name, DIRECTIONS_AROUND) for p in self.parameters if p.kind == "direction9")


@dataclass(frozen=True)
class Routine:
    """A named routine: its descriptions make the results from the parameters."""

    family: str
    form: str
    direction: str
    contract: Contract
    descriptions: tuple[Description, ...]
    """Ways to say the same; the one that makes the shortest code is taken, the first of those that are equal."""
    source: str
    summary: str
    isas: tuple[str, ...]
    boards: bool = False
    """Whether the lanes of a vector are boards; else they are directions."""
    literal: bool = False
    """Whether it is its source's algorithm, all steps of it; what leaves that is another routine."""
    ways: tuple[tuple[str, Description], ...] = ()
    """Others by name, of larger code or for some processors only: offered, for a judge may find them faster."""

    @property
    def name(self) -> str:
        """family.form.direction; whole-side routines have no direction in their name, a user's own no form."""
        return ".".join(filter(None, (self.family, self.form, self.direction)))
