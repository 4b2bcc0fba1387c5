"""Names and words: one class a name, one module a name, plain English, imperative commit subjects."""

import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.size import ROOT, python_files

SINCE = "e55c3f2"
"""The last commit before subjects were checked."""
MIRRORED = {
    "commands": "each command is called after what it asks of the API",
    "semantics": "each file of instruction semantics is called after its kind of register",
}
"""Folders whose modules may share names with others, and why."""
WORDS = re.compile(
    r"\b(so many|nobody|somebody|whoever|as it were|told|besides|anew|where that is|stands|lies|goes on|by lot|"
    r"at the least|such as are|it is asked|is wanted|is said|of it are|hands on|gives out|that is so|each by itself|"
    r"one of them all|for nothing)\b",
    re.IGNORECASE,
)
"""The words of STYLE.md that mark a sentence to rewrite."""
NOT_IMPERATIVE = re.compile(r"[A-Z]\w*(?:[^s]s|ed|ing)$")
IMPERATIVES = {"Feed", "Need", "Bring", "String", "Focus"}


def files() -> list[Path]:
    return sorted(python_files("codegen", "analysis", "setwise"))


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_two_modules_have_one_name() -> None:
    places: dict[str, list[Path]] = defaultdict(list)
    for path in files():
        if path.stem not in ("__init__", "__main__") and path.parent.name not in MIRRORED:
            places[path.stem].append(path.relative_to(ROOT))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each comment, docstring and message that is raised."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
        elif isinstance(node, ast.Raise):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def test_no_sentence_has_words_that_mark_a_bad_one() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {word[0]}"
        for path in files()
        for line, text in prose(path.read_text(encoding="utf-8"))
        for word in WORDS.finditer(text)
    ]
    docs = ROOT / "docs"
    pages = [*docs.glob("*.md"), *docs.glob("course/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    found += [
        f"{page.relative_to(ROOT)}:{number}: {word[0]}"
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for word in WORDS.finditer(line)
    ]
    assert found == []


def test_commit_subjects_are_short_imperatives() -> None:
    log = ["git", "-C", str(ROOT), "log", "--no-merges", "--format=%s", f"{SINCE}..HEAD"]
    if not shutil.which("git") or subprocess.run(log, capture_output=True).returncode:
        pytest.skip("not run: no history here")
    subjects = subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [subject for subject in subjects if len(subject) > 72] == []
    first = {subject.partition(" ")[0] for subject in subjects}
    assert {word for word in first if NOT_IMPERATIVE.match(word) and word not in IMPERATIVES} == set()
