"""Each entry of the table of semantics broken in turn: co-simulation has to see it, or has nothing to judge with.

A break changes what an entry leaves: a flag, a register's upper half, memory, what a shift counts, which source is
which. It is alive where every form of that entry, in every round, still gives what the machine gives.
"""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

from setwise.analysis.code.decode import Decoded, Imm, Reg
from setwise.analysis.semantics import table
from setwise.analysis.semantics.state import Execution, Goto, Meaning
from setwise.analysis.semantics.table import TABLE, execute
from tests.analysis.semantics.machines import FLAGS, After, Trial
from tests.analysis.semantics.test_machines import (
    assembled,
    begun,
    differences,
    encoded,
    has_semantics,
    party,
    trial,
)
from tests.conftest import require_tool

ROUNDS = range(2)
Break = Callable[[Meaning, Execution], Goto | None]


def inverted(flag: str, meaning: Meaning, x: Execution) -> Goto | None:
    """The flag that it gives is the other."""
    before, goto = x.state.flags.get(flag), meaning(x)
    given = x.state.flags.get(flag)
    if given is not None and given is not before:
        x.set_flags({flag: lambda: 1 - int(given())})
    return goto


def kept(flag: str, meaning: Meaning, x: Execution) -> Goto | None:
    """The flag is left as it was, if it is not undefined."""
    before, goto = x.state.flags.get(flag), meaning(x)
    if x.state.flags.get(flag) is not None:
        x.set_flags({flag: before})
    return goto


def upper_half_kept(meaning: Meaning, x: Execution) -> Goto | None:
    """A register that is written has its upper 32 bits from before."""
    before = dict(x.state.registers)
    goto = meaning(x)
    for name, value in x.state.registers.items():
        x.state.registers[name] = int(before[name]) & ~0xFFFF_FFFF | int(value) & 0xFFFF_FFFF
    return goto


def upper_half_cleared(meaning: Meaning, x: Execution) -> Goto | None:
    """A register that is written loses its upper 32 bits."""
    before = dict(x.state.registers)
    goto = meaning(x)
    for name, value in x.state.registers.items():
        if value != before[name]:
            x.state.registers[name] = int(value) & 0xFFFF_FFFF
    return goto


def lanes_above_changed(meaning: Meaning, x: Execution) -> Goto | None:
    """Of a vector register that is written the lanes above are kept where they are cleared, and the other way."""
    before = dict(x.state.vectors)
    goto = meaning(x)
    for name, lanes in x.state.vectors.items():
        if lanes != before[name]:
            above = (0,) * 6 if lanes[2:] == before[name][2:] else before[name][2:]
            x.state.vectors[name] = (*lanes[:2], *above)
    return goto


def lowest_bit_changed(meaning: Meaning, x: Execution) -> Goto | None:
    """The lowest bit of what it writes to a register is the other."""
    registers, vectors = dict(x.state.registers), dict(x.state.vectors)
    goto = meaning(x)
    for name, value in x.state.registers.items():
        if value != registers[name]:
            x.state.registers[name] = int(value) ^ 1
    for name, lanes in x.state.vectors.items():
        if lanes != vectors[name]:
            x.state.vectors[name] = (int(lanes[0]) ^ 1, *lanes[1:])
    return goto


def nothing(meaning: Meaning, x: Execution) -> Goto | None:
    """It does nothing."""
    return None


def sources_exchanged(meaning: Meaning, x: Execution) -> Goto | None:
    """The last two operands that are registers of one kind are exchanged."""
    operands = list(x.instruction.operands)
    registers = [place for place, one in enumerate(operands) if isinstance(one, Reg)]
    pairs = [
        (one, other)
        for one, other in pairwise(registers)
        if (x.file(one), x.width(one)) == (x.file(other), x.width(other))
    ]
    if not pairs:
        return meaning(x)
    one, other = pairs[-1]
    operands[one], operands[other] = operands[other], operands[one]
    return meaning(Execution(replace(x.instruction, operands=tuple(operands)), x.state))


def number_masked(bits: int, meaning: Meaning, x: Execution) -> Goto | None:
    """A number that is its last operand has so many bits."""
    last = x.instruction.operands[-1] if x.instruction.operands else None
    if not isinstance(last, Imm):
        return meaning(x)
    operands = (*x.instruction.operands[:-1], Imm(last.value & ((1 << bits) - 1)))
    return meaning(Execution(replace(x.instruction, operands=operands), x.state))


def mask_ignored(meaning: Meaning, x: Execution) -> Goto | None:
    """All elements are written, whatever the mask says."""
    return meaning(Execution(replace(x.instruction, mask=None, zeroing=False), x.state))


