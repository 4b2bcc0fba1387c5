"""`setwise prove`: kernels, or a function of somebody's object, against the specification, for all inputs."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

from tabulate import tabulate

from setwise.analysis.code.decode import Binary, Reg
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import (
    PATTERNS,
    add_json,
    add_names,
    add_object,
    add_only_abi,
    add_only_isa,
    add_time_limit,
    object_given,
    place,
)
from setwise.analysis.commands.jobs import Job, jobs_of, judged, lowered
from setwise.analysis.commands.kernels import add_variant
from setwise.analysis.commands.questions import Asked, check_new, write_questions
from setwise.analysis.commands.tables import print_json, print_reasons, print_table, tally
from setwise.analysis.pictures.board_text import boards, expected_and_got, input_lines
from setwise.analysis.progress import Progress
from setwise.analysis.proof.certificate import Certificate, Confirmation
from setwise.analysis.proof.prover import TIME_LIMIT, Prover
from setwise.analysis.proof.smtlib import Question
from setwise.analysis.semantics.domains import BitVectors
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.raywalk import DIR8, SETS
from setwise.analysis.spec.task import Argument, Place, Task
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.lower import lower
from setwise.codegen.numbering import LITTLE_ENDIAN

EXAMPLES = (
    "setwise prove 'kogge-stone.*'",
    "setwise prove kogge-stone.attacks.nort --isa x86-64 --abi sysv",
    "setwise prove --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
)


_MEMORY = "pointers not null, at multiples of 8; the result apart from inputs, or an array just in one's place"


@dataclass(frozen=True, slots=True)
class Proof:
    """A routine and how its proof ended; `key` is its name, instruction set, lanes and convention.

    Without a certificate `reason` says why it could not be made. `lowering` is how many seconds a processor took
    to make it; `title` is what it is about, if not the routine by its name; `hint` is what to ask for instead of this.
    `questions` were put to the solver, if they are kept, and `words` are the arguments that ask for this proof alone.
    """

    key: tuple[str, str | None, int, str]
    certificate: Certificate | None
    confirmation: Confirmation | None = None
    reason: str = ""
    lowering: float = 0.0
    title: str = ""
    hint: str = ""
    questions: Sequence[Question] = ()
    words: Sequence[str] = ()

    @property
    def status(self) -> str:
        """proved, refuted or not proved."""
        return self.certificate.status if self.certificate else "not proved"

    @property
    def why(self) -> str:
        """Why it is not proved."""
        return self.certificate.reason if self.certificate else self.reason

    @property
    def fine(self) -> bool:
        """Whether it is proved."""
        return self.status == "proved"


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., or an object; how long a proof may take, and --json."""
    add_names(parser, f"{PATTERNS}; default: all")
    add_only_isa(parser)
    add_variant(parser)
    parser.add_argument(
        "--lanes",
        type=int,
        metavar="N",
        help="only kernels of so many lanes: 1, 2, 4, 8 (default: all); an object's function takes boards in as many",
    )
    add_only_abi(parser)
    add_object(parser, spec=True)
    add_time_limit(parser, "seconds a kernel; then it is not proved")
    parser.add_argument(
        "--smt", type=place, metavar="DIR", help="keep each question to the solver as SMT-LIB 2 in a new directory"
    )
    add_json(
        parser,
        "; sha256 is that of listings and metadata.json, of code with distances to data zero, image_sha256 of code and "
        "data",
    )


