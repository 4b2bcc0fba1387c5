"""Random descriptions of everything that a description can write, each written by the number that it begins with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Any

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.solver import Solver
from setwise.analysis.semantics.words import Word
from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.board import ALL, DIR8, Direction
from setwise.codegen.ir.control import at_least, below, nonzero, repeat, switch, table, when, while_
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.operations import SIGN
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.routine import Contract, Parameter, Routine, Written
from setwise.codegen.ir.values import CompassRay, Condition, Ray, Value, constant, make
from setwise.codegen.passes.state import State
from setwise.codegen.passes.trace import trace_pass
from setwise.codegen.targets import ALL_SETS, PACKED

SECONDS = 2.0
"""How long one question may take; sums and products are hard on a solver."""
KINDS = ("scalar", "boards", "packed")
NUMBERS = (0, 1, 3, 0xFF, 0x7E7E_7E7E_7E7E_7E7E, 0xFEFE_FEFE_FEFE_FEFE, 1 << 31, (1 << 31) - 1, 1 << 63, ALL, ALL ^ 6)


@dataclass(frozen=True)
class RandomDescription:
    """A random description: `seed` and `kind` decide all of it.

    scalar   a board a value, with everything that general registers have
    boards   a board a lane
    packed   a direction a lane, between boards in general registers
    """

    seed: int
    kind: str

    @cached_property
    def routine(self) -> Routine:
        """A routine with this one description; its specification is the evaluator."""
        random = Random(f"contract {self.seed}")
        boards = random.choice((1, 2, 2, 3, 4) if self.kind == "boards" else (1, 2, 2, 2, 3, 3, 4, 6))
        parameters = [Parameter(f"p{i}", "board") for i in range(boards)]
        if self.kind == "scalar" and random.random() < 0.3:
            parameters.append(Parameter("toward", "dir8", 8))
        elif self.kind == "scalar" and random.random() < 0.2:
            parameters[-1] = Parameter("square", "square", 64)
        results = random.choice((2, 3)) if self.kind != "boards" and random.random() < 0.25 else 1
        if results > 1:
            parameters.append(Parameter("results", "results"))

        def describe(layout: Layout, *values: Value) -> tuple[Value, ...]:
            pool = list(values[:boards])
            toward = values[boards] if parameters[-1 - (results > 1)].kind == "dir8" else None
            return Writer(Random(self.seed), layout, toward, self.kind).written(pool, results)

        name = f"{self.kind} {self.seed}"
        names = tuple(f"r{i}" for i in range(results))
        contract = Contract(tuple(parameters), Written(name, self.specification), "", names)
        isas = ALL_SETS if self.kind == "boards" else PACKED
        return Routine("random", name, "", contract, (describe,), "", "", isas, batched=self.kind == "boards")

    @cached_property
    def graph(self) -> Graph:
        """What it says of one board a value, and of one direction a ray."""
        return trace_pass(State(self.routine, Layout(), self.routine.descriptions[0])).graph

    def specification(self, *words: Any) -> tuple[Any, ...]:
        """The results as the evaluator has them."""
        addresses = (None,) * (len(self.graph.parameters) - len(words))
        return tuple(word for (word,) in evaluate(self.graph, (*words, *addresses), possible))


@lru_cache(2)
def _solver(domain: Addresses) -> Solver:
    return Solver(domain)


def possible(word: Word) -> bool:
    """Whether a bit-vector of 64 bits may be 1, the unknowns being anything."""
    domain = word.domain
    assert isinstance(domain, Addresses)
    solver = _solver(domain)
    solver.limit(SECONDS)
    return solver.possible([domain.extract(word.value, 0, 1, 64)])


def described(seed: int) -> tuple[RandomDescription, str, str]:
    """The description of that number, an instruction set and a convention; kinds, sets and conventions take turns."""
    description = RandomDescription(seed, KINDS[seed % len(KINDS)])
    isas = description.routine.isas
    return description, isas[seed // len(KINDS) % len(isas)], ("sysv", "win64")[seed // 36 % 2]


class Writer:
    """Writes statements over a pool of values; later ones are taken more often."""

    def __init__(self, random: Random, layout: Layout, dir8: Value | None, kind: str) -> None:
        self.random, self.layout, self.dir8, self.kind = random, layout, dir8, kind
        self.lanes = layout.lanes if layout.batched else 1
        self.regions = 0

    def written(self, pool: list[Value], results: int) -> tuple[Value, ...]:
        """The results of a whole description."""
        self.statements(pool, self.random.choice((2, 4, 6, 10, 16, 24)))
        if self.random.random() < 0.3:
            # Much pressure: all that there is goes into the last result, in another order.
            last = pool[-1]
            for value in pool[::2] + pool[1:-1:2]:
                last = last.rotate(7) ^ value
            pool.append(last)
        return tuple(pool[-1 - at] for at in range(results)) if len(pool) >= results else (pool[-1],) * results

    def statements(self, pool: list[Value], number: int) -> None:
        """So many statements more."""
        for _ in range(number):
            names, weights = zip(*self.choices(), strict=True)
            made = getattr(self, self.random.choices(names, weights)[0])(pool)
            if made.lanes == self.lanes:
                pool.append(made)

    def choices(self) -> list[tuple[str, int]]:
        common = [("joined", 10), ("moved", 5), ("stepped", 6), ("cycle", 4), ("leapt", 2), ("alone", 2), ("mask", 2)]
        common += [("inverted", 2), ("copied", 1), ("number", 1), ("looked_up", 1)]
        if self.regions < 3:
            common += [("repeated", 1), ("rounds", 1), ("branch", 1), ("switched", 1)]
        if self.kind != "boards":
            common += [("shifted", 2), ("product", 1)]
        else:
            common += [("bytewise", 1)]
        if self.dir8 is not None:
            common += [("toward", 4)]
        if self.kind == "packed":
            common += [("spread", 4)]
        return common

    def pick(self, pool: Sequence[Value]) -> Value:
        """A value of the pool, sooner a late one."""
        return pool[max(self.random.randrange(len(pool)), self.random.randrange(len(pool)))]

    def constant(self) -> Value:
        """A number."""
        number = self.random.choice((*NUMBERS, self.random.getrandbits(64)))
        return constant(number, self.lanes)

    def direction(self) -> Direction:
        return self.random.choice(DIR8)

    # -- statements

    def joined(self, pool: list[Value]) -> Value:
        left = self.pick(pool)
        right = self.constant() if self.random.random() < 0.2 else self.pick(pool)
        op = self.random.choice("&&&|||^^+-")
        if self.random.random() < 0.3:
            match op:
                case "&":
                    left &= right
                case "|":
                    left |= right
                case "^":
                    left ^= right
                case "+":
                    left += right
                case _:
                    left -= right
            return left
        match op:
            case "&":
                return left & right
            case "|":
                return left | right
            case "^":
                return left ^ right
            case "+":
                return left + right
            case _:
                return left - right

    def inverted(self, pool: list[Value]) -> Value:
        return ~self.pick(pool)

    def copied(self, pool: list[Value]) -> Value:
        return self.pick(pool).copy()

    def number(self, pool: list[Value]) -> Value:
        return self.constant()

    def mask(self, pool: list[Value]) -> Value:
        return self.pick(pool) & self.constant()

    def moved(self, pool: list[Value]) -> Value:
        value, n = self.pick(pool), self.random.randrange(64)
        match self.random.randrange(5 if self.kind != "boards" else 4):
            case 0 | 1:
                return value << n
            case 2 | 3:
                return value >> n
            case _:
                return value.rotate(self.random.randrange(-64, 128))

    def shifted(self, pool: list[Value]) -> Value:
        value, count = self.pick(pool), self.pick(pool)
        match self.random.randrange(3):
            case 0:
                return value << count
            case 1:
                return value >> count
            case _:
                return value.rotate(count)

    def product(self, pool: list[Value]) -> Value:
        return self.pick(pool) * self.random.choice((3, 0x0101_0101, 0x0101_0101_0101_0101, 1 << 31, ALL))

    def bytewise(self, pool: list[Value]) -> Value:
        if self.random.random() < 0.9:
            return self.joined(pool)  # bytes are for vectors alone: most descriptions are for all sets
        right = self.constant() if self.random.random() < 0.3 else self.pick(pool)
        return make(self.random.choice(("add-bytes", "sub-bytes")), self.pick(pool), right)

    def stepped(self, pool: list[Value]) -> Value:
        return CompassRay((self.direction(),)).step(self.pick(pool), self.random.randint(1, 7))

    def leapt(self, pool: list[Value]) -> Value:
        steps = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1), (3, 0), (0, -4), (7, 7)]
        files, ranks = self.random.choice(steps)
        along_files = [DIR8[1] if files > 0 else DIR8[5]] * abs(files)
        along_ranks = [DIR8[7] if ranks > 0 else DIR8[3]] * abs(ranks)
        return self.pick(pool).step(*along_files, *along_ranks)

    def cycle(self, pool: list[Value]) -> Value:
        return self.cycle_along(CompassRay((self.direction(),)), pool)

    def cycle_along(self, ray: Ray, pool: Sequence[Value]) -> Value:
        gen, pro, n = self.pick(pool), self.pick(pool), self.random.randint(1, 4)
        if self.random.random() < 0.5:
            pro = ray.path(pro)
        match self.random.randrange(5):
            case 0:
                return gen | pro & ray.step(gen)
            case 1:
                gen |= ray.run(pro, n) & ray.step(gen, n)
                return gen
            case 2:
                return ray.step(gen, n) & pro
            case 3 if isinstance(ray, CompassRay):
                # Both ways along the ray.
                there = ray.run(pro, n) & ray.step(gen, n)
                return there | ray.opposite.run(pro, n) & ray.opposite.step(gen, n)
            case _:
                pro = ray.path(pro, attacks=True)
                gen |= pro & ray.step(gen)
                gen |= ray.run(pro, 2) & ray.step(gen, 2)
                return ray.step(gen)

    def alone(self, pool: list[Value]) -> Value:
        return self.alone_along(CompassRay((self.direction(),)), pool)

    def alone_along(self, ray: Ray, pool: Sequence[Value]) -> Value:
        value = self.pick(pool)
        if self.random.random() < 0.4:
            return ray.path(value)
        return ray.run(value, self.random.randint(1, 6))

    def toward(self, pool: list[Value]) -> Value:
        assert self.dir8 is not None
        number = self.random.choice((self.dir8, self.dir8, self.dir8 ^ 4, self.pick(pool) & 7, self.pick(pool) >> 61))
        ray = RuntimeRay.of(number)
        match self.random.randrange(4):
            case 0:
                return ray.step(self.pick(pool), self.random.randint(1, 4))
            case 1:
                return self.alone_along(ray, pool)
            case _:
                return self.cycle_along(ray, pool)

    def looked_up(self, pool: Sequence[Value]) -> Value:
        size, bits = self.random.choice((1, 4, 8)), self.random.randint(1, 6)
        entries = [self.random.getrandbits(8 * size) for _ in range(1 << bits)]
        index = self.pick(pool)
        return table(entries, index >> 64 - bits if self.random.random() < 0.5 else index & (1 << bits) - 1, size)

    # -- control

    def carried(self, pool: list[Value]) -> list[Value]:
        """One to three values, constants among them."""
        number = self.random.randint(1, 3)
        return [self.constant() if self.random.random() < 0.15 else self.pick(pool) for _ in range(number)]

    def body(self, pool: list[Value]) -> Callable[..., tuple[Value, ...]]:
        seed, number = self.random.getrandbits(32), self.random.randint(1, 5)
        outside = list(pool)

        def following(*values: Value) -> tuple[Value, ...]:
            inner = Writer(Random(seed), self.layout, self.dir8, self.kind)
            inner.regions = self.regions
            mine = [*outside, *values]
            inner.statements(mine, number)
            return tuple(inner.random.choice((mine[-1 - at % len(mine)], value)) for at, value in enumerate(values))

        return following

    def _one_of(self, carried: Sequence[Value]) -> Value:
        return self.random.choice(carried)

    def repeated(self, pool: list[Value]) -> Value:
        self.regions += 1
        count = self.random.choice((0, 1, 2, 3, 5))
        return self._one_of(repeat(count, self.body(pool), *self.carried(pool)))

    def condition(self, value: Value) -> Condition:
        bound = self.random.choice((1, 7, 200, (1 << 31) - 1, SIGN))
        asked = value if self.random.random() < 0.3 else value & 0xFF
        return self.random.choice((nonzero(value), nonzero(asked), below(asked, bound), at_least(asked, bound)))

    def asked(self, pool: list[Value]) -> Value:
        """A value that decides."""
        return self.looked_up(pool) if self.random.random() < 0.3 else self.pick(pool)

    def rounds(self, pool: list[Value]) -> Value:
        self.regions += 1
        body = self.body(pool)
        left = self.asked(pool) & 7

        def following(left: Value, *values: Value) -> tuple[Value, ...]:
            return (left >> 1, *body(*values))

        return self._one_of(while_(lambda left, *_: nonzero(left), following, left, *self.carried(pool))[1:])

    def branch(self, pool: list[Value]) -> Value:
        self.regions += 1
        return self._one_of(when(self.condition(self.asked(pool)), self.body(pool), *self.carried(pool)))

    def switched(self, pool: list[Value]) -> Value:
        self.regions += 1
        bodies = [self.body(pool) for _ in range(self.random.choice((2, 4)))]
        index = self.asked(pool) & len(bodies) - 1
        return self._one_of(switch(index, bodies, *self.carried(pool), falls=self.random.random() < 0.5))

    # -- lanes that are directions

    def spread(self, pool: list[Value]) -> Value:
        directions = self.random.sample(DIR8, self.random.choice((2, 4, 8, 8)))
        seed, drawn = self.random.getrandbits(32), (self.random.random(), self.random.random())

        def along(ray: CompassRay) -> Value:
            """The same statements for each ray, however many directions it has."""
            writer = Writer(Random(seed), self.layout, self.dir8, self.kind)
            pro = self.layout.board(ray, writer.pick(pool))
            rooks, bishops = (writer.constant() if n < 0.1 else writer.pick(pool) for n in drawn)
            mine = [self.layout.sliders(ray, rooks, bishops), pro]
            for _ in range(writer.random.randint(1, 3)):
                made = writer.cycle_along(ray, mine) if writer.random.random() < 0.7 else writer.alone_along(ray, mine)
                mine.append(made if writer.random.random() < 0.5 else made | mine[-1])
            return mine[-1]

        return self.layout.union([along(ray) for ray in self.layout.rays(directions)])
