"""Fills in slow motion: cycles against whole fills, the literature's own example, text, SVG, registers."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.code.binary import binary_of
from setwise.analysis.commands.trace import registers
from setwise.analysis.pictures.board_text import Panel, Strip, as_text
from setwise.analysis.pictures.network import network_text
from setwise.analysis.pictures.slow_motion import EMPTY, SLIDERS, TracedFill, conclusion, fills
from setwise.analysis.run.caller import Caller
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.contracts import task_of
from setwise.codegen import board
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.ir.layout import union
from setwise.codegen.ir.routine import Routine
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


def south(form: str, sliders: int, empty: int) -> TracedFill:
    return fills(find(f"{form}.sout"), (sliders, empty))[0]


def stepped(direction: str, squares: int, steps: int) -> int:
    for _ in range(steps):
        squares = raywalk.step(direction, squares)
    return squares


@pytest.mark.parametrize("direction", raywalk.DIR8)
@given(sliders=words, empty=words)
@settings(max_examples=25)
def test_cycles_end_in_the_whole_fill(direction: str, sliders: int, empty: int) -> None:
    expected = raywalk.occluded(direction, sliders, empty)
    for form in ("dumb7.occluded", "dumb7.occluded-until-dry", "kogge-stone.occluded"):
        shown = fills(find(f"{form}.{direction}"), (sliders, empty))[0]
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
    six = fills(find(f"dumb7.attacks.{direction}"), (sliders, empty))[0]
    assert (len(six.cycles), six.attacks) == (6, raywalk.attacks(direction, sliders, empty))
    assert fills(find(f"kogge-stone.attacks.{direction}"), (sliders, empty))[0].attacks == six.attacks


def test_the_page_itself() -> None:
    assert board.parse_board(PAGE_SLIDERS) == SLIDERS
    shown = south("dumb7.occluded", SLIDERS, EMPTY)
    for number, squares in PAGE_FLOODS.items():
        assert shown.cycles[number - 1].flood == board.parse_board(",".join(squares))
    # The zeros that the page draws: where a wave is stopped.
    stopped = {cycle.number: cycle.arrives & ~cycle.kept for cycle in shown.cycles}
    assert {number: where.bit_count() for number, where in stopped.items()} == {
        1: 0, 2: 1, 3: 1, 4: 0, 5: 0, 6: 1, 7: 0
    }  # fmt: skip
    assert stopped[6] == board.parse_board("a2")
    assert shown.dry == 6
    assert conclusion(shown) == "Cycles 6 and 7 change nothing: the flood stopped."


def test_the_loop_ends_when_it_is_dry() -> None:
    assert len(south("dumb7.occluded-until-dry", SLIDERS, EMPTY).cycles) == 6
    nothing = south("dumb7.occluded-until-dry", 0, EMPTY)
    assert (nothing.flood, nothing.cycles) == (0, ())
    assert conclusion(nothing) == "There is nothing to flood."
    whole = fills(find("dumb7.occluded-until-dry.nort"), (1, raywalk.ALL))[0]
    assert (len(whole.cycles), whole.dry) == (8, 8)
    last = fills(find("dumb7.occluded.nort"), (1, raywalk.ALL))[0]
    assert conclusion(last) == "Cycle 7, the last one, still changes something."


def files(letters: str) -> int:
    return sum(board.FILE_A << "abcdefgh".index(letter) for letter in letters)


def held(routine: Routine, given_words: Sequence[int]) -> set[int]:
    """What a kernel's registers hold at some time."""
    kernel = lower(routine)
    trace = Caller(binary_of(kernel), task_of(kernel)).trace(given_words)
    return {lane for step in trace.steps for register in step.written for lane in register.lanes}


POSITIONS = ((SLIDERS, EMPTY, 3), (0x1842_8100_0081_2400, 0xE7BD_7EFF_FD7E_DBEF, 5))
FILLS = [
    routine.name
    for routine in catalogue().values()
    if routine.family in ("dumb7", "kogge-stone") and not routine.contract.elements
]


@pytest.mark.parametrize("name", [*FILLS[::12], *(pytest.param(name, marks=pytest.mark.slow) for name in FILLS)])
def test_fills_end_as_specified_and_are_drawn_from_registers(name: str) -> None:
    routine = find(name)
    for sliders, empty, dir8 in POSITIONS:
        by_kind = {"board": sliders, "empty": empty, "dir8": dir8}
        given_words = [by_kind[parameter.kind] for parameter in routine.contract.parameters]
        shown = fills(routine, given_words)
        contract = routine.contract
        assert isinstance(contract.specification, str)
        expected = raywalk.specification(contract.specification, contract.direction)(*given_words)
        assert (union(one.flood if one.attacks is None else one.attacks for one in shown),) == expected
        in_registers = {*given_words, *held(routine, given_words)}
        for one in shown:
            assert one.cycles
            for cycle in one.cycles:
                constant = one.empty is None or cycle.propagator is None  # a kernel need not hold constants
                passable = set() if constant else {cycle.propagator}
                assert {cycle.source, cycle.kept, cycle.flood, *passable} <= in_registers, cycle


