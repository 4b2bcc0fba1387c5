"""The site: it builds with no broken link, has every public name, and its pages load nothing from elsewhere."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import setwise
from setwise.codegen.literature import FUNCTIONS
from tests.conftest import require_module, require_tool

ROOT = Path(__file__).parents[1]
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(?P<source>[^\" >]+)"
    r"|<link\b(?=[^>]*(?:stylesheet|icon|preload))[^>]*\bhref=\"?(?P<link>[^\" >]+)"
)


def test_the_page_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    shown = {name.rpartition(".")[2] for name in re.findall("^::: (.*)", page, re.MULTILINE)}
    told = {*re.findall("`(?:setwise[.])?(\\w+)`", page), *(f"FILE_{file}" for file in "BCDEFG")}
    told |= {f"RANK_{rank}" for rank in range(2, 8)}
    assert {*dir(setwise)} <= shown | told


CUT_OFF = """
[...document.querySelectorAll("article table, article img, article pre")].filter(each => {
    const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX)
    const scrolled = element => element && (scrolls(element) || scrolled(element.parentElement))
    return each.getBoundingClientRect().right > innerWidth && !scrolled(each)
}).map(each => each.outerHTML.slice(0, 80))
"""


def wide_tables(site: Path, names: list[str]) -> list[tuple[str, list[str]]]:
    """The tables, pictures and listings that leave a phone's screen and cannot be scrolled."""
    chromium = require_tool("chromium")
    found = []
    with require_module("playwright.sync_api").sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        for name in names:
            page.goto((site / name).as_uri())
            if page.evaluate("document.documentElement.scrollWidth") > 390:
                found.append((name, ["the page itself"]))
            if cut_off := page.evaluate(CUT_OFF):
                found.append((name, cut_off))
    return found


@pytest.mark.slow
def test_the_site_builds_and_needs_no_network(tmp_path: Path) -> None:
    require_module("mkdocs")
    left_out = shutil.ignore_patterns(".git", "build", ".*_cache", "__pycache__", ".venv")
    shutil.copytree(ROOT, tmp_path / "checkout", ignore=left_out, symlinks=True)
    (tmp_path / "checkout" / ".venv").symlink_to(ROOT / ".venv")
    make = ["make", "--silent", "--old-file=setup", "docs", "ATLAS=bytewise.carry-loop-32 leapers.kings"]
    done = subprocess.run(make, cwd=tmp_path / "checkout", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "checkout" / "build" / "site"
    pages = {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.rglob("*.html")}
    assert {
        "index.html",
        "docs/commands.html",
        "docs/api.html",
        "docs/atlas/index.html",
        "reports/index.html",
    } <= pages.keys()
    assert (site / "atlas" / "index.js").exists()
    assert (site / "atlas" / "data" / "bytewise.carry-loop-32.js").exists()
    for name in ("kernel", "OwnRoutine", "ray", "parse_board"):
        assert f"{name}</span>" in pages["docs/api.html"]
    for function in FUNCTIONS:
        assert f'href="atlas/index.html#routine={function.routine}"' in pages["docs/literature.html"], function
    assert '<span class="filename">zone.py</span>' in pages["docs/own-routines.html"]
    assert wide_tables(site, list(pages)) == []
    for name, page in pages.items():
        assert "BLANKLINE" not in page, name
        assert ".md</a>" not in page, name
        assert "<blockquote" not in page, name  # a docstring's example that is not taken for one
        loaded = [found["source"] or found["link"] for found in LOADED.finditer(page)]
        assert loaded, name
        assert not [source for source in loaded if re.match(r"(https?:)?//", source)], name
