"""What is wrong with a description is one line: its place, what was wrong, what would be right; never a traceback."""

import os
import re
import sys
from pathlib import Path

import pytest

import setwise
from setwise import Board
from setwise.analysis.commands.main import main
from setwise.codegen.own.user_files import routines_named
from tests.analysis.commands.running import Capture, complaint, printed
from tests.conftest import require_module

HEAD = """\
import setwise
from setwise import Board, Bound, Number, Ray
from typing import Annotated, NamedTuple

@setwise.routine
"""
"""Five lines, with what is wrong behind them."""

BODIES = {
    "    if x:\n        return x": "7: f: .* Python's if and while cannot test it: use when",
    "    while x:\n        x = x << 1": "7: f: .* use when, while_ or switch",
    "    while x != x << 1:\n        x = x << 1": "7: f: boards are compared when the code runs",
    "    if setwise.nonzero(x):\n        x = x << 1\n    return x": "7: f: .* use when, while_ or switch",
    "    while not setwise.below(x, 9):\n        x = x << 1": "7: f: .* use when, while_ or switch",
    "    return 3 in x": "7: f: .*: a board has the operators",
    "    return x[3]": "7: f: 'Value' object is not subscriptable: a board has the operators",
    "    return [s for s in x]": "7: f: 'Value' object is not iterable",
    "    return x < 3": "7: f: '<' not supported",
    "    return x // 3": "7: f: unsupported operand",
    "    return 1 << int(x)": "7: f: a traced value has no number until the code runs, so it cannot index",
    "    return x.north()": "7: f: AttributeError: .* has no attribute 'north'",
    "    x << 1": "7: f: returns nothing instead of a board",
    "    return 'a'": "7: f: returns str instead of a board",
    "    return x, x": "7: f: returns 2 results, but is annotated with 1",
    "    return f.function(x)": "7: f: infinite recursion",
    "    raise KeyError('no')": "7: f: KeyError: 'no'",
    "    import sys; sys.exit(0)": "7: f: SystemExit: 0",
    "    yield x": "6: f: a generator or coroutine returns no board",
    "    return x << -1": "7: f: cannot shift by -1",
}
SIGNATURES = {
    "f(x) -> Board": "parameter 'x' has no kind: annotate it with Board, Occupied",
    "f(x: int) -> Board": "parameter 'x' has no kind",
    "f(x: 'Bord') -> Board": "invalid annotation .name 'Bord' is not defined.",
    "f(x: 'setwise.Bord') -> Board": "invalid annotation",
    "f(x: Board)": "the return annotation is missing or no board: write -> Board, -> Number",
    "f(x: Board) -> tuple[Board, Board]": "return annotation is missing or no board",
    "f(*x: Board) -> Board": "parameter 'x' is not positional",
    "f(*, x: Board) -> Board": "parameter 'x' is not positional",
    "f(x: Board = 3) -> Board": "parameter 'x' has a default",
    "f() -> Board": "a routine needs a parameter: add one",
    "f(_x: Board) -> Board": "parameter '_x' begins with _ or setwise",
    "f(setwise_x: Board) -> Board": "parameter 'setwise_x' begins with _ or setwise",
    "f(f: Board) -> Board": "parameter 'f' has the routine's own name",
    "f(\u00e4: Board) -> Board": "parameter '\u00e4' begins .* or is not ASCII",
    "_f(x: Board) -> Board": "this name begins as names of exports do, with _ or setwise",
    "f\u00fcr(x: Board) -> Board": "listings and exports cannot use this name",
    "f(x: Annotated[Number, Bound(0)]) -> Board": "has the bound 0: give a bound from 1",
    "f(x: Annotated[Number, Bound(1 << 64)]) -> Board": "has the bound 18446744073709551616: give a bound",
}
FILES = {
    "def f(:": "mine.py:1: invalid syntax",
    "raise RuntimeError('boom')": "mine.py:1: RuntimeError: boom",
    "import sys; sys.exit(3)": "mine.py:1: SystemExit: 3",
    "import nowhere": "mine.py:1: ModuleNotFoundError: No module named 'nowhere'",
    "x = 1": "mine.py defines no routine: write @setwise.routine",
    "x = '\u00e9'.encode('latin-1')\x00": "mine.py:1: source code string cannot contain null bytes",
    "import setwise\nf = setwise.routine(lambda x: x)": "mine.py:2: <lambda>: listings and exports cannot use this",
    "import setwise\n@setwise.routine\nclass f: pass": "is not a function: define a routine with def",
    "import setwise\n@setwise.routine(isas='avx2')\ndef f(x: int) -> int: ...": "mine.py:3: f: isas=",
    "import setwise\n@setwise.routine(isas=['avx3'])\ndef f(x: int) -> int: ...": "list some of x86-64",
    "import setwise\nclass A:\n @setwise.routine\n def f(self, x: int) -> int: ...": "'self' has no kind",
}


