"""The prover can fail: broken machine code is refuted, by a counterexample that the processor confirms."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, features
from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.check import check as check_natively
from setwise.analysis.run.inputs import Cases, make_cases
from setwise.analysis.semantics.state import MASKS
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Task
from setwise.analysis.workers import Workers
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import runner
from setwise.codegen.run.executable import Executable
from tests.analysis.mutants import KINDS, mutants
from tests.analysis.semantics.machines import GENERAL as ORDER
from tests.analysis.semantics.machines import Cpu, Registers, Trial, this_cpu
from tests.conftest import require_module
from tests.processes import in_own_process

EACH, LONG = 4, 20
QUICK = (
    ("kogge-stone.attacks.noEa", "x86-64"),
    ("push.attacks.east", "bmi2"),
    pytest.param("bytewise.carry-loop-64", "x86-64", marks=pytest.mark.slow),
    ("kogge-stone.attacks.west", "avx2"),
    ("kogge-stone.attacks.rook", "avx512"),
    ("kogge-stone.attacks.nort.batch", "sse2"),
)
COUNTS = ("sliders.counts", "sliders.mobility")
# The routines with several targets whose forms of instruction are most different from the scalar ones.
VECTORS = ("kogge-stone.attacks.queen", "sliders.union", "sliders.rays", "kogge-stone.attacks.soWe.batch")
# What a mutant must end in. "confirmed": refuted, and wrong when it is stepped, and when it runs, where the processor
# has the instructions. "breach": refuted by what is not safe to run, and only stepped. Two more are set aside and
# another mutant takes their place: "refused", what the prover names and does not follow, or has no run for that
# confirms it; "elsewhere", refuted where addresses or memory are such as they are not in a run.
DECIDED = frozenset({"confirmed", "breach", "equivalent"})
ASIDE = frozenset({"refused", "elsewhere"})
NOT_FOLLOWED = (
    "no semantics for",
    "derives from no known one",
    "again from an outer loop",
    "has not returned after",
    "is not shown to end within",
    "depends on the addresses or the contents of code and memory",
)
_PAGE = 4096  # for arrays and results; behind it is one of stack
_STACK = 2048  # where rsp is in the stack's page before the call
_APART = 512  # bytes between arrays


def wrong(cpu: Cpu, certificate: Certificate) -> bool:
    """Whether the routine, run with these registers, breaks its contract in the lane of the counterexample."""
    return in_own_process(lambda: _wrong(cpu, certificate))


def _wrong(cpu: Cpu, certificate: Certificate) -> bool:
    task, found = certificate.task, certificate.counterexample
    assert found is not None
    registers = dict(found.registers)
    memory = bytearray(2 * _PAGE)
    words = dict(found.inputs)
    number = len(found.inputs[0][1])
    blocks = {name: cpu.memory + at * _APART for at, name in enumerate((*task.arrays, "results"))}
    # What no routine gives by chance, so that a result that is never written shows.
    junk = b"".join((word ^ (1 << 64) - 1).to_bytes(8, "little") for word in found.expected)
    memory[:_PAGE] = (junk * _PAGE)[:_PAGE] if len(junk) == 8 else memory[:_PAGE]
    if found.alias is not None:
        blocks[task.arrays[-1]] = blocks[task.arrays[found.alias]]
    for argument, (_, inputs) in zip(task.elements, found.inputs, strict=False) if task.elements else ():
        start = blocks[task.arrays[task.elements.index(argument)]] - cpu.memory
        memory[start : start + 8 * number] = b"".join(word.to_bytes(8, "little") for word in inputs)
    if not task.elements:
        for one, word in zip(task.results, found.expected, strict=True):
            if one.place.file == "memory":
                at = blocks["results"] - cpu.memory + one.place.offset + 8 * found.lane
                memory[at : at + 8] = (word ^ (1 << 64) - 1).to_bytes(8, "little")
    for argument in task.arguments:
        lanes: tuple[int, ...]
        if argument.kind in ("boards", "results"):
            lanes = (blocks[argument.name if argument.kind == "boards" else "results"],)
        else:
            lanes = (number,) if argument.kind == "count" else words[argument.name]
        if argument.place.file == "general":
            registers[argument.place.register] = lanes[0]
        elif argument.place.file == "vector":
            registers |= {f"{argument.place.register}.{lane}": word for lane, word in enumerate(lanes)}
        else:  # the call puts the return address below
            at = _PAGE + _STACK - 8 + argument.place.offset
            memory[at : at + 8] = lanes[0].to_bytes(8, "little")
    rsp = cpu.memory + _PAGE + _STACK
    given = Registers(
        [rsp if name == "rsp" else registers[name] for name in ORDER],
        [registers[name] for name in MASKS],
        0,
        [tuple(registers[f"zmm{vector}.{lane}"] for lane in range(8)) for vector in range(32)],
    )
    with Executable(certificate.binary.image, len(certificate.binary.data)) as code:
        call = b"\xff\x15\x02\x00\x00\x00\xeb\x08" + code.address().to_bytes(8, "little")
        (behind,) = cpu.run([Trial(call, given, bytes(memory))])
    after, left = behind.registers, behind.memory
    general = dict(zip(ORDER, after.general, strict=True))
    if general["rsp"] != rsp or any(general[name] != registers[name] for name in task.saved):
        return True
    for name in task.saved_vectors:
        if after.vectors[int(name[3:])][:2] != given.vectors[int(name[3:])][:2]:
            return True
    for name, inputs in found.inputs if task.elements else ():
        start = blocks[name] - cpu.memory
        kept = left[start : start + 8 * number] == b"".join(word.to_bytes(8, "little") for word in inputs)
        if not kept and blocks[name] != blocks[task.arrays[-1]]:
            return True
    return number > 0 and _results(task, cpu, general, after, left, blocks, found.lane) != found.expected


def _results(
    task: Task, cpu: Cpu, general: dict[str, int], after: Registers, left: bytes, blocks: dict[str, int], lane: int
) -> tuple[int, ...]:
    def at(address: int) -> int:
        place = address - cpu.memory
        return int.from_bytes(left[place : place + 8], "little")

    if task.elements:
        return (at(blocks[task.arrays[-1]] + 8 * lane),)
    return tuple(
        general[one.place.register]
        if one.place.file == "general"
        else after.vectors[int(one.place.register[3:])][lane]
        if one.place.file == "vector"
        else at(blocks["results"] + one.place.offset + 8 * lane)
        for one in task.results
    )


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `what` says which it was."""

    outcome: str
    what: str


