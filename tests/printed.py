"""The functions and tables that the literature's pages print, in C, mended where conversion or a slip damaged them.

Nothing of a page is kept here but what has to be known to mend it.
"""

import ctypes
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from tests.conftest import require_tool
from tests.seeds import pages

Column = NDArray[np.uint64]

_NOT_A, _NOT_H = "0x" + "fe" * 8, "0x" + "7f" * 8
_CYCLE = r"   flood |= rooks = (rooks >> 8) & empty;\n"

MENDS: tuple[tuple[str, str, str, str], ...] = (
    ("dumb7", r"\n```\n+```\n", r"\n", "a sheet of paper ends within a listing"),
    ("dumb7", r"</pre>", "", "left over of the page's markup"),
    ("dumb7", r"0x(?:fe){7}\b", _NOT_A, "a byte of the mask is lost"),
    ("dumb7", r"0x(?:7f){9}\b", _NOT_H, "the mask has a byte too many"),
    ("dumb7", r"(U64 flood = \w+):", r"\1;", "a semicolon was read as a colon"),
    ("dumb7", r"\n {9,}(\(\w+ .. \d\) & empty;)\n +flood \|=\s*\n", r"\n flood |= \1\n", "left and right came apart"),
    ("dumb7", r"\n {9,}(\(?flood .*;)\n +return\s*\n", r"\n return \1\n", "left and right came apart"),
    (
        "dumb7",
        r"\n.*to close Wikispaces.*\n.*here \(http.*\n(?= +flood \|=)",
        r"\n" + 2 * _CYCLE,
        "a banner lies over two of the cycles, which are five and one",
    ),
    (
        "dumb7",
        r"\nU.*what will\n.*here \(http.*\n",
        rf"\n}}\nU64 soWeAttacks(U64 bishops, U64 empty) {{\nconst U64 notH = C64({_NOT_H});\n",
        "a banner lies over the end of westAttacks and the first lines of soWeAttacks",
    ),
    ("dumb7", r"(while \(gen\);)", r"\1 }", "the brace of `if` is not closed"),
    ("dumb7-prose", r"// (\{.*?\}|positve.*?shifts)", r"\n", "lines are joined, so a remark would hide what follows"),
    *(
        (page, r"\(slider, empty, dir8\)", r"(sliders, empty, dir8);", "a letter and a semicolon are not printed")
        for page in ("dumb7", "dumb7-prose", "kogge-stone")
    ),
    ("isenberg", r"(int add .*\{)", r"\1 int p, g;", "two variables are not declared"),
    ("isenberg", r"(rightAttacks) ::= (.*)", r"U64 \1(U64 r, U64 o) { FORMULA(\2) }", "a formula, here as a function"),
    ("exploding", "\u00a0", " ", "a space of another kind"),
    ("exploding", r"const Bitboard &", "Bitboard ", "C++, which is to be C"),
    ("exploding", r"Bitboard Board::(.*) const", r"Bitboard \1", "C++, which is to be C"),
    ("exploding", r"\(sq - 6\)", "((sq - 6) & 63)", "a negative count, which x86 takes modulo 64"),
    ("exploding", r"(break;\n)\s+\}(\s+default:)", r"\1\2", "the switch closes a brace too early"),
)
"""Of each page a pattern, what stands for it, and why."""

_HEAD = """\
#include <stdint.h>
typedef uint64_t U64, Bitboard, BitBoard;
typedef unsigned char byte;
typedef unsigned char Bytes __attribute__((vector_size(8)));
#define C64(number) number##ULL
#define FORMULA(formula) Bytes rooks = (Bytes)r, occu = (Bytes)o; return (U64)(formula);
#define rotateLeft(board, count) ((board) << ((count) & 63) | (board) >> (-(count) & 63))
#define notAFile 0xfefefefefefefefeULL
#define notHFile 0x7f7f7f7f7f7f7f7fULL
static U64 wpieces_, bpieces_;
"""
_ONES = [
    f"#define {name}One(board) shiftOne_1(board, {at})"
    for at, name in enumerate(("noEa", "east", "soEa", "sout", "soWe", "west", "noWe", "nort"))
]
_FUNCTION = re.compile(r"^(U64|Bitboard|BitBoard|int|void) (\w+) *\(([^()]*)\)\s*(?=\{)", re.MULTILINE)
_TABLE = re.compile(r"^(?:const )?(?:U64|Bitboard|int) (\w+)(?:\[\d+\])+ *(?:=\s*\{.*?\})?;", re.MULTILINE | re.DOTALL)
_TABLES_OF = {"dumb7": "dumb7-prose"}
"""The page on which the tables of another are whole."""