def run(arguments: Namespace) -> int:
    """Prove what is asked for and print a table, or the certificate of a single one; 1 if one is not proved."""
    BitVectors()  # before anything is made: it says at once if there is no solver
    start = time.monotonic()
    keep = arguments.smt is not None
    if keep:
        check_new(arguments.smt)
    if object_given(arguments):
        asked = (arguments.object, arguments.symbol, arguments.spec, arguments.abi, arguments.lanes)
        proofs = [prove_object(*asked, arguments.time_limit, keep)]
    else:
        jobs = jobs_with(chosen(arguments.names), arguments.isa, arguments.lanes, arguments.abi, arguments.variant)
        work = partial(prove_all, time_limit=arguments.time_limit, keep=keep)
        proofs = judged(work, jobs, _effort)
    written = write_questions(arguments.smt, map(_asked, proofs)) if keep else 0
    if arguments.json:
        print_json([proof_row(proof) for proof in proofs])
    elif len(proofs) == 1:
        print(certificate_text(proofs[0]))
    else:
        _report(proofs, time.monotonic() - start)
    if keep and not arguments.json:
        print(f"{counted(written, 'question')} in {arguments.smt}")
    return int(not all(proof.fine for proof in proofs))


def _asked(proof: Proof) -> tuple[str, Asked]:
    """What was asked of a kernel or function, under a title for the files."""
    name, isa, lanes, abi = proof.key
    shape = (name, proof.title.partition(" as ")[2] if isa is None else isa, f"{lanes}-lanes" if lanes > 1 else "", abi)
    return "-".join(filter(None, shape)), (proof.words, proof.questions)


def jobs_with(
    routines: Sequence[Routine], isa: str | None, lanes: int | None, abi: str | None, variant: str | None = None
) -> list[Job]:
    """As `jobs_of`, of so many lanes alone where they are given; ValueError where that leaves none."""
    jobs = [job for job in jobs_of(routines, isa, abi, variant) if lanes in (None, job.lanes)]
    if not jobs:
        raise ValueError(f"no kernel has {lanes} lanes: leave --lanes out, or give 1, 2, 4 or 8")
    return jobs


def prove_object(
    path: str,
    symbol: str,
    spec: str,
    abi: str | None,
    lanes: int | None = None,
    time_limit: float = TIME_LIMIT,
    keep: bool = False,
) -> Proof:
    """The proof of a function of an ELF file against the contract of a routine; nothing of the file runs.

    With more lanes than one that takes and gives boards in vector registers.
    """
    binary = load(path, symbol)
    routine, abi = find(spec), abi or "sysv"
    isa = routine.isas[0] if lanes is None else jobs_with([routine], None, lanes, abi)[0].isa
    kernel = lower(routine, isa, abi, lanes)
    prover = Prover(keep)
    certificate = prover.prove(binary, task_of(kernel), time_limit)
    words = ("--object", path, "--symbol", symbol, "--spec", spec, "--abi", abi)
    return Proof(
        (symbol, None, lanes or 1, kernel.convention.name),
        certificate,
        certificate.confirmation,
        title=f"{symbol} as {routine.name}",
        hint=_hint(certificate) if certificate.status == "refuted" else "",
        questions=prover.solver.kept or (),
        words=words if lanes is None else (*words, "--lanes", str(lanes)),
    )


def _hint(certificate: Certificate) -> str:
    """What to say to whoever holds a function that takes boards in vector registers to a contract of words."""
    if any(argument.place.file == "vector" for argument in certificate.task.arguments):
        return ""
    changed: set[str] = set()
    for instruction in certificate.instructions:
        for operand in instruction.operands:
            if isinstance(operand, Reg) and operand.file == "vector" and operand.full in instruction.reads - changed:
                number = operand.bits // 64
                return (
                    f"it reads {operand.name}, where no argument is: of boards in vector registers add --lanes {number}"
                )
        changed |= instruction.writes
    return ""


def prove_all(
    jobs: Sequence[Job], progress: Progress | None = None, *, time_limit: float = TIME_LIMIT, keep: bool = False
) -> Iterator[Proof]:
    """Each kernel's proof, one after the other, the same bytes under the same contract proved once.

    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised. With `keep` each
    kernel has a prover of its own, so that the questions kept depend on no other.
    """
    prover = Prover()
    certificates: dict[tuple[Binary, Task], Certificate] = {}
    start = time.process_time()
    for job, kernel in lowered(jobs, progress):
        if isinstance(kernel, str):
            yield Proof(job.key, None, reason=kernel)
            continue
        binary = binary_of(kernel)
        spent = time.process_time() - start
        task = task_of(kernel)
        if keep:
            prover, certificates = Prover(keep), {}
        if (binary, task) in certificates:
            certificate = replace(certificates[binary, task], seconds=0.0)
        else:
            certificate = certificates[binary, task] = prover.prove(binary, task, time_limit)
        questions = prover.solver.kept or ()
        words = (job.routine.name, "--isa", job.isa, "--lanes", str(job.lanes), "--abi", job.abi)
        yield Proof(job.key, certificate, certificate.confirmation, lowering=spent, questions=questions, words=words)
        start = time.process_time()


