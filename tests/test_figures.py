"""Every number and comparison in README, docs and the first report: the request that makes it, or its test.

tests/test_readme.py runs the blocks of commands and Python. In the rest of a page each number, and each word that
compares, is part of a statement of this file, of a table that has a test, or of a section that names its source.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis import api
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Reg, decode
from setwise.analysis.pictures.slow_motion import EMPTY, SLIDERS, fills
from setwise.analysis.report.pages import figure
from setwise.analysis.run.inputs import RANDOM_BOARDS
from setwise.codegen import board as directions
from setwise.codegen.board import ALL, DIR8, NOEA, SOUT, square
from setwise.codegen.catalogue import find
from setwise.codegen.ir.grid import Grid
from setwise.codegen.ir.values import constant
from setwise.codegen.targets import TARGETS
from tests import seeds
from tests.test_readme import LESSONS, assert_there

ROOT = Path(__file__).parents[1]
GENERATED = {"docs/commands.md": "tests/golden/test_commands.py", "docs/formats.md": "tests/golden/test_formats.py"}
PATHS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *LESSONS, ROOT / "reports" / "README.md")
PAGES = [page for path in PATHS if (page := path.relative_to(ROOT).as_posix()) not in GENERATED]
WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]
FIGURE = re.compile(
    r"(?<![\w*^.])\d+(?:[.,]\d+)*"
    r"|\b(?:than|fewer|faster|fastest|slower|slowest|less|the lower|half|a third|a quarter|a tenth)\b"
    rf"|\b(?:{'|'.join(WORDS[2:])}|nine|ten|hundred|thousand)(?= (?:more |fewer |dependent |instruction )?"
    r"(?:instructions?|moves?|operations?|cycles?|steps|registers|bytes|sets|variants)\b)"
)
"""Numbers, words that compare two figures, and numbers in words before a unit."""
OUTSIDE = re.compile(
    r"x86-64|AVX-512|SHA-256|SMT-LIB 2|Zen \d|(?<=-)O\d|\bbug \d+|\b20\d\d\b|Rust \(1\.63|all else 1\.63"
    r"|\b(?:Python|CMake|Bochs|gcc|GCC|[Cc]lang|rustc) \d[\d.]*"
    r"|\b[a-h][1-8](?: = (?:bit )?\d+)?|(?<![\w.])[+-]\d\b|bit 0|\b(?:2, )?4,? or 8\b|\b\d+[ -]bits?\b|2\^128"
    r"|Connect-4|port 10|lower bounds?|more than once|[Ee]xit status (?:of each )?(?:is )?\d|modulo \d+"
)
"""Names, versions and years of the outside; squares, lanes and widths; words of definitions."""
SOURCED = {
    ("docs/design.md", "The laboratory"),
    ("docs/engine-authors.md", "Threat boards in one call"),
    ("docs/proofs.md", "How few operations there can be"),
}
"""Sections that name a commit and its date: it has the code that made their figures."""
PAGE_TESTS = "pytest tests/analysis/report/test_pages.py"
WINS = f"{PAGE_TESTS}::test_kogge_stone_has_all_the_lower_figures"
COMPILED = "pytest tests/codegen/export/sources/test_proved.py"
NUMBERED = "pytest tests/test_readme.py::test_the_directions_of_other_numberings"
EXAMPLES = "pytest tests/examples/test_own_routines.py::test_the_page_says_so"
TABLES = {
    ("README.md", "instruction set"): "pytest tests/test_readme.py::test_the_instructions_of_a_whole_side",
    ("docs/engine-authors.md", "routine"): "pytest tests/codegen/fills/test_sides.py",
    ("docs/engine-authors.md", "`sliders.union`"): COMPILED,
    ("docs/engine-authors.md", "squares 0, 1, 8"): NUMBERED,
    ("docs/course/words.md", "method"): "pytest tests/examples/test_course.py::test_a_word_means_its_definition",
    ("docs/course/examples.md", "instruction set"): EXAMPLES,
    ("docs/course/examples.md", "file"): EXAMPLES,
    ("docs/literature.md", "page"): "pytest tests/codegen/test_literature.py::test_docs_show_it",
    ("reports/README.md", "You need"): f"{PAGE_TESTS}::test_each_row_of_the_first_table_is_made_from_its_request",
    ("reports/README.md", ""): "setwise report --check",
}
"""Tables by page and first heading, each with the command that checks it."""


@cache
def of(name: str, isa: str = "x86-64", executed: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return the counts and the bounds on Zen 4 of a request's kernel, or of the instructions that a call executes."""
    request = api.request(name, isa)
    (costed,) = api.costs([request], "zen4", (lambda _: executed) if executed else None)
    return {**api.counts([request])[0], **costed.rows[0]}


