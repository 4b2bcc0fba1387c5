"""Proofs of kernels and of functions in ELF files against the contracts of routines."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from math import prod
from operator import attrgetter
from typing import Any

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, Reg
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.parallel import WORTH_PROCESSES, Show, in_processes, made, silent
from setwise.analysis.proof.certificate import Certificate, Confirmation
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.proof.solver import Question
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.prototype import Prototype
from setwise.analysis.spec.raywalk import DIR8, SETS
from setwise.analysis.spec.task import ReferenceFunction, Task
from setwise.analysis.workers import Workers
from setwise.codegen.ir.routine import Routine, Written
from setwise.codegen.kernel import Kernel, widths
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.own.user_files import function_named
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of one proof, of a kernel or of a function in an ELF file.

    `key` is name, instruction set (None in an ELF file), lanes and convention. Without a certificate, `reason` says why
    no proof was attempted. `title` names a function in an ELF file with the routine of its contract. `hint` may suggest
    --lanes after a function's refutation. `questions` are the solver queries, if they were kept. `words` are the
    arguments of `setwise prove` that repeat this proof, without variant and time limit.
    """

    key: tuple[str, str | None, int, str]
    certificate: Certificate | None
    confirmation: Confirmation | None = None
    reason: str = ""
    title: str = ""
    hint: str = ""
    questions: Sequence[Question] = ()
    words: Sequence[str] = ()

    @property
    def status(self) -> str:
        """The verdict: proved, refuted or not proved."""
        return self.certificate.status if self.certificate else "not proved"

    @property
    def why(self) -> str:
        """The reason why the code is not proved, or "" if it is."""
        return self.certificate.reason if self.certificate else self.reason

    @property
    def row(self) -> dict[str, Any]:
        """The proof as a table row, with the counterexample if it is refuted."""
        certificate = self.certificate
        row: dict[str, Any] = dict(zip(("name", "isa", "lanes", "abi"), self.key, strict=True))
        row |= {"status": self.status, "seconds": round(certificate.seconds, 4) if certificate else 0.0}
        row["reason"] = self.why
        if certificate is None:
            return row
        row |= {key: getattr(certificate, key) for key in ("solver", "questions", "cases", "paths")}
        row |= {key: getattr(certificate.binary, key) for key in ("sha256", "image_sha256")}
        counterexample = certificate.counterexample
        if counterexample is not None and self.confirmation is not None:
            row["counterexample"] = {
                "inputs": {name: list(words) for name, words in counterexample.inputs},
                "lane": counterexample.lane,
                "expected": list(counterexample.expected),
                "got": list(self.confirmation.got or counterexample.got),
                "confirmation": self.confirmation.status,
            }
        return row


def prove_kernels(
    requests: Sequence[Request], show: Show = silent, *, time_limit: float = TIME_LIMIT, keep: bool = False
) -> Iterator[Proof]:
    """Yield a `Proof` for each kernel, in at most `time_limit` seconds of CPU time each.

    Equal bytes under an equal contract are proved once. With `keep`, all are proved, and each proof keeps its solver
    queries. Refused requests are skipped; if all are, the first Refused is raised.
    """
    prover = Prover(keep)
    certificates: dict[tuple[Binary, Task], Certificate] = {}
    for request, kernel in made(requests, show):
        if isinstance(kernel, str):
            yield Proof(request.key, None, reason=kernel)
            continue
        binary, task = binary_of(kernel), task_of(kernel)
        if keep:
            prover, certificates = Prover(keep), {}
        if (binary, task) in certificates:
            certificate = replace(certificates[binary, task], seconds=0.0)
        else:
            certificate = certificates[binary, task] = prover.prove(binary, task, time_limit)
        name, isa, lanes, abi = request.key
        words = (name, "--isa", isa, "--lanes", str(lanes), "--abi", abi)
        questions = prover.solver.kept or ()
        yield Proof(request.key, certificate, certificate.confirmation, questions=questions, words=words)


def prove(
    requests: Sequence[Request],
    *,
    time_limit: float = TIME_LIMIT,
    keep: bool = False,
    processes: int = 1,
    show: Show = silent,
) -> list[Proof]:
    """Try to prove each kernel right for all inputs, in at most `time_limit` seconds of CPU time each.

    Return the proofs that `prove_kernels` yields, sorted by `key`. Up to `processes` processes work. Needs bitwuzla.
    """
    work = partial(prove_kernels, time_limit=time_limit, keep=keep)
    return sorted(in_processes(work, requests, processes, show, _effort), key=attrgetter("key"))


def _effort(group: Sequence[Request]) -> int:
    """Estimate the cost of proving a group of kernels, relative to other groups.

    A square parameter makes 64 cases. Several directions in one kernel are harder than the same directions one by one.
    """
    contract = group[0].routine.contract
    cases = prod(p.below or 10 for p in contract.parameters if p.kind in ("square", "dir8", "direction9"))
    together = 1 if contract.direction in DIR8 else len(SETS.get(contract.direction, DIR8))
    return len(group) * max(cases, together**2)


Begin = Callable[[Kernel], Callable[[], Certificate]]
"""A function that begins the proof of a kernel, and returns a function that waits for its certificate."""


