"""Requests: everything that determines a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.catalogue import find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, Plan, plan
from setwise.codegen.targets import target_named
from setwise.codegen.variants import enumerate_variants, variant_named

KernelKey = tuple[str, str, int, str]
"""Names of routine and instruction set, actual number of lanes, name of the calling convention."""


@dataclass(frozen=True)
class Request:
    """A routine with an instruction set, a calling convention, a number of lanes and a variant.

    `lanes` None is the default number. The variant "" is the default one. Raise ValueError, in one line, for
    an unknown instruction set or convention, or an impossible combination. The variant is not checked here.

    >>> Request(find("kogge-stone.attacks.sout"), "avx2").key
    ('kogge-stone.attacks.sout', 'avx2', 4, 'sysv')
    """

    routine: Routine
    isa: str = "x86-64"
    abi: str = "sysv"
    lanes: int | None = None
    variant: str = ""

    @classmethod
    def of(cls, kernel: Kernel, lanes: int | None = None) -> Request:
        """Return the request that holds this compiled kernel; `lanes` is the requested number, None for the default."""
        request = cls(kernel.routine, kernel.target.name, kernel.convention.name, lanes, kernel.variant)
        vars(request)["kernel"] = kernel  # cached_property keeps its value there
        return request

    def __post_init__(self) -> None:
        self.plan  # noqa: B018 - validates the request

    @cached_property
    def plan(self) -> Plan:
        """The routine, target, convention and layout of the request. The variant has no influence."""
        return plan(self.routine, target_named(self.isa), self.abi, self.lanes)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel, compiled at first use. Raise Refused if the target lacks an operation or has no such variant."""
        return variant_named(self.variant, self.routine, self.isa, self.abi, self.lanes)

    @property
    def key(self) -> KernelKey:
        """Names of routine and instruction set, actual number of lanes, name of the calling convention."""
        return self.routine.name, self.isa, self.plan.layout.lanes, self.abi

    @property
    def title(self) -> str:
        """The key as text."""
        return " ".join(map(str, self.key))

    def variants(self) -> list[Request]:
        """Return a request for each variant with distinct code, the default variant "" first."""
        kernels = enumerate_variants(self.routine, self.isa, self.abi, self.lanes)
        return [Request.of(kernel, self.lanes) for kernel in kernels]

    def __reduce__(self) -> tuple[Callable[..., Request], tuple[str, str, str, int | None, str]]:
        return _named, (self.routine.name, self.isa, self.abi, self.lanes, self.variant)


def _named(name: str, isa: str, abi: str, lanes: int | None, variant: str) -> Request:
    return Request(find(name), isa, abi, lanes, variant)