@dataclass(frozen=True)
class Definition:
    """A function as a page prints it, the number-th of that name there."""

    kind: str
    name: str
    number: int
    parameters: str
    body: str

    @property
    def symbol(self) -> str:
        return f"{self.name}_{self.number}"

    @property
    def prototype(self) -> str:
        return f"{self.kind} {self.symbol}({self.parameters})"

    def loop(self) -> str:
        """What calls it for n boards; what it takes beyond its parameters are the pieces of both sides."""
        number = len(self.parameters.split(",")) if self.parameters else 0
        given = ", ".join(f"in[{at}][i]" for at in range(number))
        result = "(uint32_t)" if self.kind == "int" else ""
        pieces = f"wpieces_ = in[{number}][i]; bpieces_ = in[{number + 1}][i]; " if "byte" in self.parameters else ""
        call = f"for (long i = 0; i < n; i++) {{ {pieces}out[i] = {result}{self.symbol}({given}); }}"
        return f"void all_{self.symbol}(const U64 **in, U64 *out, long n) {{ {call} }}"


def mended(page: str) -> str:
    """The text of a page, mended; each mend must find its damage."""
    text = _in_columns(pages()[page]) if page == "dumb7" else pages()[page]
    for where, pattern, replacement, reason in MENDS:
        if where == page:
            text, times = re.subn(pattern, replacement, text)
            assert times, (page, pattern, reason)
    return text


def _in_columns(text: str) -> str:
    """The page with the two columns of its comparison one under the other."""
    before, _, rest = text.partition("\ndumb7fill\n")
    columns, _, after = rest.partition("in x86/64 assembly")
    left, right = [], []
    for line in columns.splitlines():
        if line.startswith(" " * 40):
            right.append(line.lstrip(" |"))
        else:
            first, bar, second = line.partition("; |")
            left.append(first + bar[:1])
            right.append(second)
    return "\n".join((before, *left, *right, after))


@cache
def definitions(page: str) -> tuple[Definition, ...]:
    """Every function that a page prints, in its order."""
    text, numbers = mended(page), Counter[str]()
    found = []
    for match in _FUNCTION.finditer(text):
        kind, name, parameters = match.groups()
        numbers[name] += 1
        body = "".join(_braced(text[match.end() :]))
        found.append(Definition(kind, name, numbers[name], parameters.strip(), body))
    return tuple(found)


def _braced(text: str) -> Iterator[str]:
    """The beginning of a text to the brace that closes its first."""
    depth = 0
    for part in re.split(r"([{}])", text):
        yield part
        depth += (part == "{") - (part == "}")
        if part == "}" and not depth:
            return
    raise AssertionError("a brace is not closed")


def tables(page: str) -> dict[str, str]:
    """Every table that a page prints, by its name."""
    return {match[1]: match[0] for match in _TABLE.finditer(mended(_TABLES_OF.get(page, page)))}


def source(page: str) -> str:
    """All of a page as a C file; a name that is called is the last that was printed before."""
    printed = definitions(page)
    parts = [_HEAD, *_ONES, *tables(page).values(), *(f"{each.prototype};" for each in printed)]
    for each in printed:
        renamed = f"#undef {each.name}\n#define {each.name} {each.symbol}"
        parts += [renamed, f"{each.prototype} {each.body}"]
    return "\n".join([*parts, *(each.loop() for each in printed if each.kind != "void"), ""])


@cache
def library(page: str) -> ctypes.CDLL:
    """A page, compiled, its tables made."""
    with TemporaryDirectory() as directory:
        c, made = Path(directory) / "page.c", Path(directory) / "page.so"
        c.write_text(source(page))
        options = ("-O0", "-w", "-fwrapv", "-shared", "-fPIC", "-o", str(made))
        subprocess.run([require_tool("gcc"), *options, str(c)], check=True)
        loaded = ctypes.CDLL(str(made))
    for maker in definitions(page):
        if maker.kind == "void":
            getattr(loaded, maker.symbol)()
    return loaded


def results(page: str, symbol: str, columns: Sequence[Column]) -> Column:
    """What a printed function gives for each row of its arguments."""
    out = np.empty(len(columns[0]), np.uint64)
    addresses = (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))
    getattr(library(page), f"all_{symbol}")(addresses, ctypes.c_void_p(out.ctypes.data), ctypes.c_long(len(out)))
    return out
