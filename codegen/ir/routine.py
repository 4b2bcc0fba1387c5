"""Routines: the computation of a kernel, with its contract as data and no target."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from setwise.codegen.ir.values import Value
from setwise.codegen.numbering import DIRECTIONS_AROUND, LITTLE_ENDIAN, Numbering

ParameterKind = (
    Literal["board", "leapers", "occupied", "empty", "word"]
    | Literal["square", "dir8", "direction9", "number", "boards", "results", "count"]
)
"""The kind of a parameter. Sliders are "board" and may be restricted by the contract; leapers may be on any square.

A "word" is a board whose bits need not be squares.
"""


WITHIN_OCCUPIED = "sliders within occupied"
NOT_ON_EMPTY = "no slider on an empty square"
SLIDERS_WITHIN: Mapping[str, ParameterKind] = {WITHIN_OCCUPIED: "occupied", NOT_ON_EMPTY: "empty"}
"""The requirements on sliders, each with the kind of board that it refers to."""

Description = Callable[..., tuple[Value, ...]]
"""A function from a layout and the parameters to the results."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. `below` is the exclusive upper bound of a number; 0 allows any 64-bit number."""

    name: str
    kind: ParameterKind
    below: int = 0

    @property
    def scalar(self) -> bool:
        """Whether all lanes share the parameter: a square, a direction, a count or an address."""
        return self.kind in ("square", "dir8", "direction9", "boards", "results", "count")

    @property
    def on_squares(self) -> bool:
        """Whether the parameter is a board, all of whose bits are squares."""
        return self.kind in ("board", "leapers", "occupied", "empty")

    @property
    def pointer(self) -> bool:
        """Whether the parameter is the address of an array of boards, or of several results."""
        return self.kind in ("boards", "results")


def free_name(wanted: str, taken: Container[str]) -> str:
    """Return the wanted name, with the fewest underscores behind it with which it is not taken."""
    while wanted in taken:
        wanted += "_"
    return wanted


@dataclass(frozen=True)
class Written:
    """A specification or requirement from a user: a function over words, a routine, or the name of a routine.

    A routine denotes its description, a name denotes the specification of the routine. `name` names the routine of the
    contract, in a requirement without its direction. `number` is 0 for the specification, otherwise 1 or more. `place`
    is its file and line, "" if unknown.
    """

    name: str
    given: Callable[..., Any] | Routine | str
    number: int = 0
    place: str = ""

    @property
    def part(self) -> str:
        """The part of the contract: "requirement" or "specification"."""
        return "requirement" if self.number else "specification"

    def __str__(self) -> str:
        if isinstance(self.given, str):
            return self.given
        if isinstance(self.given, Routine):
            return self.given.name
        said = self.given.__doc__.strip() if isinstance(self.given.__doc__, str) else ""
        unsaid = f"requirement {self.number} of {self.name}" if self.number else f"{self.name}, as its file says"
        return said.splitlines()[0].rstrip(".") if said else unsaid

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Contract:
    """The parameters, requirements and results of a routine.

    `specification` names one of analysis.spec, for `direction`, or is a user's, or "" for none. Inputs have a defined
    result unless a requirement excludes them. A slider may stand on a square that is also empty: it attacks as usual,
    and other rays pass through its square.
    """

    parameters: tuple[Parameter, ...]
    specification: str | Written
    direction: str
    results: tuple[str, ...] = ("attacks",)
    requires: tuple[str | Written, ...] = ()
    elements: tuple[Parameter, ...] = ()
    """For arrays: one parameter per input array, describing its elements. The results are arrays too."""
    numbering: Numbering = LITTLE_ENDIAN
    """The numbering of the squares in all boards and parameters."""
    counts: tuple[str, ...] = ()
    """The names of the results that are numbers instead of boards."""

    @property
    def words(self) -> tuple[Parameter, ...]:
        """The parameters of the specification: of arrays those of one board of each, without the results' address."""
        return tuple(parameter for parameter in self.elements or self.parameters if parameter.kind != "results")

    @property
    def arrays(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the arrays that are read, and of those that are written."""
        names, read = tuple(p.name for p in self.parameters if p.kind == "boards"), len(self.elements)
        return names[:read], names[read:]

    @property
    def required(self) -> tuple[str, ...]:
        """The texts of the requirements."""
        return tuple(map(str, self.requires))

    @property
    def outside(self) -> str:
        """The consequences of violating a bound, a requirement on sliders or a user's predicate, as text, or ""."""
        parts = ["a number beyond its bound may read, or jump to, arbitrary memory"] if self.bounded else []
        if any(isinstance(requirement, Written) or requirement in SLIDERS_WITHIN for requirement in self.requires):
            parts.append("results are unspecified and may differ between instruction sets")
        return "; ".join(parts)

    @property
    def bounded(self) -> tuple[Parameter, ...]:
        """The parameters that have a bound."""
        return tuple(parameter for parameter in self.parameters if parameter.below)

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The names of the `direction9` parameters, each with the meaning of its numbers as text."""
        return tuple((p.name, DIRECTIONS_AROUND) for p in self.parameters if p.kind == "direction9")


@dataclass(frozen=True)
class Routine:
    """A named routine: descriptions compute its results from its parameters."""

    family: str
    form: str
    direction: str
    contract: Contract
    descriptions: tuple[Description, ...]
    """Equivalent descriptions. `lower` uses the one with the shortest code."""
    source: str
    summary: str
    isas: tuple[str, ...]
    batched: bool = False
    """Whether the lanes of a vector hold boards; otherwise they hold directions."""
    verbatim: bool = False
    """Whether the routine keeps the algorithm of its source, step by step."""
    named_descriptions: tuple[tuple[str, Description], ...] = ()
    """Named alternative descriptions for further variants: larger code, or code that suits some processors."""

    @property
    def name(self) -> str:
        """The name family.form.direction, without the parts that are empty."""
        return ".".join(filter(None, (self.family, self.form, self.direction)))
