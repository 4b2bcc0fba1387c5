"""Translation of a kernel's selected operations to statements, shared by all languages.

A language formats operations, declarations and branches; this module determines their order. Every computed value
becomes a constant, and every value that a region carries becomes a variable. Registers are the compiler's choice.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain

from setwise.codegen.export.prototypes import boards_a_call, returns
from setwise.codegen.export.sources.language import Inexpressible, Language
from setwise.codegen.export.sources.local_names import Names, mask_name, rays_text, value_name
from setwise.codegen.ir.graph import Graph, postorder, rewrite
from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.orders import borrow_path, reordered
from setwise.codegen.ir.values import Region, Value, constant
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.code import Line
from setwise.codegen.passes.code_motion import place_values
from setwise.codegen.passes.schedule import schedule
from setwise.codegen.passes.state import Block, RegionBlock
from setwise.codegen.targets.table import Refused

_INLINE = ("place", "low-half", "as-wide", "extended", "from-mask")
"""Operations without an instruction. They are expanded at each use."""
_READS = ("load", "load-some", "table")
"""Operations that read memory. They stay where they are, for an array may be written before their reader."""
_LONGEST = 70
"""The most characters of an expression that is part of another one."""


@dataclass(frozen=True, slots=True)
class SourceForm:
    """A kernel's graph without operations that concern only registers and memory, and its tables."""

    graph: Graph
    tables: Mapping[str, tuple[tuple[int, ...], int]]
    """The numbers of each table and the size of one in bytes, by the table's name."""


def runs_when_compiled(kernel: Kernel) -> bool:
    """Return whether compilers can run the kernel: it is plain code without tables, which languages read unchecked."""
    return kernel.target.name == "x86-64" and not source_of(kernel).tables


def source_of(kernel: Kernel) -> SourceForm:
    """Return the kernel's selected graph with plain constants, without flags, and with tables and switches by index.

    A `table` operation has the attr (name of a table, bytes of an entry), and reads the entry with index args[0].
    """
    tables = {
        datum.label: (tuple(n for n in datum.values if isinstance(n, int)), datum.size)
        for datum in kernel.code.data
        if datum.label.startswith("t")
    }

    def rule(value: Value, _: Value) -> Value:
        if value.op == "copy":
            return value.args[0]
        if value.op == "load-constant":
            return value.args[0] if value.args else constant(value.attr)
        if value.op == "entry":
            return Value("table", (value.args[1],), (str(value.args[0].attr), int(value.attr)))
        if value.op == "sub-borrow":
            return value.args[0] - value.args[1] - (borrow_path(value)[0].args[0] & 1)
        return value

    def region_rule(region: Region) -> Region:
        if region.index is None or not region.addressed:
            return region
        # The region's index is the jump table's address plus the entry at the original index.
        return replace(region, index=region.index.args[1].args[1])

    return SourceForm(rewrite(kernel.selected, rule, region_rule), tables)


def body(kernel: Kernel, language: Language, functions: Iterable[str] = ()) -> list[str]:
    """Return the statements of a kernel's function, or raise Refused. Parameters have their names in the contract.

    `functions` are names that local values must not have.

    Statements are in the order of the fewest copies for setwise's code, which also saves copies in most compilers. If
    lines were recorded, names and comments are those of the description.
    """
    source = source_of(kernel)
    graph, contract = source.graph, kernel.routine.contract
    names = ["results" if p.kind == "results" and language.ARRAY else p.name for p in contract.parameters]
    placed = schedule(place_values(graph), graph.results, kernel.target, len(kernel.convention.scratch))
    given = dict(zip(graph.parameters, names, strict=True))
    walk = _Walk(language, source, given, Names({*names, *functions}), kernel.layout.mirrored, readers_of(placed))
    try:
        block = walk.block(placed)
    except Inexpressible as error:
        what = f"{kernel.name} for {kernel.target.name}"
        raise Refused(f"{what}: {error}: use a listing or an object, such as --format gas") from None
    if returns(kernel):
        block.append(language.RETURN.format(walk.text(graph.results[0])))
    lines = [*walk.head(block), *block]
    if language.ARRAY and not returns(kernel) and not contract.elements:
        begin, end = language.RESULTS
        lines = [begin.format(len(contract.results) * boards_a_call(kernel)), *lines, end]
    if language.IMPORT and any(name in line for line in lines for name in ("_mm", "__m")):
        lines = [language.IMPORT, *lines]
    used = {*postorder(graph.results)}
    unused = [name for value, name in zip(graph.parameters, names, strict=True) if value not in used]
    return [*(language.UNUSED.format(name) for name in unused if language.UNUSED), *lines]


