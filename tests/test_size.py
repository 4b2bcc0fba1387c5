"""Lines with code are counted, and no others."""

from tests.size import code_lines

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
