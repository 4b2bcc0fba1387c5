"""Short expressions over other values and constants that compute the needed bits of a value.

The needed bits are taken from a few samples: a bit is needed if a change of it alone makes a result wrong. So an
expression whose errors in several bits cancel is not found.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from time import thread_time
from typing import TypeVar

from setwise.analysis.search.forms import Address, Form, Spelling, with_carry
from setwise.analysis.search.packed_samples import ONES, PackedSamples, truth_table
from setwise.analysis.search.program import Argument, Known, Program, ProgramStep
from setwise.analysis.search.substitutes import Trials
from setwise.analysis.semantics.samples import PITCH
from setwise.codegen.ir.values import Value
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Row, Target

_EITHER = ("and", "or", "xor", "add")
_ORDERED = ("sub", "andn", "add-bytes", "sub-bytes")
_COUNTED = ("shl", "shr", "rotl")
_SIGNS = {"and": "&", "or": "|", "xor": "^", "add": "+", "sub": "-", "shl": "<<", "shr": ">>", "rotl": "rol"}

Expression = tuple[str, tuple[Argument, ...], int]
"""An operation, its arguments, and its shift count or truth table, or 0."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The bits that a value must have, and the mask of those that matter, each over all samples in one integer.

    `around` is the operation that takes the value: its name, the index of the value among its arguments, its other
    arguments, and its shift count. It is None if the value replaces the step's result itself, and MASKED for an
    intersection with a constant that is yet to be found.
    """

    bits: int
    caring: int
    around: tuple[str, int, tuple[Argument, ...], int] | None = None


MASKED = ("and", 0, (), 0)
Args = TypeVar("Args", bound=tuple[Argument, ...])


class OutOfTime(Exception):
    """The search's time is used up."""


