"""The choice among several kernels of a routine: the newest that the compiler or the processor allows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import wrap

from setwise.codegen.export.names import in_comment, symbol_of
from setwise.codegen.export.prototypes import boards_a_call
from setwise.codegen.ir.routine import Contract
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.numbering import LITTLE_ENDIAN
from setwise.codegen.run.cpu import FEATURES
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Target

BITS: Mapping[str, int] = {name: 1 << at for at, name in enumerate(TARGETS)}
"""A mask of one bit for each instruction set, by name. Plain x86-64 has bit 0, which is always set."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An exported function that calls the first usable one of several kernels, the last of which is for x86-64.

    `bare` is its name without the prefix.
    """

    bare: str
    kernels: tuple[Kernel, ...]

    @property
    def name(self) -> str:
        """The name of the function in languages without namespaces."""
        return f"{self.kernels[-1].prefix}_{self.bare}"


def choices(kernels: Iterable[Kernel]) -> tuple[Choice, ...]:
    """Return a choice for every routine with a kernel for plain x86-64. Kernels that take vectors are left out.

    The first of several kernels for one instruction set is used. The newest set comes first.
    """
    by_name: dict[str, dict[str, Kernel]] = {}
    for kernel in kernels:
        if boards_a_call(kernel) == 1:
            by_name.setdefault(kernel.name, {}).setdefault(kernel.target.name, kernel)
    return tuple(
        Choice(symbol_of(name), tuple(by_isa[isa] for isa in reversed(TARGETS) if isa in by_isa))
        for name, by_isa in by_name.items()
        if "x86-64" in by_isa
    )


def sets_of_choices(offered: Iterable[Choice]) -> tuple[Target, ...]:
    """Return the instruction sets beyond x86-64 of these choices, oldest first."""
    named = {kernel.target.name for choice in offered for kernel in choice.kernels}
    return tuple(target for name, target in TARGETS.items() if name in named and name != "x86-64")


def requirement(target: Target) -> Mapping[str, str]:
    """Return the bits that a target needs on processor and operating system: masks in hexadecimal by word.

    The words are registers of CPUID leaves (0 eax to 3 edx) and `state`, which is XCR0.

    >>> from setwise.codegen.targets.general import BMI2
    >>> requirement(BMI2)
    {'leaf1[2]': '0x00800000', 'leaf7[1]': '0x00000108'}
    """
    masks: Counter[str] = Counter()
    for feature in target.features - BASELINE:
        leaf, register, bit, state = FEATURES[feature]
        masks[f"leaf{leaf}[{register}]"] |= 1 << bit
        masks["state"] |= state
    return {word: f"0x{mask:0{2 if word == 'state' else 8}x}" for word, mask in sorted(masks.items()) if mask}


def constant_name(target: Target) -> str:
    """Return the name, without a prefix, of the exported constant for the target's bit.

    >>> from setwise.codegen.targets.general import X86_64
    >>> constant_name(X86_64)
    'X86_64'
    """
    return symbol_of(target.name).upper()


NOTE = "setwise selects the instructions; your compiler allocates the registers."


def boards(kernels: Iterable[Kernel]) -> str:
    """Return a sentence on the numbering of squares in boards. Summaries of routines with another one mention that."""
    first, *others = {kernel.routine.contract.numbering for kernel in kernels}
    bits = f"{LITTLE_ENDIAN.bits}, unless a function says otherwise" if others else first.bits
    return f"Boards are 64-bit sets of squares: {bits}."


def choice_basis(dispatch: bool, flags: str) -> str:
    """Return the basis of the choice as text: CPUID at run time, or the compiler's `flags`."""
    return "by CPUID at the first call (thread-safe)" if dispatch else f"at compile time ({flags})"


_WIDTH = 112
"""The maximum width of a comment line, without comment signs."""


def comment_lines(choice: Choice) -> list[str]:
    """Return summary, meaning of numbers and requirements of a choice as lines of a comment, without comment signs."""
    routine = choice.kernels[-1].routine
    required = [f"Requires {requirement}." for requirement in routine.contract.required]
    numbers = [f"{title[:1].upper()}{title[1:]}: {text}." for title, text in routine.contract.numbers]
    outside = [f"Otherwise {routine.contract.outside}."] if routine.contract.outside else []
    said = (f"{routine.summary[:1].upper()}{routine.summary[1:]}.", *numbers, *required, *outside)
    return [line for text in said for line in wrap(in_comment(text), _WIDTH)]


def usage(contract: Contract, name: str, let: str, written: str) -> str:
    """Return a line that calls the function `name`, in a language that passes slices and returns arrays of results.

    `let` is the keyword that declares a result. `written` precedes a slice that is written; without `mut` it precedes
    one that is read.
    """
    if contract.elements:
        *inputs, result = [p.name for p in contract.parameters if p.kind == "boards"]
        read = written.replace("mut ", "")
        return f"{name}({', '.join(f'{read}{given}' for given in inputs)}, {written}{result});"
    given = ", ".join(p.name for p in contract.parameters if p.kind != "results")
    return f"{let} {contract.results[0] if len(contract.results) == 1 else 'results'} = {name}({given});"
