"""`setwise prove`: prove that kernels, or a function of an ELF file, meet the specification for all inputs."""

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace

from setwise.analysis import api
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.code.second_decoder import differences
from setwise.analysis.commands.arguments import PATTERNS, add, bound, object_given, pair, place
from setwise.analysis.commands.questions import Asked, write_questions
from setwise.analysis.commands.tables import print_json, print_reasons, print_table, report_not_made, tally
from setwise.analysis.errors import refused_by_system
from setwise.analysis.pictures.board_text import mailbox, picture
from setwise.analysis.progress import Progress
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proofs import Proof
from setwise.analysis.semantics.domains import BitVectors
from setwise.analysis.spec.lists import listed
from setwise.analysis.spec.prototype import Prototype, find_prototype
from setwise.analysis.spec.task import Argument, ItemList, MemoryBlock, ReferenceFunction, Task
from setwise.analysis.text import counted, table
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.export.write import checked
from setwise.codegen.numbering import LITTLE_ENDIAN
from setwise.codegen.own.user_files import is_own
from setwise.codegen.request import Request

EXAMPLES = (
    "setwise prove 'kogge-stone.*'",
    "setwise prove kogge-stone.attacks.nort --isa x86-64 --abi sysv",
    "setwise prove --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
    "setwise prove --object avx2.o --symbol fill --same-as fill --in scalar.o --prototype 'uint64_t fill(uint64_t g)'",
)


