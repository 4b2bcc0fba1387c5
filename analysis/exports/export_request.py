"""The request for an export, and the kernels and files that it determines."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, product
from typing import Annotated

from msgspec import Meta, Struct

from setwise.analysis.bench.choice import OBJECTIVES
from setwise.analysis.cost.processors import PROCESSORS
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.parallel import Show, silent, unrefused
from setwise.codegen.catalogue import find
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.names import symbol, uses_pext
from setwise.codegen.export.objects.relocatable import with_endbr64
from setwise.codegen.export.order import Order
from setwise.codegen.export.renamed import in_format
from setwise.codegen.export.reserved import checked_name
from setwise.codegen.ir.lines import recorded
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.targets import TARGETS
from setwise.codegen.variants import variant_named

Text = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_,.-]*\Z", max_length=200)]
RoutineName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_./:+@~-]+\Z", max_length=4096)]
_SHOWN = 3


class ExportRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The request that an export is made from, with full names. Raises ValueError for unknown or repeated ones.

    Every field has a closed type, because metadata.json is not trusted and files repeat the request.

    `unproved` lists the kernels that are left out because they are not proved: routine, instruction set.
    """

    format: Text
    names: Annotated[tuple[RoutineName, ...], Meta(min_length=1, max_length=1024)]
    isas: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=len(TARGETS))]
    abi: Text
    proved: bool = False
    lanes: Annotated[int, Meta(ge=1, le=64)] | None = None
    endbr64: bool = False
    dispatch: bool = False
    name: Text = ""
    prefix: Text = ""
    objective: Text = ""
    cpu: Text = ""
    variants: Annotated[tuple[tuple[RoutineName, Text, Text], ...], Meta(max_length=8192)] = ()
    """The kernels with a variant other than the default: routine, instruction set, the variant's name."""
    unproved: Annotated[tuple[tuple[RoutineName, Text], ...], Meta(max_length=8192)] = ()

    def __post_init__(self) -> None:
        for name in filter(None, (self.name, self.prefix)):
            checked_name(name)
        for what, given, known in (
            ("format", [self.format], FORMATS),
            ("instruction set", self.isas, TARGETS),
            ("convention", [self.abi], CONVENTIONS),
            ("objective", [self.objective] * bool(self.objective), OBJECTIVES),
            ("processor", [self.cpu] * bool(self.cpu), [processor.name for processor in PROCESSORS]),
        ):
            if unknown := [name for name in given if name not in known]:
                raise ValueError(f"unknown {what} {unknown[0][:40]!r}: use one of {', '.join(known)}")
        varied = [each[:2] for each in self.variants]
        for each in (self.names, self.isas, varied):
            if len(set(each)) < len(each):
                raise ValueError("names, instruction sets and variants of a request must not repeat: give each once")
        if not {*varied, *self.unproved} <= {*product(self.names, self.isas)}:
            raise ValueError("a variant or an unproved kernel is not among the names and instruction sets: add it")

    @property
    def command(self) -> str:
        """The command that makes this request, without the directory; of many routines only the first are named."""
        more = len(self.names) - _SHOWN
        words = ["setwise export", *self.names[:_SHOWN], *([f"... ({more} more)"] if more > 0 else [])]
        words += ["--isa", "all" if self.isas == FORMATS[self.format].isas != ("x86-64",) else ",".join(self.isas)]
        words += ["--lanes", str(self.lanes)] if self.lanes else []
        words += ["--for", self.objective] if self.objective else []
        words += ["--cpu", self.cpu] if self.cpu else []
        if len(variants := {each[-1] for each in self.variants}) == 1 and not self.objective:
            words += ["--variant", *variants]
        words += ["--abi", self.abi] if self.abi != FORMATS[self.format].abi else []
        words += ["--format", self.format]
        words += ["--endbr64"] if self.endbr64 else []
        for option in ("name", "prefix"):
            words += [f"--{option}", getattr(self, option)] if getattr(self, option) else []
        return " ".join([*words, "--dispatch"] if self.dispatch else words)


def lanes_for(lanes: int | None, isas: Sequence[str], isa: str) -> int | None:
    """Return the requested lanes, or None if there are several instruction sets and `isa` has a single width."""
    return lanes if len(isas) == 1 or len(TARGETS[isa].widths) > 1 else None


def kernels_of(
    request: ExportRequest, routines: Sequence[Routine] | None = None, show: Show = silent
) -> Iterator[Kernel]:
    """Yield the kernels of a request: for each routine in turn, one for each instruction set.

    `routines` are those of the request, found by name if None. Refused pairs are left out. Raises Refused if all are,
    and ValueError if none is proved as requested. In source that chooses among kernels, a variant with pext is followed
    by the default variant, for processors on which pext is slow. The kernels know the lines of their descriptions.
    """

    def kernel(routine: Routine, isa: str) -> tuple[Kernel, ...]:
        show(f"{routine.name} {isa}")
        shape = recorded(routine), isa, request.abi, lanes_for(request.lanes, request.isas, isa)
        made = variant_named(variants.get((routine.name, isa), ""), *shape)
        usual = FORMATS[request.format].fallback and uses_pext(made)
        return (made, variant_named("", *shape)) if usual else (made,)

    variants = {(name, isa): variant for name, isa, variant in request.variants}
    pairs = product(routines or [*map(find, request.names)], request.isas)
    wanted = [(routine, isa) for routine, isa in pairs if (routine.name, isa) not in request.unproved]
    if not wanted:
        raise ValueError("the request leaves out every kernel, because none is proved: export with --unproved")
    made = chain.from_iterable(unrefused(lambda pair: kernel(*pair), wanted))
    kernels = map(with_endbr64, made) if request.endbr64 else made
    for each in kernels:
        yield replace(each, prefix=request.prefix or "setwise")


def files_of(request: ExportRequest, kernels: Sequence[Kernel]) -> dict[str, bytes]:
    """Return the files of a request by name. Raises ValueError if one export of its format cannot hold the kernels."""
    by_symbol: dict[str, str] = {}
    for kernel in kernels:
        other = by_symbol.setdefault(symbol(kernel).lower(), kernel.name)
        if other != kernel.name:
            same = f"have the same symbol {symbol(kernel)} (case ignored)"
            raise ValueError(f"{other} and {kernel.name} {same}: export each alone, with its own --prefix")
    order = Order(
        tuple(kernels),
        cache(facts_of),
        request.command,
        endbr64=request.endbr64,
        dispatch=request.dispatch,
        name=request.name,
        proved=request.proved,
    )
    return FORMATS[request.format].files(in_format(order, request.format))