class Judge:
    """Proves or refutes mutants of a kernel, and asks the processor for its mind."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.task, self.prover = kernel, task_of(kernel), Prover()
        self._cases: Cases | None = None
        try:
            self._cpu: Cpu | None = this_cpu()
        except pytest.skip.Exception:
            self._cpu = None

    def outcome(self, made: Certificate) -> str:
        """A word for how a proof ended and what a run on this processor says."""
        if made.status == "proved":
            return "equivalent" if self._runs_well(made) else "disagrees"
        if made.status == "not proved":
            return "refused" if any(words in made.reason for words in NOT_FOLLOWED) else "not proved"
        found = made.counterexample
        assert found is not None
        if not found.runs:
            return "breach"
        if self._cpu is None or self._cpu.lacking(features(made.instructions)) or wrong(self._cpu, made):
            return "confirmed"
        return "disagrees" if found.anywhere else "elsewhere"

    def _runs_well(self, made: Certificate) -> bool:
        """Whether what is proved does what it should on some boards; where it does not run here, nobody objects."""
        if self._cpu is None or self._cpu.lacking(features(made.instructions)):
            return True
        if self._cases is None:
            self._cases = make_cases(self.kernel.routine.contract, quick=True, random_boards=2000)
        with runner(self.kernel, made.binary.image, len(made.binary.data)) as running:
            return check_natively(running.run, self._cases).status == "passed"


def judged(name: str, isa: str, number: int) -> list[Verdict]:
    """Verdicts until so many mutants of a kernel are decided."""
    judge = Judge(lower(find(name), isa, "sysv"))
    verdicts = []
    for mutant in mutants(binary_of(judge.kernel), 3 * number, seed=len(name)):
        made = judge.prover.prove(mutant.binary, judge.task, 60)
        what = f"{name} {isa}: {mutant.description}: {made.reason}"
        verdicts.append(Verdict(judge.outcome(made), what))
        if sum(verdict.outcome in DECIDED for verdict in verdicts) == number:
            break
    return verdicts


def check(verdicts: Sequence[Verdict]) -> Counter[str]:
    """How many mutants came to each end; an AssertionError names those that came to none, or to two."""
    bad = [verdict for verdict in verdicts if verdict.outcome not in DECIDED | ASIDE]
    assert not bad, "\n".join(f"{verdict.outcome}: {verdict.what}" for verdict in bad)
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    assert sum(outcomes[aside] for aside in ASIDE) <= max(2, len(verdicts) // 20), outcomes
    return outcomes


@pytest.mark.parametrize(("name", "isa"), QUICK)
def test_some_mutants_are_refuted_or_equivalent(name: str, isa: str) -> None:
    require_module("bitwuzla")
    outcomes = check(judged(name, isa, EACH))
    assert sum(outcomes[decided] for decided in DECIDED) == EACH
    assert outcomes["confirmed"] + outcomes["breach"] >= EACH // 2


TWINS = {"side.union.black", "side.pieces.white", "side.nested.black", "side.twice.white"}
"""Whole sides of which the other color's mutants are judged."""


