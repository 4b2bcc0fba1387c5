"""The command: what it prints, what it refuses and how, and that it stays quick to start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from setwise.analysis.commands import check, subcommands
from setwise.analysis.commands import main as cli
from setwise.analysis.commands.boards import boards
from setwise.analysis.commands.main import main
from setwise.analysis.commands.progress import Progress
from setwise.analysis.run.check import Mismatch, Outcome
from setwise.codegen import board
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import TARGETS
from setwise.codegen.run import cpu
from setwise.codegen.run.call import missing
from setwise.codegen.run.executable import runnable
from tests.conftest import require_tool

runs = pytest.mark.skipif(not runnable(), reason="x86-64 code does not run here")
ROOT = Path(__file__).parents[3]
DUMB7, KOGGE_STONE = "dumb7.attacks.sout", "kogge-stone.attacks.sout"
SUBCOMMANDS = ("list", "listing", "count", "compare", "run", "trace", "check", "prove", "bench", "export", "verify")

Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *arguments: str, status: int = 0) -> str:
    """What the command prints on its output, nothing standing on the other."""
    assert main(arguments) == status
    done = capsys.readouterr()
    assert done.err == ""
    return done.out


def complaint(capsys: Capture, *arguments: str, status: int = 2) -> str:
    """The one line that the command complains with."""
    try:
        ended: object = main(arguments)
    except SystemExit as end:
        ended = end.code
    done = capsys.readouterr()
    assert ended == status
    assert done.out == ""
    assert re.fullmatch(r"setwise[^\n]+\n", done.err), done.err
    return done.err


def setwise(
    arguments: Sequence[str],
    code: str = "import sys; from setwise.analysis.commands.main import main; sys.exit(main())",
) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


# list


def test_list_has_every_routine(capsys: Capture) -> None:
    lines = printed(capsys, "list").splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue())


def test_list_takes_names_and_patterns(capsys: Capture) -> None:
    lines = printed(capsys, "list", "DUMB7.attacks.n*", KOGGE_STONE).splitlines()
    names = [line.split()[0] for line in lines]
    assert names == ["dumb7.attacks.noEa", "dumb7.attacks.noWe", "dumb7.attacks.nort", KOGGE_STONE]


def test_list_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "list", "--json"))
    assert len(rows) == len(catalogue())
    assert {"name", "family", "form", "direction", "isas", "source"} <= rows[0].keys()
    (row,) = (row for row in rows if row["name"] == KOGGE_STONE)
    assert (row["family"], row["form"], row["direction"]) == ("kogge-stone", "attacks", "sout")
    assert "x86-64" in row["isas"]


def test_list_loads_nothing_heavy() -> None:
    code = (
        "import sys; from setwise.analysis.commands.main import main; main(); "
        "sys.exit(' '.join({'iced_x86', 'peachpy', 'numpy', 'tabulate', 'ctypes', 'bitwuzla'} & set(sys.modules)) or 0)"
    )
    assert KOGGE_STONE in setwise(["list"], code)


# listing


def test_listing(capsys: Capture) -> None:
    text = printed(capsys, "listing", "Dumb7.Attacks.Sout", "--abi", "wiki")
    assert "setwise_dumb7_attacks_sout_x86_64:\n    mov rax, rdx\n    shr rdx, 8\n" in text
    assert "    rorx " in printed(capsys, "listing", "kogge-stone.attacks.sout", "--isa", "bmi2")


# count


def test_count_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "count", DUMB7, KOGGE_STONE, "--abi", "wiki", "--json"))
    sums = {"name", "isa", "lanes", "abi", "instructions", "memory_operands", "bytes"}
    for row in rows:
        classes = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
        assert {*sums, *classes} <= row.keys()
        assert sum(row[key] for key in classes) == row["instructions"]
    assert [(row["name"], row["moves"], row["operations"], row["instructions"]) for row in rows] == [
        (DUMB7, 1, 19, 20),
        (KOGGE_STONE, 5, 14, 19),
    ]
    assert {(row["isa"], row["abi"], row["lanes"]) for row in rows} == {("x86-64", "wiki", 1)}


def test_count_as_a_table(capsys: Capture) -> None:
    head, rule, *rows = printed(capsys, "count", "dumb7.attacks.*t", "--abi", "win64").splitlines()
    assert head.split()[:5] == ["name", "isa", "abi", "instructions", "moves"]
    assert set(rule) == {"-", " "}
    assert [row.split()[:3] for row in rows] == [
        [f"dumb7.attacks.{name}", "x86-64", "win64"] for name in ("east", "sout", "west", "nort")
    ]


# compare


def test_the_classic_comparison(capsys: Capture) -> None:
    lines = printed(capsys, "compare", DUMB7, KOGGE_STONE, "--abi", "wiki").splitlines()
    width = lines[1].index(" ") + 2
    table = [(line[:width].strip(), line[width:].strip()) for line in lines]
    assert table[0] == (DUMB7, KOGGE_STONE)
    assert table[2] == ("mov rax,rdx", "mov rax,rdx")
    assert table[-3:] == [
        ("1 move", "5 moves"),
        ("19 operations", "14 operations"),
        ("20 instructions", "19 instructions"),
    ]


# run


@runs
def test_run_draws_inputs_and_result(capsys: Capture) -> None:
    out = printed(capsys, "run", KOGGE_STONE, "--fen", board.KIWIPETE, "--isa", "x86-64")
    assert out == (
        "kogge-stone.attacks.sout, x86-64, sysv\n"
        "\n"
        "sliders                  empty                    attacks\n"
        ". . . . . . . .          . 1 1 1 . 1 1 .          . . . . . . . .\n"
        ". . . . . . . .          . 1 . . . . . 1          . . . . . . . .\n"
        ". . . . . . . .          . . 1 1 . . . 1          . . . . . . . .\n"
        ". . . . . . . .          1 1 1 . . 1 1 1          . . . . . . . .\n"
        ". . . . . . . .          1 . 1 1 . 1 1 1          . . . . . . . .\n"
        ". . . . . 1 . .          1 1 . 1 1 . 1 .          . . . . . . . .\n"
        ". . . . . . . .          . . . . . . . .          . . . . . 1 . .\n"
        "1 . . . . . . 1          . 1 1 1 . 1 1 .          . . . . . . . .\n"
        "0x0000_0000_0020_0081    0x6e82_8ce7_ed5b_006e    0x0000_0000_0000_2000\n"
    )


def numbers(out: str) -> list[int]:
    """The numbers under the boards."""
    return [int(text, 16) for text in re.findall(r"0x[0-9a-f_]+", out)]


@runs
def test_run_takes_numbers_and_squares(capsys: Capture) -> None:
    for sliders in ("e4", "0x10000000", "268435456", "0x1000_0000"):
        for abi in ("sysv", "win64", "wiki"):
            out = printed(capsys, "run", "dumb7.attacks.nort", sliders, "e5,e6 e7", "--abi", abi)
            assert numbers(out)[-1] == sum(1 << board.square(name) for name in ("e5", "e6", "e7", "e8"))


@runs
def test_run_takes_the_sliders_that_go_the_routines_way(capsys: Capture) -> None:
    position = board.parse_fen(board.KIWIPETE)
    for direction in board.DIR8:
        for side in ("w", "b"):
            out = printed(capsys, "run", f"dumb7.attacks.{direction}", "--fen", board.KIWIPETE, "--side", side)
            straight = direction in board.ROOK
            piece = position.rooks(side) if straight else position.bishops(side)
            assert numbers(out)[:2] == [piece | position.queens(side), position.empty]


@runs
def test_run_takes_the_side_to_move(capsys: Capture) -> None:
    black = board.KIWIPETE.replace(" w ", " b ")
    to_move = printed(capsys, "run", KOGGE_STONE, "--fen", black)
    assert to_move == printed(capsys, "run", KOGGE_STONE, "--fen", board.KIWIPETE, "--side", "b")
    assert to_move != printed(capsys, "run", KOGGE_STONE, "--fen", board.KIWIPETE)


@runs
def test_a_slider_on_an_empty_square_is_a_slider(capsys: Capture) -> None:
    # What stands on an `empty` square starts a ray of its own and does not stop those of others.
    out = printed(capsys, "run", "dumb7.attacks.east", "a1,c1", "0xffffffffffffffff")
    assert numbers(out)[-1] == 0b11111110


def test_boards_come_in_rows_of_four() -> None:
    lines = boards([(f"board {n}", n) for n in range(6)]).splitlines()
    assert len(lines) == 2 * 10 + 1
    assert re.findall(r"board \d", lines[0]) == [f"board {n}" for n in range(4)]
    assert re.findall(r"board \d", lines[11]) == ["board 4", "board 5"]


# bad usage


@pytest.mark.parametrize("command", [("listing",), ("count",), ("list",), ("check",), ("run",), ("compare", DUMB7)])
def test_an_unknown_routine_is_told_the_nearest(command: tuple[str, ...], capsys: Capture) -> None:
    said = complaint(capsys, *command, "kogge-stone.atacks.sout")
    assert "unknown routine 'kogge-stone.atacks.sout'" in said
    assert KOGGE_STONE in said


def test_a_pattern_without_a_routine(capsys: Capture) -> None:
    assert "no routine is like 'magic.*'" in complaint(capsys, "count", "magic.*")


@pytest.mark.parametrize(
    "command", [("listing", DUMB7), ("count", DUMB7), ("check",), ("run", DUMB7, "0", "0"), ("compare", DUMB7, DUMB7)]
)
def test_unknown_instruction_sets_and_conventions(command: tuple[str, ...], capsys: Capture) -> None:
    said = complaint(capsys, *command, "--isa", "avx1024")
    assert "unknown instruction set 'avx1024'" in said
    assert all(name in said for name in TARGETS)
    said = complaint(capsys, *command, "--abi", "fastcall")
    assert "unknown convention 'fastcall'" in said
    assert "sysv, win64, wiki" in said


def test_an_unknown_syntax(capsys: Capture) -> None:
    assert "unknown syntax 'intel': use one of nasm" in complaint(capsys, "listing", DUMB7, "--syntax", "intel")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0x1ffffffffffffffff", "over 64 bits"),
        ("18446744073709551616", "over 64 bits"),
        ("9" * 5000, "over 64 bits"),
        ("-1", "negative"),
        ("12z", "is no board"),
        ("0xfg", "is no board"),
        ("", "is no board"),
        ("i9", "is no board"),
        ("1.5", "is no board"),
        ("a board\nof two lines", "draw"),
    ],
)
def test_what_is_no_board(text: str, said: str, capsys: Capture) -> None:
    assert said in complaint(capsys, "run", DUMB7, text, "0")


@pytest.mark.parametrize(
    "fen",
    ["", "8/8/8/8/8/8/8 w", "8/8/8/8/8/8/8/9 w", "8/8/8/8/8/8/8/7x w", "8/8/8/8/8/8/8/8", "8/8/8/8/8/8/8/8 x", "e4"],
)
def test_what_is_no_position(fen: str, capsys: Capture) -> None:
    assert "FEN" in complaint(capsys, "run", DUMB7, "--fen", fen)


@pytest.mark.parametrize("given", [[], ["1"], ["1", "2", "3"]])
def test_the_wrong_count_of_arguments(given: list[str], capsys: Capture) -> None:
    said = complaint(capsys, "run", DUMB7, *given)
    assert f"takes 2 arguments (or --fen), not {len(given)}: sliders empty" in said


def test_arguments_beside_a_position(capsys: Capture) -> None:
    said = complaint(capsys, "run", DUMB7, "1", "--fen", board.KIWIPETE)
    assert "takes no arguments beside --fen, not 1" in said
    assert "write w or b" in complaint(capsys, "run", DUMB7, "--fen", board.KIWIPETE, "--side", "white")
    assert "--side goes with --fen" in complaint(capsys, "run", DUMB7, "1", "2", "--side", "w")


@pytest.mark.parametrize(
    "arguments",
    [(), ("explode",), ("list", "--colour"), ("listing",), ("compare", DUMB7), ("count", DUMB7, "--lanes", "many")],
)
def test_wrong_usage_is_one_line(arguments: tuple[str, ...], capsys: Capture) -> None:
    assert "--help" in complaint(capsys, *arguments)


def test_what_a_convention_refuses_is_named(capsys: Capture) -> None:
    refusing = next(r.name for r in catalogue().values() if len(r.contract.parameters) != 2)
    assert "wiki" in complaint(capsys, "listing", refusing, "--abi", "wiki")
    assert "wiki" in complaint(capsys, "check", refusing, "--abi", "wiki", "--quick")


# what cannot be run here


def test_run_on_a_processor_that_lacks_features(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    said = complaint(capsys, "run", DUMB7, "1", "2", "--isa", "bmi2", status=1)
    assert "lacks" in said


@runs
def test_run_takes_the_best_that_the_processor_has(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    assert ", x86-64, sysv" in printed(capsys, "run", DUMB7, "1", "2")
    monkeypatch.setattr(cpu, "features", lambda: frozenset({"bmi1", "bmi2"}))
    assert main(["run", DUMB7, "no board", "2"]) == 2


def test_check_without_numpy(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "setwise.analysis.commands.check")
    monkeypatch.delitem(sys.modules, "setwise.analysis.run.cases")
    monkeypatch.delitem(sys.modules, "setwise.analysis.run.check")
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert complaint(capsys, "check", DUMB7) == "setwise check: NumPy is not installed: pip install numpy\n"


@pytest.mark.parametrize(
    "arguments",
    [("prove", DUMB7), ("prove", "--object", "a.o", "--symbol", "f", "--spec", DUMB7), ("report", "--measure")],
)
def test_proofs_without_the_solver(
    arguments: tuple[str, ...], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    said = complaint(capsys, *arguments)
    assert said == f"setwise {arguments[0]}: bitwuzla is not installed: pip install bitwuzla\n"


def test_a_module_of_our_own_that_is_missing_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "setwise.analysis.code.compare", None)
    with pytest.raises(ModuleNotFoundError):
        main(["compare", DUMB7, DUMB7])


def test_llvm_mca_that_is_not_there(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    said = complaint(capsys, "cost", DUMB7, "--mca")
    assert said == "setwise cost: llvm-mca is not installed; on Debian: apt install llvm-19\n"


# check


@runs
def test_check_prints_a_table(capsys: Capture) -> None:
    out = printed(capsys, "check", DUMB7, "--quick")
    rows = [line.split() for line in out.splitlines() if line.startswith("dumb7")]
    here = [isa for isa in find(DUMB7).isas if not missing(TARGETS[isa])]
    assert {(*row[:4], row[-1]) for row in rows if row[-1] == "passed"} == {
        (DUMB7, isa, str(lanes), abi, "passed")
        for isa in here
        for lanes in TARGETS[isa].widths
        for abi in ("sysv", "wiki", "win64")
    }
    assert re.search(r"\d+ kernels: \d+ passed, 0 failed, \d+ not run; [\d,]+ calls", out)


@runs
def test_check_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "check", DUMB7, "--quick", "--isa", "x86-64", "--abi", "sysv", "--json"))
    assert [(row["name"], row["isa"], row["abi"], row["status"]) for row in rows] == [
        (DUMB7, "x86-64", "sysv", "passed")
    ]
    assert rows[0]["cases"] > 30_000


def test_check_says_what_was_not_run(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    monkeypatch.setenv("PATH", "/nowhere")
    out = printed(capsys, "check", DUMB7, "--isa", "bmi2", "--quick")
    assert "passed" not in out.splitlines()[2]
    assert "3 not run: this processor lacks" in out
    assert "3 kernels: 0 passed, 0 failed, 3 not run; 0 calls" in out


def test_check_on_another_processor(capsys: Capture) -> None:
    require_tool("bochs")
    out = printed(capsys, "check", DUMB7, "--isa", "avx512", "--abi", "sysv", "--on", "icelake")
    assert out.endswith("ran: 3 on Ice Lake, emulated\n")
    assert complaint(capsys, "check", DUMB7, "--on", "zen4").startswith("setwise check: Bochs has no processor 'zen4'")


def test_run_on_another_processor(capsys: Capture) -> None:
    require_tool("bochs")
    out = printed(capsys, "run", "sliders.pair", "--on", "icelake", "--fen", "8/8/8/3R4/8/8/8/k1K5 w")
    assert out.startswith("sliders.pair, avx512, sysv, on Ice Lake (emulated)\n")
    assert "0x0808_08f7_0808_0808" in out
    assert printed(capsys, "run", "sliders.pair", "--on", "nehalem", "--fen", "8/8/8/8/8/8/8/k1K5 w").startswith(
        "sliders.pair, x86-64, sysv, on Nehalem"
    )
    said = complaint(capsys, "run", "sliders.pair", "--isa", "avx2", "--on", "nehalem", "--fen", "8/8 w", status=2)
    assert said


@runs
def test_a_failed_check_draws_the_boards(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    mismatch = Mismatch(17, (("sliders", 1 << 60), ("empty", 255)), (3,), (1,))
    outcome = Outcome("failed", 1000, "2 of 1000 cases differ", mismatch)
    monkeypatch.setattr(check, "run", lambda kernel, cases: outcome)
    out = printed(capsys, "check", DUMB7, "--quick", "--isa", "x86-64", "--abi", "sysv", status=1)
    assert f"{DUMB7} x86-64 1 sysv failed: 2 of 1000 cases differ\ncase 17\n" in out
    assert re.search(r"sliders +empty +attacks, expected +attacks, got", out)
    assert numbers(out) == [1 << 60, 255, 3, 1]
    assert "1 kernels: 0 passed, 1 failed, 0 not run" in out


@runs
def test_progress_shows_on_a_terminal_only(capsys: Capture) -> None:
    progress = Progress(2, shown=True)
    progress.show("one")
    progress.show("two")
    progress.end()
    assert capsys.readouterr().err == "\r\x1b[K1/2 one\r\x1b[K2/2 two\r\x1b[K"
    silent = Progress(2, shown=False)
    silent.show("one")
    silent.end()
    assert capsys.readouterr().err == ""


# the command as a whole


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_help_shows_an_example_that_works(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert f"example:\n  setwise {command}" in text


def test_each_subcommand_is_there() -> None:
    assert all(hasattr(subcommands, f"{name}_command") for name in SUBCOMMANDS)


def test_a_reader_that_stops_reading_is_no_error() -> None:
    code = "import sys; from setwise.analysis.commands.main import main; sys.exit(main(['list'] * 1))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 0


def test_an_error_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise KeyError("a bug")

    monkeypatch.setattr(subcommands, "list_command", broken)
    with pytest.raises(KeyError):
        cli.main(["list"])


def test_run_refuses_routines_on_arrays(capsys: Capture) -> None:
    for name, routine in catalogue().items():
        if any(parameter.kind in ("boards", "count") for parameter in routine.contract.parameters):
            assert "arrays" in complaint(capsys, "run", name, "--isa", "x86-64")
