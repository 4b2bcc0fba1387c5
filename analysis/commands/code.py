"""The code that a command line names: kernels of routines, or a function of an ELF file."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import object_given
from setwise.analysis.commands.kernels import maker
from setwise.codegen.catalogue import chosen, is_pattern
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, unrefused

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NamedCode:
    """Code, with what tells it from all other as rows of tables begin, and the kernel that it is of, if one of ours."""

    key: dict[str, Any]
    binary: Binary
    kernel: Kernel | None = None


def of_code(arguments: Namespace, work: Callable[[NamedCode], T]) -> list[T]:
    """What `work` gives for the function of --object, or for each kernel of the names; a pattern means those there are.

    Raises ValueError where neither is given; Refused where there is no kernel, and where a name that is no pattern is
    refused.
    """
    if object_given(arguments):
        key = {"name": arguments.symbol, "isa": None, "lanes": None, "abi": None}
        return [work(NamedCode(key, load(arguments.object, arguments.symbol)))]
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM")
    any_pattern = any(map(is_pattern, arguments.names))
    return of_routines(chosen(arguments.names), arguments, work, passing_over=any_pattern)


def of_routines(
    routines: Sequence[Routine], arguments: Namespace, work: Callable[[NamedCode], T], *, passing_over: bool = False
) -> list[T]:
    """What `work` gives for each routine's kernel for --isa, --abi, --lanes; or passes over what is refused."""

    make = maker(arguments)

    def of_routine(routine: Routine) -> T:
        kernel = make(routine, arguments.isa, arguments.abi, arguments.lanes)
        return work(NamedCode(key_of(kernel), binary_of(kernel), kernel))

    return list((unrefused if passing_over else map)(of_routine, routines))


def key_of(kernel: Kernel) -> dict[str, Any]:
    """What tells a kernel from all others, as rows of tables begin: name, instruction set, lanes, convention."""
    return {
        "name": kernel.name,
        "isa": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "abi": kernel.convention.name,
    }
