"""Pictures: well-formed, the same every time, words within the card and apart, true to their data."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.cost.processors import processor
from setwise.analysis.pictures import svg as pictures
from setwise.analysis.pictures.boards import CELL, slow_motion
from setwise.analysis.pictures.dependence_graph import DependencePicture, dependences, graph
from setwise.analysis.pictures.network import prefix_network
from setwise.analysis.pictures.slow_motion import EMPTY, SLIDERS, TracedFill, fills
from setwise.analysis.pictures.svg import BLUE, INK, OCHRE
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

SVG = "{http://www.w3.org/2000/svg}"
ON = processor("zen5")
PHONE = 358
"""Pixels that a picture has on a screen of 390."""


def of(name: str, isa: str) -> DependencePicture:
    kernel = lower(find(name), isa, "sysv")
    return graph(name, binary_of(kernel), task_of(kernel), ON)


GRAPHS = [of("dumb7.attacks.sout", "x86-64"), of("push.attacks.queen", "avx2"), of("sliders.union", "bmi2")]


def floods(sliders: int = SLIDERS, empty: int = EMPTY) -> list[TracedFill]:
    return [fills(find(f"{family}.occluded.sout"), (sliders, empty))[0] for family in ("dumb7", "kogge-stone")]


def slow() -> str:
    return slow_motion(*floods())


def drawn() -> dict[str, str]:
    return {
        "slow motion": slow(),
        "network": prefix_network(),
        "graphs": dependences(GRAPHS, ON),
    }


@dataclass(frozen=True)
class Words:
    """A text and the space that it takes."""

    content: str
    left: float
    top: float
    right: float
    bottom: float


def words(svg: str) -> Iterator[Words]:
    """Every text that is not turned, with an estimate of its space, in the picture's own coordinates."""

    def walk(element: ElementTree.Element, dx: float, dy: float) -> Iterator[Words]:
        moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
        if moved:
            dx, dy = dx + float(moved[1]), dy + float(moved[2])
        if element.tag == f"{SVG}text" and "rotate" not in element.get("transform", ""):
            content, size = element.text or "", float(element.get("font-size", "0"))
            x, y = float(element.get("x", "0")) + dx, float(element.get("y", "0")) + dy
            # Narrower than what the layout reckons with, as most fonts are.
            width = 0.85 * pictures.width_of(content, size, mono=element.get("class") == "m")
            left = {"start": x, "middle": x - width / 2, "end": x - width}[element.get("text-anchor", "start")]
            yield Words(content, left, y - 0.7 * size, left + width, y + 0.1 * size)
        for child in element:
            yield from walk(child, dx, dy)

    return walk(ElementTree.fromstring(svg), 0.0, 0.0)


PICTURES = pytest.mark.parametrize("picture", drawn().values(), ids=drawn().keys())


def test_pictures_are_the_same_every_time() -> None:
    assert drawn() == drawn()


@PICTURES
def test_a_picture_has_words_for_those_who_do_not_see(picture: str) -> None:
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title")
    assert root.findtext(f"{SVG}desc")


@PICTURES
def test_no_words_leave_the_card_or_cover_others(picture: str) -> None:
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    found = list(words(picture))
    assert len(found) > 5
    for at, one in enumerate(found):
        assert one.left >= 8, one
        assert one.right <= width - 8, one
        assert one.top >= 0, one
        assert one.bottom <= height - 8, one
        for other in found[:at]:
            beside = one.right <= other.left or other.right <= one.left
            assert beside or one.bottom <= other.top or other.bottom <= one.top, (one, other)


@PICTURES
def test_the_card_is_light_unless_the_page_is_dark(picture: str) -> None:
    root = ElementTree.fromstring(picture)
    first = root.find(f"{SVG}rect")
    assert first is not None
    assert first.get("fill") == pictures.PAPER
    assert float(first.get("width", "0")) > 0.99 * float(root.get("width", "0"))
    light, _, dark = picture.partition("@media(prefers-color-scheme:dark)")
    assert "prefers-color-scheme" not in light
    rules, _, marks = dark.partition("</style>")
    for colour in {*re.findall("#[0-9a-f]{6}", marks)}:
        assert f'[fill="{colour}"],[style="fill:{colour}"]{{fill:{pictures.DARK[colour]}!important}}' in rules
        assert f'[stroke="{colour}"]{{stroke:{pictures.DARK[colour]}}}' in rules