@pytest.mark.parametrize(("body", "wanted"), BODIES.items())
def test_a_body(body: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"{HEAD}def f(x: Board) -> Board:\n{body}\n")
    assert re.search(rf"setwise count: mine.py:{wanted}", complaint(capsys, "count", "mine.py:f"))


@pytest.mark.parametrize(("signature", "wanted"), SIGNATURES.items())
def test_a_signature(signature: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(f"{HEAD}def {signature}:\n    return 0\n", encoding="utf-8")
    assert re.search(rf"mine.py:6: \w+: .*{wanted}", complaint(capsys, "count", "mine.py"))


@pytest.mark.parametrize(("text", "wanted"), FILES.items())
def test_a_file(text: str, wanted: str, mine: Path, capsys: Capture) -> None:
    mine.write_text(text)
    assert wanted in complaint(capsys, "prove", "mine.py")


RAISED = {
    "sys.exit(0)": "SystemExit: 0",
    "sys.exit()": "SystemExit",
    "raise GeneratorExit": "GeneratorExit",
    "raise Odd('x')": "Odd",
    "raise RuntimeError('two\\nlines')": "RuntimeError: two lines",
    "raise StopIteration": "StopIteration",
}
ODD = """\
import sys
import setwise
from setwise import Board
class Odd(BaseException):
    def __str__(self): raise Odd
"""


@pytest.mark.parametrize(("statement", "wanted"), RAISED.items())
def test_whatever_is_raised_is_one_line(statement: str, wanted: str, mine: Path, capsys: Capture) -> None:
    routine = "@setwise.routine\ndef f(x: Board) -> Board:\n {}return x\n@f.specification\ndef _(x):\n {}return x\n"
    mine.write_text(f"{ODD}{statement}\n{routine.format('', '')}")
    assert f"mine.py:6: {wanted}\n" in complaint(capsys, "prove", "mine.py")
    mine.write_text(ODD + routine.format(f"{statement}; ", ""))
    assert f"mine.py:8: f: {wanted}\n" in complaint(capsys, "count", "mine.py")
    mine.write_text(ODD + routine.format("", f"{statement}; "))
    for command in (("prove", "mine.py"), ("check", "mine.py", "--quick")):
        out = printed(capsys, *command, "--isa", "x86-64", "--abi", "sysv", status=1)
        assert f"mine.py:11: the specification of mine.py:f: {wanted}\n" in out
    assert main(("export", "mine.py", "--format", "nasm", "-o", "out")) == 1
    assert re.search(f"^setwise export: .* is not proved: .*: {re.escape(wanted)}; ", capsys.readouterr().err)
    requirement = f"@f.requires\ndef _(x):\n    {statement}; return x\n"
    mine.write_text(ODD + routine.format("", "") + requirement)
    out = printed(capsys, "prove", "mine.py", "--isa", "x86-64", "--abi", "sysv", status=1)
    assert f"mine.py:14: the requirement of mine.py:f: {wanted}\n" in out


def test_a_specification_that_gives_another_result_each_time_is_no_traceback(mine: Path, capsys: Capture) -> None:
    mine.write_text(
        "import itertools\nimport setwise\nfrom setwise import Board\nnext_one = itertools.count().__next__\n"
        "@setwise.routine\ndef f(x: Board) -> Board:\n    return x | 1\n"
        "@f.specification\ndef _(x):\n    return x | next_one()\n"
    )
    out = printed(capsys, "prove", "mine.py", "--isa", "x86-64", "--abi", "sysv", status=1)
    assert "let it depend on its arguments alone" in out


def test_ctrl_c_in_a_users_code_is_that(mine: Path) -> None:
    mine.write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        routines_named("mine.py")


def test_what_is_no_file(mine: Path, capsys: Capture) -> None:
    (mine.parent / "folder.py").mkdir()
    os.mkfifo(mine.parent / "pipe.py")
    (mine.parent / "latin.py").write_bytes(b"import setwise\nx = '\xe9'\n")
    for name in ("folder.py", "pipe.py", "none.py", "a\0.py", "none:f", "__main__:f", "a-b:f", "x" * 300 + ".py"):
        complaint(capsys, "count", name)
    assert "latin.py:" in complaint(capsys, "count", "latin.py")
    assert "mine.py has no routine 'rook': it has knight_attacks" in complaint(capsys, "count", "mine.py:rook")


def test_what_a_target_cannot_do(mine: Path, capsys: Capture) -> None:
    many = [f"{letter}{letter}" for letter in "abcdeghjk"]
    takes = ", ".join(f"{name}: Board" for name in many)
    mine.write_text(f"{HEAD}def f({takes}) -> Board:\n    return {' | '.join(many)}\n")
    assert "takes 9 boards in vector registers" in complaint(capsys, "count", "mine.py", "--isa", "avx2")
    mine.write_text(f"{HEAD}def f({', '.join(takes.split(', ')[:5])}) -> Board:\n    return {' | '.join(many[:5])}\n")
    assert main(["listing", "mine.py", "--isa", "avx2"]) == 0  # Windows has registers for four only
    assert "Windows" not in capsys.readouterr().out
    mine.write_text(f"{HEAD}def f(x: Board) -> Board:\n    return x._made('add-bytes', x)\n")
    assert "setwise has no bmi2 instruction for 'add-bytes'" in complaint(capsys, "count", "mine.py", "--isa", "bmi2")


def test_what_a_file_prints_is_no_output(mine: Path, capsys: Capture) -> None:
    mine.write_text("print('hello')\n" + mine.read_text())
    assert main(["list", "mine.py"]) == 0
    written = capsys.readouterr()
    assert "hello" not in written.out
    assert "hello" in written.err


def test_what_ran_is_what_stood_there(mine: Path, capsys: Capture) -> None:
    """Two contents of one length within one tick of the clock; and nothing is left beside the file."""
    for shift, instruction in ((5, "shl rdi, 5"), (6, "shl rdi, 6")):
        mine.write_text(f"{HEAD}def f(x: Board) -> Board:\n    return x << {shift}\n")
        main(["listing", "mine.py:f"])
        assert instruction in capsys.readouterr().out
    assert [path.name for path in mine.parent.iterdir()] == ["mine.py"]


def test_a_proof_names_no_specification_if_there_is_none(mine: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    mine.write_text(f"{HEAD}def f(x: Board) -> Board:\n    return x << 8\n")
    assert main(("prove", "mine.py", "--isa", "x86-64", "--abi", "sysv")) == 1
    shown = capsys.readouterr().out
    assert "\nspecification" not in shown
    assert "no specification: write one" in shown


def test_from_python() -> None:
    def inner(x: Board) -> Board:
        return x << 8

    nested = setwise.routine(inner)
    assert nested(1) == 256  # by its object alone: no name leads to it
    with pytest.raises(TypeError, match="is not a function"):
        setwise.routine(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="3 is not a specification of"):
        nested.specification(3)  # type: ignore[type-var]
    with pytest.raises(ValueError, match="this description takes another number of parameters"):
        nested.description(lambda_of_two)
    with pytest.raises(setwise.DescriptionError):
        setwise.routine(lambda x: x)


def lambda_of_two(x: Board, y: Board) -> Board:
    """Of two boards."""
    return x | y


def test_a_file_that_does_not_run_is_no_module(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("raise OSError")
    with pytest.raises(ValueError, match="OSError"):
        routines_named(str(file))
    assert str(file) not in sys.modules


@pytest.mark.parametrize("command", [("prove",), ("check", "--quick")])
def test_a_routine_that_is_not_made_is_named(command: tuple[str, ...], mine: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    leak = "kept = []\n    (y,) = setwise.repeat(3, lambda y: (kept.append(y << 1) or y << 2,), x)\n    return kept[0]"
    mine.write_text(
        f"{HEAD}def fine(x: Board) -> Board:\n    return x << 1\nfine.specification(fine)\n"
        f"@setwise.routine\ndef leak(x: Board) -> Board:\n    {leak}\nleak.specification(fine)\n"
    )
    assert main((*command, "mine.py:fine", "--isa", "bmi2", "--abi", "sysv")) == 0
    assert capsys.readouterr().err == ""
    assert main((*command, "mine.py", "--isa", "bmi2")) == 1
    written = capsys.readouterr()
    assert written.err.startswith("cannot be made: mine.py:leak for bmi2: ")
    assert written.err.count("\n") == 1
    assert "mine.py:fine" in written.out


def test_bad_annotations_refuse_one_routine_of_a_file(mine: Path, capsys: Capture) -> None:
    bad = "def bad(x, y: Board) -> Board:\n    return x\n@bad.specification\ndef _(x, y):\n    return x\n"
    fine = "@setwise.routine\ndef fine(x: Board) -> Board:\n    return x << 1\nfine.specification(fine)\n"
    mine.write_text(HEAD + bad + fine)
    for command in (("list",), ("count",), ("prove", "--abi", "sysv"), ("check", "--abi", "sysv", "--quick")):
        main((*command, "mine.py"))
        out, err = capsys.readouterr()
        assert re.search(r"mine.py:fine .*(x86-64|sysv)", out)
        assert re.fullmatch(r"cannot be made: mine.py:bad for x86-64.*: mine.py:6: bad: parameter 'x' has no.*\n", err)
