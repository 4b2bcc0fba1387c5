"""Both domains do the same: on each operation, and on each instruction."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.analysis.code.decode import Decoded, decode, signed
from setwise.analysis.semantics.domains import Bits, BitVectors, Domain, Integers, identical
from setwise.analysis.semantics.state import AddressSpace, Flag, MachineState
from setwise.analysis.semantics.table import execute
from tests.analysis.listings import assemble
from tests.analysis.semantics.forms import forms
from tests.conftest import few, require_module

FLAGS = ("cf", "of", "sf", "zf", "pf", "af")
WIDTHS = (1, 5, 8, 64, 65)


class Solver:
    """Terms whose variables have given values: what is a term of them worth?"""

    def __init__(self) -> None:
        require_module("bitwuzla")
        self.domain = BitVectors()
        options = self.domain.bitwuzla.Options()
        options.set(self.domain.bitwuzla.Option.PRODUCE_MODELS, True)
        self._solver = self.domain.bitwuzla.Bitwuzla(self.domain.terms, options)
        self._count = 0

    def variable(self, value: int, width: int) -> Any:
        """An unknown that has this value."""
        self._count += 1
        variable = self.domain.variable(f"v{self._count}", width)
        self._solver.assert_formula(self.domain.is_true(self.domain.eq(variable, value, width)))
        return variable

    def check(self) -> None:
        assert self._solver.check_sat() == self.domain.bitwuzla.Result.SAT

    def value(self, term: Bits) -> int:
        """After `check`."""
        return term if isinstance(term, int) else int(self._solver.get_value(term).value(10))


@pytest.mark.parametrize("width", WIDTHS)
@given(st.data())
def test_operations(width: int, data: st.DataObject) -> None:
    numbers = st.one_of(st.integers(0, (1 << width) - 1), st.just(0), st.just((1 << width) - 1))
    a, b, count = data.draw(numbers), data.draw(numbers), data.draw(st.integers(0, min(2 * width, (1 << width) - 1)))
    low = data.draw(st.integers(0, width - 1))
    size, known = data.draw(st.integers(1, width - low)), data.draw(st.integers(0, 2))

    def results(d: Domain, x: Bits, y: Bits, n: Bits, c: Bits) -> list[Bits]:
        both = (d.and_, d.or_, d.xor, d.add, d.sub, d.mul, d.eq, d.ult)
        found = [operation(p, q, width) for operation in both for p, q in ((x, y), (y, x), (x, x))]
        found += [shift(x, n, width) for shift in (d.shl, d.shr, d.sar)]
        found += [d.not_(x, width), d.extract(x, low, size, width), d.concat(x, y, width, width)]
        return [*found, d.ite(c, x, y, width), d.ite(1, x, y, width), d.ite(0, x, y, width), d.ite(c, x, x, width)]

    expected = results(Integers(), a, b, count, a & 1)
    solver = Solver()
    # One of the three is known, so that what is known and what is not meet.
    words = [n if place == known else solver.variable(n, width) for place, n in enumerate((a, b, count))]
    found = results(solver.domain, words[0], words[1], words[2], solver.variable(a & 1, 1))
    solver.check()
    assert [solver.value(term) for term in found] == expected
    assert all(isinstance(term, int) for term in results(solver.domain, a, b, count, a & 1))


def test_integers_against_plain_formulas() -> None:
    d, chance = Integers(), random.Random(1)
    for _ in range(500):
        a, b = chance.getrandbits(64), chance.getrandbits(64)
        count = chance.randrange(70)
        assert d.add(a, b, 64) == (a + b) % 2**64
        assert d.sub(a, b, 64) == (a - b) % 2**64
        assert d.shl(a, count, 64) == a * 2**count % 2**64
        assert d.shr(a, count, 64) == a // 2**count
        assert signed(d.sar(a, count, 64), 64) == signed(a, 64) // 2**count
        assert d.concat(d.extract(a, 24, 40, 64), d.extract(a, 0, 24, 64), 40, 24) == a


class Memory(AddressSpace):
    """Memory at known addresses that holds terms with given values, or integers."""

    def __init__(self, content: bytes, solver: Solver | None) -> None:
        self.content, self.solver = content, solver
        self.stored: dict[tuple[int, int], Bits] = {}

    def load(self, address: int, bits: int, wanted: Bits = 1) -> Bits:
        value = int.from_bytes(self.content[address : address + bits // 8], "little")
        return self.solver.variable(value, bits) if self.solver else value

    def store(self, address: int, bits: int, value: Bits, wanted: Bits = 1) -> None:
        if self.solver:
            value = self.solver.domain.ite(wanted, value, self.load(address, bits), bits)
        self.stored[address, bits] = value


def states(seed: str) -> tuple[MachineState, MachineState, Solver]:
    """The same state over integers, and over terms."""
    chance, solver = random.Random(seed), Solver()
    content = chance.randbytes(8192)
    integers = MachineState(Integers(), Memory(content, None))
    terms = MachineState(solver.domain, Memory(content, solver))

    def words() -> Iterator[int]:
        while True:
            yield chance.choice((chance.getrandbits(64), chance.getrandbits(64) & chance.getrandbits(64), 0, 2**64 - 1))

    source = words()
    for name in ("rax", "rcx", "rdx", "r9", "k0", "k1", "k2", "k3", "k7"):
        integers.registers[name] = next(source)
        terms.registers[name] = solver.variable(integers.registers[name], 64)
    for name, address in (("rsi", 0), ("rbx", 8), ("rsp", 6144), ("rbp", 5120), ("rdi", 128)):
        integers.registers[name] = terms.registers[name] = address
    for number in (0, 1, 2, 3, 4, 9, 17, 18):
        small = [chance.randrange(70) for _ in range(8)]
        lanes = tuple(small) if number == 9 else tuple(next(source) for _ in range(8))
        integers.vectors[f"zmm{number}"] = lanes
        terms.vectors[f"zmm{number}"] = tuple(solver.variable(lane, 64) for lane in lanes)
    for name in FLAGS:
        value = chance.getrandbits(1)
        variable = solver.variable(value, 1)
        integers.flags[name], terms.flags[name] = constant(value), constant(variable)
    return integers, terms, solver


def constant(value: Bits) -> Flag:
    return lambda: value


def outcome(state: MachineState, flags: frozenset[str]) -> dict[str, Bits]:
    """All that the state holds, by place."""
    found = dict(state.registers)
    found |= {f"{name}.{place}": lane for name, lanes in state.vectors.items() for place, lane in enumerate(lanes)}
    return found | {name: flag() for name, flag in state.flags.items() if flag is not None and name in flags}


@pytest.mark.parametrize("part", few(range(8), 2))
def test_instructions_on_terms(part: int) -> None:
    sources = [form for form in forms() if (not form.startswith("v{") and "{k1}" not in form) or "{z}" in form]
    for instruction in decode(assemble("\n".join(sources)))[part::8]:
        integers, terms, solver = states(instruction.raw.hex())
        compare(instruction, integers, terms, solver)


def compare(instruction: Decoded, integers: MachineState, terms: MachineState, solver: Solver) -> None:
    execute(instruction, integers)
    execute(instruction, terms)
    both = frozenset(name for name, flag in integers.flags.items() if flag is not None)
    expected, found = outcome(integers, flags=both), outcome(terms, flags=both)
    assert isinstance(integers.memory, Memory)
    assert isinstance(terms.memory, Memory)
    for (address, bits), value in terms.memory.stored.items():
        # Where a mask leaves an element out, terms store what was there.
        there = integers.memory.stored.get((address, bits), integers.memory.load(address, bits))
        expected[f"[{address}]"], found[f"[{address}]"] = there, value
    assert integers.memory.stored.keys() <= terms.memory.stored.keys()
    solver.check()
    assert found.keys() == expected.keys(), instruction.text()
    wrong = [place for place in expected if solver.value(found[place]) != expected[place]]
    assert not wrong, instruction.text()
    widths = {place: 1 if place in FLAGS else 64 for place in found if place[0] != "["}
    widths |= {f"[{address}]": bits for address, bits in terms.memory.stored}
    for place, term in found.items():
        assert isinstance(term, int) or term.sort().bv_size() == widths[place], f"{instruction.text()}: {place}"


def test_bits_of_concatenations() -> None:
    """They are those of the halves. A known half gives constants, so that a known index of a table remains known."""
    solver, number = Solver(), 0xA5C3_0F96_7
    high, low = solver.variable(number >> 16, 20), solver.variable(number & 0xFFFF, 16)
    domain = solver.domain
    nested = domain.concat(domain.concat(high, 0x96, 20, 8), low, 28, 16)
    expected = (number >> 16) << 24 | 0x96 << 16 | number & 0xFFFF
    parts = {
        (start, size): domain.extract(nested, start, size, 44) for start in range(44) for size in range(1, 45 - start)
    }
    solver.check()
    assert {part: solver.value(bits) for part, bits in parts.items()} == {
        (start, size): expected >> start & (1 << size) - 1 for start, size in parts
    }
    assert parts[16, 8] == 0x96
    assert identical(parts[0, 16], low)
