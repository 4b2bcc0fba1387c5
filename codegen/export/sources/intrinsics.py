"""Intrinsics of C and Rust, which share their names: `call` in EXPRESSIONS.

Sources: Intel Intrinsics Guide; Rust's core::arch::x86_64.
"""

from collections.abc import Sequence
from typing import ClassVar

from setwise.codegen.export.sources.expression_templates import EXPRESSIONS
from setwise.codegen.export.sources.language import Inexpressible, Language, numeral
from setwise.codegen.ir.values import Condition, Value

LOAD = "{p}_loadu_{s}"
STORE = "{p}_storeu_{s}"

NOTE = "setwise selects the instructions; your compiler allocates the registers."

BITS = {2: "128", 4: "256", 8: "512"}


def named(template: str, lanes: int) -> str:
    """Return the name of an intrinsic for this many lanes.

    >>> named(LOAD, 4)
    '_mm256_loadu_si256'
    """
    bits = BITS[lanes]
    return template.format(p="_mm" if lanes == 2 else f"_mm{bits}", s=f"si{bits}")


class WithIntrinsics(Language):
    """A language with intrinsics for vectors."""

    SIGNED: ClassVar[str]
    UNSIGNED: ClassVar[str]
    """Templates that convert a 64-bit number to a signed one, and back."""
    MASK: ClassVar[str]
    """A template that converts a 64-bit number to the mask of eight lanes."""
    PLACE: ClassVar[str] = "{} + {}"
    """A template that adds a number of boards to the address of boards, for an intrinsic."""

    def on_vectors(self, value: Value, operands: Sequence[str]) -> str:
        """Return the call of an intrinsic. Raise Inexpressible if there is none."""
        said, lanes = EXPRESSIONS.get(value.op, {}), max(value.lanes, *(arg.lanes for arg in value.args))
        each = value.operation.left and len(value.args) > 1
        text = said.get("call_each" if each else f"call{lanes}") or said.get("call")
        if text is None:
            raise Inexpressible(f"there is no intrinsic for '{value.op}' on {lanes} lanes")
        name, *words = text.split()
        given = dict(zip("abcd", operands, strict=False))
        given["zero"] = self.call(named("{p}_setzero_{s}", lanes), (), ())
        given |= {f"{letter}64": self.SIGNED.format(operand) for letter, operand in given.items()}
        given |= {f"{letter}8": self.MASK.format(operand) for letter, operand in zip("abcd", operands, strict=False)}
        given["place"] = self.PLACE.format(*operands[:2], "")
        arguments = [given[word] for word in words if word in given]
        immediates = [numeral(value.count) if word == "n" else word for word in words if word not in given]
        made = self.call(named(f"{{p}}_{name}", lanes), arguments, immediates)
        return self.UNSIGNED.format(made) if value.lanes == 1 else made

    def condition(self, condition: Condition, text: str, *, holds: bool) -> str:
        """Return the expression of a condition, or of its negation: of a vector, whether some lane is not 0."""
        if condition.value.lanes == 1:
            return super().condition(condition, text, holds=holds)
        are_zero = self.call(named("{p}_testz_{s}", condition.value.lanes), (text, text), ())
        return f"{are_zero} {'==' if holds else '!='} 0"

    def call(self, name: str, arguments: Sequence[str], immediates: Sequence[str]) -> str:
        """Return the expression of a call."""
        raise NotImplementedError
