"""Commands of one listing, and the command as a whole: its refusals, its help, and what is an error of ours."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from setwise.analysis.commands import list as list_command
from setwise.analysis.commands.main import main
from setwise.analysis.commands.parser import COMMANDS
from setwise.analysis.cost.processors import PROCESSORS
from setwise.codegen.catalogue import catalogue
from setwise.codegen.targets import TARGETS
from tests.analysis.commands.running import DUMB7, KOGGE_STONE, ROOT, Capture, complaint, printed


def test_listing(capsys: Capture) -> None:
    text = printed(capsys, "listing", "Dumb7.Attacks.Sout", "--abi", "wiki")
    assert "setwise_dumb7_attacks_sout_x86_64:\n    mov rax, rdx\n    shr rdx, 8\n" in text
    assert "    rorx " in printed(capsys, "listing", "kogge-stone.attacks.sout", "--isa", "bmi2")


OF_ROUTINES = [
    *((name, DUMB7) for name in ("listing", "count", "prove", "bench")),
    ("check",),
    ("run", DUMB7, "0", "0"),
    ("compare", DUMB7, DUMB7),
]
OBJECT = "--object a.o --symbol f"
WRONG = {
    "": "--help",
    "explode": "unknown command 'explode'",
    "list --colour": "unknown option '--colour'",
    "lst": "unknown command 'lst': did you mean list?",
    "listing": "--help",
    f"compare {DUMB7}": "--help",
    f"count {DUMB7} --lanes many": "--help",
    "list nosuch": "unknown routine 'nosuch': list all with setwise list",
    "count 'magic.*'": "no routine matches 'magic.*': list all with setwise list",
    "run hyperbola.rook a1": "unknown routine 'hyperbola.rook': the nearest names are exploding.rook",
    "list 'dumb8.*'": "no routine matches 'dumb8.*': the nearest names are dumb7",
    "run ''": "unknown routine '': list all with setwise list",
    f"listing {DUMB7} --syntax intel": "unknown syntax 'intel': use one of nasm",
    "completion fish": "unknown shell 'fish': choose from bash, zsh",
    "best nothing.such": "nothing.such",
    "best leapers.knights --for beauty": "unknown objective 'beauty'",
    "best leapers.knights --isa avx9": "unknown instruction set 'avx9'",
    "best leapers.knights --isa avx512 --cpu zen3 --for latency": "AMD Zen 3 has no avx512",
    f"bench {DUMB7} --isa x86-64 --lanes 4": "has one lane",
    f"bench {DUMB7} --mode loud": "unknown mode 'loud': choose from chained,independent,mixed",
    f"bench {DUMB7} --variants --for latency": "--variants times all variants: omit --variant, --for",
    f"bench {KOGGE_STONE}.batch --boards 0": "arrays of 0 boards cannot be timed: give 1 or more",
    f"bench {DUMB7} --isa x86-64 --beside gcc,icc": "unknown compiler 'icc': choose from gcc,clang",
    f"bench {DUMB7} --isa x86-64 --abi win64 --beside gcc": "compiled C uses the System V convention",
    **{
        f"{each} {DUMB7} --cpu zen9": "unknown processor 'zen9'"
        for each in ("listing", "count", "cost", "best", "bench")
    },
    f"export {DUMB7} --format c -o new --cpu zen9": "unknown processor 'zen9'",
    f"bench {DUMB7} --patience -1": "give seconds above 0",
    "report --patience -1": "give seconds above 0",
    "verify new --time-limit -1": "give seconds above 0",
    "cost": "name routines",
    "cost --object a.o": "needs --object FILE --symbol SYM, no names",
    "cost exploding.rook --executed e4": "exploding.rook takes 2 arguments",
    "cost exploding.rook --side white": "--side goes with --fen",
    "count leapers.knights --for speed": "unknown objective 'speed': choose from size, latency, throughput",
    "count leapers.knights --for latency --variant urgent": "give --isa, and leave out --for",
    "count leapers.knights --variant 9": "has no variant '9'",
    f"prove {OBJECT}": "a function of an ELF file needs --object FILE --symbol SYM --spec NAME",
    f"prove {DUMB7} {OBJECT} --spec {DUMB7}": "needs --object FILE",
    f"prove --object none.o --symbol f --spec {DUMB7}": "none.o: no such file",
    f"prove {OBJECT} --same-as g": "--same-as needs --prototype or --prototype-from",
    f"prove {OBJECT} --same-as g --prototype 'int f()' --lanes 2": "no --spec or --lanes, and --abi sysv",
    f"prove {OBJECT} --same-as g --prototype 'int f()' --abi win64": "no --spec or --lanes, and --abi sysv",
    f"prove {OBJECT} --same-as g --prototype 'int f()' --spec {DUMB7}": "no --spec or --lanes, and --abi sysv",
    f"prove {OBJECT} --spec {DUMB7} --prototype 'int f()'": "--prototype goes with --same-as SYM",
    "prove --same-as g --prototype 'int f()'": "a function of an ELF file needs --object FILE --symbol SYM --spec NAME",
    f"prove {OBJECT} --same-as g --prototype 'int f()'": "a.o: no such file",
    f"prove {OBJECT} --same-as g --prototype-from none.h": "none.h",
    f"prove {OBJECT} --same-as g --below sq": "invalid bound 'sq': give a parameter and a number, such as sq=64",
    **{f"prove {DUMB7} --time-limit={given}": "invalid time" for given in ("nan", "-1", "0", "1e30", "day")},
    "shorten": "name routines",
    f"shorten {DUMB7} --budget 0": "above 0",
    f"shorten {DUMB7} --lanes 3": "--lanes",
    "table initC": "unknown table 'initC': the nearest names are initR, initB",
}
"""Command lines, and a part of the line that each is answered with."""


@pytest.mark.parametrize("line", WRONG)
def test_wrong_usage_is_one_line(line: str, capsys: Capture) -> None:
    assert WRONG[line] in complaint(capsys, *shlex.split(line))


@pytest.mark.parametrize(
    "command", ["listing", "count", "list", "check", "run", "bench", "cost", "prove", f"compare {DUMB7}"]
)
def test_an_unknown_routine_is_told_the_nearest(command: str, capsys: Capture) -> None:
    said = complaint(capsys, *command.split(), "kogge-stone.atacks.sout")
    assert "unknown routine 'kogge-stone.atacks.sout'" in said
    assert KOGGE_STONE in said


@pytest.mark.parametrize("command", OF_ROUTINES)
def test_unknown_instruction_sets_and_conventions(command: tuple[str, ...], capsys: Capture) -> None:
    said = complaint(capsys, *command, "--isa", "avx1024")
    assert "unknown instruction set 'avx1024'" in said
    assert all(name in said for name in TARGETS)
    said = complaint(capsys, *command, "--abi", "fastcall")
    assert "unknown convention 'fastcall'" in said
    assert "sysv, win64, wiki" in said


def test_what_a_convention_refuses_is_named(capsys: Capture) -> None:
    refusing = next(r.name for r in catalogue().values() if len(r.contract.parameters) != 2)
    assert "wiki" in complaint(capsys, "listing", refusing, "--abi", "wiki")
    assert "wiki" in complaint(capsys, "check", refusing, "--abi", "wiki", "--quick")


@pytest.mark.parametrize(
    "arguments",
    [("prove", DUMB7), ("prove", "--object", "a.o", "--symbol", "f", "--spec", DUMB7)],
)
def test_proofs_without_the_solver(
    arguments: tuple[str, ...], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    said = complaint(capsys, *arguments)
    assert said == f"setwise {arguments[0]}: bitwuzla is not installed: pip install bitwuzla\n"


def test_a_module_of_our_own_that_is_missing_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "setwise.analysis.commands.compare", raising=False)
    monkeypatch.setitem(sys.modules, "setwise.analysis.code.compare", None)
    with pytest.raises(ModuleNotFoundError):
        main(["compare", DUMB7, DUMB7])


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_that_works(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert f"example:\n  setwise {command}" in text
    assert "--cpu" not in text or all(on.name in "".join(text.split()) for on in PROCESSORS)


def test_the_help_lists_every_command(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} {summary}" in text for name, summary in COMMANDS.items())


def test_each_command_is_a_module() -> None:
    folder = Path(list_command.__file__ or "").parent
    assert all((folder / f"{name}.py").is_file() for name in COMMANDS)


def test_a_reader_that_stops_reading_is_no_error() -> None:
    code = "import sys; from setwise.analysis.commands.main import main; sys.exit(main(['list'] * 1))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", ["list", "--help", "--version", "count --help", f"listing {DUMB7}"])
@pytest.mark.parametrize("output", [">&-", "1</dev/null", ">/dev/full"])
def test_an_output_that_cannot_be_written_is_one_line(output: str, arguments: str, unbuffered: str) -> None:
    done = in_a_shell(f'"$0" -c "$CODE" {arguments} {output}', PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert re.fullmatch("setwise: the output cannot be written: (bad file descriptor|no space .*)\n", done.stderr)


def test_complaints_that_nobody_hears_do_not_end_up_on_the_output() -> None:
    done = in_a_shell('"$0" -c "$CODE" list nothing 2>&-')
    assert (done.returncode, done.stdout) == (2, "")


def in_a_shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """What a line of the shell prints, in which CODE is the command's program."""
    code = "import sys; from setwise.analysis.commands.main import main; sys.exit(main())"
    command, environment = ["sh", "-c", line, sys.executable], {**os.environ, "CODE": code, **more}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_tens_of_thousands_of_names_take_no_longer(capsys: Capture) -> None:
    names = [f"{'*' * (1 + at % 50)}{'?' * (at // 50)}" for at in range(500)] + [DUMB7, "dumb7.*"] * 20_000
    begun = time.monotonic()
    assert printed(capsys, "list", *names) == printed(capsys, "list")
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("module", ["main", "list"])
def test_an_interrupt_while_modules_load_has_no_traceback(module: str) -> None:
    code = (
        f"import sys; from importlib.abc import MetaPathFinder\n"
        f"class Interrupt(MetaPathFinder):\n"
        f"    def find_spec(self, name, *_):\n"
        f"        if name == 'setwise.analysis.commands.{module}': raise KeyboardInterrupt\n"
        f"sys.meta_path.insert(0, Interrupt()); from setwise.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code, "list"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_error_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise KeyError("a bug")

    monkeypatch.setattr(list_command, "run", broken)
    with pytest.raises(KeyError):
        main(["list"])
