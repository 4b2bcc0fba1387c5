"""Names of a user's routines in an export: those that the export's language reserves get an underscore behind them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from setwise.codegen.export.names import bare_symbol, symbol_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.reserved import LOCALS, reserved
from setwise.codegen.ir.routine import Parameter, free_name
from setwise.codegen.kernel import Kernel


def renamed(
    kernel: Kernel, language: str, functions: Mapping[str, str] | None = None, kernels: Collection[str] = ()
) -> Kernel:
    """Return the kernel with names of parameters and results that are free in a language, and tell them in its summary.

    `functions` are the names of the functions of all routines of the export, and `kernels` those of all kernels. In Zig
    no parameter has one of these.
    """
    routine, contract, functions = kernel.routine, kernel.routine.contract, functions or {}
    own = symbol_of(kernel.name)
    names = {own: functions.get(kernel.name, own)}
    shadows = {*functions.values(), *kernels} if language == "Zig" else set[str]()
    taken = {*(parameter.name for parameter in contract.parameters), *contract.results, *shadows}
    inputs = [parameter.name for parameter in contract.parameters if parameter.kind != "results"]
    for name in (*inputs, *contract.results):
        if names.get(name, name) == name and (reserved(name, language) or (name in inputs and name in shadows)):
            names[name] = free_name(f"{name}_", taken)
            taken.add(names[name])
    told = [f"{name} is named {new}" for name, new in names.items() if name != new]
    if not told:
        return kernel

    def under(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
        return tuple(replace(each, name=names.get(each.name, each.name)) for each in parameters)

    results = tuple(names.get(each, each) for each in contract.results)
    given = replace(contract, parameters=under(contract.parameters), elements=under(contract.elements), results=results)
    summary = f"{routine.summary} (here {', '.join(told)})"
    return replace(kernel, routine=replace(routine, contract=given, summary=summary))


_LANGUAGES = {"rust": "Rust", "zig": "Zig", "go": "Go", "javascript": "JavaScript"}
"""The languages of formats; that of others is C, in which listings have prototypes, and objects a header."""
_WITH_FUNCTIONS = ("c", "rust", "zig", "javascript")
"""Formats with a function of each routine, by the routine's name."""


def in_format(order: Order, format: str) -> Order:
    """Return the export with names that are free in the language of a format."""
    language, functions = _LANGUAGES.get(format, "C"), format in _WITH_FUNCTIONS
    names = {kernel.name: symbol_of(kernel.name) for kernel in order.kernels}
    for routine, name in names.items():
        if functions and (reserved(name, language) or name in LOCALS.get(language, ())):
            names[routine] = free_name(f"{name}_", {*names.values()})
    every = {*map(bare_symbol, order.kernels)} if functions else set[str]()
    kernels = tuple(renamed(kernel, language, names, every) for kernel in order.kernels)
    return replace(order, kernels=kernels, functions=names)
