"""Exported source that formatters have moved still verifies; other code and other comments do not."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.exports.words import words_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c_header, rust_module, zig_module
from setwise.codegen.kernel import Kernel
from tests.codegen.export.exports import kernel
from tests.codegen.export.sources.exported import sample
from tests.conftest import require_module, require_tool

Capture = pytest.CaptureFixture[str]

LANGUAGES = {"setwise_inline.h": c_header, "setwise.rs": rust_module, "setwise.zig": zig_module}


@cache
def text_of(name: str) -> str:
    """The file with a choice, tables and checks."""
    kernels = (kernel("shift.one.any"), kernel("shift.one.any", "bmi2"), kernel("sliders.pair", "avx2"))
    order = Order(kernels, facts_of, "a test", dispatch=not name.endswith(".zig"), checked=True, bound=True)
    return str(LANGUAGES[name].files(order)[name].decode())


def in_other_lines(text: str, name: str) -> str:
    """What formatters do, by hand: lines broken behind commas and operators, indented anew, commas that end a list."""
    lines: list[str] = []
    for line in text.split("\n"):
        if "//" in line or line.lstrip().startswith(("#", "*", "/*")) or line.endswith("\\"):
            lines.append(line)
            continue
        moved = line.replace(", ", ",\n  ").replace(" & ", "\n    & ").replace(" = ", " =\n ")
        lines.append("\t" + (moved if name.endswith(".h") else re.sub(r"(\w)\);", r"\1,\n);", moved)))
    return "\r\n".join(lines)


@pytest.mark.parametrize("name", LANGUAGES)
def test_other_lines_are_the_same_words(name: str) -> None:
    text = text_of(name)
    moved = in_other_lines(text, name)
    assert moved.count("\n") > text.count("\n") + 50
    assert words_of(name, moved.encode()) == words_of(name, text.encode()) is not None


@pytest.mark.parametrize("number", [12, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LANGUAGES)
def test_no_changed_letter_passes(name: str, number: int) -> None:
    """Each is lost, doubled, parted from the next by a space, or is another one, wherever that says something else."""
    text, numbers = text_of(name), random.Random(1)
    right = words_of(name, text.encode())
    assert right is not None
    for at in numbers.sample(range(len(text)), number):
        letter = text[at]
        if letter.isspace() or letter in "*/,":
            continue
        for other in ("", 2 * letter, "_", "\\\n", "\x0c", "\xa0", "'"):
            if other == letter:
                continue
            changed = text[:at] + other + text[at + 1 :]
            assert words_of(name, changed.encode("latin1")) != right, (text[at - 20 : at + 20], other)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("x.h", "#define X(a) b\n", "#define X (a) b\n"),
        ("x.h", "#define X a\nb", "#define X a b"),
        ("x.h", "#define X a\nb", "#define X a \\\nb"),
        ("x.h", "// a\nb;", "// a \\\nb;"),
        ("x.h", "// a\nb;", "// a ??/\nb;"),
        ("x.h", "/* a */ b;", "/* a b;"),
        ("x.h", "a && b", "a & & b"),
        ("x.h", "a << b", "a < < b"),
        ("x.h", 'f("a b")', 'f("a  b")'),
        ("x.h", "#include <a.h>\n", "#include < a.h>\n"),
        ("x.h", "#if a\nb\n", "x #if a\nb\n"),
        ("x.rs", "f(a, b)", "f(a,, b)"),
        ("x.rs", "a; // b", "/* a; */ // b"),
        ("x.zig", "a; // b", "// a;\n// b"),
        ("x.asm", "; a\n  ret\n", "; a \\\n  ret\n"),
        ("x.s", "# a\n  ret\n", "  # a\n  ret\n"),
        ("x.go", "a\n", "a \n"),
        ("x.go", "// a\nb\n", "//go:build a\nb\n"),
    ],
)
def test_what_a_compiler_tells_apart_is_not_the_same(name: str, one: str, other: str) -> None:
    words = words_of(name, other.encode())
    assert words is None or words != words_of(name, one.encode())


def exported(folder: Path, name: str) -> Path:
    form = {"h": "c", "rs": "rust", "zig": "zig"}[name.rpartition(".")[2]]
    command = ["export", "shift.one.any", "--format", form, "--isa", "bmi2", "--unproved", "-o", str(folder)]
    assert main(command) == 0
    return folder / name


def verified(folder: Path, capsys: Capture) -> dict[str, list[str]]:
    capsys.readouterr()
    main(["verify", str(folder), "--json"])
    rows = json.loads(capsys.readouterr().out)
    return {row["what"]: [row["status"], row["reason"]] for row in rows if row["what"] in ("as written", "made again")}


def test_verify_says_how_a_file_is_the_same_and_how_not(tmp_path: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    path = exported(tmp_path, "setwise_inline.h")
    text = path.read_text()
    wide = "in other lines: its code and comments are the same word by word"
    for changed, said in (
        (in_other_lines(text, path.name), ["fine", wide]),
        (text.replace("one step in", "two steps in"), ["failed", "the same code with other comments"]),
        (text.replace("[dir8]", "[dir8 ^ 1]"), ["failed", "its SHA-256 is another"]),
        (text + 9 * "\n" * len(text), ["failed", "its SHA-256 is another"]),  # no formatter does that
    ):
        assert changed != text
        path.write_bytes(changed.encode())
        assert verified(tmp_path, capsys) == {"as written": said, "made again": ["fine", ""]}


def _said(name: str, one: Kernel) -> bool:
    """Whether the language has words for all operations of the kernel."""
    try:
        LANGUAGES[name].files(Order((one,), facts_of, "a test"))
    except ValueError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "command"),
    [
        *(
            ("setwise_inline.h", lambda style=style: [require_tool("clang-format-19"), "-i", f"--style={style}"])
            for style in ("LLVM", "Google", "GNU", "WebKit", "Mozilla", "Microsoft")
        ),
        ("setwise.rs", lambda: [require_tool("rustfmt"), "--edition=2021"]),
        ("setwise.zig", lambda: [require_module("ziglang") and sys.executable, "-m", "ziglang", "fmt"]),
    ],
)
def test_formatters_move_words_alone(name: str, command: Callable[[], list[str]], tmp_path: Path) -> None:
    """In files that have every operation, region and choice."""
    kernels = tuple(one for one in sample().values() if _said(name, one))
    order = Order(kernels, facts_of, "a test", dispatch=not name.endswith(".zig"), checked=True, bound=True)
    (content,) = LANGUAGES[name].files(order).values()
    (tmp_path / name).write_bytes(content)
    subprocess.run([*command(), name], cwd=tmp_path, check=True, capture_output=True)
    moved = (tmp_path / name).read_bytes()
    assert moved != content
    assert words_of(name, moved) == words_of(name, content) is not None
