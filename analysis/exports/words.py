"""What counts of an exported file of text, whatever spaces and line breaks stand between: its code, and its comments.

Formatters move both: clang-format, rustfmt, zig fmt. Nothing is read that our own files do not have, so that no
compiler sees in a file what is not seen here: no backslash but at the end of a directive's line, no trigraph, no raw
string, no character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_MARKS = {"_amd64.s": "//", ".go": "//", ".s": "#", ".asm": ";"}
"""What begins a comment in listings, whose lines nobody moves; the first ending that fits counts."""
_SIGNS = r"<<=|>>=|\.\.=|\.\.\.|::|->|=>|\.\.|\+\+|--|<<|>>|[-<>=!+*/%&|^]=|&&|\|\||##|\.[&{*]"
"""Those of several letters, which are not the same where a space stands among them."""


@dataclass(frozen=True, slots=True)
class Words:
    """A file's code and its comments, each as what stands between spaces."""

    code: tuple[str, ...]
    comments: tuple[str, ...]


@dataclass(frozen=True)
class _Grammar:
    """How a language is parted into words: its comments, and what of it is told from spaces or the lack of them."""

    comment: str
    directives: bool = False
    """Whether a line that begins with # ends where it ends, but for a backslash."""
    trailing: str = ""
    """Signs before which a comma says nothing."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What any word begins with."""
        header = r"(?P<header>(?<=include )<[\w./-]+>)|(?P<macro>(?<=define )\w+\(?)|"
        last = r"(?P<splice>\\\n)|" if self.directives else ""
        plain = rf'(?P<string>"[^"\n\\]*")|(?P<open>/\*)|(?P<word>\w+|{_SIGNS}|[^\s\w\\"\'`])'
        space = r"(?P<space>[ \t]+)|(?P<line>\n)|"
        return re.compile(f"{space}(?P<comment>{self.comment})|{last}{header if self.directives else ''}{plain}", re.S)


_LINE, _BLOCK = r"//[^\n]*", r"/\*(?:(?!\*/)[^\\])*\*/"
_GRAMMARS: Mapping[str, _Grammar] = {
    ".h": _Grammar(f"{_BLOCK}|{_LINE}", directives=True),
    ".rs": _Grammar(_LINE, trailing=")]}"),
    ".zig": _Grammar(_LINE, trailing=")]}"),
}


def words_of(name: str, content: bytes) -> Words | None:
    """The words of a file of that name; None where there is something in it that is not to be understood here."""
    try:
        text = content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    if not all(" " <= letter <= "~" or letter in "\n\t·" for letter in text):
        return None
    for ending, mark in _MARKS.items():
        if name.endswith(ending):
            return None if "\\" in text else _lines(text, mark)
    grammar = next((each for ending, each in _GRAMMARS.items() if name.endswith(ending)), None)
    if grammar is None or "??" in text:
        return None
    try:
        return _parted(text, grammar)
    except ValueError:
        return None


def _lines(text: str, mark: str) -> Words:
    """Of a listing: lines that are a comment as a whole, and all others."""
    lines = text.split("\n")
    code = tuple(line for line in lines if not line.startswith(mark) or line.startswith("//go:"))
    return Words(code, tuple(line for line in lines if line.startswith(mark)))


def _parted(text: str, grammar: _Grammar) -> Words:
    """ValueError for what no word begins with."""
    code: list[str] = []
    comments: list[str] = []
    directive, fresh = False, True
    for kind, word in _tokens(text, grammar):
        if kind == "comment":
            if "\\" in word:
                raise ValueError(word)
            comments += (part for part in word.split() if part.strip("/*"))
        elif kind == "line":
            if directive:
                code.append("\n")
            directive, fresh = False, True
        elif kind == "open" or (kind == "splice" and not directive):
            raise ValueError(word)
        elif kind not in ("space", "splice"):
            if grammar.directives and word == "#":
                if not fresh:
                    raise ValueError(word)
                directive = True
            fresh = False
            if code and code[-1] == "," and word in grammar.trailing:
                code.pop()
            if kind == "string" and grammar.directives and code and code[-1].startswith('"'):
                word = code.pop()[:-1] + word[1:]  # strings side by side are one in C, and formatters part long ones
            code.append(word.strip())
    return Words(tuple(code), tuple(comments))


def _tokens(text: str, grammar: _Grammar) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = grammar.pattern.match(text, at)
        if found is None:
            raise ValueError(text[at])
        yield str(found.lastgroup), found[0]
        at = found.end()
