"""Every entry of the table of semantics against this CPU and against Bochs: three parties, of which two may be wrong.

Where they differ the manual decides: a fault of Bochs' belongs into setwise.analysis.run.emulation.FAULTS, all else is
ours.
"""

import random
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import pytest

from setwise.analysis.code.decode import Decoded, DecodeError, decode
from setwise.analysis.run.emulation import FAULTS, Fault, fault_of
from setwise.analysis.run.interpreter import MemoryRange, MemoryRanges
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.semantics.state import Flag, MachineState, Unsupported
from setwise.analysis.semantics.table import FOLLOWED, TABLE, execute
from tests.analysis.listings import assemble
from tests.analysis.semantics.encodings import FLOW, every
from tests.analysis.semantics.forms import CONDITIONS, forms, programs
from tests.analysis.semantics.machines import FLAGS, GENERAL, After, Bochs, Cpu, Machine, Registers, Trial, this_cpu
from tests.conftest import few, require_tool

SHORT, LONG = range(2), range(2, 20)  # seeds of the rounds in `make test`, and besides in `make check`
LONGEST = [range(seed, seed + 100) for seed in range(20, 1020, 100)]  # and in `make long`
MACHINES: Mapping[str, Callable[[], Machine]] = {"cpu": this_cpu, "bochs": Bochs}
TOGETHER = 4000  # trials that a machine makes in one go: Bochs has memory for five times as many
MEMORY = 1024  # bytes
INVERSE = {"gf2p8affineinvqb", "vgf2p8affineinvqb"}  # have no semantics, and the faults of the others


@cache
def assembled() -> dict[str, Decoded]:
    """Each form with its instruction, all assembled at once."""
    sources = forms()
    instructions = decode(assemble("\n".join(sources)))
    assert len(instructions) == len(sources)
    return dict(zip(sources, instructions, strict=True))


@cache
def by_mnemonic() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for form in forms():
        groups.setdefault(form.split()[0], []).append(form)
    return groups


