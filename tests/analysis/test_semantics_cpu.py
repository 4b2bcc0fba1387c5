"""Every entry of the table of semantics against this CPU."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest

from analysis.decode import Decoded, decode
from analysis.domains import Integers
from analysis.semantics import TABLE, execute
from analysis.state import Flag, State
from analysis.step import Region, Regions
from tests.analysis.cpu import FLAGS, GENERAL, Cpu, Registers, lacking
from tests.analysis.forms import CONDITIONS, forms
from tests.analysis.listings import assemble

SHORT, LONG = range(2), range(2, 20)  # seeds of the rounds in `make test`, and besides in `make check`


@cache
def assembled() -> dict[str, Decoded]:
    """Each form with its instruction, all assembled at once."""
    sources = forms()
    instructions = decode(assemble("\n".join(sources)))
    assert len(instructions) == len(sources)
    return dict(zip(sources, instructions, strict=True))


def words(chance: random.Random) -> Iterator[int]:
    """Words of all kinds: random, sparse, dense, small, all zeros and ones."""
    while True:
        one, two = chance.getrandbits(64), chance.getrandbits(64)
        small, both = chance.randrange(130), chance.choice((0, (1 << 64) - 1))
        yield chance.choice(
            (one, one & two, one | two, small, both, one >> small % 64, one & two & chance.getrandbits(64))
        )


def registers(chance: random.Random, cpu: Cpu) -> Registers:
    source = words(chance)
    general = [next(source) for _ in GENERAL]
    general[GENERAL.index("rsp")] = cpu.stack + 2048
    general[GENERAL.index("rsi")] = cpu.buffer
    general[GENERAL.index("rbx")] = chance.randrange(32)
    general[GENERAL.index("rbp")] = cpu.stack + 1024
    flags = sum(chance.getrandbits(1) << place for place in FLAGS.values())
    lanes = [next(source) for _ in range(8 * 10)] + [chance.getrandbits(64) for _ in range(8 * 22)]
    vectors = [tuple(lanes[start : start + 8]) for start in range(0, 256, 8)]
    # A register of small numbers, for counts and indices.
    vectors[9] = tuple(chance.choice((0, chance.randrange(70), 0x0003_0000_0011)) for _ in range(8))
    return Registers(general, [next(source) for _ in range(8)], flags, vectors)


def constant(value: int) -> Flag:
    return lambda: value


def compare(cpu: Cpu, form: str, instruction: Decoded, seed: int) -> None:
    chance = random.Random(f"{form} {seed}")
    given, source = registers(chance, cpu), words(chance)
    near = b"".join(next(source).to_bytes(8, "little") for _ in range(16))
    memory = near + chance.randbytes(cpu.size - len(near))
    after, memory_after = cpu.run(given, memory)
    region = Region("memory", cpu.buffer, bytearray(memory))
    state = State(Integers(), Regions([region]))
    state.registers = dict(zip(GENERAL, given.general, strict=True)) | {f"k{n}": k for n, k in enumerate(given.masks)}
    state.vectors = {f"zmm{number}": vector for number, vector in enumerate(given.vectors)}
    state.flags = {name: constant(given.flags >> place & 1) for name, place in FLAGS.items()}
    before = state.registers | state.vectors
    execute(instruction, state)
    assert {name: state.registers[name] for name in GENERAL} == dict(zip(GENERAL, after.general, strict=True)), form
    assert [state.registers[f"k{number}"] for number in range(8)] == after.masks, form
    assert [state.vectors[f"zmm{number}"] for number in range(32)] == after.vectors, form
    assert bytes(region.content) == memory_after, form
    for name, place in FLAGS.items():
        flag = state.flags[name]
        if flag is None:
            assert name in instruction.flags_undefined, f"{form}: {name}"
        else:
            assert flag() == after.flags >> place & 1, f"{form}: {name}"
    changed = {name for name, value in (state.registers | state.vectors).items() if value != before[name]}
    assert changed <= instruction.writes, form


@pytest.fixture(scope="module")
def cpu() -> Cpu:
    return Cpu()


def by_mnemonic() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for form in forms():
        groups.setdefault(form.split()[0], []).append(form)
    return groups


@pytest.mark.parametrize(
    "rounds", [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", by_mnemonic())
def test_semantics_do_what_the_cpu_does(name: str, rounds: range, cpu: Cpu) -> None:
    not_run: list[str] = []
    missing: set[str] = set()
    for form in by_mnemonic()[name]:
        instruction = assembled()[form]
        if lacks := lacking(instruction.features):
            not_run.append(form)
            missing |= lacks
            continue
        cpu.load(instruction.raw)
        for seed in rounds:
            compare(cpu, form, instruction, seed)
    if not_run:
        pytest.skip(f"not run: {'; '.join(not_run)}: this CPU lacks {', '.join(sorted(missing))}")


def test_what_the_cpu_lacks_is_listed_as_not_run(cpu: Cpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "lacking", lambda features: features & {"bmi2"})
    with pytest.raises(pytest.skip.Exception) as told:
        test_semantics_do_what_the_cpu_does("pext", SHORT, cpu)
    assert str(told.value) == "not run: pext rax,rcx,rdx; pext eax,ecx,ebx; pext rax,rcx,[rsi]: this CPU lacks bmi2"
    test_semantics_do_what_the_cpu_does("blsr", SHORT, cpu)


def test_every_entry_is_tried() -> None:
    """Branches and stack frames have tests of their own; the rest changes nothing."""
    branches = {"j" + condition for condition in CONDITIONS} | {"jmp", "call", "ret"}
    silent = {"pause", "endbr32", "prefetcht0", "prefetcht1", "prefetcht2", "prefetchnta", "sal"}
    tried = {instruction.mnemonic for instruction in assembled().values()}
    assert set(TABLE) - tried == branches | silent
