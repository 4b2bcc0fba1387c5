"""What a contract requires, as statements that end the program where a debug build does not keep to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from setwise.codegen.describe.routine import SLIDERS_WITHIN, WITHIN_OCCUPIED, Parameter, Written
from setwise.codegen.export.prototypes import boards_a_call
from setwise.codegen.export.sources.language import Language, indented
from setwise.codegen.kernel import Kernel


def promises(kernel: Kernel, language: Language) -> Iterator[str]:
    """The statements that go before a kernel's own; ValueError for a requirement that is written in Python."""
    contract, lanes = kernel.routine.contract, boards_a_call(kernel)
    for requirement in contract.requires:
        if isinstance(requirement, Written):
            what = f"{kernel.name} requires what its own file says in Python"
            raise ValueError(f"{what}, which --checked cannot say in {language.NAME}: leave --checked out")
    for parameter in contract.bounded:
        holds = f"{parameter.name} < {language.number(parameter.below)}"
        yield language.PROMISE.format(holds=holds, text=f"{parameter.name} below {parameter.below}")
    pairs = list(_pairs(contract.elements or contract.parameters, contract.required))
    if not pairs:
        return
    if contract.elements:
        counts = [parameter.name for parameter in contract.parameters if parameter.kind == "count"]
        yield from (language.EACH.format(counts[0]), *indented(_within(language, pairs, "{}")), "}")
    elif lanes > 1:
        for name in dict.fromkeys(name for _, *names in pairs for name in names):
            yield from language.lanes_of(name, lanes)
        yield from (language.EACH.format(lanes), *indented(_within(language, pairs, "of_{}")), "}")
    else:
        yield from _within(language, pairs, "")


def _pairs(parameters: Sequence[Parameter], required: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each requirement of sliders with the names of a board of them and of one that says where they may stand."""
    for requirement in required:
        sliders = [parameter.name for parameter in parameters if parameter.kind == "board"]
        others = [parameter.name for parameter in parameters if parameter.kind == SLIDERS_WITHIN.get(requirement)]
        yield from ((requirement, *pair) for pair in product(sliders, others))


def _within(language: Language, pairs: Sequence[tuple[str, str, str]], array: str) -> list[str]:
    """A statement a pair, on boards or, with a template of arrays' names, on the entries number i."""
    lines = []
    for requirement, *names in pairs:
        sliders, other = (language.load(array.format(name), "i", 1) if array else name for name in names)
        outside = f"{language.NOT}{other}" if requirement == WITHIN_OCCUPIED else other
        lines.append(language.PROMISE.format(holds=f"({sliders} & {outside}) == 0", text=requirement))
    return lines