def pairs(*columns: str, isa: str = "x86-64", form: str = "attacks.sout") -> list[Any]:
    """Return figures of dumb7 and of Kogge-Stone."""
    return [of(f"{family}.{form}", isa)[column] for column in columns for family in ("dumb7", "kogge-stone")]


queen = partial(pairs, form="attacks.queen")


def latencies(family: str) -> list[Any]:
    """Return the latencies of southward attacks without and with AVX-512."""
    return [of(f"{family}.attacks.sout", isa)["latency"] for isa in ("x86-64", "avx512")]


def added() -> list[int]:
    """Return the fewest and most instructions that compilers add to sliders.union: in general registers, in vectors."""
    page = (ROOT / "docs" / "engine-authors.md").read_text("utf-8")
    rows = re.findall(r"^\| [\w, -]+ \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    more = [int(length) - int(ours) for ours, *lengths in rows for length in lengths]
    return [choose(part) for part in (more[:4], more[4:]) for choose in (min, max)]


def steps() -> list[str]:
    """Return the steps of the fills in slow motion."""
    routines = (find(f"{family}.occluded.sout") for family in ("dumb7", "kogge-stone"))
    return [WORDS[len(fills(each, (SLIDERS, EMPTY))[0].cycles)] for each in routines]


def six_and_seven() -> list[str]:
    """Return the steps of dumb7's attacks and of its fill."""
    return [WORDS[of("dumb7.attacks.sout")["operations"] // 3], steps()[0]]


def longest(wrap: str) -> int:
    """Return the most steps of a ray along a rank of a grid."""

    def follows(files: int) -> bool:
        try:
            Grid(files, 1, wrap=wrap).ray(directions.EAST)
        except ValueError:
            return False
        return True

    return max(filter(follows, range(1, 20))) - 1


def between() -> list[int]:
    """Return figures of sliders.union with SSE2, what SSSE3's shuffles and AVX would leave of it, and AVX2's length."""
    request, counted = api.request("sliders.union", "sse2"), of("sliders.union", "sse2")
    decoded = decode(binary_of(request.kernel).text)
    flips = [each.mnemonic for each in decoded].count("bswap")
    copies = sum(each.mnemonic == "movdqa" and all(isinstance(part, Reg) for part in each.operands) for each in decoded)
    flipping = counted["transfers"] + flips
    shuffled = counted["instructions"] - flipping + 2 * flips
    boards = [each.mnemonic for each in decoded].count("punpcklqdq")
    left = [shuffled, shuffled - copies, of("sliders.union", "avx2")["instructions"]]
    return [counted["instructions"], flipping, boards, copies, 2 * flips, *left]


EAST = ("subtraction.attacks-cleared.east", "push.attacks.east", "kogge-stone.attacks.east")
ON_E4 = "exploding.bishop", "x86-64", (square("e4"), ALL)
MAILBOX = "pytest tests/analysis/proof/test_mailbox.py"
SHOWN, DEPARTURES = (f"pytest tests/{each}" for each in ("test_readme.py", "codegen/fills/test_departures.py"))
STATEMENTS: dict[str, dict[str, str | Callable[[], list[Any]]]] = {
    "README.md": {
        "Bit {} is a1, bit {} b1, bit {} h8": lambda: [square(name) for name in ("a1", "b1", "h8")],
        "in {} steps and in {}": steps,
        "{} of dumb7's {} steps": six_and_seven,
        "for {} instruction sets": lambda: [WORDS[len(TARGETS)]],
    },
    "docs/engine-authors.md": {
        "not always the fastest": f"{PAGE_TESTS}::test_a_variant_has_a_row_if_it_takes_fewer_cycles",
        "take {} instructions more than those of its sliders": lambda: [
            of("side.union.white", "avx512")["instructions"] - of("sliders.union", "avx512")["instructions"]
        ],
        "than setwise's bytes, in the table below by {} to {} instructions in general registers and by {} to {}": added,
        "` has {} for x86-64, where imul copies and shifts at once, and {} for bmi2": lambda: [
            api.counts([api.request("sliders.union", isa, for_="size")])[0]["instructions"]
            for isa in ("x86-64", "bmi2")
        ],
        "Find your squares 0, 1 and 8": NUMBERED,
    },
    "docs/other-languages.md": {
        "Java 22 or later": "pytest tests/examples/test_other_languages.py",
        "Zig must be 0.14 or later": "pytest tests/codegen/export/sources/test_modules.py",
    },
    "docs/own-routines.md": {
        "The {} kernels are for {} calling": lambda: [2 * sum(len(each.widths) for each in TARGETS.values()), WORDS[2]],
        "BMI2 with {} board, SSE2 with {}, AVX2 with {} or {}": lambda: [
            lanes for isa in ("bmi2", "sse2", "avx2") for lanes in sorted(TARGETS[isa].widths)
        ],
    },
    "docs/course/words.md": {
        "the number of a square ({} to {}) or of a direction ({} to {})": lambda: [0, square("h8"), 0, len(DIR8) - 1],
        "a number from {} to {}": lambda: [0, 8],
        "A known count of {} or more shifts all bits out": lambda: [
            next(n for n in range(99) if (constant(ALL) << n).number == 0)
        ],
    },
    "docs/course/grids.md": {
        "the {} dark squares of checkers": lambda: [Grid(8, 8, dark=True).all.bit_count()],
        "they take {} bits": lambda: [Grid(8, 8, gap=1, dark=True).all.bit_length()],
        "International draughts, `, take {}": lambda: [Grid(10, 10, gap=1, dark=True).all.bit_length()],
        "of at most {} steps": lambda: [longest("")],
        "rings of at most {} squares": lambda: [longest("files") + 1],
    },
    "docs/design.md": {
        "takes {} instructions with SSE2: {} transfers and ` flip {} boards and the result, and {} copy a vector"
        " register. SSSE3's ` would flip with {}, a ` and a ` each. AVX's three operands would spare the copies. So {}"
        " instructions are left with SSSE3 and {} with AVX; AVX2 takes {}.": between,
    },
    "docs/fills.md": {
        "n is 1 to 7": "pytest tests/codegen/ir/test_refusals.py",
        "A shift by 64 or more gives {}": lambda: [(constant(1) << 64).number],
    },
    "docs/proofs.md": {
        "A list of 16 moves": "pytest tests/analysis/proof/test_lists.py::test_lists_are_proved",
        "an integer below 64 is known": MAILBOX,
        "a block of 64 bytes is drawn": MAILBOX,
        "each in less time than the default limit": f"{MAILBOX}::test_ray_masks_are_proved",
        "a fill of seven cycles": DEPARTURES,
        "{} random boards": lambda: [f"{RANDOM_BOARDS:,}"],
    },
    "docs/literature.md": {
        "southward at least {} cycles ({} with AVX-512). Kogge-Stone": partial(latencies, "dumb7"),
        "each of three steps: at least {} cycles ({} with AVX-512). Its": partial(latencies, "kogge-stone"),
        "{} moves in plain x86-64 hardly count": lambda: [WORDS[of("kogge-stone.attacks.sout")["moves"]]],
        "{} dependent steps of a shift and an and (its fill takes {})": six_and_seven,
        "with each instruction set, it takes fewer instructions, and fewer cycles by these bounds": WINS,
        "| {} and {} operations, {} and {} instructions": lambda: pairs("operations", "instructions"),
        "| {} and {} moves, {} and {} registers; {} and {} cycles a call": lambda: pairs("moves", "registers", "bound"),
        "BMI2: {} and {} moves; {} and {} cycles a call": lambda: pairs("moves", "bound", isa="bmi2"),
        "AVX-512: {} and {} instructions, {} and {} cycles.": lambda: queen("instructions", "latency", isa="avx512"),
        "x86-64: {} and {} instructions, {} and {} cycles a call": lambda: queen("instructions", "bound"),
        "fewer instructions there, Kogge-Stone the lower latency | {} and {} instructions, {} and {} cycles": lambda: (
            pairs("instructions", "latency", form="attacks.any")
        ),
        "a fixed direction takes {} and {}": lambda: pairs("latency"),
        "his code {} instructions and {} cycles, the addition (`) {} and {}, Kogge-Stone {} and {} |": lambda: [
            of(name, "sse2")[column] for name in EAST for column in ("instructions", "latency")
        ],
        "of an empty board: {} cycles, {} cycles a call; Kogge-Stone for any number of bishops: {} and {} |": lambda: [
            code[column] for code in (of(*ON_E4), of("kogge-stone.attacks.bishop")) for column in ("latency", "bound")
        ],
        "to the right by {}, and ` a shift to the left by {}": lambda: [-SOUT.shift, NOEA.shift],
        "does two operations of a fill": SHOWN,
        "the fill of seven cycles": DEPARTURES,
        "For a bishop 7, 8 and 9 mean 0, 1 and 2 explosions, for a rook 9, 10 and 11": DEPARTURES,
    },
    "reports/README.md": {
        "of {} dependent steps (its fill takes {}), at": six_and_seven,
        "least {} cycles without AVX-512, and Kogge-Stone of three, at least {}": lambda: pairs("latency"),
        "{} cycles a call, AVX-512 {} in fewer instructions, and SSE2, which every x86-64 processor has, {}": lambda: [
            figure(of("sliders.union", isa)["bound"]) for isa in ("avx2", "avx512", "sse2")
        ],
        "Kogge-Stone has the lower figure in {} of {} comparisons": WINS,
        "in {} steps and in {}": steps,
        "A chain of {} steps beside a network of {}": steps,
    },
}
"""Statements by page: the text, and its figures from requests or the test that holds it."""


def pattern(statement: str) -> str:
    return re.escape(statement).replace(r"\{\}", r"[\w.,]*\w")


def prose(page: str) -> str:
    """The page without blocks, tables and sections that are checked elsewhere, code and targets of links."""
    text = (ROOT / page).read_text("utf-8")
    text = re.sub(r"^```.*?^```|^    [^\n]*$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
    for _, title in (each for each in SOURCED if each[0] == page):
        section = re.search(rf"^## {title}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        assert section, title
        assert re.search(r"commit [0-9a-f]{7} \([^)]*\b20\d\d-\d\d-\d\d\)", section[0]), title
        text = text.replace(section[0], "")
    for _, head in (each for each in TABLES if each[0] == page):
        text, number = re.subn(rf"^\| ?{re.escape(head)} ?\|.*\n(\|.*\n)+", "", text, flags=re.MULTILINE)
        assert number, head
    return " ".join(re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`", text)).split())


def test_commands_that_hold_tables_and_statements_are_there() -> None:
    held = [each for of_page in STATEMENTS.values() for each in of_page.values() if isinstance(each, str)]
    for command in {*TABLES.values(), *held, *(f"pytest {test}" for test in GENERATED.values())}:
        assert_there(command)


@pytest.mark.parametrize(("page", "text"), [(page, text) for page, held in STATEMENTS.items() for text in held])
def test_a_statement_has_the_figures_of_its_requests(page: str, text: str) -> None:
    assert re.search(pattern(text), prose(page)), "the page says otherwise: delete the statement"
    if not isinstance(made := STATEMENTS[page][text], str):
        values = (f"{value:.3g}" if isinstance(value, float) else value for value in made())
        assert text.format(*values) in prose(page)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_other_figures(page: str) -> None:
    text = prose(page)
    for statement in STATEMENTS.get(page, {}):
        text = re.sub(pattern(statement), "~", text)
    text = OUTSIDE.sub("~", re.sub('"[^"]*"', "~", text) if page == "docs/literature.md" else text)
    found = [text[max(0, each.start() - 40) : each.end() + 40] for each in FIGURE.finditer(text)]
    assert found == [], "give each a statement in tests/test_figures.py, or delete it"


def test_quotations_are_the_pages() -> None:
    text = (ROOT / "docs" / "literature.md").read_text("utf-8").partition("## Directions and names")[0]
    printed = " ".join(re.sub("</?[a-z]+>", "", " ".join(seeds.pages().values())).split())
    quoted = re.findall(r'"([^"]*)"', text.partition("|---|")[2])
    assert len(quoted) == 10
    assert [each for each in quoted if each not in printed] == []
