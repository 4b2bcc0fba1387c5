"""What may know of what: the maker of bytes knows nothing of their judges."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def packages(folder: str) -> dict[str, set[str]]:
    """For each file of a package the top-level packages that it imports."""
    return {str(path): {name.partition(".")[0] for name in imported(path)} for path in (ROOT / folder).rglob("*.py")}


def test_what_makes_bytes_knows_nothing_of_what_judges_them() -> None:
    found = packages("codegen")
    assert len(found) > 50
    assert {path for path, names in found.items() if names & {"analysis", "setwise", "tests", ""}} == set()


def test_an_import_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def f():\n    from analysis.count import count\n    import analysis.decode\n")
    assert list(imported(tmp_path / "one.py")) == ["analysis.count", "analysis.decode"]