def _effort(group: Sequence[Job]) -> int:
    """A guess at what a group costs: a square is 64 proofs, and directions together are harder than one by one."""
    contract = group[0].routine.contract
    cases = prod(p.below or 10 for p in contract.parameters if p.kind in ("square", "dir8", "direction9"))
    together = 1 if contract.direction in DIR8 else len(SETS.get(contract.direction, DIR8))
    return len(group) * max(cases, together**2)


def proof_row(proof: Proof) -> dict[str, Any]:
    """How the proof of a kernel ended, with what refutes it."""
    name, isa, lanes, abi = proof.key
    certificate = proof.certificate
    row: dict[str, Any] = {"name": name, "isa": isa, "lanes": lanes, "abi": abi, "status": proof.status}
    row |= {"seconds": round(certificate.seconds, 4) if certificate else 0.0, "reason": proof.why}
    if certificate is None:
        return row
    row |= {key: getattr(certificate, key) for key in ("solver", "questions", "cases", "paths")}
    row |= {key: getattr(certificate.binary, key) for key in ("sha256", "image_sha256")}
    counterexample = certificate.counterexample
    if counterexample is not None and proof.confirmation is not None:
        row["counterexample"] = {
            "inputs": {name: list(words) for name, words in counterexample.inputs},
            "lane": counterexample.lane,
            "expected": list(counterexample.expected),
            "got": list(proof.confirmation.got or counterexample.got),
            "confirmation": proof.confirmation.status,
        }
    return row


def _report(proofs: Sequence[Proof], seconds: float) -> None:
    certificates = [proof.certificate for proof in proofs if proof.certificate]
    times = [f"{1000 * proof.certificate.seconds:.0f}" if proof.certificate else "" for proof in proofs]
    rows = [(*proof.key, time, proof.status) for proof, time in zip(proofs, times, strict=True)]
    print_table(("name", "isa", "lanes", "abi", "ms", ""), rows, "llrlrl")
    for proof in proofs:
        if proof.status == "refuted":
            print(f"\n{' '.join(map(str, proof.key))}\n{_refutation(proof)}")
    print_reasons((proof.status, proof.why) for proof in proofs if proof.status == "not proved")
    summary = tally([proof.status for proof in proofs], ("proved", "refuted", "not proved"))
    print(f"\n{summary}; {certificates[0].solver if certificates else 'no solver'}")
    solving = sum(certificate.seconds for certificate in certificates)
    making = sum(proof.lowering for proof in proofs)
    print(f"{seconds:.1f} s, in which processors spent {solving:.1f} s on proofs and {making:.1f} s on lowering")


