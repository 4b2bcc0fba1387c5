"""Compilers' functions judged as kernels are: proved, or else run."""

from dataclasses import replace

from setwise.analysis.bench.compilers import Compiled
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.check import Outcome, check
from setwise.analysis.run.inputs import make_cases
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import runner
from setwise.codegen.run.executable import NotRunnable


def judge(compiled: Compiled, kernel: Kernel, prover: Prover, time_limit: float = 60.0) -> Outcome | None:
    """Prove a function against the contract of the kernel beside it: None if it is proved, else what a run gives."""
    binary = compiled.binary
    if binary is None:
        return Outcome("not run", reason=compiled.reason)
    proof = prover.prove(binary, task_of(kernel), time_limit)
    if proof.status == "proved":
        return None
    if proof.status == "refuted":
        return Outcome("failed", reason=proof.counterexample.complaint if proof.counterexample else proof.reason)
    try:
        running = runner(kernel, binary.image, len(binary.data))
    except NotRunnable as error:
        return Outcome("not run", reason=f"{proof.reason}; {error}")
    contract = kernel.routine.contract
    with running:
        outcome = check(running.run, make_cases(contract, quick=True))
    return replace(outcome, reason=outcome.reason or proof.reason)
