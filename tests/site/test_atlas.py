"""The atlas in Chromium, from disk: choosing, stepping, positions, links; phone and desk, light and dark."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import setwise
from setwise.analysis.commands.main import main
from setwise.analysis.pictures.slow_motion import EMPTY, SLIDERS
from setwise.codegen import board
from setwise.codegen.catalogue import find
from setwise.codegen.literature import FUNCTIONS
from tests.conftest import require_module, require_tool
from tests.positions import KIWIPETE
from tests.site import atlas_data

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ALONE = """
INHERIT: {root}/docs/mkdocs.yml
docs_dir: pages
site_dir: site
plugins: [search, offline]
hooks: []
nav: [docs/atlas/index.md]
"""
LITERATURE = board.ALL ^ EMPTY
"""The occupied squares of the literature's example."""
PACE = 350
"""Milliseconds from step to step."""
PHONE, DESK = (390, 844), (1400, 1000)
HEAVIEST = 1_400_000
"""Bytes: two million, less what the search index of the whole site weighs."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page alone in the site's theme, with data of a few routines."""
    require_module("mkdocs")
    folder = tmp_path_factory.mktemp("atlas")
    (folder / "pages" / "docs").mkdir(parents=True)
    for name in ("atlas", "site"):
        (folder / "pages" / "docs" / name).symlink_to(ROOT / "docs" / name)
    (folder / "mkdocs.yml").write_text(ALONE.format(root=ROOT))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", "mkdocs.yml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    atlas_data.write(folder / "site" / "atlas")
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = require_tool("chromium")
    with require_module("playwright.sync_api").sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])


class Visit:
    """Pages of the atlas in windows of their own, what they asked for and what went wrong in them."""

    def __init__(self, browser: Any, site: Path) -> None:
        self.browser, self.site = browser, site
        self.wrong: list[str] = []
        self.asked: list[str] = []

    def open(self, link: str = "", size: tuple[int, int] = DESK, scheme: str = "light") -> Any:
        """The page, when it shows a routine."""
        width, height = size
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("requestfailed", lambda request: self.wrong.append(request.url))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(f"{(self.site / 'docs' / 'atlas' / 'index.html').as_uri()}{link}")
        page.wait_for_selector(".atlas-main h2")
        return page

    def _logged(self, message: Any) -> None:
        if message.type == "error":
            self.wrong.append(message.text)


@pytest.fixture
def visit(browser: Any, site: Path) -> Iterator[Visit]:
    visit = Visit(browser, site)
    yield visit
    for context in browser.contexts:
        context.close()
    assert visit.wrong == []
    assert {urlsplit(asked).scheme for asked in visit.asked} <= {"file", "data", "blob"}


def results(page: Any) -> list[int]:
    """What the page says that the call gives."""
    return [int(text, 16) for text in page.locator(".atlas-results figcaption code").all_inner_texts()]


def drawn(page: Any) -> list[int]:
    """The same as its boards show it."""
    pictures = page.locator(".atlas-results svg").all()
    return [
        sum(1 << board.square(name) for name in re.findall("[a-h][1-8]", p.get_attribute("aria-label")))
        for p in pictures
    ]


def squares_of(page: Any, which: str) -> int:
    """The squares of the large board that a selector names."""
    return sum(
        1 << int(each.get_attribute("data-square")) for each in page.locator(f".atlas-editor button{which}").all()
    )


def marked(page: Any, letter: str) -> int:
    """The squares of the large board with that letter."""
    return squares_of(page, f":text-is('{letter}')")


def shown_step(page: Any) -> tuple[int, str, str]:
    """The number of the step, the expression of the description that it computes, and its operation."""
    told = page.locator(".atlas-told")
    number = re.match(r"Step (\d+) of 14:", told.inner_text())
    assert number
    return int(number[1]), told.locator("mark").inner_text(), told.locator("small").inner_text()


def heading(page: Any) -> str:
    return str(page.locator(".atlas-main h2").inner_text())