def certificate_text(proof: Proof) -> str:
    """A certificate in words: what was proved of which bytes, and how; or what refutes it."""
    certificate, (name, isa, lanes, abi) = proof.certificate, proof.key
    title = proof.title or name
    if certificate is None:
        return f"{title}: not proved: {proof.reason}"
    task = certificate.task
    shape = [part for part in (isa, f"{lanes} lanes" if lanes > 1 else "", abi) if part]
    lines = [f"{title}, {', '.join(shape)}: {certificate.status}", ""]
    instructions = [(f"{i.offset:x}", i.raw.hex(), i.text()) for i in certificate.instructions]
    lines += tabulate(instructions, tablefmt="plain", disable_numparse=True, colalign=("right",)).split("\n")
    takes = ", ".join(f"{argument.name} in {_where(argument)}" for argument in task.arguments)
    given = f", {' and '.join(map(str, task.requires))}" if task.requires else ""
    notes = [
        *_digests(certificate.binary),
        ("end", certificate.binary.layout.end if certificate.binary.layout else ""),
        ("specification", _specification(task)),
        ("takes", takes + given),
        ("gives", ", ".join(f"{result.name} in {_place(result.place)}" for result in task.results)),
        ("memory", _MEMORY if any(argument.kind in ("boards", "results") for argument in task.arguments) else ""),
        ("changes", ", ".join(certificate.written(kept=False)) or "nothing"),
        ("restores", ", ".join(certificate.written(kept=True)) if certificate.status == "proved" else ""),
        ("how", _how(certificate)),
        ("solver", f"{certificate.solver}, {counted(certificate.questions, 'question')}, {certificate.seconds:.2f} s"),
    ]
    lines += ["", *(f"{name:13}  {text}" for name, text in notes if text)]
    if certificate.status == "refuted":
        lines += ["", _refutation(proof)]
    elif certificate.status == "not proved":
        lines += ["", f"not proved: {certificate.reason}"]
    return "\n".join(lines)


def _specification(task: Task) -> str:
    direction = f" {task.direction}" if task.direction else ""
    walked = ", square by square" if isinstance(task.specification, str) else ""
    squares = "" if task.numbering == LITTLE_ENDIAN else f", {task.numbering}"
    return f"{task.specification}{direction}{walked}{squares}"


def _digests(binary: Binary) -> Iterator[tuple[str, str]]:
    """Of the code, as exports have it; and of code and data as one where there is data: the proof is about both."""
    if not binary.data:
        yield "bytes", f"{len(binary.text)} of code"
        yield "SHA-256", f"{binary.sha256} of the code"
    else:
        yield "bytes", f"{len(binary.text)} of code and {len(binary.data)} of data"
        yield "SHA-256", f"{binary.sha256} of the code, data distances zero"
        yield "", f"{binary.image_sha256} of code and data as they were proved"


def _how(certificate: Certificate) -> str:
    parts = [counted(certificate.cases, "case"), counted(certificate.paths, "path")]
    if certificate.rounds:
        parts.append(f"loops of at most {counted(certificate.rounds, 'round')}")
    if certificate.induction:
        parts.append(f"loops by induction ({certificate.induction})")
    return ", ".join(parts)


def _where(argument: Argument) -> str:
    what = {"results": " (an address)", "boards": " (an array)", "count": " (a number)"}.get(argument.kind, "")
    return _place(argument.place) + what


def _place(place: Place) -> str:
    if place.file == "stack":
        return f"[rsp+{place.offset}]"
    if place.file == "vector":
        return {2: "x", 4: "y", 8: "z"}[place.lanes] + place.register[1:]
    return place.register if place.file == "general" else f"memory at {place.offset}"


def _refutation(proof: Proof) -> str:
    certificate, confirmation = proof.certificate, proof.confirmation
    if certificate is None or certificate.counterexample is None or confirmation is None:
        return ""
    case, task = certificate.counterexample, certificate.task
    lines = [f"refuted: {case.complaint}; {confirmation.description}"]
    if proof.hint:
        return "\n".join([*lines, proof.hint])
    kinds = {argument.name: argument.kind for argument in task.words}
    number = len(case.inputs[0][1])
    if task.elements:
        where = f", the result in the place of {case.inputs[case.alias][0]}" if case.alias is not None else ""
        lines.append(f"arrays of {counted(number, 'board')}{where}{f'; board {case.lane}:' if number > 1 else ''}")
    elif number > 1:
        lines.append(f"board {case.lane} of {number}:")
    selected, drawn = input_lines(((name, kinds[name], word) for name, word in case.words), task.numbering)
    got = confirmation.got or case.got or ()
    drawn += expected_and_got([result.name for result in task.results], case.expected, got)
    return "\n".join([*lines, *selected]) + ("\n\n" + boards(drawn, task.numbering) if drawn else "")