def test_an_empty_boards_propagators_are_constants() -> None:
    shown = fills(find("kogge-stone.empty-fill.east"), (1,))[0]
    assert [cycle.propagator for cycle in shown.cycles] == [files("bcdefgh"), files("cdefgh"), files("efgh")]
    assert [cycle.propagator for cycle in fills(find("kogge-stone.empty-fill.sout"), (1,))[0].cycles] == [None] * 3


def test_text() -> None:
    text = as_text([Strip("one", (Panel("a", 1), Panel("b", 2, stopped=1)), "note"), Strip("two")])
    lines = text.splitlines()
    assert lines[0] == "one   note"
    assert lines[1] == "a" + 18 * " " + "b"
    assert lines[9] == "1 . . . . . . .    0 1 . . . . . ."
    assert lines[-2:] == ["", "two"]
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


def test_registers_have_the_names_that_instructions_use(capsys: Capture) -> None:
    for isa, first in {"x86-64": "rdi", "sse2": "xmm0", "avx2": "ymm0", "avx512": "zmm0"}.items():
        text = printed(capsys, "trace", "push.attacks.west", "--registers", "--isa", isa)
        assert f"\nat entry\nsliders ({first})" in text


def test_trace_alone_shows_the_page(capsys: Capture) -> None:
    text = printed(capsys, "trace")
    assert text.startswith("dumb7.occluded.sout in slow motion\n\nflood = gen = sliders    empty\n1 . . . . . . .")
    assert "\n6. fill   nothing changes any more\n" in text
    assert text.endswith("\nCycles 6 and 7 change nothing: the flood stopped.\n")
    assert text == printed(capsys, "trace", "dumb7.occluded.sout", "a8,d7,f4", hex(EMPTY))


def test_trace_takes_positions_and_directions(capsys: Capture) -> None:
    fen = "8/8/8/8/8/8/8/Q6k w - - 0 1"
    text = printed(capsys, "trace", "kogge-stone.attacks.east", "--fen", fen)
    assert text.splitlines()[2].split("    ") == ["gen = sliders", "  empty"]
    assert "2. fill\npro, runs of 2" in text
    assert "1 1 1 1 1 1 1 .    . 1 1 1 1 1 1 1" in text
    by_name = printed(capsys, "trace", "kogge-stone.attacks.any", "east", "--fen", fen)
    assert by_name.splitlines()[1:] == text.splitlines()[1:]


def test_trace_draws_by_the_numbers_of_squares(capsys: Capture) -> None:
    """A piece stands where its routine's numbers say."""
    around = "\n".join((". . . . . . . .", ". . 1 . 1 . . .", ". . . . . . . .", ". . 1 . 1 . . ."))
    for name, said in (("", "square: d4 (27)"), (".big-endian", "squares: h1 = 0, a1 = 7, a8 = 63, square: d4 (28)")):
        text = printed(capsys, "trace", f"exploding.bishop{name}", "d4", "0", "--registers")
        assert text.startswith(f"exploding.bishop{name}, x86-64, sysv, {said}\n\nat entry   square (rdi): ")
        assert around in text


def test_trace_draws_several_directions_side_by_side(capsys: Capture) -> None:
    text = printed(capsys, "trace", "kogge-stone.attacks.vertical", "a1,a4", "0xffff_fffe_ffff_fffe")
    assert (
        "\n3. fill   nothing changes any more\nsout: pro          sout: gen          nort: pro          nort: gen\n"
        in text
    )
    further = text.partition("attacks: one step further\n")[2].splitlines()
    assert further[0] == "sout               nort"
    assert [line[0] + line[19] for line in further[1:9]] == ["..", "..", "..", ".1", ".1", "11", "11", "1."]
    assert [line[0] for line in further[11:19]] == [*"...11111"]


def test_trace_draws_a_network(capsys: Capture) -> None:
    text = printed(capsys, "trace", "kogge-stone.attacks.any", "1", "2", "west", "--network")
    assert text == printed(capsys, "trace", "kogge-stone.attacks.west", "--network").replace("west", "any", 1)
    assert text.endswith(network_text(-1, (1, 2, 4)) + "\n")


def test_trace_complains_in_one_line(capsys: Capture) -> None:
    assert "has no cycles to show" in complaint(capsys, "trace", "push.attacks.sout")
    assert "repeats is '99': write a number from 0 to 11" in complaint(
        capsys, "trace", "exploding.rook-corners", "a1", "99", "a1"
    )
    assert "has no prefix network" in complaint(capsys, "trace", "dumb7.attacks.sout", "--network")
    assert "has no default example" in complaint(capsys, "trace", "exploding.bishop")
