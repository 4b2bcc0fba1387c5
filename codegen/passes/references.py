"""Every label and datum that is named is there."""

from __future__ import annotations

from setwise.codegen.machine.code import Label, Memory
from setwise.codegen.passes.unit import Unit
from setwise.codegen.targets.operands import ARGUMENT


def references(unit: Unit) -> Unit:
    """The pass: the unit as it is; AssertionError for a label, datum or frame operand that is nowhere."""
    code = unit.code
    labels = {item.name for item in code.items if isinstance(item, Label)}
    named = {value.name for datum in code.data for value in datum.values if isinstance(value, Label)}
    symbols = {datum.label for datum in code.data}
    for operand in (operand for instruction in code.instructions for operand in instruction.operands):
        if isinstance(operand, Label):
            named.add(operand.name)
        if isinstance(operand, Memory) and operand.symbol is not None and operand.symbol not in symbols:
            raise AssertionError(
                f"{code.name}: no datum is called {operand.symbol}" if operand.symbol != ARGUMENT else ""
            )
    if not named <= labels:
        raise AssertionError(f"{code.name}: no label is called {', '.join(sorted(named - labels))}")
    return unit
