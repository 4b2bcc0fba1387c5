"""Fills in slow motion: cycles against whole fills, the literature's own example, text, SVG, registers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.commands.trace import fill_of, registers
from setwise.analysis.run.drawing import Panel, Strip, as_text
from setwise.analysis.run.slow_motion import EMPTY, SLIDERS, conclusion, fill, stepped
from setwise.analysis.spec import raywalk
from setwise.codegen import board
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from tests.analysis.commands.running import Capture, complaint, printed

words = st.one_of(st.integers(0, raywalk.ALL), st.sets(st.integers(0, 63)).map(lambda s: sum(1 << i for i in s)))

# "Some south fill cycles in slow motion": black's rooks and queen, and the floods that the page prints.
PAGE_SLIDERS = """
    1.......
    ...1....
    ........
    ........
    .....1..
    ........
    ........
    ........
"""
PAGE_FLOODS = {
    1: ("a8,a7", "d7,d6", "f4,f3"),
    2: ("a8,a7,a6", "d7,d6,d5", "f4,f3"),
    3: ("a8,a7,a6,a5", "d7,d6,d5", "f4,f3"),
    6: ("a8,a7,a6,a5,a4,a3", "d7,d6,d5", "f4,f3"),
}


@pytest.mark.parametrize("direction", raywalk.DIR8)
@given(sliders=words, empty=words)
@settings(max_examples=25)
def test_cycles_end_in_the_whole_fill(direction: str, sliders: int, empty: int) -> None:
    expected = raywalk.occluded(direction, sliders, empty)
    for shown in (
        fill("dumb7", direction, sliders, empty),
        fill("dumb7", direction, sliders, empty, until_dry=True),
        fill("kogge-stone", direction, sliders, empty),
    ):
        assert shown.flood == expected
        before = sliders
        for cycle in shown.cycles:
            assert cycle.flood == before | cycle.kept
            assert cycle.changed == (cycle.flood != before)
            assert cycle.arrives == stepped(direction, cycle.source, cycle.steps)
            before = cycle.flood
        later = [cycle for cycle in shown.cycles if shown.dry is not None and cycle.number >= shown.dry]
        assert not any(cycle.changed for cycle in later)
        assert shown.dry in (None, 1) or shown.cycles[shown.dry - 2].changed
    six = fill("dumb7", direction, sliders, empty, rounds=6, attacks=True)
    assert six.attacks == raywalk.attacks(direction, sliders, empty)
    assert fill("kogge-stone", direction, sliders, empty, attacks=True).attacks == six.attacks


def test_the_page_itself() -> None:
    assert board.parse_board(PAGE_SLIDERS) == SLIDERS
    shown = fill("dumb7", "sout", SLIDERS, EMPTY)
    for number, squares in PAGE_FLOODS.items():
        assert shown.cycles[number - 1].flood == board.parse_board(",".join(squares))
    # The zeros that the page draws: where a wave is stopped.
    stopped = {cycle.number: cycle.arrives & ~cycle.kept for cycle in shown.cycles}
    assert {number: board.draw(where).count("1") for number, where in stopped.items()} == {
        1: 0, 2: 1, 3: 1, 4: 0, 5: 0, 6: 1, 7: 0
    }  # fmt: skip
    assert stopped[6] == board.parse_board("a2")
    assert shown.dry == 6
    assert conclusion(shown) == "Cycles 6 and 7 change nothing: the flood stopped."


def test_the_loop_ends_when_it_is_dry() -> None:
    assert len(fill("dumb7", "sout", SLIDERS, EMPTY, until_dry=True).cycles) == 6
    assert fill("dumb7", "sout", 0, EMPTY, until_dry=True).flood == 0
    whole = fill("dumb7", "nort", 1, raywalk.ALL, until_dry=True)
    assert (len(whole.cycles), whole.dry) == (8, 8)
    assert conclusion(fill("dumb7", "nort", 1, raywalk.ALL)) == "Cycle 7, the last one, still changes something."


def test_one_direction_only() -> None:
    with pytest.raises(ValueError, match="rook means 4 directions"):
        fill("dumb7", "rook", 1, 2)


@given(words, words, st.integers(0, 7))
@settings(max_examples=10)
def test_every_fill_of_the_catalogue(sliders: int, empty: int, dir8: int) -> None:
    shown_for = set()
    for routine in (one for one in catalogue().values() if not one.contract.elements):
        by_kind = {"board": sliders, "empty": empty, "dir8": dir8}
        given_words = [by_kind.get(parameter.kind, 0) for parameter in routine.contract.parameters]
        try:
            shown = fill_of(routine, given_words)
        except ValueError:
            continue
        contract = routine.contract
        expected = raywalk.specification(contract.specification, contract.direction)(*given_words)
        assert (shown.flood if shown.attacks is None else shown.attacks,) == expected, routine.name
        shown_for.add((routine.family, routine.form))
    assert {family for family, _ in shown_for} == {"dumb7", "kogge-stone"}
    assert len(shown_for) == 10


def test_text() -> None:
    text = as_text([Strip("one", (Panel("a", 1), Panel("b", 2, stopped=1)), "note"), Strip("two")])
    lines = text.splitlines()
    assert lines[0] == "one   note"
    assert lines[1] == "a" + 18 * " " + "b"
    assert lines[9] == "1 . . . . . . .    0 1 . . . . . ."
    assert lines[-2:] == ["", "two"]
    wide = as_text([Strip("", (Panel("a title wider than its board", 1 << 48), Panel("b", 1, foot="foot")))]).split(
        "\n"
    )
    assert wide[0] == "a title wider than its board    b"
    assert wide[2] == "1 . . . . . . .".ljust(32) + ". . . . . . . ."
    assert len(wide) == 10
    assert all(line == line.rstrip() for line in wide)
    five = as_text([Strip("", tuple(Panel(str(n), 1 << n) for n in range(5)))])
    assert [line.split()[0] for line in five.splitlines() if line[0].isdigit() and len(line.split()) < 8] == ["0", "4"]


def test_registers_show_each_executed_instruction() -> None:
    kernel = lower(find("kogge-stone.attacks.sout"), "x86-64", "wiki")
    shown = registers(kernel, [SLIDERS, EMPTY])
    assert [panel.title for panel in shown[0].panels] == ["sliders (rdx)", "empty (rcx)"]
    assert [strip.heading for strip in shown[1:4]] == ["1. mov rax,rdx", "2. shr rax,8", "3. and rax,rcx"]
    assert len(shown) == 1 + 19
    assert shown[2].panels == (Panel("rax", SLIDERS >> 8),)
    assert shown[-1].panels == (Panel("rax", raywalk.attacks("sout", SLIDERS, EMPTY)),)


# the command


def test_trace_alone_shows_the_page(capsys: Capture) -> None:
    text = printed(capsys, "trace")
    assert text.startswith("dumb7.occluded.sout in slow motion\n\nflood = gen = sliders    empty\n1 . . . . . . .")
    assert "\n6. fill   nothing changes any more\n" in text
    assert text.endswith("\nCycles 6 and 7 change nothing: the flood stopped.\n")
    assert text == printed(capsys, "trace", "dumb7.occluded.sout", "a8,d7,f4", hex(EMPTY))


def test_trace_takes_positions_and_directions(capsys: Capture) -> None:
    fen = "8/8/8/8/8/8/8/Q6k w - - 0 1"
    text = printed(capsys, "trace", "kogge-stone.attacks.east", "--fen", fen)
    assert "2. fill\npro, runs of 2" in text
    assert "1 1 1 1 1 1 1 .    . 1 1 1 1 1 1 1" in text
    by_name = printed(capsys, "trace", "kogge-stone.attacks.any", "east", "--fen", fen)
    assert by_name.splitlines()[1:] == text.splitlines()[1:]


def test_trace_registers(capsys: Capture) -> None:
    text = printed(capsys, "trace", "push.attacks.sout", "--registers", "--isa", "bmi2")
    assert text.startswith("push.attacks.sout, bmi2, sysv\n\nat entry\nsliders (rdi)")
    assert "\n\n14. " in text
    assert "\n\n15. " not in text


def test_trace_to_a_file(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "slow.svg"
    assert printed(capsys, "trace", "--svg", str(file)) == f"{file}: dumb7.occluded.sout in slow motion\n"
    assert "the flood stopped" in "".join(ET.parse(file).getroot().itertext())


def test_trace_complains_in_one_line(capsys: Capture, tmp_path: Path) -> None:
    assert "has no cycles to show" in complaint(capsys, "trace", "push.attacks.sout")
    assert "has no cycles to show" in complaint(capsys, "trace", "dumb7.attacks.rook")
    assert "has no default example" in complaint(capsys, "trace", "exploding.bishop")
    assert "cannot write" in complaint(capsys, "trace", "--svg", str(tmp_path / "no" / "where"))
