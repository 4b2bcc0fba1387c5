"""The subject of a search: a contract, and the instruction set that shorter code may use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from setwise.analysis.code.decode import Binary, decode, features
from setwise.analysis.spec.contracts import task_for
from setwise.analysis.spec.task import Task
from setwise.codegen.catalogue import find
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Plan, convention_named
from setwise.codegen.targets import TARGETS, target_named


@dataclass(frozen=True)
class SearchSubject:
    """A routine by name, which gives the contract; an instruction set, a convention, and boards per argument."""

    routine: str
    isa: str
    abi: str
    boards: int = 1

    def __reduce__(self) -> tuple[type[SearchSubject], tuple[str, str, str, int]]:
        return SearchSubject, (self.routine, self.isa, self.abi, self.boards)

    @cached_property
    def plan(self) -> Plan:
        """The plan by which codegen compiles new code."""
        routine: Routine = find(self.routine)
        return Plan(routine, target_named(self.isa), convention_named(self.abi), Layout())

    @cached_property
    def task(self) -> Task:
        """The task that new code must fulfil."""
        return task_for(self.plan.routine.contract, self.plan.convention, self.boards)


def instruction_set(binary: Binary) -> str:
    """Return the first instruction set that supports all of the code, or else the one that lacks the least."""
    needed = features(decode(binary.text))
    return min(TARGETS, key=lambda name: len(needed - TARGETS[name].features))