def test_a_routine_and_a_kernel_are_chosen_and_back_leads_back(visit: Visit) -> None:
    page = visit.open("#routine=sliders.union")
    assert heading(page) == "sliders.union"
    page.get_by_label("Search routines").fill("kogge attacks.SOUT ray-wise")
    assert page.locator(".atlas-count").inner_text() == "2 routines"
    page.get_by_label("Search routines").press("Enter")
    page.wait_for_function("document.querySelector('.atlas-main h2').innerText === 'kogge-stone.attacks.sout'")
    assert page.locator(".atlas-counts").inner_text().startswith("19 instructions")
    page.get_by_label("avx2").check(force=True)
    page.wait_for_function("document.querySelector('[aria-label=Listing]').innerText.includes('vp')")
    page.get_by_label("win64").check(force=True)
    page.wait_for_function("location.hash.includes('convention=win64')")
    page.go_back()
    page.wait_for_function(
        "location.hash.includes('convention=sysv') && document.querySelector('[value=sysv]').checked"
    )
    page.go_back()
    page.wait_for_function("document.querySelector('[value=x86-64]').checked")
    page.go_forward()
    page.wait_for_function("document.querySelector('[value=avx2]').checked")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_first_screen_shows_the_example_of_the_literature(visit: Visit, size: tuple[int, int]) -> None:
    page = visit.open(size=size)
    assert heading(page) == "kogge-stone.attacks.sout"
    assert page.locator(".atlas-told").inner_text() == "Step 0 of 14: the arguments."
    box = page.locator(".atlas-editor").bounding_box()
    assert box["y"] + box["height"] < size[1]
    assert results(page) == drawn(page) == [setwise.kernel("kogge-stone.attacks.sout")(SLIDERS, EMPTY)]
    assert marked(page, "S") == SLIDERS
    assert marked(page, "S") | squares_of(page, ".blocked") == LITERATURE
    assert page.locator(".atlas-editor > span").all_inner_texts() == [*"87654321", "", *"abcdefgh"]
    assert page.locator(".atlas-legend").inner_text().split("\n")[0].startswith("Ssliders")


def test_routines_are_found_by_the_names_of_the_literature(visit: Visit) -> None:
    page = visit.open()
    page.get_by_label("Search routines").fill("soutOccl")
    wanted = {each.routine for each in FUNCTIONS if each.name == "soutOccl"}
    found = page.locator(".atlas-names li:not([hidden]) a")
    assert {each.get_attribute("data-routine") for each in found.all()} == wanted
    assert "Printed as soutAttacks (Dumb7Fill, " in page.locator(".atlas-main cite").inner_text()


def test_a_rook_and_bishop_is_a_queen(visit: Visit) -> None:
    page = visit.open("#routine=sliders.union")
    page.get_by_role("button", name="Kiwipete").click()
    position = board.parse_fen(KIWIPETE)
    rooks, bishops = position.pieces("w", "RQ"), position.pieces("w", "BQ")
    assert marked(page, "Q") == rooks & bishops != 0
    assert marked(page, "R") == rooks & ~bishops
    assert marked(page, "B") == bishops & ~rooks
    assert "queens: in both" in page.locator(".atlas-legend").inner_text()


def test_lines_that_belong_together_mark_each_other(visit: Visit) -> None:
    page = visit.open("#routine=kogge-stone.attacks.sout")
    description, listing = (page.get_by_role("listbox", name=name) for name in ("Description", "Listing"))
    description.get_by_text("gen |= pro & ray.step(gen)").hover()
    marked = [text.split("\n")[1] for text in listing.locator(".same").all_inner_texts()]
    assert marked == ["shr rax,8", "and rax,rsi", "or rdi,rax"]
    assert page.locator(".atlas-graph .same").count() == len(marked)
    listing.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    assert "return ray.step(" in description.locator(".same").inner_text()
    critical = listing.locator(".path").count()
    assert 0 < critical == page.locator(".atlas-graph .node.path").count() < 19
    assert page.locator(".atlas-graph .edge.path").count() == critical - 1
    assert page.get_by_role("listbox", name="Compiler's code").inner_text().endswith("<b>ret</b>")


