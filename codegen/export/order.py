"""What an export is made from: which kernels, what is known of them, and what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from setwise.codegen.export.facts import Facts
from setwise.codegen.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Order:
    """Kernels to export, what gives their facts, the command that asked, and what may be asked for besides the format.

    endbr64    functions begin with endbr64, for processors that check where indirect calls land
    dispatch   source chooses among instruction sets when it runs, by CPUID, not when it is compiled
    """

    kernels: tuple[Kernel, ...]
    facts: Callable[[Kernel], Facts]
    made_by: str
    endbr64: bool = False
    dispatch: bool = False