@cache
def batches(rounds: int) -> dict[str, list[str]]:
    """By form those that are tried together with it, so many times each: neighbours in the order of the tests."""
    each = [form for group in by_mnemonic().values() for form in group]
    size = TOGETHER // rounds
    return {form: each[at // size * size :][:size] for at, form in enumerate(each)}


@cache
def words() -> tuple[int, ...]:
    """Words of all kinds: random, sparse, dense, small, all zeros and ones."""
    chance = random.Random(0)
    made = []
    for _ in range(4000):
        one, two, three = (chance.getrandbits(64) for _ in range(3))
        small, both = chance.randrange(130), chance.choice((0, (1 << 64) - 1))
        made.append(chance.choice((one, one & two, one | two, small, both, one >> small % 64, one & two & three)))
    return tuple(made)


def small(chance: random.Random) -> tuple[int, ...]:
    """Lanes of small numbers, for counts and indices."""
    return tuple(chance.choice((0, chance.randrange(70), 0x0003_0000_0011)) for _ in range(8))


def trial(form: str, seed: int, memory: int, raw: bytes = b"") -> Trial:
    """What a form, or other code, is tried on: always the same for a seed, but for the address of its memory."""
    chance = random.Random(f"{form} {seed}")
    general = chance.choices(words(), k=len(GENERAL))
    general[GENERAL.index("rsp")] = memory + 768
    general[GENERAL.index("rsi")] = memory
    general[GENERAL.index("rbx")] = chance.randrange(32)
    general[GENERAL.index("rbp")] = memory + 640
    flags = sum(chance.getrandbits(1) << place for place in FLAGS.values())
    lanes = [*chance.choices(words(), k=8 * 10), *struct.unpack("<176Q", chance.randbytes(8 * 176))]
    vectors = [tuple(lanes[start : start + 8]) for start in range(0, 256, 8)]
    vectors[9] = small(chance)
    content = bytearray(chance.randbytes(MEMORY))
    for start, many in ((0, chance.choices(words(), k=16)), (256, small(chance))):
        content[start : start + 8 * len(many)] = b"".join(word.to_bytes(8, "little") for word in many)
    given = Registers(general, chance.choices(words(), k=8), flags, vectors)
    return Trial(raw or assembled()[form].raw, given, bytes(content))


class Party:
    """A machine, and what the forms that it has leave on it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._left: dict[tuple[str, int], tuple[Trial, After]] = {}

    def differences(self, form: str, seeds: range) -> list[str]:
        """Where the machine differs from our semantics on a form; many forms are run in one go."""
        if (form, seeds[0]) not in self._left:
            can = [one for one in batches(len(seeds))[form] if not self.machine.excuse(assembled()[one])]
            rounds = [(one, seed) for one in can for seed in seeds]
            trials = [trial(one, seed, self.machine.memory) for one, seed in rounds]
            self._left = dict(zip(rounds, zip(trials, self.machine.run(trials), strict=True), strict=True))
        code = (assembled()[form],)
        found = (differences(self.machine, code, *self._left[form, seed]) for seed in seeds)
        return [f"{form}: {one}" for each in found for one in each]


@cache
def party(name: str) -> Party:
    return Party(MACHINES[name]())


@pytest.fixture
def bochs() -> None:
    require_tool("bochs")


def constant(value: int) -> Flag:
    return lambda: value


def begun(machine: Machine, tried: Trial) -> tuple[MachineState, MemoryRange]:
    """The state that a trial begins with, as the semantics see it, and its memory."""
    given, region = tried.given, MemoryRange("memory", machine.memory, bytearray(tried.memory))
    state = MachineState(Integers(), MemoryRanges([region]))
    state.registers = dict(zip(GENERAL, given.general, strict=True)) | {f"k{n}": k for n, k in enumerate(given.masks)}
    state.vectors = {f"zmm{number}": vector for number, vector in enumerate(given.vectors)}
    state.flags = {name: constant(given.flags >> place & 1) for name, place in FLAGS.items()}
    return state, region


def stepped(code: Sequence[Decoded], state: MachineState) -> None:
    """Executes a program by our semantics, up to its end."""
    at, offset = {instruction.offset - code[0].offset: instruction for instruction in code}, 0
    while offset in at:
        goto = execute(at[offset], state)
        taken = goto is not None and goto.condition != 0
        offset = int(goto.place) - code[0].offset if goto is not None and taken else offset + at[offset].length


def differences(machine: Machine, code: Sequence[Decoded], tried: Trial, after: After) -> list[str]:
    """Where the semantics and the machine differ on a program of mostly one instruction, in words."""
    if after.fault:
        return [after.fault]
    state, region = begun(machine, tried)
    before = state.registers | state.vectors
    stepped(code, state)
    has, now = machine.saved, after.registers
    pairs = [(name, state.registers[name], word) for name, word in zip(GENERAL, now.general, strict=True)]
    pairs += [(f"k{number}", state.registers[f"k{number}"], now.masks[number]) for number in range(has.masks)]
    found = [f"{name}: {ours:#x} by our semantics, {theirs:#x} there" for name, ours, theirs in pairs if ours != theirs]
    for number in range(has.vectors):
        ours, theirs = state.vectors[f"zmm{number}"][: has.lanes], tuple(now.vectors[number][: has.lanes])
        if ours != theirs:
            found.append(f"vector {number}: {_hexadecimal(ours)} by our semantics, {_hexadecimal(theirs)} there")
    if bytes(region.content) != after.memory:
        found.append("memory differs")
    text = "; ".join(instruction.text() for instruction in code)
    for name, place in FLAGS.items():
        flag = state.flags[name]
        if flag is None:
            assert any(name in undefined(instruction) for instruction in code), f"{text}: {name} is defined"
        elif flag() != now.flags >> place & 1:
            found.append(f"{name}: {flag()} by our semantics")
    changed = {name for name, value in (state.registers | state.vectors).items() if value != before[name]}
    assert changed <= frozenset[str]().union(*(instruction.writes for instruction in code)), text
    return found


def undefined(instruction: Decoded) -> frozenset[str]:
    """Return the flags that it may leave undefined.

    iced-x86 takes the carry of shl and shr by the width or more for defined, and ZF after a bit test, as Intel's manual
    does from 2024 on, but AMD's does not.
    """
    more = {"cf"} if instruction.mnemonic in ("shl", "sal", "shr") else set()
    return (
        instruction.flags_undefined | more | ({"zf"} if instruction.mnemonic in ("bt", "bts", "btr", "btc") else set())
    )


def _hexadecimal(lanes: Sequence[int]) -> str:
    return " ".join(f"{lane:#x}" for lane in lanes)


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param(SHORT, id="short"),
        pytest.param(LONG, id="long", marks=pytest.mark.slow),
        *(
            pytest.param(seeds, id=f"from {seeds.start}", marks=(pytest.mark.slow, pytest.mark.long))
            for seeds in LONGEST
        ),
    ],
)
@pytest.mark.parametrize("name", by_mnemonic())
def test_semantics_do_what_machines_do(name: str, rounds: range) -> None:
    """A form runs on each machine that has it; one that neither has is not run."""
    not_run: dict[str, list[str]] = {}
    wrong: list[str] = []
    for form in by_mnemonic()[name]:
        excuses = {on: party(on).machine.excuse(assembled()[form]) for on in MACHINES}
        if all(excuses.values()):
            not_run.setdefault("; ".join(excuses.values()), []).append(form)
        for on in (on for on, excuse in excuses.items() if not excuse):
            wrong += [f"{party(on).machine.name}: {one}" for one in party(on).differences(form, rounds)]
    assert not wrong, "\n".join(wrong)
    if not_run:
        pytest.skip("not run: " + "; ".join(f"{'; '.join(forms)}: {excuse}" for excuse, forms in not_run.items()))


@pytest.mark.usefixtures("bochs")
def test_every_form_is_tried_somewhere() -> None:
    """What neither has is not: a form that Bochs gets wrong, on a CPU that lacks it."""
    untried = [
        form
        for form, instruction in assembled().items()
        if all(party(on).machine.excuse(instruction) for on in MACHINES)
    ]
    faults = [fault_of(assembled()[form]) for form in untried]
    assert all(fault is not None and fault.correct is None for fault in faults)


@pytest.mark.usefixtures("bochs")
@pytest.mark.parametrize("fault", few(FAULTS, 1), ids=[fault.description for fault in FAULTS])
def test_bochs_still_has_its_faults(fault: Fault) -> None:
    """When this fails Bochs has mended one: then it is known no more, and neither corrected."""
    uncorrected = Party(Bochs(corrected=False))
    concerned = [form for form, instruction in assembled().items() if fault_of(instruction) is fault]
    assert {assembled()[form].mnemonic for form in concerned} == fault.mnemonics - INVERSE
    for name in fault.mnemonics - INVERSE:
        mine = [form for form in concerned if assembled()[form].mnemonic == name]
        assert any(uncorrected.differences(form, range(2, 4)) for form in mine), f"{name}: {fault.description}"


@pytest.mark.slow
@pytest.mark.usefixtures("bochs")
def test_what_no_machine_has_is_listed_as_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cpu, "lacking", lambda self, features: features & {"bmi2"})
    test_semantics_do_what_machines_do("pext", SHORT)  # in Bochs
    monkeypatch.setattr(Bochs, "excuse", lambda self, instruction: "Bochs is wrong")
    with pytest.raises(pytest.skip.Exception) as told:
        test_semantics_do_what_machines_do("pext", SHORT)
    forms = "pext rax,rcx,rdx; pext eax,ecx,ebx; pext rax,rcx,[rsi]"
    assert str(told.value) == f"not run: {forms}: this CPU lacks bmi2; Bochs is wrong"


@pytest.mark.usefixtures("bochs")
def test_a_fault_of_an_instruction_is_told_and_ends_nothing_else() -> None:
    memory = party("bochs").machine.memory
    tried = [trial("add rax,rcx", seed, memory) for seed in range(3)]
    tried[1].raw = bytes.fromhex("0f0b")  # ud2
    after = party("bochs").machine.run(tried)
    assert [one.fault for one in after] == ["", "invalid opcode", ""]
    assert not differences(party("bochs").machine, [assembled()["add rax,rcx"]], tried[2], after[2])


PREFIXES = (b"", b"\x26", b"\x2e", b"\x36", b"\x3e")  # the gate lets these through everywhere


@cache
def encoded(memory: int, seed: int) -> dict[str, Decoded]:
    """Every encoding that is followed as instructions, by their text and its name; with each seed other prefixes."""
    found = {}
    for number, (name, raw) in enumerate(every(memory)):
        try:
            (instruction,) = decode(PREFIXES[(number + seed) % len(PREFIXES)] + raw)
        except DecodeError:
            assert "k1z" in name, name  # memory that is written cannot be zeroed under a mask
            continue
        assert instruction.encoding == name, instruction.text()
        found[f"{instruction.text()} {name}"] = instruction
    assert {instruction.encoding for instruction in found.values()} == FOLLOWED - FLOW
    return found


def has_semantics(machine: Machine, code: Sequence[Decoded], tried: Trial) -> bool:
    try:
        stepped(code, begun(machine, tried)[0])
    except Unsupported:
        return False
    return True


# What is refused by name though it has an encoding that other instructions of its mnemonic are followed in: most have
# a width below 32 bits, or an index that reaches beyond the operand.
REFUSED = re.compile(
    r"bs[fr]_r16_rm16|bswap_r16|i?mul_rm(8|16)|pop_rm64|sh[lr]d_rm16_r16_(imm8|cl)|bt[crs]?_rm\d+_r\d+|evex_vmovsd_.*"
)


@pytest.mark.parametrize(
    ("on", "step", "seeds"),
    [
        *(pytest.param(on, 8, range(1), id=f"{on}-short") for on in MACHINES),
        pytest.param("cpu", 1, range(5), id="cpu-long", marks=pytest.mark.slow),
        pytest.param("bochs", 1, range(5), id="bochs-long", marks=(pytest.mark.slow, pytest.mark.long)),
    ],
)
def test_every_encoding_does_what_machines_do(on: str, step: int, seeds: range) -> None:
    """Each in registers, in memory, with and without masks; what the CPU lacks is left to Bochs."""
    if on == "bochs":
        require_tool("bochs")
    machine = party(on).machine
    tried = [
        ((name, instruction), trial(name, seed, machine.memory, instruction.raw))
        for seed in seeds
        for name, instruction in [*encoded(machine.memory, seed).items()][:: step if on == "bochs" else 1]
        if not machine.excuse(instruction)
    ]
    known = [each for each in tried if has_semantics(machine, [each[0][1]], each[1])]
    refused = {instruction.encoding for (_, instruction), _ in tried} - {one.encoding for (_, one), _ in known}
    assert all(REFUSED.fullmatch(name) for name in refused), refused
    left = machine.run([one for _, one in known])
    wrong = [
        f"{name}: {one}"
        for ((name, instruction), given), after in zip(known, left, strict=True)
        for one in differences(machine, [instruction], given, after)
    ]
    assert not wrong, "\n".join(wrong)


@cache
def assembled_programs() -> dict[str, tuple[Decoded, ...]]:
    """Each program with its instructions; places in it count from its own start."""
    return {source: decode(assemble(source)) for source in programs()}


@pytest.mark.parametrize("on", MACHINES)
def test_branches_and_idle_prefixes_do_what_machines_do(on: str) -> None:
    if on == "bochs":
        require_tool("bochs")
    machine = party(on).machine
    rounds = [(source, code, seed) for source, code in assembled_programs().items() for seed in range(4)]
    tried = [trial(source, seed, machine.memory, b"".join(one.raw for one in code)) for source, code, seed in rounds]
    wrong = [
        f"{source}: {one}"
        for (source, code, _), given, after in zip(rounds, tried, machine.run(tried), strict=True)
        for one in differences(machine, code, given, after)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_place_to_go_is_tried() -> None:
    assert {one.encoding for code in assembled_programs().values() for one in code} >= FLOW


def test_every_entry_is_tried() -> None:
    """Branches and stack frames have tests of their own; the rest changes nothing."""
    branches = {"j" + condition for condition in CONDITIONS} | {"jmp", "call", "ret"}
    silent = {"pause", "endbr32", "prefetcht0", "prefetcht1", "prefetcht2", "prefetchnta", "sal"}
    tried = {instruction.mnemonic for instruction in assembled().values()}
    assert set(TABLE) - tried == branches | silent
