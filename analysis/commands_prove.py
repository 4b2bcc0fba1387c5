"""`setwise prove`: kernels, or a function of somebody's object, against the specification, for all inputs."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from typing import Any

from tabulate import tabulate

from analysis.certificate import Certificate
from analysis.commands import binary_of, boards, told
from analysis.commands_check import Job, Progress, jobs_of
from analysis.confirm import Confirmation, confirm
from analysis.contracts import task_of
from analysis.decode import Binary
from analysis.prove import Prover
from analysis.raywalk import directions
from analysis.task import Argument, Place
from codegen.catalogue import find
from codegen.lower import Kernel, OutOfRegisters, Refused, lower
from codegen.routine import Parameter, Routine

_WORTH_PROCESSES = 12  # kernels: with fewer, starting processes takes longer than they save


@dataclass(frozen=True, slots=True)
class Proof:
    """A routine and how its proof ended; `key` is its name, instruction set, lanes and convention.

    Without a certificate `reason` says why it could not be made. `lowering` is how many seconds a processor took
    to make it.
    """

    key: tuple[str, str | None, int, str]
    certificate: Certificate | None
    confirmation: Confirmation | None = None
    reason: str = ""
    lowering: float = 0.0

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


def run_proofs(routines: Sequence[Routine], arguments: Namespace) -> int:
    """Prove the kernels of these routines and print a table, or the certificate of a single one; 1 if one fails."""
    jobs = [job for job in jobs_of(routines, arguments.isa, arguments.abi) if arguments.lanes in (None, job.lanes)]
    if not jobs:
        raise ValueError(f"no kernel has {arguments.lanes} lanes: leave --lanes out, or give 1, 2, 4 or 8")
    progress = Progress(len(jobs), sys.stderr.isatty())
    start = time.monotonic()
    try:
        proofs = sorted(_side_by_side(jobs, arguments.time_limit, progress), key=lambda one: one.key)
    finally:
        progress.end()
    if arguments.json:
        print(json.dumps([_row(one) for one in proofs], indent=2))
    elif len(proofs) == 1:
        print(certificate_text(proofs[0], proofs[0].key[0]))
    else:
        _report(proofs, time.monotonic() - start)
    return int(not all(one.fine for one in proofs))


def prove_object(arguments: Namespace) -> int:
    """Prove a function of an ELF file against the contract of a routine and print its certificate; 1 if that fails."""
    from analysis.objects import load

    binary = load(arguments.object, arguments.symbol)
    routine = find(arguments.spec)
    kernel = lower(routine, routine.isas[0], arguments.abi)
    proof = _proved(Prover(), kernel, binary, (arguments.symbol, None, 1, arguments.abi), arguments.time_limit)
    if arguments.json:
        print(json.dumps([_row(proof)], indent=2))
    else:
        print(certificate_text(proof, f"{arguments.symbol} as {routine.name}"))
    return int(not proof.fine)


def prove_all(jobs: Sequence[Job], time_limit: float, progress: Progress | None = None) -> Iterator[Proof]:
    """Each kernel's proof, one after the other; what a convention or an instruction set refuses is passed over.

    Raises Refused if that is all.
    """
    prover = Prover()
    refused: Refused | None = None
    passed_over = 0
    for job in jobs:
        if progress:
            progress.show(job.title)
        start = time.process_time()
        try:
            kernel = lower(job.routine, job.isa, job.abi, job.lanes)
            binary = binary_of(kernel)
        except Refused as error:
            refused, passed_over = error, passed_over + 1
            continue
        except (ValueError, OutOfRegisters) as error:
            yield Proof(job.key, None, reason=f"cannot be made: {error!r}")
            continue
        spent = time.process_time() - start
        yield replace(_proved(prover, kernel, binary, job.key, time_limit), lowering=spent)
    if refused and passed_over == len(jobs):
        raise refused


def _proved(
    prover: Prover, kernel: Kernel, binary: Binary, key: tuple[str, str | None, int, str], time_limit: float
) -> Proof:
    made = prover.prove(binary, task_of(kernel), time_limit)
    return Proof(key, made, confirm(kernel, made) if made.status == "refuted" else None)


def _side_by_side(jobs: Sequence[Job], time_limit: float, progress: Progress) -> Iterator[Proof]:
    """As `prove_all`, in a process a core, the kernels of one contract together: they have questions in common."""
    groups = [list(group) for _, group in groupby(jobs, lambda job: job.routine.contract)]
    workers = min(os.cpu_count() or 1, len(groups))
    if workers < 2 or len(jobs) < _WORTH_PROCESSES:
        yield from prove_all(jobs, time_limit, progress)
        return
    refused: Refused | None = None
    any_made = False
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        # The largest groups first, so that no core is left with one at the end.
        groups.sort(key=_effort, reverse=True)
        running = {pool.submit(_prove_group, [job.key for job in group], time_limit): group for group in groups}
        try:
            for done in as_completed(running):
                proofs = done.result()
                for job in running[done]:
                    progress.show(job.title)
                if isinstance(proofs, Refused):
                    refused = proofs
                    continue
                any_made = any_made or bool(proofs)
                yield from proofs
        finally:
            pool.shutdown(cancel_futures=True)
    if refused and not any_made:
        raise refused


def _effort(group: Sequence[Job]) -> int:
    """A guess at what a group costs: a square is 64 proofs, and directions together are harder than one by one."""
    contract = group[0].routine.contract
    cases = prod(one.below or 10 for one in contract.parameters if one.kind in ("square", "dir8", "direction9"))
    together = len(directions(contract.direction)) if contract.direction and cases == 1 else 8
    return len(group) * max(cases, together**2)


def _prove_group(keys: Sequence[tuple[str, str, int, str]], time_limit: float) -> list[Proof] | Refused:
    """In another process, which takes only what can be written down: the proofs, or why there is none.

    They come without the listings, which no table shows and which take long to write down.
    """
    try:
        proofs = list(prove_all([Job(find(name), isa, lanes, abi) for name, isa, lanes, abi in keys], time_limit))
    except Refused as error:
        return error
    return [replace(one, certificate=one.certificate and replace(one.certificate, instructions=())) for one in proofs]


def _row(one: Proof) -> dict[str, Any]:
    name, isa, lanes, abi = one.key
    made = one.certificate
    row: dict[str, Any] = {"name": name, "isa": isa, "lanes": lanes, "abi": abi, "status": one.status}
    row |= {"seconds": round(made.seconds, 4) if made else 0.0, "reason": one.why}
    if made is None:
        return row
    row |= {"solver": made.solver, "questions": made.questions, "cases": made.cases, "paths": made.paths}
    row |= {"sha256": hashlib.sha256(made.binary.text).hexdigest()}
    found = made.counterexample
    if found is not None and one.confirmation is not None:
        row["counterexample"] = {
            "inputs": {name: list(words) for name, words in found.inputs},
            "lane": found.lane,
            "expected": list(found.expected),
            "got": list(one.confirmation.got or found.got),
            "confirmation": one.confirmation.status,
        }
    return row


def _report(proofs: Sequence[Proof], seconds: float) -> None:
    rows = [
        (*one.key, f"{1000 * one.certificate.seconds:.0f}" if one.certificate else "", one.status) for one in proofs
    ]
    align = ("left", "left", "right", "left", "right", "left")
    head = ("name", "isa", "lanes", "abi", "ms", "")
    print(tabulate(rows, head, tablefmt="simple", colalign=align, disable_numparse=True))
    for one in proofs:
        if one.status == "refuted":
            print(f"\n{' '.join(map(str, one.key))}\n{_refutation(one)}")
    why = Counter(one.why for one in proofs if one.status == "not proved")
    for reason, number in why.items():
        print(f"\n{number} not proved: {reason}")
    statuses = Counter(one.status for one in proofs)
    summary = ", ".join(f"{statuses[status]} {status}" for status in ("proved", "refuted", "not proved"))
    solving = sum(one.certificate.seconds for one in proofs if one.certificate)
    making = sum(one.lowering for one in proofs)
    solver = next((one.certificate.solver for one in proofs if one.certificate), "no solver")
    print(f"\n{len(proofs)} kernels: {summary}; {solver}")
    print(f"{seconds:.1f} s, in which processors spent {solving:.1f} s on proofs and {making:.1f} s on lowering")


def certificate_text(one: Proof, title: str) -> str:
    """A certificate in words: what was proved of which bytes, and how; or what refutes it."""
    made, (_, isa, lanes, abi) = one.certificate, one.key
    if made is None:
        return f"{title}: not proved: {one.reason}"
    task = made.task
    shape = [part for part in (isa, f"{lanes} lanes" if lanes > 1 else "", abi) if part]
    lines = [f"{title}, {', '.join(shape)}: {made.status}", ""]
    instructions = [(f"{i.offset:x}", i.raw.hex(), i.text()) for i in made.instructions]
    lines += tabulate(instructions, tablefmt="plain", disable_numparse=True, colalign=("right",)).split("\n")
    data = f" and {len(made.binary.data)} bytes of data" if made.binary.data else ""
    told_direction = f" {task.direction}" if task.direction else ""
    takes = ", ".join(f"{argument.name} in {_where(argument)}" for argument in task.arguments)
    given = f", {' and '.join(task.requires)}" if task.requires else ""
    notes = [
        ("bytes", f"{len(made.binary.text)} of code{data}, SHA-256 {hashlib.sha256(made.binary.text).hexdigest()}"),
        ("specification", f"{task.specification}{told_direction}, square by square"),
        ("takes", takes + given),
        ("gives", ", ".join(f"{result.name} in {_place(result.place)}" for result in task.results)),
        ("changes", ", ".join(made.changed) or "nothing"),
        ("restores", ", ".join(made.restored) if made.status == "proved" else ""),
        ("how", _how(made)),
        ("solver", f"{made.solver}, {_some(made.questions, 'question')}, {made.seconds:.2f} s"),
    ]
    lines += ["", *(f"{name:13}  {text}" for name, text in notes if text)]
    if made.status == "refuted":
        lines += ["", _refutation(one)]
    elif made.status == "not proved":
        lines += ["", f"not proved: {made.reason}"]
    return "\n".join(lines)


def _how(made: Certificate) -> str:
    parts = [_some(made.cases, "case"), _some(made.paths, "path")]
    if made.rounds:
        parts.append(f"loops of at most {_some(made.rounds, 'round')}")
    if made.induction:
        parts.append(f"loops by induction ({made.induction})")
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


def _refutation(one: Proof) -> str:
    made, said = one.certificate, one.confirmation
    if made is None or made.counterexample is None or said is None:
        return ""
    found = made.counterexample
    lines = [f"refuted: {found.what}; {said.what}"]
    kinds = {argument.name: argument for argument in made.task.words}
    drawn = []
    number = len(found.inputs[0][1])
    if made.task.each:
        where = f", the result in the place of {found.inputs[found.alias][0]}" if found.alias is not None else ""
        lines.append(f"arrays of {_some(number, 'board')}{where}{f'; board {found.lane}:' if number > 1 else ''}")
    elif number > 1:
        lines.append(f"board {found.lane} of {number}:")
    for name, word in found.words:
        text = told(Parameter(name, kinds[name].kind, kinds[name].below), word)  # type: ignore[arg-type]
        if text is None:
            drawn.append((name, word))
        else:
            lines.append(f"{name}: {text}")
    got = said.got or found.got or ()
    for at, result in enumerate(made.task.results):
        if found.expected:
            drawn.append((f"{result.name}, expected", found.expected[at]))
        if len(got) > at:
            drawn.append((f"{result.name}, got", got[at]))
    return "\n".join(lines) + ("\n\n" + boards(drawn) if drawn else "")


def _some(number: int, name: str) -> str:
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"
