"""Hooks of the site's build: examples without doctest marks, and links from names to the atlas."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import urlencode

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from mkdocs.utils import get_relative_url

from setwise.codegen.catalogue import catalogue
from setwise.codegen.literature import FUNCTIONS, PageFunction

_CONSOLE = re.compile(r"^```console\n.*?^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```.*?^```$|^(>>> [^\n]+(?:\n[^\n]+)*)", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r'(<a href="([^"#]*)[^>]*>)[\w/-]+\.md</a>')
_FILE = re.compile(r"^\$ (?:cat|head -n \d+) (\S+\.(\w+))\n((?:(?!\$ ).+\n|\n)+)", re.MULTILINE)
_NAME = re.compile(r"<a\b.*?</a>|<code>(\w[\w@./ -]{,47})</code>", re.DOTALL)
_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)


class Examples(Extension):
    """The extension that shows docstrings' examples as code. Plain Markdown takes >>> for quotations."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the search for examples, before fenced blocks are taken out."""
        md.preprocessors.register(_Examples(md), "examples", 30)


class _Examples(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return _EXAMPLE.sub(_fenced, "\n".join(lines)).split("\n")


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{_plain(found[1])}\n```" if found[1] else found[0]


def on_config(config: Any) -> None:
    """Show the examples of docstrings as code."""
    config.markdown_extensions.append(Examples())


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Remove doctest marks from console blocks, and put each file that `cat` or `head` prints into its own block."""
    return _CONSOLE.sub(lambda found: _console(found[0]), markdown.replace("```python\n>>>", "```pycon\n>>>"))


def _console(block: str) -> str:
    split = _FILE.sub(r'```\n\n```\2 title="\1"\n\3```\n\n```console\n', _plain(block))
    return split.replace("```console\n```", "").strip()


def _plain(example: str) -> str:
    return re.sub(r"^<BLANKLINE>$|  # doctest:.*$", "", example, flags=re.MULTILINE)


def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """Link names of routines and of the pages' functions to their kernels in the atlas; call pages by their titles."""
    titles = {each.url: each.page.title for each in files.documentation_pages()}

    def titled(found: re.Match[str]) -> str:
        title = titles.get(normpath(join(dirname(page.url), found[2])))
        return f"{found[1]}{title}</a>" if title else found[0]

    atlas = get_relative_url("docs/atlas/index.html", page.url)
    names = {**_unique(FUNCTIONS), **{name: name for name in catalogue()}}

    def row(found: re.Match[str]) -> str:
        cells = {*re.findall(r"<td[^>]*>(.*?)</td>", found[0], re.DOTALL)}
        here = _unique(each for each in FUNCTIONS if {each.place.page.title, each.place.section} <= cells)
        return _linked(found[0], atlas, names | here)

    return _linked(_ROW.sub(row, _PAGE.sub(titled, html)), atlas, names)


def _unique(functions: Iterable[PageFunction]) -> dict[str, str]:
    """Return the routine of each function's name, and of its name@place, if only one routine has it."""
    routines: dict[str, set[str]] = {}
    for each in functions:
        for name in (each.name, *(f"{each.name}@{place}" for place in each.place.names)):
            routines.setdefault(name, set()).add(each.routine)
    return {name: routine for name, (routine, *others) in routines.items() if not others}


def _linked(html: str, atlas: str, names: Mapping[str, str]) -> str:
    """Link each name in code type, and each code that begins with one, to the atlas, unless it is in a link already."""

    def link(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        words = found[1].split()
        if words[0] not in names:
            return f'<code class="whole">{found[1]}</code>'
        chosen = dict(zip(words[1::2], words[2::2], strict=False))
        place = {"routine": names[words[0]], "set": chosen.get("--isa"), "lanes": chosen.get("--lanes")}
        query = urlencode({key: value for key, value in place.items() if value})
        return f'<a href="{atlas}#{escape(query)}" title="In the atlas"><code class="whole">{found[1]}</code></a>'

    return _NAME.sub(link, html)