@pytest.mark.parametrize(("sliders", "empty"), [(SLIDERS, EMPTY), (1 << 56 | 1 << 40, (1 << 64) - 1)])
def test_slow_motion_draws_each_square_of_each_cycle_once(sliders: int, empty: int) -> None:
    both = floods(sliders, empty)
    svg = slow_motion(*both)
    assert both[0].flood == both[1].flood
    assert "reach the same squares" in svg
    cycles = [cycle for shown in both for cycle in shown.cycles]
    of_legend, of_starts = 3, 2 * sliders.bit_count()
    assert svg.count("<circle") == sum(cycle.flood.bit_count() for cycle in cycles) + of_starts + of_legend
    # What is new is so in one cycle of a fill only.
    new = sum((shown.flood & ~sliders).bit_count() for shown in both)
    assert svg.count(f'r="4.4" fill="{BLUE}"') == new + 1


def test_slow_motion_can_be_read_on_a_phone() -> None:
    root = ElementTree.fromstring(slow())
    sizes = [float(text.get("font-size", "0")) for text in root.iter(f"{SVG}text")]
    assert min(sizes) * PHONE / float(root.get("width", "0")) > 7.5


@pytest.mark.parametrize("blocker", [3, 6, 7])
def test_the_network_floods_as_the_fills_do(blocker: int) -> None:
    """Along a rank, from a1 to the east: a row of the chain and a row of the network for each cycle, and the start."""
    empty = 0xFE & ~(1 << blocker)
    both = [fills(find(f"{family}.occluded.east"), (1, empty))[0] for family in ("dumb7", "kogge-stone")]
    flooded = sum(1 + sum(cycle.flood.bit_count() for cycle in each.cycles) for each in both)
    svg = prefix_network(0, blocker)
    assert len(re.findall(rf'<circle [^>]*r="8" fill="{INK}"', svg)) == flooded
    # Each square but the first is flooded once in each fill; the legend has one line more.
    new = sum((each.flood & ~1).bit_count() for each in both)
    assert len(re.findall(f'<polyline [^>]*stroke="{BLUE}"', svg)) >= new + 1


@pytest.mark.parametrize("shown", GRAPHS, ids=lambda each: each.heading)
def test_instructions_lie_below_all_that_they_wait_for_and_apart_from_every_line(shown: DependencePicture) -> None:
    root = ElementTree.fromstring(dependences([shown], ON))
    rectangles = [
        [float(each.get(part, "0")) for part in ("x", "y", "width", "height")] for each in root.iter(f"{SVG}rect")
    ]
    boxes = rectangles[1 : 1 + len(shown.nodes)]
    for node, (x, top, width, _) in zip(shown.nodes, boxes, strict=True):
        assert all(top > boxes[source][1] for source in node.waits_for)
        beside = [each for each in boxes if each[1] == top and each[0] > x]
        assert all(x + width < left for left, *_ in beside), node
    lines = [line.get("points", "").split() for line in root.iter(f"{SVG}polyline")]
    assert len(lines) == sum(len(node.waits_for) for node in shown.nodes)
    corners = [tuple(map(float, point.split(","))) for line in lines for point in line[:-3]]
    for x, y in corners:
        assert not any(left < x < left + width and top < y < top + high for left, top, width, high in boxes)


def test_the_critical_path_is_a_straight_column_from_an_argument_to_the_result() -> None:
    shown = GRAPHS[0]
    assert [shown.nodes[shown.path[at]].text for at in (0, 1, -2, -1)] == [
        "sliders",
        "shr rdi,8",
        "shr rax,8",
        "attacks",
    ]
    assert all(source in shown.nodes[at].waits_for for source, at in pairwise(shown.path))
    root = ElementTree.fromstring(dependences(GRAPHS[:1], ON))
    critical = [line.get("points", "") for line in root.iter(f"{SVG}polyline") if line.get("stroke") == OCHRE]
    assert len(critical) == len(shown.path) - 1
    ends = [float(point.split(",")[0]) for points in critical for point in points.split()[:2]]
    assert max(ends) - min(ends) < 1


def test_a1_is_the_dark_square_at_the_lower_left() -> None:
    root = ElementTree.fromstring(slow_motion(*floods(1, (1 << 64) - 1)))
    group = next(root.iter(f"{SVG}g"))
    (board,) = list(group.iter(f"{SVG}g"))[1:2]
    squares = {(square.get("x"), square.get("y")): square.get("fill") for square in board.iter(f"{SVG}rect")}
    light, dark = pictures.SQUARES
    assert (squares["0", str(7 * CELL)], squares[str(CELL), str(7 * CELL)]) == (dark, light)
    disc = next(board.iter(f"{SVG}circle"))
    assert (float(disc.attrib["cx"]), float(disc.attrib["cy"])) == (CELL / 2, 7.5 * CELL)
