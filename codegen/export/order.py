"""What an export is made from: which kernels, what is known of them, and what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from setwise.codegen.export.facts import Facts
from setwise.codegen.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Options:
    """What may be asked for besides the format.

    endbr64    functions begin with endbr64, for processors that check where indirect calls land
    dispatch   source chooses among instruction sets when it runs, by CPUID, not when it is compiled
    """

    endbr64: bool = False
    dispatch: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """Kernels to export, what gives their facts, the options, and the command that asked."""

    kernels: tuple[Kernel, ...]
    facts: Callable[[Kernel], Facts]
    options: Options
    made_by: str