@contextmanager
def proving(kernels: int, time_limit: float = TIME_LIMIT, processes: int = 1, show: Show = silent) -> Iterator[Begin]:
    """Yield the function that begins a proof. The proofs run in worker processes, so kernels can be made meanwhile.

    `kernels` is their expected number. If it is small, or `processes` is 1, there are no workers: each proof runs in
    this process, when its certificate is asked for. Equal bytes under an equal contract are proved once. Needs
    bitwuzla. Raises CannotRunHere if a worker dies.
    """
    prover, begun, running = cache(Prover), list[Kernel](), dict[tuple[Binary, Task], Future[Certificate]]()
    with Workers(processes) if processes > 1 and kernels >= WORTH_PROCESSES else nullcontext() as workers:

        def begin(kernel: Kernel) -> Callable[[], Certificate]:
            subject = binary_of(kernel), task_of(kernel)
            begun.append(kernel)
            number = len(begun)
            if workers and subject not in running:
                lanes = kernel.layout.lanes
                request = Request.of(kernel, lanes if lanes > 1 else None)  # a variant may have one on any set
                running[subject] = workers.submit(_certificate, request, subject[0], time_limit)

            def certificate() -> Certificate:
                show(f"proof {number} of {len(begun)}: {kernel.name} {kernel.target.name}")
                return running[subject].result() if workers else prover().prove(*subject, time_limit)

            return certificate

        yield begin


_prover = cache(Prover)
"""A worker's prover, which keeps the specifications of earlier proofs."""


def _certificate(request: Request, binary: Binary, time_limit: float) -> Certificate:
    """Try to prove these bytes right under the contract of a request; runs in a worker process."""
    return _prover().prove(binary, task_of(request.plan), time_limit)


def prove_function(
    function: ObjectFunction,
    spec: Routine,
    abi: str = "sysv",
    lanes: int | None = None,
    *,
    time_limit: float = TIME_LIMIT,
    keep: bool = False,
) -> Proof:
    """Try to prove that an ELF file's function meets the contract of the routine `spec`.

    `time_limit` is in seconds of CPU time. The processor executes nothing of the file. With `lanes` above 1, boards are
    passed in vector registers. With `keep`, the proof keeps its solver queries. Needs bitwuzla.
    """
    binary = function.with_calls
    isas = [isa for isa in spec.isas if lanes is None or lanes in widths(spec, TARGETS[isa])]
    if not isas:
        raise ValueError(f"no kernel has {lanes} lanes for {spec.name}: omit or change --lanes")
    kernel = Request(spec, isas[0], abi, lanes).kernel
    words = ("--spec", spec.name, "--abi", abi, *(() if lanes is None else ("--lanes", str(lanes))))
    key = function.symbol, None, lanes or 1, kernel.convention.name
    proof = _of_function(function, binary, task_of(kernel), key, spec.name, words, time_limit, keep)
    refuted = proof.certificate if proof.status == "refuted" else None
    return replace(proof, hint=_hint(refuted)) if refuted else proof


def prove_same(
    function: ObjectFunction,
    other: ObjectFunction | str,
    prototype: Prototype,
    *,
    time_limit: float = TIME_LIMIT,
    keep: bool = False,
) -> Proof:
    """Try to prove that two functions of ELF files with the same C prototype give equal results.

    `other` may also be the name of a function in Python, `mine.py:masks`. The results are what a function returns, and
    all bytes behind its pointers that are not to const. The rest is as for `prove_function`.
    """
    specification: ReferenceFunction | Written
    if isinstance(other, str):
        name, specification, source = other, function_named(other), ["--same-as", other]
    else:
        name = other.symbol if other.file == function.file else f"{other.symbol} in {other.file}"
        code = other.with_calls
        specification = ReferenceFunction(name, code, code.layout)
        source = ["--same-as", other.symbol, "--in", other.file]
    words = (*source, *prototype.options())
    key = function.symbol, None, 1, SYSV.name
    task = prototype.task(specification)
    return _of_function(function, function.with_calls, task, key, name, words, time_limit, keep)


def _of_function(
    function: ObjectFunction,
    binary: Binary,
    task: Task,
    key: tuple[str, str | None, int, str],
    contract: str,
    words: Sequence[str],
    time_limit: float,
    keep: bool,
) -> Proof:
    prover = Prover(keep)
    certificate = prover.prove(binary, task, time_limit)
    return Proof(
        key,
        certificate,
        certificate.confirmation,
        title=f"{function.symbol} as {contract}",
        questions=prover.solver.kept or (),
        words=("--object", function.file, "--symbol", function.symbol, *words),
    )


def _hint(certificate: Certificate) -> str:
    """Return a hint to use --lanes if the code reads an unset vector register but no argument is in one, else ""."""
    if any(argument.place.file == "vector" for argument in certificate.task.arguments):
        return ""
    changed: set[str] = set()
    for instruction in certificate.instructions:
        for operand in instruction.operands:
            if isinstance(operand, Reg) and operand.file == "vector" and operand.full in instruction.reads - changed:
                name, number = operand.name, operand.bits // 64
                return f"it reads {name}, which is no argument: for boards in vector registers add --lanes {number}"
        changed |= instruction.writes
    return ""
