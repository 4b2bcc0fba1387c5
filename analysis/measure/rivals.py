"""Our kernels and what the compilers make of the same routine: the C gathered, its bytes judged as ours are.

As contracts.py a room that sees codegen: a kernel says which contract and convention the C must keep, and setwise's own
C export is one of the texts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from setwise.analysis.code.decode import Binary
from setwise.analysis.measure.compilers import Compiled, Compiler, c_name, compile_all
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.run.check import Outcome, check
from setwise.analysis.run.contracts import task_of
from setwise.codegen.export.sources.c import unit
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import is_batch, runner
from setwise.codegen.run.executable import NotRunnable

_FEW = 1024  # a multiple of what a call may take at once
_UNROLLED = "occluded-rolled"
"""The form whose loop the compilers take away when they find it in the export: then it is another routine's code."""


def rivals_of(
    kernels: Sequence[Kernel], using: Iterable[Compiler] = (), exports: bool = True
) -> list[tuple[Compiled, ...]]:
    """For each kernel what the compilers make of each C for its routine, instruction set and lanes; System V only.

    Without `using` every compiler that is found; without `exports` nothing of setwise's own C. Raises ValueError for
    other conventions, CompilerError.
    """
    groups: dict[tuple[str, int], list[Kernel]] = {}
    for kernel in kernels:
        if kernel.convention.name != "sysv":
            raise ValueError(f"{kernel.name}: compilers' code is called as System V says, not {kernel.convention.name}")
        groups.setdefault((kernel.target.name, kernel.layout.lanes), []).append(kernel)
    using = tuple(using)
    compiled: dict[tuple[str, str, int], list[Compiled]] = {}
    for (isa, lanes), group in groups.items():
        names = [kernel.name for kernel in group]
        own = (exported(group), plain_c(group)) if exports else ("", "")
        for function in compile_all(names, isa, lanes, own[0], using, own[1]):
            compiled.setdefault((function.routine, isa, lanes), []).append(function)
    keys = ((kernel.name, kernel.target.name, kernel.layout.lanes) for kernel in kernels)
    return [tuple(compiled.get(key, ())) for key in keys]


def exported(kernels: Collection[Kernel]) -> str:
    """setwise's own C of these kernels, each function named as the routine; of loops that are to stay none."""
    return unit({c_name(kernel.name): kernel for kernel in kernels if kernel.routine.form != _UNROLLED})


def plain_c(kernels: Iterable[Kernel]) -> str:
    """setwise's own C for x86-64 of those kernels of a vector instruction set that are called alike there; else none.

    Where lanes are boards, what compilers may make of plain C is seen on the routines on arrays.
    """
    vectors = (kernel for kernel in kernels if kernel.target.vectors)
    alike = [kernel for kernel in vectors if not kernel.routine.boards or is_batch(kernel.routine)]
    return exported([lower(kernel.routine, "x86-64") for kernel in alike]) if alike else ""


def judge(compiled: Compiled, kernel: Kernel, prover: Prover, time_limit: float = TIME_LIMIT) -> Outcome:
    """Prove a compiler's function against the contract of the kernel that it stands beside, or else run it.

    Where it passed, or was not run, the reason says why no proof was found.
    """
    if compiled.binary is None:
        return Outcome("not run", reason=compiled.reason)
    return judge_binary(compiled.binary, kernel, prover, time_limit)


def judge_binary(binary: Binary, kernel: Kernel, prover: Prover, time_limit: float = TIME_LIMIT) -> Outcome:
    """The same of bytes, whoever made them."""
    proof = prover.prove(binary, task_of(kernel), time_limit)
    if proof.status == "proved":
        return Outcome("proved")
    if proof.status == "refuted":
        return Outcome("failed", reason=proof.counterexample.complaint if proof.counterexample else proof.reason)
    return _run(binary, kernel, proof.reason)


def runs_right(compiled: Compiled, kernel: Kernel, cases: Sequence[Sequence[int]]) -> None:
    """Run a compiler's function on some of these cases against the ray-walk; ValueError where it is wrong."""
    from setwise.analysis.run.cases import cases_from

    assert compiled.binary is not None
    with runner(kernel, compiled.binary.image, len(compiled.binary.data)) as running:
        outcome = check(running.run, cases_from(kernel.routine.contract, cases[:_FEW]))
    if outcome.status != "passed":
        raise ValueError(f"{compiled.routine} by {compiled.label} is wrong: {outcome.reason}")


def _run(binary: Binary, kernel: Kernel, why: str) -> Outcome:
    """On this processor, against the ray-walk."""
    from setwise.analysis.run.cases import make_cases

    try:
        running = runner(kernel, binary.image, len(binary.data))
    except NotRunnable as error:
        return Outcome("not run", reason=f"{why}; {error}")
    contract = kernel.routine.contract
    with running:
        outcome = check(running.run, make_cases(contract, quick=True), arrays=bool(contract.elements))
    return replace(outcome, reason=outcome.reason or why)
