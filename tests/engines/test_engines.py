"""Exchanges find their place, and comparisons tell engines that count alike from those that do not."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.codegen.catalogue import find
from tests.conftest import require_tool, runs
from tests.engines import exchanges
from tests.engines.__main__ import Comparison, Result, compare_builds, main
from tests.engines.exchanges import EXCHANGES, Exchange, Failed, apply, recognized, replaced

TOY = r"""
#include <stdint.h>
#include <stdio.h>

static uint64_t threats(uint64_t rooks, uint64_t bishops, uint64_t occupied)
{
    static const int steps[8][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    uint64_t reached = 0;
    for (int square = 0; square < 64; square++)
        for (int step = 0; step < 8; step++) {
            if (!((step < 4 ? rooks : bishops) >> square & 1))
                continue;
            int rank = square / 8 + steps[step][0], file = square % 8 + steps[step][1];
            for (; rank >= 0 && rank < 8 && file >= 0 && file < 8; rank += steps[step][0], file += steps[step][1]) {
                reached |= 1ULL << (8 * rank + file);
                if (occupied >> (8 * rank + file) & 1)
                    break;
            }
        }
    return reached;
}

int main(void)
{
    uint64_t random = 1, nodes = 0;
    for (int board = 0; board < 1000; board++) {
        uint64_t sets[3] = {~0ULL, ~0ULL, ~0ULL};
        for (int draw = 0; draw < 9; draw++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            sets[draw % 3] &= random;
        }
        nodes += threats(sets[0], sets[1], sets[0] | sets[1] | sets[2]) >> 40;
    }
    printf("%llu nodes %d nps\n", (unsigned long long)nodes, 1000);
    return 0;
}
"""
"""A program that walks along rays and prints a bench line."""
EXCHANGE = Exchange(
    "Toy",
    "toy.c",
    r"uint64_t threats\([^)]*\)\s*\{",
    "    return setwise_sliders_union(rooks, bishops, occupied);\n",
    "sliders.union",
)
BUILD = "gcc -O2 -mavx2 -mbmi -mbmi2 toy.c -o toy"
BENCH = "./toy"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    require_tool("gcc")
    (tmp_path / "toy.c").write_text(TOY, "utf-8")
    return tmp_path


@runs
@pytest.mark.parametrize(
    ("code", "same"),
    [(EXCHANGE.code, True), (EXCHANGE.code.replace("occupied", "rooks | bishops"), False)],
    ids=["right", "wrong"],
)
def test_a_signature_tells_a_right_exchange_from_a_wrong_one(toy: Path, code: str, same: bool) -> None:
    compared = compare_builds(toy, replace(EXCHANGE, code=code), BUILD, BENCH, turns=2, proved=False)
    assert compared.same is same
    assert ("same" in str(compared), "differs" in str(compared)) == (same, not same)
    assert [result.speed for turn in compared.turns for result in turn] == [1000] * 4
    assert (toy / "toy.c").read_text("utf-8") == TOY  # only copies are changed


@pytest.mark.parametrize(
    ("build", "bench", "message"),
    [
        ("echo first; echo 'an error: no'; false", BENCH, "Toy before the exchange: the build failed: an error: no"),
        (BUILD, "false", "the bench failed: exit status 1"),
        (BUILD, "echo 5 nodes", "the bench printed no `N nodes N nps`: echo 5 nodes"),
    ],
)
def test_a_step_that_fails_is_named(toy: Path, build: str, bench: str, message: str) -> None:
    with pytest.raises(Failed, match=message):
        compare_builds(toy, EXCHANGE, build, bench, turns=1, proved=False)


def test_a_place_that_is_missing_is_refused(toy: Path) -> None:
    (toy / "toy.c").write_text(TOY.replace("threats(", "dangers("), "utf-8")
    with pytest.raises(Failed, match=r"toy\.c: the text to replace is not there"):
        apply(EXCHANGE, toy, proved=False)
    assert not (toy / "fills.h").exists()


def test_bodies_and_spans_are_replaced_wherever_the_place_matches() -> None:
    text = "int f(void) { if (x) { y(); } }\nint g(void) { z(); }\n"
    assert replaced(text, r"int f\(void\) \{", "  w();") == "int f(void) {\n  w();\n}\nint g(void) { z(); }\n"
    assert replaced("a b c a b d", r"a.*?(?=[cd])", "x") == "\nx\nc \nx\nd"
    assert replaced(text, "int h", "w") == ""
    with pytest.raises(Failed, match="no closing brace"):
        replaced("int f(void) { {}", r"int f\(void\) \{", "")


@pytest.mark.parametrize(
    ("engine", "source"),
    [
        ("Berserk", "inline void SetThreats(Board* board) {\n}\n"),
        ("Obsidian", "void Position::calcThreats(Threats& threats) {\n}\n"),
        ("PlentyChess", "void Board::calculateThreats() {\n}\n"),
        ("Halogen", "void BoardState::update_lesser_threats()\n{\n}\n"),
        ("Stormphrax", "    void Position::calcThreats() {\n    }\n"),
        ("Carp", "fn gen_king_moves<const QUIET: bool>(&self, move_list: &mut MoveList) {\n}\n"),
        ("Reckless", "pub fn update_threats(&mut self) {\n    let diagonal = 0;\n}\n"),
        ("Avalanche", "var danger: types.Bitboard = 0;\n// King moves\n"),
    ],
)
def test_an_engine_is_recognized_and_calls_its_routine(
    engine: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (exchange,) = (exchange for exchange in EXCHANGES if exchange.engine == engine)
    root = tmp_path / (exchange.root or exchange.source)
    for path in (tmp_path / exchange.source, root):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("//\n", "utf-8")
    with pytest.raises(Failed, match="no text to replace is known there"):
        recognized(tmp_path)
    (tmp_path / exchange.source).write_text(source, "utf-8")
    assert recognized(tmp_path) is exchange
    monkeypatch.setattr(exchanges, "exported", lambda routine, *_: routine)
    apply(exchange, tmp_path)
    assert root.with_name("fills" + {"c": ".h", "rust": ".rs", "zig": ".zig"}[exchange.format]).is_file()
    assert "fills" in root.read_text("utf-8")
    parameters = find(exchange.routine).contract.parameters
    expected = sum(exchange.format == "c" or parameter.kind != "results" for parameter in parameters)
    assert arguments((tmp_path / exchange.source).read_text("utf-8"), exchange.routine) == expected


def arguments(text: str, routine: str) -> int:
    """The number of arguments of the first call of the routine."""
    depth, count = 0, 1
    call = text.partition(re.sub(r"\W", "_", routine) + "(")[2]
    assert call
    for index, letter in enumerate(call):
        if letter == ")" and not depth:
            return count - call[:index].rstrip().endswith(",")
        depth += (letter in "([{") - (letter in ")]}")
        count += letter == "," and not depth
    raise AssertionError(call)


def test_a_comparison_counts_signatures_of_all_turns() -> None:
    turns = ((Result(7, 100, 2.0), Result(7, 110, 1.6)), (Result(7, 200, 2.0), Result(7, 180, 2.0)))
    assert Comparison(turns).same
    assert str(Comparison(turns)).split() == [
        *["7", "same", "150", "145"],
        *["1.000", "(0.950", "to", "1.050)", "1.125", "(1.062", "to", "1.188)"],
    ]
    assert not Comparison((*turns, (Result(7, 1, 1.0), Result(8, 1, 1.0)))).same


def test_the_command_says_what_to_give(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "give checkouts of engines and their commands: make engines ENGINES='PATH...' COMMANDS=FILE"
    ]
    assert main([str(tmp_path), "--commands", str(tmp_path / "none.toml")]) == 2
    assert capsys.readouterr().err.startswith(f"tests.engines: {tmp_path}: no text to replace is known there")