def test_squares_that_are_clicked_and_positions_are_attacked_as_setwise_says(visit: Visit) -> None:
    page = visit.open("#routine=sliders.union")
    page.get_by_role("button", name="Kiwipete").click()
    position = board.parse_fen(KIWIPETE)
    rooks, bishops = position.pieces("w", "RQ"), position.pieces("w", "BQ")
    occupied = position.occupied
    union = setwise.kernel("sliders.union")
    assert results(page) == drawn(page) == [union(rooks, bishops, occupied)]
    page.locator("[data-square='35']").click()  # d5
    rooks, occupied = rooks | 1 << 35, occupied | 1 << 35
    assert results(page) == drawn(page) == [union(rooks, bishops, occupied)]
    page.get_by_label("FEN", exact=True).fill("8/8/3r4/8/2B5/8/8/4R2K w - - 0 1")
    page.get_by_label("FEN", exact=True).press("Enter")
    position = board.parse_fen("8/8/3r4/8/2B5/8/8/4R2K w - - 0 1")
    wanted = union(position.pieces("w", "RQ"), position.pieces("w", "BQ"), position.occupied)
    assert results(page) == drawn(page) == [wanted]
    page.get_by_label("FEN", exact=True).fill("8/8/9")
    page.get_by_label("FEN", exact=True).press("Enter")
    assert page.locator(".atlas-setup [role=alert]").inner_text().startswith("A FEN has eight ranks")


def test_every_kind_of_argument_is_run_as_setwise_runs_it(visit: Visit) -> None:
    occupied = board.parse_fen(KIWIPETE).occupied
    calls: dict[str, tuple[int, ...]] = {
        "sliders.pair": (1 << 28, 1 << 40, occupied | 1 << 28 | 1 << 40),
        "dumb7.occluded-until-dry.any": (1 << 28 | 1, board.ALL ^ occupied, 6),
        "exploding.rook.big-endian": (19, board.ALL ^ occupied),
        "kogge-stone.attacks.sout.batch": (1 << 28 | 1 << 63, board.ALL ^ occupied),
        "bytewise.carry-loop-32": (0xFFFF_FFFF, 0xDEAD_BEEF),
        "leapers.pawns.black": (0x00AA_0001_8000_0000,),
    }
    page = visit.open()
    for name, words in calls.items():
        boards = ".".join(f"{word:x}" for word in words)
        page.evaluate(f"location.hash = 'routine={name}&boards={boards}'")
        page.wait_for_function(f"document.querySelector('.atlas-main h2').innerText === {name!r}")
        kernel = setwise.kernel(name)
        if name.endswith(".batch"):
            wanted = kernel(*(np.array([word], np.uint64) for word in words)).tolist()
        else:
            given = kernel(*words)
            wanted = [given] if isinstance(given, int) else list(given)
        numbering = find(name).contract.numbering
        assert results(page) == wanted, name
        steps = [each.get_attribute("title") for each in page.locator(".atlas-film span").all()]
        assert steps, name
        assert not [step for step in steps if re.search(r"\b[cvx]\d+\b", step)], name  # names of the export
        assert drawn(page) == [numbering.placed(word) for word in wanted], name