_BLOCKS = "pointers not null, at multiples of an element's size; blocks disjoint, but read-only ones may overlap"
_MEMORY = "pointers not null, at multiples of 8; the result disjoint from inputs, or an array exactly in place of one"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise prove`."""
    add(parser, "names", help=f"{PATTERNS}; default: all")
    add(parser, "only --isa", "--variant")
    shown = "only kernels with this number of lanes: 1, 2, 4, 8 (default: all); of an object, boards per register"
    add(parser, "--lanes", help=shown)
    add(parser, "only --abi", "--object", "--symbol", "--spec")
    shown = "the function whose results it must give, instead of --spec: a symbol, or one in Python, FILE.py:NAME"
    parser.add_argument("--same-as", metavar="SYM", help=shown)
    parser.add_argument(
        "--in", dest="other", metavar="FILE", help="the ELF file of that function (default: --object's)"
    )
    parser.add_argument("--prototype", metavar="C", help="the C prototype of both functions, with sizes of arrays")
    parser.add_argument("--prototype-from", metavar="FILE", help="the C file that declares the function")
    shown = "the integer parameter NAME is from 0 to N - 1 (may be repeated)"
    parser.add_argument("--below", type=bound, action="append", default=[], metavar="NAME=N", help=shown)
    shown = "a function in Python, FILE.py:NAME, that is true for the inputs that count (may be repeated)"
    parser.add_argument("--requires", action="append", default=[], metavar="PY", help=shown)
    shown = "the pointers A and B are equal; other blocks are disjoint, or read-only (may be repeated)"
    parser.add_argument("--alias", type=pair, action="append", default=[], metavar="A=B", help=shown)
    shown = "letters of the bytes of a block of 64 from 0 on, as in pPnNbBrRqQkK, for counterexamples; . is no piece"
    parser.add_argument("--pieces", default="", metavar="LETTERS", help=shown)
    shown = "the array that holds as many items as the function returns; what is behind them does not count"
    parser.add_argument("--list", metavar="NAME", help=shown)
    parser.add_argument("--unordered", action="store_true", help="the items of --list may come in any order")
    add(parser, "--time-limit", help="seconds of processor time a kernel, after which it counts as not proved")
    parser.add_argument(
        "--smt", type=place, metavar="DIR", help="save each solver query as SMT-LIB 2 in a new directory"
    )
    shown = "read the bytes with LLVM's decoder, too; where the two decoders differ, nothing is proved"
    parser.add_argument("--cross-check", action="store_true", help=shown)
    shown = "sha256 is the digest in listings and metadata.json, of code with zeros for distances to data"
    add(parser, "--json", help=f"print JSON instead of a table; {shown}; image_sha256 covers code and data")


def run(arguments: Namespace) -> int:
    """Prove code and print the outcome. Return 1 if any code is not proved, or a routine has no kernel."""
    BitVectors()  # first of all, to fail early if there is no solver
    start = time.monotonic()
    keep = arguments.smt is not None
    if keep:
        with refused_by_system():
            checked(arguments.smt)
    proofs, requests = _proofs(arguments, keep)
    if arguments.cross_check:
        proofs = [*map(_cross_checked, proofs)]
    written = write_questions(arguments.smt, map(_titled_questions, proofs)) if keep else 0
    if arguments.json:
        print_json([proof.row for proof in proofs])
    elif len(proofs) == 1:
        print(certificate_text(proofs[0]))
    else:
        _report(proofs, time.monotonic() - start)
    if keep and not arguments.json:
        print(f"{counted(written, 'question')} in {arguments.smt}")
    is_missing = report_not_made(requests, {proof.key for proof in proofs})
    return int(is_missing or any(proof.status != "proved" for proof in proofs))


def _proofs(arguments: Namespace, keep: bool) -> tuple[list[Proof], list[Request]]:
    isa, abi, lanes, limit = arguments.isa, arguments.abi, arguments.lanes, arguments.time_limit
    given = [name for name, value in _of_twins(arguments).items() if value]
    if given and not arguments.same_as:
        raise ValueError(f"{given[0]} goes with --same-as SYM")
    if arguments.same_as and object_given(arguments):
        return [_comparison(arguments, keep)], []
    if object_given(arguments):
        function, spec = ObjectFunction(arguments.object, arguments.symbol), find(arguments.spec)
        return [api.prove_function(function, spec, abi or "sysv", lanes, time_limit=limit, keep=keep)], []
    requests = api.requests(chosen(arguments.names), isa, abi, lanes, arguments.variant)
    with Progress(len(requests)) as progress:
        processes = os.cpu_count() or 1
        return api.prove(requests, time_limit=limit, keep=keep, processes=processes, show=progress.show), requests


def _of_twins(arguments: Namespace) -> dict[str, object]:
    """Return the values of the options that need --same-as, by name."""
    return {
        "--in": arguments.other,
        "--prototype": arguments.prototype,
        "--prototype-from": arguments.prototype_from,
        "--below": arguments.below,
        "--requires": arguments.requires,
        "--alias": arguments.alias,
        "--pieces": arguments.pieces,
        "--list": arguments.list,
        "--unordered": arguments.unordered,
    }


def _comparison(arguments: Namespace, keep: bool) -> Proof:
    prototype, declared = arguments.prototype, arguments.prototype_from
    if arguments.spec or arguments.lanes or arguments.abi not in (None, "sysv") or bool(prototype) == bool(declared):
        raise ValueError("--same-as needs --prototype or --prototype-from, no --spec or --lanes, and --abi sysv")
    if arguments.unordered and not arguments.list:
        raise ValueError("--unordered goes with --list NAME")
    other = arguments.same_as
    if not is_own(other):
        other = ObjectFunction(arguments.other or arguments.object, other)
    elif arguments.other:
        raise ValueError("--in names the file of a symbol: leave it out for a function in Python")
    agreed = Prototype(
        prototype or find_prototype(declared, arguments.symbol),
        dict(arguments.below),
        tuple(arguments.requires),
        tuple(arguments.alias),
        arguments.pieces,
        ItemList(arguments.list, arguments.unordered) if arguments.list else None,
    )
    function = ObjectFunction(arguments.object, arguments.symbol)
    return api.prove_same(function, other, agreed, time_limit=arguments.time_limit, keep=keep)


def _cross_checked(proof: Proof) -> Proof:
    """Return the proof; one that is not, if LLVM reads other instructions."""
    certificate = proof.certificate
    different = differences(decode(certificate.binary.text)) if certificate and certificate.instructions else []
    if certificate is None or not different:
        return proof
    reason = f"LLVM's decoder reads {counted(len(different), 'instruction')} otherwise: {different[0]}"
    return replace(proof, certificate=replace(certificate, status="not proved", reason=reason))


def _titled_questions(proof: Proof) -> tuple[str, Asked]:
    """Return a title for the files of a proof's solver queries, and the pair of its command's words and the queries."""
    name, isa, lanes, abi = proof.key
    shape = (name, proof.title.partition(" as ")[2] if isa is None else isa, f"{lanes}-lanes" if lanes > 1 else "", abi)
    return "-".join(filter(None, shape)), (proof.words, proof.questions)


def _report(proofs: Sequence[Proof], seconds: float) -> None:
    certificates = [proof.certificate for proof in proofs if proof.certificate]
    times = [f"{1000 * proof.certificate.seconds:.0f}" if proof.certificate else "" for proof in proofs]
    rows = [(*proof.key, time, proof.status) for proof, time in zip(proofs, times, strict=True)]
    print_table(rows, ("name", "isa", "lanes", "abi", "ms", ""))
    for proof in proofs:
        if proof.status == "refuted":
            print(f"\n{' '.join(map(str, proof.key))}\n{_refutation(proof)}")
    print_reasons((proof.status, proof.why) for proof in proofs if proof.status == "not proved")
    summary = tally([proof.status for proof in proofs], ("proved", "refuted", "not proved"))
    print(f"\n{summary}; {certificates[0].solver if certificates else 'no solver'}")
    print(f"{seconds:.1f} s; CPU time of proofs: {sum(certificate.seconds for certificate in certificates):.1f} s")


def certificate_text(proof: Proof) -> str:
    """Return a proof's certificate as text. It ends with the verdict and its reason or counterexample."""
    certificate, (name, isa, lanes, abi) = proof.certificate, proof.key
    title = proof.title or name
    if certificate is None:
        return f"{title}: not proved: {proof.reason}"
    task = certificate.task
    shape = [part for part in (isa, f"{lanes} lanes" if lanes > 1 else "", abi) if part]
    lines = [f"{title}, {', '.join(shape)}: {certificate.status}", ""]
    lines += table((f"{i.offset:3x}", i.raw.hex(), i.text()) for i in certificate.instructions).split("\n")
    blocks = {block.name: block for block in task.blocks}
    named = [argument for argument in task.arguments if argument.place.file != "memory"]
    takes = ", ".join(f"{argument.name} in {_where(argument, blocks.get(argument.name))}" for argument in named)
    returned = [f"{one.name} in {one.place}" for one in task.results if one.place.file != "memory" or not blocks]
    returned += [_given(block, task) for block in task.blocks if block.written]
    given = f", {' and '.join(map(str, task.requires))}" if task.requires else ""
    notes = [
        *_digests(certificate.binary),
        ("end", certificate.binary.layout.end if certificate.binary.layout else ""),
        ("specification", _specification(task) if task.specification else ""),
        ("takes", takes + given),
        ("gives", ", ".join(returned)),
        ("memory", _MEMORY if any(argument.kind in ("boards", "results") for argument in task.arguments) else ""),
        ("memory", _BLOCKS if blocks else ""),
        ("changes", ", ".join(certificate.written(kept=False)) or "nothing"),
        ("restores", ", ".join(certificate.written(kept=True)) if certificate.status == "proved" else ""),
        ("how", _how(certificate)),
        ("solver", f"{certificate.solver}, {counted(certificate.questions, 'question')}, {certificate.seconds:.2f} s"),
    ]
    verdict = _refutation(proof) or f"{certificate.status}: {certificate.reason or f'{title} is right for all inputs'}"
    return "\n".join([*lines, "", *(f"{name:13}  {text}" for name, text in notes if text), "", verdict])


def _given(block: MemoryBlock, task: Task) -> str:
    if task.items is None or task.items.block != block.name:
        return f"the bytes of {block.name}"
    return f"as many items of {block.name} as it returns{', in any order' if task.items.unordered else ''}"


def _specification(task: Task) -> str:
    direction = f" {task.direction}" if task.direction else ""
    walked = ", square by square" if isinstance(task.specification, str) else ""
    squares = "" if task.numbering == LITTLE_ENDIAN else f", {task.numbering}"
    return f"{task.specification}{direction}{walked}{squares}"


def _digests(binary: Binary) -> Iterator[tuple[str, str]]:
    """Yield titles and texts: sizes of code and data, the code's digest as in exports, and, with data, that of both."""
    data = f" and {len(binary.data)} of data" if binary.data else ""
    yield "bytes", f"{len(binary.text)} of code{data}"
    yield "SHA-256", f"{binary.sha256} of the code{', data distances zero' if data else ''}"
    if data:
        yield "", f"{binary.image_sha256} of code and data as proved"


def _how(certificate: Certificate) -> str:
    parts = [counted(certificate.cases, "case"), counted(certificate.paths, "path")]
    if certificate.rounds:
        parts.append(f"loops of at most {counted(certificate.rounds, 'iteration')}")
    if certificate.induction:
        parts.append(f"loops by induction ({certificate.induction})")
    return ", ".join(parts)


def _where(argument: Argument, block: MemoryBlock | None) -> str:
    what = {"results": " (an address)", "boards": " (an array)", "count": " (a number)"}.get(argument.kind, "")
    if 0 < argument.below < 1 << 8 * argument.place.bytes:
        what = f" (below {argument.below})"
    if block is not None:
        what = f" (the address of {counted(block.size, 'byte')}{'' if block.written else ', read-only'})"
    return f"{argument.place}{what}"


def _refutation(proof: Proof) -> str:
    certificate, confirmation = proof.certificate, proof.confirmation
    if certificate is None or certificate.counterexample is None or confirmation is None:
        return ""
    case, task = certificate.counterexample, certificate.task
    lines = [f"refuted: {case.complaint}; {confirmation.description}"]
    if proof.hint:
        return "\n".join([*lines, proof.hint])
    number = len(case.inputs[0][1])
    if task.elements:
        where = f", the result in place of {case.inputs[case.alias][0]}" if case.alias is not None else ""
        lines.append(f"arrays of {counted(number, 'board')}{where}{f'; board {case.lane}:' if number > 1 else ''}")
    elif number > 1:
        lines.append(f"board {case.lane} of {number}:")
    words, expected, got = [word for _, word in case.words], case.expected, confirmation.got or case.got
    if task.blocks or isinstance(task.specification, ReferenceFunction):
        return _picture_of_blocks(lines, task, words, expected, got or expected)
    return picture(lines, task, words, expected=expected, got=got)


def _picture_of_blocks(
    lines: Sequence[str], task: Task, words: Sequence[int], expected: Sequence[int], got: Sequence[int]
) -> str:
    """Return the picture of a call with the words in memory that matter, mailboxes as boards, and lists as items."""
    mailboxes = [block.name for block in task.blocks if block.is_mailbox]
    drawn, lists = {*mailboxes}, list[str]()
    if task.items:
        drawn.add(task.items.block)
        for title, results in (("expected", expected), ("got", got)):
            items = listed(task, results)
            lists.append(f"{task.items.block}, {title}: {' '.join(map(str, items)) or 'no items'}")
    given = list(zip(task.words, words, strict=True))
    others = [(argument, word) for argument, word in given if argument.place.block not in drawn]
    taken = [(argument, word) for argument, word in others if word or not argument.place.block]
    head = [*lines, *(["all other words in memory: 0"] if len(taken) < len(others) else [])]
    for name in mailboxes:
        content = b"".join(word.to_bytes(8, "little") for argument, word in given if argument.place.block == name)
        head += ["", mailbox(name, content, task.pieces), ""]
    wrong = [
        at
        for at, (result, *pair) in enumerate(zip(task.results, expected, got, strict=True))
        if len({*pair}) > 1 and result.place.block not in drawn - {*mailboxes}
    ]
    part = replace(
        task, arguments=tuple(argument for argument, _ in taken), results=tuple(task.results[at] for at in wrong)
    )
    expected, got = ([each[at] for at in wrong] for each in (expected, got))
    shown = picture(head, part, [word for _, word in taken], expected=expected, got=got)
    return "\n\n".join([shown, *(["\n".join(lists)] if lists else [])])
