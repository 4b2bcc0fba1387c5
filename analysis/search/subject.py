"""What is searched: code under a contract, and the instruction set that shorter code may use."""

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
    """A routine by name, whose contract holds; an instruction set, a convention, boards in each argument."""

    routine: str
    isa: str
    abi: str
    boards: int = 1

    def __reduce__(self) -> tuple[type[SearchSubject], tuple[str, str, str, int]]:
        return SearchSubject, (self.routine, self.isa, self.abi, self.boards)

    @cached_property
    def plan(self) -> Plan:
        """What the code is asked to be."""
        routine: Routine = find(self.routine)
        return Plan(routine, target_named(self.isa), convention_named(self.abi), Layout())

    @cached_property
    def task(self) -> Task:
        """What the code has to do."""
        return task_for(self.plan.routine.contract, self.plan.convention, self.boards)


def instruction_set(binary: Binary) -> str:
    """The first instruction set that has all that code needs; of code that needs more, the one that has most of it."""
    needed = features(decode(binary.text))
    return min(TARGETS, key=lambda name: len(needed - TARGETS[name].features))