def _jobs() -> Iterator[tuple[str, str]]:
    # Without popcnt what is wrong in a count of squares takes longer to be refuted than anything else.
    yield from ((name, "bmi2" if name in COUNTS else "x86-64") for name in catalogue() if name not in TWINS)
    yield from ((name, isa) for name in VECTORS for isa in catalogue()[name].isas if isa != "x86-64")


def _effort(job: tuple[str, str]) -> int:
    """A guess at how long a kernel's mutants take: those of the whole side first, they are the longest."""
    return sum(
        word in job[0] for word in ("sliders", "side.", "exploding", "pieces", "direction", "queen", "until-dry", "any")
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, pytest.param(LONG, marks=pytest.mark.long)])
def test_mutants_of_every_routine_are_refuted_or_equivalent(number: int) -> None:
    require_module("bitwuzla")
    jobs = sorted(_jobs(), key=_effort, reverse=True)
    assert {name for name, _ in jobs} | TWINS == set(catalogue())
    with Workers() as pool:
        running = [pool.submit(judged, name, isa, number) for name, isa in jobs]
        each = [one.result() for one in running]
    outcomes = check([verdict for verdicts in each for verdict in verdicts])
    decided = sum(outcomes[one] for one in DECIDED)
    assert min(sum(verdict.outcome in DECIDED for verdict in verdicts) for verdicts in each) == number
    assert decided == number * len(jobs) >= 100 * number
    assert outcomes["confirmed"] > decided // 2


def test_a_processor_of_another_mind_is_an_error() -> None:
    """Whether it is proved and goes wrong in a run, or refuted and goes right."""
    require_module("bitwuzla")
    judge = Judge(lower(find("kogge-stone.attacks.noEa"), "x86-64", "sysv"))
    if judge._cpu is None:
        pytest.skip("not run: this processor cannot")
    right = binary_of(judge.kernel)
    broken = next(mutant.binary for mutant in mutants(right, 1) if mutant.kind == "opcode")
    proved, refuted = (judge.prover.prove(binary, judge.task) for binary in (right, broken))
    assert (judge.outcome(proved), judge.outcome(refuted)) == ("equivalent", "confirmed")
    for lie in (replace(proved, binary=broken), replace(refuted, binary=right)):
        assert judge.outcome(lie) == "disagrees"
        with pytest.raises(AssertionError, match="disagrees: what"):
            check([Verdict(judge.outcome(lie), "what")])


def test_mutants_are_of_all_kinds_and_always_the_same() -> None:
    binary = binary_of(lower(find("dumb7.occluded-until-dry.east"), "x86-64", "sysv"))
    found = list(mutants(binary, 150, seed=3))
    assert {mutant.kind for mutant in found} == set(KINDS)
    assert found == list(mutants(binary, 150, seed=3))
    assert found != list(mutants(binary, 150, seed=4))
    assert len({mutant.binary for mutant in found}) == 150
    assert all(len(mutant.binary.text) == len(binary.text) for mutant in found)
    assert binary not in {mutant.binary for mutant in found}
    assert isinstance(binary, Binary)


def test_other_bytes_for_the_same_instruction_are_no_mutant() -> None:
    """shl is encoded in two ways (/4 and /6), and its count is taken modulo 64."""
    found = list(mutants(Binary(bytes.fromhex("48c1e008c3")), 100))
    assert found
    assert not [mutant.description for mutant in found if "'sal" in mutant.description or ",72'" in mutant.description]