def readers_of(block: Block) -> dict[Value, list[Value]]:
    """Return the operations that read each value, in order; one that a region reads counts as read by itself, too."""
    readers: dict[Value, list[Value]] = {}

    def look(block: Block) -> None:
        for item in block.items:
            if isinstance(item, Value):
                for arg in item.args:
                    readers.setdefault(arg, []).append(item)
                continue
            region = item.region
            for value in (*region.inits, *chain.from_iterable(region.bodies), *region.tested):
                readers.setdefault(value, []).append(value)
            for body in item.bodies:
                look(body)

    look(block)
    return readers


@dataclass
class _Walk:
    """A traversal of the blocks in order, with the names of all values so far.

    A value that one operation of the same statement reads is written as part of it, in `inlined` until then, unless
    that changes the order.
    """

    language: Language
    source: SourceForm
    names: dict[Value, str]
    taken: Names
    mirrored: bool
    readers: Mapping[Value, Sequence[Value]]
    constants: dict[tuple[tuple[int, ...], str], str] = field(default_factory=dict)
    """The names of constants, by their lanes and what they are for."""
    inlined: dict[Value, str] = field(default_factory=dict)
    directions: Sequence[str] = ()
    """The directions that the last comment named."""

    def head(self, block: Sequence[str]) -> Iterator[str]:
        """Yield declarations of tables, and of the constants that `block` uses: shift counts may be immediates."""
        used = {word for line in block for word in re.findall(r"\w+", line) if not line.lstrip().startswith("//")}
        for name, (numbers, size) in self.source.tables.items():
            yield from self.language.table(name, numbers, size)
        for (lanes, _), name in self.constants.items():
            if name in used:
                text = self.language.vector(lanes) if len(lanes) > 1 else self.language.number(lanes[0])
                yield self.language.declaration(name, len(lanes), text)

    def text(self, value: Value, reader: Value | None = None) -> str:
        """Return the text of a value as an operand of its reader."""
        if value.op in _INLINE:
            return self.language.operation(value, [self.text(arg, value) for arg in value.args])
        if value.constant is None:
            return self.inlined.get(value) or self.names[value]
        if value.lanes == 1 and value.number >> 32 == 0:
            return self.language.number(value.number)
        role = _role(value, reader)
        if (value.constant, role) not in self.constants:
            self.constants[value.constant, role] = self.taken.new(role)
        return self.constants[value.constant, role]

    def block(self, block: Block) -> list[str]:
        lines: list[str] = []
        here = {item for item in block.items if isinstance(item, Value)}
        for item in block.items:
            lines += [*self.rest(), *self.region(item)] if isinstance(item, RegionBlock) else self.value(item, here)
        return [*lines, *self.rest()]

    def value(self, value: Value, here: Set[Value]) -> Iterator[str]:
        """Yield the statement of a value, unless that of its only reader, which must be `here`, includes it."""
        if value.op in ("done", *_INLINE):
            return
        ordered = self.overwriting(value)
        text = self.language.operation(ordered, [self.text(arg, ordered) for arg in ordered.args])
        if any(text.count(self.inlined[arg]) > 1 for arg in ordered.args if arg in self.inlined):
            yield from self.rest()
            text = self.language.operation(ordered, [self.text(arg, ordered) for arg in ordered.args])
        for arg in ordered.args:
            self.inlined.pop(arg, None)
        if value.op in WRITES:
            yield from self.rest()
            yield text
            return
        readers = self.readers.get(value, ())
        if len(readers) == 1 and readers[0] in here - {value} and self.nests(value, readers[0], text):
            self.inlined[value] = text
            return
        yield from self.rest()
        yield from self.declared(value, text)

    def rest(self) -> Iterator[str]:
        """Yield declarations of the values in `inlined`: another statement comes before that of their readers."""
        for value in [*self.inlined]:
            yield from self.declared(value, self.inlined.pop(value))

    def declared(self, value: Value, text: str) -> Iterator[str]:
        """Yield the declaration of a value, after a comment if its rays are not those of the comment before."""
        line = value.line or Line("", 0)
        if line.directions and line.directions != self.directions:
            self.directions = line.directions
            yield f"// {rays_text(line.directions, mirrored=self.mirrored)}"
        name = value_name(line)
        if len(line.directions) == 1 and line.directions[0].isidentifier():
            name = f"{line.directions[0]}_{name}"
        self.names[value] = self.taken.new(name)
        yield self.language.declaration(self.names[value], value.lanes, text)

    def nests(self, value: Value, reader: Value, text: str) -> bool:
        """Return whether the text of a value can be an operand of its only reader: it is short, of one statement."""
        if {value.op, reader.op} & {*_READS, *WRITES, *_INLINE} or value.file != reader.file or len(text) > _LONGEST:
            return False
        same = value.line is None or _statement(value.line) == _statement(reader.line)
        return same and value.lanes <= self.language.NESTED_LANES

    def overwriting(self, value: Value) -> Value:
        """Return a ternary operation with an argument first that is not read later, if one is; others unchanged."""
        if value.op != "ternary":
            return value
        return next((v for v in reordered(value) if self.readers.get(v.args[0], (None,))[-1] is value), value)

    def region(self, placed: RegionBlock) -> Iterator[str]:
        region, language = placed.region, self.language
        variables = []
        for at, init in enumerate(region.inits):
            text = self.text(init)
            variables.append(self.taken.new("carried"))
            changes = any(body[at] is not phis[at] for body, phis in zip(region.bodies, region.phis, strict=True))
            yield language.declaration(variables[-1], init.lanes, text, carried=changes)
        condition = region.condition
        before = self.text(condition.value) if condition is not None and region.kind == "when" else ""
        bodies = [self.round(region, number, block, variables) for number, block in enumerate(placed.bodies)]
        if region.kind == "switch":
            assert region.index is not None
            yield from language.switch(self.text(region.index), bodies, falls=region.falls)
        elif condition is not None and region.kind == "when":
            yield from language.when(language.condition(condition, before, holds=True), bodies[0])
        elif condition is not None:
            yield from language.loop(bodies[0], language.condition(condition, self.text(condition.value), holds=False))
        for result in placed.results:
            self.names[result] = variables[int(result.attr)]

    def round(self, region: Region, number: int, block: Block, variables: Sequence[str]) -> list[str]:
        """Return the lines of body `number`, copies of old values needed later, and assignments of next values."""
        phis, nexts = region.phis[number], region.bodies[number]
        self.names.update(zip(phis, variables, strict=True))
        lines = self.block(block)
        tested = region.condition.value if region.kind == "loop" and region.condition is not None else None
        for phi in {value: None for value in (*nexts, tested) if value in {*phis}}:
            assert phi is not None
            if any(value is phi and own is not phi for own, value in zip(phis, nexts, strict=True)) or tested is phi:
                name = self.taken.new("before")
                lines.append(self.language.declaration(name, phi.lanes, self.names[phi]))
                self.names[phi] = name
        for own, value, variable in zip(phis, nexts, variables, strict=True):
            if value is not own:
                lines.append(self.language.assignment(variable, self.text(value)))
        return lines


def _role(value: Value, reader: Value | None) -> str:
    """Return the name of a constant: that of a mask, or what its reader uses it for."""
    assert value.constant is not None
    if len({*value.constant}) == 1 and mask_name(value.constant[0]) != "mask":
        return mask_name(value.constant[0])
    op = reader.op if reader is not None else ""
    if op in _ROLES:
        return _ROLES[op]
    return "counts" if max(value.constant) < 64 else "mask" if value.lanes == 1 else "masks"


_ROLES: Mapping[str, str] = {"affine": "matrices", "permute-bytes": "order"}


def _statement(line: Line | None) -> Line | None:
    """Return a line without columns: equal for all values of one statement along the same rays."""
    return line and line._replace(columns=(0, 0))