def test_steps_by_keyboard_by_slider_and_by_themselves(visit: Visit) -> None:
    page = visit.open("#routine=kogge-stone.attacks.sout&step=1")
    told = page.locator(".atlas-told")
    assert "shortest kernel for x86-64" in page.locator(".atlas-motion").inner_text()
    assert page.locator(".atlas-table caption").inner_text().startswith("By processor: lower bound in cycles a call")
    assert shown_step(page) == (1, "pro & ray.step(gen)", "step 1 = sliders >> 8")
    assert squares_of(page, ".new") == SLIDERS >> 8
    page.get_by_label("Step on").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert shown_step(page) == (3, "gen |= pro & ray.step(gen)", "gen = sliders | step 2")
    assert squares_of(page, ".on") == SLIDERS | SLIDERS >> 8 & EMPTY
    page.get_by_label("Step", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    assert shown_step(page) == (2, "pro & ray.step(gen)", "step 2 = empty & step 1")
    assert "step=2" in page.evaluate("location.hash")
    assert told.get_attribute("aria-live") == "polite"
    page.clock.install()  # its time stands still but for what it is told to run
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(PACE * 2)
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(PACE * 5)
    assert shown_step(page)[0] == 4
    page.get_by_label("Step", exact=True).fill("14")
    assert shown_step(page)[2] == "attacks = step 13 >> 8"
    assert squares_of(page, ".on") | squares_of(page, ".new") == results(page)[0]
    page.locator("[data-square='0']").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")  # b2
    assert page.evaluate("document.activeElement.dataset.square") == "9"
    assert page.locator("[data-square='9']").get_attribute("aria-pressed") == "true"


def test_a_link_names_all_that_is_shown(visit: Visit) -> None:
    kernel = "routine=kogge-stone.attacks.sout&set=avx2&lanes=4&convention=win64"
    page = visit.open(f"#{kernel}&boards=8000000000000000.ffff&step=3")
    checked = page.locator(".atlas-chooser input:checked")
    assert [each.get_attribute("value") for each in checked.all()] == ["avx2", "4", "win64"]
    assert shown_step(page)[0] == 3
    assert results(page) == [setwise.kernel("kogge-stone.attacks.sout")(1 << 63, 0xFFFF)]
    assert page.locator(".atlas-main > .atlas-wrong").inner_text() == ""


def test_a_link_that_names_nothing_here_says_so(visit: Visit) -> None:
    page = visit.open('#routine=<img src=x onerror=alert(1)>&set=<b>"')
    assert (
        "There is no routine '<img src=x onerror=alert(1)>'" in page.locator(".atlas-main > .atlas-wrong").inner_text()
    )
    assert page.locator("#atlas img").count() == 0
    link = "#routine=sliders.union&set=mmx&lanes=3&convention=x&boards=1.2&step=-1&processor=z80"
    assert page.evaluate(f"location.hash = {link!r}") == link
    page.wait_for_function("document.querySelectorAll('.atlas-main > .atlas-wrong p').length === 6")
    assert "has no kernel with set 'mmx' here" in page.locator(".atlas-main > .atlas-wrong").inner_text()


def test_a_listing_is_downloaded_and_its_command_given(visit: Visit, capsys: pytest.CaptureFixture[str]) -> None:
    page = visit.open("#routine=sliders.pair&convention=win64")
    with page.expect_download() as listing:
        page.get_by_role("button", name="Download").click()
    text = Path(listing.value.path()).read_text()
    assert listing.value.suggested_filename == "sliders.pair-x86-64.asm"
    assert "sliders_pair:\n" in text
    program, *words = page.locator(".atlas-save code").inner_text().split()
    assert program == "setwise"
    assert main(words) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "sliders.pair for x86-64, Win64" in printed[0]
    instructions = [line.split(maxsplit=1)[0] for line in text.splitlines() if line.startswith("    ")]
    mnemonics = [line.split()[0] for line in printed if line.strip()]
    first = mnemonics.index(instructions[0])
    assert mnemonics[first : first + len(instructions)] == instructions


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
def test_it_fits_is_light_and_axe_finds_nothing_serious(visit: Visit, size: tuple[int, int], scheme: str) -> None:
    axe = require_module("axe_playwright_python.sync_playwright").Axe()
    page = visit.open("#routine=kogge-stone.attacks.sout&set=avx2&step=5", size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    assert page.evaluate("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
    files = {Path(urlsplit(asked).path) for asked in visit.asked if asked.startswith("file:")}
    assert sum(file.stat().st_size for file in files) < HEAVIEST
    found = axe.run(page, context="#atlas", options={"preload": False}).response["violations"]
    assert [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ] == []