class Expressions:
    """A search for instructions of a target, over the values `beside`, that can replace a step of a program.

    Its methods raise OutOfTime when time.thread_time() exceeds `until`. If the code contains moves, it includes
    replacements that save no step, since they may save a move. With a `window`, only the replaced step, and the nearest
    ones that it alone needs, are superfluous: that many. New ones read what these read, and shift by counts like
    theirs. Only in a window are there new constants (masks, factors, the places of bytes) and carries.
    """

    def __init__(
        self, trials: Trials, step: ProgramStep, beside: Sequence[Argument], until: float, window: int = 0
    ) -> None:
        self.trials, self.step, self.program, self.until = trials, step, trials.program, until
        self.lanes = step.form.lanes
        self.domain = PackedSamples(trials.few, self.lanes)
        self.target: Target = trials.target
        self.values = [arg for arg in beside if self._alike(arg)]
        self.bits = {arg: self._joined(arg) for arg in self.values}
        self.wanted = Wanted(self._joined(step.number), self.domain.every(trials.caring(step.number, self.domain)))
        samples = range(0, PITCH * self.domain.number, PITCH)
        self.telling = max(samples, key=lambda start: (self.wanted.caring >> start & ONES).bit_count())
        """The position of the lowest bit of the sample in which the most bits matter."""
        self.needs = _needs(self.program)
        self.zero = Known((0,) * (8 if step.form.file == "vector" else 1))
        alive = self.program.with_instead(step.number, self.zero)
        self.alive = sum(1 << other.number for other in alive.steps)
        self.most = len(self.program.steps) - (not trials.moves)  # the maximum number of steps, new ones included
        self.free = 1 + max(self.program.files) + len(self.program.steps)
        self.counts: Sequence[int] = range(1, 64)
        self.window = window
        if window:
            steps = self._nearest(window)
            self.alive = sum(1 << other.number for other in self.program.steps if other not in steps)
            read = {self.zero, *(arg for other in steps for arg in other.args)}
            self.values = [arg for arg in self.values if arg in read]
            self.counts = _counts(steps)
        self.needed = self.domain.some(self.wanted.caring & self.wanted.bits)
        self.masking = window > 0 and self.needed != (ONES,) * self.lanes
        """Whether an intersection with a new constant may give the wanted bits."""
        self.seen = {self.bits[arg] for arg in self.values}

    def chains(self, new: int, before: tuple[ProgramStep, ...] = ()) -> Iterator[tuple[ProgramStep, ...]]:
        """Yield replacements of `new` steps, the first of which are `before`; each reads the one before it."""
        if self.alive.bit_count() + new > self.most:
            return
        at, read = len(before), before[-1].number if before else None
        if new == 1:
            for expression, _ in self._matching([self.wanted], 1):
                yield (self._step(expression, 0),)
            for (arg,) in self._tried(((arg,) for arg in self.values), 1):
                for mask in self._masks(self.bits[arg]):
                    yield (self._step(("and", (arg, mask), 0), 0),)
                yield from self._carried(arg)
                places = self._places(arg)
                if places:
                    yield (self._step(("multishift", (places, arg), 0), 0),)
            return
        if at == new - 2:
            for inner, target in self._matching([*self._inside(self.wanted, new)], new, read):
                yield *before, self._step(inner, at), self._around(target, at + 1)
            return
        fresh: dict[int, Expression] = {}
        for inner, bits in self._expressions(self.values, new, read):
            if bits not in self.seen:
                fresh.setdefault(bits, inner)
        self.seen |= fresh.keys()
        values = self.values
        for bits, inner in fresh.items():
            step = self._step(inner, at)
            self.bits[step.number] = bits
            self.needs[step.number] = self._reading(inner[1])
            self.values = [*values, step.number]
            yield from self.chains(new, (*before, step))
        self.values = values

    # ---- available values

    def _nearest(self, number: int) -> list[ProgramStep]:
        """Return the replaced step and the nearest ones, at most `number`, that only these need."""
        dead = {other.number: other for other in self.program.steps if not self.alive >> other.number & 1}
        found = [self.step]
        for step in found:
            found += [dead[arg] for arg in dict.fromkeys(step.args) if arg in dead and dead[arg] not in found]
        return found[:number]

    def _alike(self, arg: Argument) -> bool:
        """Return whether a value is in the step's register file and, unless constant, as wide in a vector register."""
        if isinstance(arg, Known):
            return arg.file == self.step.form.file
        if self.program.files[arg] != self.step.form.file:
            return False
        if self.step.form.file == "general":
            return True
        made = {step.number: step.form.bits for step in self.program.steps}
        given = {parameter.number: 64 * parameter.lanes for parameter in self.program.parameters}
        return (made | given)[arg] == self.step.form.bits

    def _joined(self, arg: Argument) -> int:
        lanes = self.trials.lanes(arg)[: self.lanes]
        return self.domain.joined(lanes, self.trials.few).bits

    def _spares(self, args: Sequence[Argument], new: int) -> bool:
        """Return whether a program with `new` more steps, which read these arguments, has at most `most` steps."""
        return (self.alive | self._reading(args)).bit_count() + new <= self.most

    def _reading(self, args: Sequence[Argument]) -> int:
        """Return the steps that are needed to compute these arguments, as a bit mask of their numbers."""
        needs = 0
        for arg in args:
            needs |= self.needs[arg] if isinstance(arg, int) else 0
        return needs

    # ---- matching

    def _matching(
        self, wanted: Sequence[Wanted], new: int, read: int | None = None
    ) -> Iterator[tuple[Expression, Wanted]]:
        """Yield expressions that `_spares` allows, each with a wanted value that it matches.

        With `read`, each reads that value. `new` is the number of steps that the whole replacement adds.
        """
        if not wanted:
            return
        # Group the wanted values by mask and bits in one sample, whose comparison rules out most expressions cheaply.
        alike: dict[int, dict[int, list[Wanted]]] = {}
        for target in wanted:
            its_bits, its_caring = target.bits >> self.telling & ONES, target.caring >> self.telling & ONES
            alike.setdefault(its_caring, {}).setdefault(its_bits & its_caring, []).append(target)
        for expression, bits in self._expressions(self.values, new, read):
            sample = bits >> self.telling & ONES
            for its_caring, by_bits in alike.items():
                for target in by_bits.get(sample & its_caring, ()):
                    if (bits ^ target.bits) & target.caring == 0 and (
                        target.around is None or self._spares((*expression[1], *target.around[2]), new)
                    ):
                        if target.around != MASKED:
                            yield expression, target
                            continue
                        for mask in self._masks(bits):
                            yield expression, replace(target, around=("and", 0, (mask,), 0))
        if self.target.has("ternary", 2) and self.lanes > 1:
            in_registers = [arg for arg in self.values if isinstance(arg, int)]
            threes = (args for args in combinations(in_registers, 3) if read is None or read in args)
            tables = [target for target in wanted if target.around != MASKED]
            for args in self._tried(threes, new):
                for target in tables:
                    table = self._table(args, target)
                    if table is not None and (target.around is None or self._spares((*args, *target.around[2]), new)):
                        yield ("ternary", args, table), target

    def _expressions(
        self, values: Sequence[Argument], new: int, read: int | None = None
    ) -> Iterator[tuple[Expression, int]]:
        """Yield operations of the target on one or two of `values`, with results; see `_matching` for the rest."""
        lanes = max(2, self.lanes) if self.step.form.file == "vector" else 1
        either = [op for op in _EITHER if self.target.has(op, lanes)]
        ordered = [op for op in _ORDERED if self.target.has(op, lanes)]
        counted = [op for op in _COUNTED if self.target.has(op, lanes)]
        scaled = self.target.has("scaled-sum", lanes)
        couples = combinations_with_replacement(values, 2) if read is None else ((value, read) for value in values)
        for couple in self._tried(couples, new):
            for op in either:
                yield (op, couple, 0), self.domain.two(op, *map(self.bits.__getitem__, couple))
            for a, b in dict.fromkeys((couple, couple[::-1])):
                for op in ordered:
                    yield (op, (a, b), 0), self.domain.two(op, self.bits[a], self.bits[b])
                for count in (1, 2, 3) if scaled and isinstance(a, int) and isinstance(b, int) else ():
                    moved = self.domain.turned("shl", self.bits[b], count)
                    yield ("scaled-sum", (a, b), count), self.domain.two("add", self.bits[a], moved)
        for (a,) in self._tried(((a,) for a in (values if read is None else (read,))), new):
            for op, count in product(counted, self.counts):
                bits = self.domain.turned(op, self.bits[a], count)
                yield (op, (a,), count), bits
                if self.window and lanes == 1 and op == "shl" and count < 31:  # copies, too
                    yield ("mul", (a, Known((1 << count,))), 0), bits
            if self.target.has("not", lanes):
                yield ("not", (a,), 0), self.bits[a] ^ self.domain.ones

    def _tried(self, groups: Iterable[Args], new: int) -> Iterator[Args]:
        """Yield groups that `_spares` allows, but none of constants only."""
        for args in groups:
            if not all(isinstance(arg, Known) for arg in args) and self._spares(args, new):
                if thread_time() > self.until:
                    raise OutOfTime
                yield args

    def _table(self, args: tuple[Argument, ...], target: Wanted) -> int | None:
        """Return a truth table by which three values yield the wanted one, or None."""
        ones, zeros = target.bits & target.caring, target.caring & ~target.bits
        a, b, c = (self.bits[arg] for arg in args)
        at = self.telling
        if truth_table(a >> at & ONES, b >> at & ONES, c >> at & ONES, ones >> at & ONES, zeros >> at & ONES) is None:
            return None
        return truth_table(a, b, c, ones, zeros)

    def _inside(self, wanted: Wanted, new: int) -> Iterator[Wanted]:
        """Yield values from which one more operation, with another argument or a shift count, gives `wanted`."""
        bits, caring = wanted.bits, wanted.caring
        lanes = max(2, self.lanes) if self.step.form.file == "vector" else 1
        has = {op: self.target.has(op, lanes) for op in (*_EITHER, *_ORDERED, *_COUNTED)}
        if has["and"] and self.masking:
            yield Wanted(bits, caring & bits, MASKED)
        for arg in self.values:
            if not self._spares((arg,), new):
                continue
            other = self.bits[arg]
            if has["and"] and bits & caring & ~other == 0:
                yield Wanted(bits, caring & other, ("and", 0, (arg,), 0))
            if has["andn"] and bits & caring & other == 0:
                yield Wanted(bits, caring & ~other, ("andn", 1, (arg,), 0))
            if has["andn"] and bits & caring & ~other == 0:
                yield Wanted(bits ^ self.domain.ones, caring & other, ("andn", 0, (arg,), 0))
            if has["or"] and other & caring & ~bits == 0:
                yield Wanted(bits, caring & ~other, ("or", 0, (arg,), 0))
            yield Wanted(bits ^ other, caring, ("xor", 0, (arg,), 0))
            if not isinstance(arg, Known):
                yield Wanted(self.domain.two("sub", bits, other), caring, ("add", 0, (arg,), 0))
                yield Wanted(self.domain.two("add", bits, other), caring, ("sub", 0, (arg,), 0))
                yield Wanted(self.domain.two("sub", other, bits), caring, ("sub", 1, (arg,), 0))
        for count in self.counts:
            low = self.domain.every((1 << count) - 1)
            turned = (
                ("shl", "shr", count, low),
                ("shr", "shl", count, low << 64 - count),
                ("rotl", "rotl", 64 - count, 0),
            )
            for op, inverse, back, lost in turned:
                if has[op] and bits & caring & lost == 0:
                    before = self.domain.turned(inverse, bits, back), self.domain.turned(inverse, caring, back)
                    yield Wanted(*before, (op, 0, (), count))

    # ---- flags

    @cached_property
    def carries(self) -> list[tuple[ProgramStep, int]]:
        """The steps that do not need the replaced step and leave a carry in some sample, each with its carries."""
        found: list[tuple[ProgramStep, int]] = []
        few, below = self.trials.few, self.program.below(self.step.number)
        for step in self.program.steps if self.window and self.step.form.file == "general" else ():
            if step.number in below or step.form.file != "general" or "cf" not in step.form.example[0].flags_written:
                continue
            args = [(0,), (0,), *map(self.trials.lanes, (*step.args, step.number))]
            found.append((step, self.domain.joined(with_carry("adc", step.form).result(few, args), few).bits))
        return [(step, carry) for step, carry in found if carry]

    def _carried(self, a: Argument) -> Iterator[tuple[ProgramStep, ...]]:
        """Yield sums of a value, another one and the carry of a step, and differences."""
        for b, (setter, carry) in product(self.values, self.carries):
            args = (a, b, *setter.args, setter.number)
            for name, op in (("adc", "add"), ("sbb", "sub")):
                bits = self.domain.two(op, self.domain.two(op, self.bits[a], self.bits[b]), carry)
                if (bits ^ self.wanted.bits) & self.wanted.caring == 0 and self._spares(args, 1):
                    text = f"{self._describe(name, args[:2], 0)} and the carry of {setter.description}"
                    yield (ProgramStep(self.free, with_carry(name, setter.form), args, f"new1 = {text}"),)

    # ---- constants

    def _masks(self, value: int) -> Iterator[Known]:
        """Yield the constants, if any, whose intersection with a value gives the wanted bits.

        A bit that no sample decides is 0, or as in a constant of the window.
        """
        bits, caring = self.wanted.bits, self.wanted.caring
        if not self.masking or caring & bits & ~value:
            return
        zeros = self.domain.some(caring & ~bits & value)
        if any(one & zero for one, zero in zip(self.needed, zeros, strict=True)):
            return
        rest = (0,) * (len(self.zero.words) - self.lanes)
        for old in [arg.words for arg in self.values if isinstance(arg, Known)]:
            words = ((word | one) & ~zero for word, one, zero in zip(old, self.needed, zeros, strict=False))
            yield Known((*words, *rest))

    def _places(self, arg: Argument) -> Known | None:
        """Return where in its lane of a value each wanted byte begins, as the control of a multishift, or None."""
        if not self.window or self.lanes < 8 or not self.target.has("multishift", self.lanes):
            return None
        found: dict[tuple[int, int], int] = {}
        for count in range(64):
            wrong = self.domain.some(
                (self.domain.turned("rotl", self.bits[arg], count) ^ self.wanted.bits) & self.wanted.caring
            )
            for lane, at in product(range(self.lanes), range(0, 64, 8)):
                if wrong[lane] >> at & 255 == 0:
                    found.setdefault((lane, at), at - count & 63)
        if len(found) < 8 * self.lanes:
            return None
        return Known(tuple([sum(found[lane, at] << at for at in range(0, 64, 8)) for lane in range(self.lanes)]))

    # ---- steps

    def _step(self, expression: Expression, at: int) -> ProgramStep:
        op, args, number = expression
        form = _form(self.target.name, op, number, len(args), self.step.form.file == "vector", self.step.form.bits)
        return ProgramStep(self.free + at, form, args, f"new{at + 1} = {self._describe(op, args, number)}")

    def _around(self, target: Wanted, at: int) -> ProgramStep:
        """Return the new step of index `at`, which applies `target.around` to the result of the new step before."""
        assert target.around is not None
        op, place, args, number = target.around
        return self._step((op, (*args[:place], self.free + at - 1, *args[place:]), number), at)

    def _describe(self, op: str, args: tuple[Argument, ...], number: int) -> str:
        names = {step.number: f"({step.description.partition(' at offset ')[0]})" for step in self.program.steps}
        names |= {self.free + at: f"new{at + 1}" for at in range(4)}
        texts = [
            f"{max(arg.words):#x}" if isinstance(arg, Known) else names.get(arg, f"argument {arg + 1}") for arg in args
        ]
        sign = _SIGNS.get(op, op)
        if len(texts) == 1:
            return f"{op} of {texts[0]}" if op == "not" else f"{texts[0]} {sign} {number}"
        if op in _SIGNS:
            return f"{texts[0]} {sign} {texts[1]}"
        return f"{op} {number:#x} of {', '.join(texts)}" if number else f"{op} of {', '.join(texts)}"


