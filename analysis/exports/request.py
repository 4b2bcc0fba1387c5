"""What an export is asked for, and the kernels and files that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.export.formats import FORMATS, Format, together
from setwise.codegen.export.names import checked_name, symbol
from setwise.codegen.export.objects.relocatable import with_endbr64
from setwise.codegen.export.order import Order
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.offers import offered_as
from setwise.codegen.targets import TARGETS

Text = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f]*\Z", max_length=1 << 20)]
"""One line without control characters."""


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """What was asked for, so that it can be made again: the names in full, no patterns."""

    format: Text
    names: tuple[Text, ...]
    isas: tuple[Text, ...]
    abi: Text
    lanes: Annotated[int, Meta(ge=1, le=64)] | None = None
    endbr64: bool = False
    dispatch: bool = False
    made_by: Text = ""
    name: Text | UnsetType = UNSET
    prefix: Text | UnsetType = UNSET
    checked: bool | UnsetType = UNSET
    bound: bool | UnsetType = UNSET
    variants: tuple[tuple[Text, Text, Text], ...] | UnsetType = UNSET
    """Of kernels that are not the usual ones: routine, instruction set, the variant's name."""


def format_called(names: str) -> Format:
    """The format of that name, or several with commas between; ValueError for a name that there is not."""
    each = dict.fromkeys(names.split(","))
    for name in each:
        if name not in FORMATS:
            raise ValueError(f"unknown format '{name}': use one of {', '.join(FORMATS)}")
    return together([FORMATS[name] for name in each])


def lanes_for(lanes: int | None, isas: Sequence[str], isa: str) -> int | None:
    """Lanes are for those of several instruction sets that have a choice."""
    return lanes if len(isas) == 1 or len(TARGETS[isa].widths) > 1 else None


def kernels_of(request: Request, routines: Sequence[Routine] | None = None) -> tuple[Kernel, ...]:
    """The kernels of what a request names, or of these, in its order; what an instruction set has not is left out.

    Raises Refused where that is all.
    """

    def kernel(routine: Routine, isa: str) -> Kernel:
        lanes = lanes_for(request.lanes, request.isas, isa)
        return offered_as(variants.get((routine.name, isa), ""), routine, isa, request.abi, lanes)

    variants = {(name, isa): variant for name, isa, variant in request.variants or ()}

    made = unrefused(lambda pair: kernel(*pair), product(routines or map(find, request.names), request.isas))
    kernels = map(with_endbr64, made) if request.endbr64 else made
    prefix = checked_name(request.prefix) if request.prefix else "setwise"
    return tuple(replace(kernel, prefix=prefix) for kernel in kernels)


def files_of(request: Request, kernels: Sequence[Kernel], proved: bool) -> dict[str, bytes]:
    """The files of a request, by their names; ValueError where two routines would have one name in them."""
    by_symbol: dict[str, str] = {}
    for kernel in kernels:
        other = by_symbol.setdefault(symbol(kernel).lower(), kernel.name)
        if other != kernel.name:
            raise ValueError(f"{other} and {kernel.name} would both be {symbol(kernel)}: export them one by one")
    name = checked_name(request.name) if request.name else ""
    order = Order(
        tuple(kernels),
        cache(facts_of),
        request.made_by,
        endbr64=request.endbr64,
        dispatch=request.dispatch,
        name=name,
        proved=proved,
        checked=bool(request.checked),
        bound=bool(request.bound),
    )
    return format_called(request.format).files(order)