def merged(meaning: Meaning, x: Execution) -> Goto | None:
    """A mask that zeroes merges."""
    return meaning(Execution(replace(x.instruction, zeroing=False), x.state))


BREAKS: Mapping[str, Break] = {
    **{f"{flag} inverted": partial(inverted, flag) for flag in FLAGS},
    **{f"{flag} kept": partial(kept, flag) for flag in FLAGS},
    **{f"number of {bits} bits": partial(number_masked, bits) for bits in (2, 3, 4, 5, 6)},
    "upper half kept": upper_half_kept,
    "upper half cleared": upper_half_cleared,
    "lanes above changed": lanes_above_changed,
    "lowest bit changed": lowest_bit_changed,
    "nothing": nothing,
    "sources exchanged": sources_exchanged,
    "mask ignored": mask_ignored,
    "zeroing merges": merged,
}


def outcomes(on: str, names: Container[str]) -> dict[str, list[tuple[Decoded, Trial, After]]]:
    """What forms and encodings of these names leave on a machine; what is refused or lacking left out."""
    machine = party(on).machine
    tried = [
        (instruction, trial(name, seed, machine.memory, instruction.raw))
        for seed in ROUNDS
        for name, instruction in {**assembled(), **encoded(machine.memory, 0)}.items()
        if instruction.mnemonic in names and not machine.excuse(instruction)
    ]
    tried = [(one, given) for one, given in tried if has_semantics(machine, [one], given)]
    found: dict[str, list[tuple[Decoded, Trial, After]]] = {}
    for (one, given), after in zip(tried, machine.run([given for _, given in tried]), strict=True):
        found.setdefault(one.mnemonic, []).append((one, given, after))
    return found


def left(on: str, instruction: Decoded, given: Trial) -> tuple[object, ...]:
    """What our semantics leave, flags as numbers; of a break that falls over, nothing."""
    state, region = begun(party(on).machine, given)
    try:
        goto = execute(instruction, state)
        flags = {name: None if flag is None else flag() for name, flag in state.flags.items()}
    except (ValueError, IndexError):
        return ()
    return state.registers, state.vectors, flags, bytes(region.content), goto


def is_seen(on: str, instruction: Decoded, given: Trial, after: After) -> bool:
    try:
        return bool(differences(party(on).machine, [instruction], given, after))
    except (ValueError, AssertionError, IndexError):
        return True


def survivors(on: str, names: Container[str]) -> set[tuple[str, str]]:
    """Entries and the breaks of them that change what they leave on this machine's trials, which none shows."""
    alive = set()
    for name, trials in outcomes(on, names).items():
        right = [left(on, one, given) for one, given, _ in trials]
        has_number = any(isinstance(operand, Imm) for one, _, _ in trials for operand in one.operands)
        for what, broken in BREAKS.items():
            changes = has_number and what.startswith("number")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(table, "TABLE", {**TABLE, name: partial(broken, TABLE[name])})
                for (one, given, after), result in zip(trials, right, strict=True):
                    if left(on, one, given) != result:
                        changes = True
                        if is_seen(on, one, given, after):
                            break
                else:
                    if changes:
                        alive.add((name, what))
    return alive


# A number's higher bits say nothing to what chooses among few, and a count is one below 64, 32 or 16.
WITHOUT_A_DIFFERENCE = re.compile(
    r"(v?(pextr|pinsr|extract|insert|shufp|blendp|permilp)\w+|valign[dq]|vshuf[if]\w+) number of \d bits"
    r"|(sh[lr]d?|sal|sar|ro[lr]x?|bt[crs]?) number of 6 bits|vpro[lr]q number of 6 bits|vpro[lr]d number of [56] bits"
    r"|vpcmpu?[bwdq] number of [3456] bits|v?pclmulqdq number of [56] bits"
    r"|vpsh[lr]d(w number of [456]|d number of [56]|q number of 6) bits"
)


def check(on: str, names: Container[str]) -> None:
    alive = {f"{name} {what}" for name, what in survivors(on, names)}
    assert not {each for each in alive if not WITHOUT_A_DIFFERENCE.fullmatch(each)}


def test_some_broken_entries_are_seen() -> None:
    check("cpu", sorted(TABLE)[::40])


@pytest.mark.slow
def test_every_broken_entry_is_seen() -> None:
    check("cpu", TABLE)


@pytest.mark.slow
@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_broken_entries_are_seen_in_bochs(step: int) -> None:
    """Every eighth of those that need more than what most processors have, or each."""
    require_tool("bochs")
    common = {"x86-64", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "bmi1", "bmi2", "popcnt", "lzcnt"}
    rare = {one.mnemonic for one in encoded(party("bochs").machine.memory, 0).values() if not one.features <= common}
    check("bochs", sorted(rare)[::step])
