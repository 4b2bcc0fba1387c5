"""C prototypes of kernels, and the registers of their arguments."""

from setwise.codegen.export.names import symbol
from setwise.codegen.ir.routine import Parameter
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.convention import SYSV, WIN64, Convention
from setwise.codegen.targets.operands import sized

VECTORS = {2: "__m128i", 4: "__m256i", 8: "__m512i"}
"""The C type of a vector with this many boards, from immintrin.h."""


def boards_a_call(kernel: Kernel) -> int:
    """Return the number of boards in each vector argument or result; 1 if there are none, as for arrays."""
    return kernel.layout.lanes if kernel.layout.batched and not kernel.routine.contract.elements else 1


def conventions(kernel: Kernel) -> list[Convention]:
    """Return the kernel's convention, System V and Windows x64, each once, if they have registers for its vectors."""
    vectors = sum(not each.scalar for each in kernel.routine.contract.parameters) if boards_a_call(kernel) > 1 else 0
    return [each for each in dict.fromkeys((kernel.convention, SYSV, WIN64)) if vectors <= len(each.vector_arguments)]


def returns(kernel: Kernel) -> bool:
    """Return whether the result is returned by value instead of written through a pointer."""
    return not any(parameter.pointer for parameter in kernel.routine.contract.parameters)


def prototype(kernel: Kernel, name: str | None = None, call: str = "") -> str:
    """Return the kernel's C declaration without a semicolon. `call`, as __vectorcall, precedes `name` or the symbol.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> prototype(lower(find("kogge-stone.attacks.sout")))
    'uint64_t setwise_kogge_stone_attacks_sout_x86_64(uint64_t sliders, uint64_t empty)'
    """
    lanes = boards_a_call(kernel)
    result = "void" if not returns(kernel) else VECTORS.get(lanes, "uint64_t")
    parameters = ", ".join(_parameter(kernel, parameter, lanes) for parameter in kernel.routine.contract.parameters)
    return f"{result} {call + ' ' if call else ''}{name or symbol(kernel)}({parameters})"


def usage(kernel: Kernel, name: str | None = None) -> str:
    """Return a line of C that calls the kernel and, unless it works on arrays, declares its results.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> usage(lower(find("sliders.pair")), "pair")
    'uint64_t results[2]; pair(rooks, bishops, occupied, results);'
    """
    contract, lanes = kernel.routine.contract, boards_a_call(kernel)
    call = f"{name or symbol(kernel)}({', '.join(parameter.name for parameter in contract.parameters)});"
    if returns(kernel):
        return f"{VECTORS.get(lanes, 'uint64_t')} {contract.results[0]} = {call}"
    room = [f"{_parameter(kernel, each, lanes)};" for each in contract.parameters if each.kind == "results"]
    return " ".join((*room, call))


def _parameter(kernel: Kernel, parameter: Parameter, lanes: int) -> str:
    if parameter.kind == "results":
        return f"uint64_t {parameter.name}[{len(kernel.routine.contract.results) * lanes}]"
    if parameter.kind == "boards":
        _, written = kernel.routine.contract.arrays
        return f"{'' if parameter.name in written else 'const '}uint64_t *{parameter.name}"
    return f"{'uint64_t' if parameter.scalar else VECTORS.get(lanes, 'uint64_t')} {parameter.name}"


def registers(kernel: Kernel, convention: Convention) -> tuple[tuple[str, str], ...]:
    """Return names and places of the parameters, then of a result that is returned by value, in a calling convention.

    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> registers(lower(find("kogge-stone.attacks.sout")), WIN64)
    (('sliders', 'rcx'), ('empty', 'rdx'), ('attacks', 'rax'))
    """
    contract, lanes = kernel.routine.contract, boards_a_call(kernel)
    counts = [1 if parameter.scalar else lanes for parameter in contract.parameters]
    places = [
        (parameter.name, f"[rsp+{place}]" if isinstance(place, int) else sized(place, number).name)
        for parameter, place, number in zip(contract.parameters, convention.places(counts), counts, strict=True)
    ]
    if returns(kernel):
        places.append((contract.results[0], sized(convention.result_for(lanes), lanes).name))
    return tuple(places)
