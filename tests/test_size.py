"""Lines with code are counted, and no others."""

import pytest

from tests.size import code_lines, main

SOURCE = '''"""The module."""

# a comment
import os  # what for


def f(
    x: int,
) -> str:
    """Return
    something.
    """
    # nothing
    return """two
lines"""


class A:
    x: int
    """An attribute."""
    "another"; y = 1
'''


def test_only_lines_with_code_are_counted() -> None:
    assert code_lines(SOURCE) == 1 + 3 + 2 + 3
    assert code_lines("") == 0


def test_the_budget_is_kept() -> None:
    assert main() == 0


def test_more_than_the_budget_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tests.size.budget", lambda: 10)
    assert main() == 1
    assert "remove some" in capsys.readouterr().err
