"""Every format says all operations of the sample, or refuses in one line."""

import re

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.order import Order
from tests.codegen.export.sources.exported import sample

SOURCES = ("c", "rust", "zig")
WITHOUT_VECTORS = ("go", "javascript")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_all_operations_or_refuses_in_a_line_what_it_cannot(name: str) -> None:
    """The sample's kernels have every operation of every set; where they come out others compile and prove them."""
    refused = []
    for one in sample().values():
        try:
            assert all(FORMATS[name].files(Order((one,), facts_of, "a test")).values())
        except ValueError as error:
            refused.append((one.name, str(error)))
    assert [said for of, said in refused if not re.fullmatch(rf".*\b{of}\b.*(use|leave) .*", said)] == []
    assert not refused or name in (*SOURCES, *WITHOUT_VECTORS)