def _form(target: str, op: str, number: int, args: int, wide: bool, bits: int) -> Form:
    """Return the target's form of an operation on `args` arguments; `number` is its shift count or truth table."""
    lanes = bits // 64 if wide else 1
    attr: int | tuple[int, ...] = (number,) * lanes if op in _COUNTED else number
    given = tuple(Value("param", lanes=lanes) for _ in range(args))
    row: Row = TARGETS[target].rows_for(Value(op, given, attr, lanes))[0]
    file: RegisterFile = "vector" if wide else "general"
    return Form(row, op, attr, (file,) * args, file, bits)


def _counts(steps: Iterable[ProgramStep]) -> list[int]:
    """Return 1, the shift counts of lifted instructions, their differences, and those to 64."""
    parts = [part for step in steps if isinstance(step.form.row, Spelling) for part in step.form.row.parts]
    scales = [part.scale.bit_length() - 1 for part in parts if isinstance(part, Address)]
    counts = {0, *scales, *(part for part in parts if isinstance(part, int))}
    apart = {abs(a - b) for a, b in combinations(counts, 2)}
    return sorted({1, *apart, *(64 - count for count in apart)} & {*range(1, 64)})


def _needs(program: Program) -> dict[int, int]:
    """Return for each value the steps that it depends on, its own included, as a bit mask of their numbers."""
    needs = {parameter.number: 0 for parameter in program.parameters}
    for step in program.steps:
        needs[step.number] = 1 << step.number
        for arg in step.args:
            if isinstance(arg, int):
                needs[step.number] |= needs[arg]
    return needs
