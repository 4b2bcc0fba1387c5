"""Translation of a kernel's selected operations to statements, shared by all languages.

A language formats operations, declarations and branches; this module determines their order. Every computed value
becomes a constant, and every value that a region carries becomes a variable. Registers are the compiler's choice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from setwise.codegen.export.prototypes import boards_a_call, returns
from setwise.codegen.export.sources.language import Inexpressible, Language
from setwise.codegen.ir.graph import Graph, postorder, rewrite
from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.orders import reordered
from setwise.codegen.ir.values import Region, Value, constant
from setwise.codegen.kernel import Kernel
from setwise.codegen.passes.code_motion import place_values
from setwise.codegen.passes.schedule import schedule
from setwise.codegen.passes.state import Block, RegionBlock
from setwise.codegen.targets.table import Refused

_INLINE = ("place", "low-half", "as-wide", "extended")
"""Operations without an instruction. They are expanded at each use."""


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
    """Return the kernel's selected graph with plain constants, and with tables and switches by index.

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
        return value

    def region_rule(region: Region) -> Region:
        if region.index is None or not region.addressed:
            return region
        # The region's index is the jump table's address plus the entry at the original index.
        return replace(region, index=region.index.args[1].args[1])

    return SourceForm(rewrite(kernel.selected, rule, region_rule), tables)


def body(kernel: Kernel, language: Language) -> list[str]:
    """Return the statements of a kernel's function, or raise Refused. Parameters have their names in the contract.

    Statements are in the order of the fewest copies for setwise's code, which also saves copies in most compilers.
    """
    source = source_of(kernel)
    graph, contract = source.graph, kernel.routine.contract
    names = [parameter.name for parameter in contract.parameters]
    placed = schedule(place_values(graph), graph.results, kernel.target, len(kernel.convention.scratch))
    walk = _Walk(language, source, dict(zip(graph.parameters, names, strict=True)), last_readers(placed))
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


def last_readers(block: Block) -> dict[Value, Value]:
    """Return the last operation that reads each value, except for initial and next values of a region."""
    last: dict[Value, Value] = {}
    regions: set[Value] = set()

    def look(block: Block) -> None:
        for item in block.items:
            if isinstance(item, Value):
                last.update(dict.fromkeys(item.args, item))
                continue
            region = item.region
            regions.update(region.inits, *region.bodies)
            for body in item.bodies:
                look(body)

    look(block)
    return {value: reader for value, reader in last.items() if value not in regions}


def results_in_order(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Yield the title and text of a comment on the order of the results, if there are several."""
    results = kernel.routine.contract.results
    if len(results) > 1:
        yield "results", f"{', '.join(results)}, in this order"


@dataclass
class _Walk:
    """A traversal of the blocks in order, with the names of all values so far and counters for further names."""

    language: Language
    source: SourceForm
    names: dict[Value, str]
    last: Mapping[Value, Value]
    vectors: dict[tuple[int, ...], str] = field(default_factory=dict)
    values: int = 0
    carried: int = 0

    def head(self, block: Sequence[str]) -> Iterator[str]:
        """Yield declarations of tables and of vector constants.

        A vector constant is omitted if no line of `block` uses it, since shift counts may be immediates.
        """
        used = {word for line in block for word in re.findall(r"\bc\d+\b", line)}
        for name, (numbers, size) in self.source.tables.items():
            yield from self.language.table(name, numbers, size)
        for lanes, name in ((lanes, name) for lanes, name in self.vectors.items() if name in used):
            yield self.language.declaration(name, len(lanes), self.language.vector(lanes))

    def text(self, value: Value) -> str:
        """Return the text of a value as an operand."""
        if value.op in _INLINE:
            return self.language.operation(value, [self.text(arg) for arg in value.args])
        if value.constant is None:
            return self.names[value]
        if value.lanes == 1:
            return self.language.number(value.number)
        return self.vectors.setdefault(value.constant, f"c{len(self.vectors)}")

    def block(self, block: Block) -> list[str]:
        lines: list[str] = []
        for item in block.items:
            lines += self.region(item) if isinstance(item, RegionBlock) else self.value(item)
        return lines

    def value(self, value: Value) -> Iterator[str]:
        if value.op in ("done", *_INLINE):
            return
        ordered = self.overwriting(value)
        text = self.language.operation(ordered, [self.text(arg) for arg in ordered.args])
        if value.op in WRITES:
            yield text
            return
        self.names[value] = f"v{self.values}"
        self.values += 1
        yield self.language.declaration(self.names[value], value.lanes, text)

    def overwriting(self, value: Value) -> Value:
        """Return a ternary operation with an argument first that is not read later, if one is; others unchanged."""
        if value.op != "ternary":
            return value
        return next((v for v in reordered(value) if self.last.get(v.args[0]) is value), value)

    def region(self, placed: RegionBlock) -> Iterator[str]:
        region, language = placed.region, self.language
        variables = []
        for init in region.inits:
            variables.append(f"x{self.carried}")
            self.carried += 1
            yield language.declaration(variables[-1], init.lanes, self.text(init), carried=True)
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
                lines.append(self.language.declaration(f"v{self.values}", phi.lanes, self.names[phi]))
                self.names[phi] = f"v{self.values}"
                self.values += 1
        for own, value, variable in zip(phis, nexts, variables, strict=True):
            if value is not own:
                lines.append(self.language.assignment(variable, self.text(value)))
        return lines
