"""Writer of a JavaScript module of functions on BigInts, for web pages with boards. Only kernels for plain x86-64."""

import re
from collections.abc import Iterator, Sequence

from setwise.codegen.export.banner import described, head
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources.dispatch import Choice, boards, choices, usage
from setwise.codegen.export.sources.expression_templates import EXPRESSIONS
from setwise.codegen.export.sources.language import Inexpressible, Language, commented, filled, function_text
from setwise.codegen.export.sources.source import body
from setwise.codegen.ir.values import Value

_NUMBER = re.compile(r"(?<![\w{])(0x[0-9a-fA-F]+|\d+)(?![\w}])")


class JavaScript(Language):
    """The JavaScript syntax of a kernel: that of C, with BigInts truncated to 64 bits."""

    NAME = "JavaScript"
    WORD = "bigint"
    NUMBER = "{}n"
    CONSTANT, VARIABLE = "const {name} = {text};", "let {name} = {text};"
    TABLE = ("const {name} = [", "].map(BigInt);")
    LOOP, LEAVE = "for (;;) {", ("if ({}) break;",)
    WHEN = "if ({}) {{"
    SWITCH, ARM, DEFAULT, ARM_ENDS = "switch ({}) {{", "case {}n: {{", "default: {", ("} break;", "}", "}")
    RESULTS, ARRAY = ("const results = new BigUint64Array({});", "return results;"), "BigUint64Array"

    def general(self, value: Value, operands: Sequence[str]) -> str:
        """Return the C expression with BigInt literals, truncated if it may exceed 64 bits, or raise Inexpressible."""
        said = EXPRESSIONS.get(value.op, {})
        text = said.get(self.NAME) or _NUMBER.sub(r"\1n", said.get("C", "_"))
        if "_" in text:
            raise Inexpressible(f"JavaScript has no expression for '{value.op}'")
        counts = value.attr if isinstance(value.attr, tuple) else (0,)
        n, m = (f"{each}n" for each in (counts[0], -counts[0] % 64))
        given = dict(zip("abc", (*operands, "", ""), strict=False))
        text = filled(text, **given, n=n, m=m)
        return text if value.op in ("and", "or", "xor", "shr") else f"BigInt.asUintN(64, {text})"

    def table(self, name: str, numbers: Sequence[int], size: int) -> Iterator[str]:
        """Yield the lines of a table. All entries are BigInt literals, since plain numbers cannot hold 64 bits."""
        for line in super().table(name, numbers, size):
            yield re.sub(r"(0x\w+),", r"\1n,", line)


def module(order: Order) -> str:
    """Return the text of the module. Raise ValueError for an instruction set other than x86-64."""
    for kernel in order.kernels:
        if (isa := kernel.target.name) != "x86-64":
            raise ValueError(f"{kernel.name} for {isa}: JavaScript has no instruction sets: use --isa x86-64")
    offered = choices(order)
    parts = ["\n".join(commented([*head(order, f"{order.called}.mjs"), "", boards(order.kernels), _USE]))]
    return "\n\n".join((*parts, *map(_function, offered))) + "\n"


_USE = "They are BigInts; arrays of them are BigUint64Arrays."


def _function(choice: Choice) -> str:
    kernel = choice.plain
    contract = kernel.routine.contract
    given = [parameter.name for parameter in contract.parameters if parameter.kind != "results"]
    remark = described(kernel.routine, f"Usage: {usage(contract, choice.bare, 'const', '')}")
    head = ("/**", *(f" * {line}" for line in remark), " */", f"export function {choice.bare}({', '.join(given)}) {{")
    return function_text(head, body(kernel, JavaScript()))
