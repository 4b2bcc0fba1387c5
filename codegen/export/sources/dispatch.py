"""The choice among several kernels of a routine: the newest that the compiler or the processor allows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from setwise.codegen.export.names import symbol_of, uses_pext
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import boards_a_call
from setwise.codegen.export.sources.requirements import BITS, FAST_PEXT, requirement
from setwise.codegen.ir.routine import Contract
from setwise.codegen.kernel import Kernel
from setwise.codegen.numbering import LITTLE_ENDIAN
from setwise.codegen.targets import TARGETS


@dataclass(frozen=True, slots=True)
class Choice:
    """A function that chooses one of several kernels.

    bare     its name without the prefix
    better   kernels that require features, and these features; preferred kernels first
    plain    the kernel without requirements, for every processor
    """

    bare: str
    better: tuple[tuple[Kernel, tuple[str, ...]], ...]
    plain: Kernel

    @property
    def name(self) -> str:
        """The name of the function in languages without namespaces."""
        return f"{self.plain.prefix}_{self.bare}"

    @property
    def features(self) -> tuple[str, ...]:
        """The features that some kernel requires, oldest first."""
        return tuple(feature for feature in BITS if any(feature in needs for _, needs in self.better))


def choices(order: Order, required: Callable[[Kernel, Order], tuple[str, ...]] = requirement) -> tuple[Choice, ...]:
    """Return a choice for every routine with a kernel for plain x86-64, without kernels that take vectors.

    `required` returns the features of a kernel, by default those of its source. If two kernels require the same
    features, that of the older instruction set is used.
    """
    by_name: dict[str, dict[tuple[str, ...], Kernel]] = {}
    for kernel in sorted(order.kernels, key=lambda kernel: ([*TARGETS].index(kernel.target.name), uses_pext(kernel))):
        if boards_a_call(kernel) == 1:
            needs = required(kernel, order)
            kernels = by_name.setdefault(kernel.name, {})
            kernels[needs] = kernels.pop(needs, kernel)  # the older kernel at the newer one's place
    made = []
    for name in dict.fromkeys(kernel.name for kernel in order.kernels):
        kernels = by_name.get(name, {})
        if (plain := kernels.pop((), None)) and plain.target.name == "x86-64":
            better = [(kernel, needs) for needs, kernel in reversed(kernels.items())]
            if ("sse2",) in kernels:  # every x86-64 processor has SSE2: older kernels are never reached
                del better[better.index((kernels["sse2",], ("sse2",))) + 1 :]
            made.append(Choice(order.functions.get(name, symbol_of(name)), tuple(better), plain))
    return tuple(made)


_FLIPPED = "If your bit 0 is a8, exchange white and black, and north and south, in the names of functions."


def boards(kernels: Iterable[Kernel]) -> str:
    """Return a sentence on boards and their numbering. Functions with a different numbering mention it themselves."""
    first, *others = {kernel.routine.contract.numbering for kernel in kernels}
    bits = f"{LITTLE_ENDIAN.bits}, unless a function says otherwise" if others else first.bits
    return f"Boards are 64-bit sets of squares: {bits}.{f' {_FLIPPED}' if others or first.ranks == 8 else ''}"


def choice_basis(dispatch: bool, flags: str) -> str:
    """Return the basis of the choice: CPUID at run time, or the compiler's flags; and the fallback."""
    how = "by CPUID at the first call (thread-safe)" if dispatch else f"at compile time ({flags})"
    return f"{how}. Plain x86-64 is the fallback"


def features_of(offered: Iterable[Choice]) -> list[str]:
    """Return the features on which some of these choices depend, oldest first."""
    known = {feature for choice in offered for feature in choice.features}
    return [feature for feature in BITS if feature in known]


def pext_note(offered: Iterable[Choice], flag: str) -> list[str]:
    """Return lines on kernels with pext, if there are any, and the compiler's flag for them."""
    note = f"Some kernels use pext and pdep, which are slow before Zen 3. Compile with {flag} to use them."
    return [note, "--dispatch finds out."] if FAST_PEXT in features_of(offered) else []


def usage(contract: Contract, name: str, let: str, written: str) -> str:
    """Return a line that calls the function, in languages with slices and arrays as results.

    `let` is the keyword that declares a result. `written` precedes a slice that is written; without `mut` it precedes
    one that is read.
    """
    if contract.elements:
        inputs, results = contract.arrays
        read = written.replace("mut ", "")
        slices = [*(f"{read}{each}" for each in inputs), *(f"{written}{each}" for each in results)]
        return f"{name}({', '.join(slices)});"
    given = ", ".join(p.name for p in contract.parameters if p.kind != "results")
    return f"{let} {contract.results[0] if len(contract.results) == 1 else 'results'} = {name}({given});"
